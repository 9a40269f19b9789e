/* Several smoother steps as one operation: a reference for the result, not a fast implementation.
 *
 * Smooths a copy of each patch, ghosts included, step by step; each step updates fewer ghost
 * layers. It is the oracle for fused sweeps on a device, and tests the layers above without one. */
#include "base/alloc.h"
#include "formulas/transfer.h"
#include "tests/guard/guard.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A copy of one patch, with memory for two iterates. */
typedef struct {
  mg_patch_t p; /* MG_U and MG_TMP are the copies */
  mg_real_t *memory;
  ptrdiff_t origin, values; /* of one vector's array */
} copy_t;

bool guard_can_fuse(const mg_view_t *v, int max_steps) {
  /* 1 / diagonal is computed from the betas, because it has no ghosts; with a varying alpha it
   * would be read. That of fv4 is always read, and has ghosts. */
  return !v->alpha_varies && mg_traits_of(v->op)->max_steps > 1 &&
         (mg_walls_enclose(v) || v->ghost_layers >= mg_layers_of_steps(v->radius, max_steps));
}

bool guard_can_interpolate(const mg_view_t *v, const mg_view_t *coarse, const mg_sweep_t *sweep) {
  return mg_has_path(v->op, MG_PATH_INTERPOLATION) && guard_can_fuse(v, sweep->n) &&
         (mg_walls_enclose(v) || coarse->ghost_layers >= mg_coarse_layers_of_steps(sweep->n));
}

/* Copy vector x of a patch, or zero if x < 0, into one of the copies. */
static void load_copy(const copy_t *c, const mg_patch_t *from, mg_vector_t x, int copy) {
  mg_real_t *to = c->p.vec[copy] - c->origin;
  if (x < 0)
    memset(to, 0, (size_t)c->values * sizeof *to);
  else
    memcpy(to, from->vec[x] - c->origin, (size_t)c->values * sizeof *to);
}

/* A cuboid of cells of a patch: first <= cell < end. */
typedef struct {
  int32_t first[3], end[3];
} box_t;

static bool is_empty(const box_t *b) {
  return b->first[0] >= b->end[0] || b->first[1] >= b->end[1] || b->first[2] >= b->end[2];
}

/* The region of a patch of v as at most 6 boxes. The interior is `layers` cells from halo ghosts,
 * including ghosts that are cells of a grown patch. Returns the number of boxes. */
static int boxes_of(const mg_view_t *v, const mg_patch_t *p, int layers, mg_region_t region,
                    box_t box[6]) {
  int n = 0;
  box_t rest = {{0, 0, 0}, {p->n[0], p->n[1], p->n[2]}};
  for (int d = 2; d >= 0 && region != MG_REGION_ALL; d--) {
    const int margin = layers + v->grown[d];
    box_t low = rest, high = rest;
    rest.first[d] = p->wall[d][0] ? 0 : margin < p->n[d] ? margin : p->n[d];
    rest.end[d] = p->wall[d][1] ? p->n[d] : p->n[d] - margin;
    if (rest.end[d] < rest.first[d]) rest.end[d] = rest.first[d];
    low.end[d] = rest.first[d];
    high.first[d] = rest.end[d];
    if (region == MG_REGION_BOUNDARY && !is_empty(&low)) box[n++] = low;
    if (region == MG_REGION_BOUNDARY && !is_empty(&high)) box[n++] = high;
  }
  if (region != MG_REGION_BOUNDARY && !is_empty(&rest)) box[n++] = rest;
  return n;
}

/* The cells of a box of a patch, as a patch. */
static mg_patch_t cut(const mg_patch_t *patch, const box_t *b) {
  mg_patch_t p = *patch;
  const ptrdiff_t stride[3] = {1, p.jstride, p.kstride};
  ptrdiff_t shift = 0;
  for (int d = 0; d < 3; d++) {
    const int32_t first = b->first[d], end = b->end[d];
    if (first > 0) p.wall[d][0] = MG_WALL_NONE;
    if (end < p.n[d]) p.wall[d][1] = MG_WALL_NONE;
    p.lo[d] += first;
    p.n[d] = end - first;
    shift += first * stride[d];
  }
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    if (p.vec[vec]) p.vec[vec] += shift;
  return p;
}

