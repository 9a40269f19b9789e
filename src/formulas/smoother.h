/* Smoother steps: their formula, and how one operation applies them.
 *
 * Every smoother is a list of steps (smoother_steps.h). A step computes
 *
 *     x' = x + c1 (x - x_previous) + c2 Dinv (f - A x)
 *
 * on all cells or on the cells of one color. Backends implement steps, not smoothers. */
#ifndef MG_SMOOTHER_H
#define MG_SMOOTHER_H

#include "base/inline.h"
#include "formulas/real.h"
#include "formulas/vectors.h"
#include <stdbool.h>

/** From this number of cells per rank on, levels exceed the cache: 7-point kernels compute
 *  1 / diagonal, which is not stored then, except in passes on a CPU (plan/plan_level.c). */
enum { MG_STORED_DINV_MAX_CELLS = 1 << 17 };

/** One step of a smoother. The steps of one smooth are all colored, with equal c2, or none is. */
typedef struct {
  bool colored;  /**< update only cells with (i+j+k+color) even, global indices; then c1 = 0 */
  int color;     /**< 0 or 1 */
  double c1, c2; /**< weights of the previous change and of the residual */
  bool l1;       /**< Dinv is that of the l1-scaled diagonal instead of the diagonal of A */
} mg_step_t;

/** n consecutive steps as one operation. A vector that is MG_NO_VECTOR is zero or is not stored. */
typedef struct {
  const mg_step_t *step;    /**< the first step */
  int n;                    /**< number of steps; > 1: fused (temporal blocking) */
  mg_vector_t x;            /**< current iterate; < 0: zero */
  mg_vector_t previous;     /**< the iterate before x, read if c1 != 0; < 0: zero */
  mg_vector_t dst;          /**< output: the last iterate */
  mg_vector_t previous_out; /**< output of fused steps: the iterate before the last; < 0: none */
} mg_sweep_t;

/** Value of a cell after a step on all cells. */
MG_INLINE mg_real_t mg_update(mg_real_t x, mg_real_t x_previous, mg_real_t ax, mg_real_t f,
                              mg_real_t dinv, mg_real_t c1, mg_real_t c2) {
  return mg_fma(c2 * dinv, f - ax, mg_fma(c1, x - x_previous, x));
}

/** Value of a cell of the color after a colored step. */
MG_INLINE mg_real_t mg_relax(mg_real_t x, mg_real_t ax, mg_real_t f, mg_real_t dinv, mg_real_t c2) {
  return mg_fma(c2 * dinv, f - ax, x);
}

/** Forms of a single step. Each kernel implements one or several of them. */
typedef enum {
  MG_UPDATE_FIRST,   /**< x is zero, hence A x too; cells outside the color become zero */
  MG_UPDATE_COLORED, /**< the cells of one color */
  MG_UPDATE_ALL      /**< all cells */
} mg_update_form_t;

/** A single step on given vectors: the argument of the kernels. */
typedef struct {
  mg_update_form_t form;
  mg_vector_t x, previous, dst; /**< previous is x if c1 = 0, and < 0 if it is zero */
  double c1, c2;
  int color, mask; /**< cells with ((i+j+k+color) & mask) = 0 are updated; mask: 1 if colored */
} mg_update_t;

/** The form of a sweep of one step. */
MG_INLINE mg_update_t mg_update_of(const mg_sweep_t *sweep) {
  const mg_step_t *step = sweep->step;
  mg_update_t u;
  u.form = sweep->x < 0 ? MG_UPDATE_FIRST : step->colored ? MG_UPDATE_COLORED : MG_UPDATE_ALL;
  u.x = sweep->x;
  u.previous = step->c1 == 0.0 ? sweep->x : sweep->previous;
  u.dst = sweep->dst;
  u.c1 = sweep->x < 0 ? 0.0 : step->c1;
  u.c2 = step->c2;
  u.color = step->color;
  u.mask = step->colored ? 1 : 0;
  return u;
}

#endif
