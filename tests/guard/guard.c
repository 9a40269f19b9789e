/* CPU backend with access protection, to catch illegal accesses to level memory without a GPU.
 *
 * Level memory has two addresses. The layers above the backend get one that can be neither read nor
 * written. If they access a level's cells through it, they stop with a segmentation fault at the
 * offending line. The operations get views of the twin, at a fixed distance. Pages are never
 * unlocked and locked again: mprotect took longer than the operations. */
#include "tests/guard/guard.h"
#include "backend/domains.h"
#include "backend/sweeps.h"
#include "base/alloc.h"
#include "level/level.h"
#include <stdlib.h>
#include <string.h>

/* A view of the same patches at accessible addresses. */
static mg_status_t open_view(const mg_view_t *v, mg_view_t *out) {
  *out = *v;
  MG_TRY(mg_new(&out->patch, v->n_patches, "patch lists"));
  for (int p = 0; p < v->n_patches; p++) {
    out->patch[p] = v->patch[p];
    for (int vec = 0; vec < MG_N_VECTORS; vec++)
      out->patch[p].vec[vec] = guard_open(v->patch[p].vec[vec]);
  }
  return MG_OK;
}

/* Run `call` with `opened` in place of `view`. */
#define GUARDED(view, call)                                                                        \
  do {                                                                                             \
    mg_view_t opened;                                                                              \
    MG_TRY(open_view(view, &opened));                                                              \
    const mg_status_t status_ = (call);                                                            \
    free(opened.patch);                                                                            \
    return status_;                                                                                \
  } while (0)

/* Same for two views; `other_opened` replaces `other`. */
#define GUARDED_BOTH(view, other, call)                                                            \
  do {                                                                                             \
    mg_view_t opened, other_opened;                                                                \
    MG_TRY(open_view(view, &opened));                                                              \
    mg_status_t status_ = open_view(other, &other_opened);                                         \
    if (status_ == MG_OK) {                                                                        \
      status_ = (call);                                                                            \
      free(other_opened.patch);                                                                    \
    }                                                                                              \
    free(opened.patch);                                                                            \
    return status_;                                                                                \
  } while (0)

static mg_status_t set_problem(const mg_view_t *v, const mg_tables_t *tables) {
  GUARDED(v, mg_cpu_set_problem(&opened, tables));
}
static mg_status_t restrict_faces(const mg_view_t *fine, int d, const mg_view_t *coarse,
                                  mg_vector_t dst, const mg_face_factor_t *factor) {
  GUARDED_BOTH(fine, coarse, mg_cpu_restrict_faces(&opened, d, &other_opened, dst, factor));
}
static mg_status_t extend_faces(const mg_view_t *v) {
  GUARDED(v, mg_cpu_extend_faces(&opened));
}
static mg_status_t set_diagonal(const mg_view_t *v, bool l1, double *lambda_max) {
  GUARDED(v, mg_cpu_set_diagonal(&opened, l1, lambda_max));
}
static mg_status_t fill_wall_ghosts(const mg_view_t *v, mg_vector_t vec, int order) {
  GUARDED(v, mg_cpu_fill_wall_ghosts(&opened, vec, order));
}
static mg_status_t smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  if (sweep->n > 1) GUARDED(v, guard_smooth_fused(&opened, sweep, region, NULL, NULL));
  GUARDED(v, mg_cpu_smooth(&opened, sweep, region));
}
static mg_status_t residual(const mg_view_t *v, mg_vector_t dst, mg_vector_t x, mg_vector_t f) {
  GUARDED(v, mg_cpu_residual(&opened, dst, x, f));
}
static mg_status_t restrict_cells(const mg_view_t *fine, mg_vector_t src, const mg_view_t *coarse,
                                  mg_vector_t dst) {
  GUARDED_BOTH(fine, coarse, mg_cpu_restrict_cells(&opened, src, &other_opened, dst));
}
static mg_status_t interpolate(const mg_view_t *coarse, mg_vector_t src, const mg_view_t *fine,
                               mg_vector_t dst, mg_interpolation_t kind, bool add) {
  GUARDED_BOTH(coarse, fine, mg_cpu_interpolate(&opened, src, &other_opened, dst, kind, add));
}

/* A list of copies. The CPU backend keeps the views of the job. */
typedef struct {
  mg_copy_job_t job;
  mg_copy_t item[];
} guard_copies_t;

