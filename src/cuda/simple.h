/* What the simple backend and the tuned kernels share: launches, cells of a patch, sums and maxima,
 * and the entries of both tables. */
#ifndef MG_CUDA_SIMPLE_H
#define MG_CUDA_SIMPLE_H

#include "config.h"
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>
extern "C" {
#include "backend/backend.h"
#include "formulas/index.h"
#include "formulas/walls.h"
}

/** Current stream of all entries. */
cudaStream_t mg_cuda_stream(void);

/** Check a launch for errors. A debug build also synchronizes, so the error names the kernel. */
mg_status_t mg_cuda_launched(const char *kernel, const char *file, int line);
#define MG_CUDA_LAUNCHED(kernel) MG_TRY(mg_cuda_launched(kernel, __FILE__, __LINE__))

/** A level's view and one of its patches, passed to kernels by value. */
struct mg_cuda_patch_t {
  mg_view_t v; /**< v.patch is NULL: the array of patches is in host memory */
  mg_patch_t p;
  int order;     /**< order of the operator's wall formula, except in directions of one cell */
  bool singular; /**< mg_is_singular(&v) */
  bool thin;     /**< the order is lower in some directions: 1 */
  int inward[3]; /**< bits of the step from the first cell of the formula to the second: all, or 0
                      if the order is 1 */
};

inline mg_cuda_patch_t mg_cuda_patch(const mg_view_t *v, int q) {
  const mg_wall_orders_t order = mg_operator_orders(v);
  mg_cuda_patch_t l = {*v,       v->patch[q], 0, mg_is_singular(v), !mg_orders_are_equal(order),
                       {0, 0, 0}};
  l.v.patch = nullptr;
  for (int d = 0; d < 3; d++) {
    l.order = order.along[d] > l.order ? order.along[d] : l.order;
    l.inward[d] = order.along[d] == 1 ? 0 : -1;
  }
  return l;
}

/** Blocks that cover nx x ny x nz threads. */
inline dim3 mg_cuda_grid(int64_t nx, int64_t ny, int64_t nz, dim3 block) {
  return dim3((unsigned)((nx + block.x - 1) / block.x), (unsigned)((ny + block.y - 1) / block.y),
              (unsigned)((nz + block.z - 1) / block.z));
}

/** Launch one thread for each of n[0] x n[1] x n[2] items. */
template <typename... P, typename... A>
inline mg_status_t mg_cuda_launch(const char *name, const int n[3], void (*kernel)(P...),
                                  const A &...arguments) {
  const dim3 block(32, 8, 1);
  kernel<<<mg_cuda_grid(n[0], n[1], n[2], block), block, 0, mg_cuda_stream()>>>(arguments...);
  MG_CUDA_LAUNCHED(name);
  return MG_OK;
}

/** Define the cell (i, j, k) of this thread; return if it lies outside the n cells. */
#define MG_CUDA_CELL(i, j, k, n)                                                                   \
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                                      \
  const int j = (int)(blockIdx.y * blockDim.y + threadIdx.y);                                      \
  const int k = (int)(blockIdx.z * blockDim.z + threadIdx.z);                                      \
  if (i >= (n)[0] || j >= (n)[1] || k >= (n)[2]) return

/** Device memory of one exact sum or one maximum at a time. */
unsigned long long *mg_cuda_reduction(void);

/** Clear the exact sum before kernels call mg_sum_add_atomic; mg_cuda_sum_end returns the sum. */
mg_status_t mg_cuda_sum_begin(void);
mg_status_t mg_cuda_sum_end(mg_sum_t *sum);
/** Add the sums of bricks of u^3 cells to it (simple.cu). */
mg_status_t mg_cuda_add_bricks(const mg_patch_t &p, mg_vector_t x, mg_vector_t y, int u);

/* Maxima of non-negative values: their bits compare as integers, and NaN is above all of them. */

/** Clear the maximum before kernels call mg_max_add; mg_cuda_max_end fetches the result. It is NaN
 *  if any value was not finite. */
mg_status_t mg_cuda_max_begin(void);
mg_status_t mg_cuda_max_end(double *value);

/** Bits of |value|, which compare as integers. */
static __device__ __forceinline__ unsigned long long mg_max_bits(double value) {
  return (unsigned long long)__double_as_longlong(fabs(value));
}

