/* Walls with values, and cells of different widths, on the finest level. */
#include "backend/domains.h"
#include "base/alloc.h"
#include "cpu/cpu.h"
#include "formulas/wall_share.h"
#include <stdlib.h>
#include <string.h>

static void set_wall(const mg_view_t *v, const mg_patch_t *p, int d, int side, mg_side_t condition,
                     double width, mg_vector_t values) {
  const int order = mg_wall_order(v, mg_operator_order(v), d);
  int n[3] = {p->n[0], p->n[1], p->n[2]}, at[3], face[3];
  n[d] = 1;
  for (at[2] = 0; at[2] < n[2]; at[2]++)
    for (at[1] = 0; at[1] < n[1]; at[1]++)
      for (at[0] = 0; at[0] < n[0]; at[0]++) {
        int cell[3];
        for (int e = 0; e < 3; e++) {
          face[e] = e != d ? at[e] : side == 0 ? 0 : p->n[d];
          cell[e] = e != d ? at[e] : side == 0 ? 0 : p->n[d] - 1;
        }
        const mg_real_t beta = *mg_cell(p, MG_BETA_I + d, face[0], face[1], face[2]);
        if (values >= 0) condition.value = *mg_cell(p, values, cell[0], cell[1], cell[2]);
        const mg_wall_share_t share = mg_wall_share(&condition, order, width, beta);
        *mg_cell(p, MG_F, cell[0], cell[1], cell[2]) += MG_REAL(share.f);
        if (v->alpha_varies)
          *mg_cell(p, MG_ALPHA, cell[0], cell[1], cell[2]) += MG_REAL(share.alpha);
      }
}

static mg_status_t set_walls(const mg_view_t *v, int d, int side, const mg_side_t *condition,
                             double width, mg_vector_t values) {
  for (int q = 0; q < v->n_patches; q++)
    if (v->patch[q].wall[d][side] != MG_WALL_NONE)
      set_wall(v, &v->patch[q], d, side, *condition, width, values);
  return MG_OK;
}

struct mg_factors {
  double *factor[3];
  double value[];
};

static mg_status_t prepare_factors(const mg_view_t *v, const double *const factor[3],
                                   mg_factors_t **out) {
  const size_t n = (size_t)v->n[0] + (size_t)v->n[1] + (size_t)v->n[2] + 3;
  char *memory;
  *out = NULL;
  MG_TRY(mg_new(&memory, (int64_t)(sizeof(mg_factors_t) + n * sizeof(double)), "factors"));
  mg_factors_t *const f = (void *)memory;
  double *next = f->value;
  for (int d = 0; d < 3; d++) {
    const size_t length = (size_t)v->n[d] + 1;
    f->factor[d] = memcpy(next, factor[d], length * sizeof *next);
    next += length;
  }
  *out = f;
  return MG_OK;
}

static void release_factors(mg_factors_t *factors) {
  free(factors);
}

static mg_status_t multiply_axes(const mg_view_t *v, mg_vector_t vec, const mg_factors_t *f) {
  double *const *factor = f->factor;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    const double *x = factor[0] + p->lo[0], *y = factor[1] + p->lo[1], *z = factor[2] + p->lo[2];
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
    for (int k = 0; k <= p->n[2]; k++)
      for (int j = 0; j <= p->n[1]; j++)
        for (int i = 0; i <= p->n[0]; i++)
          *mg_cell(p, vec, i, j, k) *= MG_REAL(x[i] * y[j] * z[k]);
  }
  return MG_OK;
}

/* Add the faces normal to d of a row to the sums of its cells.
 * @return the sum of the row */
static int64_t sum_row(const mg_patch_t *p, int d, int j, int k, double scale, int64_t *of_cell,
                       double least[4]) {
  const mg_real_t *beta = mg_cell(p, MG_BETA_I + d, 0, j, k);
  int64_t sum = 0;
  for (int i = d == 0 && p->wall[0][0] ? 1 : 0; i < p->n[0]; i++) {
    const int64_t term = (int64_t)(scale * (double)beta[i]);
    of_cell[i] += term;
    sum += term;
    double *const lowest = &least[beta[i] == MG_REAL(0.0) ? 3 : d];
    *lowest = fmin(*lowest, (double)beta[i]);
  }
  return sum;
}

/* Sum the planes across j and k; of_cell gets those across i, for each thread. */
static void sum_patch(const mg_view_t *v, const mg_patch_t *p, double scale, int64_t *of_cell,
                      int64_t *sum, double least[4]) {
  int64_t *const of_j = sum + 3 * (v->n[0] + p->lo[1]);
  int64_t *const of_k = sum + 3 * (v->n[0] + v->n[1] + p->lo[2]);
#pragma omp parallel num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
  {
    int64_t *const mine = of_cell + (int64_t)mg_cpu_thread() * 3 * p->n[0];
    double lowest[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
#pragma omp for
    for (int k = 0; k < p->n[2]; k++)
      for (int d = 0; d < 3; d++)
        for (int j = d == 1 && p->wall[1][0] ? 1 : 0; j < p->n[1]; j++) {
          if (d == 2 && k == 0 && p->wall[2][0]) continue;
          const int64_t row = sum_row(p, d, j, k, scale, mine + d * p->n[0], lowest);
          of_k[3 * k + d] += row;
#pragma omp atomic
          of_j[3 * j + d] += row;
        }
#pragma omp critical
    for (int d = 0; d < 4; d++)
      least[d] = fmin(least[d], lowest[d]);
  }
}

static mg_status_t sum_planes(const mg_view_t *v, double scale, int64_t *sum, double least[4]) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    const int threads = mg_cpu_threads(v);
    int64_t *of_cell; /* of each thread, direction, and cell of a row */
    MG_TRY(mg_new(&of_cell, (int64_t)threads * 3 * p->n[0], "sums of planes"));
    sum_patch(v, p, scale, of_cell, sum, least);
    for (int t = 0; t < threads; t++)
      for (int d = 0; d < 3; d++)
        for (int i = 0; i < p->n[0]; i++)
          sum[3 * (p->lo[0] + i) + d] += of_cell[(t * 3 + d) * p->n[0] + i];
    free(of_cell);
  }
  return MG_OK;
}

const mg_backend_domains_t mg_cpu_domains = {.set_wall = set_walls,
                                             .prepare_factors = prepare_factors,
                                             .release_factors = release_factors,
                                             .multiply_axes = multiply_axes,
                                             .sum_planes = sum_planes};
