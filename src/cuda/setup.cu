/* Coefficients, right-hand side and diagonal. Runs once, so simplicity comes first: one thread
 * per cell. */
#include "cuda/cuda.h"
extern "C" {
#include "formulas/coefficients.h"
#include "formulas/gershgorin.h"
#include "formulas/walls.h"
}

static const dim3 block_shape(32, 8, 1);

/** Tables for fv2 and fv4; rows start at the patch's first cell. */
struct factors_t {
  const double *face[3], *center[3], *f[3], *f_xx[3];
};

/** Widths of the cells in units of the domain, and the factors of coefficients.h. */
struct widths_t {
  double h[3], scale[3], metric[3];
  mg_widths_t inverse_lengths2;
};

static widths_t widths_of(const mg_view_t *v) {
  const mg_widths_t unit = mg_unit_widths(v);
  widths_t w;
  w.inverse_lengths2 = mg_inverse_lengths2(v);
  for (int d = 0; d < 3; d++) {
    w.h[d] = unit.d[d];
    w.scale[d] = mg_beta_scale(unit.d, d);
    w.metric[d] = mg_face_metric(v->h, d);
  }
  return w;
}

static __global__ void __launch_bounds__(256) set_fv(mg_patch_t p, widths_t w, factors_t t) {
  const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
  MG_CUDA_CELL(i, j, k, n);
  const bool in_i = i < p.n[0], in_j = j < p.n[1], in_k = k < p.n[2];
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  if (in_j && in_k)
    p.vec[MG_BETA_I][at] =
        mg_beta_fv(w.scale[0], w.metric[0], t.face[0][i], t.center[1][j], t.center[2][k]);
  if (in_i && in_k)
    p.vec[MG_BETA_J][at] =
        mg_beta_fv(w.scale[1], w.metric[1], t.center[0][i], t.face[1][j], t.center[2][k]);
  if (in_i && in_j)
    p.vec[MG_BETA_K][at] =
        mg_beta_fv(w.scale[2], w.metric[2], t.center[0][i], t.center[1][j], t.face[2][k]);
  if (in_i && in_j && in_k)
    p.vec[MG_F][at] = mg_rhs_fv(w.h[0] * w.h[0], t.f[0][i], t.f[1][j], t.f[2][k], t.f_xx[0][i],
                                t.f_xx[1][j], t.f_xx[2][k]);
}

static __global__ void __launch_bounds__(256)
    set_7pt(mg_patch_t p, widths_t w, double a, bool periodic) {
  const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
  MG_CUDA_CELL(i, j, k, n);
  const bool in_i = i < p.n[0], in_j = j < p.n[1], in_k = k < p.n[2];
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  const double xf = (p.lo[0] + i) * w.h[0], yf = (p.lo[1] + j) * w.h[1],
               zf = (p.lo[2] + k) * w.h[2];
  const double x = xf + 0.5 * w.h[0], y = yf + 0.5 * w.h[1], z = zf + 0.5 * w.h[2];
  double g[3]; /* unused */
  if (in_j && in_k) p.vec[MG_BETA_I][at] = w.metric[0] * mg_beta_point(xf, y, z, g);
  if (in_i && in_k) p.vec[MG_BETA_J][at] = w.metric[1] * mg_beta_point(x, yf, z, g);
  if (in_i && in_j) p.vec[MG_BETA_K][at] = w.metric[2] * mg_beta_point(x, y, zf, g);
  if (in_i && in_j && in_k)
    p.vec[MG_F][at] = mg_rhs_point(a, periodic, w.inverse_lengths2, x, y, z);
}

/** Cells of a patch at its side normal to d. */
static __global__ void __launch_bounds__(256)
    set_wall(mg_patch_t p, bool alpha_varies, int d, int side, mg_condition_t condition, int order,
             double h, double metric, double b_h2) {
  const int n[3] = {d == 0 ? 1 : p.n[0], d == 1 ? 1 : p.n[1], d == 2 ? 1 : p.n[2]};
  MG_CUDA_CELL(i, j, k, n);
  int face[3] = {i, j, k}, cell[3] = {i, j, k};
  face[d] = side == 0 ? 0 : p.n[d];
  cell[d] = side == 0 ? 0 : p.n[d] - 1;
  const mg_real_t beta = *mg_cell(&p, MG_BETA_I + d, face[0], face[1], face[2]);
  const mg_wall_share_t share = mg_wall_share(&condition, order, h, metric, b_h2, beta);
  *mg_cell(&p, MG_F, cell[0], cell[1], cell[2]) += MG_REAL(share.f);
  if (alpha_varies) *mg_cell(&p, MG_ALPHA, cell[0], cell[1], cell[2]) += MG_REAL(share.alpha);
}

