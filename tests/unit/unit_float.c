/* The CPU backend for float cells computes what the one for double cells computes, within the
 * rounding of float. Both start from the same values, which float holds exactly. Between the two,
 * values are rounded once. */
#include "backend/backend.h"
#include "backend/mixed.h"
#include "backend/sweeps.h"
#include "formulas/index.h"
#include "formulas/walls.h"
#include "tests/lib/cells.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"
#include <float.h>

typedef enum { WALLS, PERIODIC } boundary_t;

enum { DIM = 16, LAYERS = 2, ROW = 32, PLANE = ROW * (DIM + 2 * LAYERS) };
enum { VECTOR = PLANE * (DIM + 2 * LAYERS), ORIGIN = ROW + LAYERS * (1 + ROW + PLANE) };
enum { VALUES = ORIGIN + MG_N_VECTORS * VECTOR };

/* Largest error of a value that `terms` operations of float on numbers up to `size` compute. */
static double rounding(int terms, double size) {
  return terms * (double)FLT_EPSILON / 2 * size;
}

/* The same level in both types; and its coarsened patch, in vectors that the level does not use. */
typedef struct {
  const mg_backend_t *backend;
  mg_view_t view, coarse;
  mg_patch_t patch, coarse_patch;
  void *memory;
} level_t;

/* Value at an offset from the first cell of a vector. */
static double value_at(const level_t *l, mg_vector_t vec, ptrdiff_t at) {
  const ptrdiff_t index = ORIGIN + vec * VECTOR + at;
  return l->backend->value_bytes == sizeof(float) ? (double)((const float *)l->memory)[index]
                                                  : ((const double *)l->memory)[index];
}

static void set_value(const level_t *l, mg_vector_t vec, ptrdiff_t at, double value) {
  const ptrdiff_t index = ORIGIN + vec * VECTOR + at;
  if (l->backend->value_bytes == sizeof(float))
    ((float *)l->memory)[index] = (float)value;
  else
    ((double *)l->memory)[index] = value;
}

static ptrdiff_t offset(const int at[3]) {
  return at[0] + at[1] * ROW + at[2] * PLANE;
}

static mg_patch_t patch_of(const level_t *l, int dim, boundary_t boundary) {
  mg_patch_t p = {.n = {dim, dim, dim}, .jstride = ROW, .kstride = PLANE};
  for (int d = 0; d < 3; d++)
    p.wall[d][0] = p.wall[d][1] = boundary == PERIODIC ? MG_WALL_NONE : MG_WALL_DIRICHLET;
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    p.vec[vec] = (mg_real_t *)(void *)((char *)l->memory +
                                       (ORIGIN + vec * VECTOR) * l->backend->value_bytes);
  return p;
}

static mg_view_t view_of(mg_patch_t *p, mg_operator_t op, bool varies) {
  const int dim = p->n[0];
  mg_view_t v = {.patch = p, .n_patches = 1, .n = {dim, dim, dim}, .box_dim = dim};
  v.radius = op == MG_OPERATOR_FV4 ? 2 : 1;
  v.ghost_layers = LAYERS;
  v.cells = (int64_t)dim * dim * dim;
  v.alpha_varies = varies;
  v.op = op;
  memcpy(v.side, p->wall, sizeof v.side);
  v.periodic = p->wall[0][0] == MG_WALL_NONE;
  for (int d = 0; d < 3; d++)
    v.h[d] = 1.0 / dim;
  v.a = 1.0;
  v.b_h2 = dim * dim;
  return v;
}

static void level_create(const mg_backend_t *backend, mg_operator_t op, boundary_t boundary,
                         bool varies, level_t *l) {
  *l = (level_t){.backend = backend};
  l->memory = calloc(VALUES, (size_t)backend->value_bytes);
  if (!l->memory) abort();
  l->patch = patch_of(l, DIM, boundary);
  l->coarse_patch = patch_of(l, DIM / 2, boundary);
  l->coarse_patch.vec[MG_U] = l->patch.vec[MG_KRYLOV_R];
  l->coarse_patch.vec[MG_F] = l->patch.vec[MG_KRYLOV_P];
  l->view = view_of(&l->patch, op, varies);
  l->coarse = view_of(&l->coarse_patch, op, varies);
}

/* Random values that float holds exactly, in all vectors and ghosts: betas and alpha in [1/2, 3/2],
 * the others in [-1, 1]. */
