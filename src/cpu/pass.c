/* Each stage is as many planes and rows behind the preceding one as it reads ahead. Where stage s
 * works, the neighbors ahead have had stage s - 1, and those behind have not had stage s + 1. So
 * stages work in place, and nothing is computed twice or copied.
 *
 *     stage 2 |-- strip 0 --|-- strip 1 --|-- strip 2
 *     stage 1 |---- strip 0 ----|-- strip 1 --|-- strip 2
 *     stage 0 |------ strip 0 ------|-- strip 1 --|-- strip 2
 *             0                                               j
 *
 * A thread moves through a strip plane by plane and runs all stages at each position of the front,
 * while the rows are in cache: at position k, a stage that is n planes behind the first one works
 * on plane k - n. At a low wall, a stage of fv4 waits until four planes have had the preceding
 * stage, and then catches up. The next strip belongs to the next thread, which follows one position
 * behind. It reads cells of the preceding strip only after they were written, and changes no cell
 * that the preceding strip reads later. So one counter per strip orders all threads. */
#include "cpu/pass.h"
#include "base/alloc.h"
#include "base/machine_cache.h"
#ifdef _OPENMP
#include <omp.h>
#endif
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Positions that a strip has completed. Two strips share no cache line. */
typedef struct {
  _Atomic int completed;
  char pad[124];
} progress_t;

typedef struct {
  const mg_view_t *v;
  const mg_cpu_stage_t *stage;
  progress_t *progress;
  int n, strips;
  int wall_cells; /* planes or rows that the ghosts outside a wall are made of; 0: one or two */
} pass_t;

/* First and last + 1 of a stage's rows (d = 1) or planes (d = 2), counted from the level's own
 * first. Negative: ghosts that the stage computes. */
static int first_of(const pass_t *pass, int s, int d) {
  const mg_cpu_stage_t *stage = &pass->stage[s];
  return stage->ratio * stage->view->patch->lo[d] - pass->v->patch->lo[d];
}

static int end_of(const pass_t *pass, int s, int d) {
  return first_of(pass, s, d) + pass->stage[s].ratio * pass->stage[s].view->patch->n[d];
}

/* First row of a strip in stage s. From an even row of the first stage, so that pairs of rows are
 * in the same strip. A strip at a wall has the rows that the ghosts need, also one stage before. */
static int first_row(const pass_t *pass, int strip, int s) {
  const int n = pass->v->patch->n[1], first = first_of(pass, s, 1), end = end_of(pass, s, 1);
  if (strip == 0) return first;
  if (strip == pass->strips) return end;
  const int middle = pass->stage[pass->n - 1].behind / 2, last = n - pass->wall_cells,
            even = (int)(((int64_t)n * strip / pass->strips + middle) / 2 * 2),
            at = (pass->wall_cells > 0 && even > last ? last : even) - pass->stage[s].behind;
  return at < first || at < pass->wall_cells - 1 ? first : at > end ? end : at;
}

/* The ghosts outside walls that rows of plane k read; of the 7-point operators only those in k. */
static void fill_walls(const mg_view_t *v, mg_vector_t x, int k, int j0, int j1) {
  const mg_patch_t *p = v->patch;
  if (mg_traits_of(v->op)->edges)
    mg_cpu_new_wall_ghosts(p, p->vec[x], k, j0, j1);
  else
    mg_cpu_wall_planes_of_rows(v, p, p->vec[x], k, j0, j1);
}

static void run_plane(const pass_t *pass, int s, int strip, int k) {
  const mg_cpu_stage_t *stage = &pass->stage[s];
  const int ratio = stage->ratio, at = (k - first_of(pass, s, 2)) / ratio,
            origin = first_of(pass, s, 1), j0 = (first_row(pass, strip, s) - origin) / ratio,
            j1 = (first_row(pass, strip + 1, s) - origin) / ratio;
  if (j0 >= j1) return;
  const mg_view_t *v = ratio == 1 ? stage->view : pass->v;
  for (int r = 0; r < ratio && stage->x >= 0; r++)
    fill_walls(v, stage->x, ratio * at + r, ratio * j0, ratio * j1);
  stage->fn(stage->view, 0, at, j0, j1, stage->arg);
}

/* A stage at position k does the planes from here to k; k + 1: none. Next to the low wall it waits
 * until the preceding stage has done all planes that the ghosts need. Pairs are late anyway. */
