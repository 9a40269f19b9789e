/* 1 / diagonal of A and the largest Gershgorin bound of Dinv A. */
#include "cpu/cpu.h"
#include "formulas/gershgorin.h"

mg_status_t mg_cpu_set_diagonal(const mg_view_t *v, bool l1, double *lambda_max) {
  const mg_wall_orders_t order = mg_operator_orders(v);
  const int points = mg_traits_of(v->op)->points;
  mg_real_t largest = 0.0;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)                 \
    reduction(max                                                                                  \
              : largest)
    for (int k = 0; k < p->n[2]; k++)
      for (int j = 0; j < p->n[1]; j++)
        for (int i = 0; i < p->n[0]; i++) {
          const int at[3] = {i, j, k};
          const mg_row_sums_t s = mg_row_sums(points, v, p, order, at);
          const mg_real_t bound = (s.diagonal + s.off) / s.diagonal;
          largest = bound > largest ? bound : largest;
          if (p->vec[MG_DINV])
            *mg_cell(p, MG_DINV, i, j, k) = MG_REAL(1.0) / (l1 ? mg_l1_diagonal(s) : s.diagonal);
        }
  }
  *lambda_max = largest;
  return MG_OK;
}
