/* op_shape: grids of 24 x 16 x 40 cells, with three widths in the unit cube. On every level A x
 * and its diagonal equal a reference that is written without patches and without metric factors.
 * Halo exchange and interpolation reach the right cells. op_transfer, op_vectors and op_smoother
 * run on these grids too. */
#include "formulas/walls.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "tests/lib/shape.h"
#include <float.h>

/* --- dense fields with two ghost layers ------------------------------------------------ */

enum { RIM = 2 };

typedef struct {
  const mg_view_t *v;
  int64_t stride[3], cells;
  double *memory, *origin; /* cell (0,0,0) */
} dense_t;

static dense_t dense_new(const mg_view_t *v) {
  dense_t x = {.v = v, .stride = {1, v->n[0] + 2 * RIM, 0}};
  x.stride[2] = x.stride[1] * (v->n[1] + 2 * RIM);
  x.cells = x.stride[2] * (v->n[2] + 2 * RIM);
  x.memory = calloc((size_t)x.cells, sizeof *x.memory);
  MUST(x.memory ? MG_OK : MG_ERR_MEMORY);
  x.origin = x.memory + RIM * (x.stride[0] + x.stride[1] + x.stride[2]);
  return x;
}

static int64_t offset(const dense_t *x, const int at[3]) {
  return at[0] * x->stride[0] + at[1] * x->stride[1] + at[2] * x->stride[2];
}

static double *cell(const dense_t *x, const int at[3]) {
  return x->origin + offset(x, at);
}

static void put_cells(const dense_t *x, const double *cells) {
  EACH_CELL(at, x->v->n) {
    *cell(x, at) = *cells++;
  }
}

/* Ghost `depth` outside the low or high wall; `first` is the cell at the wall. */
static double ghost(const double *first, int64_t in, int order, int depth) {
  if (order == 4) return mg_ghost_4(depth, first[0], first[in], first[2 * in], first[3 * in]);
  return depth == 1 ? mg_ghost(MG_WALL_DIRICHLET, order, first[0], first[in]) : 0.0;
}

/* Fill the ghosts of one line in direction d. */
static void fill_line(const dense_t *x, double *line, int d, int order) {
  const int64_t s = x->stride[d];
  const int n = x->v->n[d];
  for (int depth = 1; depth <= RIM; depth++) {
    const bool periodic = x->v->periodic;
    line[-depth * s] =
        periodic ? line[((n - depth) % n + n) % n * s] : ghost(line, s, order, depth);
    line[(n - 1 + depth) * s] =
        periodic ? line[(depth - 1) % n * s] : ghost(line + (n - 1) * s, -s, order, depth);
  }
}

/* In direction i, then j, then k: edges and corners become tensor products. */
static void fill_ghosts(const dense_t *x, int order) {
  const mg_wall_orders_t used = mg_wall_orders(x->v, order);
  for (int d = 0; d < 3; d++) {
    int from[3], n[3];
    for (int e = 0; e < 3; e++) {
      from[e] = e < d ? -RIM : 0;
      n[e] = e == d ? 1 : x->v->n[e] + (e < d ? 2 * RIM : 0);
    }
    EACH_CELL(at, n) {
      const int start[3] = {at[0] + from[0], at[1] + from[1], at[2] + from[2]};
      fill_line(x, cell(x, start), d, used.along[d]);
    }
  }
}

/* --- coefficients ---------------------------------------------------------------------- */

static int faces_of(const mg_view_t *v, int d, int e) {
  return v->n[e] + (e == d && !v->periodic);
}

/* Faces outside the domain: periodic copies, or beside walls the faces that fv4 reads. */
static void extend_faces(const dense_t *beta, int d) {
  const mg_view_t *v = beta->v;
  if (v->periodic) {
    fill_ghosts(beta, 1);
    return;
  }
  for (int t = 0; t < 3; t++) {
    if (t == d) continue;
    int n[3];
    for (int e = 0; e < 3; e++)
      n[e] = e == t ? 1 : faces_of(v, d, e);
    EACH_CELL(at, n) {
      double *line = cell(beta, at);
      const int64_t s = beta->stride[t], last = v->n[t] - 1;
      line[-s] = mg_extrapolate_face(line, s, v->box_dim);
      line[(last + 1) * s] = mg_extrapolate_face(line + last * s, -s, v->box_dim);
    }
  }
}

static void fill_betas(const mg_view_t *v, dense_t beta[3]) {
  for (int d = 0; d < 3; d++) {
    beta[d] = dense_new(v);
    const int n[3] = {faces_of(v, d, 0), faces_of(v, d, 1), faces_of(v, d, 2)};
    EACH_CELL(at, n) {
      *cell(&beta[d], at) = beta_at(v, d, at);
    }
    extend_faces(&beta[d], d);
  }
}

