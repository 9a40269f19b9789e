/* op_transfer: restriction is the exact mean of the children and conserves the sum.
 * Interpolation reproduces polynomials of its degree, up to the walls if they vanish there. It
 * conserves the mean (p0, v2, v4), and adds to the fine vector if requested. */
#include "level/ops.h"
#include "level/transfer.h"
#include "tests/lib/fixture.h"
#include <float.h>

static int64_t cells_of(const mg_level_t *level) {
  return mg_volume(level->store.view.n);
}

/* 20-bit integers: their sums and eighths are exact in any order. */
static void test_cells(mg_hierarchy_t *h, int l) {
  mg_level_t *fine = &h->level[l], *coarse = &h->level[l + 1];
  const double *x = field_integers(cells_of(fine), 1, 1 << 20);
  double worst = 0.0, sum_f = 0.0, sum_c = 0.0;
  field_put(fine, MG_TMP, x);
  MUST(mg_fill(coarse, MG_F, NAN));
  MUST(mg_restrict(h, l, MG_TMP, MG_F));
  const double *y = field_get(coarse, MG_F);
  EACH_CELL(at, coarse->store.view.n) {
    worst = worst_of(worst, fabs(*y - field_mean8(x, fine->store.view.n, at)));
    sum_c += 8.0 * *y++;
  }
  CHECK_CASE(worst == 0.0, worst, 0.0);
  for (int64_t c = 0; c < cells_of(fine); c++)
    sum_f += x[c];
  CHECK_CASE(sum_c == sum_f, sum_c, sum_f);
}

/* An integer for every fine face, by its global position; periodic images coincide. */
static double face_value(const mg_view_t *v, int d, const int32_t at[3]) {
  int64_t value = 11 * (d + 1);
  for (int e = 0; e < 3; e++) {
    const int32_t place = v->periodic ? (at[e] + v->n[e]) % v->n[e] : at[e];
    value = (value * 7919 + place) % 1048573;
  }
  return (double)value;
}

/* True for faces of a patch inside the domain with `rim` halo layers. The closing face of a
 * patch, at index n, belongs to the halo unless it lies in a wall. */
static bool has_face(const mg_view_t *v, const mg_patch_t *p, int d, const int32_t at[3], int rim) {
  for (int e = 0; e < 3; e++) {
    const int32_t global = p->lo[e] + at[e], far = v->n[e] - 1 + (e == d);
    if (!v->periodic && (global < 0 || global > far)) return false;
    if (!v->periodic && global == far && e == d) continue;
    if (at[e] < -rim || at[e] > p->n[e] - 1 + rim) return false;
  }
  return true;
}

static double mean4(const mg_view_t *fine, int d, const int32_t coarse[3]) {
  double sum = 0.0;
  for (int c = 0; c < 4; c++) {
    int32_t at[3] = {2 * coarse[0], 2 * coarse[1], 2 * coarse[2]};
    at[d == 0 ? 1 : 0] += c & 1;
    at[d == 2 ? 1 : 2] += c >> 1;
    sum += face_value(fine, d, at);
  }
  return 0.25 * sum;
}

/* Store the values of fine faces, or compare coarse faces with the means of fine ones. */
static void walk_faces(const mg_level_t *level, const mg_view_t *fine, int d, bool put, int rim,
                       double *worst) {
  const mg_view_t *v = &level->store.view;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    double *x = patch_get(level, q, MG_BETA_I + d, 1), *beta = x;
    EACH_CELL_AND_GHOST(at, p->n, 1) {
      const int32_t cell[3] = {p->lo[0] + at[0], p->lo[1] + at[1], p->lo[2] + at[2]};
      if (put)
        *beta = has_face(v, p, d, at, 0) ? face_value(v, d, cell) : NAN;
      else if (has_face(v, p, d, at, rim))
        *worst = worst_of(*worst, fabs(*beta - mean4(fine, d, cell)));
      beta++;
    }
    if (put) patch_put(level, q, MG_BETA_I + d, 1, x);
  }
}

