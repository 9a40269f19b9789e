/* Coarse cycles: what the kernels of coarse/cycle.cu and paired_cycle.cu share. */
#ifndef MG_CUDA_COARSE_LEVELS_H
#define MG_CUDA_COARSE_LEVELS_H

#include "cuda/coarse/coarse_path.h"
#include "cuda/cuda.h"

/** Coarse cycles of the 7-point operators (paired_cycle.cu). `create` prepares the levels of a job
 *  whose path is mg_path_cuda_cubes; `run` is as the backend's.
 *  @param[in] step  device: the steps of all levels, concatenated; must outlive the result
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_INTERNAL (too little shared memory) */
typedef struct mg_paired_cycle mg_paired_cycle_t;
mg_status_t mg_paired_cycle_create(const mg_coarse_cycle_job_t *job, const mg_step_t *step,
                                   mg_paired_cycle_t **out);
void mg_paired_cycle_free(mg_paired_cycle_t *cycle);
mg_status_t mg_paired_cycle_run(const mg_paired_cycle_t *cycle, int top, mg_cycle_t kind,
                                bool zero_guess);

/** As the entries of mg_backend_coarse_t (matrix.cu).
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_INTERNAL (too many columns) */
mg_status_t mg_matrix_set(const double *matrix, int n, int pitch, mg_matrix_t **out);
void mg_matrix_free(mg_matrix_t *matrix);
mg_status_t mg_matrix_multiply(const mg_matrix_t *matrix, const mg_view_t *v, mg_vector_t dst,
                               mg_vector_t src);

/** Where a smooth takes its first iterate from: zero, u, u + P (coarse u), or P (coarse u). */
enum mg_coarse_guess_t { MG_COARSE_ZERO, MG_COARSE_STORED, MG_COARSE_PLUS_P, MG_COARSE_P };

/** Run a V-cycle, or an F-cycle: a V-cycle from every level, coarsest first, each starting from the
 *  interpolated solution of the next coarser level. One loop serves both: separate code would
 *  triple the code size and the compile time. `levels` has the functions
 *
 *      visit(l, down, guess, restricted)  smooth level l; if `down`, restrict its residual to level
 *                                         l + 1; `restricted`: f of level l is such a residual
 *      solve(zero_guess)                  solve the coarsest level */
template <typename levels_t>
static __device__ __forceinline__ void mg_coarse_run(levels_t &levels, int top, int bottom,
                                                     bool f_cycle, bool zero_guess) {
  const mg_coarse_guess_t first = f_cycle      ? MG_COARSE_P
                                  : zero_guess ? MG_COARSE_ZERO
                                               : MG_COARSE_STORED;
#pragma unroll 1
  for (int start = f_cycle ? bottom : top; start >= top; start--) {
    bool down = true;
#pragma unroll 1
    for (int l = start; l >= start; l += down ? 1 : -1) {
      if (l < bottom) {
        const bool restricted = down && l > start;
        levels.visit(l, down,
                     !down        ? MG_COARSE_PLUS_P
                     : restricted ? MG_COARSE_ZERO
                                  : first,
                     restricted);
      } else {
        levels.solve(f_cycle || zero_guess || bottom > start);
        down = false;
      }
    }
  }
}

#endif
