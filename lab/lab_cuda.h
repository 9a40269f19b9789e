/* Shared by the CUDA ladders: memory, launches, timing, and checks of kernel output. */
#ifndef LAB_CUDA_H
#define LAB_CUDA_H

#include "cuda/cuda.h"
extern "C" {
#include "lab/lab.h"
}

/** Launch configuration of a kernel. */
struct lab_launch_t {
  const void *kernel;
  int64_t blocks;
  int threads;
  size_t shared;            /**< dynamic shared memory per block in bytes */
  int rows = 1, planes = 1; /**< grid dimensions in y and z, in blocks */
};

/** Resources of the device. */
struct lab_card_t {
  int processors, threads_per_processor;
  size_t shared_per_block, reserved_per_block;
};
lab_card_t lab_card();

/** Enqueues work on a stream. */
typedef mg_status_t (*lab_enqueue_t)(void *arg, cudaStream_t stream);

/** Median time of the work that `enqueue` puts on a stream (default: the lab's own stream).
 *
 *  Runs once to warm up, then as often as the lab requests, each run between two events.
 *  @return MG_OK, MG_ERR_DEVICE (logged) */
mg_status_t lab_cuda_time(const lab_t *lab, lab_enqueue_t enqueue, void *arg, double *seconds,
                          cudaStream_t stream = nullptr);

/** Fill a row with the launch shape, registers, shared memory and occupancy. */
mg_status_t lab_cuda_describe(const lab_launch_t &launch, lab_row_t *row);

/** Forget recorded launches and record from here on. */
void lab_launches_forget();

/** Same for the largest launch in the work last timed by lab_cuda_time, from any source; the row is
 *  unchanged if there was no launch. */
mg_status_t lab_cuda_launched(lab_row_t *row);

/** Enqueue a launch.
 *  @param[in] args  kernel arguments, as for cudaLaunchKernel
 *  @return MG_OK, MG_ERR_DEVICE (logged) */
mg_status_t lab_cuda_launch(const lab_launch_t &launch, void **args, cudaStream_t stream);

/** Launch once to warm up, then as often as the lab requests, each launch between two events.
 *
 *  @param[out] row  launch shape, registers, shared memory, occupancy and the median time
 *  @return MG_OK, MG_ERR_DEVICE (logged) */
mg_status_t lab_cuda_measure(const lab_t *lab, const lab_launch_t &launch, void **args,
                             lab_row_t *row);

/** Resident blocks per SM for this launch. */
mg_status_t lab_cuda_resident(const lab_launch_t &launch, int *blocks);

/** Device memory released at the end of its scope. */
struct lab_array_t {
  double *at = nullptr;
  ~lab_array_t() {
    if (at) (void)cudaFree(at);
  }
  /** @return MG_OK, MG_ERR_MEMORY (the message names the option to change), MG_ERR_DEVICE */
  mg_status_t make(int64_t n);
};

/** at[i] = lab_value(first + i). */
mg_status_t lab_cuda_fill(double *at, int64_t n, int64_t first = 0);
mg_status_t lab_cuda_fill(float *at, int64_t n, int64_t first = 0);

/** lab_value(first + step i). */
struct lab_values_t {
  int64_t first, step;
  __device__ double operator()(int64_t i) const { return lab_value(first + step * i); }
};

template <typename F>
__global__ void lab_count_wrong(double *at, int64_t n, F want, unsigned long long *count) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (at[i] != want(i)) atomicAdd(count, 1ull);
  at[i] = -1.0;
}

/** Count the at[i] that differ from want(i); overwrites all of them. */
template <typename F> mg_status_t lab_cuda_wrong(double *at, int64_t n, F want, double *wrong) {
  unsigned long long count;
  lab_array_t memory;
  MG_TRY(memory.make(1));
  MG_CUDA_TRY(cudaMemset(memory.at, 0, sizeof count));
  lab_count_wrong<<<(unsigned)((n + 255) / 256), 256>>>(at, n, want,
                                                        (unsigned long long *)memory.at);
  MG_CUDA_LAUNCHED("lab_count_wrong");
  MG_CUDA_TRY(cudaMemcpy(&count, memory.at, sizeof count, cudaMemcpyDeviceToHost));
  *wrong = (double)count;
  return MG_OK;
}

/** Bytes of device memory that the ladder `smooth` needs at once, with arrays of `bytes`. */
double lab_smooth_needs(int64_t bytes);

/** Part of the reduction ladder: the solver's own reductions. */
mg_status_t lab_reduce_solver(lab_t *lab);

#endif