/* The betas of the next coarser level: means of four faces. Frees the fine ones. */
static void coarsen_betas(const mg_view_t *v, dense_t beta[3]) {
  for (int d = 0; d < 3; d++) {
    const dense_t fine = beta[d];
    const int n[3] = {faces_of(v, d, 0), faces_of(v, d, 1), faces_of(v, d, 2)};
    beta[d] = dense_new(v);
    EACH_CELL(at, n) {
      const int first[3] = {2 * at[0], 2 * at[1], 2 * at[2]};
      const double *f = cell(&fine, first);
      const int64_t t = fine.stride[d == 0 ? 1 : 0], u = fine.stride[d == 2 ? 1 : 2];
      *cell(&beta[d], at) = 0.25 * (f[0] + f[t] + f[u] + f[t + u]);
    }
    extend_faces(&beta[d], d);
    free(fine.memory);
  }
}

/* --- operator -------------------------------------------------------------------------- */

/* Flux of fv4 through the face f of cell x, towards the neighbor at distance `out`. */
static double flux_fv4(const double *x, int64_t out, const double *f, const int64_t stride[3],
                       int d) {
  double sum = f[0] * (15.0 * (x[out] - x[0]) - (x[2 * out] - x[-out])) / 12.0;
  for (int t = 0; t < 3; t++) {
    const int64_t s = stride[t];
    if (t != d) sum += (f[s] - f[-s]) * (x[out + s] - x[s] - x[out - s] + x[-s]) / 48.0;
  }
  return sum;
}

/* A x at a cell: the sum over the six faces, each with its own 1 / h^2. */
static double row(const dense_t *x, const dense_t beta[3], const int at[3]) {
  const mg_view_t *v = x->v;
  const double *c = cell(x, at);
  double sum = 0.0;
  for (int d = 0; d < 3; d++) {
    const int64_t s = x->stride[d];
    const double *f = cell(&beta[d], at), per_h2 = (double)v->n[d] * v->n[d];
    sum += v->op == MG_OPERATOR_FV4
               ? per_h2 * (flux_fv4(c, -s, f, x->stride, d) + flux_fv4(c, s, f + s, x->stride, d))
               : per_h2 * (f[0] * (c[-s] - c[0]) + f[s] * (c[s] - c[0]));
  }
  return v->a * c[0] - sum;
}

/* 64 roundings of the terms: beta / h^2 times ghosts and cells, whose weights add up to at most
 * 84 + 32 outside walls of fv4 and to 5 otherwise. */
static double row_error(const mg_view_t *v) {
  const double beta = v->op == MG_OPERATOR_7PT ? 10.0 : 1.25,
               weights = v->op == MG_OPERATOR_FV4 ? 116.0 : 5.0;
  double sum = v->a;
  for (int d = 0; d < 3; d++)
    sum += 2.0 * weights * beta * v->n[d] * v->n[d];
  return 64.0 * DBL_EPSILON * sum;
}

static void test_operator(mg_level_t *level, const dense_t beta[3]) {
  const mg_view_t *v = &level->store.view;
  const double *x = field_random(mg_volume(v->n), 1);
  double worst = 0.0;
  const dense_t dense = dense_new(v);
  put_cells(&dense, x);
  fill_ghosts(&dense, mg_operator_order(v));
  field_put(level, MG_U, x);
  MUST(mg_residual(level, MG_TMP, MG_U, -1));
  const double *got = field_get(level, MG_TMP);
  int64_t c = 0;
  EACH_CELL(at, v->n) {
    worst = worst_of(worst, fabs(got[c++] - row(&dense, beta, at)));
  }
  CHECK_CASE(worst <= row_error(v), worst, row_error(v));
  free(dense.memory);
}

/* 1 / diagonal from the reference, one unit vector at a time. */
static void test_diagonal(mg_level_t *level, const dense_t beta[3]) {
  const mg_view_t *v = &level->store.view;
  double worst = 0.0;
  const double *dinv = field_get(level, MG_DINV);
  int64_t c = 0;
  EACH_CELL(at, v->n) {
    const dense_t x = dense_new(v);
    *cell(&x, at) = 1.0;
    fill_ghosts(&x, mg_operator_order(v));
    worst = worst_of(worst, fabs(1.0 / dinv[c++] - row(&x, beta, at)));
    free(x.memory);
  }
  CHECK_CASE(worst <= row_error(v), worst, row_error(v));
}

