/* A smooth of colored fv4 steps in one pass through the caches (pass.c), on rows split by color
 * (split.h): a step computes and loads no cell of the other color in vain.
 *
 * The first stage splits the betas, f and 1 / diagonal in place; the last one joins them. x is
 * split into MG_TMP, and a step writes its color from one of MG_U and MG_TMP to the other, since
 * fv4 reads cells of the color.
 *
 * Bytes per cell for any number of steps: 112 (f, three betas, 1 / diagonal, x and MG_TMP read and
 * written).
 *
 * With a halo in j and k, ghosts there are cells, a layer less with each step. Periodic rows
 * repeat themselves: a rank holds whole rows. */
#include "base/alloc.h"
#include "cpu/pass.h"
#include "cpu/split.h"
#include "formulas/stencil.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = MG_CPU_BLOCK };

bool mg_cpu_can_split(const mg_view_t *v) {
  bool fits = v->box_dim >= 4;
  for (int q = 0; q < v->n_patches; q++)
    fits = fits && v->patch[q].n[0] % 8 == 0 && v->patch[q].n[0] == v->n[0];
  return fits;
}

/* ---- steps ---- */

/* A row of cells of the color, and its neighbors: at column i, and at i + 1. */
typedef struct {
  const mg_real_t *same, *same_next; /* x of the color */
  const mg_real_t *other, *other_next;
  const mg_real_t *bi, *bi_next, *bj, *bj_next, *bk, *bk_next;
  const mg_real_t *f, *dinv, *alpha;
  mg_real_t *dst;
  ptrdiff_t js, ks;
  mg_real_t a, b_h2, c2;
} row_t;

MG_INLINE mg_face5_t face(const mg_real_t *b, ptrdiff_t t1, ptrdiff_t t2) {
  return (mg_face5_t){b[0], mg_load_neighbors2(b, 0, t1), mg_load_neighbors2(b, 0, t2)};
}

/* A face normal to j or k: t1 is along i. */
MG_INLINE mg_face5_t face_across(const mg_real_t *b, const mg_real_t *next, ptrdiff_t t2) {
  return (mg_face5_t){b[0], {next[-1], next[0]}, mg_load_neighbors2(b, 0, t2)};
}

MG_INLINE mg_real_t apply(const row_t *r, ptrdiff_t m, mg_real_t a) {
  const ptrdiff_t js = r->js, ks = r->ks;
  const mg_real_t *same = r->same + m, *next = r->same_next + m, *other = r->other + m;
  mg_values25_t x;
  x.c = same[0];
  x.i = (mg_axis4_t){same[-1], r->other_next[m - 1], r->other_next[m], same[1]};
  x.j = (mg_axis4_t){same[-2 * js], other[-js], other[js], same[2 * js]};
  x.k = (mg_axis4_t){same[-2 * ks], other[-ks], other[ks], same[2 * ks]};
  x.ij = (mg_edges4_t){next[-1 - js], next[-1 + js], next[-js], next[js]};
  x.ik = (mg_edges4_t){next[-1 - ks], next[-1 + ks], next[-ks], next[ks]};
  x.jk = mg_load_edges4(same, js, ks);
  mg_betas30_t b;
  b.i.low = face(r->bi + m, js, ks);
  b.i.high = face(r->bi_next + m, js, ks);
  b.j.low = face_across(r->bj + m, r->bj_next + m, ks);
  b.j.high = face_across(r->bj + m + js, r->bj_next + m + js, ks);
  b.k.low = face_across(r->bk + m, r->bk_next + m, js);
  b.k.high = face_across(r->bk + m + ks, r->bk_next + m + ks, js);
  return mg_apply_values25(&x, &b, a, r->b_h2);
}

