/* Reports of grids of any size. */
#include "io/report/report_wings.h"
#include <math.h>

double mg_report_domain_width(const mg_params_t *params, const int32_t n[3]) {
  const double rounding = 1e-12, width = params->length[0] / n[0];
  for (int d = 0; d < 3; d++)
    if (params->face[d] || fabs(params->length[d] / n[d] - width) > rounding * width) return NAN;
  return width;
}

/* Cycles do not know where beta jumps. From the ratio `slow` on they take many
 * (docs/own-problem.md). */
void mg_report_print_range(FILE *out, const mg_params_t *params, const double beta[2]) {
  const double slow = 1e5;
  if (beta[1] > beta[0])
    fprintf(out, "            (beta from %.3g to %.3g%s)\n", beta[0], beta[1],
            params->follows_betas      ? "; levels are coarsened in its strong directions first"
            : beta[1] < slow * beta[0] ? ""
                                       : "; this may take 100 cycles and more");
  else if (beta[1] > 0.0 && params->constant_beta)
    fprintf(out, "            (beta is constant)\n");
}

void mg_report_print_domain(FILE *out, const mg_params_t *p) {
  if (!mg_params_has_cells(p)) return;
  fprintf(out, "  domain    %g x %g x %g\n", p->length[0], p->length[1], p->length[2]);
  for (int d = 0; d < 3; d++) {
    const double *face = p->face[d];
    double low = INFINITY, high = 0.0;
    for (int32_t i = 0; face && i < p->cells[d]; i++) {
      low = fmin(low, face[i + 1] - face[i]);
      high = fmax(high, face[i + 1] - face[i]);
    }
    if (face)
      fprintf(out, "            (cells from %.3g to %.3g wide in %c)\n", low, high, "xyz"[d]);
  }
}
