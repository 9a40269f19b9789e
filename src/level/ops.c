#include "level/ops.h"

#define VIEW(level) (&(level)->store.view)

mg_status_t mg_halo(mg_level_t *level, int vec, bool box) {
  MG_TIMED(level, MG_TIME_HALO, mg_exchange_run(box ? level->halo_box : level->halo, vec, vec));
  return MG_OK;
}

mg_status_t mg_halo_deep(mg_level_t *level, int vec) {
  if (!level->halo_deep) return MG_OK;
  MG_TIMED(level, MG_TIME_HALO, mg_exchange_run(level->halo_deep, vec, vec));
  return MG_OK;
}

/* GSRB of the 7-point operators updates in place; all other smoothers need a second vector. */
static bool in_place(const mg_level_t *level) {
  return level->steps[0].kind == MG_STEP_GSRB && VIEW(level)->op != MG_OPERATOR_FV4;
}

/* The steps of a smooth and how they are grouped into fused passes. */
typedef struct {
  mg_level_t *level;
  int n, most; /* number of steps; maximum steps per pass, 1: no fusing */
  bool zero_guess, same_f;
} smooth_t;

/* A single step (n = 1) or n fused steps. */
typedef struct {
  int x, previous, dst, before;
  const mg_step_t *step;
  int n;
} work_t;

static mg_status_t do_part(mg_level_t *level, const work_t *w, mg_region_t part) {
  const mg_backend_t *backend = level->backend;
  if (w->n > 1)
    return backend->smooth_fused(VIEW(level), w->x, w->previous, w->dst, w->before, w->step, w->n,
                                 part);
  if (part == MG_REGION_ALL)
    return backend->smooth(VIEW(level), w->x, w->previous, w->dst, w->step);
  return backend->smooth_region(VIEW(level), w->x, w->previous, w->dst, w->step, part);
}

static mg_status_t work(mg_level_t *level, const work_t *w, mg_region_t part) {
  MG_TIMED(level, MG_TIME_SMOOTH, do_part(level, w, part));
  return MG_OK;
}

static mg_status_t exchange_all(mg_level_t *level, mg_exchange_t *exchange, const int *vec, int n) {
  for (int v = 0; v < n; v++)
    MG_TIMED(level, MG_TIME_HALO, mg_exchange_run(exchange, vec[v], vec[v]));
  return MG_OK;
}

/* Exchange the ghosts of n vectors, then do the work. If overlap pays, process the interior in a
 * separate queue while the messages are in flight.
 *
 * This is safe out of place: no cell is written that is sent or that another cell reads. It is safe
 * for in-place GSRB too: no interior cell is sent. No boundary cell reads one before it is updated,
 * since cells of one color read only the other color.
 *
 * While profiling, the two run one after the other; otherwise the same time would be counted twice.
 */
static mg_status_t work_with_halo(mg_level_t *level, const work_t *w, const int *vec, int n) {
  const mg_backend_t *backend = level->backend;
  mg_exchange_t *exchange = w->n > 1 ? level->halo_deep : level->halo;
  const bool overlaps = w->n > 1 ? level->overlaps_fused[w->n] : level->overlaps;
  if (!exchange) return work(level, w, MG_REGION_ALL);
  if (!overlaps || level->profile || n == 0) {
    MG_TRY(exchange_all(level, exchange, vec, n));
    return work(level, w, MG_REGION_ALL);
  }
  const bool host = mg_exchange_waits(exchange);
  MG_TRY(backend->stream_fork());
  if (host)
    MG_TIMED(level, MG_TIME_HALO, mg_exchange_begin(exchange, vec[0], vec[0]));
  else
    MG_TRY(exchange_all(level, exchange, vec, n));
  backend->stream_switch();
  MG_TRY(work(level, w, MG_REGION_INTERIOR));
  backend->stream_switch();
  if (host) {
    MG_TIMED(level, MG_TIME_HALO, mg_exchange_finish(exchange, vec[0], vec[0]));
    MG_TRY(exchange_all(level, exchange, vec + 1, n - 1));
  }
  MG_TRY(work(level, w, MG_REGION_BOUNDARY));
  return backend->stream_join();
}

/* Apply steps first .. first + n - 1 to x; n > 1 fuses them.
 *
 * Without fusing, `previous` is dst, and in-place GSRB passes x for both. A fused pass writes dst,
 * and also `before` if that is not < 0. It also reads ghosts of the right-hand side, which the
 * first pass of a smooth exchanges. */
static mg_status_t make_steps(const smooth_t *s, int first, int n, int x, int previous, int dst,
                              int before) {
  const work_t w = {x, previous, dst, before, &s->level->steps[first], n};
  int vec[3], n_vec = 0;
  if (n > 1 && first == 0 && !s->same_f) vec[n_vec++] = MG_F;
  if (x >= 0) vec[n_vec++] = x;
  if (n > 1 && previous >= 0) vec[n_vec++] = previous;
  return work_with_halo(s->level, &w, vec, n_vec);
}

/* Use the fewest passes, with nearly equal numbers of steps. After an odd number of vector swaps,
 * copy the result back: that is cheaper than another pass. */
