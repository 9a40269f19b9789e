/* Coefficients and right-hand side of the finest level, and factors of a metric. Runs once, so
 * simplicity comes first: one thread per cell. Only double cells: float levels get theirs from
 * them. */
#include "cuda/cuda.h"
extern "C" {
#include "formulas/coefficients.h"
}
#include <cstdlib>

static const dim3 block_shape(32, 8, 1);

/** Tables of the problem; rows start at the patch's first cell. */
struct tables_t {
  const double *x_face[3], *x_center[3], *face[3], *center[3], *f[3], *f_xx[3];
  double beta_scale[3];
};

static __global__ void __launch_bounds__(256) set_fv(mg_patch_t p, double h2, tables_t t) {
  const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
  MG_CUDA_CELL(i, j, k, n);
  const bool in_i = i < p.n[0], in_j = j < p.n[1], in_k = k < p.n[2];
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  if (in_j && in_k)
    p.vec[MG_BETA_I][at] =
        mg_beta_fv(t.beta_scale[0], t.face[0][i], t.center[1][j], t.center[2][k]);
  if (in_i && in_k)
    p.vec[MG_BETA_J][at] =
        mg_beta_fv(t.beta_scale[1], t.center[0][i], t.face[1][j], t.center[2][k]);
  if (in_i && in_j)
    p.vec[MG_BETA_K][at] =
        mg_beta_fv(t.beta_scale[2], t.center[0][i], t.center[1][j], t.face[2][k]);
  if (in_i && in_j && in_k)
    p.vec[MG_F][at] =
        mg_rhs_fv(h2, t.f[0][i], t.f[1][j], t.f[2][k], t.f_xx[0][i], t.f_xx[1][j], t.f_xx[2][k]);
}

static __global__ void __launch_bounds__(256)
    set_points(mg_patch_t p, bool constant, mg_widths_t inverse_lengths2, tables_t t, double a,
               bool periodic) {
  const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
  MG_CUDA_CELL(i, j, k, n);
  const bool in_i = i < p.n[0], in_j = j < p.n[1], in_k = k < p.n[2];
  const ptrdiff_t at = i + j * p.jstride + k * p.kstride;
  const double xf = t.x_face[0][i], yf = t.x_face[1][j], zf = t.x_face[2][k];
  const double x = in_i ? t.x_center[0][i] : xf, y = in_j ? t.x_center[1][j] : yf,
               z = in_k ? t.x_center[2][k] : zf;
  double g[3]; /* unused */
  if (in_j && in_k) p.vec[MG_BETA_I][at] = mg_beta_point(constant, xf, y, z, g);
  if (in_i && in_k) p.vec[MG_BETA_J][at] = mg_beta_point(constant, x, yf, z, g);
  if (in_i && in_j) p.vec[MG_BETA_K][at] = mg_beta_point(constant, x, y, zf, g);
  if (in_i && in_j && in_k)
    p.vec[MG_F][at] = mg_rhs_point(constant, a, periodic, inverse_lengths2, x, y, z);
}

/** Cells of a patch at its side normal to d. */
static __global__ void __launch_bounds__(256)
    set_wall(mg_patch_t p, bool alpha_varies, int d, int side, mg_side_t condition, int order,
             double width, mg_vector_t values) {
  const int n[3] = {d == 0 ? 1 : p.n[0], d == 1 ? 1 : p.n[1], d == 2 ? 1 : p.n[2]};
  MG_CUDA_CELL(i, j, k, n);
  int face[3] = {i, j, k}, cell[3] = {i, j, k};
  face[d] = side == 0 ? 0 : p.n[d];
  cell[d] = side == 0 ? 0 : p.n[d] - 1;
  const mg_real_t beta = *mg_cell(&p, MG_BETA_I + d, face[0], face[1], face[2]);
  if (values >= 0) condition.value = *mg_cell(&p, values, cell[0], cell[1], cell[2]);
  const mg_wall_share_t share = mg_wall_share(&condition, order, width, beta);
  *mg_cell(&p, MG_F, cell[0], cell[1], cell[2]) += MG_REAL(share.f);
  if (alpha_varies) *mg_cell(&p, MG_ALPHA, cell[0], cell[1], cell[2]) += MG_REAL(share.alpha);
}

mg_status_t mg_cuda_set_wall(const mg_view_t *v, int d, int side, const mg_side_t *condition,
                             double width, mg_vector_t values) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    if (p.wall[d][side] == MG_WALL_NONE) continue;
    int n[3] = {p.n[0], p.n[1], p.n[2]};
    n[d] = 1;
    MG_TRY(mg_cuda_launch("set_wall", n, set_wall, p, v->alpha_varies, d, side, *condition,
                          mg_operator_orders(v).along[d], width, values));
  }
  return MG_OK;
}

