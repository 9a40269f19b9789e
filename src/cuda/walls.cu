/* Ghost values outside Dirichlet walls for what reads edges and corners: interpolation, fv4.
 *
 * The CPU fills direction after direction, i, j, k; here every ghost is a thread of one launch that
 * evaluates the same tensor product from the cells inside, k outermost, so that digits agree. */
#include "wall_value.h"

/* Blocks along z are the six sides; threads run over the side's cells, and over the layers. Edges
 * belong to the last direction that they are outside of; of i and j, k counts as the last. */
static __global__ void __launch_bounds__(256) walls(mg_patch_t p, int ghosts, int vec, int order) {
  const int d = (int)blockIdx.z / 2, side = (int)blockIdx.z % 2;
  if (!p.wall[d][side]) return;
  const int e0 = d == 0 ? 1 : 0, e1 = d == 2 ? 1 : 2;
  /* Directions before d with their rims, those after it without what is outside walls. */
  int low[3], high[3];
  for (int e = 0; e < 3; e++) {
    low[e] = e > d && p.wall[e][0] ? 0 : -ghosts;
    high[e] = p.n[e] + (e > d && p.wall[e][1] ? 0 : ghosts);
  }
  int at[3];
  at[e0] = low[e0] + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  at[e1] = low[e1] + (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (at[e0] >= high[e0] || at[e1] >= high[e1]) return;
  /* The second ghost of the lower-order formulas stays zero. */
  const int layers = order == 4 ? ghosts : 1;
  for (int layer = 1; layer <= layers; layer++) {
    at[d] = side == 0 ? -layer : p.n[d] - 1 + layer;
    mg_wall_fill(&p, vec, at, order);
  }
}

mg_status_t mg_cuda_boundary(const mg_view_t *v, int vec, int order) {
  const dim3 block(32, 8, 1);
  order = mg_wall_order(v, order);
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    bool any = false;
    int longest = 0;
    for (int d = 0; d < 3; d++) {
      any = any || p.wall[d][0] || p.wall[d][1];
      longest = p.n[d] > longest ? p.n[d] : longest;
    }
    if (!any) continue;
    const int n = longest + 2 * v->ghosts;
    dim3 grid = mg_cuda_grid(n, n, 1, block);
    grid.z = 6;
    walls<<<grid, block, 0, mg_cuda.stream>>>(p, v->ghosts, vec, order);
    MG_CUDA_LAUNCHED("boundary");
  }
  return MG_OK;
}

mg_status_t mg_cuda_prepare(const mg_view_t *v, int x) {
  return v->op == MG_OPERATOR_FV4 ? mg_cuda_boundary(v, x, 4) : MG_OK;
}
