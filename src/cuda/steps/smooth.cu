/* One step of a smoother.
 *
 * Bytes per cell of the 7-point operators: GSRB and Jacobi 48, Chebyshev 56. Flops, with an fma
 * counted as two: 31 per cell that GSRB changes, 35 per cell of the others. The diagonal is summed
 * from the betas; fv4 reads it, which adds 8 bytes. One thread per cell in blocks of 32 x 8: the L1
 * serves the neighbors in i and j, the L2 those in k. The kernels of fv4 are in fv4/.
 *
 * On large levels a thread of the 7-point operators has several cells stacked in k, so the values
 * they share hit the L1. Time of all steps at 512^3 in an F-cycle on an H200, ms. A copy moves
 * these bytes in 18.1 ms (GSRB) and 20.6 ms (Chebyshev):
 *
 *     cells per thread, blocks per SM       1, 6   2, 5   2, 4   3, 4   4, 3
 *     GSRB                                  20.2   18.6   18.7   18.2   18.1
 *     Chebyshev                             21.9   21.0   21.2   21.0   23.6
 *
 * Without streaming loads (stencil_load.h) Chebyshev takes 24.1 ms with one cell and 23.1 with two;
 * GSRB is unchanged. Spilling a few bytes of registers costs 2 ms, hence the order of statements.
 *
 * Tried and slower:
 *   - blocks of 32 x 4 x 2 and 32 x 4 x 4 threads, and of 32 x 4 (half the speed: the blocks are
 *     too short-lived);
 *   - slabs of 32, 64 and 128 rows, each through all planes, one after the other (GSRB: 2 to 5 %
 *     faster with one cell per thread, no faster with several; Chebyshev: slower);
 *   - issuing all loads of a thread's cells before its arithmetic (21.3);
 *   - 1 / diagonal from memory (23.0 and 24.8 instead of 20.2 and 22.4). */
#include "cuda/cells/stencil_load.h"
#include "cuda/runtime/dependent_launch.h"
#include "cuda/runtime/overlap.h"
#include "wings.h"
#include <algorithm>

static const dim3 block_shape(32, 8, 1);

/** 1 / diagonal: stored if it is l1-scaled or the operator is fv4, otherwise computed. */
static __device__ __forceinline__ mg_real_t dinv_of(const mg_cuda_patch_t *l, bool stored, int i,
                                                    int j, int k) {
  const mg_patch_t *p = &l->p;
  const ptrdiff_t js = p->jstride, ks = p->kstride, at = i + j * js + k * ks;
  if (stored) return p->vec[MG_DINV][at];
  return MG_REAL(1.0) /
         mg_diagonal_7(p->vec[MG_BETA_I] + at, p->vec[MG_BETA_J] + at, p->vec[MG_BETA_K] + at, js,
                       ks, mg_cuda_face_weights(l, i, j, k), mg_a_at(&l->v, p, at), l->v.b_h2);
}

/** Update of a cell of a 7-point operator, in a step on all cells or, in place, on its color. */
template <bool may_be_thin = true>
static __device__ __forceinline__ void update_cell(const mg_cuda_patch_t *l, const mg_update_t &u,
                                                   bool stored, int i, int j, int k) {
  const bool colored = u.form == MG_UPDATE_COLORED;
  const mg_real_t *x = l->p.vec[u.x];
  const ptrdiff_t at = i + j * l->p.jstride + k * l->p.kstride;
  const mg_real_t previous = colored || u.previous < 0 ? MG_REAL(0.0) : l->p.vec[u.previous][at],
                  ax = mg_apply<7, may_be_thin>(l, x, i, j, k), f = l->p.vec[MG_F][at],
                  d = dinv_of(l, stored, i, j, k);
  l->p.vec[u.dst][at] =
      colored ? mg_relax(x[at], ax, f, d, u.c2) : mg_update(x[at], previous, ax, f, d, u.c1, u.c2);
}

/* Cells per thread along k on large levels. */
enum { COLORED_PLANES = 3, ALL_PLANES = 2 };

/* Blocks of 256 threads per SM. */
#define BLOCKS(planes) MG_CUDA_MIN_BLOCKS((planes) == 2 ? 5 : 4, 256)

/** Whether no cell of this block is at a wall. The block has `width` cells along i and `planes`
 *  cells per thread along k. */
