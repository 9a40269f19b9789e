/* One step of a 7-point smoother in two regions: the interior, which overlaps with the halo
 * exchange, and the boundary, which depends on it. */
#include "cuda/steps/smooth_cells.h"

/* Width of the boundary along each direction, at sides whose ghosts copies or messages fill. It is
 * a whole thread block, so that it costs no more than the same cells in a full sweep. */
static const int boundary_width[3] = {32, 8, 1};

/* Fewest cells of a patch along each direction for overlap. */
enum { SHORTEST = 128 };

/* Overlap pays only for messages through the host. Transfers by the devices themselves are faster
 * before a single launch than beside two partial sweeps, each of which fills and drains the device.
 * Two H200s, GDOF/s without and with overlap: 512^3, peer stores 6.59 and 6.51, through the host
 * 4.18 and 5.16; 640^3 in several patches, NCCL 5.94 and 5.71. */
bool mg_cuda_step_overlaps(const mg_view_t *v, bool host) {
  bool fits = host;
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++)
      fits = fits && v->patch[q].n[d] >= SHORTEST;
  return fits;
}

/* The boundary as cuboids, each tiled by blocks of 32 x 8 cells: sides in k, then j, then i. */
struct boundary_t {
  int lo[6][3], n[6][3];
  int blocks[6];
  int n_cuboids;
};

static int blocks_of(const int n[3]) {
  return (n[0] + 31) / 32 * ((n[1] + 7) / 8) * n[2];
}

/* Split a patch into boundary and interior, lo <= index < hi. Returns the number of boundary
 * blocks. */
static int cut_boundary(const mg_patch_t *p, int lo[3], int hi[3], boundary_t *b) {
  int blocks = 0;
  b->n_cuboids = 0;
  for (int d = 0; d < 3; d++) {
    lo[d] = 0;
    hi[d] = p->n[d];
  }
  for (int d = 2; d >= 0; d--)
    for (int side = 0; side < 2; side++) {
      if (p->wall[d][side]) continue;
      int *from = b->lo[b->n_cuboids], *n = b->n[b->n_cuboids];
      for (int e = 0; e < 3; e++) {
        from[e] = lo[e];
        n[e] = hi[e] - lo[e];
      }
      n[d] = boundary_width[d];
      if (side == 0) lo[d] += boundary_width[d];
      if (side == 1) from[d] = hi[d] -= boundary_width[d];
      blocks += b->blocks[b->n_cuboids++] = blocks_of(n);
    }
  return blocks;
}

/* The interior as a separate patch. Its walls are those of the original patch. */
static mg_patch_t interior_patch(const mg_patch_t *p, const int lo[3], const int hi[3]) {
  mg_patch_t interior = *p;
  const ptrdiff_t shift = lo[0] + lo[1] * p->jstride + lo[2] * p->kstride;
  for (int d = 0; d < 3; d++) {
    interior.lo[d] += lo[d];
    interior.n[d] = hi[d] - lo[d];
  }
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    if (interior.vec[vec]) interior.vec[vec] += shift;
  return interior;
}

template <bool colored, bool stored, bool varies>
static __global__ void __launch_bounds__(256)
    smooth_boundary(mg_cuda_patch_t l, boundary_t b, mg_update_t u) {
  int block = (int)blockIdx.x, c = 0;
  while (block >= b.blocks[c])
    block -= b.blocks[c++];
  const int *lo = b.lo[c], *n = b.n[c];
  const int ni = (n[0] + 31) / 32, nj = (n[1] + 7) / 8;
  const int at[3] = {block % ni * 32 + (int)threadIdx.x, block / ni % nj * 8 + (int)threadIdx.y,
                     block / ni / nj};
  if (at[0] >= n[0] || at[1] >= n[1]) return;
  const int i = lo[0] + at[0], j = lo[1] + at[1], k = lo[2] + at[2];
  if (!colored)
    mg_update_cell<stored, varies>(&l, u, i, j, k);
  else if ((((l.p.lo[0] + i) ^ (l.p.lo[1] + j) ^ (l.p.lo[2] + k) ^ u.color) & 1) == 0)
    mg_relax_cell<varies>(&l, u, i, j, k);
}

template <bool varies> static auto choose_kernel(mg_update_form_t form, bool stored) {
  return form == MG_UPDATE_COLORED ? smooth_boundary<true, false, varies>
         : stored                  ? smooth_boundary<false, true, varies>
                                   : smooth_boundary<false, false, varies>;
}

mg_status_t mg_cuda_smooth_region(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  const mg_update_t u = mg_update_of(sweep);
  const bool stored = sweep->step->l1;
  const auto kernel =
      v->alpha_varies ? choose_kernel<true>(u.form, stored) : choose_kernel<false>(u.form, stored);
  for (int q = 0; q < v->n_patches; q++) {
    mg_cuda_patch_t l = mg_cuda_patch(v, q);
    int lo[3], hi[3];
    boundary_t b;
    const int blocks = cut_boundary(&v->patch[q], lo, hi, &b);
    if (region == MG_REGION_INTERIOR) {
      l.p = interior_patch(&v->patch[q], lo, hi);
      mg_cuda_smooth_patch(l, u, stored);
    } else if (blocks > 0) {
      kernel<<<(unsigned)blocks, mg_smooth_block, 0, mg_cuda.stream>>>(l, b, u);
    }
    MG_CUDA_LAUNCHED("smooth_region");
  }
  return MG_OK;
}
