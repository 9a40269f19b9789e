/* Shared by the CUDA operations: device state, error checks, and the mapping of threads to cells.
 *
 * Every entry enqueues on mg_cuda.stream and returns. An entry that returns a number to the host
 * waits for the stream. Solves allocate nothing. Only set-up allocates: alloc, prepare_copies,
 * coarse_cycle_create, set_problem (temporarily), windows and message lists, captured graphs, and
 * event timers. */
#ifndef MG_CUDA_H
#define MG_CUDA_H

#include "cuda/simple.h"
#include <cstdio>
#include <cstring>
extern "C" {
#include "backend/arrays.h"
#include "backend/cycles.h"
#include "backend/event_timers.h"
#include "backend/mixed.h"
#include "backend/peer.h"
#include "backend/sweeps.h"
#include "base/alloc.h"
#include "base/log.h"
}

/** State of the two streams. With MG_CUDA_ONE_STREAM the next launch depends only on the previous
 *  one. That does not hold between fork and join, nor for the first launch after the join. */
enum mg_cuda_stream_state_t { MG_CUDA_ONE_STREAM, MG_CUDA_FORKED, MG_CUDA_JOINED };

/** State of the device that this process uses. */
struct mg_cuda_state_t {
  cudaStream_t stream;     /**< current stream of all entries: one of `streams` */
  cudaStream_t streams[2]; /**< the main stream, and the second one, used between fork and join */
  cudaEvent_t forked, joined;
  mg_cuda_stream_state_t stream_state;
  bool dependent_launches;            /**< programmatic dependent launch is available
                                         (dependent_launch.h) */
  bool captures;                      /**< a graph is being captured: nothing runs */
  bool exchange_beside;               /**< the last launch is an exchange beside which the next may
                                         run */
  unsigned long long *reduction;      /**< device: one exact sum or one maximum at a time */
  unsigned long long *smooth_norm;    /**< device: norm after a smooth, of norm_begin to norm_end */
  unsigned long long *reduction_host; /**< pinned: host copy of `reduction` */
  cudaEvent_t event;
  int device;                       /**< its number */
  int sms;                          /**< number of SMs */
  int shared_bytes;                 /**< most dynamic shared memory of a block */
  bool short_of_bandwidth;          /**< memory limits fused sweeps */
  bool shared;                      /**< other ranks use the device too */
  struct mg_mailboxes_t *mailboxes; /**< device: messages between blocks (resident/mailboxes.h) */
  volatile int *timed_out; /**< pinned: 1 + the rank for which a kernel's wait timed out; 0: none */
  /** Called periodically while the host waits, with the seconds waited so far. Returns failures
   *  that no kernel reports. NULL: nothing to check. */
  mg_status_t (*watch)(double waited);
};
extern mg_cuda_state_t mg_cuda;

/** Log a CUDA failure with the name of the call: `call` up to its first parenthesis.
 *  @return MG_ERR_MEMORY if memory ran out, else MG_ERR_DEVICE */
mg_status_t mg_cuda_failed(cudaError_t error, const char *call, const char *file, int line);

#define MG_CUDA_TRY(call)                                                                          \
  do {                                                                                             \
    const cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) return mg_cuda_failed(error_, #call, __FILE__, __LINE__);           \
  } while (0)

/** Qualifier of a kernel parameter that is read in place. Before sm_70 it is empty: the parameter
 *  is copied. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#define MG_GRID_CONSTANT
#else
#define MG_GRID_CONSTANT __grid_constant__
#endif

/** Resident threads per SM of the target architecture. Launch bounds that request more are an
 *  error, so MG_CUDA_MIN_BLOCKS limits the requested blocks per SM. */
#if !defined(__CUDA_ARCH__)
#define MG_CUDA_RESIDENT_THREADS 2048
#elif __CUDA_ARCH__ == 750
#define MG_CUDA_RESIDENT_THREADS 1024
#elif (__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1100
#define MG_CUDA_RESIDENT_THREADS 1536
#else
#define MG_CUDA_RESIDENT_THREADS 2048
#endif
#define MG_CUDA_MIN_BLOCKS(wanted, threads)                                                        \
  ((wanted) * (threads) <= MG_CUDA_RESIDENT_THREADS ? (wanted)                                     \
                                                    : MG_CUDA_RESIDENT_THREADS / (threads))

