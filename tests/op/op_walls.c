/* op_walls: ghosts outside a Dirichlet wall are exact for polynomials that vanish on the wall, up
 * to the degree of the formula. These are linear point values (7pt), quadratic (fv2) and quartic
 * (fv4) cell averages, and tensor products of them at edges and corners. Face betas of fv4 are
 * exact for any polynomial of degree 4, 3 or 1, depending on box width. Narrow boxes fall back to
 * lower degrees.
 *
 * Ghosts hold NaN beforehand, so a formula that reads beyond its cells fails. */
#include "level/ops.h"
#include "tests/lib/fixture.h"
#include <float.h>

/* Degree of exactness of the wall formula requested by `order`, as limited by the box width, and
 * the number of layers that it fills. */
static int exact_order(const mg_view_t *v, int order) {
  if (order == 4 && v->box_dim < 4) order = 2;
  if (order == 2 && v->box_dim < 2) order = 1;
  return order;
}

static double power(double x, int n) {
  double p = 1.0;
  while (n-- > 0)
    p *= x;
  return p;
}

/* Value of cell m of sum_{q=1..order} x^q. x is measured from the wall in units of h and scaled
 * so that values are about 1. Cell-center value for order 1, cell average otherwise. */
static double polynomial(int order, int m) {
  if (order == 1) return m + 0.5;
  double sum = 0.0;
  for (int q = 1; q <= order; q++)
    sum += (power(m + 1.0, q + 1) - power(m, q + 1)) / (q + 1);
  return sum;
}

/* Absolute weights of the formulas: a ghost amplifies rounding errors of cells by this factor. */
static double weight(int order, int depth) {
  if (depth == 0) return 1.0;
  if (order < 4) return order == 2 ? 3.0 : 1.0;
  return depth == 1 ? 140.0 / 12 : 1012.0 / 12;
}

/* Distance of cell i from the lower or upper wall of a direction; negative for ghosts. */
static int from_wall(int n, int i, int side) {
  return side == 0 ? i : n - 1 - i;
}

static void put_polynomial(mg_level_t *level, int order, const int side[3]) {
  const mg_view_t *v = &level->store.view;
  const int n = v->n[0];
  double *x = field_new(mg_volume(v->n)), *table = field_new(3 * n);
  for (int d = 0; d < 3; d++)
    for (int i = 0; i < n; i++)
      table[d * n + i] = polynomial(order, from_wall(n, i, side[d]));
  field_product(x, v->n, table, table + n, table + 2 * n);
  MUST(mg_fill(level, MG_U, NAN));
  field_put(level, MG_U, x);
}

/* Compare cells and ghosts of one patch with the polynomial, which vanishes on the walls given. */
static void check_patch(const mg_level_t *level, int patch, int order, const int side[3]) {
  const mg_view_t *v = &level->store.view;
  const mg_patch_t *p = &v->patch[patch];
  const int n = v->n[0], rim = order == 4 ? 2 : 1;
  double *x = patch_get(level, patch, MG_U, rim), worst = 0.0;
  EACH_CELL_AND_GHOST(at, p->n, rim) {
    double want = 1.0, scale = 16.0 * DBL_EPSILON;
    bool ours = true;
    for (int d = 0; d < 3; d++) {
      const int m = from_wall(n, p->lo[d] + at[d], side[d]);
      ours = ours && m < n;
      want *= polynomial(order, m);
      /* the fourth cell is the largest that a formula reads */
      scale *= weight(order, m < 0 ? -m : 0) * polynomial(order, m < 0 ? order - 1 : m);
    }
    if (ours) worst = worst_of(worst, fabs(*x - want) / scale);
    x++;
  }
  CHECK_CASE(worst <= 1.0, worst, 1.0);
}

static void test_cells(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  for (int order = 1; order <= (v->radius == 2 ? 4 : 2); order *= 2)
    for (int octant = 0; octant < 8; octant++) {
      const int exact = exact_order(v, order);
      const int side[3] = {octant & 1, octant >> 1 & 1, octant >> 2};
      put_polynomial(level, exact, side);
      MUST(mg_halo(level, MG_U, true));
      if (level->comm) MUST(level->backend->fill_wall_ghosts(v, MG_U, order));
      for (int q = 0; q < v->n_patches; q++)
        check_patch(level, q, exact, side);
    }
}

static int beta_degree(const mg_view_t *v) {
  return v->box_dim >= 5 ? 4 : v->box_dim == 4 ? 3 : v->box_dim >= 2 ? 1 : 0;
}

/* beta of faces normal to d, cells and closing face; varies as the polynomial along tangent t. */
static double beta_at(const mg_view_t *v, int t, const int32_t cell[3]) {
  double sum = 0.0;
  for (int q = 0; q <= beta_degree(v); q++)
    sum += power(cell[t] + 3.0, q);
  return sum;
}

static bool is_face(const mg_patch_t *p, int d, const int32_t at[3]) {
  for (int e = 0; e < 3; e++)
    if (at[e] < 0 || at[e] >= p->n[e] + (e == d)) return false;
  return true;
}

/* Visit a patch with one ghost layer. Either store the face betas with NaN around them, or check
 * the results. */
static void walk_betas(mg_level_t *level, int patch, int d, int t, bool check) {
  const mg_view_t *v = &level->store.view;
  const mg_patch_t *p = &v->patch[patch];
  double *x = patch_get(level, patch, MG_BETA_I + d, 1), *beta = x, worst = 0.0;
  EACH_CELL_AND_GHOST(at, p->n, 1) {
    const int32_t cell[3] = {p->lo[0] + at[0], p->lo[1] + at[1], p->lo[2] + at[2]};
    int32_t inside[3] = {at[0], at[1], at[2]};
    inside[t] = 0;
    const bool outside = (cell[t] < 0 || cell[t] >= v->n[0]) && is_face(p, d, inside);
    const double want = beta_at(v, t, cell);
    if (!check)
      *beta = is_face(p, d, at) ? want : NAN;
    else if (outside)
      worst = worst_of(worst, fabs(*beta - want));
    beta++;
  }
  /* The weights sum to 31; the values grow up to this one from the wall inward. */
  const int32_t far = (int32_t)(v->n[0] + 1);
  const double bound = 16.0 * 31.0 * DBL_EPSILON * beta_at(v, 0, (const int32_t[3]){far, 0, 0});
  if (check)
    CHECK_CASE(worst <= bound, worst, bound);
  else
    patch_put(level, patch, MG_BETA_I + d, 1, x);
}

static void test_betas(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  if (v->op != MG_OPERATOR_FV4 || !level->comm) return;
  for (int d = 0; d < 3; d++)
    for (int t = 0; t < 3; t++) {
      if (t == d) continue;
      for (int q = 0; q < v->n_patches; q++)
        walk_betas(level, q, d, t, false);
      MUST(level->backend->extend_faces(v));
      for (int q = 0; q < v->n_patches; q++)
        walk_betas(level, q, d, t, true);
    }
}

static void test_levels(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++) {
    test_cells(&h->level[l]);
    test_betas(&h->level[l]);
  }
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  /* The last grid has boxes of 16, 8, 4 and 2 cells, down to a coarsest grid of 3. */
  fixture_each("4x1 4x2 4x3", "--boundary=dirichlet --equation=poisson", test_levels);
  return FIXTURE_END();
}
