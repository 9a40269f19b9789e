/* op_neumann: Neumann walls of the 7-point operators. Their face coefficients are 0 on every level.
 * Their ghosts mirror the cells, also where two or three walls meet. Interpolation keeps constants.
 * If no side is a Dirichlet wall, A is singular with a = 0; op_algebra has its other properties. A
 * solve from manufactured data converges with order 2, on every backend to the same bits. */
#include "formulas/walls.h"
#include "level/ops.h"
#include "level/transfer.h"
#include "solver/domain.h"
#include "tests/lib/fixture.h"
#include "tests/lib/plan_case.h"

static const double pi = 3.14159265358979323846;

/* Index of the nearest layer that is not outside a Neumann wall. */
static int mirrored(const mg_patch_t *p, int d, int i) {
  if (i < 0 && p->wall[d][0] == MG_WALL_NEUMANN) return 0;
  if (i >= p->n[d] && p->wall[d][1] == MG_WALL_NEUMANN) return p->n[d] - 1;
  return i;
}

/* Ghosts hold NaN beforehand. One outside Dirichlet walls too is their ghost, mirrored. */
static void check_ghosts(const mg_level_t *level, int patch) {
  const mg_patch_t *p = &level->store.view.patch[patch];
  const int row = p->n[0] + 2, plane = row * (p->n[1] + 2);
  double *x = patch_get(level, patch, MG_U, 1), worst = 0.0;
  const double *const origin = x + 1 + row + plane, *value = x;
  EACH_CELL_AND_GHOST(at, p->n, 1) {
    const int inside =
        mirrored(p, 0, at[0]) + row * mirrored(p, 1, at[1]) + plane * mirrored(p, 2, at[2]);
    worst = worst_of(worst, fabs(*value++ - origin[inside]));
  }
  CHECK_CASE(worst == 0.0, worst, 0.0);
}

static void test_ghosts(mg_level_t *level) {
  const mg_view_t *v = &level->store.view;
  const double *x = field_random(mg_volume(v->n), 4);
  for (int order = 1; order <= 2; order++) {
    MUST(mg_fill(level, MG_U, NAN));
    field_put(level, MG_U, x);
    MUST(mg_halo(level, MG_U, true));
    if (level->comm) MUST(level->backend->fill_wall_ghosts(v, MG_U, order));
    for (int q = 0; q < v->n_patches; q++)
      check_ghosts(level, q);
  }
}

/* The coefficient of a side's faces is 0 if and only if it is a Neumann wall, or a periodic side
 * whose only cell is its own neighbor. */
static void check_faces(const mg_level_t *level, int patch, int d, int side) {
  const mg_patch_t *p = &level->store.view.patch[patch];
  const int stride[3] = {1, p->n[0] + 2, (p->n[0] + 2) * (p->n[1] + 2)};
  const int e = (d + 1) % 3, g = (d + 2) % 3, face = side == 0 ? 0 : p->n[d];
  double *beta = patch_get(level, patch, MG_BETA_I + d, 1);
  const double *const origin = beta + stride[0] + stride[1] + stride[2];
  int closed = 0;
  for (int a = 0; a < p->n[e]; a++)
    for (int b = 0; b < p->n[g]; b++)
      closed += origin[face * stride[d] + a * stride[e] + b * stride[g]] == 0.0;
  const bool none = p->wall[d][side] == MG_WALL_NEUMANN ||
                    (mg_is_periodic(&level->store.view, d) && level->store.view.n[d] == 1);
  CHECK_INT(closed, none ? p->n[e] * p->n[g] : 0);
}

static void test_faces(const mg_level_t *level) {
  for (int q = 0; q < level->store.view.n_patches; q++)
    for (int d = 0; d < 3; d++)
      for (int side = 0; side < 2; side++)
        check_faces(level, q, d, side);
}

/* Exact for c = 1: the weights are multiples of 1/64. */
static void test_interpolation(mg_hierarchy_t *h, int l) {
  static const mg_interpolation_t kinds[] = {MG_INTERPOLATE_P0, MG_INTERPOLATE_P1,
                                             MG_INTERPOLATE_V2};
  const int64_t cells = mg_volume(h->level[l].store.view.n);
  const double *one = field_constant(cells, 1.0);
  for (int kind = 0; kind < 3; kind++) {
    MUST(mg_fill(&h->level[l + 1], MG_U, NAN));
    field_put(&h->level[l + 1], MG_U, one); /* reads as many of them as the level has cells */
    MUST(mg_interpolate(h, l, kinds[kind], MG_U, false, false));
    const double *x = field_get(&h->level[l], MG_U);
    CHECK_SAME(x, one, cells);
  }
}

static void test_levels(mg_hierarchy_t *h) {
  const mg_view_t *v = &h->level[0].store.view;
  const bool closed = !mg_has_wall(v->side, MG_WALL_DIRICHLET);
  CHECK_INT(mg_is_singular(v), closed && v->a == 0.0);
  CHECK_INT(h->level[h->n_levels - 1].store.view.n[0] > 1, closed || v->n[0] == 48);
  for (int l = 0; l < h->n_levels; l++) {
    test_faces(&h->level[l]);
    test_ghosts(&h->level[l]);
    if (closed && l + 1 < h->n_levels) test_interpolation(h, l);
  }
}

/* u = X(x) Y(y) Z(z): a cosine between Neumann walls, a sine between Dirichlet walls. */
typedef struct {
  bool neumann[3];
} solution_t;

typedef struct {
  double value, slope;
} factor_t;

