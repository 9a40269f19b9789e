/* Levels with constant coefficients: how they are found, and rows of their coefficients that stay
 * in the L1 cache. All loops over rows (smooth.c, residual.c) read these instead of the level's
 * betas and 1 / diagonal: 24 instead of 56 bytes per cell and pass. */
#include "base/alloc.h"
#include "cpu/pass.h"
#include "cpu/smooth_rows.h"
#include "formulas/walls.h"
#include <stdlib.h>
#include <string.h>

/* Whether a patch has constant betas in direction d; first: those of its first faces. */
static bool are_constant(const mg_view_t *v, const mg_patch_t *p, int d, const double first[3]) {
  const int n[3] = {p->n[0] + (d == 0), p->n[1] + (d == 1), p->n[2] + (d == 2)};
  bool equal = true;
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)                 \
    reduction(&& : equal)
  for (int k = 0; k < n[2]; k++)
    for (int j = 0; equal && j < n[1]; j++) {
      const mg_real_t *beta = mg_cell(p, MG_BETA_I + d, 0, j, k);
      for (int i = 0; i < n[0]; i++) {
        const int at[3] = {i, j, k};
        equal = equal && beta[i] == first[mg_place_of_face(p, d, at[d])];
      }
    }
  return equal;
}

mg_status_t mg_cpu_bound_betas(const mg_view_t *v, mg_beta_bounds_t *bounds) {
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++) {
      const mg_patch_t *p = &v->patch[q];
      double first[3];
      for (int place = 0; place < 3; place++) {
        int at[3] = {0, 0, 0};
        at[d] = mg_first_face_at(p, d, place);
        if (at[d] < 0) continue;
        first[place] = *mg_cell(p, MG_BETA_I + d, at[0], at[1], at[2]);
        mg_bound_beta(bounds, d, place, first[place]);
      }
      if (!are_constant(v, p, d, first)) mg_bound_beta(bounds, d, 0, INFINITY);
    }
  return MG_OK;
}

/* Rows for each place of a cell or face in j and k: at a low wall, inside, at a high wall. Each row
 * is stored twice: from wall to wall, and with more inner values than any patch has, for patches
 * with one wall in i or none. */
enum { LOW, INSIDE, HIGH, PLACES };
enum { BETA_I, BETA_J, BETA_K = BETA_J + PLACES, DINV = BETA_K + PLACES, ROWS = DINV + 9 };

typedef struct {
  int n, length;   /* cells from wall to wall; inner values of the longer row */
  ptrdiff_t shift; /* from a row to its longer copy */
  ptrdiff_t pitch; /* from row to row */
} head_t;

static mg_real_t *values_of(void *rows) {
  return (mg_real_t *)((char *)rows + 64);
}

/* Fill both copies of a row of n values from wall to wall. */
static void fill(const head_t *h, mg_real_t *row, int n, mg_real_t low, mg_real_t inside,
                 mg_real_t high) {
  for (int i = 0; i < n; i++)
    row[i] = i == 0 ? low : i == n - 1 ? high : inside;
  for (int i = 0; i < h->length + 2; i++)
    row[h->shift + i] = i == 0 ? low : i == h->length + 1 ? high : inside;
}

/* 1 / diagonal of a cell at places in i, j and k. */
static mg_real_t inverse_at(const mg_view_t *v, const int place[3]) {
  const mg_wall_orders_t order = mg_operator_orders(v);
  mg_real_t beta[3][2];
  mg_face_weights_t w;
  for (int d = 0; d < 3; d++) {
    const bool low = place[d] == LOW, high = place[d] == HIGH;
    beta[d][0] = MG_REAL(low ? v->constant.side[d][0] : v->constant.inside[d]);
    beta[d][1] = MG_REAL(high ? v->constant.side[d][1] : v->constant.inside[d]);
    w.low[d] = low ? mg_wall_weight(v->side[d][0], order.along[d]) : MG_REAL(1.0);
    w.high[d] = high ? mg_wall_weight(v->side[d][1], order.along[d]) : MG_REAL(1.0);
  }
  return MG_REAL(1.0) /
         mg_diagonal_7(beta[0], beta[1], beta[2], 1, 1, w, MG_REAL(v->a), MG_REAL(v->b_h2));
}

