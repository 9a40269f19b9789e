/* op_vectors: vector operations are bit-exact in each cell. Reductions are exact for integers,
 * never hide a non-finite cell, and ignore ghosts. Tested with several numbers of threads. */
#include "formulas/index.h"
#include "level/ops.h"
#include "tests/lib/fixture.h"
#include "wings.h"
#include <float.h>

typedef struct {
  double *x, *y, *want;
  int64_t cells;
} fields_t;

static fields_t fields_random(const mg_level_t *level, uint64_t seed) {
  const int64_t cells = mg_volume(level->store.view.n);
  return (fields_t){field_random(cells, seed), field_random(cells, seed + 1), field_new(cells),
                    cells};
}

/* Store the fields in the cells and NaN in all ghosts. */
static void put_fields(mg_level_t *level, const fields_t *f) {
  MUST(mg_fill(level, MG_U, NAN));
  MUST(mg_fill(level, MG_F, NAN));
  field_put(level, MG_U, f->x);
  field_put(level, MG_F, f->y);
}

static void check_result(mg_level_t *level, int vec, fields_t *f) {
  const double *got = field_get(level, vec);
  CHECK_SAME(got, f->want, f->cells);
}

static void test_elementwise(mg_level_t *level) {
  fields_t f = fields_random(level, 1);
  put_fields(level, &f);

  MUST(mg_axpby(level, MG_TMP, 1.7, MG_U, -0.3, MG_F));
  for (int64_t c = 0; c < f.cells; c++)
    f.want[c] = fma(1.7, f.x[c], -0.3 * f.y[c]);
  check_result(level, MG_TMP, &f);
  MUST(mg_axpby(level, MG_TMP, 1.7, MG_U, NAN, -1));
  for (int64_t c = 0; c < f.cells; c++)
    f.want[c] = 1.7 * f.x[c];
  check_result(level, MG_TMP, &f);
  MUST(mg_multiply(level, MG_TMP, MG_U, MG_F));
  for (int64_t c = 0; c < f.cells; c++)
    f.want[c] = f.x[c] * f.y[c];
  check_result(level, MG_TMP, &f);
  MUST(mg_shift(level, MG_F, MG_U, 0.3));
  for (int64_t c = 0; c < f.cells; c++)
    f.want[c] = f.x[c] + 0.3;
  check_result(level, MG_F, &f);
  MUST(mg_axpby(level, MG_U, 2.0, MG_U, 0.5, MG_U)); /* in place */
  for (int64_t c = 0; c < f.cells; c++)
    f.want[c] = 2.5 * f.x[c]; /* exact: fma rounds 2x + x/2 once */
  check_result(level, MG_U, &f);
}

/* mg_fill fills ghosts too: a patch with its ghost layers has one value. */
static void test_fill(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  MUST(mg_fill(level, MG_TMP, 0.7));
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    double *x = patch_get(level, q, MG_TMP, v->radius), worst = 0.0;
    const int g = 2 * v->radius, cells = (p->n[0] + g) * (p->n[1] + g) * (p->n[2] + g);
    for (int c = 0; c < cells; c++)
      worst = worst_of(worst, fabs(x[c] - 0.7));
    CHECK_CASE(worst == 0.0, worst, 0.0);
  }
}

/* Products of integers below 2^10 sum exactly in any order. */
static void test_sums(mg_level_t *level) {
  fields_t f = fields_random(level, 3);
  double dot = 0.0, sum = 0.0, got, mean;
  f.x = field_integers(f.cells, 3, 1000);
  f.y = field_integers(f.cells, 4, 1000);
  put_fields(level, &f);
  for (int64_t c = 0; c < f.cells; c++) {
    dot += f.x[c] * f.y[c];
    sum += f.x[c];
  }
  MUST(mg_dot(level, MG_U, MG_F, &got));
  if (level->comm) CHECK_CASE(got == dot, got, dot);
  MUST(mg_dot(level, MG_U, -1, &got));
  if (level->comm) CHECK_CASE(got == sum, got, sum);
  MUST(mg_mean(level, MG_U, &mean));
  if (level->comm) CHECK_CASE(mean == sum / (double)f.cells, mean, sum / (double)f.cells);
}

/* Random numbers: at most 8^3 terms are added with rounding. Each addition errs by at most half
 * a unit in the last place of a partial sum, which is at most the sum of absolute values. */
static void test_sum_error(mg_level_t *level) {
  fields_t f = fields_random(level, 10);
  double got, absolute = 0.0;
  put_fields(level, &f);
  for (int64_t c = 0; c < f.cells; c++)
    absolute += fabs(f.x[c] * f.y[c]);
  const double want = field_dot(f.x, f.y, f.cells), bound = 0.5 * 512.0 * DBL_EPSILON * absolute;
  MUST(mg_dot(level, MG_U, MG_F, &got));
  if (level->comm) CHECK_CASE(fabs(got - want) <= bound, got, want);
}

/* Without bricks, terms are added exactly, whatever their magnitudes: 1, 2^80, 2^1000 and 2^2000
 * apart. Chunks with terms of 2^1000 or more are not split. */