static __device__ __forceinline__ bool clear(const mg_patch_t &p, int width, int planes) {
  const int n[3] = {width, (int)blockDim.y, (int)blockDim.z * planes};
  const int first[3] = {(int)blockIdx.x * n[0], (int)blockIdx.y * n[1], (int)blockIdx.z * n[2]};
  return mg_clear_of_walls(p, first, n);
}

/* Forms of a kernel for small levels: all tests at run time add up to 70 instructions after the
 * wait for the previous sweep, which are 3 to 6 % of a solve of 97x200x65 or 128x128x1 cells.
 *
 *   rare   test whether alpha varies and whether 1 / diagonal is stored
 *   thin   test whether the level is thin */
#define FORM_OF(colored, rare, thin)                                                               \
  ((rare)   ? cells_7<true, true, colored>                                                         \
   : (thin) ? cells_7<false, true, colored>                                                        \
            : cells_7<false, false, colored>)

/* Colored steps are in place: a thread updates the cell of the color in a pair. It reads the other
 * color, which no thread writes. All but the values of x, f and the previous iterate is loaded or
 * computed while the previous sweep runs. */
template <bool rare, bool thin, bool colored>
static __global__ void __launch_bounds__(256, MG_CUDA_MIN_BLOCKS(4, 256))
    cells_7(mg_cuda_patch_t l, mg_update_t u, bool stored) {
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  const int k = (int)(blockIdx.z * blockDim.z + threadIdx.z);
  const int phase = colored ? (mg_parity(&l.p, 0, j, k) ^ u.color) & 1 : 0;
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) * (colored ? 2 : 1) + phase;
  if (i >= l.p.n[0] || j >= l.p.n[1] || k >= l.p.n[2]) {
    /* A level of one cell has none of the other color. */
    if (colored) mg_cuda_wait_dependency();
    return;
  }
  const mg_row_t row = mg_row<rare>(&l, i, j, k);
  mg_real_t d = rare && !colored && stored ? mg_row_dinv<true>(&l, row, i, j, k)
                                           : mg_row_dinv<false>(&l, row, i, j, k);
  if (colored) d = MG_REAL(u.c2) * d; /* off the path from x to x */
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  mg_places7_t places = mg_places7(&l, i, j, k);
  mg_cuda_force(d);
  mg_cuda_force(places);
  mg_cuda_wait_dependency();
  const mg_real_t f = l.p.vec[MG_F][at],
                  previous = colored || u.previous < 0 ? MG_REAL(0.0) : l.p.vec[u.previous][at];
  const mg_values7_t near = mg_values7<thin>(&l, places, l.p.vec[u.x] + at);
  const mg_real_t ax = mg_row_apply(&l, row, near);
  l.p.vec[colored ? u.x : u.dst][at] =
      colored ? mg_relax(near.c, ax, f, d, 1.0) : mg_update(near.c, previous, ax, f, d, u.c1, u.c2);
}

/* The same for large levels: several cells per thread, stacked in k. */
template <int planes, bool colored>
static __global__ void __launch_bounds__(256, BLOCKS(planes))
    planes_7(mg_cuda_patch_t l, mg_update_t u, bool stored) {
  constexpr int width = colored ? 2 : 1;
  const int column = (int)(blockIdx.x * blockDim.x + threadIdx.x) * width;
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  const int k = (int)(blockIdx.z * blockDim.z + threadIdx.z) * planes;
  const int phase = colored ? (mg_parity(&l.p, 0, j, k) ^ u.color) & 1 : 0;
  if (clear(l.p, width * (int)blockDim.x, planes)) {
    const ptrdiff_t ks = l.p.kstride;
    mg_real_t value[planes], *const to = l.p.vec[u.dst] + j * l.p.jstride + k * ks;
#pragma unroll
    for (int q = 0; q < planes; q++) {
      const ptrdiff_t at =
          column + (colored ? phase ^ (q & 1) : 0) + j * l.p.jstride + (k + q) * ks;
      const mg_real_t previous =
          colored || u.previous < 0 ? MG_REAL(0.0) : __ldcs(l.p.vec[u.previous] + at);
      const mg_stencil_values_t near = mg_stencil_load(&l, l.p.vec[u.x], MG_F, at);
      /* A x first: fewer values then occupy registers during the division. */
      const mg_real_t ax = mg_row_apply(&l, near.row, near.x);
      const mg_real_t d =
          !colored && stored ? __ldcs(l.p.vec[MG_DINV] + at) : mg_stencil_dinv(&l, near.row);
      value[q] = colored ? mg_relax(near.x.c, ax, near.f, d, u.c2)
                         : mg_update(near.x.c, previous, ax, near.f, d, u.c1, u.c2);
    }
#pragma unroll
    for (int q = 0; q < planes; q++)
      to[column + (colored ? phase ^ (q & 1) : 0) + q * ks] = value[q];
    return;
  }
  for (int q = 0; q < planes; q++) {
    const int i = column + (colored ? phase ^ (q & 1) : 0);
    if (i < l.p.n[0] && j < l.p.n[1] && k + q < l.p.n[2])
      update_cell<false>(&l, u, stored, i, j, k + q);
  }
}

