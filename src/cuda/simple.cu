/* The simple CUDA backend, --device=cuda-simple: every operation in its plainest form. Read it
 * before the rooms of src/cuda/, and start a backend for another device from it.
 *
 * One thread computes one cell (or one ghost, or one brick of a sum). All neighbors are in memory:
 * fill_wall_ghosts fills those outside walls before an operation reads them. No shared memory, no
 * fused operations, no special cases for large levels. Results are bit-identical to those of the
 * CPU and of the tuned kernels, because all use the formulas in formulas/. So this backend is the
 * tests' reference for the tuned kernels.
 *
 * Memory, streams, copies and set-up are those of the tuned backend: runtime/device.cu,
 * steps/copy.cu, steps/problem.cu, steps/setup.cu. So are transfers that have no tuned form:
 * steps/restrict.cu, and steps/interpolate.cu between levels of any sizes. */
#include "cuda/simple.h"
#include "wings.h"

/* ---- ghosts outside walls ---- */

/* Ghosts outside the two sides of direction d. A thread handles one line of cells that ends at a
 * wall: line (a, b) of the other two directions, counted from first[]. */
static __global__ void wall_ghosts_kernel(mg_patch_t p, mg_vector_t vec, int order, int d,
                                          int3 first, int3 n) {
  const int count[3] = {n.x, n.y, n.z};
  MG_CUDA_CELL(a, b, side, count);
  if (!p.wall[d][side]) return;
  const int at_wall = side == 0 ? 0 : p.n[d] - 1, i = first.x + a, j = first.y + b;
  const ptrdiff_t stride[3] = {1, p.jstride, p.kstride};
  const ptrdiff_t in = side == 0 ? stride[d] : -stride[d];
  mg_real_t *x = d == 0   ? mg_cell(&p, vec, at_wall, i, j)
                 : d == 1 ? mg_cell(&p, vec, i, at_wall, j)
                          : mg_cell(&p, vec, i, j, at_wall);
  if (order == 3) {
    x[-in] = mg_ghost_3(x[0], x[in]);
  } else if (order < 4) {
    x[-in] = mg_ghost(p.wall[d][side], order, x[0], x[in]);
  } else {
    x[-in] = mg_ghost_4(1, x[0], x[in], x[2 * in], x[3 * in]);
    x[-2 * in] = mg_ghost_4(2, x[0], x[in], x[2 * in], x[3 * in]);
  }
}

/* One direction after the other: the lines of later directions include the ghosts of earlier ones,
 * so edges and corners become tensor products. */
mg_status_t mg_cuda_fill_wall_ghosts(const mg_view_t *v, mg_vector_t vec, int order) {
  const mg_wall_orders_t used = mg_wall_orders(v, order);
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++) {
      const mg_patch_t &p = v->patch[q];
      int first[2], n[3] = {0, 0, 2}, e = 0;
      for (int t = 0; t < 3; t++) {
        if (t == d) continue;
        const bool already_filled = t < d; /* ghosts outside walls of direction t */
        first[e] = p.wall[t][0] && !already_filled ? 0 : -v->radius;
        n[e] = p.n[t] + (p.wall[t][1] && !already_filled ? 0 : v->radius) - first[e];
        e++;
      }
      MG_TRY(mg_cuda_launch("fill_wall_ghosts", n, wall_ghosts_kernel, p, vec, used.along[d], d,
                            make_int3(first[0], first[1], 0), make_int3(n[0], n[1], n[2])));
    }
  return MG_OK;
}

/* ---- operator and smoother ---- */

/* A x at offset `at` of the patch, for the operator with this number of points. */
static __device__ mg_real_t apply(const mg_cuda_patch_t *l, int points, const mg_real_t *x,
                                  ptrdiff_t at) {
  const mg_patch_t *p = &l->p;
  const mg_real_t *bi = p->vec[MG_BETA_I] + at, *bj = p->vec[MG_BETA_J] + at,
                  *bk = p->vec[MG_BETA_K] + at, a = mg_a_at(&l->v, p, at);
#define APPLY(n)                                                                                   \
  if (points == n) return mg_apply_##n(x + at, bi, bj, bk, p->jstride, p->kstride, a, l->v.b_h2);
  MG_OTHER_STENCILS(APPLY)
  return mg_apply_7(x + at, bi, bj, bk, p->jstride, p->kstride, a, l->v.b_h2);
}

