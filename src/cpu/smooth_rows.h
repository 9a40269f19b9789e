/* Loops over the rows of a strip for steps of a smoother. smooth.c and constant.c instantiate
 * them. */
#ifndef MG_CPU_SMOOTH_ROWS_H
#define MG_CPU_SMOOTH_ROWS_H

#include "cpu/cpu.h"
#include "formulas/smoother.h"
#include "formulas/stencil.h"

/* A row: pointers to its first cell, and the numbers of the step. */
typedef struct {
  const mg_real_t *f, *bi, *bj, *bk;
  const mg_real_t *dinv;  /* NULL if not stored */
  const mg_real_t *alpha; /* NULL if alpha is constant */
  mg_real_t *src, *dst;   /* src is NULL for zero */
  ptrdiff_t js, ks, n;
  ptrdiff_t bjs, bks; /* strides of constant betas (constant.c) */
  mg_real_t a, b_h2, c1, c2;
  ptrdiff_t phase, mask;     /* cells with (i ^ phase) & mask == 0 change */
  mg_face_weights_t weights; /* for the faces of all cells except the first and the last */
  mg_real_t first, last;     /* weight of the first cell's low face and the last cell's high face */
} row_t;

MG_INLINE row_t row_at(const mg_view_t *v, const mg_patch_t *p, const mg_cpu_step_t *job, int j,
                       int k) {
  const ptrdiff_t at = j * p->jstride + k * p->kstride;
  const mg_update_t *u = &job->u;
  return (row_t){.f = p->vec[MG_F] + at,
                 .dinv = p->vec[MG_DINV] ? p->vec[MG_DINV] + at : NULL,
                 .alpha = p->vec[MG_ALPHA] ? p->vec[MG_ALPHA] + at : NULL,
                 .bi = p->vec[MG_BETA_I] + at,
                 .bj = p->vec[MG_BETA_J] + at,
                 .bk = p->vec[MG_BETA_K] + at,
                 .src = u->x < 0 ? NULL : p->vec[u->x] + at,
                 .dst = p->vec[u->dst] + at,
                 .js = p->jstride,
                 .ks = p->kstride,
                 .n = p->n[0],
                 .a = MG_REAL(v->a),
                 .b_h2 = MG_REAL(v->b_h2),
                 .c1 = MG_REAL(u->c1),
                 .c2 = MG_REAL(u->c2),
                 .phase = (mg_parity(p, 0, j, k) ^ u->color) & 1,
                 .mask = u->mask,
                 .weights = mg_face_weights(p, job->wall, -1, j, k),
                 .first = p->wall[0][0] ? job->wall[0][0] : MG_REAL(1.0),
                 .last = p->wall[0][1] ? job->wall[0][1] : MG_REAL(1.0)};
}

MG_INLINE mg_real_t dinv_stored(const row_t *r, ptrdiff_t i) {
  return r->dinv[i];
}

/* A row is computed in blocks of a constant number of cells, which become a few vector instructions
 * without preparation or remainder: a row of a coarse level is just one or two blocks. */
enum { BLOCK = MG_CPU_BLOCK };

MG_INLINE void copy_block(mg_real_t *to, const mg_real_t *from) {
  for (ptrdiff_t l = 0; l < BLOCK; l++)
    to[l] = from[l];
}

/* All rows of a strip of plane k, where no cell depends on another cell of dst. `value` is that of
 * cell `at` of row r; `changes`: the cell has the color; `row_of_strip`: row_at, or a function like
 * it. */
#define ROWS(name, value, row_of_strip)                                                            \
  MG_INLINE void block_##name(const row_t *r, ptrdiff_t i, ptrdiff_t n, ptrdiff_t phase) {         \
    _Pragma("omp simd") for (ptrdiff_t l = 0; l < n; l++) {                                        \
      const ptrdiff_t at = i + l;                                                                  \
      const bool changes = ((l ^ phase) & r->mask) == 0;                                           \
      (void)changes;                                                                               \
      r->dst[at] = value;                                                                          \
    }                                                                                              \
  }                                                                                                \
  static void name(const mg_view_t *v, const mg_patch_t *p, const mg_cpu_step_t *job, int k,       \
                   int j0, int j1) {                                                               \
    for (int j = j0; j < j1; j++) {                                                                \
      const row_t r = row_of_strip(v, p, job, j, k);                                               \
      ptrdiff_t i = 0;                                                                             \
      for (; i + BLOCK <= r.n; i += BLOCK)                                                         \
        block_##name(&r, i, BLOCK, r.phase);                                                       \
      for (; i + BLOCK / 2 <= r.n; i += BLOCK / 2)                                                 \
        block_##name(&r, i, BLOCK / 2, r.phase);                                                   \
      for (; i < r.n; i++)                                                                         \
        block_##name(&r, i, 1, r.phase ^ (i & 1));                                                 \
    }                                                                                              \
  }