static mg_status_t smooth_evenly(const smooth_t *s) {
  const int passes = (s->n + s->most - 1) / s->most;
  int from = MG_U, to = MG_TMP, first = 0;
  for (int p = 0; p < passes; p++) {
    const int n = s->n / passes + (p < s->n % passes), x = s->zero_guess && p == 0 ? -1 : from;
    const bool stays = n == 1 && in_place(s->level);
    /* x_0 = 0 is x of the first step and the previous iterate of the second. */
    const int previous = n > 1 || (s->zero_guess && p <= 1) ? -1 : to;
    MG_TRY(make_steps(s, first, n, x, stays ? from : previous, stays ? from : to, -1));
    first += n;
    if (stays) continue;
    to = from;
    from = from == MG_U ? MG_TMP : MG_U;
  }
  if (from != MG_U) MG_TRY(mg_axpby(s->level, MG_U, 1.0, from, 0.0, -1));
  return MG_OK;
}

/* For steps that read two iterates. There are only three vectors, so a pass that reads two cannot
 * write two. Hence only the first and the last pass fuse steps; the steps between them run singly.
 */
static mg_status_t smooth_between(const smooth_t *s) {
  const int ends = s->n < 2 * s->most ? s->n : 2 * s->most, end = s->n - ends / 2;
  int first = ends - ends / 2, from = MG_TMP, to = MG_BEFORE;
  const mg_step_t *step = s->level->steps;
  MG_TRY(make_steps(s, 0, first, s->zero_guess ? -1 : MG_U, -1, from,
                    step[first].c1 != 0.0 ? to : -1));
  for (; first < end || s->n - first == 1; first++) {
    MG_TRY(make_steps(s, first, 1, from, to, to, -1));
    const int swap = from;
    from = to;
    to = swap;
    if (first + 1 == s->n) return mg_axpby(s->level, MG_U, 1.0, from, 0.0, -1);
  }
  return make_steps(s, first, s->n - first, from, step[first].c1 != 0.0 ? to : -1, MG_U, -1);
}

static mg_status_t smooth(mg_level_t *level, bool zero_guess, bool same_f) {
  if (!level->comm) return MG_OK;
  const int most = level->backend->smooth_fused ? level->fused_sweeps : 1;
  const smooth_t s = {level, level->n_steps, most, zero_guess, same_f};
  const bool looks_back = level->steps[0].kind == MG_STEP_CHEBYSHEV;
  return s.most > 1 && s.n > s.most && looks_back ? smooth_between(&s) : smooth_evenly(&s);
}

mg_status_t mg_smooth(mg_level_t *level, bool zero_guess) {
  return smooth(level, zero_guess, false);
}

mg_status_t mg_smooth_again(mg_level_t *level) {
  return smooth(level, false, true);
}

mg_status_t mg_residual(mg_level_t *level, int dst, int x, int f) {
  if (!level->comm) return MG_OK;
  MG_TRY(mg_halo(level, x, false));
  MG_TIMED(level, MG_TIME_RESIDUAL, level->backend->residual(VIEW(level), dst, x, f));
  return MG_OK;
}

/* A reduction on one rank needs no communication and is not counted. */
static void count_reduction(mg_level_t *level) {
  level->timers.traffic.reductions += mg_comm_size(level->comm) > 1;
}

static mg_status_t max_over_ranks(mg_level_t *level, double *norm) {
  count_reduction(level);
  MG_TIMED(level, MG_TIME_VECTOR, mg_comm_max(level->comm, norm, 1));
  return MG_OK;
}

mg_status_t mg_residual_norm(mg_level_t *level, int x, int f, double *norm) {
  *norm = 0.0;
  if (!level->comm) return MG_OK;
  if (!level->backend->residual_norm) {
    MG_TRY(mg_residual(level, MG_TMP, x, f));
    return mg_max_norm(level, MG_TMP, -1, norm);
  }
  MG_TRY(mg_halo(level, x, false));
  MG_TIMED(level, MG_TIME_RESIDUAL, level->backend->residual_norm(VIEW(level), x, f, norm));
  return max_over_ranks(level, norm);
}

mg_status_t mg_fill(mg_level_t *level, int dst, double value) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->fill(VIEW(level), dst, value));
  return MG_OK;
}

mg_status_t mg_axpby(mg_level_t *level, int dst, double alpha, int x, double beta, int y) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->axpby(VIEW(level), dst, alpha, x, beta, y));
  return MG_OK;
}

mg_status_t mg_shift(mg_level_t *level, int dst, int x, double value) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->shift(VIEW(level), dst, x, value));
  return MG_OK;
}

mg_status_t mg_multiply(mg_level_t *level, int dst, int x, int y) {
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->multiply(VIEW(level), dst, x, y));
  return MG_OK;
}

mg_status_t mg_max_norm(mg_level_t *level, int x, int y, double *norm) {
  *norm = 0.0;
  if (!level->comm) return MG_OK;
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->max_norm(VIEW(level), x, y, norm));
  return max_over_ranks(level, norm);
}

mg_status_t mg_dot(mg_level_t *level, int x, int y, double *dot) {
  *dot = 0.0;
  if (!level->comm) return MG_OK;
  mg_sum_t sum = {{0}};
  MG_TIMED(level, MG_TIME_VECTOR, level->backend->dot(VIEW(level), x, y, &sum));
  count_reduction(level);
  MG_TIMED(level, MG_TIME_VECTOR, mg_comm_sum_exact(level->comm, &sum));
  *dot = mg_sum_value(&sum);
  return MG_OK;
}

mg_status_t mg_mean(mg_level_t *level, int x, double *mean) {
  MG_TRY(mg_dot(level, x, -1, mean));
  const double n = VIEW(level)->dim;
  *mean /= n * n * n;
  return MG_OK;
}
