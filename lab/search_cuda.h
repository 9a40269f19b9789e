/* The search on a CUDA device: compiled programs and the data on which they are tested. */
#ifndef SEARCH_CUDA_H
#define SEARCH_CUDA_H

#include "lab/lab_cuda.h"
extern "C" {
#include "lab/search_plan.h"
}
#include <memory>

/* Large input, small input, and the block reduction alone. */
enum { SEARCH_LARGE, SEARCH_SMALL, SEARCH_JOINS, N_SEARCH_MEASURES };

struct search_program_t {
  const plan_t *plan;
  char name[PLAN_TEXT];
  cudaLibrary_t library;
  cudaKernel_t first[2], last[2], joins; /**< for doubles, and for integers if the goal has any */
  double seconds[N_SEARCH_MEASURES], score;
};

/** Buffers that every launch needs. Every number has 8 bytes, of either type. */
struct search_space_t {
  lab_array_t memory;
  double *result, *partial;
  unsigned int *ended;
  int64_t most_blocks; /**< capacity of partial, in blocks */

  /** @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE (logged) */
  mg_status_t make();
};

/** One run of a program, with all its launches. */
struct search_run_t {
  const search_program_t *program;
  search_space_t *space;
  int type; /**< 0: doubles, 1: integers */
  lab_launch_t launch;
  dim3 grid;
  const double *from;
  long long n;                /**< elements, for a sum */
  int extent[3];              /**< cells per direction, for a norm */
  long long jstride, kstride; /**< strides, for a norm */
  mg_status_t enqueue(cudaStream_t stream);
  mg_status_t time(const lab_t *lab, lab_row_t *row);
  /** Run once and return the bits of the result. */
  mg_status_t result(unsigned long long *bits);
  /** Return the result of the last run and overwrite it for the next. */
  mg_status_t fetch(unsigned long long *bits);
};

/** Resident blocks of a program on the GPU. */
mg_status_t search_blocks(const plan_t *plan, const lab_launch_t &launch, int64_t *blocks);

/** Sums or norms: the reduction and its expected results.
 *
 *  All functions return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE (logged). */
struct search_goal_t {
  search_space_t space;
  virtual ~search_goal_t() = default;
  virtual mg_status_t make(const lab_t *lab) = 0;
  virtual mg_status_t load(search_program_t *p) = 0;
  /** Compare with known results for many sizes. */
  virtual mg_status_t prove(const search_program_t &p, bool *right) = 0;
  /** @param[in] what  SEARCH_LARGE or SEARCH_SMALL */
  virtual mg_status_t measure(const lab_t *lab, const search_program_t &p, int what,
                              lab_row_t *row) = 0;
  /** Bits of the result of a block whose threads hold 0, 1, 2, ... */
  virtual unsigned long long of_a_block(int threads) const = 0;
  virtual void title(int what, char text[LAB_TITLE]) const = 0;
};

std::unique_ptr<search_goal_t> search_for_sums();
std::unique_ptr<search_goal_t> search_for_norms();

#endif
