/* Between a level of double cells and the float level of the same cells.
 *
 * Bytes per cell: lower 12, raise 20 (u read and written, correction read), residual 44 (x, f,
 * three betas read; float residual written). */
#include "backend/mixed.h"
#include "base/alloc.h"
#include "cpu/pass.h"
#include "formulas/precision.h"
#include <stdlib.h>

typedef struct {
  const mg_view_t *low;
  mg_vector_t x, f, dst; /* x: source; f: right-hand side, residual only; dst: output */
  double scale;
  bool add;
  mg_cpu_partial_norm_t *partial; /* one per thread */
  double *rows;                   /* scratch, `row_values` per thread */
  int64_t row_values;
} job_t;

static void lower_row(const double *x, float *restrict out, int first, int end, double scale) {
#pragma omp simd
  for (int i = first; i < end; i++)
    out[i] = mg_lowered(x[i], scale);
}

/* Strips at the edge of the patch include the first layer of ghosts. */
static void lower_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const job_t *job = arg;
  const mg_patch_t *p = &v->patch[patch], *low = &job->low->patch[patch];
  const int ka = k == 0 ? -1 : k, kb = k == p->n[2] - 1 ? p->n[2] + 1 : k + 1;
  const int ja = j0 == 0 ? -1 : j0, jb = j1 == p->n[1] ? p->n[1] + 1 : j1;
  for (int kk = ka; kk < kb; kk++)
    for (int j = ja; j < jb; j++)
      lower_row(mg_cell(p, job->x, 0, j, kk), mg_float_cell(low, job->dst, 0, j, kk), -1,
                p->n[0] + 1, job->scale);
}

static mg_status_t lower(const mg_view_t *v, mg_vector_t src, const mg_view_t *low, mg_vector_t dst,
                         double scale) {
  job_t job = {.low = low, .x = src, .dst = dst, .scale = scale};
  mg_cpu_strips(v, lower_strip, &job);
  return MG_OK;
}

static void raise_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const job_t *job = arg;
  const mg_patch_t *p = &v->patch[patch], *low = &job->low->patch[patch];
  const double scale = job->scale;
  for (int j = j0; j < j1; j++) {
    const float *e = mg_float_cell(low, job->x, 0, j, k);
    double *x = mg_cell(p, job->dst, 0, j, k);
    if (job->add) {
#pragma omp simd
      for (int i = 0; i < p->n[0]; i++)
        x[i] = mg_corrected(x[i], e[i], scale);
    } else {
#pragma omp simd
      for (int i = 0; i < p->n[0]; i++)
        x[i] = mg_corrected(0.0, e[i], scale);
    }
  }
}

static mg_status_t raise_low(const mg_view_t *v, mg_vector_t dst, const mg_view_t *low,
                             mg_vector_t src, double scale, bool add) {
  job_t job = {.low = low, .x = src, .dst = dst, .scale = scale, .add = add};
  mg_cpu_strips(v, raise_strip, &job);
  return MG_OK;
}

static void residual_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const job_t *job = arg;
  const mg_patch_t *p = &v->patch[patch], *low = &job->low->patch[patch];
  double *row = job->rows + mg_cpu_thread() * job->row_values;
  mg_cpu_residual_walls(v, p, p->vec[job->x], k, j0, j1);
  for (int j = j0; j < j1; j++) {
    mg_cpu_residual_row(v, p, p->vec[job->x], p->vec[job->f], j, k, row);
    mg_cpu_norm_of_row(row, NULL, p->n[0], &job->partial[mg_cpu_thread()]);
    lower_row(row, mg_float_cell(low, job->dst, 0, j, k), 0, p->n[0], job->scale);
  }
}

static mg_status_t residual(const mg_view_t *v, mg_vector_t x, mg_vector_t f, const mg_view_t *low,
                            mg_vector_t dst, double scale, double *norm) {
  const int threads = mg_cpu_threads(v);
  job_t job = {.low = low, .x = x, .f = f, .dst = dst, .scale = scale};
  job.row_values = mg_cpu_longest_row(v);
  MG_TRY(mg_new(&job.partial, threads, "partial norms"));
  const mg_status_t status = mg_new(&job.rows, threads * job.row_values, "residual rows");
  if (status == MG_OK) {
    mg_cpu_residual_prepare(v, x);
    mg_cpu_strips(v, residual_strip, &job);
    if (norm) *norm = mg_cpu_join_norms(job.partial, threads);
  }
  free(job.rows);
  free(job.partial);
  return status;
}

const mg_backend_mixed_t mg_cpu_mixed = {.lower = lower, .raise = raise_low, .residual = residual};
