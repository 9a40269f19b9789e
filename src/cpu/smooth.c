/* One step of a smoother.
 *
 * Bytes per cell for one step of the 7-point operators: GSRB 48 (x read and written in place, f and
 * three betas read), Jacobi 48, Chebyshev 56 (reads the previous iterate and overwrites it with the
 * next).
 *
 * The diagonal can be summed from the betas, which are loaded anyway. Reading it from memory
 * instead makes a single step a fifth slower; reading it from cache saves a division, which makes a
 * step a fifth to a half faster. So large levels store it only for passes (plan/plan_level.c), and
 * it is read where it is stored. For fv4 the diagonal costs more to compute than to load, so it is
 * read: 8 bytes more. Wall ghosts are filled strip by strip, just before they are read. */
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

/* A x and 1 / diagonal of cell i; `a` is a alpha. Everything below must be inlined, or the loops
 * are not vectorized. */
#define APPLY(name, formula, a)                                                                    \
  MG_INLINE mg_real_t apply_##name(const row_t *r, ptrdiff_t i) {                                  \
    return formula(r->src + i, r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, a, r->b_h2);         \
  }
APPLY(7, mg_apply_7, r->a)
APPLY(7_varying, mg_apply_7, r->alpha[i])

MG_INLINE mg_real_t dinv_7(const row_t *r, ptrdiff_t i) {
  mg_face_weights_t w = r->weights;
  w.low[0] = i == 0 ? r->first : MG_REAL(1.0);
  w.high[0] = i == r->n - 1 ? r->last : MG_REAL(1.0);
  return MG_REAL(1.0) /
         mg_diagonal_7(r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, w, r->a, r->b_h2);
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
 * cell `at` of row r; `changes`: the cell has the color. */
#define ROWS(name, value)                                                                          \
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
      const row_t r = row_at(v, p, job, j, k);                                                     \
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
#define UPDATES(name, apply, dinv)                                                                 \
  ROWS(all_##name, UPDATE(apply, r->dst[at], dinv))                                                \
  ROWS(second_##name, UPDATE(apply, MG_REAL(0.0), dinv))                                           \
  ROWS(jacobi_##name, UPDATE(apply, r->src[at], dinv))
UPDATES(7, apply_7, dinv_7)
UPDATES(7_stored, apply_7, dinv_stored)
UPDATES(7_varying, apply_7_varying, dinv_stored)

MG_INLINE mg_real_t chosen(bool first, mg_real_t x, mg_real_t y) {
  return first ? x : y;
}

/* A step from zero, where A x is also zero. */
#define FROM_ZERO(dinv)                                                                            \
  chosen(changes, mg_relax(0.0, 0.0, r->f[at], dinv(r, at), r->c2), MG_REAL(0.0))
ROWS(first_7, FROM_ZERO(dinv_7))
ROWS(first_stored, FROM_ZERO(dinv_stored))

#define RELAX(apply, dinv) mg_relax(r->src[at], apply(r, at), r->f[at], dinv(r, at), r->c2)

/* Colored steps in place: a cell reads only cells of the other color, so the order does not matter.
 * A block is stored after the next one has been loaded: a load that overlaps a recent store, as
 * those of x(i-1) and x(i+1) would, stalls until the store reaches the cache. */
#define ROWS_IN_PLACE(name, apply, dinv)                                                           \
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
      const row_t r = row_at(v, p, job, j, k);                                                     \
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
ROWS_IN_PLACE(colored_7, apply_7, dinv_7)
ROWS_IN_PLACE(colored_7_stored, apply_7, dinv_stored)
ROWS_IN_PLACE(colored_7_varying, apply_7_varying, dinv_stored)

/* Functions of one variant of the operator. */
typedef struct {
  mg_cpu_rows_fn *first, *colored, *all;
  mg_cpu_rows_fn *second; /* previous is zero */
  mg_cpu_rows_fn *jacobi; /* previous has weight 0 */
} strips_t;

#define STRIPS_OF(name, first)                                                                     \
  { first, colored_##name, all_##name, second_##name, jacobi_##name }
static const strips_t strips_7 = STRIPS_OF(7, first_7),
                      strips_7_stored = STRIPS_OF(7_stored, first_stored),
                      strips_7_varying = STRIPS_OF(7_varying, first_stored);

/* Other stencils, with constant and with varying alpha. Their colored steps are not in place. */
#define VARIANT(name, formula, a)                                                                  \
  APPLY(name, formula, a)                                                                          \
  UPDATES(name, apply_##name, dinv_stored)                                                         \
  ROWS(colored_##name, chosen(changes, RELAX(apply_##name, dinv_stored), r->src[at]))              \
  static const strips_t strips_##name = STRIPS_OF(name, first_stored);
#define VARIANTS(points)                                                                           \
  VARIANT(points, mg_apply_##points, r->a)                                                         \
  VARIANT(points##_varying, mg_apply_##points, r->alpha[i])
MG_OTHER_STENCILS(VARIANTS)

/* If alpha varies, 1 / diagonal is always stored. */
static const strips_t *choose_strips(const mg_view_t *v) {
  const int points = mg_traits_of(v->op)->points;
#define CHOOSE(n)                                                                                  \
  if (points == n) return v->alpha_varies ? &strips_##n##_varying : &strips_##n;
  MG_OTHER_STENCILS(CHOOSE)
  if (v->alpha_varies) return &strips_7_varying;
  const bool stored = v->n_patches > 0 && v->patch[0].vec[MG_DINV];
  return stored ? &strips_7_stored : &strips_7;
}

static mg_cpu_rows_fn *choose_rows(const mg_view_t *v, const mg_update_t *u) {
  const strips_t *strips = choose_strips(v);
  switch (u->form) {
  case MG_UPDATE_FIRST:
    return strips->first;
  case MG_UPDATE_COLORED:
    return strips->colored;
  case MG_UPDATE_ALL:
  default:
    return u->previous == u->x ? strips->jacobi : u->previous < 0 ? strips->second : strips->all;
  }
}

void mg_cpu_step_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_step_t *job = arg;
  const mg_patch_t *p = &v->patch[patch];
  /* In place, the wall ghosts must come from values before the step, so fill them first. */
  if (job->u.x >= 0) mg_cpu_residual_walls(v, p, p->vec[job->u.x], k, j0, j1);
  job->rows(v, p, job, k, j0, j1);
}

mg_cpu_step_t mg_cpu_step_of(const mg_view_t *v, const mg_sweep_t *sweep) {
  mg_cpu_step_t step = {.u = mg_update_of(sweep)};
  const mg_wall_orders_t order = mg_operator_orders(v);
  for (int s = 0; s < 6; s++)
    step.wall[s / 2][s % 2] = mg_wall_weight(v->side[s / 2][s % 2], order.along[s / 2]);
  step.rows = choose_rows(v, &step.u);
  return step;
}

mg_status_t mg_cpu_smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  (void)region; /* never a part: sweep_overlaps is NULL */
  mg_cpu_step_t step = mg_cpu_step_of(v, sweep);
  if (step.u.x >= 0) mg_cpu_residual_prepare(v, step.u.x);
  mg_cpu_strips(v, mg_cpu_step_strip, &step);
  return MG_OK;
}
