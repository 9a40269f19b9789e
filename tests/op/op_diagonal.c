/* op_diagonal: Dinv is 1 / diagonal of A, and lambda_max is the largest Gershgorin bound of its
 * rows. Both are compared with A itself, probed column by column with unit vectors on levels of at
 * most 8^3 cells. lambda_max therefore bounds the spectrum of Dinv A from above. The values of the
 * original benchmark at 128^3 are reproduced on every level. l1jacobi adds half the absolute
 * off-diagonal row sum where the diagonal is below 3/2 of that sum; lambda_max stays that of the
 * plain diagonal.
 *
 * For fv4 and 27pt the original probes A with 4 and 2 colors per direction and takes the absolute
 * value of the combined result of each color. lambda_max is defined this way, so it may be less
 * than the row's sum of absolute values. */
#include "level/ops.h"
#include "tests/lib/fixture.h"
#include "wings.h"
#include <float.h>

enum { COLORS = 4, MOST_PROBED = 8 };

/* Column c of A is stored at matrix[c * n^3]. */
static double *probe(mg_level_t *level) {
  const int n = level->store.view.n[0], cells = n * n * n;
  double *unit = field_new(cells), *matrix = field_new(cells * cells);
  for (int c = 0; c < cells; c++) {
    unit[c] = 1.0;
    field_put(level, MG_U, unit);
    MUST(mg_residual(level, MG_TMP, MG_U, -1));
    memcpy(matrix + (size_t)c * (size_t)cells, field_get(level, MG_TMP),
           (size_t)cells * sizeof *matrix);
    unit[c] = 0.0;
  }
  return matrix;
}

static int color_of(const mg_view_t *v, int cell) {
  const int n = v->n[0], most = v->op == MG_OPERATOR_FV4 ? COLORS : 2, colors = n < most ? n : most;
  return cell % n % colors + COLORS * (cell / n % n % colors + COLORS * (cell / n / n % colors));
}

/* Sum of absolute values of a row without its diagonal; grouped by color for fv4 and 27pt. */
static double off_diagonal(const mg_view_t *v, const double *matrix, int row) {
  const int n = v->n[0], cells = n * n * n;
  double sum[COLORS * COLORS * COLORS] = {0.0}, off = 0.0;
  for (int c = 0; c < cells; c++) {
    const double entry = c == row ? 0.0 : matrix[(size_t)c * (size_t)cells + (size_t)row];
    if (v->op == MG_OPERATOR_FV4 || v->op == MG_OPERATOR_27PT)
      sum[color_of(v, c)] += entry;
    else
      off += fabs(entry);
  }
  for (int c = 0; c < COLORS * COLORS * COLORS; c++)
    off += fabs(sum[c]);
  return off;
}

/* The largest absolute eigenvalue of Dinv A by the power method. The norm is the one in which
 * Dinv A is symmetric if A is; the iteration then approaches the value from below. */
static double spectral_radius(const double *matrix, const double *dinv, int n) {
  const int cells = n * n * n;
  double *x = field_random(cells, 1), *y = field_new(cells), growth = 0.0;
  for (int step = 0; step < 100; step++) {
    memset(y, 0, (size_t)cells * sizeof *y);
    for (int c = 0; c < cells; c++)
      for (int r = 0; r < cells; r++)
        y[r] += matrix[(size_t)c * (size_t)cells + (size_t)r] * x[c];
    for (int r = 0; r < cells; r++)
      y[r] *= dinv[r];
    double norm = 0.0;
    for (int r = 0; r < cells; r++)
      norm += y[r] * y[r] / dinv[r];
    norm = sqrt(norm);
    growth = norm; /* x has norm 1 from the second step on */
    for (int r = 0; r < cells; r++)
      x[r] = y[r] / norm;
  }
  return growth;
}

/* An entry results from at most 64 operations on terms whose absolute sum is below 84 times the
 * largest (fv4's second ghost). A row has at most 100 entries. */
static void test_level(mg_level_t *level, bool l1) {
  const mg_view_t *v = &level->store.view;
  const int n = v->n[0], cells = n * n * n;
  const double bound = 84.0 * 64.0 * DBL_EPSILON;
  if (n > MOST_PROBED) return;
  const double *dinv = field_get(level, MG_DINV), *matrix = probe(level);
  double worst = 0.0, largest = 0.0;
  for (int r = 0; r < cells; r++) {
    const double diagonal = matrix[(size_t)r * (size_t)cells + (size_t)r];
    const double off = off_diagonal(v, matrix, r);
    const double l1_term = l1 && diagonal < 1.5 * off ? 0.5 * off : 0.0;
    worst = worst_of(worst, fabs(dinv[r] * (diagonal + l1_term) - 1.0));
    largest = worst_of(largest, (diagonal + off) / diagonal);
  }
  CHECK_CASE(worst <= bound, worst, bound);
  if (level->comm)
    CHECK_CASE(fabs(level->lambda_max - largest) <= bound * largest, level->lambda_max, largest);
  if (level->comm && n > 1) {
    const double radius = spectral_radius(matrix, dinv, n);
    CHECK_CASE(radius <= level->lambda_max * (1.0 + bound), radius, level->lambda_max);
  }
}

static void test_levels(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++)
    test_level(&h->level[l], h->params.smoother == MG_SMOOTHER_L1JACOBI);
}

/* Finest level first, as printed by the original. Its values and ours differ only by rounding. */
static const double original[][8] = {
    [MG_OPERATOR_FV2] = {2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 4.0 / 3.0, 1.0},
    [MG_OPERATOR_FV4] = {2.223332976448990, 2.223387382550026, 2.223793919672764, 2.226274209954397,
                         2.230456244630961, 2.232895109306462, 1.375886524822695},
    [MG_OPERATOR_7PT] = {2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.286089, 1.0}};

static void test_original(mg_hierarchy_t *h) {
  const mg_operator_t op = h->params.op;
  const double bound =
      op == MG_OPERATOR_7PT ? 5e-7 : 64.0 * DBL_EPSILON; /* 1.286089 has 6 decimals */
  CHECK_INT(h->n_levels, op == MG_OPERATOR_FV4 ? 7 : 8);
  for (int l = 0; l < h->n_levels && l < 8; l++) {
    const double got = h->level[l].lambda_max, want = original[op][l];
    if (h->level[l].comm) CHECK_CASE(fabs(got - want) <= bound * want, got, want);
  }
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("4x1 4x3", "--operator=fv2,fv4,7pt,27pt", test_levels);
  fixture_each("4x1", "--operator=fv2,fv4,7pt,27pt --equation=poisson --smoother=l1jacobi",
               test_levels);
  fixture_each("4x1 4x3", "--operator=fv2,7pt --boundary=dirichlet walls=nnnnnn", test_levels);
  MG_IF_DOMAINS(fixture_each(
      "4x1", "--operator=fv2,7pt --boundary=dirichlet walls=dnnndd,ppdnpp,dnppdd", test_levels));
  fixture_each("6x2", "--boundary=dirichlet --equation=poisson", test_original);
  return FIXTURE_END();
}
