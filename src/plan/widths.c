/* Widths of cells, and the pairs of cells that become one on the next coarser level. */
#include "base/alloc.h"
#include "plan/domain_plan.h"
#include "plan/plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The face of the finest level at a face of level l. */
static int32_t finest_face(const mg_level_plan_t *level, int l, int d, int32_t face) {
  for (int m = l - 1; m >= 0; m--) {
    const int32_t child = mg_first_child(&level[m].layout.single[d], face);
    face = child < level[m].layout.n[d] ? child : level[m].layout.n[d];
  }
  return face;
}

double mg_plan_width(const mg_level_plan_t *level, const mg_params_t *params, int l, int d,
                     int32_t cell) {
  const int32_t low = finest_face(level, l, d, cell), high = finest_face(level, l, d, cell + 1);
  const double *face = params->face[d];
  return face ? face[high] - face[low] : (high - low) * level->h[d];
}

/* Whether formulas of equal widths are far off at walls of the coarsest level so far: an axis of
 * equal cells of the finest level has a last cell less than 2/3 as wide as others. */
static bool has_linear_walls(const mg_plan_t *plan, const mg_params_t *params) {
  const int l = plan->n_levels - 1;
  bool linear = false;
  for (int d = 0; d < 3; d++) {
    const int32_t last = plan->level[l].layout.n[d] - 1;
    if (last > 0 && !params->face[d] && params->side[d][1].wall != MG_WALL_NEUMANN &&
        params->side[d][1].wall != MG_WALL_NONE)
      linear |= 1.5 * mg_plan_width(plan->level, params, l, d, last) <
                mg_plan_width(plan->level, params, l, d, last - 1);
  }
  return linear;
}

double mg_plan_position(const mg_level_plan_t *level, const mg_params_t *params, int l, int d,
                        int32_t face) {
  const int32_t at = finest_face(level, l, d, face);
  const bool has_origin = params->face[d] && params->stretch[d] == 0.0; /* positions of a file */
  const double from_low = params->face[d] ? params->face[d][at] : at * level->h[d];
  return has_origin ? from_low : params->origin[d] + from_low;
}

/* Mean betas of the planes of cells of a level, as params->face_beta and plane_beta of the finest
 * one; NULL: all are the same. */
typedef struct {
  double *face[3], *plane[3];
} betas_t;

static mg_status_t copy_betas(const mg_params_t *params, betas_t *betas) {
  *betas = (betas_t){{NULL}, {NULL}};
  if (!params->face_beta[0] || !mg_params_has_cells(params)) return MG_OK;
  const int64_t n[3] = {params->cells[0], params->cells[1], params->cells[2]};
  double *at;
  MG_TRY(mg_new(&at, 2 * (n[0] + n[1] + n[2]), "mean betas of planes"));
  for (int d = 0; d < 3; d++) {
    betas->face[d] = memcpy(at, params->face_beta[d], (size_t)n[d] * sizeof *at);
    betas->plane[d] = memcpy(at + n[d], params->plane_beta[d], (size_t)n[d] * sizeof *at);
    at += 2 * n[d];
  }
  return MG_OK;
}

/* An axis of the coarsest level so far. */
typedef struct {
  const mg_plan_t *plan;
  const mg_params_t *params;
  int d;
  int32_t n;            /* cells */
  double *face, *plane; /* betas_t */
} axis_t;

static double width_of(const axis_t *a, int32_t cell) {
  return mg_plan_width(a->plan->level, a->params, a->plan->n_levels - 1, a->d, cell);
}

static bool has_equal_pairs(const axis_t *a) {
  return !a->params->face[a->d] && !a->face;
}

/* Mean width of cells 2m and 2m + 1, as that of cells with the same beta everywhere: their coupling
 * is beta / width^2, where beta is that between them by the mean of the planes. On an axis of equal
 * cells all pairs count as whole ones. */
static double pair_width(const axis_t *a, int32_t m) {
  const double width = a->params->face[a->d] ? 0.5 * (width_of(a, 2 * m) + width_of(a, 2 * m + 1))
                                             : a->plan->level[a->plan->n_levels - 1].h[a->d];
  if (!a->face) return width;
  const double share = 2.0 * a->face[2 * m + 1] / (a->plane[2 * m] + a->plane[2 * m + 1]);
  return width / sqrt(share);
}