/* Steps on all cells. The previous iterate is the old content of dst, zero, or x if c1 = 0. */
#define UPDATE(apply, previous, dinv)                                                              \
  mg_update(r->src[at], previous, apply(r, at), r->f[at], dinv(r, at), r->c1, r->c2)
#define UPDATES(name, apply, dinv, row)                                                            \
  ROWS(all_##name, UPDATE(apply, r->dst[at], dinv), row)                                           \
  ROWS(second_##name, UPDATE(apply, MG_REAL(0.0), dinv), row)                                      \
  ROWS(jacobi_##name, UPDATE(apply, r->src[at], dinv), row)

MG_INLINE mg_real_t chosen(bool first, mg_real_t x, mg_real_t y) {
  return first ? x : y;
}

/* A step from zero, where A x is also zero. */
#define FROM_ZERO(dinv)                                                                            \
  chosen(changes, mg_relax(0.0, 0.0, r->f[at], dinv(r, at), r->c2), MG_REAL(0.0))

#define RELAX(apply, dinv) mg_relax(r->src[at], apply(r, at), r->f[at], dinv(r, at), r->c2)

/* Colored steps in place: a cell reads only cells of the other color, so the order does not matter.
 * A block is stored after the next one has been loaded: a load that overlaps a recent store, as
 * those of x(i-1) and x(i+1) would, stalls until the store reaches the cache. */
#define ROWS_IN_PLACE(name, apply, dinv, row_of_strip)                                             \
  MG_INLINE void block_##name(const row_t *r, ptrdiff_t i, ptrdiff_t n, ptrdiff_t phase,           \
                              mg_real_t *out) {                                                    \
    _Pragma("omp simd") for (ptrdiff_t l = 0; l < n; l++) {                                        \
      const ptrdiff_t at = i + l;                                                                  \
      out[l] = chosen(((l ^ phase) & 1) == 0, RELAX(apply, dinv), r->src[at]);                     \
    }                                                                                              \
  }                                                                                                \
  static void name(const mg_view_t *v, const mg_patch_t *p, const mg_cpu_step_t *job, int k,       \
                   int j0, int j1) {                                                               \
    for (int j = j0; j < j1; j++) {                                                                \
      const row_t r = row_of_strip(v, p, job, j, k);                                               \
      mg_real_t *x = r.src, computed[BLOCK], kept[BLOCK] = {0};                                    \
      ptrdiff_t i = 0;                                                                             \
      for (; i + BLOCK <= r.n; i += BLOCK) {                                                       \
        block_##name(&r, i, BLOCK, r.phase, computed);                                             \
        if (i > 0) copy_block(x + i - BLOCK, kept);                                                \
        copy_block(kept, computed);                                                                \
      }                                                                                            \
      const ptrdiff_t whole = i;                                                                   \
      for (; i + BLOCK / 2 <= r.n; i += BLOCK / 2)                                                 \
        block_##name(&r, i, BLOCK / 2, r.phase, x + i);                                            \
      for (; i < r.n; i++)                                                                         \
        block_##name(&r, i, 1, r.phase ^ (i & 1), x + i);                                          \
      if (whole > 0) copy_block(x + whole - BLOCK, kept);                                          \
    }                                                                                              \
  }

/* Functions of one variant of the operator. */
typedef struct {
  mg_cpu_rows_fn *first, *colored, *all;
  mg_cpu_rows_fn *second; /* previous is zero */
  mg_cpu_rows_fn *jacobi; /* previous has weight 0 */
} strips_t;

extern const strips_t mg_cpu_constant_strips; /* constant.c */

#define STRIPS_OF(name, first)                                                                     \
  { first, colored_##name, all_##name, second_##name, jacobi_##name }

#endif
