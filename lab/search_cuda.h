/* Reductions of search_candidate.h on a CUDA device: their launches, and the inputs on which they
 * are tested and timed. Used by the search and by the ladder `reduce`. */
#ifndef SEARCH_CUDA_H
#define SEARCH_CUDA_H

#include "lab/lab_cuda.h"
#include "lab/search_candidate.h"
extern "C" {
#include "lab/search_plan.h"
}
#include <memory>

/* Large input, small input, and the block reduction alone. */
enum { SEARCH_LARGE, SEARCH_SMALL, SEARCH_JOINS, N_SEARCH_MEASURES };
enum { SEARCH_TIMES = 256 /* successive block reductions */ };

/** A compiled program. */
struct search_program_t {
  plan_t plan;
  char name[PLAN_TEXT];
  const void *first, *last, *joins;
};

/** A patch whose ghosts are NaN and must not be read. Cells of vector v have search_cell_value. */
struct search_patch_t {
  mg_patch_t p;
  lab_array_t memory;
  /** @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE (logged), as all functions here */
  mg_status_t make(int n0, int n1, int n2, int n_vectors = 1);
  int64_t cells() const { return (int64_t)p.n[0] * p.n[1] * p.n[2]; }
  /** Set a cell of vector 0. */
  mg_status_t set(int64_t cell, double value);
};

/** Cells are smaller in magnitude than SEARCH_PEAK. Their sums are never exact in double
 *  precision. */
const double SEARCH_PEAK = -5000.0;
MG_SHARED double search_cell_value(int vec, int64_t cell) {
  return (lab_value(cell + 77 * vec) - 510.1) / 3.0;
}

/** Cells per side of the largest patch: as in the roofline ladder, a vector of at most twice an
 *  array. */
int search_patch_cells(const lab_t *lab);

/** Sums or norms: the inputs and their expected results. */
struct search_goal_t {
  virtual ~search_goal_t() = default;
  virtual mg_status_t make(const lab_t *lab) = 0;
  /** Compare with known results for many inputs. */
  virtual mg_status_t prove(const search_program_t &p, bool *right) = 0;
  /** Input SEARCH_LARGE or SEARCH_SMALL and the bits of its result. */
  virtual candidate::input_t input(int what, unsigned long long *expected) const = 0;
  /** Grid of a program for an input, of which `resident` blocks run at the same time. */
  virtual dim3 grid(const plan_t &plan, const candidate::input_t &in, int64_t resident) const = 0;
  /** Bits of the result of a block whose threads hold 0, 1, 2, ... */
  virtual unsigned long long of_a_block(int threads) const = 0;
  virtual void title(int what, char text[LAB_TITLE]) const = 0;

  /** Allocate what every launch needs. */
  mg_status_t make_space();
  /** Run a program once. `few`: in a single row of blocks.
   *  @param[out] bits  of the result */
  mg_status_t result(const search_program_t &p, const candidate::input_t &in, bool few,
                     unsigned long long *bits);
  /** Time and check a program on an input, or its block reduction alone. */
  mg_status_t measure(const lab_t *lab, const search_program_t &p, int what, lab_row_t *row);

  lab_array_t memory; /**< result, number of ended blocks, partial results */
};

std::unique_ptr<search_goal_t> search_for_sums();
std::unique_ptr<search_goal_t> search_for_norms();

#endif
