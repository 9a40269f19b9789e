/* Interpolation onto fine patches: tensor products, k first, then j, then i.
 *
 * Bytes per fine cell: 17 with correction (u read and written, plus an eighth of a coarse cell),
 * 9 without. One thread per coarse cell computes its 8 fine cells and writes them as four pairs.
 * Ghosts outside Dirichlet walls are computed here. For P1 and V2, the thread that needs them
 * computes them from the cells it already has. For V4 they need four cells in each of three
 * directions, so they are computed once per block. */
#include "cuda/cells/interpolate.h"
#include "cuda/cells/wall_value.h"
#include "cuda/runtime/dependent_launch.h"

static const dim3 block_shape(32, 4, 1);

/* Blocks of 128 threads per SM. V2 at 512^3 on an H200 (hpgmg-bench roofline), correction /
 * solution, in us: compiler's choice 706 / 397, five 631 / 436, eight 604 / 398. */
enum { LOW_BLOCKS = 8 };

/** P1 and V2. order: as in mg_with_neighbors. */
template <mg_interpolation_t kind>
static __global__ void __launch_bounds__(128, MG_CUDA_MIN_BLOCKS(LOW_BLOCKS, 128))
    interpolate(mg_patch_t coarse, mg_vector_t src, mg_patch_t fine, mg_vector_t dst, bool add,
                int order) {
  MG_CUDA_CELL(i, j, k, coarse.n);
  mg_cuda_wait_dependency();
  mg_interpolate_folded<kind>(coarse, src, fine, dst, add, order, i, j, k);
}

/* V4: a block computes 16 x 4 x 4 coarse cells and shares them plus two cells on every side. */
enum { BI = 16, BJ = 4, BK = 4, THREADS = BI * BJ * BK, TI = BI + 4, TJ = BJ + 4, TK = BK + 4 };

/** The coarse value at patch-local indices, including ghosts outside walls. With lower orders the
 *  second ghost is zero in memory. */
static __device__ __forceinline__ mg_real_t value_at(const mg_patch_t &p, mg_vector_t vec,
                                                     int order, const int at[3]) {
  const mg_ghost_axis_t r[3] = {mg_ghost_axis(&p, 0, at[0]), mg_ghost_axis(&p, 1, at[1]),
                                mg_ghost_axis(&p, 2, at[2])};
  const int depth = max(max(r[0].depth, r[1].depth), r[2].depth);
  if (depth == 0 || (order < 4 && depth > 1)) return *mg_cell(&p, vec, at[0], at[1], at[2]);
  return mg_wall_value<3>(&p, p.vec[vec], r, order);
}

/* Three in-place phases. Along k, each thread combines one column of the tile; along j, one row
 * of that result. Along i, each pair of fine cells comes from five values of a row. So each
 * combination is computed once: 745 us at 512^3 on an H200, versus 1334 us if a thread computes
 * all combinations of its eight cells. With three blocks per SM 823 us, with five 768 us. */
enum { V4_BLOCKS = 4 };
static_assert(TK == 2 * BK && TJ == 2 * BJ, "combinations overwrite their inputs");

/** Replace a line of cells by fine pairs, in place: one pair per cell, without the two ghosts at
 *  each end. */
template <int cells>
static __device__ __forceinline__ void combine_line(mg_real_t *line, int step) {
  mg_real_t x[cells];
#pragma unroll
  for (int a = 0; a < cells; a++)
    x[a] = line[a * step];
#pragma unroll
  for (int a = 0; a < cells - 4; a++)
#pragma unroll
    for (int side = 0; side < 2; side++)
      line[(2 * a + side) * step] =
          mg_interpolate_v4(x[a], x[a + 1], x[a + 2], x[a + 3], x[a + 4], side == 0 ? -1 : 1);
}