static factor_t factor(bool neumann, double x) {
  if (neumann) return (factor_t){cos(pi * x), -pi * sin(pi * x)};
  return (factor_t){sin(pi * x), pi * cos(pi * x)};
}

static void fill_u(const solution_t *s, int n, double *u) {
  double *table = field_new(3 * n);
  for (int d = 0; d < 3; d++)
    for (int i = 0; i < n; i++)
      table[d * n + i] = factor(s->neumann[d], (i + 0.5) / n).value;
  field_product(u, (const int32_t[3]){n, n, n}, table, table + n, table + 2 * n);
}

/* f = a u - grad beta . grad u + 3 pi^2 beta u with the beta of fv2 in a cell's center. */
static double rhs_fv2(const solution_t *s, double a, const double x[3]) {
  factor_t u[3], b[3];
  for (int d = 0; d < 3; d++) {
    u[d] = factor(s->neumann[d], x[d]);
    b[d] = (factor_t){sin(2.0 * pi * x[d]), 2.0 * pi * cos(2.0 * pi * x[d])};
  }
  const double beta = 1.0 + 0.25 * b[0].value * b[1].value * b[2].value;
  double f = (a + 3.0 * pi * pi * beta) * u[0].value * u[1].value * u[2].value;
  for (int d = 0; d < 3; d++) {
    const int e = (d + 1) % 3, g = (d + 2) % 3;
    f -= 0.25 * b[d].slope * b[e].value * b[g].value * u[d].slope * u[e].value * u[g].value;
  }
  return f;
}

/* 7pt gets beta = 1, also at the walls: they are closed after the source is loaded. */
static mg_status_t load(void *data, mg_hierarchy_t *h) {
  const solution_t *s = data;
  mg_level_t *level = &h->level[0];
  const mg_view_t *v = &level->store.view;
  const int n = v->n[0];
  const int64_t cells = mg_volume(v->n);
  const bool constant = v->op == MG_OPERATOR_7PT;
  double *f = field_new(cells);
  if (constant) fill_u(s, n, f);
  for (int c = 0; c < n * n * n; c++) {
    const double x[3] = {(c % n + 0.5) / n, (c / n % n + 0.5) / n, (c / n / n + 0.5) / n};
    f[c] = constant ? (v->a + 3.0 * pi * pi) * f[c] : rhs_fv2(s, v->a, x);
  }
  field_put(level, MG_F, f);
  for (int d = 0; d < 3 && constant; d++)
    MUST(mg_fill(level, MG_BETA_I + d, 1.0));
  return MG_OK;
}

/* Error of the solution. The exact one has mean zero if all walls are Neumann's. */
static double solve(const fixture_backend_t *backend, int log2_n, const char *options,
                    solution_t *s, uint64_t *hash) {
  const mg_problem_source_t source = {.load = load, .data = s};
  mg_hierarchy_t *h = fixture_create_from(backend, log2_n, 1, options, &source);
  const int n = h->level[0].store.view.n[0];
  const int64_t cells = mg_volume(h->level[0].store.view.n);
  double *exact = field_new(cells);
  CHECK(fixture_solve(h)->converged);
  const double *u = field_get(&h->level[0], MG_U);
  fill_u(s, n, exact);
  const double error = field_distance(u, exact, cells);
  *hash = field_hash(u, cells);
  mg_hierarchy_free(h);
  return error;
}

/* With each order in h comes a derivative of u, a factor of pi: an error C h^2 (1 + pi h). The
 * other backends have the bits of the first. Several ranks solve two sizes.
 * n: number of the case, for fixture_runs */
static void test_order(int n, const char *options, solution_t s) {
  enum { N_SIZES = 3 };
  const int n_sizes = mg_comm_size(mg_comm_world()) == 1 ? N_SIZES : 2;
  double error[N_SIZES];
  uint64_t want[N_SIZES], hash;
  for (int size = 0; size < n_sizes; size++) {
    error[size] = solve(fixture_backends, 4 + size, options, &s, &want[size]);
    if (size == 0) continue;
    const double h = 1.0 / (16 << size), bound = log2((1.0 + 2.0 * pi * h) / (1.0 + pi * h));
    CHECK_NEAR(log2(error[size - 1] / error[size]), 2.0, bound);
  }
  for (const fixture_backend_t *b = fixture_backends + 1; b->name; b++)
    for (int size = 0; size < 2 && fixture_runs(b, n); size++) {
      (void)solve(b, 4 + size, options, &s, &hash);
      CHECK(hash == want[size]);
    }
}

static void test_solves(void) {
  static const char *const operators[] = {"fv2", "7pt"}, *const smoothers[] = {"gsrb", "chebyshev"};
  for (int c = 0; c < 4; c++)
    for (int walls = 0; walls < 2; walls++) {
      const char *options = textf("--operator=%s --smoother=%s --rtol=1e-9 walls=%s",
                                  operators[c % 2], smoothers[c / 2], walls ? "nndddd" : "nnnnnn");
      test_order(c + walls, options, (solution_t){{true, !walls, !walls}});
    }
}

static void test_fv4(void) {
  set_size(4, 1);
  params.op = MG_OPERATOR_FV4;
  params.side[2][1].wall = MG_WALL_NEUMANN;
  CHECK_INT(build(1), MG_ERR_USAGE);
  params.side[2][0].wall = params.side[2][1].wall = MG_WALL_NONE;
  CHECK_INT(build(1), MG_ERR_USAGE);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("4x1 4x3",
               "walls=nnnnnn,nndddd,dnddnd,dnppnd,ppnnpp --operator=fv2,7pt --boundary=dirichlet",
               test_levels);
  test_solves();
  test_fv4();
  return FIXTURE_END();
}