#define COLOR_ROW(name, value)                                                                     \
  MG_INLINE void block_##name(const row_t *r, ptrdiff_t first, ptrdiff_t n) {                      \
    _Pragma("omp simd") for (ptrdiff_t l = 0; l < n; l++) {                                        \
      const ptrdiff_t m = first + l;                                                               \
      r->dst[m] = value;                                                                           \
    }                                                                                              \
  }                                                                                                \
  static void name(const row_t *r, ptrdiff_t n) {                                                  \
    ptrdiff_t m = 0;                                                                               \
    for (; m + BLOCK <= n; m += BLOCK)                                                             \
      block_##name(r, m, BLOCK);                                                                   \
    for (; m + BLOCK / 2 <= n; m += BLOCK / 2)                                                     \
      block_##name(r, m, BLOCK / 2);                                                               \
    for (; m + BLOCK / 4 <= n; m += BLOCK / 4)                                                     \
      block_##name(r, m, BLOCK / 4);                                                               \
  }
COLOR_ROW(row_fv4, mg_relax(r->same[m], apply(r, m, r->a), r->f[m], r->dinv[m], r->c2))
COLOR_ROW(row_fv4_varying,
          mg_relax(r->same[m], apply(r, m, r->alpha[m]), r->f[m], r->dinv[m], r->c2))
COLOR_ROW(residual_fv4, r->f[m] - apply(r, m, r->a))
COLOR_ROW(residual_fv4_varying, r->f[m] - apply(r, m, r->alpha[m]))
COLOR_ROW(row_from_zero, mg_relax(0.0, 0.0, r->f[m], r->dinv[m], r->c2))
#undef COLOR_ROW

/* The first column of a row that has the color. */
MG_INLINE int first_column(const mg_patch_t *p, int color, int j, int k) {
  return (p->lo[0] + p->lo[1] + j + p->lo[2] + k + color) & 1;
}

MG_INLINE row_t row_at(const mg_view_t *v, const mg_patch_t *p, const mg_cpu_split_t *s, int color,
                       int j, int k) {
  const int i = first_column(p, color, j, k);
  const ptrdiff_t row = j * p->jstride + k * p->kstride, odd = mg_cpu_odd_columns(p),
                  at = row + (i ? odd : 0), next = row + (i ? 1 : odd);
  const mg_vector_t same = s->in[color], other = s->in[1 - color];
  const bool zero = same < 0;
  return (row_t){.same = zero ? NULL : p->vec[same] + at,
                 .same_next = zero ? NULL : p->vec[same] + next,
                 .other = zero ? NULL : p->vec[other] + at,
                 .other_next = zero ? NULL : p->vec[other] + next,
                 .bi = p->vec[MG_BETA_I] + at,
                 .bi_next = p->vec[MG_BETA_I] + next,
                 .bj = p->vec[MG_BETA_J] + at,
                 .bj_next = p->vec[MG_BETA_J] + next,
                 .bk = p->vec[MG_BETA_K] + at,
                 .bk_next = p->vec[MG_BETA_K] + next,
                 .f = p->vec[MG_F] + at,
                 .dinv = p->vec[MG_DINV] + at,
                 .alpha = p->vec[MG_ALPHA] ? p->vec[MG_ALPHA] + at : NULL,
                 .dst = s->dst < 0 ? NULL : p->vec[s->dst] + at,
                 .js = p->jstride,
                 .ks = p->kstride,
                 .a = MG_REAL(v->a),
                 .b_h2 = MG_REAL(v->b_h2),
                 .c2 = s->c2};
}

static void step_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_split_t *s = arg;
  const mg_patch_t *p = &v->patch[patch];
  mg_cpu_split_ghosts(p, s, k, j0, j1);
  for (int j = j0; j < j1; j++) {
    const row_t r = row_at(v, p, s, s->color, j, k);
    (v->alpha_varies ? row_fv4_varying : row_fv4)(&r, p->n[0] / 2);
  }
}

/* The first step from zero: the other color becomes zero. */
static void first_step_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_split_t *s = arg;
  const mg_patch_t *p = &v->patch[patch];
  for (int j = j0; j < j1; j++) {
    const row_t r = row_at(v, p, s, s->color, j, k);
    const int other = 1 - first_column(p, s->color, j, k);
    row_from_zero(&r, p->n[0] / 2);
    memset(mg_cpu_half(p, s->dst, other, j, k), 0, (size_t)p->n[0] / 2 * sizeof(mg_real_t));
  }
}

