/* Coefficients, right-hand side and diagonal. Runs once, so simplicity comes first: one thread
 * per cell. */
#include "cuda/cuda.h"
extern "C" {
#include "formulas/coefficients.h"
#include "formulas/gershgorin.h"
}

static const dim3 block_shape(32, 8, 1);

/** Tables for fv2 and fv4; rows start at the patch's first cell. */
struct factors_t {
  const double *face[3], *center[3], *f[3], *f_xx[3];
};

static __global__ void __launch_bounds__(256) set_fv(mg_patch_t p, double h, factors_t t) {
  const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
  MG_CUDA_CELL(i, j, k, n);
  const bool in_i = i < p.n[0], in_j = j < p.n[1], in_k = k < p.n[2];
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  if (in_j && in_k)
    p.vec[MG_BETA_I][at] = mg_beta_fv(h, t.face[0][i], t.center[1][j], t.center[2][k]);
  if (in_i && in_k)
    p.vec[MG_BETA_J][at] = mg_beta_fv(h, t.center[0][i], t.face[1][j], t.center[2][k]);
  if (in_i && in_j)
    p.vec[MG_BETA_K][at] = mg_beta_fv(h, t.center[0][i], t.center[1][j], t.face[2][k]);
  if (in_i && in_j && in_k)
    p.vec[MG_F][at] =
        mg_rhs_fv(h, t.f[0][i], t.f[1][j], t.f[2][k], t.f_xx[0][i], t.f_xx[1][j], t.f_xx[2][k]);
}

static __global__ void __launch_bounds__(256)
    set_7pt(mg_patch_t p, double h, double a, bool periodic) {
  const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
  MG_CUDA_CELL(i, j, k, n);
  const bool in_i = i < p.n[0], in_j = j < p.n[1], in_k = k < p.n[2];
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  const double xf = (p.lo[0] + i) * h, yf = (p.lo[1] + j) * h, zf = (p.lo[2] + k) * h;
  const double x = xf + 0.5 * h, y = yf + 0.5 * h, z = zf + 0.5 * h;
  double g[3]; /* unused */
  if (in_j && in_k) p.vec[MG_BETA_I][at] = mg_beta_point(xf, y, z, g);
  if (in_i && in_k) p.vec[MG_BETA_J][at] = mg_beta_point(x, yf, z, g);
  if (in_i && in_j) p.vec[MG_BETA_K][at] = mg_beta_point(x, y, zf, g);
  if (in_i && in_j && in_k) p.vec[MG_F][at] = mg_rhs_point(a, periodic, x, y, z);
}

/** Copy the host's four tables into one device allocation. */
static mg_status_t copy_tables(const mg_tables_t *tables, int32_t dim, double **out) {
  const size_t n = (size_t)dim, row = n + 1;
  const double *const from[4] = {tables->beta_face, tables->beta_center, tables->f, tables->f_xx};
  MG_CUDA_TRY(cudaMalloc((void **)out, 4 * row * sizeof(double)));
  for (int t = 0; t < 4; t++) {
    const cudaError_t error =
        cudaMemcpyAsync(*out + t * row, from[t], (t == 0 ? row : n) * sizeof(double),
                        cudaMemcpyHostToDevice, mg_cuda.stream);
    if (error != cudaSuccess) {
      (void)cudaFree(*out);
      return mg_cuda_failed(error, "upload of coefficient tables", __FILE__, __LINE__);
    }
  }
  return MG_OK;
}

static factors_t factors_at(const double *tables, int32_t dim, const mg_patch_t &p) {
  const size_t row = (size_t)dim + 1;
  factors_t t;
  for (int d = 0; d < 3; d++) {
    t.face[d] = tables + p.lo[d];
    t.center[d] = tables + row + p.lo[d];
    t.f[d] = tables + 2 * row + p.lo[d];
    t.f_xx[d] = tables + 3 * row + p.lo[d];
  }
  return t;
}

