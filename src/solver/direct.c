/* --bottom=direct: the coarsest level is solved with the inverse of A, a dense matrix. One product
 * replaces the iterations of bottom.c and the levels of fewer cells. */
#include "backend/cycles.h"
#include "formulas/walls.h"
#include "level/ops.h"
#include "solver/cycle_wings.h"
#include "wings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mg_direct {
  const mg_backend_t *backend;
  int n, pitch;    /* cells; values from row to row of the inverse, the last ones 0 */
  double *inverse; /* a row for each cell, i fastest */
  double *values;  /* of all cells: `pitch` */
  void *buffer;    /* values of this rank's cells, or faces, that operations copy */
  size_t bytes;
  mg_copies_t *read, *write;
  mg_matrix_t *matrix; /* the inverse, where one launch multiplies; or NULL */
};

/* ---- cells of this rank ---- */

/* Number of a patch's cell on the level. */
static int number_of(const mg_view_t *v, const mg_patch_t *p, int i, int j, int k) {
  return p->lo[0] + i + v->n[0] * (p->lo[1] + j + v->n[1] * (p->lo[2] + k));
}

/* List the cells of all patches, and with d >= 0 the faces at their high sides. */
static mg_status_t prepare(const mg_direct_t *m, const mg_view_t *v, int d, bool back,
                           mg_copies_t **out) {
  mg_copy_t *item;
  int64_t at = 0;
  MG_TRY(mg_new(&item, v->n_patches, "copy lists"));
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    item[q] = (mg_copy_t){.src_patch = back ? -1 : q,
                          .dst_patch = back ? q : -1,
                          .n = {p->n[0], p->n[1], p->n[2]},
                          .buffer = at};
    if (d >= 0) item[q].n[d]++;
    at += mg_volume(item[q].n);
  }
  const mg_copy_job_t job = {v, v, m->buffer, item, v->n_patches};
  const mg_status_t status = m->backend->prepare_copies(&job, out);
  free(item);
  return status;
}

static mg_status_t run(const mg_direct_t *m, const mg_copies_t *copies, mg_vector_t vec) {
  MG_TRY(m->backend->copy(copies, vec, vec));
  return m->backend->queue.wait ? m->backend->queue.wait() : MG_OK;
}

static double get(const mg_direct_t *m, int64_t at) {
  return m->backend->value_bytes == sizeof(float) ? (double)((const float *)m->buffer)[at]
                                                  : ((const double *)m->buffer)[at];
}

static void put(const mg_direct_t *m, int64_t at, double x) {
  if (m->backend->value_bytes == sizeof(float))
    ((float *)m->buffer)[at] = (float)x;
  else
    ((double *)m->buffer)[at] = x;
}

/* ---- A ---- */

/* An order of the cells that keeps neighbors close together: the longest direction last. */
typedef struct {
  int n[3], by[3]; /* cells along the directions by[0], by[1], by[2] */
  int band;        /* distance of neighbors, but for those around a periodic domain */
} order_t;

static order_t order_of(const mg_view_t *v) {
  order_t o = {.by = {0, 1, 2}};
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2 - a; b++)
      if (v->n[o.by[b]] > v->n[o.by[b + 1]]) {
        const int by = o.by[b];
        o.by[b] = o.by[b + 1];
        o.by[b + 1] = by;
      }
  for (int d = 0; d < 3; d++)
    o.n[d] = v->n[o.by[d]];
  o.band = o.n[0] * o.n[1];
  return o;
}

static int place_of(const order_t *o, const int at[3]) {
  return at[o->by[0]] + o->n[0] * (at[o->by[1]] + o->n[1] * at[o->by[2]]);
}

/* Add a face at the low or high side of a cell to its row of A. Beyond a wall is a combination of
 * the cell and of its neighbor on the other side. */
static void add_face(const mg_view_t *v, const order_t *o, const int at[3], int d, int side,
                     bool wall, double beta, double *row) {
  const bool linear = mg_operator_orders(v).along[d] == 1;
  const double own = !wall ? 0.0 : linear ? -1.0 : -2.5, other = !wall ? 1.0 : linear ? 0.0 : 0.5;
  int beside[3] = {at[0], at[1], at[2]};
  beside[d] = (at[d] + (side != wall ? 1 : v->n[d] - 1)) % v->n[d];
  row[place_of(o, at)] += v->b_h2 * beta * (1.0 - own);
  row[place_of(o, beside)] -= v->b_h2 * beta * other;
}

