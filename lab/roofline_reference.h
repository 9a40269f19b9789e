/* The solver's kernels once more, on the host, cell by cell and out of src/formulas/stencil.h
 * alone: ghosts outside the walls are formulas, not memory. One patch, all of its sides walls. */
#ifndef LAB_ROOFLINE_REFERENCE_H
#define LAB_ROOFLINE_REFERENCE_H

#include "backend/backend.h"

/** Memory for n doubles, which hold anything. What was given back is taken again before the system
 *  is asked: its pages are there, and to get some GB of new ones takes longer than to compute on
 *  them.
 *  @return NULL (logged) where there is none */
double *scratch_take(int64_t n);
/** `memory` is what scratch_take gave, or NULL. */
void scratch_give(double *memory);
/** Back to the system with all that was given back. */
void scratch_close(void);

/** Planes first .. last - 1 of a vector, n^2 cells each. */
typedef struct {
  double *memory; /* scratch */
  int n, first, last;
  int64_t jstride, kstride;
} field_t;

/** Cells hold anything. @return MG_OK, MG_ERR_MEMORY (logged) */
MG_MUST_CHECK mg_status_t field_make(field_t *x, int n, int first, int last);
void field_free(field_t *x);

MG_INLINE double *field_cell(const field_t *x, int i, int j, int k) {
  return x->memory + i + j * x->jstride + (k - x->first) * x->kstride;
}

/** Face betas of planes as they lie in a level's memory, one ghost around. */
typedef struct {
  double *at[3];
  int first, last; /* of the planes whose cells they serve */
  int64_t jstride, kstride;
} faces_t;

/** What a reference reads; planes as far as they are needed. */
typedef struct {
  const mg_view_t *view;
  faces_t faces;
  field_t f, dinv; /* dinv is empty where the diagonal is summed from the betas */
  field_t alpha;   /* empty where it does not vary */
} reference_t;

/** The planes that one application of A reads beyond its own. */
int reference_reach(const mg_view_t *view);

/** dst = f - A x; f may be NULL for A x. */
void reference_residual(const reference_t *r, const field_t *x, const field_t *f, field_t *dst);

/** One step from x, and from `previous`, which may be NULL where the step does not look at it. */
void reference_step(const reference_t *r, const field_t *x, const field_t *previous,
                    const mg_step_t *step, field_t *dst);

/** Means of 8 cells of fine. */
void reference_restrict(const field_t *fine, field_t *dst);

/** dst = (add ? dst : 0) + P coarse. */
void reference_interpolate(const field_t *coarse, mg_interpolation_t kind, bool add, field_t *dst);

#endif
