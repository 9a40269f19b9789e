/* Vector operations and reductions. */
#include "base/alloc.h"
#include "cpu/cpu.h"
#include <math.h>
#include <stdlib.h>

typedef struct {
  mg_vector_t dst, x, y;
  double alpha, beta;
} job_t;

/* Ghost layers on one side of a patch. */
static int ghosts_at(const mg_view_t *v, const mg_patch_t *p, int d, int side) {
  return p->wall[d][side] ? v->wall_layers : v->ghost_layers;
}

/* Fills ghost rows too: strips at the edge of the patch include them. */
static void fill_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const job_t *job = arg;
  const mg_patch_t *p = &v->patch[patch];
  const int ka = k == 0 ? -ghosts_at(v, p, 2, 0) : k,
            kb = k == p->n[2] - 1 ? p->n[2] + ghosts_at(v, p, 2, 1) : k + 1,
            ja = j0 == 0 ? -ghosts_at(v, p, 1, 0) : j0,
            jb = j1 == p->n[1] ? p->n[1] + ghosts_at(v, p, 1, 1) : j1;
  for (int kk = ka; kk < kb; kk++)
    for (int j = ja; j < jb; j++) {
      mg_real_t *out = mg_cell(p, job->dst, 0, j, kk);
      for (int i = -ghosts_at(v, p, 0, 0); i < p->n[0] + ghosts_at(v, p, 0, 1); i++)
        out[i] = MG_REAL(job->alpha);
    }
}

mg_status_t mg_cpu_fill(const mg_view_t *v, mg_vector_t dst, double value) {
  job_t job = {.dst = dst, .alpha = value};
  mg_cpu_strips(v, fill_strip, &job);
  return MG_OK;
}

/* Rows of dst, of which `value` is element i. */
#define STRIP(name, value)                                                                         \
  static void name(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {              \
    const job_t *job = arg;                                                                        \
    const mg_patch_t *p = &v->patch[patch];                                                        \
    const mg_real_t alpha = MG_REAL(job->alpha), beta = MG_REAL(job->beta);                        \
    for (int j = j0; j < j1; j++) {                                                                \
      const mg_real_t *x = mg_cell(p, job->x, 0, j, k),                                            \
                      *y = job->y < 0 ? x : mg_cell(p, job->y, 0, j, k);                           \
      mg_real_t *out = mg_cell(p, job->dst, 0, j, k);                                              \
      _Pragma("omp simd") for (int i = 0; i < p->n[0]; i++) out[i] = value;                        \
      (void)alpha, (void)beta, (void)y;                                                            \
    }                                                                                              \
  }
STRIP(shift_strip, x[i] + alpha)
STRIP(scale_strip, x[i] * alpha)
STRIP(axpby_strip, mg_fma(alpha, x[i], y[i] * beta))
STRIP(multiply_strip, x[i] * y[i])
#undef STRIP

mg_status_t mg_cpu_combine(const mg_view_t *v, mg_combination_t c, mg_vector_t dst, double alpha,
                           mg_vector_t x, double beta, mg_vector_t y) {
  static const mg_strip_fn strip[] = {
      [MG_SHIFT] = shift_strip, [MG_AXPBY] = axpby_strip, [MG_MULTIPLY] = multiply_strip};
  job_t job = {.dst = dst, .x = x, .y = y, .alpha = alpha, .beta = beta};
  mg_cpu_strips(v, c == MG_AXPBY && y < 0 ? scale_strip : strip[c], &job);
  return MG_OK;
}

typedef struct {
  mg_vector_t x, y;
  mg_cpu_partial_norm_t *partial;
} norm_job_t;

/* Largest |x| or |x - y| of a row. Two separate loops: with the branch inside one loop, gcc 12
 * vectorizes neither, which is 3 times slower in cache. */
void mg_cpu_norm_of_row(const mg_real_t *x, const mg_real_t *y, int n,
                        mg_cpu_partial_norm_t *largest) {
  mg_real_t norm = largest->norm, poison = 0.0; /* 0, or NaN if a value is not finite */
  if (y) {
#pragma omp simd reduction(max : norm) reduction(+ : poison)
    for (int i = 0; i < n; i++) {
      const mg_real_t r = mg_abs(x[i] - y[i]);
      norm = r > norm ? r : norm;
      poison += r - r;
    }
  } else {
#pragma omp simd reduction(max : norm) reduction(+ : poison)
    for (int i = 0; i < n; i++) {
      const mg_real_t r = mg_abs(x[i]);
      norm = r > norm ? r : norm;
      poison += r - r;
    }
  }
  largest->norm = norm;
  largest->poison += poison;
}

static void max_norm_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const norm_job_t *job = arg;
  const mg_patch_t *p = &v->patch[patch];
  mg_cpu_partial_norm_t largest = {0};
  for (int j = j0; j < j1; j++)
    mg_cpu_norm_of_row(mg_cell(p, job->x, 0, j, k), job->y < 0 ? NULL : mg_cell(p, job->y, 0, j, k),
                       p->n[0], &largest);
  mg_cpu_partial_norm_t *mine = &job->partial[mg_cpu_thread()];
  mine->norm = largest.norm > mine->norm ? largest.norm : mine->norm;
  mine->poison += largest.poison;
}