static void store_copy(const mg_patch_t *from, int copy, const mg_patch_t *to, mg_vector_t x) {
  for (int k = 0; k < to->n[2]; k++)
    for (int j = 0; j < to->n[1]; j++)
      memcpy(mg_cell(to, x, 0, j, k), mg_cell(from, copy, 0, j, k),
             (size_t)to->n[0] * sizeof(mg_real_t));
}

static mg_view_t view_of(const mg_view_t *v, mg_patch_t *patch) {
  mg_view_t one = *v;
  one.patch = patch;
  one.n_patches = 1;
  return one;
}

/* The patch, with `layers` ghost layers turned into cells. */
static mg_patch_t grown(const mg_patch_t *patch, int layers) {
  return mg_patch_grown(patch, (const int[3]){layers, layers, layers}, sizeof(mg_real_t));
}

/* The coarse cells of a box of patch q. It separates no pairs. */
static box_t coarse_box(const mg_view_t *v, int q, const mg_view_t *coarse, const box_t *b) {
  box_t half;
  for (int d = 0; d < 3; d++) {
    const int32_t lo = v->patch[q].lo[d], coarse_lo = coarse->patch[q].lo[d];
    half.first[d] = mg_coarse_cells(&v->single[d], lo + b->first[d]) - coarse_lo;
    half.end[d] = mg_coarse_cells(&v->single[d], lo + b->end[d]) - coarse_lo;
  }
  return half;
}

/* Run the steps on the copies. The last iterate ends in MG_U, with `ghosts` valid layers of ghosts,
 * and the previous one in MG_TMP, except for colored steps in place. */
