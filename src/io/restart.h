/* Restart from the state in a dump file; docs/format.md describes the format. Without --restart,
 * everything but mg_restart_settings returns MG_OK at once. */
#ifndef MG_RESTART_H
#define MG_RESTART_H

#include "params/params_files.h"
#include "solver/solve.h"

/** Validated metadata of a file. */
typedef struct {
  int32_t n[3];      /**< cells of the grid; 0 without a file */
  int32_t box_cells; /**< per side of a box */
  mg_precision_t precision;
  mg_centering_t centering;
  double f_norm;
  int64_t problem_checksum; /**< user-defined problem, as in mg_input_t; 0 if built-in */
  mg_history_t history;     /**< solve up to the dump; mg_restart_load sets `rel` */
} mg_restart_t;

/** Settings stored in the file of params->restart, for mg_params_parse. Called by one rank.
 *  If params give no sizes, box sizes are chosen that make the file's grid on the available
 *  ranks. */
MG_MUST_CHECK mg_status_t mg_restart_settings(const mg_params_t *params, mg_settings_t *settings);

/** Read the file's metadata and check that it matches the plan's grid. Collective over the
 *  world.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE (another grid), the same on every rank */
MG_MUST_CHECK mg_status_t mg_restart_open(const mg_params_t *params, const mg_plan_t *plan,
                                          mg_restart_t *restart);

/** Check that the problem is the one of the file. Called by every rank.
 *  @param[in] problem_checksum, first  of a user-defined problem (input.h), either of which the
 * dump may have; 0 for the built-in one
 *  @return MG_OK, MG_ERR_IO, the same on every rank */
MG_MUST_CHECK mg_status_t mg_restart_check_problem(const mg_params_t *params,
                                                   const mg_restart_t *restart,
                                                   int64_t problem_checksum, int64_t first);

/** Read u into the finest level, and compare max|f| and the residual with the file's values.
 *  @pre collective over the world, after mg_problem_set_from
 *  @param[in,out] restart  out: `history` ends with the residual of this u; `rel` is set
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_restart_load(mg_hierarchy_t *h, mg_restart_t *restart);

#endif