mg_status_t mg_cuda_set_problem(const mg_view_t *v, const mg_tables_t *tables) {
  double *device = nullptr;
  MG_TRY(copy_tables(tables, v->dim, &device));
  mg_status_t status = MG_OK;
  for (int q = 0; q < v->n_patches && status == MG_OK; q++) {
    const mg_patch_t &p = v->patch[q];
    const dim3 grid = mg_cuda_grid(p.n[0] + 1, p.n[1] + 1, p.n[2] + 1, block_shape);
    if (v->op == MG_OPERATOR_7PT)
      set_7pt<<<grid, block_shape, 0, mg_cuda.stream>>>(p, v->h, v->a, v->periodic);
    else
      set_fv<<<grid, block_shape, 0, mg_cuda.stream>>>(p, v->h, factors_at(device, v->dim, p));
    status = mg_cuda_launched("set_problem", __FILE__, __LINE__);
  }
  /* The caller owns the tables, so they must have been read before this returns. */
  const cudaError_t error = cudaStreamSynchronize(mg_cuda.stream);
  (void)cudaFree(device);
  if (status != MG_OK) return status;
  return error == cudaSuccess ? MG_OK : mg_cuda_failed(error, "set_problem", __FILE__, __LINE__);
}

/** Extend the faces normal to d by one layer outside the wall normal to t. */
static __global__ void __launch_bounds__(256)
    extend(mg_patch_t p, int box_dim, int d, int t, int side) {
  const int u = 3 - d - t;
  const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
  if (x > p.n[d] || y >= p.n[u]) return;
  const ptrdiff_t stride[3] = {1, p.jstride, p.kstride};
  const ptrdiff_t in = side == 0 ? stride[t] : -stride[t];
  double *b = p.vec[MG_BETA_I + d] + (side == 0 ? 0 : (p.n[t] - 1) * stride[t]) + x * stride[d] +
              y * stride[u];
  b[-in] = mg_extended(b, in, box_dim);
}

mg_status_t mg_cuda_extend_faces(const mg_view_t *v) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    for (int d = 0; d < 3; d++)
      for (int t = 0; t < 3; t++)
        for (int side = 0; side < 2; side++) {
          if (t == d || !p.wall[t][side]) continue;
          const dim3 grid = mg_cuda_grid(p.n[d] + 1, p.n[3 - d - t], 1, block_shape);
          extend<<<grid, block_shape, 0, mg_cuda.stream>>>(p, v->box_dim, d, t, side);
          MG_CUDA_LAUNCHED("extend_faces");
        }
  }
  return MG_OK;
}

/** Store the inverse diagonal of a row. @return the row's Gershgorin bound */
static __device__ __forceinline__ double store_dinv(const mg_cuda_patch_t &l, bool l1,
                                                    const int at[3], mg_row_sums_t s) {
  *mg_cell(&l.p, MG_DINV, at[0], at[1], at[2]) = 1.0 / (l1 ? mg_l1_diagonal(s) : s.diagonal);
  return (s.diagonal + s.off) / s.diagonal;
}

static __global__ void __launch_bounds__(256)
    diagonal_7(mg_cuda_patch_t l, bool l1, unsigned long long *maximum) {
  const int at[3] = {(int)(blockIdx.x * blockDim.x + threadIdx.x),
                     (int)(blockIdx.y * blockDim.y + threadIdx.y), (int)blockIdx.z};
  double bound = 0.0;
  if (at[0] < l.p.n[0] && at[1] < l.p.n[1])
    bound = store_dinv(l, l1, at, mg_sums_7(&l.v, &l.p, l.order, at));
  mg_max_add(mg_max_bits(bound), mg_max_known(maximum), maximum);
}

