/* Ghosts outside Dirichlet walls, for the simple kernels that read them: interpolation and the A
 * x of fv4. One launch, one thread per ghost. */
#include "cuda/wall_value.h"

/* Index range [first, end) of direction e on a side normal to d. An edge belongs to the last
 * direction in which it is outside a wall. So the range includes ghosts for directions before d,
 * but excludes ghosts outside walls for directions after d. */
static __device__ __forceinline__ int first_of(const mg_patch_t *p, int e, int d, int ghosts) {
  return e > d && p->wall[e][0] ? 0 : -ghosts;
}
static __device__ __forceinline__ int end_of(const mg_patch_t *p, int e, int d, int ghosts) {
  return p->n[e] + (e > d && p->wall[e][1] ? 0 : ghosts);
}

/* blockIdx.z selects the layer and one of six sides; threads cover the cells of a side. */
template <int order>
static __global__ void __launch_bounds__(256)
    walls(const MG_GRID_CONSTANT mg_patch_t p, int ghosts, int vec) {
  const int d = (int)blockIdx.z % 6 / 2, side = (int)blockIdx.z % 2, layer = (int)blockIdx.z / 6;
  if (!p.wall[d][side]) return;
  const int e0 = d == 0 ? 1 : 0, e1 = d == 2 ? 1 : 2;
  const int a = first_of(&p, e0, d, ghosts) + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int b = first_of(&p, e1, d, ghosts) + (int)(blockIdx.y * blockDim.y + threadIdx.y);
  const int c = side == 0 ? -1 - layer : p.n[d] + layer;
  if (a >= end_of(&p, e0, d, ghosts) || b >= end_of(&p, e1, d, ghosts)) return;
  const int at[3] = {d == 0 ? c : a, d == 0 ? a : d == 1 ? c : b, d == 2 ? c : b};
  mg_wall_fill<order>(&p, vec, at);
}

static void launch(const mg_patch_t &p, int ghosts, int vec, int order, dim3 grid, dim3 block) {
  if (order == 4)
    walls<4><<<grid, block, 0, mg_cuda.stream>>>(p, ghosts, vec);
  else if (order == 2)
    walls<2><<<grid, block, 0, mg_cuda.stream>>>(p, ghosts, vec);
  else
    walls<1><<<grid, block, 0, mg_cuda.stream>>>(p, ghosts, vec);
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
    /* The second ghost of the lower-order formulas stays zero. */
    grid.z = order == 4 ? 6 * (unsigned)v->ghosts : 6;
    launch(p, v->ghosts, vec, order, grid, block);
    MG_CUDA_LAUNCHED("boundary");
  }
  return MG_OK;
}

mg_status_t mg_cuda_prepare(const mg_view_t *v, int x) {
  return v->op == MG_OPERATOR_FV4 ? mg_cuda_boundary(v, x, 4) : MG_OK;
}