static mg_status_t prepare_copies(const mg_copy_job_t *job, mg_copies_t **out) {
  char *memory;
  *out = NULL;
  MG_TRY(mg_new(&memory, (int64_t)(sizeof(guard_copies_t) + (size_t)job->n * sizeof(mg_copy_t)),
                "copy lists"));
  *out = (void *)memory;
  guard_copies_t *c = (void *)memory;
  c->job = *job;
  c->job.item = c->item;
  if (job->n > 0) memcpy(c->item, job->item, (size_t)job->n * sizeof *c->item);
  return MG_OK;
}
static void release_copies(mg_copies_t *copies) {
  free(copies);
}

static mg_status_t copy_opened(const mg_copy_job_t *job, mg_vector_t src, mg_vector_t dst) {
  mg_copies_t *copies;
  mg_copy_job_t with_open_buffer = *job;
  with_open_buffer.buffer = guard_open(job->buffer);
  MG_TRY(mg_cpu_prepare_copies(&with_open_buffer, &copies));
  const mg_status_t status = mg_cpu_copy(copies, src, dst);
  mg_cpu_release_copies(copies);
  return status;
}
static mg_status_t copy(const mg_copies_t *copies, mg_vector_t src, mg_vector_t dst) {
  mg_copy_job_t job = ((const guard_copies_t *)(const void *)copies)->job;
  GUARDED_BOTH(job.src, job.dst,
               (job.src = &opened, job.dst = &other_opened, copy_opened(&job, src, dst)));
}

static mg_status_t fill(const mg_view_t *v, mg_vector_t dst, double value) {
  GUARDED(v, mg_cpu_fill(&opened, dst, value));
}
static mg_status_t combine(const mg_view_t *v, mg_combination_t c, mg_vector_t dst, double alpha,
                           mg_vector_t x, double beta, mg_vector_t y) {
  GUARDED(v, mg_cpu_combine(&opened, c, dst, alpha, x, beta, y));
}
static mg_status_t max_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t y, double *norm) {
  GUARDED(v, mg_cpu_max_norm(&opened, x, y, norm));
}
static mg_status_t dot(const mg_view_t *v, mg_vector_t x, mg_vector_t y, mg_sum_t *sum) {
  GUARDED(v, mg_cpu_dot(&opened, x, y, sum));
}

static _Thread_local double residual_norm;
static mg_status_t smooth_residual(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                                   const mg_view_t *coarse, mg_vector_t dst) {
  if (coarse)
    GUARDED_BOTH(v, coarse,
                 guard_smooth_fused(&opened, sweep, region,
                                    &(guard_residual_t){&other_opened, dst, NULL}, NULL));
  GUARDED(v, guard_smooth_fused(&opened, sweep, region,
                                &(guard_residual_t){NULL, MG_NO_VECTOR, &residual_norm}, NULL));
}
static mg_status_t interpolate_smooth(const mg_view_t *v, const mg_sweep_t *sweep,
                                      mg_region_t region, const mg_view_t *coarse, mg_vector_t src,
                                      mg_interpolation_t kind) {
  GUARDED_BOTH(v, coarse,
               guard_smooth_fused(&opened, sweep, region, NULL,
                                  &(guard_source_t){&other_opened, src, kind}));
}
static mg_status_t smooth_resident_opened(const mg_view_t *v, const mg_sweep_t *sweep,
                                          const mg_resident_use_t *use, const mg_view_t *source,
                                          const mg_view_t *coarse) {
  const guard_residual_t residual = {coarse, use->dst, coarse ? NULL : &residual_norm};
  const guard_source_t input = {source, use->src, use->kind};
  return guard_smooth_fused(v, sweep, MG_REGION_ALL, use->has_residual ? &residual : NULL,
                            source ? &input : NULL);
}
/* Both coarse views are the same one, if there are two. */
static mg_status_t smooth_resident(const mg_view_t *v, const mg_sweep_t *sweep,
                                   const mg_resident_use_t *use) {
  const mg_view_t *other = use->source ? use->source : use->coarse;
  if (other)
    GUARDED_BOTH(v, other,
                 smooth_resident_opened(&opened, sweep, use, use->source ? &other_opened : NULL,
                                        use->coarse ? &other_opened : NULL));
  GUARDED(v, smooth_resident_opened(&opened, sweep, use, NULL, NULL));
}
static mg_status_t norm_begin(void) {
  residual_norm = 0.0;
  return MG_OK;
}
static mg_status_t norm_end(double *norm) {
  *norm = residual_norm;
  return MG_OK;
}