/* One step. A colored step in place reads only cells of the other color, which no thread writes. */
static __global__ void step_kernel(mg_cuda_patch_t l, int points, mg_update_t u) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const int phase = mg_parity(&l.p, i, j, k) ^ u.color;
  const mg_real_t x = u.x < 0 ? MG_REAL(0.0) : l.p.vec[u.x][at];
  mg_real_t *out = l.p.vec[u.dst] + at;
  if (phase & u.mask) {
    if (u.dst != u.x) *out = x;
    return;
  }
  const mg_real_t ax = u.x < 0 ? MG_REAL(0.0) : apply(&l, points, l.p.vec[u.x], at);
  const mg_real_t previous = u.previous < 0 ? MG_REAL(0.0) : l.p.vec[u.previous][at];
  *out = mg_update(x, previous, ax, l.p.vec[MG_F][at], l.p.vec[MG_DINV][at], u.c1, u.c2);
}

static mg_status_t smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t) {
  const mg_update_t u = mg_update_of(sweep);
  if (u.x >= 0) MG_TRY(mg_cuda_fill_wall_ghosts(v, u.x, mg_operator_order(v)));
  for (int q = 0; q < v->n_patches; q++)
    MG_TRY(mg_cuda_launch("smooth", v->patch[q].n, step_kernel, mg_cuda_patch(v, q),
                          mg_traits_of(v->op)->points, u));
  return MG_OK;
}

static __global__ void residual_kernel(mg_cuda_patch_t l, int points, mg_vector_t dst,
                                       mg_vector_t x, mg_vector_t f) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const mg_real_t ax = apply(&l, points, l.p.vec[x], at);
  l.p.vec[dst][at] = f < 0 ? ax : l.p.vec[f][at] - ax;
}

static mg_status_t residual(const mg_view_t *v, mg_vector_t dst, mg_vector_t x, mg_vector_t f) {
  MG_TRY(mg_cuda_fill_wall_ghosts(v, x, mg_operator_order(v)));
  for (int q = 0; q < v->n_patches; q++)
    MG_TRY(mg_cuda_launch("residual", v->patch[q].n, residual_kernel, mg_cuda_patch(v, q),
                          mg_traits_of(v->op)->points, dst, x, f));
  return MG_OK;
}

/* ---- two levels ---- */

/* One thread per fine cell: a tensor product, along k first, then j, then i. */
static __global__ void interpolate_kernel(mg_patch_t coarse, mg_vector_t src, mg_patch_t fine,
                                          mg_vector_t dst, mg_interpolation_t kind, bool add) {
  MG_CUDA_CELL(i, j, k, fine.n);
  const int reach = kind == MG_INTERPOLATE_V4 ? 2 : kind == MG_INTERPOLATE_P0 ? 0 : 1;
  mg_real_t row[5] = {}, column[5] = {}, line[5] = {};
  for (int di = -reach; di <= reach; di++) {
    for (int dj = -reach; dj <= reach; dj++) {
      for (int dk = -reach; dk <= reach; dk++)
        line[dk + 2] = *mg_cell(&coarse, src, i / 2 + di, j / 2 + dj, k / 2 + dk);
      column[dj + 2] = mg_interpolate_5(kind, line, k % 2 ? 1 : -1);
    }
    row[di + 2] = mg_interpolate_5(kind, column, j % 2 ? 1 : -1);
  }
  const mg_real_t value = mg_interpolate_5(kind, row, i % 2 ? 1 : -1);
  mg_real_t *out = mg_cell(&fine, dst, i, j, k);
  *out = add ? *out + value : value;
}

static mg_status_t interpolate(const mg_view_t *coarse, mg_vector_t src, const mg_view_t *fine,
                               mg_vector_t dst, mg_interpolation_t kind, bool add) {
  if (!mg_doubles(fine->n, coarse->n))
    return mg_cuda_interpolate(coarse, src, fine, dst, kind, add);
  for (int q = 0; q < fine->n_patches; q++)
    MG_TRY(mg_cuda_launch("interpolate", fine->patch[q].n, interpolate_kernel, coarse->patch[q],
                          src, fine->patch[q], dst, kind, add));
  return MG_OK;
}

/* ---- vectors ---- */

static __global__ void fill_kernel(mg_patch_t p, mg_vector_t dst, double value, int ghosts) {
  const int n[3] = {p.n[0] + 2 * ghosts, p.n[1] + 2 * ghosts, p.n[2] + 2 * ghosts};
  MG_CUDA_CELL(i, j, k, n);
  *mg_cell(&p, dst, i - ghosts, j - ghosts, k - ghosts) = value;
}

static mg_status_t fill(const mg_view_t *v, mg_vector_t dst, double value) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const int g = v->ghost_layers, n[3] = {p.n[0] + 2 * g, p.n[1] + 2 * g, p.n[2] + 2 * g};
    MG_TRY(mg_cuda_launch("fill", n, fill_kernel, p, dst, value, g));
  }
  return MG_OK;
}

