#include "io/write_thread.h"
#include "base/alloc.h"
#include "base/log.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

typedef enum { IDLE, BUSY, ENDING } state_t;

struct mg_write_thread {
  mg_h5_t *file;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  state_t state;
  const mg_h5_data_t *data;
  int32_t first, count;
  const void *values;
  mg_status_t status; /* of the last write */
  int omp_threads;    /* the owner's count, restored at the end */
};

/* Locking a valid mutex cannot fail. */
static void take(mg_write_thread_t *w) {
  if (pthread_mutex_lock(&w->lock) != 0) abort();
}
static void give(mg_write_thread_t *w) {
  if (pthread_mutex_unlock(&w->lock) != 0) abort();
}
static void change(mg_write_thread_t *w, state_t state) {
  w->state = state;
  if (pthread_cond_broadcast(&w->changed) != 0) abort();
}
static void await_change(mg_write_thread_t *w) {
  if (pthread_cond_wait(&w->changed, &w->lock) != 0) abort();
}

static void *run(void *arg) {
  mg_write_thread_t *w = arg;
  take(w);
  while (w->state != ENDING) {
    if (w->state == IDLE) {
      await_change(w);
      continue;
    }
    give(w);
    const mg_status_t status = mg_h5_write_planes(w->file, w->data, w->first, w->count, w->values);
    take(w);
    w->status = status;
    change(w, IDLE);
  }
  give(w);
  return NULL;
}

/* Signals are blocked in the thread, so that its owner handles them. */
static int start_thread(mg_write_thread_t *w) {
  sigset_t all, before;
  if (sigfillset(&all) != 0) return -1;
  int rc = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (rc != 0) return rc;
  rc = pthread_create(&w->thread, NULL, run, w);
  const int restored = pthread_sigmask(SIG_SETMASK, &before, NULL);
  return rc != 0 ? rc : restored;
}

static void leave_a_core(mg_write_thread_t *w) {
#ifdef _OPENMP
  w->omp_threads = omp_get_max_threads();
  if (w->omp_threads > 1) omp_set_num_threads(w->omp_threads - 1);
#else
  (void)w;
#endif
}

static void take_it_back(const mg_write_thread_t *w) {
#ifdef _OPENMP
  omp_set_num_threads(w->omp_threads);
#else
  (void)w;
#endif
}

mg_status_t mg_write_thread_begin(mg_h5_t *file, mg_write_thread_t **out) {
  *out = NULL;
  if (!file) return MG_OK;
  mg_write_thread_t *w;
  MG_TRY(mg_new(&w, 1, "the writer thread"));
  w->file = file;
  bool good = pthread_mutex_init(&w->lock, NULL) == 0;
  good = good && pthread_cond_init(&w->changed, NULL) == 0 && start_thread(w) == 0;
  if (!good) {
    free(w);
    return mg_error(MG_ERR_MEMORY, "the writer thread cannot be started");
  }
  leave_a_core(w);
  *out = w;
  return MG_OK;
}

void mg_write_thread_write(mg_write_thread_t *w, const mg_h5_data_t *data, int32_t first,
                           int32_t count, const void *values) {
  if (!w) return;
  take(w);
  w->data = data;
  w->first = first;
  w->count = count;
  w->values = values;
  change(w, BUSY);
  give(w);
}

mg_status_t mg_write_thread_wait(mg_write_thread_t *w) {
  if (!w) return MG_OK;
  take(w);
  while (w->state == BUSY)
    await_change(w);
  const mg_status_t status = w->status;
  give(w);
  return status;
}

void mg_write_thread_end(mg_write_thread_t *w) {
  if (!w) return;
  take(w);
  while (w->state == BUSY)
    await_change(w);
  change(w, ENDING);
  give(w);
  if (pthread_join(w->thread, NULL) != 0) abort();
  (void)pthread_cond_destroy(&w->changed);
  (void)pthread_mutex_destroy(&w->lock);
  take_it_back(w);
  free(w);
}