static void test_faces(mg_hierarchy_t *h, int l) {
  mg_level_t *fine = &h->level[l], *coarse = &h->level[l + 1];
  double worst = 0.0;
  for (int d = 0; d < 3; d++) {
    walk_faces(fine, NULL, d, true, 0, NULL);
    MUST(mg_fill(coarse, MG_BETA_I + d, NAN));
  }
  MUST(mg_halo_betas(h, l));
  MUST(mg_restrict_betas(h, l));
  for (int d = 0; d < 3; d++)
    walk_faces(coarse, &fine->store.view, d, false, 0, &worst);
  CHECK_CASE(worst == 0.0, worst, 0.0);
  MUST(mg_halo_betas(h, l + 1));
  for (int d = 0; d < 3; d++)
    walk_faces(coarse, &fine->store.view, d, false, 1, &worst);
  CHECK_CASE(worst == 0.0, worst, 0.0);
}

/* Functions that each formula reproduces exactly, as averages of cell i of n, or as point values
 * for p1 and p2. Between walls this is a polynomial of the formula's degree that vanishes on both
 * walls. For p1 it vanishes on the lower wall only, and the children next to the upper wall are
 * excluded. */
typedef struct {
  mg_interpolation_t kind;
  int wall_order;
  bool averages;
} formula_t;
static const formula_t formulas[] = {{MG_INTERPOLATE_P0, 0, true},
                                     {MG_INTERPOLATE_P1, 1, false},
                                     {MG_INTERPOLATE_P2, 2, false},
                                     {MG_INTERPOLATE_V2, 2, true},
                                     {MG_INTERPOLATE_V4, 4, true}};

/* Antiderivatives of 1, x(1-x) and x(1-x)(1+2x+5x^2) = x + x^2 + 3x^3 - 5x^4. */
static double integral(int order, double x) {
  if (order == 0) return x;
  if (order == 2) return x * x * (0.5 - x / 3.0);
  return x * x * (0.5 + x * (1.0 / 3.0 + x * (0.75 - x)));
}

static double value_of(const formula_t *f, int n, int i) {
  const double x = (i + 0.5) / n;
  if (!f->averages) return f->wall_order == 1 ? x : x * (1.0 - x);
  return n * (integral(f->wall_order, (i + 1.0) / n) - integral(f->wall_order, (double)i / n));
}

/* Narrow boxes use lower-order formulas at walls, so the coarse level must be wide enough. */
static bool is_exact(const formula_t *f, const mg_view_t *coarse) {
  return coarse->box_dim >= f->wall_order && !(coarse->periodic && f->wall_order > 0);
}

static double *field_polynomial(const mg_level_t *level, const formula_t *f) {
  const int32_t *n = level->store.view.n;
  double *x = field_new(cells_of(level)), *table[3];
  for (int d = 0; d < 3; d++) {
    table[d] = field_new(n[d]);
    for (int i = 0; i < n[d]; i++)
      table[d][i] = value_of(f, n[d], i);
  }
  field_product(x, n, table[0], table[1], table[2]);
  return x;
}

/* The weights of each direction sum to at most 1 + 44/128 + 6/128 * 84 < 6 (84: the second ghost
 * of the quartic wall). Each table value has an error of n eps from the difference of integrals. */
static void test_polynomials(mg_hierarchy_t *h, int l, const formula_t *f) {
  mg_level_t *fine = &h->level[l], *coarse = &h->level[l + 1];
  const int32_t *n = fine->store.view.n, most = n[2] > n[0] ? n[2] : n[0];
  if (!is_exact(f, &coarse->store.view)) return;
  const double bound = 6.0 * 6.0 * 6.0 * (32.0 + 8.0 * most) * DBL_EPSILON;
  const double *want = field_polynomial(fine, f);
  double worst = 0.0;
  MUST(mg_fill(coarse, MG_U, NAN));
  field_put(coarse, MG_U, field_polynomial(coarse, f));
  MUST(mg_fill(fine, MG_U, NAN));
  MUST(mg_interpolate(h, l, f->kind, MG_U, false, false));
  const double *x = field_get(fine, MG_U);
  const int out = f->wall_order == 1;
  EACH_CELL(at, ((const int32_t[3]){n[0] - out, n[1] - out, n[2] - out})) {
    const int c = at[0] + n[0] * (at[1] + n[1] * at[2]);
    worst = worst_of(worst, fabs(x[c] - want[c]));
  }
  CHECK_CASE(worst <= bound, worst, bound);
}