mg_status_t mg_cpu_constant_rows(mg_view_t *v) {
  /* Finding a short row takes as long as it saves: 16^3 cells took 1.1 times as long, 32^3 0.96. */
  if (v->n[0] < 32) return MG_OK;
  const int line = 64 / (int)sizeof(mg_real_t);
  head_t h = {.n = v->n[0], .length = v->n[0] + 2 * v->ghost_layers + 1};
  h.shift = (h.n + 1 + line - 1) / line * line;
  h.pitch = h.shift + (h.length + 2 + line - 1) / line * line;
  const size_t bytes = 64 + (size_t)(ROWS * h.pitch) * sizeof(mg_real_t);
  if (posix_memalign(&v->constant.rows, 64, bytes) != 0) {
    v->constant.rows = NULL;
    return mg_out_of_memory(bytes, "rows of constants");
  }
  memcpy(v->constant.rows, &h, sizeof h);
  mg_real_t *row = values_of(v->constant.rows);
  const mg_constant_betas_t *c = &v->constant;
  fill(&h, row, h.n + 1, MG_REAL(c->side[0][0]), MG_REAL(c->inside[0]), MG_REAL(c->side[0][1]));
  for (int d = 1; d < 3; d++)
    for (int place = 0; place < PLACES; place++) {
      const mg_real_t beta = MG_REAL(place == LOW    ? c->side[d][0]
                                     : place == HIGH ? c->side[d][1]
                                                     : c->inside[d]);
      fill(&h, row + ((d == 1 ? BETA_J : BETA_K) + place) * h.pitch, h.n, beta, beta, beta);
    }
  for (int place = 0; place < 9; place++) {
    const int j = place % 3, k = place / 3;
    fill(&h, row + (DINV + place) * h.pitch, h.n, inverse_at(v, (const int[3]){LOW, j, k}),
         inverse_at(v, (const int[3]){INSIDE, j, k}), inverse_at(v, (const int[3]){HIGH, j, k}));
  }
  return MG_OK;
}

/* Place of cell `at` of a patch in direction d. */
static int place_of(const mg_patch_t *p, int d, int at) {
  return p->wall[d][0] && at == 0 ? LOW : p->wall[d][1] && at == p->n[d] - 1 ? HIGH : INSIDE;
}

/* The values of a row for n cells or faces of a patch. */
static const mg_real_t *part_of(const head_t *h, const mg_patch_t *p, const mg_real_t *row, int n) {
  if (p->wall[0][0] && p->wall[0][1]) return row;
  row += h->shift;
  return p->wall[0][0] ? row : p->wall[0][1] ? row + h->length + 2 - n : row + 1;
}

/* The coefficients of row j of plane k. */
static void set_constants(const mg_view_t *v, const mg_patch_t *p, int j, int k, row_t *r) {
  head_t h;
  memcpy(&h, v->constant.rows, sizeof h);
  const mg_real_t *row = values_of(v->constant.rows);
  const int n = p->n[0], at_j = place_of(p, 1, j), at_k = place_of(p, 2, k);
  const int low_j = at_j == LOW ? LOW : INSIDE, high_j = at_j == HIGH ? HIGH : INSIDE,
            low_k = at_k == LOW ? LOW : INSIDE, high_k = at_k == HIGH ? HIGH : INSIDE;
  r->bi = part_of(&h, p, row, n + 1);
  r->bj = part_of(&h, p, row + (BETA_J + low_j) * h.pitch, n);
  r->bk = part_of(&h, p, row + (BETA_K + low_k) * h.pitch, n);
  r->dinv = part_of(&h, p, row + (DINV + 3 * at_k + at_j) * h.pitch, n);
  r->bjs = (high_j - low_j) * h.pitch;
  r->bks = (high_k - low_k) * h.pitch;
}

MG_INLINE row_t constant_row_at(const mg_view_t *v, const mg_patch_t *p, const mg_cpu_step_t *job,
                                int j, int k) {
  row_t r = row_at(v, p, job, j, k);
  set_constants(v, p, j, k, &r);
  return r;
}

/* A x of cell i at address x. */
MG_INLINE mg_real_t apply_to(const mg_real_t *x, const row_t *r, ptrdiff_t i) {
  const mg_values7_t v = {x[0], {x[-1], x[-r->js], x[-r->ks]}, {x[1], x[r->js], x[r->ks]}};
  return mg_apply_values7(v, r->bi + i, r->bj + i, r->bk + i, r->bjs, r->bks, r->a, r->b_h2);
}
MG_INLINE mg_real_t apply_constant(const row_t *r, ptrdiff_t i) {
  return apply_to(r->src + i, r, i);
}

UPDATES(constant, apply_constant, dinv_stored, constant_row_at)
ROWS(first_constant, FROM_ZERO(dinv_stored), constant_row_at)
ROWS_IN_PLACE(colored_constant, apply_constant, dinv_stored, constant_row_at)
const strips_t mg_cpu_constant_strips = STRIPS_OF(constant, first_constant);

void mg_cpu_constant_residual_row(const mg_view_t *v, const mg_patch_t *p, const mg_real_t *x,
                                  const mg_real_t *f, int j, int k, mg_real_t *out) {
  row_t r = {.js = p->jstride, .ks = p->kstride, .a = MG_REAL(v->a), .b_h2 = MG_REAL(v->b_h2)};
  set_constants(v, p, j, k, &r);
  if (f) {
#pragma omp simd
    for (int i = 0; i < p->n[0]; i++)
      out[i] = f[i] - apply_to(x + i, &r, i);
  } else {
#pragma omp simd
    for (int i = 0; i < p->n[0]; i++)
      out[i] = apply_to(x + i, &r, i);
  }
}