static __global__ void __launch_bounds__(THREADS, MG_CUDA_MIN_BLOCKS(V4_BLOCKS, THREADS))
    interpolate_v4(const MG_GRID_CONSTANT mg_patch_t coarse, mg_vector_t src,
                   const MG_GRID_CONSTANT mg_patch_t fine, mg_vector_t dst, bool add, int order) {
  mg_cuda_wait_dependency();
  __shared__ mg_real_t tile[TK][TJ][TI];
  const int first[3] = {(int)blockIdx.x * BI, (int)blockIdx.y * BJ, (int)blockIdx.z * BK};
  for (int t = (int)threadIdx.x; t < TI * TJ * TK; t += THREADS) {
    const int a[3] = {t % TI, t / TI % TJ, t / (TI * TJ)};
    const int at[3] = {first[0] + a[0] - 2, first[1] + a[1] - 2, first[2] + a[2] - 2};
    if (at[0] < coarse.n[0] + 2 && at[1] < coarse.n[1] + 2 && at[2] < coarse.n[2] + 2)
      tile[a[2]][a[1]][a[0]] = value_at(coarse, src, order, at);
  }
  __syncthreads();
  const int t = (int)threadIdx.x;
  if (t < TI * TJ) combine_line<TK>(&tile[0][t / TI][t % TI], TI * TJ);
  __syncthreads();
  if (t < TI * TK) combine_line<TJ>(&tile[t / TI][0][t % TI], TI);
  __syncthreads();
  const int a = t % BI, i = first[0] + a;
#pragma unroll
  for (int row = t / BI; row < TJ * TK; row += THREADS / BI) {
    const int j = 2 * first[1] + row % TJ, k = 2 * first[2] + row / TJ;
    if (i >= coarse.n[0] || j >= fine.n[1] || k >= fine.n[2]) continue;
    const mg_real_t *x = &tile[row / TJ][row % TJ][a];
    mg_real2_t *out = (mg_real2_t *)mg_cell(&fine, dst, 2 * i, j, k);
    mg_real2_t pair = mg_make_real2(mg_interpolate_v4(x[0], x[1], x[2], x[3], x[4], -1),
                                    mg_interpolate_v4(x[0], x[1], x[2], x[3], x[4], 1));
    if (add) {
      const mg_real2_t old = *out;
      pair.x = old.x + pair.x;
      pair.y = old.y + pair.y;
    }
    *out = pair;
  }
}

bool mg_cuda_folds_walls(const mg_view_t *coarse, mg_interpolation_t kind) {
  return kind != MG_INTERPOLATE_P0 && !mg_has_wall(coarse->side, MG_WALL_NEUMANN) &&
         mg_orders_are_equal(mg_wall_orders(coarse, 2));
}

/** P0, and P1 and V2 between levels of any sizes: a thread computes the 1 to 8 children of a coarse
 *  cell. In a direction with one child, it reads no neighbors. All coarse ghosts are in memory. */