/* ---- the residual ---- */

/* Even columns of a row to out[0..n/2), odd ones after them. */
static void residual_row(const mg_view_t *v, const mg_patch_t *p, const mg_cpu_split_t *s, int j,
                         int k, mg_real_t *out) {
  const ptrdiff_t n = p->n[0] / 2;
  for (int color = 0; color < 2; color++) {
    row_t r = row_at(v, p, s, color, j, k);
    r.dst = out + first_column(p, color, j, k) * n;
    (v->alpha_varies ? residual_fv4_varying : residual_fv4)(&r, n);
  }
}

static mg_real_t *residual_scratch(const mg_cpu_split_t *s) {
  return s->residual->rows + mg_cpu_thread() * s->residual->row_values;
}

static void norm_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_split_t *s = arg;
  const mg_patch_t *p = &v->patch[patch];
  mg_real_t *row = residual_scratch(s);
  mg_cpu_split_ghosts(p, s, k, j0, j1);
  for (int j = j0; j < j1; j++) {
    residual_row(v, p, s, j, k, row);
    mg_cpu_norm_of_row(row, NULL, p->n[0], &s->residual->partial[mg_cpu_thread()]);
  }
}

/* Called for strips of the coarse patch: four fine rows make one coarse row. */
static void restrict_strip(const mg_view_t *coarse, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_split_t *s = arg;
  const mg_view_t *fine = s->residual->fine;
  const mg_patch_t *p = &fine->patch[patch], *c = &coarse->patch[patch];
  const ptrdiff_t n = c->n[0];
  mg_real_t *row[4];
  for (int r = 0; r < 4; r++)
    row[r] = residual_scratch(s) + r * (s->residual->row_values / 4);
  for (int dk = 0; dk < 2; dk++)
    mg_cpu_split_ghosts(p, s, 2 * k + dk, 2 * j0, 2 * j1);
  for (int j = j0; j < j1; j++) {
    for (int r = 0; r < 4; r++)
      residual_row(fine, p, s, 2 * j + (r & 1), 2 * k + (r >> 1), row[r]);
    mg_real_t *out = mg_cell(c, s->residual->dst, 0, j, k);
    const mg_real_t *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; i++)
      out[i] = mg_mean8(r0[i] + r0[n + i], r1[i] + r1[n + i], r2[i] + r2[n + i], r3[i] + r3[n + i]);
  }
}

/* ---- the pass ---- */

static mg_cpu_stage_t stage_of(const mg_view_t *v, mg_strip_fn fn, void *arg, int behind) {
  return (mg_cpu_stage_t){fn, arg, v, 1, behind, MG_NO_VECTOR};
}

/* Planes and rows from the first stage to step q = 1, 2, ... and from the last step to the
 * residual, which read x at a distance of two. Of the other color, which the preceding step has
 * changed, a step reads only the next plane. From zero, the first step reads no x, but sets both
 * colors. */
static int planes_to_step(int q, bool from_zero) {
  return q == 1 && from_zero ? 1 : q + 1;
}
enum { TO_RESIDUAL = 2, TO_JOIN = 3 }; /* an earlier join would change what pairs of planes read */

int mg_cpu_split_planes(int n) {
  return planes_to_step(n, false) + TO_RESIDUAL + TO_JOIN + 2;
}

/* The view in which the ghosts that n steps and the residual after them read are cells. */
static const mg_view_t *grow(const mg_view_t *v, int n, mg_cpu_grown_t *grown) {
  const int layers = mg_layers_of_split_pass(v->radius, n);
  return mg_cpu_grow(v, (const int[3]){0, layers, layers}, grown);
}