/** Architecture that the running kernels were compiled for.
 *
 *  The driver selects the best match in this build, possibly PTX of an older architecture. The
 *  result is cached.
 *  @param[out] code  90 for sm_90
 *  @return MG_OK, MG_ERR_DEVICE if the build has no code for the GPU */
mg_status_t mg_cuda_compiled_arch(int *code);

/** Enqueue a copy from the host to the device, or back. The host's memory must remain valid until
 *  mg_cuda_finish. */
mg_status_t mg_cuda_upload(void *to, const void *from, size_t bytes);
mg_status_t mg_cuda_download(void *to, const void *from, size_t bytes);

/** Copy at most sizeof(mg_sum_t) bytes to mg_cuda.reduction_host, and wait. */
mg_status_t mg_cuda_fetch(const void *from, size_t bytes);

/** Copy a host array into newly allocated device memory.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
mg_status_t mg_cuda_to_device(const void *from, size_t bytes, void **to);

/** Let launches of a kernel have this much dynamic shared memory. */
mg_status_t mg_cuda_allow_shared(const void *kernel, size_t bytes);

/** Blocks of a kernel that an SM runs at the same time. */
mg_status_t mg_cuda_blocks_per_sm(const void *kernel, int threads, size_t shared_bytes, int *n);

/** A pair of cells. */
#ifdef MG_FLOAT
typedef float2 mg_real2_t;
#else
typedef double2 mg_real2_t;
#endif

static __host__ __device__ __forceinline__ mg_real2_t mg_make_real2(mg_real_t x, mg_real_t y) {
  mg_real2_t pair;
  pair.x = x;
  pair.y = y;
  return pair;
}

/** Whether several cells per thread still fill the device: 62 blocks of 256 cells per SM. With 132
 *  SMs, a smoother gains 1 to 2 % at 128^3. */
inline bool mg_is_large(const mg_patch_t &p) {
  return (int64_t)p.n[0] * p.n[1] * p.n[2] >= (int64_t)62 * 256 * mg_cuda.sms;
}

/** The same for kernels that apply the operator and do not allow thin levels. */
inline bool mg_is_large(const mg_cuda_patch_t &l) {
  return !l.thin && mg_is_large(l.p);
}

/** Offsets of the values that a 7-point stencil reads.
 *
 *  Ghosts outside walls are computed, not read: at a wall the offset is that of the other cell in
 *  the wall formula. Every cell issues the same loads, from different addresses: six branches would
 *  serialize six loads. */
struct mg_places7_t {
  int low[3], high[3]; /**< relative to the cell */
  bool wall_low[3], wall_high[3];
};

/** x += value scale, with a value on the device; scale < 0: of ones. */
mg_status_t mg_cuda_add_times(const mg_view_t *v, mg_vector_t x, const double *value,
                              mg_vector_t scale);

/* Other entries of the tuned table. */
mg_status_t mg_cuda_smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region);
bool mg_cuda_sweep_overlaps(const mg_view_t *v, int n, bool host);
bool mg_cuda_interior_first(const mg_view_t *v, int n);
mg_status_t mg_cuda_bound_betas(const mg_view_t *v, mg_beta_bounds_t *bounds);
mg_status_t mg_cuda_smooth_residual(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                                    const mg_view_t *coarse, mg_vector_t dst);
bool mg_cuda_can_interpolate_smooth(const mg_view_t *v, const mg_view_t *coarse,
                                    const mg_sweep_t *sweep);
mg_status_t mg_cuda_interpolate_smooth(const mg_view_t *v, const mg_sweep_t *sweep,
                                       mg_region_t region, const mg_view_t *coarse, mg_vector_t src,
                                       mg_interpolation_t kind);
mg_status_t mg_cuda_residual(const mg_view_t *v, mg_vector_t dst, mg_vector_t x, mg_vector_t f);
mg_status_t mg_cuda_residual_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t f, double *norm);
mg_status_t mg_cuda_residual_restrict(const mg_view_t *fine, mg_vector_t x, mg_vector_t f,
                                      const mg_view_t *coarse, mg_vector_t dst);
bool mg_cuda_folds_walls(const mg_view_t *coarse, mg_interpolation_t kind);
mg_status_t mg_cuda_fill(const mg_view_t *v, mg_vector_t dst, double value);
mg_status_t mg_cuda_combine(const mg_view_t *v, mg_combination_t c, mg_vector_t dst, double alpha,
                            mg_vector_t x, double beta, mg_vector_t y);
