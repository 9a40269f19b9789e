/* The search on a CUDA device: programs that were compiled, and what they are tried on. */
#ifndef SEARCH_CUDA_H
#define SEARCH_CUDA_H

#include "lab/lab_cuda.h"
extern "C" {
#include "lab/search_plan.h"
}
#include <memory>

/* Much, little, and the join of a block alone. */
enum { SEARCH_LARGE, SEARCH_SMALL, SEARCH_JOINS, N_SEARCH_MEASURES };

struct search_program_t {
  const plan_t *plan;
  char name[PLAN_TEXT];
  cudaLibrary_t library;
  cudaKernel_t first[2], last[2], joins; /**< of doubles, of integers where there are any */
  double seconds[N_SEARCH_MEASURES], score;
};

/** What every launch needs. A number has 8 bytes, whatever it is. */
struct search_space_t {
  lab_array_t memory;
  double *result, *partial;
  unsigned int *ended;
  int64_t most_blocks; /**< that partial has room for */

  /** @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE (logged) */
  mg_status_t make();
};

/** One run of a program: its launches. */
struct search_run_t {
  const search_program_t *program;
  search_space_t *space;
  int type; /**< 0: of doubles, 1: of integers */
  lab_launch_t launch;
  dim3 grid;
  const double *from;
  long long n;                /**< of a sum */
  int extent[3];              /**< of a norm */
  long long jstride, kstride; /**< the same */
  mg_status_t enqueue(cudaStream_t stream);
  mg_status_t time(const lab_t *lab, lab_row_t *row);
  /** Run it once; what comes out. */
  mg_status_t result(unsigned long long *bits);
  /** What came out; it is spoilt for the next. */
  mg_status_t fetch(unsigned long long *bits);
};

/** Blocks of a program that the card has at a time. */
mg_status_t search_blocks(const plan_t *plan, const lab_launch_t &launch, int64_t *blocks);

/** Sums or norms: what is joined, and what must come out. All return MG_OK, MG_ERR_MEMORY,
 *  MG_ERR_DEVICE (logged). */
struct search_goal_t {
  search_space_t space;
  virtual ~search_goal_t() = default;
  virtual mg_status_t make(const lab_t *lab) = 0;
  virtual mg_status_t load(search_program_t *p) = 0;
  /** Compare with what is known, of many sizes. */
  virtual mg_status_t prove(const search_program_t &p, bool *right) = 0;
  /** SEARCH_LARGE or SEARCH_SMALL. */
  virtual mg_status_t measure(const lab_t *lab, const search_program_t &p, int what,
                              lab_row_t *row) = 0;
  /** The result of a block whose threads have 0, 1, 2, ..., as bits. */
  virtual unsigned long long of_a_block(int threads) const = 0;
  virtual void title(int what, char text[LAB_TITLE]) const = 0;
};

std::unique_ptr<search_goal_t> search_for_sums();
std::unique_ptr<search_goal_t> search_for_norms();

#endif
