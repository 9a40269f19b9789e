/* Whole cycles as one operation each. */
#ifndef MG_BACKEND_CYCLES_H
#define MG_BACKEND_CYCLES_H

#include "backend/backend.h"

enum { MG_MAX_COARSE_CYCLE_LEVELS = 24 };

/** Input of a coarse cycle: the coarsest levels of a hierarchy, coarsest last. The patches of each
 *  level are the coarsened patches of the level before, all on this rank. */
typedef struct {
  struct {
    const mg_view_t *view;
    const mg_step_t *step; /**< steps of one smooth */
    int n_steps;
  } level[MG_MAX_COARSE_CYCLE_LEVELS];
  int n_levels;
  const mg_path_t *path;   /**< that the plan has chosen */
  mg_interpolation_t v, f; /**< interpolation of corrections (v) and of F-cycle solutions (f) */
  mg_bottom_t bottom;
  int max_iterations; /**< maximum iterations of the bottom solver */
  double reduction;   /**< residual reduction (maximum norm) that ends the bottom solver */
} mg_coarse_cycle_job_t;

/** Prepared coarse cycle, in a backend-specific form. */
typedef struct mg_coarse_cycle mg_coarse_cycle_t;

/** Prepared dense matrix, in a backend-specific form. */
typedef struct mg_matrix mg_matrix_t;
enum { MG_MATRIX_LANES = 32 };

/** Cycles over the coarsest levels as one operation, where separate operations would be dominated
 * by launches and by waits for every scalar. */
typedef struct mg_backend_coarse {
  /** Cycles over the coarsest levels that the plan names (path.h). The views must outlive the
   *  result of `create`; the steps need not. `run` cycles from level `top` of the job
   * down and back: MG_CYCLE_F from its right-hand side alone, MG_CYCLE_V from a guess or from zero.
   */
  mg_status_t (*create)(const mg_coarse_cycle_job_t *job, mg_coarse_cycle_t **out);
  void (*free)(mg_coarse_cycle_t *coarse_cycle);
  mg_status_t (*run)(const mg_coarse_cycle_t *coarse_cycle, int top, mg_cycle_t cycle,
                     bool zero_guess);
  /** Products with a dense matrix of n rows in host memory, `pitch` values apart, a multiple of
   *  MG_MATRIX_LANES, with zeros from column n on. `matrix_set` prepares it, or copies other values
   *  to the memory of *out, which graphs refer to. `matrix_multiply` sets dst to the matrix times
   *  src for the n cells of a level, all on this rank and numbered with i fastest. Products are
   *  added in double, in the order of solver/direct.c. */
  mg_status_t (*matrix_set)(const double *matrix, int n, int pitch, mg_matrix_t **out);
  void (*matrix_free)(mg_matrix_t *matrix);
  mg_status_t (*matrix_multiply)(const mg_matrix_t *matrix, const mg_view_t *v, mg_vector_t dst,
                                 mg_vector_t src);
} mg_backend_coarse_t;

/** Captured graph: operations to be replayed. */
typedef struct mg_graph mg_graph_t;

/** Graph capture: between `begin` and `end`, entries that only enqueue are captured instead of
 *  executed. `launch` executes them, with the same vectors and scalars, any number of times. */
typedef struct mg_backend_graph {
  mg_status_t (*begin)(void);
  mg_status_t (*end)(mg_graph_t **out);
  mg_status_t (*launch)(const mg_graph_t *graph);
  void (*free)(mg_graph_t *graph);
} mg_backend_graph_t;

#endif
