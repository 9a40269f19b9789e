/* One step of a 7-point smoother in two regions: the interior, which overlaps with the halo
 * exchange, and the boundary region ("rim"), which depends on it. */
#include "cuda/fv4.h"
#include "cuda/smooth_cells.h"

/* Width of the rim along each direction, at sides whose ghosts copies or messages fill. It is a
 * whole thread block, so that the rim costs no more than the same cells in a full sweep. */
static const int rim_width[3] = {32, 8, 1};

/* Fewest cells of a patch along each direction for overlap. */
enum { SHORTEST = 128 };

/* Overlap pays only for messages through the host. Transfers by the devices themselves are faster
 * before a single launch than beside two partial sweeps, each of which fills and drains the device.
 * Two H200s, GDOF/s without and with overlap: 512^3, peer stores 6.59 and 6.51, through the host
 * 4.18 and 5.16; 640^3 in several patches, NCCL 5.94 and 5.71. */
bool mg_cuda_sweep_overlaps(const mg_view_t *v, bool host) {
  if (v->op == MG_OPERATOR_FV4) return mg_cuda_fv4_sweep_overlaps(v, host);
  bool fits = host;
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++)
      fits = fits && v->patch[q].n[d] >= SHORTEST;
  return fits;
}

/* The rim as cuboids, each tiled by blocks of 32 x 8 cells: sides in k, then j, then i. */
struct rim_t {
  int lo[6][3], n[6][3];
  int blocks[6];
  int n_cuboids;
};

static int blocks_of(const int n[3]) {
  return (n[0] + 31) / 32 * ((n[1] + 7) / 8) * n[2];
}

/* Split a patch into rim and interior, lo <= index < hi. Returns the number of rim blocks. */
static int cut_rim(const mg_patch_t *p, int lo[3], int hi[3], rim_t *rim) {
  int blocks = 0;
  rim->n_cuboids = 0;
  for (int d = 0; d < 3; d++) {
    lo[d] = 0;
    hi[d] = p->n[d];
  }
  for (int d = 2; d >= 0; d--)
    for (int side = 0; side < 2; side++) {
      if (p->wall[d][side]) continue;
      int *from = rim->lo[rim->n_cuboids], *n = rim->n[rim->n_cuboids];
      for (int e = 0; e < 3; e++) {
        from[e] = lo[e];
        n[e] = hi[e] - lo[e];
      }
      n[d] = rim_width[d];
      if (side == 0) lo[d] += rim_width[d];
      if (side == 1) from[d] = hi[d] -= rim_width[d];
      blocks += rim->blocks[rim->n_cuboids++] = blocks_of(n);
    }
  return blocks;
}

/* The interior as a separate patch. Its walls are those of the original patch. */
static mg_patch_t inner_patch(const mg_patch_t *p, const int lo[3], const int hi[3]) {
  mg_patch_t inner = *p;
  const ptrdiff_t shift = lo[0] + lo[1] * p->jstride + lo[2] * p->kstride;
  for (int d = 0; d < 3; d++) {
    inner.lo[d] += lo[d];
    inner.n[d] = hi[d] - lo[d];
  }
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    if (inner.vec[vec]) inner.vec[vec] += shift;
  return inner;
}

template <bool gsrb, bool stored, bool varies>
static __global__ void __launch_bounds__(256)
    smooth_rim(mg_cuda_patch_t l, rim_t rim, int x, int previous, int dst, double c1, double c2,
               int color) {
  int block = (int)blockIdx.x, c = 0;
  while (block >= rim.blocks[c])
    block -= rim.blocks[c++];
  const int *lo = rim.lo[c], *n = rim.n[c];
  const int ni = (n[0] + 31) / 32, nj = (n[1] + 7) / 8;
  const int at[3] = {block % ni * 32 + (int)threadIdx.x, block / ni % nj * 8 + (int)threadIdx.y,
                     block / ni / nj};
  if (at[0] >= n[0] || at[1] >= n[1]) return;
  const int i = lo[0] + at[0], j = lo[1] + at[1], k = lo[2] + at[2];
  if (!gsrb)
    mg_polynomial_cell<false, stored, varies>(&l, x, previous, dst, c1, c2, i, j, k);
  else if ((((l.p.lo[0] + i) ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ color) & 1) == 0)
    mg_gsrb_cell<varies>(&l, x, i, j, k);
}

template <bool varies>
static void launch_rim_for(const mg_cuda_patch_t &l, const rim_t &rim, int blocks, int x,
                           int previous, int dst, const mg_step_t *step) {
  const bool second = step->kind == MG_STEP_CHEBYSHEV && step->c1 != 0.0;
  const int before = second ? previous : x;
  const double c1 = second ? step->c1 : 0.0;
  const unsigned grid = (unsigned)blocks;
  if (step->kind == MG_STEP_GSRB)
    smooth_rim<true, false, varies><<<grid, mg_smooth_block, 0, mg_cuda.stream>>>(
        l, rim, x, before, dst, c1, step->c2, step->color);
  else if (step->l1)
    smooth_rim<false, true, varies><<<grid, mg_smooth_block, 0, mg_cuda.stream>>>(
        l, rim, x, before, dst, c1, step->c2, step->color);
  else
    smooth_rim<false, false, varies><<<grid, mg_smooth_block, 0, mg_cuda.stream>>>(
        l, rim, x, before, dst, c1, step->c2, step->color);
}

static void launch_rim(const mg_cuda_patch_t &l, const rim_t &rim, int blocks, int x, int previous,
                       int dst, const mg_step_t *step) {
  if (l.v.varies)
    launch_rim_for<true>(l, rim, blocks, x, previous, dst, step);
  else
    launch_rim_for<false>(l, rim, blocks, x, previous, dst, step);
}

mg_status_t mg_cuda_smooth_region(const mg_view_t *v, int x, int previous, int dst,
                                  const mg_step_t *step, mg_region_t part) {
  if (v->op == MG_OPERATOR_FV4) return mg_cuda_fv4_smooth(v, x, previous, dst, step, part);
  for (int q = 0; q < v->n_patches; q++) {
    mg_cuda_patch_t l = mg_cuda_patch(v, q);
    int lo[3], hi[3];
    rim_t rim;
    const int blocks = cut_rim(&v->patch[q], lo, hi, &rim);
    if (part == MG_REGION_INTERIOR) {
      l.p = inner_patch(&v->patch[q], lo, hi);
      mg_cuda_smooth_patch(l, x, previous, dst, step);
    } else if (blocks > 0) {
      launch_rim(l, rim, blocks, x, previous, dst, step);
    }
    MG_CUDA_LAUNCHED("smooth_region");
  }
  return MG_OK;
}