/* First step from a zero guess, where A x is zero too. Cells outside the color become zero. */
static __global__ void __launch_bounds__(256) first(mg_cuda_patch_t l, mg_update_t u, bool stored) {
  MG_CUDA_CELL(i, j, k, l.p.n);
  const ptrdiff_t at = i + j * l.p.jstride + k * l.p.kstride;
  const int phase = (mg_parity(&l.p, i, j, k) ^ u.color) & u.mask;
  mg_real_t d = phase == 0 ? dinv_of(&l, stored, i, j, k) : MG_REAL(0.0);
  mg_cuda_force(d);
  mg_cuda_wait_dependency();
  l.p.vec[u.dst][at] = phase == 0 ? mg_relax(0.0, 0.0, l.p.vec[MG_F][at], d, u.c2) : MG_REAL(0.0);
}

/* A kernel, and the cells of a thread along i and k. */
struct choice_t {
  void (*kernel)(mg_cuda_patch_t l, mg_update_t u, bool stored);
  int width, planes;
};

static choice_t choose_kernel(const mg_cuda_patch_t &l, mg_update_form_t form, bool stored) {
  if (form == MG_UPDATE_FIRST) return {first, 1, 1};
  const bool colored = form == MG_UPDATE_COLORED, large = mg_is_large(l),
             rare = stored || l.v.alpha_varies;
  if (colored && large) return {planes_7<COLORED_PLANES, true>, 2, COLORED_PLANES};
  if (colored) return {FORM_OF(true, rare, l.thin), 2, 1};
  if (large) return {planes_7<ALL_PLANES, false>, 1, ALL_PLANES};
  return {FORM_OF(false, rare, l.thin), 1, 1};
}

static void smooth_patch(const mg_cuda_patch_t &l, const mg_update_t &u, bool stored) {
  const int *n = l.p.n;
  const choice_t c = choose_kernel(l, u.form, stored);
  const dim3 grid = mg_cuda_grid((n[0] + c.width - 1) / c.width, n[1],
                                 (n[2] + c.planes - 1) / c.planes, block_shape);
  /* Kernels for large levels do not wait for their dependency. */
  if (c.planes > 1)
    c.kernel<<<grid, block_shape, 0, mg_cuda.stream>>>(l, u, stored);
  else
    mg_cuda_launch_dependent_shared(c.kernel, grid, block_shape, 0, l, u, stored);
}

/* One step of a 7-point operator, or the first step from zero of any operator. */
static mg_status_t smooth_step(const mg_view_t *v, const mg_sweep_t *sweep) {
  const mg_update_t u = mg_update_of(sweep);
  for (int q = 0; q < v->n_patches; q++) {
    smooth_patch(mg_cuda_patch(v, q), u, sweep->step->l1 || !mg_traits_of(v->op)->sums_diagonal);
    MG_CUDA_LAUNCHED("smooth");
  }
  return MG_OK;
}

/* A step in two regions: the interior, which overlaps with the halo exchange, and the boundary,
 * which depends on it. The boundary consists of whole tiles of a block each, so that it costs no
 * more than the same cells in a full sweep. */
