/* Positions of the faces of stretched axes. */
#ifndef MG_AXES_H
#define MG_AXES_H

#include "params/params.h"

/** Memory of the positions; NULL where the cells of an axis have equal widths. */
typedef struct {
  double *face[3];
} mg_axes_t;

/** Compute the axes that --stretch names, and let params->face point at all of `axes`.
 *  @param[in,out] axes  those read from files. Must outlive all uses of params
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_axes_set(mg_axes_t *axes, mg_params_t *params);

void mg_axes_free(mg_axes_t *axes);

/** The first thing wrong with n + 1 positions: the index of one that is not finite or not above
 *  the position before; -1 if they are in order. */
int64_t mg_axis_fault(const double *face, int32_t n);

/** Whether n cells have the same width, up to rounding. */
bool mg_axis_is_even(const double *face, int32_t n);

#endif
