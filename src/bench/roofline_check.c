/* The references of the ladder of the solver's kernels. */
#include "cell.h"
#include "log.h"
#include "ops.h"
#include "roofline.h"
#include "stencil.h"
#include "transfer.h"
#include <math.h>
#include <stdlib.h>

static double relative(double got, double want) {
  return got == want ? 0.0 : fabs(got - want) / fmax(fabs(got), fabs(want));
}

mg_status_t roofline_begin(mg_hierarchy_t *h) {
  mg_level_t *fine = &h->level[0];
  MG_TRY(mg_axpby(fine, MG_U, 1.0, MG_F, 0.0, -1));
  return mg_residual(fine, MG_F, MG_U, -1);
}

/* Errors of A are of the size of its diagonal, some 10 n^2, times rounding. The residual's kernel
 * and the smoother's are two; here they agree on what A is. */
static mg_status_t check_smooth(mg_hierarchy_t *h, roofline_check_t *c) {
  mg_level_t *fine = &h->level[0];
  const double n = fine->plan->layout.n;
  double largest, left;
  MG_TRY(mg_max_norm(fine, MG_U, -1, &largest));
  MG_TRY(mg_residual_norm(fine, MG_U, MG_F, &left));
  *c = (roofline_check_t){left / (n * n * largest), 1e-12};
  return MG_OK;
}

static mg_status_t check_residual(mg_hierarchy_t *h, roofline_check_t *c) {
  mg_level_t *fine = &h->level[0];
  double fused, composed;
  MG_TRY(mg_axpby(fine, MG_F, 1.0, MG_U, 0.0, -1)); /* else it is rounding alone */
  MG_TRY(mg_residual_norm(fine, MG_U, MG_F, &fused));
  MG_TRY(mg_residual(fine, MG_TMP, MG_U, MG_F));
  MG_TRY(mg_max_norm(fine, MG_TMP, -1, &composed));
  *c = (roofline_check_t){relative(fused, composed), 0.0};
  return MG_OK;
}

/* Sum and maximum of what a restriction has left on the coarse level. */
static mg_status_t norm_and_mean(mg_hierarchy_t *h, double *norm, double *mean) {
  MG_TRY(mg_max_norm(&h->level[1], MG_F, -1, norm));
  return mg_mean(&h->level[1], MG_F, mean);
}

static mg_status_t check_restriction(mg_hierarchy_t *h, roofline_check_t *c) {
  mg_level_t *fine = &h->level[0];
  double norm[3], mean[3];
  MG_TRY(mg_axpby(fine, MG_F, 1.0, MG_U, 0.0, -1));
  MG_TRY(mg_restrict_residual(h, 0));
  MG_TRY(norm_and_mean(h, &norm[0], &mean[0]));
  MG_TRY(mg_residual(fine, MG_TMP, MG_U, MG_F));
  MG_TRY(mg_restrict(h, 0, MG_TMP, MG_F));
  MG_TRY(norm_and_mean(h, &norm[1], &mean[1]));
  MG_TRY(mg_fill(fine, MG_TMP, 1.0));
  MG_TRY(mg_restrict(h, 0, MG_TMP, MG_F));
  MG_TRY(norm_and_mean(h, &norm[2], &mean[2]));
  *c = (roofline_check_t){relative(norm[0], norm[1]) + relative(mean[0], mean[1]) +
                              relative(norm[2], 1.0) + relative(mean[2], 1.0),
                          0.0};
  return MG_OK;
}

/* A line of n cells with two ghosts at each end, which the formula of an interpolation's walls
 * fills. */
enum { GHOSTS = 2 };

static void fill_walls(mg_interpolation_t kind, double *x, int n) {
  for (int end = 0; end < 2; end++) {
    const int in = end == 0 ? 1 : -1;
    double *first = end == 0 ? x : x + n - 1;
    if (kind == MG_INTERPOLATE_V4) {
      const double a = first[0], b = first[in], c = first[2 * in], d = first[3 * in];
      first[-in] = mg_wall4_first(a, b, c, d);
      first[-2 * in] = mg_wall4_second(a, b, c, d);
    } else {
      first[-in] = kind == MG_INTERPOLATE_V2 ? mg_wall2(first[0], first[in]) : mg_wall1(first[0]);
    }
  }
}

static double child(mg_interpolation_t kind, const double *x, int side) {
  switch (kind) {
  case MG_INTERPOLATE_P1:
    return mg_interpolate_p1(x[-1], x[0], x[1], side);
  case MG_INTERPOLATE_V2:
    return mg_interpolate_v2(x[-1], x[0], x[1], side);
  case MG_INTERPOLATE_V4:
    return mg_interpolate_v4(x[-2], x[-1], x[0], x[1], x[2], side);
  default:
    return x[0];
  }
}

/* Ones on n cells, interpolated along a line twice: the largest of the 4 n values, and the sum of
 * their squares. */
