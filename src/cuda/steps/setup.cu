/* Betas outside walls, and the diagonal. Runs once, so simplicity comes first: one thread per
 * cell. */
#include "cuda/reduction.h"
extern "C" {
#include "formulas/gershgorin.h"
}

/** Extend the faces normal to d by one layer outside the wall normal to t. */
static __global__ void __launch_bounds__(256)
    extend(mg_patch_t p, int box_dim, int d, int t, int side, int2 along_d, int2 along_u) {
  const int u = 3 - d - t;
  const int x = along_d.x + (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = along_u.x + (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= along_d.y || y >= along_u.y) return;
  const ptrdiff_t stride[3] = {1, p.jstride, p.kstride};
  const ptrdiff_t in = side == 0 ? stride[t] : -stride[t];
  mg_real_t *b = p.vec[MG_BETA_I + d] + (side == 0 ? 0 : (p.n[t] - 1) * stride[t]) + x * stride[d] +
                 y * stride[u];
  b[-in] = mg_extrapolate_face(b, in, box_dim);
}

mg_status_t mg_cuda_extend_faces(const mg_view_t *v) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    for (int d = 0; d < 3; d++)
      for (int t = 0; t < 3; t++)
        for (int side = 0; side < 2; side++) {
          if (t == d || !p.wall[t][side]) continue;
          int of_d[2], of_u[2];
          mg_extended_range(v, &p, d, true, of_d);
          mg_extended_range(v, &p, 3 - d - t, false, of_u);
          const int n[3] = {of_d[1] - of_d[0], of_u[1] - of_u[0], 1};
          MG_TRY(mg_cuda_launch("extend_faces", n, extend, p, v->box_dim, d, t, side,
                                make_int2(of_d[0], of_d[1]), make_int2(of_u[0], of_u[1])));
        }
  }
  return MG_OK;
}

/** Store the inverse diagonal of a row, if the level has the vector. @return the row's Gershgorin
 *  bound */
static __device__ __forceinline__ mg_real_t store_dinv(const mg_cuda_patch_t &l, bool l1,
                                                       const int at[3], mg_row_sums_t s) {
  if (l.p.vec[MG_DINV])
    *mg_cell(&l.p, MG_DINV, at[0], at[1], at[2]) =
        MG_REAL(1.0) / (l1 ? mg_l1_diagonal(s) : s.diagonal);
  return (s.diagonal + s.off) / s.diagonal;
}

/** Operators other than fv4. */
static __global__ void __launch_bounds__(256)
    diagonal(mg_cuda_patch_t l, int points, mg_wall_orders_t order, bool l1,
             unsigned long long *maximum) {
  const int at[3] = {(int)(blockIdx.x * blockDim.x + threadIdx.x),
                     (int)(blockIdx.y * blockDim.y + threadIdx.y), (int)blockIdx.z};
  mg_real_t bound = 0.0;
  __builtin_assume(points != 25);
  if (at[0] < l.p.n[0] && at[1] < l.p.n[1])
    bound = store_dinv(l, l1, at, mg_row_sums(points, &l.v, &l.p, order, at));
  mg_max_add(mg_max_bits(bound), mg_max_known(maximum), maximum);
}

/* Rows without walls keep their weights in registers. */
static __global__ void __launch_bounds__(256)
    diagonal_fv4(const MG_GRID_CONSTANT mg_cuda_patch_t l, bool l1, unsigned long long *maximum) {
  const int at[3] = {(int)(blockIdx.x * blockDim.x + threadIdx.x),
                     (int)(blockIdx.y * blockDim.y + threadIdx.y), (int)blockIdx.z};
  mg_real_t bound = 0.0;
  if (at[0] < l.p.n[0] && at[1] < l.p.n[1] && mg_row_is_interior(&l.v, &l.p, at))
    bound = store_dinv(l, l1, at, mg_row_sums_fv4(&l.v, &l.p, l.order, at, true));
  mg_max_add(mg_max_bits(bound), mg_max_known(maximum), maximum);
}

/* Rows at walls or with wrapping colors need bins that only local memory can index. They get
 * their own launch, in which all lanes have such a row. Blocks along z cover layers 0, 1, n-2, n-1
 * of each direction, or all planes if every row is of this kind. */
static __global__ void __launch_bounds__(256)
    diagonal_fv4_folded(const MG_GRID_CONSTANT mg_cuda_patch_t l, bool all, bool l1,
                        unsigned long long *maximum) {
  const int a = (int)(blockIdx.x * blockDim.x + threadIdx.x),
            b = (int)(blockIdx.y * blockDim.y + threadIdx.y), z = (int)blockIdx.z;
  const int d = all ? 2 : z / 4, layer = z % 4 < 2 ? z % 4 : l.v.n[d] - 4 + z % 4;
  const int c = all ? z : layer - l.p.lo[d];
  const int at[3] = {d == 0 ? c : a, d == 0 ? a : d == 1 ? c : b, d == 2 ? c : b};
  /* A row that lies in several layers belongs to the first of them. */
  bool mine = true;
  for (int e = 0; e < 3; e++) {
    const int cell = l.p.lo[e] + at[e];
    mine = mine && at[e] >= 0 && at[e] < l.p.n[e];
    mine = mine && (all || e >= d || (cell >= 2 && cell < l.v.n[e] - 2));
  }
  mg_real_t bound = 0.0;
  if (mine) bound = store_dinv(l, l1, at, mg_row_sums_fv4(&l.v, &l.p, l.order, at, false));
  mg_max_add(mg_max_bits(bound), mg_max_known(maximum), maximum);
}

static mg_status_t set_diagonal_fv4(const mg_cuda_patch_t &l, bool l1) {
  const int32_t *n = l.p.n;
  const bool all = !mg_fv4_colors_fit(&l.v);
  if (!all) {
    MG_TRY(mg_cuda_launch("set_diagonal", n, diagonal_fv4, l, l1, mg_cuda.reduction));
    if (l.v.periodic) return MG_OK;
  }
  const int32_t folded[3] = {n[0] > n[1] ? n[0] : n[1], n[1] > n[2] ? n[1] : n[2], all ? n[2] : 12};
  return mg_cuda_launch("set_diagonal", folded, diagonal_fv4_folded, l, all, l1, mg_cuda.reduction);
}

mg_status_t mg_cuda_set_diagonal(const mg_view_t *v, bool l1, double *lambda_max) {
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++) {
    const mg_cuda_patch_t l = mg_cuda_patch(v, q);
    const int points = mg_traits_of(v->op)->points;
    MG_TRY(points == 25 ? set_diagonal_fv4(l, l1)
                        : mg_cuda_launch("set_diagonal", l.p.n, diagonal, l, points,
                                         mg_operator_orders(v), l1, mg_cuda.reduction));
  }
  return mg_cuda_max_end(lambda_max);
}