template <mg_interpolation_t kind>
static __global__ void __launch_bounds__(128, MG_CUDA_MIN_BLOCKS(LOW_BLOCKS, 128))
    interpolate_any(const MG_GRID_CONSTANT mg_patch_t coarse, mg_vector_t src,
                    const MG_GRID_CONSTANT mg_view_t level, const MG_GRID_CONSTANT mg_patch_t fine,
                    mg_vector_t dst, bool add) {
  constexpr int radius = mg_interpolation_radius<kind>();
  constexpr bool p1 = kind == MG_INTERPOLATE_P1;
  MG_CUDA_CELL(i, j, k, coarse.n);
  const mg_children_t in_i = mg_children(&level, &fine, &coarse, 0, i),
                      in_j = mg_children(&level, &fine, &coarse, 1, j),
                      in_k = mg_children(&level, &fine, &coarse, 2, k);
  const bool two_i = in_i.n > 1, two_j = in_j.n > 1, two_k = in_k.n > 1;
  const mg_real_t *x = mg_cell(&coarse, src, i, j, k);
  mg_real_t *const out = mg_cell(&fine, dst, in_i.first, in_j.first, in_k.first);
  mg_cuda_wait_dependency();
  mg_real2_t old[2][2] = {};
  mg_real_t plane[2][3][3] = {}; /* [k][j][i], combined over k */
#pragma unroll
  for (int s = 0; s < 2; s++)
#pragma unroll
    for (int t = 0; t < 2; t++) {
      if (!add || s >= in_k.n || t >= in_j.n) continue;
      const mg_real_t *const from = out + t * fine.jstride + s * fine.kstride;
      if (two_i)
        old[s][t] = *(const mg_real2_t *)from;
      else
        old[s][t].x = *from;
    }
#pragma unroll
  for (int dj = -radius; dj <= radius; dj++)
#pragma unroll
    for (int di = -radius; di <= radius; di++) {
      mg_real_t column[3] = {};
#pragma unroll
      for (int dk = -radius; dk <= radius; dk++)
        if ((two_i || di == 0) && (two_j || dj == 0) && (two_k || dk == 0))
          column[dk + 1] = x[di + dj * coarse.jstride + dk * coarse.kstride];
#pragma unroll
      for (int s = 0; s < 2; s++)
        plane[s][dj + 1][di + 1] =
            radius == 0
                ? column[1]
                : mg_interpolate_side(p1, column[0], column[1], column[2], two_k ? 2 * s - 1 : 0);
    }
#pragma unroll
  for (int s = 0; s < 2; s++)
#pragma unroll
    for (int t = 0; t < 2; t++) {
      mg_real_t row[3] = {};
#pragma unroll
      for (int di = -radius; di <= radius; di++)
        row[di + 1] = radius == 0
                          ? plane[s][1][1]
                          : mg_interpolate_side(p1, plane[s][0][di + 1], plane[s][1][di + 1],
                                                plane[s][2][di + 1], two_j ? 2 * t - 1 : 0);
      mg_real_t low = row[1], high = row[1];
      if (radius > 0 && two_i) low = mg_interpolate_side(p1, row[0], row[1], row[2], -1);
      if (radius > 0 && two_i) high = mg_interpolate_side(p1, row[0], row[1], row[2], 1);
      if (s >= in_k.n || t >= in_j.n) continue;
      mg_real_t *const to = out + t * fine.jstride + s * fine.kstride;
      if (add) low = old[s][t].x + low;
      if (add) high = old[s][t].y + high;
      if (two_i)
        *(mg_real2_t *)to = mg_make_real2(low, high);
      else
        *to = low;
    }
}

mg_status_t mg_cuda_interpolate(const mg_view_t *coarse, mg_vector_t src, const mg_view_t *fine,
                                mg_vector_t dst, mg_interpolation_t kind, bool add) {
  const bool halves = mg_doubles(fine->n, coarse->n), v4 = kind == MG_INTERPOLATE_V4;
  const mg_wall_orders_t orders = mg_wall_orders(coarse, v4                          ? 4
                                                         : kind == MG_INTERPOLATE_V2 ? 2
                                                                                     : 1);
  const int order = v4 || mg_cuda_folds_walls(coarse, kind) ? orders.along[0] : 0;
  if (kind == MG_INTERPOLATE_P2) return mg_error(MG_ERR_INTERNAL, "no kernel interpolates by p2");
  for (int q = 0; q < coarse->n_patches; q++) {
    const mg_patch_t &c = coarse->patch[q], &f = fine->patch[q];
    if (!halves || kind == MG_INTERPOLATE_P0)
      mg_cuda_launch_dependent_shared(kind == MG_INTERPOLATE_P0 ? interpolate_any<MG_INTERPOLATE_P0>
                                      : kind == MG_INTERPOLATE_P1
                                          ? interpolate_any<MG_INTERPOLATE_P1>
                                          : interpolate_any<MG_INTERPOLATE_V2>,
                                      mg_cuda_grid(c.n[0], c.n[1], c.n[2], block_shape),
                                      block_shape, 0, c, src, *fine, f, dst, add);
    else if (v4)
      mg_cuda_launch_dependent_shared(interpolate_v4,
                                      mg_cuda_grid(c.n[0], c.n[1], c.n[2], dim3(BI, BJ, BK)),
                                      THREADS, 0, c, src, f, dst, add, order);
    else
      mg_cuda_launch_dependent_shared(kind == MG_INTERPOLATE_P1 ? interpolate<MG_INTERPOLATE_P1>
                                                                : interpolate<MG_INTERPOLATE_V2>,
                                      mg_cuda_grid(c.n[0], c.n[1], c.n[2], block_shape),
                                      block_shape, 0, c, src, f, dst, add, order);
    MG_CUDA_LAUNCHED("interpolate");
  }
  return MG_OK;
}
