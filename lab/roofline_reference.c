#include "lab/roofline_reference.h"
#include "base/log.h"
#include "formulas/index.h"
#include <inttypes.h>
#include <stdlib.h>

enum { MOST_SCRATCH = 16 };
static struct {
  double *memory;
  int64_t n;
  bool taken;
} scratch[MOST_SCRATCH];

/* Smallest free slot that is large enough; otherwise a free slot that is too small or empty. */
static int scratch_place(int64_t n) {
  int best = -1;
  for (int q = 0; q < MOST_SCRATCH; q++) {
    if (scratch[q].taken) continue;
    const bool fits = scratch[q].n >= n, best_fits = best >= 0 && scratch[best].n >= n;
    if (best < 0 || (fits && !best_fits) || (fits == best_fits && scratch[q].n < scratch[best].n))
      best = q;
  }
  return best;
}

double *scratch_take(int64_t n) {
  const int q = scratch_place(n);
  if (q >= 0 && scratch[q].n < n) {
    free(scratch[q].memory);
    scratch[q].memory = malloc((size_t)n * sizeof(double));
    scratch[q].n = scratch[q].memory ? n : 0;
  }
  if (q < 0 || scratch[q].n < n) {
    (void)mg_error(MG_ERR_MEMORY, "no memory for %" PRId64 " numbers to check", n);
    return NULL;
  }
  scratch[q].taken = true;
  return scratch[q].memory;
}

void scratch_give(double *memory) {
  for (int q = 0; q < MOST_SCRATCH; q++)
    if (memory && scratch[q].memory == memory) scratch[q].taken = false;
}

void scratch_close(void) {
  for (int q = 0; q < MOST_SCRATCH; q++)
    if (!scratch[q].taken) {
      free(scratch[q].memory);
      scratch[q].memory = NULL;
      scratch[q].n = 0;
    }
}

mg_status_t field_make(field_t *x, int n, int first, int last) {
  const int64_t plane = (int64_t)n * n;
  *x = (field_t){scratch_take(plane * (last - first)), n, first, last, n, plane};
  return x->memory ? MG_OK : MG_ERR_MEMORY;
}

void field_free(field_t *x) {
  scratch_give(x->memory);
  x->memory = NULL;
}

/* A cell, or a ghost outside walls by the formula of the given order. Corner ghosts are tensor
 * products: along k of ghosts along j, and those of ghosts along i. */
static double ghost(const field_t *x, int order, int i, int j, int k) {
  int at[3] = {i, j, k};
  for (int d = 2; d >= 0; d--) {
    const int below = -at[d], beyond = at[d] - (x->n - 1);
    if (below <= 0 && beyond <= 0) continue;
    const int layer = below > 0 ? below : beyond, wall = below > 0 ? 0 : x->n - 1,
              in = below > 0 ? 1 : -1;
    double c[4] = {0.0};
    for (int q = 0; q < order; q++) {
      at[d] = wall + q * in;
      c[q] = ghost(x, order, at[0], at[1], at[2]);
    }
    if (order == 1) return mg_wall1(c[0]);
    if (order == 2) return mg_wall2(c[0], c[1]);
    return (layer == 1 ? mg_wall4_first : mg_wall4_second)(c[0], c[1], c[2], c[3]);
  }
  return *field_cell(x, i, j, k);
}

static inline double value(const field_t *x, int order, int i, int j, int k) {
  const unsigned n = (unsigned)x->n;
  const bool inside = (unsigned)i < n && (unsigned)j < n && (unsigned)k < n;
  return inside ? *field_cell(x, i, j, k) : ghost(x, order, i, j, k);
}

static const double *face(const faces_t *f, int d, int i, int j, int k) {
  return f->at[d] + (i + 1) + (j + 1) * f->jstride + (k - f->first + 1) * f->kstride;
}

int reference_reach(const mg_view_t *view) {
  return view->op == MG_OPERATOR_FV4 ? 2 : 1;
}

