/* What a solver of the library holds, and its coefficients and right-hand sides. */
#ifndef MG_API_SOLVER_H
#define MG_API_SOLVER_H

#include "api/boxes.h"
#include "base/log.h"
#include "include/hpgmg.h"
#include "plan/axes.h"
#include "run/placement.h"
#include "solver/problem.h"

enum { MG_API_MESSAGE = 1024 };

struct hpgmg_solver {
  hpgmg_log_t log;
  void *log_data;
  char error[MG_API_MESSAGE];
  mg_log_t messages;
  mg_comm_t *comm;
  mg_params_t params;
  mg_plan_t plan;
  mg_placement_t placement;
  mg_axes_t axes;
  mg_hierarchy_t *h;
  mg_boxes_t *boxes;
  hpgmg_coefficients_t coefficients; /* 1, the caller's during a call, or copies */
  double *kept;                      /* memory of copies */
  bool has_alpha;                    /* the caller gives alpha */
  bool ready;                        /* the levels are set up */
  bool holds_device, usable;
  bool broken; /* a device or MPI failed, so other ranks may not take part in calls */
};

/** Set all coefficients to 1. */
void mg_api_default_coefficients(hpgmg_solver_t *s);

/** Check new coefficients and set up the levels with them. Collective over the world, like the
 *  functions below. */
MG_MUST_CHECK mg_status_t mg_api_set_coefficients(hpgmg_solver_t *s, const hpgmg_coefficients_t *c);

/** Set up the levels with s->coefficients.
 *  @param[in] f  right-hand side; NULL: 0 */
MG_MUST_CHECK mg_status_t mg_api_set_up(hpgmg_solver_t *s, const hpgmg_array_t *f);

/** Set the right-hand side of levels that are set up. */
MG_MUST_CHECK mg_status_t mg_api_set_rhs(hpgmg_solver_t *s, const hpgmg_array_t *f);

/** Check the arrays of a solve and the values of f. */
MG_MUST_CHECK mg_status_t mg_api_check_rhs(const hpgmg_solver_t *s, const hpgmg_array_t *f,
                                           const hpgmg_array_t *u);

#endif