/* Add to A what is in the buffer: the faces of this rank's cells normal to d, or if d < 0 alpha. */
static void add_to_rows(const mg_direct_t *m, const mg_view_t *v, const order_t *o, int d,
                        double *a) {
  int64_t first = 0;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    int32_t n[3] = {p->n[0], p->n[1], p->n[2]};
    if (d >= 0) n[d]++;
    const int64_t stride[3] = {1, n[0], (int64_t)n[0] * n[1]};
    for (int k = 0; k < p->n[2]; k++)
      for (int j = 0; j < p->n[1]; j++)
        for (int i = 0; i < p->n[0]; i++) {
          const int in[3] = {i, j, k}, at[3] = {p->lo[0] + i, p->lo[1] + j, p->lo[2] + k};
          const int64_t value = first + i + j * stride[1] + k * stride[2];
          double *const row = a + (size_t)place_of(o, at) * (size_t)m->n;
          if (d < 0) row[place_of(o, at)] += v->alpha_varies ? get(m, value) : v->a;
          for (int side = 0; d >= 0 && side < 2; side++)
            add_face(v, o, at, d, side, in[d] == side * (p->n[d] - 1) && p->wall[d][side],
                     get(m, value + side * stride[d]), row);
        }
    first += mg_volume(n);
  }
}

static mg_status_t read_rows(const mg_level_t *level, mg_direct_t *m, const order_t *o, double *a) {
  const mg_view_t *v = &level->store.view;
  for (int d = 0; d < 3; d++) {
    mg_copies_t *copies;
    MG_TRY(prepare(m, v, d, false, &copies));
    const mg_status_t status = run(m, copies, MG_BETA_I + (mg_vector_t)d);
    m->backend->release_copies(copies);
    MG_TRY(status);
    add_to_rows(m, v, o, d, a);
  }
  if (v->alpha_varies) MG_TRY(run(m, m->read, MG_ALPHA));
  add_to_rows(m, v, o, -1, a);
  return level->plan->layout.n_ranks > 1 ? mg_comm_sum(level->comm, a, m->n * m->n) : MG_OK;
}

/* ---- its inverse: a library's would depend on the kind of CPU ---- */

/* x -= factor y. */
static void subtract(double *restrict x, const double *restrict y, double factor, int n) {
#pragma omp simd
  for (int c = 0; c < n; c++)
    x[c] -= factor * y[c];
}

/* a = L U, with 1 / diagonal of U in `inverse`. Without pivoting: the diagonal dominates. A cell
 * whose pivot is a rounding error is determined by the others up to a constant: its u is 0. Fill
 * stays within the band, and in the last `band` columns if the domain is periodic. */
static void factorize(double *a, int n, int band, bool singular, double *inverse) {
  const double rounding = 4.0 * n * 0x1p-52;
  for (int r = 0; r < n; r++) {
    double *const row = a + (size_t)r * (size_t)n;
    const double diagonal = row[r];
    const int first = r < n - band && r > band ? r - band : 0;
    for (int s = first; s < r; s++) {
      if (row[s] == 0.0) continue;
      const double *const from = a + (size_t)s * (size_t)n;
      const int end = s + band + 1 < n ? s + band + 1 : n, last = end > n - band ? end : n - band;
      row[s] *= inverse[s];
      subtract(row + s + 1, from + s + 1, row[s], end - s - 1);
      subtract(row + last, from + last, row[s], n - last);
    }
    const bool usable = row[r] > rounding * diagonal && !(singular && r == n - 1);
    inverse[r] = usable ? 1.0 / row[r] : 0.0;
  }
}