/* a * alpha */
static double a_of(const reference_t *r, int i, int j, int k) {
  return r->alpha.memory ? *field_cell(&r->alpha, i, j, k) : r->view->a;
}

static double apply7(const reference_t *r, const field_t *x, int i, int j, int k) {
  const int order = mg_operator_order(r->view);
  const mg_values7_t v = {
      *field_cell(x, i, j, k),
      {value(x, order, i - 1, j, k), value(x, order, i, j - 1, k), value(x, order, i, j, k - 1)},
      {value(x, order, i + 1, j, k), value(x, order, i, j + 1, k), value(x, order, i, j, k + 1)}};
  const faces_t *b = &r->faces;
  return mg_apply_values7(v, face(b, 0, i, j, k), face(b, 1, i, j, k), face(b, 2, i, j, k),
                          b->jstride, b->kstride, a_of(r, i, j, k), r->view->b_h2);
}

/* x at steps from a cell along directions d and t. */
static double near(const field_t *x, const int at[3], int d, int d_steps, int t, int t_steps) {
  int to[3] = {at[0], at[1], at[2]};
  to[d] += d_steps;
  to[t] += t_steps;
  return value(x, 4, to[0], to[1], to[2]);
}

static mg_axis4_t axis4(const field_t *x, const int at[3], int d) {
  mg_axis4_t v;
  v.low2 = near(x, at, d, -2, d, 0);
  v.low = near(x, at, d, -1, d, 0);
  v.high = near(x, at, d, 1, d, 0);
  v.high2 = near(x, at, d, 2, d, 0);
  return v;
}

static mg_edges4_t edges4(const field_t *x, const int at[3], int d, int t) {
  mg_edges4_t v;
  v.low_low = near(x, at, d, -1, t, -1);
  v.low_high = near(x, at, d, -1, t, 1);
  v.high_low = near(x, at, d, 1, t, -1);
  v.high_high = near(x, at, d, 1, t, 1);
  return v;
}

static double apply25(const reference_t *r, const field_t *x, int i, int j, int k) {
  const int at[3] = {i, j, k};
  mg_values25_t v;
  v.c = *field_cell(x, i, j, k);
  v.i = axis4(x, at, 0);
  v.j = axis4(x, at, 1);
  v.k = axis4(x, at, 2);
  v.ij = edges4(x, at, 0, 1);
  v.ik = edges4(x, at, 0, 2);
  v.jk = edges4(x, at, 1, 2);
  const faces_t *f = &r->faces;
  const mg_betas30_t betas = mg_load_betas30(face(f, 0, i, j, k), face(f, 1, i, j, k),
                                             face(f, 2, i, j, k), f->jstride, f->kstride);
  return mg_apply_values25(&v, &betas, a_of(r, i, j, k), r->view->b_h2);
}

static double apply(const reference_t *r, const field_t *x, int i, int j, int k) {
  return r->view->op == MG_OPERATOR_FV4 ? apply25(r, x, i, j, k) : apply7(r, x, i, j, k);
}

void reference_residual(const reference_t *r, const field_t *x, const field_t *f, field_t *dst) {
#pragma omp parallel for collapse(2)
  for (int k = dst->first; k < dst->last; k++)
    for (int j = 0; j < dst->n; j++)
      for (int i = 0; i < dst->n; i++) {
        const double ax = apply(r, x, i, j, k);
        *field_cell(dst, i, j, k) = f ? *field_cell(f, i, j, k) - ax : ax;
      }
}

static double inverse_diagonal(const reference_t *r, int i, int j, int k) {
  if (r->dinv.memory) return *field_cell(&r->dinv, i, j, k);
  const faces_t *b = &r->faces;
  const mg_face_weights_t w =
      mg_face_weights(&r->view->patch[0], mg_operator_order(r->view), i, j, k);
  return 1.0 / mg_diagonal_7(face(b, 0, i, j, k), face(b, 1, i, j, k), face(b, 2, i, j, k),
                             b->jstride, b->kstride, w, a_of(r, i, j, k), r->view->b_h2);
}

