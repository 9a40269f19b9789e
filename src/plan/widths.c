/* Widths of cells, and the pairs of cells that become one on the next coarser level. */
#include "plan/plan.h"
#include <math.h>

enum { FEWEST_CELLS = 8 /* of a level that has a coarser one */ };

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

double mg_plan_position(const mg_level_plan_t *level, const mg_params_t *params, int l, int d,
                        int32_t face) {
  const int32_t at = finest_face(level, l, d, face);
  const bool has_origin = params->face[d] && params->stretch[d] == 0.0; /* positions of a file */
  const double from_low = params->face[d] ? params->face[d][at] : at * level->h[d];
  return has_origin ? from_low : params->origin[d] + from_low;
}

/* Mean width of cells 2m and 2m + 1 of level l. On an axis of equal cells all pairs count as whole
 * ones. */
static double pair_width(const mg_plan_t *plan, const mg_params_t *params, int l, int d,
                         int32_t pair) {
  if (!params->face[d]) return plan->level[l].h[d];
  return 0.5 * (mg_plan_width(plan->level, params, l, d, 2 * pair) +
                mg_plan_width(plan->level, params, l, d, 2 * pair + 1));
}

/* The least width of pairs first <= m < end; 0 if there are none. */
static double narrowest_pair(const mg_plan_t *plan, const mg_params_t *params, int l, int d,
                             int32_t first, int32_t end) {
  double narrowest = 0.0;
  if (!params->face[d] && end > first) return plan->level[l].h[d];
  for (int32_t m = first; m < end; m++) {
    const double width = pair_width(plan, params, l, d, m);
    narrowest = m == first || width < narrowest ? width : narrowest;
  }
  return narrowest;
}

/* Consecutive pairs. */
typedef struct {
  int32_t first, end;
} run_t;

/* Cells of level l outside pairs narrower than `limit`. Such pairs form runs. Runs at the ends of
 * the axis count, and one between them: that with the narrowest pair.
 */
static mg_singles_t wide_cells(const mg_plan_t *plan, const mg_params_t *params, int l, int d,
                               double limit) {
  const int32_t n = plan->level[l].layout.n[d], pairs = n / 2;
  run_t low = {0, 0}, middle = {pairs, pairs}, high = {pairs, pairs};
  double narrowest = limit;
  if (!params->face[d] && n > 1 && plan->level[l].h[d] < limit) return (mg_singles_t){{0}, {0}};
  for (int32_t m = 0; params->face[d] && m < pairs; m++) {
    run_t run = {m, m};
    while (run.end < pairs && pair_width(plan, params, l, d, run.end) < limit)
      run.end++;
    if (run.end == m) continue;
    const double width = narrowest_pair(plan, params, l, d, run.first, run.end);
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
  if (low.end == pairs && pairs > 0) return (mg_singles_t){{0}, {0}};
  const int32_t top = high.first < pairs ? 2 * high.first : n;
  if (middle.first == pairs) return (mg_singles_t){{2 * low.end, top}, {top, top}};
  return (mg_singles_t){{2 * low.end, 2 * middle.end}, {2 * middle.first, top}};
}

bool mg_plan_choose_pairs(mg_plan_t *plan, const mg_params_t *params) {
  const int l = plan->n_levels - 1;
  mg_layout_t *layout = &plan->level[l].layout;
  /* Very uneven grids would need more levels than there may be. */
  const double ratio = l < MG_MAX_LEVELS / 3 ? sqrt(2.0) : 2.0;
  double narrowest = 0.0;
  bool fits = true;
  for (int d = 0; d < 3; d++) {
    const double width = narrowest_pair(plan, params, l, d, 0, layout->n[d] / 2);
    if (width > 0.0 && (narrowest == 0.0 || width < narrowest)) narrowest = width;
  }
  for (int d = 0; d < 3; d++) {
    layout->single[d] = wide_cells(plan, params, l, d, ratio * narrowest);
    const int32_t n = mg_layout_coarse_n(layout, d);
    fits = fits && (n == layout->n[d] || n >= params->coarsest);
  }
  return narrowest > 0.0 && fits && mg_layout_n_cells(layout) > FEWEST_CELLS;
}