double mg_cpu_join_norms(const mg_cpu_partial_norm_t *partial, int threads) {
  mg_real_t norm = 0.0, poison = 0.0;
  for (int t = 0; t < threads; t++) {
    norm = partial[t].norm > norm ? partial[t].norm : norm;
    poison += partial[t].poison;
  }
  return norm + poison;
}

mg_status_t mg_cpu_max_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t y, double *norm) {
  const int threads = mg_cpu_threads(v);
  norm_job_t job = {x, y, NULL};
  MG_TRY(mg_new(&job.partial, threads, "partial norms"));
  mg_cpu_strips(v, max_norm_strip, &job);
  *norm = mg_cpu_join_norms(job.partial, threads);
  free(job.partial);
  return MG_OK;
}

/* Sum of one brick of u^3 cells. There is one lane for each i; planes and rows are added in order,
 * lanes last. Always in double: the product of two floats is exact. */
static double brick_sum(const mg_real_t *x, const mg_real_t *y, ptrdiff_t js, ptrdiff_t ks, int u) {
  double lane[8] = {0.0};
  for (int k = 0; k < u; k++)
    for (int j = 0; j < u; j++) {
      const ptrdiff_t at = j * js + k * ks;
#pragma omp simd
      for (int i = 0; i < u; i++)
        lane[i] =
            y ? fma((double)x[at + i], (double)y[at + i], lane[i]) : lane[i] + (double)x[at + i];
    }
  double sum = lane[0];
  for (int i = 1; i < u; i++)
    sum += lane[i];
  return sum;
}

/* A sum, and terms that are not yet added. */
typedef struct {
  mg_sum_t sum;
  int n;
  double term[MG_SUM_CHUNK];
} chunk_t;

static void add_terms(chunk_t *c) {
  mg_sum_add_all(&c->sum, c->term, c->n);
  c->n = 0;
}

/* Sum of a row of bricks that are single cells. Chunks continue in the next row. */
static void add_row(chunk_t *c, const mg_real_t *x, const mg_real_t *y, int n) {
  for (int first = 0; first < n;) {
    const int room = MG_SUM_CHUNK - c->n, m = n - first < room ? n - first : room;
    double *term = c->term + c->n;
#pragma omp simd
    for (int i = 0; i < m; i++)
      term[i] = y ? (double)x[first + i] * (double)y[first + i] : (double)x[first + i];
    first += m;
    c->n += m;
    if (c->n == MG_SUM_CHUNK) add_terms(c);
  }
}

mg_status_t mg_cpu_dot(const mg_view_t *v, mg_vector_t x, mg_vector_t y, mg_sum_t *sum) {
  const int u = mg_brick_width(v);
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    const int nk = p->n[2] / u, nj = p->n[1] / u, ni = p->n[0] / u;
#pragma omp parallel num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
    {
      chunk_t mine;
      mine.sum = (mg_sum_t){{0}};
      mine.n = 0;
#pragma omp for collapse(2)
      for (int k = 0; k < nk; k++)
        for (int j = 0; j < nj; j++) {
          const mg_real_t *xb = mg_cell(p, x, 0, j * u, k * u);
          const mg_real_t *yb = y < 0 ? NULL : mg_cell(p, y, 0, j * u, k * u);
          if (u == 1) add_row(&mine, xb, yb, ni);
          for (int i = 0; u > 1 && i < ni; i++)
            mg_sum_add(&mine.sum,
                       brick_sum(xb + i * u, yb ? yb + i * u : NULL, p->jstride, p->kstride, u));
        }
      add_terms(&mine);
#pragma omp critical(mg_cpu_dot_merge)
      mg_sum_merge(sum, &mine.sum);
    }
  }
  return MG_OK;
}