/** Doubles per direction of the longest table. */
static size_t table_row(const int32_t n[3]) {
  const int32_t longer = n[0] > n[1] ? n[0] : n[1];
  return (size_t)(longer > n[2] ? longer : n[2]) + 1;
}

/** Copy tables of the host into one device allocation, a row for each. Table t has n[t % 3] values,
 *  or one more if `closed`. */
static mg_status_t copy_tables(const double *const *from, int n_tables, const int32_t n[3],
                               unsigned closed, double **out) {
  const size_t row = table_row(n);
  const size_t bytes = (size_t)n_tables * row * sizeof(double);
  mg_status_t status = mg_cuda_alloc(bytes, MG_SPACE_LEVEL, (void **)out);
  for (int t = 0; t < n_tables && status == MG_OK; t++) {
    const size_t values = (size_t)n[t % 3] + (closed >> t & 1);
    status = mg_cuda_upload(*out + (size_t)t * row, from[t], values * sizeof(double));
  }
  if (status != MG_OK) mg_cuda_release(*out, bytes, MG_SPACE_LEVEL);
  return status;
}

/** Free tables once the device has read them. The caller owns the host's tables, so they must have
 *  been read too before this returns. */
static mg_status_t free_tables(mg_status_t status, double *device) {
  const mg_status_t finished = mg_cuda_finish();
  mg_cuda_release(device, 0, MG_SPACE_LEVEL);
  return status == MG_OK ? finished : status;
}

static tables_t tables_at(const double *device, const mg_tables_t *host, const int32_t n[3],
                          const mg_patch_t &p) {
  const size_t row = table_row(n);
  tables_t t;
  for (int d = 0; d < 3; d++) {
    const double *first = device + d * row + p.lo[d];
    t.x_face[d] = first;
    t.x_center[d] = first + 3 * row;
    t.face[d] = first + 6 * row;
    t.center[d] = first + 9 * row;
    t.f[d] = first + 12 * row;
    t.f_xx[d] = first + 15 * row;
    t.beta_scale[d] = host->beta_scale[d];
  }
  return t;
}

mg_status_t mg_cuda_set_problem(const mg_view_t *v, const mg_tables_t *tables) {
  const double *const *const kinds[6] = {tables->face,        tables->center, tables->beta_face,
                                         tables->beta_center, tables->f,      tables->f_xx};
  const double *from[18], h = mg_unit_widths(v).d[0];
  double *device = nullptr;
  for (int t = 0; t < 18; t++)
    from[t] = kinds[t / 3][t % 3];
  MG_TRY(copy_tables(from, 18, v->n, 7u | 7u << 6, &device));
  mg_status_t status = MG_OK;
  for (int q = 0; q < v->n_patches && status == MG_OK; q++) {
    const mg_patch_t &p = v->patch[q];
    const tables_t t = tables_at(device, tables, v->n, p);
    const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
    const mg_operator_traits_t *traits = mg_traits_of(v->op);
    status = traits->point_data ? mg_cuda_launch("set_problem", n, set_points, p, traits->constant,
                                                 mg_inverse_lengths2(v), t, v->a, v->periodic)
                                : mg_cuda_launch("set_problem", n, set_fv, p, h * h, t);
  }
  return free_tables(status, device);
}

static __global__ void __launch_bounds__(256)
    multiply_axes(mg_patch_t p, mg_vector_t vec, const double *x, const double *y,
                  const double *z) {
  const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
  MG_CUDA_CELL(i, j, k, n);
  *mg_cell(&p, vec, i, j, k) *= MG_REAL(x[i] * y[j] * z[k]);
}

struct mg_factors {
  double *device; /**< rows of table_row values, one for each direction */
};

mg_status_t mg_cuda_prepare_factors(const mg_view_t *v, const double *const factor[3],
                                    mg_factors_t **out) {
  MG_TRY(mg_new(out, 1, "factors"));
  mg_status_t status = copy_tables(factor, 3, v->n, 7u, &(*out)->device);
  if (status == MG_OK) status = mg_cuda_finish(); /* the caller frees the host's tables */
  if (status == MG_OK) return MG_OK;
  mg_cuda_release_factors(*out);
  *out = nullptr;
  return status;
}

void mg_cuda_release_factors(mg_factors_t *factors) {
  if (!factors) return;
  mg_cuda_release(factors->device, 0, MG_SPACE_LEVEL); /* waits for the device */
  free(factors);
}

