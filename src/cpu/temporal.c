/* Several smoother steps as one operation: a reference for the result, not a fast implementation.
 *
 * Smooths a copy of each patch, ghosts included, step by step; each step updates fewer ghost
 * layers. It is the oracle for fused sweeps on a device, and tests the layers above without one. */
#include "base/alloc.h"
#include "cpu/cpu.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A copy of one patch, with memory for two iterates. */
typedef struct {
  mg_patch_t p; /* MG_U and MG_TMP are the copies */
  mg_real_t *memory;
  ptrdiff_t origin, values; /* of one vector's array */
} copy_t;

static bool covers_level(const mg_view_t *v) {
  bool alone = v->n_patches == 1 && !v->periodic;
  for (int d = 0; d < 3 && alone; d++)
    alone = v->patch[0].n[d] == v->n[d];
  return alone;
}

bool mg_cpu_can_fuse(const mg_view_t *v, int max_steps) {
  /* 1 / diagonal is computed from the betas, because it has no ghosts; with a varying alpha it
   * would be read. That of fv4 is always read, and has ghosts. */
  return !v->alpha_varies &&
         (covers_level(v) || v->ghost_layers >= mg_layers_of_steps(v->radius, max_steps));
}

/* Copy vector x of a patch, or zero if x < 0, into one of the copies. */
static void load_copy(const copy_t *c, const mg_patch_t *from, mg_vector_t x, int copy) {
  mg_real_t *to = c->p.vec[copy] - c->origin;
  if (x < 0)
    memset(to, 0, (size_t)c->values * sizeof *to);
  else
    memcpy(to, from->vec[x] - c->origin, (size_t)c->values * sizeof *to);
}

static void store_copy(const copy_t *c, int copy, const mg_patch_t *to, mg_vector_t x) {
  for (int k = 0; k < to->n[2]; k++)
    for (int j = 0; j < to->n[1]; j++)
      memcpy(mg_cell(to, x, 0, j, k), mg_cell(&c->p, copy, 0, j, k),
             (size_t)to->n[0] * sizeof(mg_real_t));
}

/* The patch, with `layers` ghost layers turned into cells. */
static mg_patch_t grown(const mg_patch_t *patch, int layers) {
  mg_patch_t p = *patch;
  const ptrdiff_t stride[3] = {1, p.jstride, p.kstride};
  ptrdiff_t shift = 0;
  for (int d = 0; d < 3; d++) {
    const int low = p.wall[d][0] ? 0 : layers, high = p.wall[d][1] ? 0 : layers;
    p.lo[d] -= low;
    p.n[d] += low + high;
    shift += low * stride[d];
  }
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    if (p.vec[vec]) p.vec[vec] -= shift;
  return p;
}

/* Run the steps on the copies. The last iterate ends in MG_U, with `ghosts` valid layers of ghosts,
 * and the previous one in MG_TMP, except for colored steps in place. */
static mg_status_t run_steps(const mg_view_t *v, copy_t *c, const mg_step_t *steps, int n,
                             int ghosts) {
  const int64_t too_large_for_the_cache = INT64_MAX;
  for (int s = 0; s < n; s++) {
    mg_patch_t p = grown(&c->p, n - 1 - s + ghosts);
    mg_view_t one = *v;
    one.patch = &p;
    one.n_patches = 1;
    one.cells = too_large_for_the_cache; /* forces 1 / diagonal from the betas, which have ghosts */
    const bool in_place = steps[s].colored && v->op != MG_OPERATOR_FV4;
    const int dst = in_place ? MG_U : MG_TMP;
    MG_TRY(mg_cpu_smooth(&one, &(mg_sweep_t){&steps[s], 1, MG_U, dst, dst, MG_NO_VECTOR},
                         MG_REGION_ALL));
    if (in_place) continue;
    mg_real_t *swap = c->p.vec[MG_U];
    c->p.vec[MG_U] = c->p.vec[MG_TMP];
    c->p.vec[MG_TMP] = swap;
  }
  return MG_OK;
}

/* Restrict the residual of the result to patch q of `coarse`, or raise *norm to its maximum. */
static mg_status_t use_residual(const mg_view_t *v, copy_t *c, int q, mg_cpu_residual_use_t use) {
  mg_view_t fine = *v;
  fine.patch = &c->p;
  fine.n_patches = 1;
  if (!use.coarse) {
    double norm;
    MG_TRY(mg_cpu_residual_norm(&fine, MG_U, MG_F, &norm));
    if (!isnan(*use.norm) && !(norm <= *use.norm)) *use.norm = norm;
    return MG_OK;
  }
  mg_view_t coarse = *use.coarse;
  coarse.patch += q;
  coarse.n_patches = 1;
  return mg_cpu_residual_restrict(&fine, MG_U, MG_F, &coarse, use.dst);
}

static mg_status_t smooth_patch(const mg_view_t *v, int q, const mg_sweep_t *sweep,
                                const mg_cpu_residual_use_t *use) {
  const mg_patch_t *patch = &v->patch[q];
  const int layers = v->ghost_layers;
  copy_t c = {.p = *patch};
  c.values = (patch->n[2] + 2 * layers) * patch->kstride;
  c.origin = layers * (1 + patch->jstride + patch->kstride);
  MG_TRY(mg_new(&c.memory, 2 * c.values, "patch copies"));
  c.p.vec[MG_U] = c.memory + c.origin;
  c.p.vec[MG_TMP] = c.p.vec[MG_U] + c.values;
  load_copy(&c, patch, sweep->x, MG_U);
  /* A colored step copies the other color only where it changes cells, but fv4 reads it in one
   * layer more. */
  load_copy(&c, patch, sweep->step->colored ? sweep->x : sweep->previous, MG_TMP);
  mg_status_t status = run_steps(v, &c, sweep->step, sweep->n, use ? 1 : 0);
  store_copy(&c, MG_U, patch, sweep->dst);
  if (sweep->previous_out >= 0) store_copy(&c, MG_TMP, patch, sweep->previous_out);
  if (status == MG_OK && use) status = use_residual(v, &c, q, *use);
  free(c.memory);
  return status;
}

mg_status_t mg_cpu_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep,
                                const mg_cpu_residual_use_t *use) {
  for (int q = 0; q < v->n_patches; q++)
    MG_TRY(smooth_patch(v, q, sweep, use));
  return MG_OK;
}