#ifndef MG_FLOAT
static mg_status_t lower(const mg_view_t *v, mg_vector_t src, const mg_view_t *low, mg_vector_t dst,
                         double scale) {
  GUARDED_BOTH(v, low, mg_cpu_mixed.lower(&opened, src, &other_opened, dst, scale));
}
static mg_status_t raise_low(const mg_view_t *v, mg_vector_t dst, const mg_view_t *low,
                             mg_vector_t src, double scale, bool add) {
  GUARDED_BOTH(v, low, mg_cpu_mixed.raise(&opened, dst, &other_opened, src, scale, add));
}
static mg_status_t residual_lower(const mg_view_t *v, mg_vector_t x, mg_vector_t f,
                                  const mg_view_t *low, mg_vector_t dst, double scale,
                                  double *norm) {
  GUARDED_BOTH(v, low, mg_cpu_mixed.residual(&opened, x, f, &other_opened, dst, scale, norm));
}
/* The guess's view is open. */
static mg_status_t guess_residual_of(const mg_view_t *v, const mg_guess_t *guess, mg_vector_t f,
                                     const mg_view_t *low, mg_vector_t dst, double scale) {
  GUARDED_BOTH(v, low, guard_guess_residual(&opened, guess, f, &other_opened, dst, scale));
}
static mg_status_t guess_correct_of(const mg_view_t *v, mg_vector_t dst, const mg_guess_t *guess,
                                    const mg_view_t *low, mg_vector_t e, double scale) {
  GUARDED_BOTH(v, low, guard_guess_correct(&opened, dst, guess, &other_opened, e, scale));
}
static mg_status_t guess_residual(const mg_view_t *v, const mg_guess_t *guess, mg_vector_t f,
                                  const mg_view_t *low, mg_vector_t dst, double scale) {
  mg_view_t coarse;
  MG_TRY(open_view(guess->coarse, &coarse));
  const mg_guess_t open = {&coarse, guess->src, guess->kind};
  const mg_status_t status = guess_residual_of(v, &open, f, low, dst, scale);
  free(coarse.patch);
  return status;
}
static mg_status_t guess_correct(const mg_view_t *v, mg_vector_t dst, const mg_guess_t *guess,
                                 const mg_view_t *low, mg_vector_t e, double scale) {
  mg_view_t coarse;
  MG_TRY(open_view(guess->coarse, &coarse));
  const mg_guess_t open = {&coarse, guess->src, guess->kind};
  const mg_status_t status = guess_correct_of(v, dst, &open, low, e, scale);
  free(coarse.patch);
  return status;
}
/* The residual of float cells that are not needed is a norm alone. */
static mg_status_t guess_correct_residual(const mg_view_t *v, mg_vector_t dst,
                                          const mg_guess_t *guess, const mg_view_t *low,
                                          mg_vector_t e, double scale, mg_vector_t f, mg_vector_t r,
                                          double r_scale) {
  MG_TRY(guess_correct(v, dst, guess, low, e, scale));
  if (r >= 0) return residual_lower(v, dst, f, low, r, r_scale, &residual_norm);
  GUARDED(v, mg_cpu_residual_norm(&opened, dst, f, &residual_norm));
}
#endif

#ifndef MG_FLOAT
static mg_status_t array_copy(const int32_t n[3], const mg_strided_t *from,
                              const mg_strided_t *to) {
  mg_strided_t opened_from = *from, opened_to = *to;
  opened_from.x = guard_open(from->x);
  opened_to.x = guard_open(to->x);
  return mg_cpu_arrays.copy(n, &opened_from, &opened_to);
}
static mg_status_t array_find_outside(const int32_t n[3], const mg_strided_t *array,
                                      const mg_range_t *range, int64_t *place, double *value) {
  mg_strided_t opened = *array;
  opened.x = guard_open(array->x);
  return mg_cpu_arrays.find_outside(n, &opened, range, place, value);
}
static mg_status_t array_average(const mg_view_t *v, int d, mg_vector_t src,
                                 const double *position) {
  GUARDED(v, mg_cpu_arrays.average(&opened, d, src, position));
}
#endif

