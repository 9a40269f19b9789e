/* Shared by the ladders on a CUDA device: memory, launches, time, and the check of what a kernel
 * wrote. */
#ifndef LAB_CUDA_H
#define LAB_CUDA_H

#include "cuda/cuda.h"
extern "C" {
#include "lab/lab.h"
}

/** How a kernel is launched. */
struct lab_launch_t {
  const void *kernel;
  int64_t blocks;
  int threads;
  size_t shared;            /**< dynamic, bytes a block */
  int rows = 1, planes = 1; /**< of blocks, where the grid has more than one direction */
  int cluster = 1;          /**< blocks that share their memory */
};

/** What the device has. */
struct lab_card_t {
  int processors, threads_per_processor;
  size_t shared_per_processor, shared_per_block, reserved_per_block;
};
lab_card_t lab_card();

/** Puts work on a stream. */
typedef mg_status_t (*lab_enqueue_t)(void *arg, cudaStream_t stream);

/** The median time of what `enqueue` puts on a stream, the laboratory's own unless another is
 * named: once to warm up, then as often as the lab asks for, each time between two events.
 *  @return MG_OK, MG_ERR_DEVICE (logged) */
mg_status_t lab_cuda_time(const lab_t *lab, lab_enqueue_t enqueue, void *arg, double *seconds,
                          lab_enqueue_t prepare = nullptr, cudaStream_t stream = nullptr);

/** A launch as a row has it: shape, registers, shared memory, occupancy. */
mg_status_t lab_cuda_describe(const lab_launch_t &launch, lab_row_t *row);

/** The same of the largest launch of what lab_cuda_time has timed last, whoever made it; the row
 *  stays as it is where there was none. */
mg_status_t lab_cuda_launched(lab_row_t *row);

/** Launch it once to warm up, then as often as the lab asks for, each time between two events.
 *
 *  @param[in]  args  of the kernel, as cudaLaunchKernel wants them
 *  @param[out] row   launch shape, registers, shared memory, occupancy and the median time
 *  @return MG_OK, MG_ERR_DEVICE (logged) */
mg_status_t lab_cuda_measure(const lab_t *lab, const lab_launch_t &launch, void **args,
                             lab_row_t *row);

/** Blocks of this launch that a multiprocessor holds at a time. */
mg_status_t lab_cuda_resident(const lab_launch_t &launch, int *blocks);

/** Blocks of this launch that the card holds at a time, whole clusters. */
mg_status_t lab_cuda_at_a_time(const lab_launch_t &launch, int64_t *blocks);

/** @return MG_OK, MG_ERR_MEMORY with what to ask for, MG_ERR_DEVICE */
mg_status_t lab_cuda_alloc(size_t bytes, void **memory);

/** Device memory that goes away with its scope. */
struct lab_array_t {
  double *at = nullptr;
  ~lab_array_t() {
    if (at) (void)cudaFree(at);
  }
  /** @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE (logged) */
  mg_status_t make(int64_t n);
};

/** at[i] = lab_value(first + i). */
mg_status_t lab_cuda_fill(double *at, int64_t n, int64_t first = 0);

/** How many of at[i] are not lab_value(first + step i); all are spoilt afterwards. */
mg_status_t lab_cuda_wrong(double *at, int64_t n, int64_t first, int64_t step, double *wrong);

/** Bytes that the ladder `smooth` has on the device at a time, with arrays of `bytes`. */
double lab_smooth_needs(int64_t bytes);

/* Parts of the ladder of sums: a block's join alone, and the solver's own reductions. */
mg_status_t lab_reduce_joins(lab_t *lab);
mg_status_t lab_reduce_solver(lab_t *lab);

#endif
