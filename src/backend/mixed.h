/* Operations of --precision=mixed. */
#ifndef MG_BACKEND_MIXED_H
#define MG_BACKEND_MIXED_H

#include "backend/backend.h"

/** An interpolated first guess: P src by formula `kind`, from the coarsened patches. */
typedef struct {
  const mg_view_t *coarse;
  mg_vector_t src;
  mg_interpolation_t kind;
} mg_guess_t;

/** Between a level of double cells, which the table works on, and the float level of the same
 *  cells, `low` (--precision=mixed). The formulas are in formulas/precision.h. */
typedef struct mg_backend_mixed {
  /** low dst = scale src, of the cells and the first layer of ghosts. */
  mg_status_t (*lower)(const mg_view_t *v, mg_vector_t src, const mg_view_t *low, mg_vector_t dst,
                       double scale);
  /** dst = (add ? dst : 0) + scale low src. */
  mg_status_t (*raise)(const mg_view_t *v, mg_vector_t dst, const mg_view_t *low, mg_vector_t src,
                       double scale, bool add);
  /** low dst = scale (f - A x), and max |f - A x| if norm is not NULL. Ghosts of x as for
   *  `smooth`. */
  mg_status_t (*residual)(const mg_view_t *v, mg_vector_t x, mg_vector_t f, const mg_view_t *low,
                          mg_vector_t dst, double scale, double *norm);

  /* Optional: a guess that is interpolated where it is read, instead of stored, by P1 or V2. All
   * three entries or none. Ghosts of the guess's src as for `interpolate`, outside walls as for
   * folds_walls. */
  /** low dst = scale (f - A guess). */
  mg_status_t (*guess_residual)(const mg_view_t *v, const mg_guess_t *guess, mg_vector_t f,
                                const mg_view_t *low, mg_vector_t dst, double scale);
  /** dst = guess + scale low e. Vectors of low other than e may share the memory of dst. */
  mg_status_t (*guess_correct)(const mg_view_t *v, mg_vector_t dst, const mg_guess_t *guess,
                               const mg_view_t *low, mg_vector_t e, double scale);
  /** guess_correct that also computes the residual f - A dst: its maximum norm as smooth_residual
   *  does, between fused.norm_begin and norm_end; and low r = r_scale (f - A dst), unless r < 0. r
   *  does not share memory with dst. */
  mg_status_t (*guess_correct_residual)(const mg_view_t *v, mg_vector_t dst,
                                        const mg_guess_t *guess, const mg_view_t *low,
                                        mg_vector_t e, double scale, mg_vector_t f, mg_vector_t r,
                                        double r_scale);
} mg_backend_mixed_t;

#endif