mg_status_t mg_cuda_multiply_axes(const mg_view_t *v, mg_vector_t vec, const mg_factors_t *f) {
  const size_t row = table_row(v->n);
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
    MG_TRY(mg_cuda_launch(
        "multiply_axes", n, multiply_axes, p, vec, (const double *)f->device + p.lo[0],
        (const double *)f->device + row + p.lo[1], (const double *)f->device + 2 * row + p.lo[2]));
  }
  return MG_OK;
}

/** Each warp has 32 cells of a row, and walks up `planes` planes. A thread sums the faces normal to
 * d of its column, a warp those of its row. of_i, of_j and of_k: of the planes of cell (0, 0, 0).
 * least: the bits of the least beta above 0; closed: becomes 0 if a beta is 0. */
static __global__ void __launch_bounds__(256)
    sum_planes(mg_patch_t p, int d, int planes, double scale, unsigned long long *of_i,
               unsigned long long *of_j, unsigned long long *of_k, unsigned long long *least,
               unsigned long long *closed) {
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x),
            j = (int)(blockIdx.y * blockDim.y + threadIdx.y), first = (int)blockIdx.z * planes,
            end = min(first + planes, p.n[2]);
  const bool in_row = i < p.n[0] && j < p.n[1] && !(d == 0 && i == 0 && p.wall[0][0]) &&
                      !(d == 1 && j == 0 && p.wall[1][0]);
  unsigned long long column = 0;
  double lowest = INFINITY;
  for (int k = first; k < end; k++) {
    const bool counts = in_row && !(d == 2 && k == 0 && p.wall[2][0]);
    const double beta = counts ? (double)*mg_cell(&p, MG_BETA_I + d, i, j, k) : INFINITY;
    unsigned long long term = counts ? (unsigned long long)(scale * beta) : 0;
    lowest = fmin(lowest, beta > 0.0 ? beta : INFINITY);
    if (beta == 0.0) *closed = 0;
    column += term;
    for (int lane = 16; lane > 0; lane /= 2)
      term += __shfl_down_sync(0xffffffffu, term, lane);
    if (threadIdx.x == 0 && term) atomicAdd(&of_k[3 * k], term);
  }
  if (column) atomicAdd(&of_i[3 * i], column);
  for (int lane = 16; lane > 0; lane /= 2)
    column += __shfl_down_sync(0xffffffffu, column, lane);
  if (threadIdx.x == 0 && column) atomicAdd(&of_j[3 * j], column);
  for (int lane = 16; lane > 0; lane /= 2)
    lowest = fmin(lowest, __shfl_down_sync(0xffffffffu, lowest, lane));
  if (threadIdx.x == 0) atomicMin(least, (unsigned long long)__double_as_longlong(lowest));
}

static mg_status_t sum_all_planes(const mg_view_t *v, double scale, unsigned long long *sum,
                                  unsigned long long *least) {
  const int planes = 32;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const dim3 grid = mg_cuda_grid(p.n[0], p.n[1], (p.n[2] + planes - 1) / planes, block_shape);
    unsigned long long *const of_i = sum + 3 * (size_t)p.lo[0],
                              *const of_j = sum + 3 * ((size_t)v->n[0] + p.lo[1]),
                              *const of_k = sum + 3 * ((size_t)v->n[0] + v->n[1] + p.lo[2]);
    for (int d = 0; d < 3; d++) {
      sum_planes<<<grid, block_shape, 0, mg_cuda.stream>>>(p, d, planes, scale, of_i + d, of_j + d,
                                                           of_k + d, least + d, least + 3);
      MG_CUDA_LAUNCHED("sum_planes");
    }
  }
  return MG_OK;
}

mg_status_t mg_cuda_sum_planes(const mg_view_t *v, double scale, int64_t *sum, double least[4]) {
  const size_t n = 3 * ((size_t)v->n[0] + v->n[1] + v->n[2]), bytes = n * sizeof *sum,
               bytes_least = 4 * sizeof *least;
  unsigned long long *device;
  MG_TRY(mg_cuda_alloc(bytes + bytes_least, MG_SPACE_LEVEL, (void **)&device));
  mg_status_t status = mg_cuda_upload(device, sum, bytes);
  if (status == MG_OK) status = mg_cuda_upload(device + n, least, bytes_least);
  if (status == MG_OK) status = sum_all_planes(v, scale, device, device + n);
  if (status == MG_OK) status = mg_cuda_download(sum, device, bytes);
  if (status == MG_OK) status = mg_cuda_download(least, device + n, bytes_least);
  if (status == MG_OK) status = mg_cuda_finish();
  mg_cuda_release(device, bytes + bytes_least, MG_SPACE_LEVEL);
  return status;
}