/* The least width of pairs first <= m < end; 0 if there are none. */
static double narrowest_pair(const axis_t *a, int32_t first, int32_t end) {
  double narrowest = 0.0;
  if (has_equal_pairs(a) && end > first) return pair_width(a, first);
  for (int32_t m = first; m < end; m++) {
    const double width = pair_width(a, m);
    narrowest = m == first || width < narrowest ? width : narrowest;
  }
  return narrowest;
}

/* Consecutive pairs. */
typedef struct {
  int32_t first, end;
} run_t;

/* Cells outside pairs narrower than `limit`. Such pairs form runs. Runs at the ends of the axis
 * count, and one between them: that with the narrowest pair. */
static mg_singles_t wide_cells(const axis_t *a, double limit) {
  const int32_t n = a->n, pairs = n / 2;
  const mg_singles_t none = {{0}, {0}};
  run_t low = {0, 0}, middle = {pairs, pairs}, high = {pairs, pairs};
  double narrowest = limit;
  if (has_equal_pairs(a))
    return pairs > 0 && pair_width(a, 0) < limit ? none : (mg_singles_t){{0, n}, {n, n}};
  for (int32_t m = 0; m < pairs; m++) {
    run_t run = {m, m};
    while (run.end < pairs && pair_width(a, run.end) < limit)
      run.end++;
    if (run.end == m) continue;
    const double width = narrowest_pair(a, run.first, run.end);
    if (run.first == 0) {
      low = run;
    } else if (run.end == pairs) {
      high = run;
    } else if (width < narrowest) {
      middle = run;
      narrowest = width;
    }
    m = run.end;
  }
  if (low.end == pairs && pairs > 0) return none;
  const int32_t top = high.first < pairs ? 2 * high.first : n;
  if (middle.first == pairs) return (mg_singles_t){{2 * low.end, top}, {top, top}};
  return (mg_singles_t){{2 * low.end, 2 * middle.end}, {2 * middle.first, top}};
}

/* Half of the way between the children of a coarse cell, and the resistance on it; 0: it has one.
 */
typedef struct {
  double way, resistance;
} inside_t;

static inside_t inside_of(const axis_t *a, int32_t first, int32_t end) {
  if (end - first < 2) return (inside_t){0.0, 0.0};
  const double way = 0.25 * (width_of(a, first) + width_of(a, first + 1));
  return (inside_t){way, way / a->face[first + 1]};
}

/* Mean betas of the next level: of faces by resistances in line, as mg_beta_in_line, of planes by
 * widths. Those of face 0 are not used. */
static void coarsen_betas(const axis_t *a, const mg_singles_t *single) {
  const int32_t n = a->n;
  inside_t before = {0.0, 0.0};
  for (int32_t coarse = 0, first = 0; a->face && first < n; coarse++) {
    const int32_t next = mg_first_child(single, coarse + 1), end = next < n ? next : n;
    const inside_t inside = inside_of(a, first, end);
    const double at = first > 0 ? 0.5 * (width_of(a, first - 1) + width_of(a, first)) : 1.0;
    const double w0 = width_of(a, first), w1 = end - first > 1 ? width_of(a, first + 1) : 0.0;
    a->face[coarse] = (before.way + at + inside.way) /
                      (before.resistance + at / a->face[first] + inside.resistance);
    a->plane[coarse] = (w0 * a->plane[first] + w1 * a->plane[end - 1]) / (w0 + w1);
    before = inside;
    first = end;
  }
}

/* Widths of pairs that become one cell, by the narrowest pair of another axis: half its coupling,
 * or less for the few planes of a stretched one. Very uneven grids would need too many levels. */
static double most_across_axes(const mg_params_t *params, int l, int d) {
  const bool beside = params->face[(d + 1) % 3] || params->face[(d + 2) % 3];
  if (params->face[d] && !mg_plan_is_for_jumps(params))
    return params->smoother != MG_SMOOTHER_CHEBYSHEV4 || beside ? 4.0 : 8.0;
  return l >= MG_MAX_LEVELS / 3 ? 2.0 : sqrt(2.0);
}