/* Rows without walls keep their weights in registers. */
static __global__ void __launch_bounds__(256)
    diagonal_fv4(const MG_GRID_CONSTANT mg_cuda_patch_t l, bool l1, unsigned long long *maximum) {
  const int at[3] = {(int)(blockIdx.x * blockDim.x + threadIdx.x),
                     (int)(blockIdx.y * blockDim.y + threadIdx.y), (int)blockIdx.z};
  double bound = 0.0;
  if (at[0] < l.p.n[0] && at[1] < l.p.n[1] && mg_sums_fv4_are_simple(&l.v, &l.p, at))
    bound = store_dinv(l, l1, at, mg_sums_fv4(&l.v, &l.p, l.order, at, true));
  mg_max_add(mg_max_bits(bound), mg_max_known(maximum), maximum);
}

/* Rows at walls or with wrapping colours need bins that only local memory can index. They get
 * their own launch, in which all lanes have such a row. Blocks along z cover layers 0, 1, dim-2,
 * dim-1 of each direction, or all planes if every row is of this kind. */
static __global__ void __launch_bounds__(256)
    diagonal_fv4_folded(const MG_GRID_CONSTANT mg_cuda_patch_t l, bool all, bool l1,
                        unsigned long long *maximum) {
  const int a = (int)(blockIdx.x * blockDim.x + threadIdx.x),
            b = (int)(blockIdx.y * blockDim.y + threadIdx.y), z = (int)blockIdx.z;
  const int d = all ? 2 : z / 4, layer = z % 4 < 2 ? z % 4 : l.v.dim - 4 + z % 4;
  const int c = all ? z : layer - l.p.lo[d];
  const int at[3] = {d == 0 ? c : a, d == 0 ? a : d == 1 ? c : b, d == 2 ? c : b};
  /* A row that lies in several layers belongs to the first of them. */
  bool mine = true;
  for (int e = 0; e < 3; e++) {
    const int cell = l.p.lo[e] + at[e];
    mine = mine && at[e] >= 0 && at[e] < l.p.n[e];
    mine = mine && (all || e >= d || (cell >= 2 && cell < l.v.dim - 2));
  }
  double bound = 0.0;
  if (mine) bound = store_dinv(l, l1, at, mg_sums_fv4(&l.v, &l.p, l.order, at, false));
  mg_max_add(mg_max_bits(bound), mg_max_known(maximum), maximum);
}

static mg_status_t set_diagonal_fv4(const mg_cuda_patch_t &l, bool l1) {
  const int32_t *n = l.p.n;
  const bool all = l.v.dim % MG_FV4_COLORS != 0;
  if (!all) {
    const dim3 grid = mg_cuda_grid(n[0], n[1], n[2], block_shape);
    diagonal_fv4<<<grid, block_shape, 0, mg_cuda.stream>>>(l, l1, mg_cuda.reduction);
    MG_CUDA_LAUNCHED("set_diagonal");
    if (l.v.periodic) return MG_OK;
  }
  const int32_t na = n[0] > n[1] ? n[0] : n[1], nb = n[1] > n[2] ? n[1] : n[2];
  const dim3 grid = mg_cuda_grid(na, nb, all ? n[2] : 12, block_shape);
  diagonal_fv4_folded<<<grid, block_shape, 0, mg_cuda.stream>>>(l, all, l1, mg_cuda.reduction);
  MG_CUDA_LAUNCHED("set_diagonal");
  return MG_OK;
}

mg_status_t mg_cuda_set_diagonal(const mg_view_t *v, bool l1, double *lambda_max) {
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++) {
    const mg_cuda_patch_t l = mg_cuda_patch(v, q);
    if (v->op == MG_OPERATOR_FV4) {
      MG_TRY(set_diagonal_fv4(l, l1));
      continue;
    }
    const dim3 grid = mg_cuda_grid(l.p.n[0], l.p.n[1], l.p.n[2], block_shape);
    diagonal_7<<<grid, block_shape, 0, mg_cuda.stream>>>(l, l1, mg_cuda.reduction);
    MG_CUDA_LAUNCHED("set_diagonal");
  }
  return mg_cuda_max_end(lambda_max);
}