static void fill_both(const level_t *d, const level_t *f) {
  random_t r = {7};
  for (int vec = 0; vec < MG_N_VECTORS; vec++) {
    const bool positive = (vec >= MG_BETA_I && vec <= MG_BETA_K) || vec == MG_ALPHA;
    for (ptrdiff_t at = -LAYERS * (1 + ROW + PLANE); at < VECTOR - ORIGIN; at++) {
      const double x = (double)random_int(&r, -(1 << 22), 1 << 22) * 0x1p-22;
      set_value(d, vec, at, positive ? 1.0 + 0.5 * x : x);
      set_value(f, vec, at, value_at(d, vec, at));
    }
  }
}

/* Largest difference of a vector over n^3 cells. */
static double difference(const level_t *d, const level_t *f, mg_vector_t vec, int n) {
  double largest = 0.0;
  EACH_CELL(at, ((const int32_t[3]){n, n, n})) {
    const double x = fabs(value_at(d, vec, offset(at)) - value_at(f, vec, offset(at)));
    if (!(x <= largest)) largest = x;
  }
  return largest;
}

#define BOTH(entry, ...)                                                                           \
  do {                                                                                             \
    const level_t *l = &d;                                                                         \
    CHECK_INT(d.backend->entry(__VA_ARGS__), MG_OK);                                               \
    l = &f;                                                                                        \
    CHECK_INT(f.backend->entry(__VA_ARGS__), MG_OK);                                               \
  } while (0)

/* Bound on the sum of the moduli in a row of A, for betas up to 3/2 and alpha up to 3/2. A wall's
 * ghost of fv4 has weights up to 505/12 and so on in three directions, hence the generous factor;
 * an error in a formula is far larger than the rounding of float. */
static double row_size(mg_operator_t op) {
  const double b_h2 = DIM * DIM;
  return (op == MG_OPERATOR_FV4 ? 1000.0 : 30.0) * 1.5 * b_h2;
}

static void test_operator(mg_operator_t op, boundary_t boundary, bool varies) {
  const mg_step_t relax = {.colored = true, .c2 = 1.0}, all = {.c1 = 0.3, .c2 = 0.7};
  const double size = row_size(op), flops = 40;
  level_t d, f;
  double lambda[2], norm[2];
  level_create(&mg_backend_cpu, op, boundary, varies, &d);
  level_create(&mg_backend_cpu_float, op, boundary, varies, &f);
  fill_both(&d, &f);
  BOTH(set_diagonal, &l->view, false, &lambda[l == &f]);
  CHECK_NEAR(lambda[1], lambda[0], rounding(100, lambda[0]));
  CHECK(difference(&d, &f, MG_DINV, DIM) <= rounding(100, 0.1));

  BOTH(residual, &l->view, MG_TMP, MG_U, MG_F);
  CHECK(difference(&d, &f, MG_TMP, DIM) <= rounding((int)flops, size));
  BOTH(max_norm, &l->view, MG_TMP, MG_NO_VECTOR, &norm[l == &f]);
  CHECK_NEAR(norm[1], norm[0], rounding((int)flops, size));
  BOTH(fused->residual_norm, &l->view, MG_U, MG_F, &norm[l == &f]);
  CHECK_NEAR(norm[1], norm[0], rounding((int)flops, size));
  BOTH(fused->residual_restrict, &l->view, MG_U, MG_F, &l->coarse, MG_F);
  CHECK(difference(&d, &f, MG_KRYLOV_P, DIM / 2) <= rounding((int)flops, size));

  /* Each step adds c2 Dinv times the error of A x, and Dinv A is below 1000/30. */
  const mg_vector_t dst = op == MG_OPERATOR_FV4 ? MG_TMP : MG_U;
  BOTH(smooth, &l->view, &(mg_sweep_t){&relax, 1, MG_U, dst, dst, MG_NO_VECTOR}, MG_REGION_ALL);
  CHECK(difference(&d, &f, dst, DIM) <= rounding((int)flops, 100.0));
  BOTH(smooth, &l->view, &(mg_sweep_t){&all, 1, MG_KRYLOV_R0, MG_TMP, MG_TMP, MG_NO_VECTOR},
       MG_REGION_ALL);
  CHECK(difference(&d, &f, MG_TMP, DIM) <= rounding((int)flops, 200.0));
  BOTH(fill_wall_ghosts, &l->coarse, MG_U, op == MG_OPERATOR_FV4 ? 4 : 1);
  BOTH(interpolate, &l->coarse, MG_U, &l->view, MG_F,
       op == MG_OPERATOR_FV4 ? MG_INTERPOLATE_V4 : MG_INTERPOLATE_P1, true);
  CHECK(difference(&d, &f, MG_F, DIM) <= rounding((int)flops, 200.0));
  free(d.memory);
  free(f.memory);
}

