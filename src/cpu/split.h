/* Rows split by color: a layout of fv4's vectors during a smooth.
 *
 * A split row holds its even columns first, then its odd columns:
 *
 *     plain   -2 -1 | 0  1  2  3  4  5  6  7 | 8  9
 *     split   -2 | 0  2  4  6 | 8     -1 | 1  3  5  7 | 9
 *
 * The cells of a color are next to each other then, and so are their neighbors at any distance. */
#ifndef MG_CPU_SPLIT_H
#define MG_CPU_SPLIT_H

#include "cpu/pass.h"
#include "formulas/smoother.h"

/** Ghost layers that n colored steps on split rows read if they leave `radius` valid ones. */
MG_INLINE int mg_layers_of_split_pass(int radius, int n) {
  return mg_layers_of_steps(radius, n) + radius;
}

/** What the stages of a pass share, or one stage. */
typedef struct {
  mg_vector_t in[2]; /**< the vectors with cells of even and odd i + j + k; < 0: x is zero */
  mg_vector_t dst;   /**< of the step's color; of the last stage */
  int color;
  mg_real_t c2;
  mg_real_t *rows; /**< scratch, `row_values` per thread, on cache lines */
  int64_t row_values;
  const mg_cpu_residual_job_t *residual;
} mg_cpu_split_t;

/** Where the odd columns of a split row begin: after the even ones with a ghost at either end. A
 * row of 8 m cells has at least 8 values more (plan_bytes.c). */
MG_INLINE ptrdiff_t mg_cpu_odd_columns(const mg_patch_t *p) {
  const ptrdiff_t even = p->n[0] / 2 + 2, line = 8;
  return (even + line - 1) / line * line;
}

/** Column `parity` of a split row of a vector. */
MG_INLINE mg_real_t *mg_cpu_half(const mg_patch_t *p, mg_vector_t vec, int parity, int j, int k) {
  return mg_cell(p, vec, parity ? mg_cpu_odd_columns(p) : 0, j, k);
}

/** Column `parity` of a split row of x, whose colors are in two vectors. */
MG_INLINE mg_real_t *mg_cpu_half_of_x(const mg_patch_t *p, const mg_cpu_split_t *s, int parity,
                                      int j, int k) {
  const int color = (p->lo[0] + parity + p->lo[1] + j + p->lo[2] + k) & 1;
  return mg_cpu_half(p, s->in[color], parity, j, k);
}

/** Split f, 1 / diagonal, alpha and the betas in place, with the ghosts of the betas, and x from
 *  in[0] to `dst` (< 0: x is zero). */
void mg_cpu_split_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *split);

/** Join them again, and x in `dst`. */
void mg_cpu_join_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *split);

/** Fill the ghosts of x outside walls, and at both ends of periodic rows, that rows j0 <= j < j1 of
 * plane k read and that neither earlier planes nor the preceding strip have filled.
 *  @pre the three following planes and two following rows have their values */
void mg_cpu_split_ghosts(const mg_patch_t *p, const mg_cpu_split_t *s, int k, int j0, int j1);

#endif