static mg_status_t interpolate_line(mg_interpolation_t kind, int n, double *largest,
                                    double *squares) {
  double *from = calloc((size_t)(4 * n + 2 * GHOSTS), sizeof *from);
  double *to = calloc((size_t)(4 * n + 2 * GHOSTS), sizeof *to);
  if (!from || !to) {
    free(from);
    free(to);
    return mg_error(MG_ERR_MEMORY, "no memory for a line of %d cells", 4 * n);
  }
  for (int i = 0; i < n; i++)
    from[GHOSTS + i] = 1.0;
  for (int twice = 0; twice < 2; twice++, n *= 2) {
    fill_walls(kind, from + GHOSTS, n);
    for (int i = 0; i < 2 * n; i++)
      to[GHOSTS + i] = child(kind, from + GHOSTS + i / 2, i % 2 == 0 ? -1 : 1);
    double *swap = from;
    from = to;
    to = swap;
  }
  *largest = *squares = 0.0;
  for (int i = 0; i < n; i++) {
    *largest = fmax(*largest, fabs(from[GHOSTS + i]));
    *squares += from[GHOSTS + i] * from[GHOSTS + i];
  }
  free(from);
  free(to);
  return MG_OK;
}

/* Ones, and what becomes of them between two levels and two further ones, are products of three
 * lines. Twice, as a formula with its two sides exchanged makes the same values out of ones, in
 * another order. */
static mg_status_t check_interpolation(mg_hierarchy_t *h, mg_interpolation_t kind,
                                       roofline_check_t *c) {
  mg_level_t *fine = &h->level[0];
  double largest = 0.0, squares = 0.0, norm, dot;
  if (h->n_levels < 3) return mg_error(MG_ERR_SHAPE, "an interpolation is checked on three levels");
  MG_TRY(interpolate_line(kind, h->plan.level[2].layout.n, &largest, &squares));
  MG_TRY(mg_fill(&h->level[2], MG_U, 1.0));
  MG_TRY(mg_interpolate(h, 1, kind, false));
  MG_TRY(mg_interpolate(h, 0, kind, false));
  /* And once more on top of it, as a correction. */
  MG_TRY(mg_interpolate(h, 0, kind, true));
  MG_TRY(mg_max_norm(fine, MG_U, -1, &norm));
  MG_TRY(mg_dot(fine, MG_U, MG_U, &dot));
  *c = (roofline_check_t){
      relative(norm, 2.0 * pow(largest, 3.0)) + relative(dot, 4.0 * pow(squares, 3.0)), 1e-12};
  return MG_OK;
}

/* Of ones the maximum is 1 and the dot product the number of cells; 2 x 1 + 3 x 1 is 5, 5 - 1 is 4,
 * 4 x 5 is 20. */
static mg_status_t check_vectors(mg_hierarchy_t *h, roofline_check_t *c) {
  mg_level_t *fine = &h->level[0];
  const double n = fine->plan->layout.n;
  double one, five, twenty, cells;
  MG_TRY(mg_fill(fine, MG_U, 1.0));
  MG_TRY(mg_fill(fine, MG_F, 1.0));
  MG_TRY(mg_max_norm(fine, MG_U, -1, &one));
  MG_TRY(mg_dot(fine, MG_U, MG_F, &cells));
  MG_TRY(mg_axpby(fine, MG_TMP, 2.0, MG_U, 3.0, MG_F));
  MG_TRY(mg_max_norm(fine, MG_TMP, -1, &five));
  MG_TRY(mg_shift(fine, MG_U, MG_TMP, -1.0));
  MG_TRY(mg_multiply(fine, MG_F, MG_U, MG_TMP));
  MG_TRY(mg_axpby(fine, MG_TMP, 1.0, MG_F, 0.0, -1));
  MG_TRY(mg_max_norm(fine, MG_TMP, -1, &twenty));
  *c = (roofline_check_t){relative(one, 1.0) + relative(cells, n * n * n) + relative(five, 5.0) +
                              relative(twenty, 20.0),
                          0.0};
  return MG_OK;
}

mg_status_t roofline_check(mg_hierarchy_t *h, roofline_kind_t kind, roofline_check_t *check) {
  switch (kind) {
  case ROOFLINE_SMOOTHS:
    return check_smooth(h, check);
  case ROOFLINE_RESIDUAL:
    return check_residual(h, check);
  case ROOFLINE_RESTRICTS:
    return check_restriction(h, check);
  case ROOFLINE_CORRECTS:
    return check_interpolation(h, mg_interpolation_of(h->params.op, MG_CYCLE_V), check);
  case ROOFLINE_INTERPOLATES:
    return check_interpolation(h, mg_interpolation_of(h->params.op, MG_CYCLE_F), check);
  case ROOFLINE_VECTORS:
    return check_vectors(h, check);
  }
  return mg_error(MG_ERR_INTERNAL, "no such kind of kernel");
}