static int first_plane(const pass_t *pass, int s, int k) {
  const mg_cpu_stage_t *stage = &pass->stage[s];
  if (k < 0 || k >= pass->wall_cells || s == 0 || stage->ratio == 2) return k;
  const int most = end_of(pass, s, 2) - 1,
            wait = pass->wall_cells - 1 - (stage->behind - stage[-1].behind),
            held = wait > most ? most : wait;
  if (!stage->view->patch->wall[2][0] || held <= 0 || k > held) return k;
  return k == held ? 0 : k + 1;
}

static void run_stage(const pass_t *pass, int s, int strip, int front) {
  const mg_cpu_stage_t *stage = &pass->stage[s];
  const int k = front - stage->behind;
  if (k < first_of(pass, s, 2) || k >= end_of(pass, s, 2)) return;
  /* A pair of planes: the first stage reads nothing ahead, so it may be early; later ones wait. */
  if (stage->ratio == 2 && k % 2 != (s == 0 ? 0 : 1)) return;
  for (int plane = first_plane(pass, s, k); plane <= k; plane++)
    run_plane(pass, s, strip, plane);
}

/* Wait until the preceding strip has completed this position of the front. There may be more
 * threads than CPUs. */
static void await(const pass_t *pass, int strip, int front) {
  if (strip == 0) return;
  _Atomic int *completed = &pass->progress[strip - 1].completed;
  const int tries_before_yield = 1000;
  for (int tries = 0; atomic_load_explicit(completed, memory_order_acquire) <= front; tries++)
    if (tries > tries_before_yield) (void)sched_yield();
}

static void run_strips(const pass_t *pass, int thread, int threads) {
  int fronts = 0;
  const int first = first_of(pass, 0, 2);
  for (int s = 0; s < pass->n; s++) {
    const int end = end_of(pass, s, 2) + pass->stage[s].behind - first;
    fronts = end > fronts ? end : fronts;
  }
  for (int strip = thread; strip < pass->strips; strip += threads)
    for (int front = 0; front < fronts; front++) {
      await(pass, strip, front);
      for (int s = 0; s < pass->n; s++)
        run_stage(pass, s, strip, first + front);
      atomic_store_explicit(&pass->progress[strip].completed, front + 1, memory_order_release);
    }
}

const mg_view_t *mg_cpu_grow(const mg_view_t *v, const int layers[3], mg_cpu_grown_t *grown) {
  grown->patch = mg_patch_grown(v->patch, layers, sizeof(mg_real_t));
  grown->view = *v;
  grown->view.patch = &grown->patch;
  return &grown->view;
}

int mg_cpu_pass_rows(const mg_view_t *v, int planes) {
  const int64_t vectors = v->constant.rows ? 2 : 6, /* x, f, three betas, 1 / diagonal */
      row_bytes = v->patch->jstride * (int64_t)sizeof(mg_real_t);
  const int64_t rows = mg_machine_strip_bytes() / (row_bytes * vectors * planes);
  return rows < v->patch->n[1] ? (int)rows : v->patch->n[1];
}

/* Each thread gets the same number of strips, unless they would have less than two rows. */
int mg_cpu_strip_count(const mg_view_t *v, int threads, int rows) {
  const int64_t n = v->patch->n[1], most = n / 2 > 1 ? n / 2 : 1,
                at_once = (int64_t)threads * (rows > 2 ? rows : 2),
                strips = (n + at_once - 1) / at_once * threads;
  return (int)(strips < most ? strips : most);
}

mg_status_t mg_cpu_pass(const mg_view_t *v, const mg_cpu_stage_t *stage, int n, int threads,
                        int rows) {
  const mg_operator_traits_t *t = mg_traits_of(v->op);
  pass_t pass = {.v = v,
                 .stage = stage,
                 .n = n,
                 .strips = mg_cpu_strip_count(v, threads, rows),
                 .wall_cells = t->edges ? t->wall_order : 0};
  MG_TRY(mg_new(&pass.progress, pass.strips, "strips of a pass"));
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) if (threads > 1)
  run_strips(&pass, mg_cpu_thread(), omp_get_num_threads());
#else
  run_strips(&pass, 0, 1);
#endif
  free(pass.progress);
  return MG_OK;
}