static mg_tiling_t tiling_of(const mg_patch_t &p) {
  mg_tiling_t c = {{(int)block_shape.x, (int)block_shape.y, 1}, {1, 1, 1}, {}, {}};
  for (int d = 0; d < 3; d++) {
    c.box[d] = c.cells[d] + 2;
    c.n[d] = (p.n[d] + c.cells[d] - 1) / c.cells[d];
  }
  return c;
}

/* Fewest cells of a patch along each direction for overlap. */
enum { SHORTEST = 128 };

/* Overlap pays only for messages through the host. Transfers by the devices themselves are faster
 * before a single launch than beside two partial sweeps, each of which fills and drains the device.
 * Two H200s, GDOF/s without and with overlap: 512^3, peer stores 6.59 and 6.51, through the host
 * 4.18 and 5.16; 640^3 in several patches, NCCL 5.94 and 5.71. */
static bool step_overlaps(const mg_view_t *v, bool host) {
  bool fits = host;
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++)
      fits = fits && v->patch[q].n[d] >= SHORTEST;
  return fits;
}

/* A cuboid of tiles as a separate patch. Its walls are those of the original patch. */
static mg_patch_t patch_of(const mg_patch_t &p, const mg_tiling_t &tiling,
                           const mg_tiles_t &tiles) {
  mg_patch_t part = p;
  int first[3];
  for (int d = 0; d < 3; d++) {
    first[d] = tiles.first[d] * tiling.cells[d];
    part.lo[d] += first[d];
    part.n[d] = std::min(tiles.n[d] * tiling.cells[d], p.n[d] - first[d]);
  }
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    if (part.vec[vec]) part.vec[vec] = mg_cell(&p, vec, first[0], first[1], first[2]);
  return part;
}

static __global__ void __launch_bounds__(256)
    smooth_boundary(mg_cuda_patch_t l, mg_region_tiles_t tiles, mg_update_t u, bool stored) {
  int tile[3];
  mg_tile_of_block(tiles, tile);
  const int i = tile[0] * (int)blockDim.x + (int)threadIdx.x,
            j = tile[1] * (int)blockDim.y + (int)threadIdx.y, k = tile[2];
  if (i >= l.p.n[0] || j >= l.p.n[1]) return;
  if (((mg_parity(&l.p, i, j, k) ^ u.color) & u.mask) == 0) update_cell(&l, u, stored, i, j, k);
}

static mg_status_t smooth_region(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  const mg_update_t u = mg_update_of(sweep);
  const bool stored = sweep->step->l1;
  for (int q = 0; q < v->n_patches; q++) {
    mg_cuda_patch_t l = mg_cuda_patch(v, q);
    const mg_tiling_t tiling = tiling_of(l.p);
    mg_region_tiles_t tiles;
    const int blocks = mg_region_tiles(l.p, tiling, region, &tiles);
    if (region == MG_REGION_INTERIOR) {
      l.p = patch_of(l.p, tiling, tiles.list[0]);
      smooth_patch(l, u, stored);
    } else if (blocks > 0) {
      smooth_boundary<<<(unsigned)blocks, block_shape, 0, mg_cuda.stream>>>(l, tiles, u, stored);
    }
    MG_CUDA_LAUNCHED("smooth_region");
  }
  return MG_OK;
}

bool mg_cuda_sweep_overlaps(const mg_view_t *v, int n, bool host) {
  const bool fv4 = mg_traits_of(v->op)->points == 25;
  (void)n;
  MG_IF_FUSED(if (n > 1) return fv4 ? mg_cuda_fv4_fused_overlaps(v, host)
                                    : mg_cuda_fused_overlaps(v, n, host));
  return fv4 ? mg_cuda_fv4_sweep_overlaps(v, host) : step_overlaps(v, host);
}

mg_status_t mg_cuda_smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  const bool fv4 = mg_traits_of(v->op)->points == 25;
  MG_IF_FUSED(if (sweep->n > 1 && fv4) return mg_cuda_fv4_smooth_fused(v, sweep, region));
  MG_IF_FUSED(
      if (sweep->n > 1) return mg_cuda_smooth_fused(v, sweep, region, false, NULL, MG_NO_VECTOR));
  if (fv4 && sweep->x >= 0) return mg_cuda_fv4_smooth(v, sweep, region);
  return region == MG_REGION_ALL ? smooth_step(v, sweep) : smooth_region(v, sweep, region);
}