static mg_status_t run_steps(const mg_view_t *v, copy_t *c, const mg_step_t *steps, int n,
                             int ghosts) {
  for (int s = 0; s < n; s++) {
    mg_patch_t p = grown(&c->p, n - 1 - s + ghosts);
    mg_view_t one = view_of(v, &p);
    /* 1 / diagonal from the betas, which have ghosts. */
    if (mg_traits_of(v->op)->sums_diagonal) p.vec[MG_DINV] = NULL;
    const bool in_place = steps[s].colored && mg_traits_of(v->op)->in_place;
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

/* Restrict the residual of the result in a box to patch q of `coarse`, or raise *norm to its
 * maximum. The previous iterate is replaced. */
static mg_status_t use_residual(const mg_view_t *v, const copy_t *c, int q, const box_t *box,
                                guard_residual_t use) {
  mg_patch_t p = cut(&c->p, box);
  const mg_view_t fine = view_of(v, &p);
  if (!use.coarse) {
    double norm;
    MG_TRY(mg_cpu_residual_norm(&fine, MG_U, MG_F, &norm));
    if (!isnan(*use.norm) && !(norm <= *use.norm)) *use.norm = norm;
    return MG_OK;
  }
  const box_t half_box = coarse_box(v, q, use.coarse, box);
  mg_patch_t half = cut(&use.coarse->patch[q], &half_box);
  const mg_view_t coarse = view_of(use.coarse, &half);
  MG_TRY(mg_cpu_residual(&fine, MG_TMP, MG_U, MG_F));
  return mg_cpu_restrict_cells(&fine, MG_TMP, &coarse, use.dst);
}

/* Write the results of a region: the last iterates and, if `use` is not NULL, the residual. */
static mg_status_t store_region(const mg_view_t *v, const copy_t *c, int q, const mg_sweep_t *sweep,
                                mg_region_t region, const guard_residual_t *use) {
  box_t box[6];
  const int layers = mg_layers_of_steps(v->radius, sweep->n + (use ? 1 : 0)),
            even = layers + layers % 2, /* whole coarse cells */
      n = boxes_of(v, &v->patch[q], even, region, box);
  for (int b = 0; b < n; b++) {
    const mg_patch_t from = cut(&c->p, &box[b]), to = cut(&v->patch[q], &box[b]);
    store_copy(&from, MG_U, &to, sweep->dst);
    if (sweep->previous_out >= 0) store_copy(&from, MG_TMP, &to, sweep->previous_out);
    if (use) MG_TRY(use_residual(v, c, q, &box[b], *use));
  }
  return MG_OK;
}

/* P1 or V2 to a child at `side` of a coarse cell: k first, then j, then i.
 * x: the coarse cell; its neighbors are read only in directions with a side */
static mg_real_t interpolate_child(bool p1, const mg_real_t *x, ptrdiff_t js, ptrdiff_t ks,
                                   const int side[3]) {
  const ptrdiff_t di = side[0] ? 1 : 0, dj = side[1] ? js : 0, dk = side[2] ? ks : 0;
  mg_real_t column[3], row[3];
  for (int i = -1; i <= 1; i++) {
    for (int j = -1; j <= 1; j++) {
      const mg_real_t *at = x + i * di + j * dj;
      column[j + 1] = mg_interpolate_side(p1, at[-dk], at[0], at[dk], side[2]);
    }
    row[i + 1] = mg_interpolate_side(p1, column[0], column[1], column[2], side[1]);
  }
  return mg_interpolate_side(p1, row[0], row[1], row[2], side[0]);
}

/* P src in a cell of the level, from a coarse patch with valid ghosts. */
static mg_real_t interpolated(const mg_view_t *v, const mg_patch_t *coarse,
                              const guard_source_t *source, const int32_t cell[3]) {
  int32_t at[3];
  int side[3];
  for (int d = 0; d < 3; d++) {
    const mg_child_t child = mg_child(&v->single[d], v->n[d], mg_is_periodic(v, d), cell[d]);
    at[d] = child.parent - coarse->lo[d];
    side[d] = child.side;
  }
  const mg_real_t *x = mg_cell(coarse, source->src, at[0], at[1], at[2]);
  return source->kind == MG_INTERPOLATE_P0
             ? *x
             : interpolate_child(source->kind == MG_INTERPOLATE_P1, x, coarse->jstride,
                                 coarse->kstride, side);
}

/* Add P src to the ghosts and cells of a copy that n steps read, or replace them by P src. */
static mg_status_t interpolate_copy(const mg_view_t *v, const copy_t *c, int q, int n, bool add,
                                    const guard_source_t *source) {
  const mg_patch_t p = grown(&c->p, mg_layers_of_steps(v->radius, n));
  mg_patch_t half = source->coarse->patch[q];
  mg_view_t coarse = view_of(source->coarse, &half);
  /* Ghosts outside walls are needed next to every ghost layer, not only next to the layers of A. */
  coarse.radius = coarse.ghost_layers;
  MG_TRY(mg_cpu_fill_wall_ghosts(&coarse, source->src, mg_interpolation_order(source->kind)));
  for (int k = 0; k < p.n[2]; k++)
    for (int j = 0; j < p.n[1]; j++)
      for (int i = 0; i < p.n[0]; i++) {
        mg_real_t *x = mg_cell(&p, MG_U, i, j, k);
        const mg_real_t value = interpolated(
            v, &half, source, (const int32_t[3]){p.lo[0] + i, p.lo[1] + j, p.lo[2] + k});
        *x = add ? *x + value : value;
      }
  return MG_OK;
}

static mg_status_t smooth_patch(const mg_view_t *v, int q, const mg_sweep_t *sweep,
                                mg_region_t region, const guard_residual_t *use,
                                const guard_source_t *source) {
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
  mg_status_t status = MG_OK;
  if (source) status = interpolate_copy(v, &c, q, sweep->n, sweep->x >= 0, source);
  if (status == MG_OK) status = run_steps(v, &c, sweep->step, sweep->n, use ? 1 : 0);
  if (status == MG_OK) status = store_region(v, &c, q, sweep, region, use);
  free(c.memory);
  return status;
}

mg_status_t guard_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                               const guard_residual_t *use, const guard_source_t *source) {
  for (int q = 0; q < v->n_patches; q++)
    MG_TRY(smooth_patch(v, q, sweep, region, use, source));
  return MG_OK;
}
