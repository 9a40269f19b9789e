/* Where K-cycles take steps of CG. Each such level doubles the visits of the next ones. All visits
 * of a level together cost at most a visit to the finest one, and there are few. The rule is part
 * of the method, the same on any machine (docs/algorithm.md, "Conjugate gradients"). */
#include "formulas/vectors.h"
#include "plan/plan.h"

int mg_plan_inner_cg(mg_level_plan_t *level, int n, const mg_params_t *params) {
  enum { MOST_VISITS = 4, CELLS_OF_A_VISIT = 1 << 14 /* its latency, in cells */ };
  const double finest = (double)mg_layout_n_cells(&level[0].layout);
  int visits = 1, end = 0;
  for (int l = 0; l < n; l++) {
    const double cells = CELLS_OF_A_VISIT + (double)mg_layout_n_cells(&level[l].layout);
    level[l].inner_cg = params->krylov == MG_KRYLOV_KCYCLE && l > 0 && l + 1 < n &&
                        2 * visits <= MOST_VISITS && 2 * visits * cells <= finest;
    if (!level[l].inner_cg) continue;
    visits *= 2;
    end = l + 1;
    level[l].vectors |= MG_VECTORS_OF_OUTER_KRYLOV;
  }
  return end;
}