/* x = inverse of L U, whose first n of `pitch` columns in a row are set. */
static void invert(const double *a, const double *inverse, int n, int pitch, double *x) {
  for (int r = 0; r < n; r++) {
    double *const row = x + (size_t)r * (size_t)pitch;
    const double *const l = a + (size_t)r * (size_t)n;
    row[r] = 1.0;
    for (int s = 0; s < r; s++)
      if (l[s] != 0.0) subtract(row, x + (size_t)s * (size_t)pitch, l[s], s + 1);
  }
  for (int r = n - 1; r >= 0; r--) {
    double *const row = x + (size_t)r * (size_t)pitch;
    const double *const u = a + (size_t)r * (size_t)n;
    for (int s = r + 1; s < n; s++)
      if (u[s] != 0.0) subtract(row, x + (size_t)s * (size_t)pitch, u[s], n);
    for (int c = 0; c < n; c++)
      row[c] *= inverse[r];
  }
}

/* Remove the mean of each row and of each column. */
static void remove_means(double *x, int n, int pitch, double *mean) {
  for (int r = 0; r < n; r++) {
    double sum = 0.0;
    for (int c = 0; c < n; c++)
      sum += x[(size_t)r * (size_t)pitch + (size_t)c];
    for (int c = 0; c < n; c++)
      x[(size_t)r * (size_t)pitch + (size_t)c] -= sum / n;
  }
  memset(mean, 0, (size_t)n * sizeof *mean);
  for (int r = 0; r < n; r++)
    subtract(mean, x + (size_t)r * (size_t)pitch, -1.0 / n, n);
  for (int r = 0; r < n; r++)
    subtract(x + (size_t)r * (size_t)pitch, mean, 1.0, n);
}

/* Set the inverse, whose cells are numbered with i fastest. */
static void set_inverse(mg_direct_t *m, const mg_view_t *v, const order_t *o, double *a) {
  const size_t n = (size_t)m->n, pitch = (size_t)m->pitch;
  double *const x = a + n * n, *const pivots = x + n * pitch;
  factorize(a, m->n, o->band, mg_is_singular(v), pivots);
  invert(a, pivots, m->n, m->pitch, x);
  if (mg_is_singular(v)) remove_means(x, m->n, m->pitch, pivots);
  int place[MG_DIRECT_MAX_CELLS];
  for (int c = 0; c < m->n; c++)
    place[c] = place_of(o, (int[3]){c % v->n[0], c / v->n[0] % v->n[1], c / v->n[0] / v->n[1]});
  for (size_t r = 0; r < n; r++)
    for (size_t c = 0; c < n; c++)
      m->inverse[r * pitch + c] = x[(size_t)place[r] * pitch + (size_t)place[c]];
}

static mg_status_t compute(const mg_level_t *level, mg_direct_t *m) {
  const int64_t n = m->n;
  const order_t order = order_of(&level->store.view);
  double *a;
  MG_TRY(mg_new(&a, n * (n + m->pitch + 1), "the inverse of the coarsest level"));
  const mg_status_t status = read_rows(level, m, &order, a);
  if (status == MG_OK) set_inverse(m, &level->store.view, &order, a);
  free(a);
  return status;
}

/* ---- the solver ---- */

void mg_direct_free(mg_direct_t *m) {
  if (!m) return;
  MG_IF_COARSE(if (m->matrix) m->backend->coarse->matrix_free(m->matrix);)
  if (m->read) m->backend->release_copies(m->read);
  if (m->write) m->backend->release_copies(m->write);
  if (m->buffer) m->backend->release(m->buffer, m->bytes, MG_SPACE_SHARED);
  free(m->values);
  free(m->inverse);
  free(m);
}

/* Faces are at most twice as many as cells. */
static mg_status_t allocate(const mg_level_t *level, mg_direct_t *m) {
  const mg_view_t *v = &level->store.view;
  m->backend = level->backend;
  m->n = (int)mg_volume(v->n);
  m->pitch = (m->n + MG_MATRIX_LANES - 1) / MG_MATRIX_LANES * MG_MATRIX_LANES;
  m->bytes = 2 * (size_t)v->cells * (size_t)m->backend->value_bytes;
  MG_TRY(mg_new(&m->inverse, (int64_t)m->n * m->pitch, "the inverse of the coarsest level"));
  MG_TRY(mg_new(&m->values, m->pitch, "values of the coarsest level"));
  MG_TRY(m->backend->alloc(m->bytes, MG_SPACE_SHARED, &m->buffer));
  MG_TRY(prepare(m, v, -1, false, &m->read));
  return prepare(m, v, -1, true, &m->write);
}

