/* Rows of smoother steps, by the formulas of src/formulas/stencil.h. Variants of the same step in
 * double must be bit-identical. */
#include "lab/smooth_cpu.h"

/* Pointers to a row's vectors at its first cell. */
typedef struct {
  const double *x, *f, *bi, *bj, *bk, *dinv;
  double *next;
  ptrdiff_t js, ks;
} row_t;

static row_t row_at(const lab_grid_t *g, int s, int64_t j, int64_t k) {
  const ptrdiff_t at = j * g->js + k * g->ks;
  return (row_t){g->x[(s + 1) & 1] + at, g->f + at,        g->bi + at, g->bj + at, g->bk + at,
                 g->dinv + at,           g->x[s & 1] + at, g->js,      g->ks};
}

MG_INLINE double apply_7(const row_t *r, int64_t i) {
  return mg_apply_7(r->x + i, r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, LAB_A, LAB_B_H2);
}
MG_INLINE double apply_fv4(const row_t *r, int64_t i) {
  return mg_apply_fv4(r->x + i, r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, LAB_A, LAB_B_H2);
}
MG_INLINE double dinv_summed(const row_t *r, int64_t i) {
  return lab_dinv(r->bi + i, r->bj + i, r->bk + i, r->js, r->ks);
}
MG_INLINE double dinv_stored(const row_t *r, int64_t i) {
  return r->dinv[i];
}

#define CHEBYSHEV_CELL(apply, dinv)                                                                \
  r.next[i] = mg_update(r.x[i], r.next[i], apply(&r, i), r.f[i], dinv(&r, i), LAB_C1, LAB_C2)

#define PLAIN_ROW(name, apply, dinv)                                                               \
  void name(const lab_grid_t *g, int s, int64_t j, int64_t k) {                                    \
    const row_t r = row_at(g, s, j, k);                                                            \
    for (int64_t i = 0; i < g->n; i++) {                                                           \
      LAB_OPAQUE(i);                                                                               \
      CHEBYSHEV_CELL(apply, dinv);                                                                 \
    }                                                                                              \
  }
PLAIN_ROW(lab_chebyshev_plain, apply_7, dinv_summed)
PLAIN_ROW(lab_fv4_plain, apply_fv4, dinv_stored)

#define VECTOR_ROW(name, apply, dinv)                                                              \
  void name(const lab_grid_t *g, int s, int64_t j, int64_t k) {                                    \
    const row_t r = row_at(g, s, j, k);                                                            \
    const int64_t n = g->n;                                                                        \
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++) CHEBYSHEV_CELL(apply, dinv);               \
  }
VECTOR_ROW(lab_chebyshev, apply_7, dinv_summed)
VECTOR_ROW(lab_chebyshev_stored, apply_7, dinv_stored)
VECTOR_ROW(lab_fv4, apply_fv4, dinv_stored)

void lab_chebyshev_k_innermost(const lab_grid_t *g, int s) {
  for (int64_t i = 0; i < g->n; i++)
    for (int64_t j = 0; j < g->n; j++)
      for (int64_t k = 0; k < g->n; k++) {
        LAB_OPAQUE(k);
        const row_t r = row_at(g, s, j, k);
        CHEBYSHEV_CELL(apply_7, dinv_summed);
      }
}

/* float in memory, double in registers. Inlined: arrays declared inside the loop would prevent its
 * vectorization. */
typedef struct {
  const float *x, *f, *bi, *bj, *bk;
  float *next;
  ptrdiff_t js, ks;
} small_row_t;

MG_INLINE float small_cell(const small_row_t *r, int64_t i) {
  const ptrdiff_t js = r->js, ks = r->ks;
  const float *x = r->x + i;
  const mg_values7_t v = {x[0], {x[-1], x[-js], x[-ks]}, {x[1], x[js], x[ks]}};
  const double bi[2] = {r->bi[i], r->bi[i + 1]}, bj[2] = {r->bj[i], r->bj[i + js]};
  const double bk[2] = {r->bk[i], r->bk[i + ks]};
  const double ax = mg_apply_values7(v, bi, bj, bk, 1, 1, LAB_A, LAB_B_H2);
  const double dinv = lab_dinv(bi, bj, bk, 1, 1);
  return (float)mg_update(v.c, r->next[i], ax, r->f[i], dinv, LAB_C1, LAB_C2);
}

void lab_chebyshev_small(const lab_grid_t *g, int s, int64_t j, int64_t k) {
  const ptrdiff_t at = j * g->js + k * g->ks;
  const small_row_t r = {g->small_x[(s + 1) & 1] + at,
                         g->small_f + at,
                         g->small_bi + at,
                         g->small_bj + at,
                         g->small_bk + at,
                         g->small_x[s & 1] + at,
                         g->js,
                         g->ks};
  const int64_t n = g->n;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    r.next[i] = small_cell(&r, i);
}

/* GSRB updates x[0] in place. */
static row_t gsrb_row_at(const lab_grid_t *g, int64_t j, int64_t k) {
  return row_at(g, 1, j, k);
}

MG_INLINE double relaxed(const row_t *r, int64_t i) {
  return mg_relax(r->x[i], apply_7(r, i), r->f[i], dinv_summed(r, i), 1.0);
}

/* True if step s does not update cell i of the row (the other colour). */
MG_INLINE bool stays(int s, int64_t i, int64_t j, int64_t k) {
  return ((i ^ j ^ k ^ (s + 1)) & 1) != 0;
}

void lab_gsrb_plain(const lab_grid_t *g, int s, int64_t j, int64_t k) {
  const row_t r = gsrb_row_at(g, j, k);
  double *x = g->x[0] + j * g->js + k * g->ks;
  for (int64_t i = stays(s, 0, j, k); i < g->n; i += 2) {
    LAB_OPAQUE(i);
    x[i] = relaxed(&r, i);
  }
}

/* Cells of one colour read only the other colour, so iterations are independent. */
void lab_gsrb_in_place(const lab_grid_t *g, int s, int64_t j, int64_t k) {
  const row_t r = gsrb_row_at(g, j, k);
  double *x = g->x[0] + j * g->js + k * g->ks;
  const int64_t n = g->n;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    x[i] = stays(s, i, j, k) ? x[i] : relaxed(&r, i);
}

/* As in src/cpu/smooth.c: loads that overlap a recent store wait for it, so results go through a
 * buffer. */
void lab_gsrb(const lab_grid_t *g, int s, int64_t j, int64_t k) {
  enum { CHUNK = 512 };
  const row_t r = gsrb_row_at(g, j, k);
  double *x = g->x[0] + j * g->js + k * g->ks, buffer[CHUNK];
  for (int64_t start = 0; start < g->n; start += CHUNK) {
    const int64_t end = start + CHUNK < g->n ? start + CHUNK : g->n;
#pragma omp simd
    for (int64_t i = start; i < end; i++)
      buffer[i - start] = stays(s, i, j, k) ? x[i] : relaxed(&r, i);
#pragma omp simd
    for (int64_t i = start; i < end; i++)
      x[i] = buffer[i - start];
  }
}