/* The same by the narrowest pair of their own axis. If all cells of an axis became pairs, a width
 * that grows by a third from cell to cell would grow by 9 on the third level. */
static const double most_along_axis = 8.0;

/* Choose which cells of the coarsest level so far become pairs on the next one:
 * mg_layout_t.single. `betas` becomes that of the next level.
 * @return false if there is no next level */
static bool choose_pairs(mg_plan_t *plan, const mg_params_t *params, betas_t *betas) {
  const int l = plan->n_levels - 1;
  mg_layout_t *layout = &plan->level[l].layout;
  axis_t axis[3];
  double narrowest[3], beside[3]; /* for pairs of that axis, and of the others */
  bool fits = true, coarsens = false;
  for (int d = 0; d < 3; d++) {
    axis[d] = (axis_t){plan, params, d, layout->n[d], betas->face[d], betas->plane[d]};
    narrowest[d] = layout->n[d] > 1 ? narrowest_pair(&axis[d], 0, layout->n[d] / 2) : INFINITY;
    beside[d] = most_across_axes(params, l, d) * narrowest[d];
  }
  for (int d = 0; d < 3; d++) {
    layout->single[d] = wide_cells(&axis[d], fmin(most_along_axis * narrowest[d],
                                                  fmin(beside[(d + 1) % 3], beside[(d + 2) % 3])));
    coarsen_betas(&axis[d], &layout->single[d]);
    const int32_t n = mg_layout_coarse_n(layout, d);
    fits = fits && (n == layout->n[d] || n >= params->coarsest);
    coarsens = coarsens || n < layout->n[d];
  }
  return coarsens && fits && mg_layout_n_cells(layout) > mg_plan_fewest_cells(params);
}

/* Each cell of the next coarser level may be a box. */
static void add_coarser(mg_plan_t *plan, const mg_params_t *params) {
  const mg_level_plan_t *fine = &plan->level[plan->n_levels - 1];
  mg_layout_t coarse;
  for (int d = 0; d < 3; d++)
    coarse.n[d] = coarse.boxes[d] = mg_layout_coarse_n(&fine->layout, d);
  coarse = mg_cuboids_coarse(
      &fine->layout, mg_plan_coarse_ranks(&coarse, fine->layout.n_ranks, INT64_MAX, params));
  mg_level_plan_t *level = mg_plan_add_level(plan, params, &coarse);
  for (int d = 0; d < 3; d++)
    level->h[d] = coarse.n[d] < fine->layout.n[d] ? 2.0 * fine->h[d] : fine->h[d];
  level->linear_walls = has_linear_walls(plan, params);
}

mg_status_t mg_plan_coarsen_cells(mg_plan_t *plan, const mg_params_t *params) {
  betas_t betas;
  MG_TRY(copy_betas(params, &betas));
  while (plan->n_levels < MG_MAX_LEVELS && choose_pairs(plan, params, &betas))
    add_coarser(plan, params);
  free(betas.face[0]);
  return MG_OK;
}

mg_status_t mg_plan_check_cells(const mg_params_t *params, int64_t ranks, char *message,
                                int message_size) {
  const int n[3] = {(int)params->cells[0], (int)params->cells[1], (int)params->cells[2]};
  if (!mg_traits_of(params->op)->any_grid) {
    snprintf(message, (size_t)message_size,
             "%s needs a cube of boxes; a grid of %dx%dx%d cells requires --operator=fv2 or 7pt",
             mg_operator_name(params->op), n[0], n[1], n[2]);
    return MG_ERR_USAGE;
  }
  if ((__int128)n[0] * n[1] * n[2] <= (__int128)ranks << MG_MAX_LOG2_SHARE) return MG_OK;
  snprintf(message, (size_t)message_size,
           "--cells=%dx%dx%d exceeds 2^%d cells per rank on %lld rank%s", n[0], n[1], n[2],
           MG_MAX_LOG2_SHARE, (long long)ranks, ranks == 1 ? "" : "s");
  return MG_ERR_USAGE;
}
