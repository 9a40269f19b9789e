/* Values that come from an application or a file: their range, and the betas of faces from those of
 * cells. */
#ifndef MG_ARRAYS_FORMULAS_H
#define MG_ARRAYS_FORMULAS_H

#include "formulas/index.h"

/** Allowed values. NaN is none. */
typedef struct {
  double least, most;
  bool may_be_0; /**< 0 is allowed too */
} mg_range_t;

MG_INLINE bool mg_is_in_range(const mg_range_t *range, double x) {
  return (x >= range->least && x <= range->most) || (range->may_be_0 && x == 0.0);
}

/** Beta between two cells: their harmonic mean. Exactly a if a == b, also 0. */
MG_INLINE double mg_harmonic(double a, double b) {
  return a > 0.0 ? a * (b / (0.5 * (a + b))) : 0.0;
}

/** The same, weighted by the widths of the cells. */
MG_INLINE double mg_weighted_harmonic(double a, double width_a, double b, double width_b) {
  return a == b ? a : a * (b / ((width_a * b + width_b * a) / (width_a + width_b)));
}

/** Beta of the lower face in direction d of cell `at` of a patch, or of the face behind the last
 *  cell. Only half a cell lies on the inner side of a wall: its beta is that of the face.
 *  @param[in] n         cells of the level in direction d
 *  @param[in] src       beta in cells, and in the first layer of ghosts
 *  @param[in] position  of the level's faces in direction d; NULL: all widths are equal */
MG_INLINE double mg_face_average(const mg_patch_t *p, int32_t n, int d, mg_vector_t src,
                                 const double *position, const int at[3]) {
  const ptrdiff_t below = d == 0 ? 1 : d == 1 ? p->jstride : p->kstride;
  const mg_real_t *x = mg_cell(p, src, at[0], at[1], at[2]);
  if (at[d] == 0 && p->wall[d][0]) return x[0];
  if (at[d] == p->n[d] && p->wall[d][1]) return x[-below];
  if (!position) return mg_harmonic(x[-below], x[0]);
  const int32_t face = p->lo[d] + at[d], high = face < n ? face : 0,
                low = face > 0 ? face - 1 : n - 1;
  return mg_weighted_harmonic(x[-below], position[low + 1] - position[low], x[0],
                              position[high + 1] - position[high]);
}

#endif