/* The mean of a cell's children is the cell's value; for p0 each child has that value. */
static void test_mean(mg_hierarchy_t *h, int l, const formula_t *f) {
  mg_level_t *fine = &h->level[l], *coarse = &h->level[l + 1];
  const int32_t *n = fine->store.view.n;
  const double *y = field_random(cells_of(coarse), 2);
  double worst = 0.0, injected = 0.0;
  MUST(mg_fill(coarse, MG_U, 0.0)); /* narrow boxes fill one layer outside walls: zero the second */
  field_put(coarse, MG_U, y);
  MUST(mg_interpolate(h, l, f->kind, MG_U, false, false));
  const double *x = field_get(fine, MG_U);
  EACH_CELL(at, coarse->store.view.n) {
    worst = worst_of(worst, fabs(field_mean8(x, n, at) - *y));
    injected = worst_of(injected, fabs(field_child(x, n, at, 0) - *y++));
  }
  const double bound = 6.0 * 6.0 * 6.0 * 32.0 * DBL_EPSILON;
  CHECK_CASE(worst <= bound, worst, bound);
  CHECK_CASE(injected == 0.0 || f->kind != MG_INTERPOLATE_P0, injected, 0.0);
}

/* Shift x around a periodic grid: by `by` cells in i, twice that in j, three times that in k. */
static double *roll(const mg_level_t *level, const double *x, int by) {
  const int32_t *n = level->store.view.n;
  double *y = field_new(cells_of(level));
  EACH_CELL(at, n) {
    const int i = (at[0] + by) % n[0], j = (at[1] + 2 * by) % n[1], k = (at[2] + 3 * by) % n[2];
    y[i + n[0] * (j + n[1] * k)] = *x++;
  }
  return y;
}

/* Translation invariance on a periodic grid: interpolating a shifted field shifts the result. */
static void test_shift(mg_hierarchy_t *h, int l, const formula_t *f) {
  mg_level_t *fine = &h->level[l], *coarse = &h->level[l + 1];
  if (!fine->store.view.periodic) return;
  const double *y = field_random(cells_of(coarse), 5);
  field_put(coarse, MG_U, y);
  MUST(mg_interpolate(h, l, f->kind, MG_U, false, false));
  const double *x = field_get(fine, MG_U);
  field_put(coarse, MG_U, roll(coarse, y, 1));
  MUST(mg_interpolate(h, l, f->kind, MG_U, false, false));
  const double *moved = field_get(fine, MG_U);
  const double *want = roll(fine, x, 2);
  CHECK_SAME(moved, want, cells_of(fine));
}

/* Adding equals overwriting followed by one rounded addition. */
static void test_add(mg_hierarchy_t *h, int l, const formula_t *f) {
  mg_level_t *fine = &h->level[l], *coarse = &h->level[l + 1];
  double *x = field_random(cells_of(fine), 4);
  MUST(mg_fill(coarse, MG_U, 0.0));
  field_put(coarse, MG_U, field_random(cells_of(coarse), 3));
  MUST(mg_interpolate(h, l, f->kind, MG_U, false, false));
  const double *p = field_get(fine, MG_U);
  field_put(fine, MG_U, x);
  MUST(mg_interpolate(h, l, f->kind, MG_U, true, false));
  const double *got = field_get(fine, MG_U);
  for (int64_t c = 0; c < cells_of(fine); c++)
    x[c] += p[c];
  CHECK_SAME(x, got, cells_of(fine));
}

static void test_levels(mg_hierarchy_t *h) {
  for (int l = 0; l + 1 < h->n_levels; l++) {
    test_cells(h, l);
    for (size_t f = 0; f < sizeof formulas / sizeof *formulas; f++) {
      const mg_interpolation_t kind = formulas[f].kind;
      if (kind == MG_INTERPOLATE_V4 && h->plan.radius < 2) continue;
      if (kind == MG_INTERPOLATE_P2 && h->params.op != MG_OPERATOR_27PT) continue;
      test_polynomials(h, l, &formulas[f]);
      test_add(h, l, &formulas[f]);
      test_shift(h, l, &formulas[f]);
      if (formulas[f].averages) test_mean(h, l, &formulas[f]);
    }
    test_faces(h, l); /* last: modifies beta */
  }
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("4x1 5x1 4x2 4x3", "--operator=fv2,fv4,27pt --equation=poisson", test_levels);
  fixture_each("3x1", "--equation=poisson boxes=3x2x5", test_levels);
  return FIXTURE_END();
}
