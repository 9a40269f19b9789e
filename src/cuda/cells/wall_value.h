/* The value of one ghost outside Dirichlet walls, with edges and corners as tensor products.
 *
 * The CPU fills ghosts one direction at a time: i, j, k. Here a thread evaluates the same tensor
 * product from the interior cells, with k outermost, so results are bit-identical. The order is a
 * compile-time constant, so that all loads of a ghost are in flight together. */
#ifndef MG_CUDA_CELLS_WALL_VALUE_H
#define MG_CUDA_CELLS_WALL_VALUE_H

#include "cuda/cuda.h"

/** One direction of a ghost's formula: the cell at the wall, the inward step and the ghost's
 *  depth. If the index is not outside a wall in this direction, `wall` is the index itself. */
struct mg_ghost_axis_t {
  bool outside; /**< outside a wall in this direction */
  int wall, in, depth;
};

static __device__ __forceinline__ mg_ghost_axis_t mg_ghost_axis(const mg_patch_t *p, int d,
                                                                int index) {
  mg_ghost_axis_t r = {false, index, 0, 0};
  if (p->wall[d][0] && index < 0) {
    r = {true, 0, 1, -index};
  } else if (p->wall[d][1] && index >= p->n[d]) {
    r = {true, p->n[d] - 1, -1, index - p->n[d] + 1};
  }
  return r;
}

/** The wall formula in one direction, from the value at the wall and those inward of it. */
template <int order>
static __device__ __forceinline__ mg_real_t mg_wall_ghost(const mg_real_t x[order], int depth) {
  if constexpr (order < 4)
    return mg_ghost(MG_WALL_DIRICHLET, order, x[0], x[order - 1]);
  else
    return depth == 1 ? mg_ghost_4(1, x[0], x[1], x[2], x[3])
                      : mg_ghost_4(2, x[0], x[1], x[2], x[3]);
}

/** Fill the ghosts beyond the end of a line of cells: copies across a period (no wall), two ghosts
 *  outside a wall of order 4, or one; nothing changes the second one of a lower order, zero.
 *  @param x     the last cell
 *  @param in    step inward
 *  @param last  steps from there to the other end */
static __device__ __forceinline__ void mg_fill_line(mg_real_t *x, int in, int last, mg_wall_t kind,
                                                    int order) {
  if (kind == MG_WALL_NONE) {
    x[-in] = x[last * in];
    x[-2 * in] = x[(last - 1) * in];
  } else if (order == 4) {
    const mg_real_t y[4] = {x[0], x[in], x[2 * in], x[3 * in]};
    x[-in] = mg_wall_ghost<4>(y, 1);
    x[-2 * in] = mg_wall_ghost<4>(y, 2);
  } else {
    x[-in] = mg_ghost(kind, order, x[0], x[last > 0 ? in : 0]);
  }
}

/** Value outside n walls, given inward steps and depths with the innermost direction first. */
template <int order, int n>
static __device__ __forceinline__ mg_real_t mg_wall_ghosts(const mg_real_t *x,
                                                           const ptrdiff_t in[n],
                                                           const int depth[n]) {
  mg_real_t y[order];
#pragma unroll
  for (int c = 0; c < order; c++) {
    if constexpr (n == 1)
      y[c] = x[c * in[0]];
    else
      y[c] = mg_wall_ghosts<order, n - 1>(x + c * in[n - 1], in, depth);
  }
  return mg_wall_ghost<order>(y, depth[n - 1]);
}

/** Value of a ghost that lies outside 1 to `max_walls` walls; cell0 is the patch's first cell. */
template <int order, int max_walls>
static __device__ __forceinline__ mg_real_t mg_wall_value(const mg_patch_t *p,
                                                          const mg_real_t *cell0,
                                                          const mg_ghost_axis_t r[3]) {
  const mg_real_t *x = cell0 + r[0].wall + r[1].wall * p->jstride + r[2].wall * p->kstride;
  const ptrdiff_t in[3] = {r[0].in, r[1].in * p->jstride, r[2].in * p->kstride};
  const int walls = r[0].outside + r[1].outside + r[2].outside;
  const int first = r[0].outside ? 0 : r[1].outside ? 1 : 2;
  if (walls == 1) {
    const ptrdiff_t step = first == 0 ? in[0] : first == 1 ? in[1] : in[2];
    const int depth = first == 0 ? r[0].depth : first == 1 ? r[1].depth : r[2].depth;
    return mg_wall_ghosts<order, 1>(x, &step, &depth);
  }
  if (max_walls == 2 || walls == 2) {
    const ptrdiff_t steps[2] = {first == 0 ? in[0] : in[1], r[2].outside ? in[2] : in[1]};
    const int depths[2] = {first == 0 ? r[0].depth : r[1].depth,
                           r[2].outside ? r[2].depth : r[1].depth};
    return mg_wall_ghosts<order, 2>(x, steps, depths);
  }
  if constexpr (max_walls == 3) {
    const int depths[3] = {r[0].depth, r[1].depth, r[2].depth};
    return mg_wall_ghosts<order, 3>(x, in, depths);
  }
  return 0.0;
}

/** The same with an order that is known at run time only. */
template <int max_walls>
static __device__ __forceinline__ mg_real_t mg_wall_value(const mg_patch_t *p,
                                                          const mg_real_t *cell0,
                                                          const mg_ghost_axis_t r[3], int order) {
  return order == 4   ? mg_wall_value<4, max_walls>(p, cell0, r)
         : order == 2 ? mg_wall_value<2, max_walls>(p, cell0, r)
                      : mg_wall_value<1, max_walls>(p, cell0, r);
}

#endif
