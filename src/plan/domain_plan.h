/* What plans of grids of any size (--cells) need, and cubes of boxes do not: layouts, widths of
 * cells, and the pairs that become one. */
#ifndef MG_DOMAIN_PLAN_H
#define MG_DOMAIN_PLAN_H

#include "params/params.h"
#include "plan/path.h"

struct mg_plan; /* plan.h */

/** A general layout of n cells: one cuboid per rank, none more than 10 % above the mean if its
 *  sides can be cut so. Fewer ranks have cells if some would have none.
 *  @param[in] ranks  maximum number of ranks with cells */
mg_layout_t mg_cuboids_layout(const int32_t n[3], int64_t ranks, int64_t world_ranks);

/** The layout of the next coarser level on at most `ranks` ranks. With as many ranks as the fine
 *  level it has the same parts, if their sides are even and no single cells separate them.
 *  @pre fine->single is set */
mg_layout_t mg_cuboids_coarse(const mg_layout_t *fine, int64_t ranks);

/** Is the method one for betas that jump? */
static inline bool mg_plan_is_for_jumps(const mg_params_t *params) {
  return params->krylov == MG_KRYLOV_KCYCLE || params->krylov == MG_KRYLOV_BICGSTAB;
}

/** A level of a grid of any size with more cells has a coarser one. Where betas vary much, levels
 *  of few cells have little in common with the finer ones. */
static inline int64_t mg_plan_fewest_cells(const mg_params_t *params) {
  if (params->bottom == MG_BOTTOM_DIRECT) return MG_DIRECT_MAX_CELLS;
  return mg_plan_is_for_jumps(params) ? 64 : 8;
}

/** Check --cells.
 *  @return MG_OK, MG_ERR_USAGE (with a message) */
MG_MUST_CHECK mg_status_t mg_plan_check_cells(const mg_params_t *params, int64_t ranks,
                                              char *message, int message_size);

/** Add all coarser levels to a plan whose finest level is general. Neighbors on coarse levels have
 *  couplings of similar strength.
 *  @return MG_OK, MG_ERR_MEMORY
 *  @ref docs/algorithm.md, "Grids of any size" */
MG_MUST_CHECK mg_status_t mg_plan_coarsen_cells(struct mg_plan *plan, const mg_params_t *params);

/** Width of a cell in direction d of level l. A last cell may be narrower than a whole one, and on
 *  a stretched axis all widths differ.
 *  @param[in] level  the finest level of the hierarchy, followed by all down to l */
double mg_plan_width(const mg_level_plan_t *level, const mg_params_t *params, int l, int d,
                     int32_t cell);

/** Position of a face in direction d of level l. */
double mg_plan_position(const mg_level_plan_t *level, const mg_params_t *params, int l, int d,
                        int32_t face);

#endif