static __global__ void combine_kernel(mg_patch_t p, mg_combination_t c, mg_vector_t dst,
                                      double alpha, mg_vector_t x, double beta, mg_vector_t y) {
  MG_CUDA_CELL(i, j, k, p.n);
  const mg_real_t a = MG_REAL(alpha), at_x = *mg_cell(&p, x, i, j, k),
                  at_y = y < 0 ? MG_REAL(0.0) : *mg_cell(&p, y, i, j, k);
  *mg_cell(&p, dst, i, j, k) = c == MG_SHIFT      ? at_x + a
                               : c == MG_MULTIPLY ? at_x * at_y
                               : y < 0            ? a * at_x
                                                  : mg_fma(a, at_x, MG_REAL(beta) * at_y);
}

static mg_status_t combine(const mg_view_t *v, mg_combination_t c, mg_vector_t dst, double alpha,
                           mg_vector_t x, double beta, mg_vector_t y) {
  for (int q = 0; q < v->n_patches; q++)
    MG_TRY(mg_cuda_launch("combine", v->patch[q].n, combine_kernel, v->patch[q], c, dst, alpha, x,
                          beta, y));
  return MG_OK;
}

/* ---- reductions ---- */

/* Non-negative doubles order like their bit patterns, and NaN is above all of them. */
static __global__ void max_norm_kernel(mg_patch_t p, mg_vector_t x, mg_vector_t y,
                                       unsigned long long *maximum) {
  MG_CUDA_CELL(i, j, k, p.n);
  const mg_real_t value = *mg_cell(&p, x, i, j, k);
  atomicMax(maximum, mg_max_bits(y < 0 ? value : value - *mg_cell(&p, y, i, j, k)));
}

static mg_status_t max_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t y, double *norm) {
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++)
    MG_TRY(mg_cuda_launch("max_norm", v->patch[q].n, max_norm_kernel, v->patch[q], x, y,
                          mg_cuda_reduction()));
  return mg_cuda_max_end(norm);
}

/* One thread per brick of u^3 cells, which is summed in the order of sum.h: lane i sums
 * cell i of every row, then the lanes are added in order. The brick sums are added exactly. */
static __global__ void dot_kernel(mg_patch_t p, mg_vector_t x, mg_vector_t y, int u,
                                  unsigned long long *sum) {
  const int bricks[3] = {p.n[0] / u, p.n[1] / u, p.n[2] / u};
  MG_CUDA_CELL(bi, bj, bk, bricks);
  double lane[8] = {};
  for (int k = bk * u; k < (bk + 1) * u; k++)
    for (int j = bj * u; j < (bj + 1) * u; j++)
      for (int i = 0; i < u; i++) {
        const mg_real_t value = *mg_cell(&p, x, bi * u + i, j, k);
        lane[i] = y < 0 ? lane[i] + value
                        : fma((double)value, (double)*mg_cell(&p, y, bi * u + i, j, k), lane[i]);
      }
  double total = lane[0];
  for (int i = 1; i < u; i++)
    total += lane[i];
  mg_sum_add_atomic(sum, total);
}

mg_status_t mg_cuda_add_bricks(const mg_patch_t &p, mg_vector_t x, mg_vector_t y, int u) {
  const int bricks[3] = {p.n[0] / u, p.n[1] / u, p.n[2] / u};
  return mg_cuda_launch("dot", bricks, dot_kernel, p, x, y, u, mg_cuda_reduction());
}

static mg_status_t dot(const mg_view_t *v, mg_vector_t x, mg_vector_t y, mg_sum_t *sum) {
  MG_TRY(mg_cuda_sum_begin());
  for (int q = 0; q < v->n_patches; q++)
    MG_TRY(mg_cuda_add_bricks(v->patch[q], x, y, mg_brick_width(v)));
  return mg_cuda_sum_end(sum);
}

extern "C" const mg_backend_t mg_backend_cuda_simple = {
    .name = "cuda-simple",
    MG_CUDA_SETUP_ENTRIES.smooth = smooth,
    .residual = residual,
    .restrict_cells = mg_cuda_restrict_cells,
    .interpolate = interpolate,
    .prepare_copies = mg_cuda_prepare_copies,
    .release_copies = mg_cuda_release_copies,
    .copy = mg_cuda_copy,
    .fill = fill,
    .combine = combine,
    .max_norm = max_norm,
    .dot = dot,
    .queue = mg_cuda_queue,
    MG_IF_PROFILE(.profile = &mg_cuda_profile, ).device = &mg_cuda_device,
#ifndef MG_FLOAT
    MG_IF_DOMAINS(.domains = &mg_cuda_domains, ) MG_IF_MIXED(.mixed = &mg_cuda_simple_mixed, )
        MG_IF_ARRAYS(.arrays = &mg_cuda_arrays, )
            .peer = &mg_cuda_peer,
#endif
    MG_IF_EXCHANGE(.p2p = &mg_cuda_p2p)};
