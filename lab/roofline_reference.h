/* Host reference for the solver's kernels, cell by cell, from src/formulas/stencil.h alone. Ghosts
 * outside the walls are computed by formula, not read from memory. One patch with walls on
 * all sides. */
#ifndef LAB_ROOFLINE_REFERENCE_H
#define LAB_ROOFLINE_REFERENCE_H

#include "backend/backend.h"

/** Allocate n doubles with unspecified contents.
 *
 *  Reuses released blocks first, because their pages are already mapped. Mapping some GB of new
 *  pages takes longer than computing on them.
 *  @return NULL if out of memory (logged) */
double *scratch_take(int64_t n);
/** Release memory for reuse; accepts a pointer from scratch_take, or NULL. */
void scratch_give(double *memory);
/** Return all released blocks to the system. */
void scratch_close(void);

/** Planes first .. last - 1 of a vector, n^2 cells each. */
typedef struct {
  double *memory; /* scratch */
  int n, first, last;
  int64_t jstride, kstride;
} field_t;

/** Contents are unspecified. @return MG_OK, MG_ERR_MEMORY (logged) */
MG_MUST_CHECK mg_status_t field_make(field_t *x, int n, int first, int last);
void field_free(field_t *x);

MG_INLINE double *field_cell(const field_t *x, int i, int j, int k) {
  return x->memory + i + j * x->jstride + (k - x->first) * x->kstride;
}

/** Face betas of some planes, laid out as in a level, with one ghost layer. */
typedef struct {
  double *at[3];
  int first, last; /* planes of cells that they serve */
  int64_t jstride, kstride;
} faces_t;

/** Inputs of the reference, for the planes that it needs. */
typedef struct {
  const mg_view_t *view;
  faces_t faces;
  field_t f, dinv; /* dinv is empty if the diagonal is summed from the betas */
  field_t alpha;   /* empty if alpha is constant */
} reference_t;

/** Number of planes beyond its own that one application of A reads. */
int reference_reach(const mg_view_t *view);

/** dst = f - A x; a NULL f gives dst = A x. */
void reference_residual(const reference_t *r, const field_t *x, const field_t *f, field_t *dst);

/** One step from x and `previous`; `previous` may be NULL if the step does not use it. */
void reference_step(const reference_t *r, const field_t *x, const field_t *previous,
                    const mg_step_t *step, field_t *dst);

/** dst = mean of the 8 fine cells. */
void reference_restrict(const field_t *fine, field_t *dst);

/** dst = (add ? dst : 0) + P coarse. */
void reference_interpolate(const field_t *coarse, mg_interpolation_t kind, bool add, field_t *dst);

#endif