/* Sums of float cells are those of the same cells in double, bit for bit. */
static void test_sums(void) {
  level_t d, f;
  mg_sum_t sum[2] = {{{0}}, {{0}}};
  level_create(&mg_backend_cpu, MG_OPERATOR_FV2, PERIODIC, false, &d);
  level_create(&mg_backend_cpu_float, MG_OPERATOR_FV2, PERIODIC, false, &f);
  fill_both(&d, &f);
  BOTH(dot, &l->view, MG_U, MG_F, &sum[l == &f]);
  CHECK(mg_sum_value(&sum[0]) == mg_sum_value(&sum[1]) && mg_sum_value(&sum[0]) != 0.0);
  BOTH(dot, &l->view, MG_U, MG_NO_VECTOR, &sum[l == &f]);
  CHECK(mg_sum_value(&sum[0]) == mg_sum_value(&sum[1]));
  free(d.memory);
  free(f.memory);
}

/* Between double and float cells: each value is rounded once, as (float) rounds. */
static void test_between(boundary_t boundary, double scale) {
  level_t d, f;
  double norm, want;
  level_create(&mg_backend_cpu, MG_OPERATOR_FV4, boundary, false, &d);
  level_create(&mg_backend_cpu_float, MG_OPERATOR_FV4, boundary, false, &f);
  fill_both(&d, &f);
  const mg_backend_mixed_t *mixed = mg_backend_cpu.mixed;
  CHECK_INT(d.backend->residual(&d.view, MG_TMP, MG_U, MG_F), MG_OK);
  CHECK_INT(d.backend->max_norm(&d.view, MG_TMP, MG_NO_VECTOR, &want), MG_OK);
  CHECK_INT(mixed->residual(&d.view, MG_U, MG_F, &f.view, MG_F, scale, &norm), MG_OK);
  CHECK(norm == want && norm > 0.0);
  CHECK_INT(mixed->residual(&d.view, MG_U, MG_F, &f.view, MG_F, scale, NULL), MG_OK);
  CHECK_INT(mixed->lower(&d.view, MG_TMP, &f.view, MG_TMP, scale), MG_OK);
  EACH_CELL(at, d.view.n) {
    const double r = value_at(&d, MG_TMP, offset(at));
    CHECK(value_at(&f, MG_F, offset(at)) == (double)(float)(scale * r));
    CHECK(value_at(&f, MG_TMP, offset(at)) == (double)(float)(scale * r));
  }
  /* Ghosts too: the last face of a patch is one. */
  CHECK_INT(mixed->lower(&d.view, MG_BETA_I, &f.view, MG_TMP, 1.0), MG_OK);
  EACH_CELL_AND_GHOST(at, d.view.n, 1) {
    CHECK(value_at(&f, MG_TMP, offset(at)) == value_at(&d, MG_BETA_I, offset(at)));
  }
  for (int add = 0; add < 2; add++) {
    EACH_CELL(at, d.view.n) {
      set_value(&d, MG_TMP, offset(at), value_at(&d, MG_U, offset(at)));
    }
    CHECK_INT(mixed->raise(&d.view, MG_U, &f.view, MG_U, 1.0 / scale, add), MG_OK);
    EACH_CELL(at, d.view.n) {
      const double e = value_at(&f, MG_U, offset(at)), u = value_at(&d, MG_TMP, offset(at));
      CHECK(value_at(&d, MG_U, offset(at)) == fma(1.0 / scale, e, add ? u : 0.0));
    }
  }
  free(d.memory);
  free(f.memory);
}

int main(void) {
  for (int op = MG_OPERATOR_FV2; op <= MG_OPERATOR_7PT; op++)
    for (int boundary = WALLS; boundary <= PERIODIC; boundary++)
      for (int varies = 0; varies < 2; varies++)
        test_operator(op, boundary, varies);
  test_sums();
  test_between(WALLS, 1.0);
  test_between(PERIODIC, 3.0);
  return TEST_RESULT();
}
