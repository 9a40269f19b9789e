/* A smooth as one pass through the caches (pass.c), with interpolation before it and residual
 * after it. Bytes per cell, for any number of steps: 56 (x read and written, f, three betas and
 * 1 / diagonal read), with constant coefficients 24; 8 less if 1 / diagonal is computed, 16 more if
 * steps alternate between two vectors. Colored steps of fv4 on rows of 8 m cells: smooth_split.c.
 */
#include "base/alloc.h"
#include "cpu/pass.h"
#include "formulas/smoother.h"
#include <stdlib.h>
#include <string.h>

/* Of the calling thread's last smooth: threads may use different solvers at the same time. */
static _Thread_local double residual_norm;

mg_status_t mg_cpu_norm_begin(void) {
  residual_norm = 0.0;
  return MG_OK;
}

mg_status_t mg_cpu_norm_end(double *norm) {
  *norm = residual_norm;
  return MG_OK;
}

/* A copy of rows. */
typedef struct {
  mg_vector_t src, dst;
} copy_t;

static void copy_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const copy_t *copy = arg;
  const mg_patch_t *p = &v->patch[patch];
  for (int j = j0; j < j1; j++)
    memcpy(mg_cell(p, copy->dst, 0, j, k), mg_cell(p, copy->src, 0, j, k),
           (size_t)p->n[0] * sizeof(mg_real_t));
}

/* A smooth in preparation. */
typedef struct {
  const mg_view_t *v;
  int n, threads; /* stages so far */
  mg_cpu_stage_t *stage;
  mg_cpu_step_t *step;
  mg_cpu_grown_t *grown;       /* of each step */
  mg_cpu_grown_t fine, coarse; /* of the interpolation */
  mg_cpu_interpolation_job_t interpolation;
  copy_t copy;
  mg_cpu_residual_job_t residual;
} smooth_t;

static void add_stage(smooth_t *s, mg_strip_fn fn, void *arg, const mg_view_t *view, int ratio,
                      mg_vector_t x) {
  const int behind = s->n * mg_traits_of(s->v->op)->pass_planes;
  s->stage[s->n++] = (mg_cpu_stage_t){fn, arg, view, ratio, behind, x};
}

/* The view of step q of n: with the ghosts that later steps read, and a residual or an
 * interpolation after them. */
static const mg_view_t *view_of_step(smooth_t *s, int q, int n) {
  const int layers = (n - q) * s->v->radius;
  return mg_cpu_grow(s->v, (const int[3]){layers, layers, layers}, &s->grown[q]);
}

/* To the cells and all ghosts that the steps read. */
static mg_status_t add_interpolation(smooth_t *s, const mg_resident_use_t *use, mg_vector_t dst,
                                     bool add) {
  const int layers = mg_walls_enclose(s->v) ? 0 : s->v->ghost_layers / 2;
  const mg_view_t *coarse =
      mg_cpu_grow(use->source, (const int[3]){layers, layers, layers}, &s->coarse);
  const mg_view_t *fine =
      mg_cpu_grow(s->v, (const int[3]){2 * layers, 2 * layers, 2 * layers}, &s->fine);
  MG_TRY(mg_cpu_interpolation_job(coarse, use->src, fine, dst, use->kind, add, s->threads,
                                  &s->interpolation));
  if (use->kind != MG_INTERPOLATE_P0)
    MG_TRY(mg_cpu_fill_wall_ghosts(coarse, use->src, mg_interpolation_order(use->kind)));
  add_stage(s, mg_cpu_interpolation_strip, &s->interpolation, coarse, 2, MG_NO_VECTOR);
  return MG_OK;
}

static mg_status_t add_residual(smooth_t *s, const mg_resident_use_t *use, mg_vector_t x) {
  MG_TRY(mg_cpu_residual_job(s->v, x, MG_F, use->coarse, use->dst, s->threads, &s->residual));
  if (use->coarse)
    add_stage(s, mg_cpu_residual_restrict_strip, &s->residual, use->coarse, 2, x);
  else
    add_stage(s, mg_cpu_residual_norm_strip, &s->residual, s->v, 1, x);
  return MG_OK;
}

