#include "io/write_thread.h"
#include "base/alloc.h"
#include "base/log.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

struct mg_write_thread {
  mg_h5_t *file;
  pthread_t thread; /* one per write: a slab takes far longer than its start */
  bool busy;
  const mg_h5_data_t *data;
  int32_t first, count;
  const void *values;
  mg_status_t status; /* of the last write */
  int omp_threads;    /* the owner's count, restored at the end */
};

static void *run(void *arg) {
  mg_write_thread_t *w = arg;
  w->status = mg_h5_write_planes(w->file, w->data, w->first, w->count, w->values);
  return NULL;
}

/* Signals are blocked in the thread, so that its owner handles them. */
static int start_thread(mg_write_thread_t *w) {
  sigset_t all, before;
  if (sigfillset(&all) != 0) return -1;
  int rc = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (rc != 0) return rc;
  rc = pthread_create(&w->thread, NULL, run, w);
  if (pthread_sigmask(SIG_SETMASK, &before, NULL) != 0) abort(); /* cannot fail */
  return rc;
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
  leave_a_core(w);
  *out = w;
  return MG_OK;
}

void mg_write_thread_write(mg_write_thread_t *w, const mg_h5_data_t *data, int32_t first,
                           int32_t count, const void *values) {
  if (!w) return;
  w->data = data;
  w->first = first;
  w->count = count;
  w->values = values;
  w->busy = start_thread(w) == 0;
  if (!w->busy) w->status = mg_error(MG_ERR_MEMORY, "the writer thread cannot be started");
}

mg_status_t mg_write_thread_wait(mg_write_thread_t *w) {
  if (!w) return MG_OK;
  if (w->busy && pthread_join(w->thread, NULL) != 0) abort();
  w->busy = false;
  return w->status;
}

void mg_write_thread_end(mg_write_thread_t *w) {
  if (!w) return;
  if (w->busy && pthread_join(w->thread, NULL) != 0) abort();
  take_it_back(w);
  free(w);
}