/* One stream: operations run in the order of the calls, so the interior precedes the messages. */
static mg_status_t stream_fork(void) {
  return MG_OK;
}
static void stream_switch(void) {}
static mg_status_t stream_join(void) {
  return MG_OK;
}
static bool sweep_overlaps(const mg_view_t *v, int n, bool host) {
  (void)v;
  return n > 1 && host;
}

/* Optional groups are zero, so that a guarded run also exercises their compositions. Exceptions:
 * fused sweeps, which have no composition, their overlap with messages, and guesses that are not
 * stored; this tests their callers without a device. */
#ifndef MG_FLOAT
static const mg_backend_mixed_t mixed = {.lower = lower,
                                         .raise = raise_low,
                                         .residual = residual_lower,
                                         .guess_residual = guess_residual,
                                         .guess_correct = guess_correct,
                                         .guess_correct_residual = guess_correct_residual};
static mg_status_t prepare_factors(const mg_view_t *v, const double *const factor[3],
                                   mg_factors_t **out) {
  return mg_cpu_domains.prepare_factors(v, factor, out);
}
static void release_factors(mg_factors_t *factors) {
  mg_cpu_domains.release_factors(factors);
}
static mg_status_t set_wall(const mg_view_t *v, int d, int side, const mg_side_t *condition,
                            double width, mg_vector_t values) {
  GUARDED(v, mg_cpu_domains.set_wall(&opened, d, side, condition, width, values));
}
static mg_status_t sum_planes(const mg_view_t *v, double scale, int64_t *sum, double least[4]) {
  GUARDED(v, mg_cpu_domains.sum_planes(&opened, scale, sum, least));
}

static mg_status_t multiply_axes(const mg_view_t *v, mg_vector_t vec, const mg_factors_t *factors) {
  GUARDED(v, mg_cpu_domains.multiply_axes(&opened, vec, factors));
}
static const mg_backend_domains_t domains = {.set_wall = set_wall,
                                             .prepare_factors = prepare_factors,
                                             .release_factors = release_factors,
                                             .multiply_axes = multiply_axes,
                                             .sum_planes = sum_planes};
static const mg_backend_arrays_t arrays = {
    .copy = array_copy, .find_outside = array_find_outside, .average = array_average};
#endif

static const mg_backend_overlap_t overlap = {.stream_fork = stream_fork,
                                             .stream_switch = stream_switch,
                                             .stream_join = stream_join,
                                             .sweep_overlaps = sweep_overlaps};
static mg_status_t bound_betas(const mg_view_t *v, mg_beta_bounds_t *bounds) {
  GUARDED(v, mg_cpu_bound_betas(&opened, bounds));
}

static const mg_backend_fused_t fused = {.smooth_resident = smooth_resident,
                                         .bound_betas = bound_betas,
                                         .constant_rows = mg_cpu_constant_rows,
                                         .smooth_residual = smooth_residual,
                                         .norm_begin = norm_begin,
                                         .norm_end = norm_end,
                                         .can_interpolate_smooth = guard_can_interpolate,
                                         .interpolate_smooth = interpolate_smooth};

const mg_backend_t mg_backend_guard = {
    .name = "guard",
    .value_bytes = sizeof(mg_real_t),
    .alloc = guard_alloc,
    .release = guard_release,
    .clear = guard_clear,
    .set_problem = set_problem,
    .restrict_faces = restrict_faces,
    .extend_faces = extend_faces,
    .set_diagonal = set_diagonal,
    .fill_wall_ghosts = fill_wall_ghosts,
    .smooth = smooth,
    .residual = residual,
    .restrict_cells = restrict_cells,
    .interpolate = interpolate,
    .prepare_copies = prepare_copies,
    .release_copies = release_copies,
    .copy = copy,
    .fill = fill,
    .combine = combine,
    .max_norm = max_norm,
    .dot = dot,
    .overlap = &overlap,
    .fused = &fused,
#ifndef MG_FLOAT
    .domains = &domains,
    .mixed = &mixed,
    .arrays = &arrays,
#endif
};

#ifndef MG_FLOAT
void guard_provide(void) {
  mg_level_provide_guard(&mg_backend_guard, &mg_backend_guard_float);
  guard_provide_paths();
}
#endif
