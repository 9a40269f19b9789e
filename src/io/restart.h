/* The state of a grid out of the file of a dump: docs/format.md says what is in it. */
#ifndef MG_RESTART_H
#define MG_RESTART_H

#include "solver/solve.h"

/** What a file says of itself, checked. */
typedef struct {
  int32_t cells, box_cells; /**< a side */
  mg_precision_t precision;
  mg_centering_t centering;
  double f_norm;
  int64_t problem_checksum; /**< of the user's problem, as mg_input_checksum; 0 for none */
  mg_history_t history;     /**< of the solve so far; `rel` is set by mg_restart_load */
} mg_restart_t;

/** The settings in the file of params->restart, for mg_params_parse_with; for one rank. Without
 * sizes in params: boxes that make the file's grid on the ranks that there are. */
MG_MUST_CHECK mg_status_t mg_restart_settings(const mg_params_t *params,
                                              mg_setting_t settings[MG_MAX_SETTINGS], int *n,
                                              char *message, int message_size);

/** Read the head of the file and see whether it is of the plan's grid. Collective over the world.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE (another grid), the same on every rank */
MG_MUST_CHECK mg_status_t mg_restart_open(const mg_params_t *params, const mg_plan_t *plan,
                                          mg_restart_t *restart);

/** Is the problem the file's? For every rank.
 *  @param[in] problem_checksum  of a user's problem (input.h); 0 for the built-in one
 *  @return MG_OK, MG_ERR_IO, the same on every rank */
MG_MUST_CHECK mg_status_t mg_restart_check_problem(const mg_params_t *params,
                                                   const mg_restart_t *restart,
                                                   int64_t problem_checksum);

/** Read the file's u into the finest level, and compare max|f| and the residual with the file's.
 *  Collective over the world; after mg_problem_set_from.
 *  @param[in,out] restart  out: `history` ends with the residual of this u; `rel` is set
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_restart_load(mg_hierarchy_t *h, mg_restart_t *restart);

#endif
