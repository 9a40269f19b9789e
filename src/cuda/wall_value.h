/* The value of one ghost outside Dirichlet walls, edges and corners as tensor products. */
#ifndef MG_CUDA_WALL_VALUE_H
#define MG_CUDA_WALL_VALUE_H

#include "cuda.h"

/** A direction of a ghost's formula: where its cells lie, their number, and the formula. */
struct mg_reach_t {
  bool beyond; /**< outside a wall in this direction */
  int wall, in, depth;
};

static __device__ mg_reach_t mg_reach_of(const mg_patch_t *p, int d, int index) {
  mg_reach_t r = {false, index, 0, 0};
  if (p->wall[d][0] && index < 0) {
    r = {true, 0, 1, -index};
  } else if (p->wall[d][1] && index >= p->n[d]) {
    r = {true, p->n[d] - 1, -1, index - p->n[d] + 1};
  }
  return r;
}

/** The formula of one direction over values at wall, wall + in, ... */
static __device__ double mg_beyond_wall(const double x[4], int order, int depth) {
  if (order == 1) return mg_wall1(x[0]);
  if (order == 2) return mg_wall2(x[0], x[1]);
  return depth == 1 ? mg_wall4_first(x[0], x[1], x[2], x[3])
                    : mg_wall4_second(x[0], x[1], x[2], x[3]);
}

template <int d>
static __device__ double mg_wall_value(const mg_patch_t *p, const double *cell0,
                                       const mg_reach_t r[3], int order) {
  const ptrdiff_t stride = d == 0 ? 1 : d == 1 ? p->jstride : p->kstride;
  if (!r[d].beyond) {
    if constexpr (d == 0)
      return cell0[r[0].wall];
    else
      return mg_wall_value<d - 1>(p, cell0 + r[d].wall * stride, r, order);
  }
  double x[4];
  for (int c = 0; c < order; c++) {
    const double *at = cell0 + (r[d].wall + c * r[d].in) * stride;
    if constexpr (d == 0)
      x[c] = at[0];
    else
      x[c] = mg_wall_value<d - 1>(p, at, r, order);
  }
  return mg_beyond_wall(x, order, r[d].depth);
}

/** Fill the ghost at patch-local indices `at`, which is outside at least one wall. The second ghost
 *  of the lower-order formulas is zero and stays it, so edges that would read it are left alone. */
static __device__ inline void mg_wall_fill(const mg_patch_t *p, int vec, const int at[3],
                                           int order) {
  mg_reach_t r[3];
  for (int e = 0; e < 3; e++) {
    r[e] = mg_reach_of(p, e, at[e]);
    if (order < 4 && r[e].depth > 1) return;
  }
  *mg_cell(p, vec, at[0], at[1], at[2]) = mg_wall_value<2>(p, p->vec[vec], r, order);
}

#endif
