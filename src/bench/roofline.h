/* What the ladder of the solver's kernels knows of each, and how it is checked. */
#ifndef LAB_ROOFLINE_H
#define LAB_ROOFLINE_H

#include "level.h"

/** What a kernel's results are compared with. */
typedef enum {
  ROOFLINE_SMOOTHS,   /**< the solution of A u = f stays what it is, to rounding */
  ROOFLINE_RESIDUAL,  /**< the norm in one go is that in two */
  ROOFLINE_RESTRICTS, /**< ones stay ones; the residual in one go is that in two */
  ROOFLINE_CORRECTS,  /**< a V-cycle's interpolation: what the formula makes along a line, in each
                         direction */
  ROOFLINE_INTERPOLATES, /**< the same of an F-cycle's */
  ROOFLINE_VECTORS       /**< vectors of ones */
} roofline_kind_t;

/** How far an operation is from what it must give, relative. */
typedef struct {
  double error, tolerance;
} roofline_check_t;

/** MG_U is f of the problem, and MG_F then A MG_U, on the finest level. */
MG_MUST_CHECK mg_status_t roofline_begin(mg_hierarchy_t *h);

/** Run operations of a kind once more and compare. Overwrites vectors of levels 0 to 2.
 *  @pre for ROOFLINE_SMOOTHS smooths are all that came after roofline_begin
 *  @return as the operations */
MG_MUST_CHECK mg_status_t roofline_check(mg_hierarchy_t *h, roofline_kind_t kind,
                                         roofline_check_t *check);

#endif
