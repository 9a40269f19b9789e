/* One step of a smoother.
 *
 * Bytes per cell for one step of the 7-point operators: GSRB 48 (x read and written in place, f and
 * three betas read), Jacobi 48, Chebyshev 56 (reads the previous iterate and overwrites it with the
 * next).
 *
 * The diagonal can be summed from the betas, which are loaded anyway. Reading it from memory
 * instead makes a step a fifth slower; reading it from cache makes it a fifth faster. So the level
 * size decides. For fv4 the diagonal costs more to compute than to load, so it is read: 8 bytes
 * more. Wall ghosts are filled strip by strip, just before they are read. */
#include "cpu/cpu.h"
#include "formulas/smoother.h"
#include "formulas/stencil.h"

typedef struct {
  mg_update_t u;
  int order;
  const struct rows *rows;
} job_t;

/* Pointers of a row, all at its first cell. */
typedef struct {
  const mg_real_t *f, *bi, *bj, *bk;
  const mg_real_t *dinv;  /* NULL if not stored */
  const mg_real_t *alpha; /* NULL if alpha is constant */
  mg_real_t *src, *dst;   /* src is NULL for zero */
  ptrdiff_t js, ks;
  int n;
  mg_face_weights_t weights; /* for the faces of all cells except the first and the last */
  mg_real_t first, last;     /* weight of the first cell's low face and the last cell's high face */
} row_t;

static row_t row_at(const mg_patch_t *p, const job_t *job, int j, int k) {
  const ptrdiff_t at = j * p->jstride + k * p->kstride;
  const mg_real_t wall = mg_wall_weight(job->order);
  return (row_t){.f = p->vec[MG_F] + at,
                 .dinv = p->vec[MG_DINV] ? p->vec[MG_DINV] + at : NULL,
                 .alpha = p->vec[MG_ALPHA] ? p->vec[MG_ALPHA] + at : NULL,
                 .bi = p->vec[MG_BETA_I] + at,
                 .bj = p->vec[MG_BETA_J] + at,
                 .bk = p->vec[MG_BETA_K] + at,
                 .src = job->u.x < 0 ? NULL : p->vec[job->u.x] + at,
                 .dst = p->vec[job->u.dst] + at,
                 .js = p->jstride,
                 .ks = p->kstride,
                 .n = p->n[0],
                 .weights = mg_face_weights(p, job->order, -1, j, k),
                 .first = p->wall[0][0] ? wall : MG_REAL(1.0),
                 .last = p->wall[0][1] ? wall : MG_REAL(1.0)};
}

/* Bodies of the row loops for cell i: A x, and 1 / diagonal from the betas. They must be inlined,
 * or the loop is not vectorized. */
MG_INLINE mg_real_t apply_7(const mg_view_t *v, const row_t *r, int i) {
  return mg_apply_7(r->src + i, r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, MG_REAL(v->a),
                    MG_REAL(v->b_h2));
}

MG_INLINE mg_real_t apply_fv4(const mg_view_t *v, const row_t *r, int i) {
  return mg_apply_fv4(r->src + i, r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, MG_REAL(v->a),
                      MG_REAL(v->b_h2));
}

MG_INLINE mg_real_t apply_7_varying(const mg_view_t *v, const row_t *r, int i) {
  return mg_apply_7(r->src + i, r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, r->alpha[i],
                    MG_REAL(v->b_h2));
}

MG_INLINE mg_real_t apply_fv4_varying(const mg_view_t *v, const row_t *r, int i) {
  return mg_apply_fv4(r->src + i, r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, r->alpha[i],
                      MG_REAL(v->b_h2));
}

MG_INLINE mg_real_t dinv_7(const mg_view_t *v, const row_t *r, int i) {
  mg_face_weights_t w = r->weights;
  w.low[0] = i == 0 ? r->first : MG_REAL(1.0);
  w.high[0] = i == r->n - 1 ? r->last : MG_REAL(1.0);
  return MG_REAL(1.0) / mg_diagonal_7(r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, w,
                                      MG_REAL(v->a), MG_REAL(v->b_h2));
}

