/* Cells of fv4 whose values are in shared memory, with two layers of ghosts: their rows of A, and
 * the ghosts outside walls. */
#ifndef MG_CUDA_CELLS_FV4_CELL_H
#define MG_CUDA_CELLS_FV4_CELL_H

#include "cuda/cells/wall_value.h"

/** Stride of rows in shared memory, of at most 8 cells. */
enum { MG_FV4_JS = 12 };

/** Ghosts that one thread fills: outside a face of the domain, both ghosts of a column of cells; or
 *  outside an edge, one ghost. */
struct mg_fv4_ghosts_t {
  int packed; /**< nearest cell in shared memory, and stride inward, times 2^16;
                   at an edge in the first of its two directions */
  int across; /**< stride inward in the second direction of an edge; 0 at a face */
  __device__ __forceinline__ int cell(void) const { return packed & 0xffff; }
  __device__ __forceinline__ int in(void) const { return packed >> 16; }
};

/** Evaluate ghosts outside Dirichlet walls. The second ghost of the lower-order formula is zero,
 *  and nothing changes it.
 *  @param x  values in shared memory, with two layers of ghosts */
template <int order>
static __device__ __forceinline__ void mg_fv4_fill_walls(mg_real_t *x, const mg_fv4_ghosts_t &g) {
  x += g.cell();
  const int in = g.in(), across = g.across;
  if (across == 0) {
    mg_real_t y[order];
#pragma unroll
    for (int c = 0; c < order; c++)
      y[c] = x[c * in];
    x[-in] = mg_wall_ghost<order>(y, 1);
    if (order == 4) x[-2 * in] = mg_wall_ghost<order>(y, 2);
  } else {
    const ptrdiff_t steps[2] = {in, across};
    const int depths[2] = {1, 1};
    x[-in - across] = mg_wall_ghosts<order, 2>(x, steps, depths);
  }
}

/** A cell of one thread, with its row of A. */
struct mg_fv4_cell_t {
  bool there;
  int i, j, k;
  int at; /**< in shared memory */
  int ks;
  mg_betas30_t beta; /**< a pair of betas next to a face is stored as zero and their difference */
  mg_real_t a, b_h2, dinv;

  /** Load the coefficients of the cell; call before mg_cuda_wait_dependency. */
  __device__ __forceinline__ void load(const mg_cuda_patch_t *l, int plane_stride) {
    const mg_patch_t *p = &l->p;
    ks = plane_stride;
    at = 2 + i + MG_FV4_JS * (j + 2) + ks * (k + 2);
    if (!there) at = 2 * (1 + MG_FV4_JS + ks);
    const ptrdiff_t from = there ? offset(l) : 0;
    beta = mg_load_betas30(p->vec[MG_BETA_I] + from, p->vec[MG_BETA_J] + from,
                           p->vec[MG_BETA_K] + from, p->jstride, p->kstride);
    dinv = there ? p->vec[MG_DINV][from] : MG_REAL(0.0);
    a = mg_a_at(&l->v, p, from);
    b_h2 = MG_REAL(l->v.b_h2);
    differ(&beta.i);
    differ(&beta.j);
    differ(&beta.k);
  }

  /** Index of the cell in the level's vectors. */
  __device__ __forceinline__ ptrdiff_t offset(const mg_cuda_patch_t *l) const {
    return i + j * l->p.jstride + k * l->p.kstride;
  }

  /** A x. The ghosts of x must be valid.
   *  @param x  values in shared memory */
  __device__ __forceinline__ mg_real_t apply(const mg_real_t *x) const {
    const mg_values25_t v = mg_load_values25(x + at, MG_FV4_JS, ks);
    return mg_apply_values25(&v, &beta, a, b_h2);
  }

private:
  /* The formula uses the difference of such a pair only: x - 0 is x. */
  static __device__ __forceinline__ void differ(mg_neighbors2_t *pair) {
    *pair = {MG_REAL(0.0), pair->high - pair->low};
  }
  static __device__ __forceinline__ void differ(mg_faces10_t *faces) {
    differ(&faces->low.t1);
    differ(&faces->low.t2);
    differ(&faces->high.t1);
    differ(&faces->high.t2);
  }
};

#endif
