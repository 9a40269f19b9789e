/* Walls with values, and cells of different widths, on the finest level. Runs in set-up, so
 * simplicity comes first: one thread per cell. Only double cells: float levels get theirs from
 * them. */
#include "cuda/cuda.h"
extern "C" {
#include "backend/domains.h"
#include "formulas/wall_share.h"
}
#include <cstdlib>

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

static mg_status_t set_walls(const mg_view_t *v, int d, int side, const mg_side_t *condition,
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

static void release_factors(mg_factors_t *factors) {
  if (!factors) return;
  mg_cuda_release(factors->device, 0, MG_SPACE_LEVEL); /* waits for the device */
  free(factors);
}

static mg_status_t prepare_factors(const mg_view_t *v, const double *const factor[3],
                                   mg_factors_t **out) {
  MG_TRY(mg_new(out, 1, "factors"));
  mg_status_t status = mg_cuda_copy_tables(factor, 3, v->n, 7u, &(*out)->device);
  if (status == MG_OK) status = mg_cuda_finish(); /* the caller frees the host's tables */
  if (status == MG_OK) return MG_OK;
  release_factors(*out);
  *out = nullptr;
  return status;
}

static mg_status_t multiply_all_axes(const mg_view_t *v, mg_vector_t vec, const mg_factors_t *f) {
  const size_t row = mg_cuda_table_row(v->n);
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
    const int n[3] = {p.n[0], p.n[1], (p.n[2] + planes - 1) / planes};
    unsigned long long *const of_i = sum + 3 * (size_t)p.lo[0],
                              *const of_j = sum + 3 * ((size_t)v->n[0] + p.lo[1]),
                              *const of_k = sum + 3 * ((size_t)v->n[0] + v->n[1] + p.lo[2]);
    for (int d = 0; d < 3; d++)
      MG_TRY(mg_cuda_launch("sum_planes", n, sum_planes, p, d, planes, scale, of_i + d, of_j + d,
                            of_k + d, least + d, least + 3));
  }
  return MG_OK;
}

static mg_status_t sum_planes_of_level(const mg_view_t *v, double scale, int64_t *sum,
                                       double least[4]) {
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

const mg_backend_domains_t mg_cuda_domains = {.set_wall = set_walls,
                                              .prepare_factors = prepare_factors,
                                              .release_factors = release_factors,
                                              .multiply_axes = multiply_all_axes,
                                              .sum_planes = sum_planes_of_level};
