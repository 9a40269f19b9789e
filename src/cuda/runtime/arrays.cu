/* Arrays of an application: copies between them and levels, and checks of their values. Bytes per
 * cell: copy 16, find_outside 8. */
#include "cuda/runtime/copy_tiles.h"

static const dim3 block_shape(64, 4, 1);
/* Elements of a row per thread, so that each has several loads in flight. */
enum { PER_THREAD = 4 };

/* An array as a kernel's argument. */
struct strided_t {
  double *x;
  int64_t stride[3];
};

static strided_t argument(const mg_strided_t *a) {
  return {a->x, {a->stride[0], a->stride[1], a->stride[2]}};
}

static __device__ __forceinline__ double *element(const strided_t &a, int i, int j, int k) {
  return a.x + i * a.stride[0] + j * a.stride[1] + k * a.stride[2];
}

static dim3 grid_of(const int32_t n[3]) {
  const int per_block = (int)block_shape.x * PER_THREAD;
  return mg_cuda_grid((int64_t)(n[0] + per_block - 1) / per_block * block_shape.x, n[1], n[2],
                      block_shape);
}

/* Row j of plane k, and the first of this thread's elements. */
#define ROW(i, j, k, nj)                                                                           \
  const int i = (int)(blockIdx.x * blockDim.x * PER_THREAD + threadIdx.x);                         \
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y), k = (int)blockIdx.z;                 \
  if (j >= nj) return

static __global__ void __launch_bounds__(256)
    copy_kernel(int ni, int nj, strided_t from, strided_t to) {
  ROW(first, j, k, nj);
  double value[PER_THREAD];
#pragma unroll
  for (int m = 0; m < PER_THREAD; m++)
    if (first + m * (int)blockDim.x < ni)
      value[m] = *element(from, first + m * (int)blockDim.x, j, k);
#pragma unroll
  for (int m = 0; m < PER_THREAD; m++)
    if (first + m * (int)blockDim.x < ni)
      *element(to, first + m * (int)blockDim.x, j, k) = value[m];
}

static mg_status_t copy(const int32_t n[3], const mg_strided_t *from, const mg_strided_t *to) {
  copy_kernel<<<grid_of(n), block_shape, 0, mg_cuda.stream>>>(n[0], n[1], argument(from),
                                                              argument(to));
  MG_CUDA_LAUNCHED("array_copy");
  return MG_OK;
}

/* The lowest number of an element that is outside. */
static __global__ void __launch_bounds__(256)
    find_outside_kernel(int ni, int nj, strided_t array, mg_range_t range,
                        unsigned long long *lowest) {
  ROW(first, j, k, nj);
#pragma unroll
  for (int m = 0; m < PER_THREAD; m++) {
    const int i = first + m * (int)blockDim.x;
    if (i < ni && !mg_is_in_range(&range, *element(array, i, j, k)))
      atomicMin(lowest, (unsigned long long)(i + (int64_t)ni * (j + (int64_t)nj * k)));
  }
}

static mg_status_t find_outside(const int32_t n[3], const mg_strided_t *array,
                                const mg_range_t *range, int64_t *place, double *value) {
  MG_CUDA_TRY(cudaMemsetAsync(mg_cuda.reduction, 0xff, sizeof *mg_cuda.reduction, mg_cuda.stream));
  find_outside_kernel<<<grid_of(n), block_shape, 0, mg_cuda.stream>>>(n[0], n[1], argument(array),
                                                                      *range, mg_cuda.reduction);
  MG_CUDA_LAUNCHED("array_find_outside");
  MG_TRY(mg_cuda_fetch(mg_cuda.reduction, sizeof *value));
  *place = (int64_t)*mg_cuda.reduction_host; /* all bits: none */
  if (*place < 0) return MG_OK;
  const int64_t i = *place % n[0], row = *place / n[0], j = row % n[1], k = row / n[1];
  MG_TRY(
      mg_cuda_fetch(array->x + i * array->stride[0] + j * array->stride[1] + k * array->stride[2],
                    sizeof *value));
  memcpy(value, mg_cuda.reduction_host, sizeof *value);
  return MG_OK;
}

static __global__ void __launch_bounds__(256)
    average_kernel(mg_patch_t p, int32_t n_level, int d, mg_vector_t src, const double *position) {
  const int n[3] = {p.n[0] + (d == 0), p.n[1] + (d == 1), p.n[2] + (d == 2)};
  MG_CUDA_CELL(i, j, k, n);
  const int at[3] = {i, j, k};
  *mg_cell(&p, MG_BETA_I + d, i, j, k) = mg_face_average(&p, n_level, d, src, position, at);
}

static mg_status_t average(const mg_view_t *v, int d, mg_vector_t src, const double *position) {
  void *device = nullptr;
  if (position)
    MG_TRY(mg_cuda_to_device(position, ((size_t)v->n[d] + 1) * sizeof *position, &device));
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const int n[3] = {p.n[0] + 1, p.n[1] + 1, p.n[2] + 1};
    MG_TRY(mg_cuda_launch("array_average", n, average_kernel, p, v->n[d], d, src,
                          (const double *)device));
  }
  const mg_status_t status = mg_cuda_finish();
  if (device) MG_CUDA_TRY(cudaFree(device));
  return status;
}

static mg_status_t is_captured(cudaStream_t stream, bool *captured) {
  cudaStreamCaptureStatus state = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &state);
  *captured = state != cudaStreamCaptureStatusNone;
  if (error == cudaErrorStreamCaptureImplicit) {
    (void)cudaGetLastError();
    return mg_error(MG_ERR_USAGE, "another stream is being captured, for which the default stream "
                                  "waits; set options.stream to another one");
  }
  MG_CUDA_TRY(error);
  return MG_OK;
}

static mg_status_t follow(void *stream, bool *captured) {
  bool joined;
  MG_TRY(is_captured((cudaStream_t)stream, captured));
  MG_TRY(is_captured(mg_cuda.stream, &joined));
  if (joined && !*captured)
    return mg_error(MG_ERR_USAGE, "a graph with a solve is being captured on another stream; end "
                                  "the capture before other calls");
  MG_CUDA_TRY(cudaEventRecord(mg_cuda.forked, (cudaStream_t)stream));
  MG_CUDA_TRY(cudaStreamWaitEvent(mg_cuda.stream, mg_cuda.forked, 0));
  mg_cuda.captures = *captured;
  return MG_OK;
}

static mg_status_t lead(void *stream) {
  MG_CUDA_TRY(cudaEventRecord(mg_cuda.joined, mg_cuda.stream));
  MG_CUDA_TRY(cudaStreamWaitEvent((cudaStream_t)stream, mg_cuda.joined, 0));
  return MG_OK;
}

static mg_status_t select_device(int *device) {
  *device = mg_cuda.device;
  MG_CUDA_TRY(cudaSetDevice(mg_cuda.device));
  return MG_OK;
}

const mg_backend_arrays_t mg_cuda_arrays = {.copy = copy,
                                            .find_outside = find_outside,
                                            .average = average,
                                            .follow = follow,
                                            .lead = lead,
                                            .select = select_device};