void reference_step(const reference_t *r, const field_t *x, const field_t *previous,
                    const mg_step_t *step, field_t *dst) {
#pragma omp parallel for collapse(2)
  for (int k = dst->first; k < dst->last; k++)
    for (int j = 0; j < dst->n; j++)
      for (int i = 0; i < dst->n; i++) {
        const double old = *field_cell(x, i, j, k);
        double *out = field_cell(dst, i, j, k);
        *out = old;
        if (step->colored && (i + j + k + step->color) % 2 != 0) continue;
        const double ax = apply(r, x, i, j, k), f = *field_cell(&r->f, i, j, k),
                     dinv = inverse_diagonal(r, i, j, k);
        const double before = previous && step->c1 != 0.0 ? *field_cell(previous, i, j, k) : old;
        *out = step->colored ? mg_relax(old, ax, f, dinv, step->c2)
                             : mg_update(old, before, ax, f, dinv, step->c1, step->c2);
      }
}

void reference_restrict(const field_t *fine, field_t *dst) {
#pragma omp parallel for collapse(2)
  for (int k = dst->first; k < dst->last; k++)
    for (int j = 0; j < dst->n; j++)
      for (int i = 0; i < dst->n; i++) {
        double row[4];
        for (int q = 0; q < 4; q++) {
          const double *pair = field_cell(fine, 2 * i, 2 * j + q % 2, 2 * k + q / 2);
          row[q] = pair[0] + pair[1];
        }
        *field_cell(dst, i, j, k) = mg_mean8(row[0], row[1], row[2], row[3]);
      }
}

/* One side's combination of up to five values of a line, by the interpolation formula. */
static double child(mg_interpolation_t kind, const double line[5], int side) {
  switch (kind) {
  case MG_INTERPOLATE_P1:
    return mg_interpolate_p1(line[1], line[2], line[3], side);
  case MG_INTERPOLATE_V2:
    return mg_interpolate_v2(line[1], line[2], line[3], side);
  case MG_INTERPOLATE_V4:
    return mg_interpolate_v4(line[0], line[1], line[2], line[3], line[4], side);
  default:
    return line[2];
  }
}

/* Interpolate along k, then j, then i. */
static double interpolated(const field_t *coarse, mg_interpolation_t kind, int i, int j, int k) {
  const int order = kind == MG_INTERPOLATE_V4 ? 4 : kind == MG_INTERPOLATE_V2 ? 2 : 1;
  const int reach = kind == MG_INTERPOLATE_V4 ? 2 : kind == MG_INTERPOLATE_P0 ? 0 : 1;
  double row[5] = {0.0};
  for (int q = -reach; q <= reach; q++) {
    double plane[5] = {0.0};
    for (int p = -reach; p <= reach; p++) {
      double line[5] = {0.0};
      for (int o = -reach; o <= reach; o++)
        line[o + 2] = value(coarse, order, i / 2 + q, j / 2 + p, k / 2 + o);
      plane[p + 2] = child(kind, line, k % 2 == 0 ? -1 : 1);
    }
    row[q + 2] = child(kind, plane, j % 2 == 0 ? -1 : 1);
  }
  return child(kind, row, i % 2 == 0 ? -1 : 1);
}

void reference_interpolate(const field_t *coarse, mg_interpolation_t kind, bool add, field_t *dst) {
#pragma omp parallel for collapse(2)
  for (int k = dst->first; k < dst->last; k++)
    for (int j = 0; j < dst->n; j++)
      for (int i = 0; i < dst->n; i++) {
        double *out = field_cell(dst, i, j, k);
        const double p = interpolated(coarse, kind, i, j, k);
        *out = add ? *out + p : p;
      }
}