/* Fill in the stages of a pass and their arguments; s[0] holds what they share. */
static int set_stages(const mg_view_t *v, const mg_sweep_t *sweep, const mg_resident_use_t *use,
                      mg_cpu_split_t *s, mg_cpu_stage_t *stage, mg_cpu_grown_t *grown) {
  const mg_vector_t x = sweep->x < 0 ? MG_NO_VECTOR : mg_cpu_other_vector(sweep->x);
  mg_cpu_split_t now = s[0]; /* where the colors are */
  int n = 0;
  now.in[0] = sweep->x;
  now.dst = x;
  s[n] = now;
  const mg_view_t *all = grow(v, sweep->n, &grown[n]);
  stage[n] = stage_of(all, mg_cpu_split_strip, &s[n], 0);
  now.in[0] = now.in[1] = x;
  for (n = 1; n <= sweep->n; n++) {
    const mg_step_t *step = &sweep->step[n - 1];
    const bool from_zero = now.in[0] < 0;
    now.color = step->color & 1;
    now.c2 = MG_REAL(step->c2);
    now.dst = from_zero ? sweep->dst : mg_cpu_other_vector(now.in[now.color]);
    s[n] = now;
    stage[n] = stage_of(grow(v, sweep->n - n, &grown[n]), from_zero ? first_step_strip : step_strip,
                        &s[n], planes_to_step(n, sweep->x < 0));
    now.in[now.color] = now.dst;
    if (from_zero) now.in[1 - now.color] = now.dst;
  }
  now.dst = sweep->dst;
  s[n] = s[n + 1] = now;
  const int behind = planes_to_step(sweep->n, sweep->x < 0) + TO_RESIDUAL;
  if (use->has_residual && use->coarse)
    stage[n] = (mg_cpu_stage_t){restrict_strip, &s[n], use->coarse, 2, behind, MG_NO_VECTOR};
  else if (use->has_residual)
    stage[n] = stage_of(v, norm_strip, &s[n], behind);
  if (use->has_residual) n++;
  stage[n] = stage_of(all, mg_cpu_join_strip, &s[n], behind + TO_JOIN);
  return n + 1;
}

static mg_status_t run(const mg_view_t *v, const mg_sweep_t *sweep, const mg_resident_use_t *use,
                       int rows, mg_cpu_split_t *s, mg_cpu_stage_t *stage, mg_cpu_grown_t *grown,
                       double *norm) {
  const int threads = mg_cpu_threads(v);
  mg_cpu_residual_job_t residual = {.rows = NULL};
  if (use->has_residual)
    MG_TRY(mg_cpu_residual_job(v, sweep->dst, MG_F, use->coarse, use->dst, threads, &residual));
  s[0].residual = &residual;
  const int n = set_stages(v, sweep, use, s, stage, grown);
  const mg_status_t status = mg_cpu_pass(v, stage, n, threads, rows);
  if (status == MG_OK && use->has_residual && !use->coarse)
    *norm = mg_cpu_join_norms(residual.partial, threads);
  mg_cpu_residual_job_free(&residual);
  return status;
}

mg_status_t mg_cpu_smooth_split(const mg_view_t *v, const mg_sweep_t *sweep,
                                const mg_resident_use_t *use, int rows, double *norm) {
  mg_cpu_stage_t *stage = NULL;
  mg_cpu_split_t *s = NULL;
  mg_cpu_grown_t *grown = NULL;
  const int64_t row_values = mg_cpu_longest_row(v),
                bytes = mg_cpu_threads(v) * row_values * (int64_t)sizeof(mg_real_t);
  /* Not zeroed: each thread touches its own rows first. */
  void *scratch = NULL;
  const bool failed = posix_memalign(&scratch, 64, (size_t)bytes) != 0;
  mg_status_t status = mg_new(&stage, sweep->n + 3, "stages of a smooth");
  if (status == MG_OK) status = mg_new(&s, sweep->n + 3, "steps of a smooth");
  if (status == MG_OK) status = mg_new(&grown, sweep->n + 1, "views of a smooth");
  if (status == MG_OK && failed) status = mg_out_of_memory(bytes, "split rows");
  if (status == MG_OK) {
    s[0].rows = scratch;
    s[0].row_values = row_values;
    status = run(v, sweep, use, rows, s, stage, grown, norm);
  }
  if (!failed) free(scratch);
  free(grown);
  free(s);
  free(stage);
  return status;
}