static void test_sum_of_cells(mg_level_t *level) {
  static const int exponents[][2] = {{0, 0}, {-40, 40}, {-500, 500}, {-990, 1010}};
  fields_t f = fields_random(level, 12);
  random_t r = {7};
  for (int range = 0; range < 4; range++) {
    const int low = exponents[range][0], high = exponents[range][1];
    mg_sum_t products = {{0}}, values = {{0}};
    double dot, sum;
    for (int64_t c = 0; c < f.cells; c++) {
      f.want[c] = ldexp(f.x[c], (int)random_int(&r, low, high));
      mg_sum_add(&products, f.want[c] * f.y[c]);
      mg_sum_add(&values, f.want[c]);
    }
    field_put(level, MG_U, f.want);
    field_put(level, MG_F, f.y);
    MUST(mg_dot(level, MG_U, MG_F, &dot));
    MUST(mg_dot(level, MG_U, MG_NO_VECTOR, &sum));
    if (!level->comm) continue;
    CHECK_CASE(dot == mg_sum_value(&products), dot, mg_sum_value(&products));
    CHECK_CASE(sum == mg_sum_value(&values), sum, mg_sum_value(&values));
  }
}

/* One large cell anywhere determines the norm; one non-finite cell makes norms and sums NaN. */
static void test_extremes(mg_level_t *level) {
  fields_t f = fields_random(level, 6);
  random_t r = {5};
  double norm, dot;
  for (int trial = 0; trial < 6; trial++) {
    static const double extremes[] = {-3.0, 3.0, NAN, -INFINITY, INFINITY, NAN};
    const int64_t c = trial == 0 ? 0 : trial == 1 ? f.cells - 1 : random_int(&r, 0, f.cells - 1);
    const double kept = f.x[c];
    f.x[c] = extremes[trial];
    put_fields(level, &f);
    f.x[c] = kept;
    MUST(mg_max_norm(level, MG_U, -1, &norm));
    MUST(mg_dot(level, MG_U, MG_F, &dot));
    if (!level->comm) continue;
    if (trial < 2)
      CHECK_CASE(norm == 3.0, norm, 3.0);
    else
      CHECK_CASE(isnan(norm) && isnan(dot), norm, NAN);
  }
  put_fields(level, &f);
  const double distance = field_distance(f.x, f.y, f.cells), largest = field_norm(f.x, f.cells);
  MUST(mg_max_norm(level, MG_U, MG_F, &norm));
  if (level->comm) CHECK_CASE(norm == distance, norm, distance);
  MUST(mg_max_norm(level, MG_U, -1, &norm));
  if (level->comm) CHECK_CASE(norm == largest, norm, largest);
}

/* The residual norm too: a NaN in x or f must not look like a small residual. */
static void test_residual_norm(mg_level_t *level) {
  fields_t f = fields_random(level, 8);
  double norm;
  put_fields(level, &f);
  MUST(mg_residual(level, MG_TMP, MG_U, MG_F));
  const double want = field_norm(field_get(level, MG_TMP), f.cells);
  MUST(mg_residual_norm(level, MG_U, MG_F, &norm));
  if (level->comm) CHECK_CASE(norm == want, norm, want);
  for (int trial = 0; trial < 2; trial++) {
    double *cell = trial == 0 ? &f.x[f.cells / 3] : &f.y[f.cells - 1], kept = *cell;
    *cell = NAN;
    put_fields(level, &f);
    *cell = kept;
    MUST(mg_residual_norm(level, MG_U, MG_F, &norm));
    if (level->comm) CHECK_CASE(isnan(norm), norm, NAN);
  }
}

/* The second ghost layer of narrow fv4 boxes is read but not filled; mg_residual requires that
 * it holds no NaN. */
static void test_levels(mg_hierarchy_t *h) {
  static const int threads[] = {1, 2, 3, 7};
  for (int t = 0; t < 4; t++) {
    /* The guard's cells are the CPU's, and opening its memory stops all threads. */
    if (t > 0 && (h->params.device == MG_DEVICE_GUARD || !fixture_threads(threads[t]))) continue;
    for (int l = 0; l < h->n_levels; l++) {
      test_elementwise(&h->level[l]);
      test_fill(&h->level[l]);
      test_sums(&h->level[l]);
      test_sum_error(&h->level[l]);
      if (mg_brick_width(&h->level[l].store.view) == 1) test_sum_of_cells(&h->level[l]);
      test_extremes(&h->level[l]);
      if (h->level[l].store.view.box_dim >= 4) test_residual_norm(&h->level[l]);
      fixture_release();
    }
  }
  MUST(fixture_threads(1) ? MG_OK : MG_ERR_INTERNAL);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("5x1 4x2 4x3", "--operator=fv2,fv4 --equation=poisson", test_levels);
  fixture_each("3x1", "--equation=poisson boxes=3x2x5", test_levels);
  MG_IF_DOMAINS(
      fixture_each("4x1", "--equation=poisson --boundary=dirichlet --operator=fv2 --cells=70x9x21",
                   test_levels));
  return FIXTURE_END();
}