/* --- other operations ------------------------------------------------------------------ */

static double id_of(const mg_view_t *v, const int at[3]) {
  return 1.0 + at[0] + v->n[0] * (at[1] + (double)v->n[1] * at[2]);
}

static void put_ids(mg_level_t *level, int vec) {
  const mg_view_t *v = &level->store.view;
  double *x = field_new(mg_volume(v->n));
  int64_t c = 0;
  EACH_CELL(at, v->n) {
    x[c++] = id_of(v, at);
  }
  field_put(level, vec, x);
}

/* Ghosts within the domain, and all of a periodic domain, hold the cells' values. */
static void check_patch(const mg_level_t *level, int patch) {
  const mg_view_t *v = &level->store.view;
  const mg_patch_t *p = &v->patch[patch];
  const int n[3] = {p->n[0] + 2, p->n[1] + 2, p->n[2] + 2};
  double *x = patch_get(level, patch, MG_U, 1), worst = 0.0;
  int64_t c = 0;
  EACH_CELL(at, n) {
    int global[3];
    bool inside = true;
    for (int d = 0; d < 3; d++) {
      global[d] = p->lo[d] + at[d] - 1;
      inside = inside && (v->periodic || (global[d] >= 0 && global[d] < v->n[d]));
      global[d] = (global[d] + v->n[d]) % v->n[d];
    }
    if (inside) worst = worst_of(worst, fabs(x[c] - id_of(v, global)));
    c++;
  }
  CHECK_CASE(worst == 0.0, worst, 0.0);
}

static void test_halo(mg_level_t *level) {
  MUST(mg_fill(level, MG_U, NAN));
  put_ids(level, MG_U);
  MUST(mg_halo(level, MG_U, true));
  for (int q = 0; q < level->store.view.n_patches; q++)
    check_patch(level, q);
  MUST(mg_fill(level, MG_U, 0.0)); /* fv4 on narrow boxes expects second ghosts of 0 */
}

/* The value of a linear function that put_ids sets on the coarse level, at a fine cell. */
static double linear_at(const mg_view_t *coarse, const int at[3]) {
  const double x[3] = {0.5 * at[0] - 0.25, 0.5 * at[1] - 0.25, 0.5 * at[2] - 0.25};
  return 1.0 + x[0] + coarse->n[0] * (x[1] + (double)coarse->n[1] * x[2]);
}

/* P1, V2 and V4 reproduce linear functions where they read no ghost: two coarse cells inward. */
static void test_interpolation(mg_hierarchy_t *h, int l) {
  static const mg_interpolation_t kinds[] = {MG_INTERPOLATE_P1, MG_INTERPOLATE_V2,
                                             MG_INTERPOLATE_V4};
  const mg_view_t *fine = &h->level[l].store.view, *coarse = &h->level[l + 1].store.view;
  const int n_kinds = fine->op == MG_OPERATOR_FV4 ? 3 : 2;
  for (int kind = 0; kind < n_kinds; kind++) {
    double worst = 0.0;
    put_ids(&h->level[l + 1], MG_U);
    MUST(mg_interpolate(h, l, kinds[kind], MG_U, false, false));
    const double *got = field_get(&h->level[l], MG_U);
    int64_t c = 0;
    EACH_CELL(at, fine->n) {
      bool inside = true;
      for (int d = 0; d < 3; d++)
        inside = inside && at[d] >= 4 && at[d] < fine->n[d] - 4;
      if (inside) worst = worst_of(worst, fabs(got[c] - linear_at(coarse, at)));
      c++;
    }
    const double error = 64.0 * DBL_EPSILON * (double)mg_volume(coarse->n);
    CHECK_CASE(worst <= error, worst, error);
  }
}

static void test_levels(mg_hierarchy_t *h) {
  dense_t beta[3];
  for (int l = 0; l < h->n_levels; l++) {
    const mg_view_t *v = &h->level[l].store.view;
    for (int d = 0; d < 3; d++)
      CHECK_INT(v->n[d], ((const int[3]){24, 16, 40})[d] >> l);
    if (l == 0)
      fill_betas(v, beta);
    else
      coarsen_betas(v, beta);
    test_operator(&h->level[l], beta);
    if (l > 0) test_diagonal(&h->level[l], beta);
    test_halo(&h->level[l]);
    if (l == 0) test_interpolation(h, l);
  }
  for (int d = 0; d < 3; d++)
    free(beta[d].memory);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("3x1", "--smoother=gsrb,chebyshev boxes=3x2x5", test_levels);
  return FIXTURE_END();
}