mg_status_t mg_cuda_set_walls(const mg_view_t *v, const mg_condition_t condition[3][2]) {
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++)
      for (int side = 0; side < 2; side++) {
        const mg_patch_t &p = v->patch[q];
        if (p.wall[d][side] == MG_WALL_NONE) continue;
        const dim3 grid = mg_cuda_grid(d == 0 ? 1 : p.n[0], d == 1 ? 1 : p.n[1],
                                       d == 2 ? 1 : p.n[2], block_shape);
        set_wall<<<grid, block_shape, 0, mg_cuda.stream>>>(
            p, v->alpha_varies, d, side, condition[d][side], mg_operator_order(v), v->h[d],
            mg_face_metric(v->h, d), v->b_h2);
        MG_CUDA_LAUNCHED("set_walls");
      }
  return MG_OK;
}

/** Doubles per direction of the longest table. */
static size_t table_row(const int32_t n[3]) {
  const int32_t longer = n[0] > n[1] ? n[0] : n[1];
  return (size_t)(longer > n[2] ? longer : n[2]) + 1;
}

/** Copy the host's tables, four for each direction, into one device allocation. */
static mg_status_t copy_tables(const mg_tables_t *tables, const int32_t n[3], double **out) {
  const double *const *const from[4] = {tables->beta_face, tables->beta_center, tables->f,
                                        tables->f_xx};
  const size_t row = table_row(n);
  MG_CUDA_TRY(cudaMalloc((void **)out, 12 * row * sizeof(double)));
  for (int t = 0; t < 12; t++) {
    const int kind = t / 3, d = t % 3;
    const size_t values = (size_t)n[d] + (kind == 0 ? 1 : 0);
    const cudaError_t error =
        cudaMemcpyAsync(*out + t * row, from[kind][d], values * sizeof(double),
                        cudaMemcpyHostToDevice, mg_cuda.stream);
    if (error != cudaSuccess) {
      (void)cudaFree(*out);
      return mg_cuda_failed(error, "upload of coefficient tables", __FILE__, __LINE__);
    }
  }
  return MG_OK;
}

static factors_t factors_at(const double *tables, const int32_t n[3], const mg_patch_t &p) {
  const size_t row = table_row(n);
  factors_t t;
  for (int d = 0; d < 3; d++) {
    const double *first = tables + d * row + p.lo[d];
    t.face[d] = first;
    t.center[d] = first + 3 * row;
    t.f[d] = first + 6 * row;
    t.f_xx[d] = first + 9 * row;
  }
  return t;
}

mg_status_t mg_cuda_set_problem(const mg_view_t *v, const mg_tables_t *tables) {
  double *device = nullptr;
  const widths_t widths = widths_of(v);
  MG_TRY(copy_tables(tables, v->n, &device));
  mg_status_t status = MG_OK;
  for (int q = 0; q < v->n_patches && status == MG_OK; q++) {
    const mg_patch_t &p = v->patch[q];
    const dim3 grid = mg_cuda_grid(p.n[0] + 1, p.n[1] + 1, p.n[2] + 1, block_shape);
    if (v->op == MG_OPERATOR_7PT)
      set_7pt<<<grid, block_shape, 0, mg_cuda.stream>>>(p, widths, v->a, v->periodic);
    else
      set_fv<<<grid, block_shape, 0, mg_cuda.stream>>>(p, widths, factors_at(device, v->n, p));
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
          const dim3 grid = mg_cuda_grid(of_d[1] - of_d[0], of_u[1] - of_u[0], 1, block_shape);
          extend<<<grid, block_shape, 0, mg_cuda.stream>>>(
              p, v->box_dim, d, t, side, make_int2(of_d[0], of_d[1]), make_int2(of_u[0], of_u[1]));
          MG_CUDA_LAUNCHED("extend_faces");
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

static __global__ void __launch_bounds__(256)
    diagonal_7(mg_cuda_patch_t l, bool l1, unsigned long long *maximum) {
  const int at[3] = {(int)(blockIdx.x * blockDim.x + threadIdx.x),
                     (int)(blockIdx.y * blockDim.y + threadIdx.y), (int)blockIdx.z};
  mg_real_t bound = 0.0;
  if (at[0] < l.p.n[0] && at[1] < l.p.n[1])
    bound = store_dinv(l, l1, at, mg_row_sums_7(&l.v, &l.p, l.order, at));
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