/* Steps alternate between two vectors, except colored ones of the 7-point operators. */
static mg_status_t add_stages(smooth_t *s, const mg_sweep_t *sweep, const mg_resident_use_t *use) {
  const bool in_place = sweep->step->colored && mg_traits_of(s->v->op)->in_place,
             zero = sweep->x < 0 && !use->source;
  const bool odd = !in_place && sweep->n % 2 != 0;
  mg_vector_t from = odd && sweep->x < 0 ? mg_cpu_other_vector(sweep->dst) : sweep->dst;
  if (use->source) MG_TRY(add_interpolation(s, use, from, sweep->x >= 0));
  for (int q = 0; q < sweep->n; q++) {
    const mg_vector_t to = in_place ? from : mg_cpu_other_vector(from);
    s->step[q] =
        mg_cpu_step_of(s->v, &(mg_sweep_t){&sweep->step[q], 1, zero && q == 0 ? MG_NO_VECTOR : from,
                                           zero && q <= 1 ? MG_NO_VECTOR : to, to, MG_NO_VECTOR});
    add_stage(s, mg_cpu_step_strip, &s->step[q], view_of_step(s, q, sweep->n), 1, s->step[q].u.x);
    from = to;
  }
  if (from != sweep->dst) {
    s->copy = (copy_t){from, sweep->dst};
    add_stage(s, copy_strip, &s->copy, s->stage[s->n - 1].view, 1, MG_NO_VECTOR);
  }
  return use->has_residual ? add_residual(s, use, sweep->dst) : MG_OK;
}

static bool splits(const mg_view_t *v, const mg_step_t *step) {
  return mg_has_path(v->op, MG_PATH_SPLIT) && step->colored && mg_cpu_can_split(v);
}

/* With an interpolation and a residual. */
static int rows_of(const mg_view_t *v, const mg_step_t *step, int n) {
  const int planes =
      splits(v, step) ? mg_cpu_split_planes(n) : (n + 2) * mg_traits_of(v->op)->pass_planes + 2;
  return mg_cpu_pass_rows(v, planes);
}

int mg_cpu_strip_rows(const mg_view_t *v, const mg_step_t *step, int n) {
  const int strips = mg_cpu_strip_count(v, mg_cpu_threads(v), rows_of(v, step, n));
  return (v->patch->n[1] + strips - 1) / strips;
}

mg_status_t mg_cpu_smooth_resident(const mg_view_t *v, const mg_sweep_t *sweep,
                                   const mg_resident_use_t *use) {
  return mg_cpu_smooth_in_strips(v, sweep, use, rows_of(v, sweep->step, sweep->n));
}

mg_status_t mg_cpu_smooth_in_strips(const mg_view_t *v, const mg_sweep_t *sweep,
                                    const mg_resident_use_t *use, int rows) {
  if (splits(v, sweep->step)) return mg_cpu_smooth_split(v, sweep, use, rows, &residual_norm);
  smooth_t s = {.v = v, .threads = mg_cpu_threads(v)};
  MG_TRY(mg_new(&s.stage, sweep->n + 3, "stages of a smooth"));
  mg_status_t status = mg_new(&s.step, sweep->n, "steps of a smooth");
  if (status == MG_OK) status = mg_new(&s.grown, sweep->n, "views of a smooth");
  if (status == MG_OK) status = add_stages(&s, sweep, use);
  if (status == MG_OK) status = mg_cpu_pass(v, s.stage, s.n, s.threads, rows);
  if (status == MG_OK && use->has_residual && !use->coarse)
    residual_norm = mg_cpu_join_norms(s.residual.partial, s.threads);
  mg_cpu_residual_job_free(&s.residual);
  free(s.interpolation.scratch);
  free(s.grown);
  free(s.step);
  free(s.stage);
  return status;
}

const mg_backend_fused_t mg_cpu_fused = {.smooth_resident = mg_cpu_smooth_resident,
                                         .strip_rows = mg_cpu_strip_rows,
                                         .bound_betas = mg_cpu_bound_betas,
                                         .constant_rows = mg_cpu_constant_rows,
                                         .norm_begin = mg_cpu_norm_begin,
                                         .norm_end = mg_cpu_norm_end,
                                         .residual_norm = mg_cpu_residual_norm,
                                         .residual_restrict = mg_cpu_residual_restrict};