static mg_status_t create(mg_level_t *level) {
  if (level->direct) return MG_OK;
  MG_TRY(mg_new(&level->direct, 1, "the inverse of the coarsest level"));
  return allocate(level, level->direct);
}

static mg_status_t check(const mg_level_t *level) {
  const int32_t *n = level->plan->layout.n;
  if (!mg_has_path(level->store.view.op, MG_PATH_DIRECT))
    return mg_root_error(MG_ERR_USAGE, "--bottom=direct requires --operator=fv2 or 7pt");
  if (mg_volume(n) <= MG_DIRECT_MAX_CELLS) return MG_OK;
  return mg_root_error(MG_ERR_USAGE,
                       "--bottom=direct: the coarsest grid of %dx%dx%d has %lld cells; at most %d "
                       "are allowed; use --bottom=bicgstab",
                       (int)n[0], (int)n[1], (int)n[2], (long long)mg_volume(n),
                       MG_DIRECT_MAX_CELLS);
}

mg_status_t mg_direct_set(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[h->n_levels - 1];
  if (h->params.bottom != MG_BOTTOM_DIRECT) return MG_OK;
  MG_TRY(check(level));
  if (!level->comm) return MG_OK;
  MG_TRY(create(level));
  mg_direct_t *m = level->direct;
  MG_TRY(compute(level, m));
  MG_IF_COARSE(if (level->plan->bottom != &mg_path_bottom) return m->backend->coarse->matrix_set(
      m->inverse, m->n, m->pitch, &m->matrix));
  return MG_OK;
}

/* The sum of a row's products. Lane l adds the products of columns l, l + 32 and so on; then halves
 * of the lanes are added. */
static double product(const double *row, const double *x, int pitch) {
  double sum[MG_MATRIX_LANES] = {0.0};
  for (int c = 0; c < pitch; c += MG_MATRIX_LANES)
#pragma omp simd
    for (int l = 0; l < MG_MATRIX_LANES; l++)
      sum[l] += row[c + l] * x[c + l];
  for (int half = MG_MATRIX_LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++)
      sum[l] += sum[l + half];
  return sum[0];
}

/* Set values of the cells here from the buffer, or multiply: values of the buffer from all cells.
 */
static void visit_cells(mg_direct_t *m, const mg_view_t *v, bool multiply) {
  int64_t at = 0;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    for (int k = 0; k < p->n[2]; k++)
      for (int j = 0; j < p->n[1]; j++)
        for (int i = 0; i < p->n[0]; i++, at++) {
          const int c = number_of(v, p, i, j, k);
          if (multiply)
            put(m, at, product(m->inverse + (size_t)c * (size_t)m->pitch, m->values, m->pitch));
          else
            m->values[c] = get(m, at);
        }
  }
}

static mg_status_t multiply(mg_level_t *level, mg_vector_t dst, mg_vector_t src) {
  const mg_view_t *v = &level->store.view;
  mg_direct_t *m = level->direct;
  MG_IF_COARSE(if (m->matrix) return m->backend->coarse->matrix_multiply(m->matrix, v, dst, src));
  memset(m->values, 0, (size_t)m->pitch * sizeof *m->values);
  MG_TRY(run(m, m->read, src));
  visit_cells(m, v, false);
  if (level->plan->layout.n_ranks > 1) MG_TRY(mg_comm_sum(level->comm, m->values, m->n));
  visit_cells(m, v, true);
  return m->backend->copy(m->write, dst, dst);
}

mg_status_t mg_direct_solve(mg_level_t *level, bool zero_guess) {
  if (zero_guess) return multiply(level, MG_U, MG_F);
  MG_TRY(mg_residual(level, MG_KRYLOV_R, MG_U, MG_F));
  MG_TRY(multiply(level, MG_KRYLOV_P, MG_KRYLOV_R));
  return mg_axpby(level, MG_U, 1.0, MG_U, 1.0, MG_KRYLOV_P);
}