mg_status_t mg_cuda_max_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t y, double *norm);
mg_status_t mg_cuda_dot(const mg_view_t *v, mg_vector_t x, mg_vector_t y, mg_sum_t *sum);
mg_status_t mg_cuda_bottom(const mg_view_t *v, mg_bottom_t method, bool zero_guess,
                           int max_iterations, double reduction);
mg_status_t mg_cuda_stream_fork(void);
void mg_cuda_stream_switch(void);
mg_status_t mg_cuda_stream_join(void);
#ifndef MG_FLOAT
mg_status_t mg_cuda_guess_residual(const mg_view_t *v, const mg_guess_t *guess, mg_vector_t f,
                                   const mg_view_t *low, mg_vector_t dst, double scale);
mg_status_t mg_cuda_guess_correct(const mg_view_t *v, mg_vector_t dst, const mg_guess_t *guess,
                                  const mg_view_t *low, mg_vector_t e, double scale);
mg_status_t mg_cuda_guess_correct_residual(const mg_view_t *v, mg_vector_t dst,
                                           const mg_guess_t *guess, const mg_view_t *low,
                                           mg_vector_t e, double scale, mg_vector_t f,
                                           mg_vector_t r, double r_scale);
#endif

/* Parts of these entries, which mg_cuda_smooth and others choose between.
 * Fused sweeps of the 7-point operators (fused/sweeps.cu): `smooth` for sweeps of several steps,
 * with `residual` also `smooth_residual`; `sweep_overlaps` for n > 1. */
mg_status_t mg_cuda_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                                 bool residual, const mg_view_t *coarse, mg_vector_t dst);
bool mg_cuda_fused_overlaps(const mg_view_t *v, int n, bool host);

/* Two half sweeps of fv4 in one pass (fv4/fused.cu): `smooth` and `sweep_overlaps`. */
mg_status_t mg_cuda_fv4_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep,
                                     mg_region_t region);
bool mg_cuda_fv4_fused_overlaps(const mg_view_t *v, bool host);

/* Other entries for fv4 (fv4/entries.cu). */
bool mg_cuda_fv4_sweep_overlaps(const mg_view_t *v, bool host);
mg_status_t mg_cuda_fv4_smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region);
mg_status_t mg_cuda_fv4_residual(const mg_view_t *v, mg_vector_t dst, mg_vector_t x, mg_vector_t f);
mg_status_t mg_cuda_fv4_residual_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t f,
                                      double *norm);
mg_status_t mg_cuda_fv4_residual_restrict(const mg_view_t *fine, mg_vector_t x, mg_vector_t f,
                                          const mg_view_t *coarse, mg_vector_t dst);

/** The entry smooth_resident of the table, for all operators. */
mg_status_t mg_cuda_operator_smooth_resident(const mg_view_t *v, const mg_sweep_t *sweep,
                                             const mg_resident_use_t *use);

/* Set-up and clean-up, which runtime/device.cu calls: the shared memory that fv4's kernels need,
 * the mailboxes of the process (mg_cuda.mailboxes), and files compiled for float (float_names.h).
 */
mg_status_t mg_cuda_fv4_open(void);
mg_status_t mg_cuda_float_fv4_open(void);
mg_status_t mg_cuda_resident_open(void);
void mg_cuda_resident_close(void);
void mg_float_cuboids_close(void);
/** Whether the open device supports fused sweeps (fused/sweeps.cu). */
mg_status_t mg_cuda_has_fused(bool *has);

/** Copy tables of the host into one device allocation, a row of mg_cuda_table_row doubles for each
 *  (steps/problem.cu). Table t has n[t % 3] values, or one more if `closed`. */
mg_status_t mg_cuda_copy_tables(const double *const *from, int n_tables, const int32_t n[3],
                                unsigned closed, double **out);
size_t mg_cuda_table_row(const int32_t n[3]);

/* Entries norm_begin and norm_end (steps/reduce.cu). */
mg_status_t mg_cuda_norm_begin(void);
mg_status_t mg_cuda_norm_end(double *norm);

/* Groups of the table. */
extern const mg_backend_coarse_t mg_cuda_coarse;
extern const mg_backend_graph_t mg_cuda_graph;
extern const mg_backend_mixed_t mg_cuda_mixed;
extern const mg_backend_nccl_t mg_cuda_nccl;

#endif