MG_INLINE mg_real_t dinv_stored(const mg_view_t *v, const row_t *r, int i) {
  (void)v;
  return r->dinv[i];
}

/* Colored steps in place: a cell reads only cells of the other color, so iterations are
 * independent. The new values still go through a buffer: a load that overlaps a recent store stalls
 * until the store reaches the cache. Without the buffer the stalls take half of the loop's time. */
enum { CHUNK = 512 };
#define COLORED_ROW(name, apply, dinv)                                                             \
  static void colored_##name(const mg_view_t *view, row_t row, int phase, mg_real_t c2) {          \
    const mg_view_t v = *view;                                                                     \
    const row_t r = row;                                                                           \
    mg_real_t buffer[CHUNK];                                                                       \
    for (int start = 0; start < r.n; start += CHUNK) {                                             \
      const int end = start + CHUNK < r.n ? start + CHUNK : r.n;                                   \
      _Pragma("omp simd") for (int i = start; i < end; i++) {                                      \
        const mg_real_t x = r.src[i];                                                              \
        const mg_real_t relaxed = mg_relax(x, apply(&v, &r, i), r.f[i], dinv(&v, &r, i), c2);      \
        buffer[i - start] = ((i ^ phase) & 1) == 0 ? relaxed : x;                                  \
      }                                                                                            \
      _Pragma("omp simd") for (int i = start; i < end; i++) r.src[i] = buffer[i - start];          \
    }                                                                                              \
  }
COLORED_ROW(7, apply_7, dinv_7)
COLORED_ROW(7_stored, apply_7, dinv_stored)
COLORED_ROW(7_varying, apply_7_varying, dinv_stored)
#undef COLORED_ROW

#define COLORED_FV4_ROW(name, apply)                                                               \
  static void colored_##name(const mg_view_t *view, row_t row, int phase, mg_real_t c2) {          \
    const mg_view_t v = *view;                                                                     \
    const row_t r = row;                                                                           \
    _Pragma("omp simd") for (int i = 0; i < r.n; i++) {                                            \
      const mg_real_t relaxed = mg_relax(r.src[i], apply(&v, &r, i), r.f[i], r.dinv[i], c2);       \
      r.dst[i] = ((i ^ phase) & 1) == 0 ? relaxed : r.src[i];                                      \
    }                                                                                              \
  }
COLORED_FV4_ROW(fv4, apply_fv4)
COLORED_FV4_ROW(fv4_varying, apply_fv4_varying)
#undef COLORED_FV4_ROW

/* Steps on all cells. The previous iterate is the old content of dst, zero, or x if c1 = 0. */
#define ROW(name, apply, previous, dinv)                                                           \
  static void name(const mg_view_t *view, row_t row, mg_real_t c1, mg_real_t c2) {                 \
    const mg_view_t v = *view;                                                                     \
    const row_t r = row;                                                                           \
    _Pragma("omp simd") for (int i = 0; i < r.n; i++) r.dst[i] =                                   \
        mg_update(r.src[i], previous, apply(&v, &r, i), r.f[i], dinv(&v, &r, i), c1, c2);          \
  }