/** sum += term, exactly; safe for concurrent threads: mg_sum_add with atomic additions. */
static __device__ __forceinline__ void mg_sum_add_atomic(unsigned long long *digit, double term) {
  const unsigned long long bits = (unsigned long long)__double_as_longlong(term);
  int exponent = (int)(bits >> 52 & 0x7ff);
  unsigned long long mantissa = bits & 0xfffffffffffffULL;
  if (exponent == 0x7ff) {
    atomicAdd(&digit[MG_SUM_NONFINITE], 1ULL);
    return;
  }
  if (exponent == 0)
    exponent = 1;
  else
    mantissa |= 0x10000000000000ULL;
  const int low = (exponent - 1) / 32, shift = (exponent - 1) % 32;
  const unsigned long long bottom = mantissa << shift, top = shift ? mantissa >> (64 - shift) : 0;
  /* Two's complement: adding the negation modulo 2^64 subtracts. */
  const bool negative = bits >> 63;
  const unsigned long long part[3] = {bottom & 0xffffffffULL, bottom >> 32, top};
  for (int d = 0; d < 3; d++)
    if (part[d]) atomicAdd(&digit[low + d], negative ? 0ULL - part[d] : part[d]);
}

/* Entries and groups of both tables. mg_cuda_fill_wall_ghosts is in simple.cu. */
mg_status_t mg_cuda_alloc(size_t bytes, mg_space_t space, void **memory);
void mg_cuda_release(void *memory, size_t bytes, mg_space_t space);
mg_status_t mg_cuda_clear(void *memory, size_t bytes);
mg_status_t mg_cuda_set_mean(const mg_view_t *v, mg_vector_t x, mg_vector_t weight,
                             mg_vector_t scale, double mean);
/** Wait for the stream; fail if a kernel's wait for another rank timed out.
 *  @return MG_OK, MG_ERR_DEVICE, MG_ERR_COMM */
mg_status_t mg_cuda_finish(void);
mg_status_t mg_cuda_event_record(void);
mg_status_t mg_cuda_event_wait(void);
mg_status_t mg_cuda_set_problem(const mg_view_t *v, const mg_tables_t *tables);
mg_status_t mg_cuda_restrict_faces(const mg_view_t *fine, int d, const mg_view_t *coarse,
                                   mg_vector_t dst, const mg_face_factor_t *factor);
mg_status_t mg_cuda_extend_faces(const mg_view_t *v);
mg_status_t mg_cuda_set_diagonal(const mg_view_t *v, bool l1, double *lambda_max);
mg_status_t mg_cuda_fill_wall_ghosts(const mg_view_t *v, mg_vector_t vec, int order);
mg_status_t mg_cuda_restrict_cells(const mg_view_t *fine, mg_vector_t src, const mg_view_t *coarse,
                                   mg_vector_t dst);
mg_status_t mg_cuda_interpolate(const mg_view_t *coarse, mg_vector_t src, const mg_view_t *fine,
                                mg_vector_t dst, mg_interpolation_t kind, bool add);
mg_status_t mg_cuda_prepare_copies(const mg_copy_job_t *job, mg_copies_t **out);
void mg_cuda_release_copies(mg_copies_t *copies);
mg_status_t mg_cuda_copy(const mg_copies_t *copies, mg_vector_t src, mg_vector_t dst);
extern const struct mg_backend_profile mg_cuda_profile;
extern const mg_backend_device_t mg_cuda_device;
extern const struct mg_backend_domains mg_cuda_domains;
extern const struct mg_backend_mixed mg_cuda_simple_mixed;
extern const struct mg_backend_arrays mg_cuda_arrays;
extern const struct mg_backend_peer mg_cuda_peer;
extern const struct mg_backend_p2p mg_cuda_p2p;
/** Memory and set-up in both tables. Float levels get their problem from double ones. */
#ifdef MG_FLOAT
#define MG_CUDA_PROBLEM_ENTRIES
#else
#define MG_CUDA_PROBLEM_ENTRIES .set_problem = mg_cuda_set_problem,
#endif
#define MG_CUDA_SETUP_ENTRIES                                                                      \
  .value_bytes = sizeof(mg_real_t), .alloc = mg_cuda_alloc, .release = mg_cuda_release,            \
  .clear = mg_cuda_clear, MG_CUDA_PROBLEM_ENTRIES.restrict_faces = mg_cuda_restrict_faces,         \
  .extend_faces = mg_cuda_extend_faces, .set_diagonal = mg_cuda_set_diagonal,                      \
  .fill_wall_ghosts = mg_cuda_fill_wall_ghosts,

constexpr mg_backend_queue_t mg_cuda_queue = {
    .wait = mg_cuda_finish,
    .event_record = mg_cuda_event_record,
    .event_wait = mg_cuda_event_wait,
    .set_mean = mg_cuda_set_mean,
};

#endif