#define ROWS(name, apply, dinv)                                                                    \
  ROW(all_##name, apply, r.dst[i], dinv)                                                           \
  ROW(second_##name, apply, 0.0, dinv)                                                             \
  ROW(jacobi_##name, apply, r.src[i], dinv)
ROWS(7, apply_7, dinv_7)
ROWS(7_stored, apply_7, dinv_stored)
ROWS(7_varying, apply_7_varying, dinv_stored)
ROWS(fv4, apply_fv4, dinv_stored)
ROWS(fv4_varying, apply_fv4_varying, dinv_stored)
#undef ROWS
#undef ROW

/* A step from zero, where A x is also zero. Only cells with (i ^ phase) & mask == 0 change. */
#define FIRST_ROW(name, dinv)                                                                      \
  static void first_##name(const mg_view_t *view, row_t row, int phase, int mask, mg_real_t c2) {  \
    const mg_view_t v = *view;                                                                     \
    const row_t r = row;                                                                           \
    _Pragma("omp simd") for (int i = 0; i < r.n; i++) {                                            \
      const mg_real_t relaxed = mg_relax(0.0, 0.0, r.f[i], dinv(&v, &r, i), c2);                   \
      r.dst[i] = ((i ^ phase) & mask) == 0 ? relaxed : MG_REAL(0.0);                               \
    }                                                                                              \
  }
FIRST_ROW(7, dinv_7)
FIRST_ROW(stored, dinv_stored)
#undef FIRST_ROW

/* Row functions of one variant of the operator. */
typedef struct rows {
  void (*first)(const mg_view_t *v, row_t row, int phase, int mask, mg_real_t c2);
  void (*colored)(const mg_view_t *v, row_t row, int phase, mg_real_t c2);
  void (*all)(const mg_view_t *v, row_t row, mg_real_t c1, mg_real_t c2);
  void (*second)(const mg_view_t *v, row_t row, mg_real_t c1, mg_real_t c2); /* previous is zero */
  void (*jacobi)(const mg_view_t *v, row_t row, mg_real_t c1,
                 mg_real_t c2); /* previous has weight 0 */
} rows_t;

#define ROWS_OF(name, first)                                                                       \
  { first, colored_##name, all_##name, second_##name, jacobi_##name }
static const rows_t rows_7 = ROWS_OF(7, first_7), rows_7_stored = ROWS_OF(7_stored, first_stored),
                    rows_7_varying = ROWS_OF(7_varying, first_stored),
                    rows_fv4 = ROWS_OF(fv4, first_stored),
                    rows_fv4_varying = ROWS_OF(fv4_varying, first_stored);
#undef ROWS_OF

/* Loading 1 / diagonal from cache is faster than dividing. If alpha varies, 1 / diagonal is always
 * loaded. A large level may not store it (plan/plan_level.c). */
static const rows_t *choose_rows(const mg_view_t *v, const mg_step_t *step) {
  if (v->op == MG_OPERATOR_FV4) return v->alpha_varies ? &rows_fv4_varying : &rows_fv4;
  if (v->alpha_varies) return &rows_7_varying;
  const bool stored = v->n_patches > 0 && v->patch[0].vec[MG_DINV];
  return stored && (step->l1 || v->cells < MG_STORED_DINV_MAX_CELLS) ? &rows_7_stored : &rows_7;
}

static void smooth_row(const mg_patch_t *p, const mg_view_t *v, const job_t *job, int j, int k) {
  const mg_update_t *u = &job->u;
  const row_t row = row_at(p, job, j, k);
  const int phase = (p->lo[0] ^ (p->lo[1] + j) ^ (p->lo[2] + k) ^ u->color) & 1;
  switch (u->form) {
  case MG_UPDATE_FIRST:
    job->rows->first(v, row, phase, u->mask, MG_REAL(u->c2));
    break;
  case MG_UPDATE_COLORED:
    job->rows->colored(v, row, phase, MG_REAL(u->c2));
    break;
  case MG_UPDATE_ALL:
    (u->previous == u->x ? job->rows->jacobi
     : u->previous < 0   ? job->rows->second
                         : job->rows->all)(v, row, MG_REAL(u->c1), MG_REAL(u->c2));
  }
}

static void smooth_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const job_t *job = arg;
  const mg_patch_t *p = &v->patch[patch];
  /* In place, the wall ghosts must come from values before the step, so fill them first. */
  if (job->u.x >= 0) mg_cpu_residual_walls(v, p, p->vec[job->u.x], k, j0, j1);
  for (int j = j0; j < j1; j++)
    smooth_row(p, v, job, j, k);
}

mg_status_t mg_cpu_smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  (void)region; /* never a part: sweep_overlaps is NULL */
  job_t job = {mg_update_of(sweep), mg_operator_order(v), choose_rows(v, sweep->step)};
  if (job.u.x >= 0) mg_cpu_residual_prepare(v, job.u.x);
  mg_cpu_strips(v, smooth_strip, &job);
  return MG_OK;
}
