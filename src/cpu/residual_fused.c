/* f - A x as a norm, or restricted to the coarser grid, without storing it.
 *
 * Bytes per cell: 40 as a norm, 41 restricted. Both use mg_cpu_residual_row, as a stored residual
 * does, so the results are bit-identical. */
#include "base/alloc.h"
#include "cpu/pass.h"
#include "formulas/stencil.h"
#include <stdlib.h>

void mg_cpu_residual_norm_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_residual_job_t *job = arg;
  const mg_patch_t *p = &v->patch[patch];
  mg_real_t *row = job->rows + mg_cpu_thread() * job->row_values;
  mg_cpu_residual_walls(v, p, p->vec[job->x], k, j0, j1);
  for (int j = j0; j < j1; j++) {
    mg_cpu_residual_row(v, p, p->vec[job->x], p->vec[job->f], j, k, row);
    mg_cpu_norm_of_row(row, NULL, p->n[0], &job->partial[mg_cpu_thread()]);
  }
}

mg_status_t mg_cpu_residual_job(const mg_view_t *v, mg_vector_t x, mg_vector_t f,
                                const mg_view_t *coarse, mg_vector_t dst, int threads,
                                mg_cpu_residual_job_t *job) {
  const int rows_at_once = coarse ? 4 : 1;
  *job = (mg_cpu_residual_job_t){.dst = dst, .x = x, .f = f, .fine = v};
  job->row_values = rows_at_once * mg_cpu_longest_row(v);
  MG_TRY(mg_new(&job->partial, threads, "partial norms"));
  const size_t bytes = (size_t)(threads * job->row_values) * sizeof *job->rows;
  /* Not zeroed: each thread touches its own rows first. */
  void *rows;
  if (posix_memalign(&rows, 64, bytes) == 0) {
    job->rows = rows;
    return MG_OK;
  }
  mg_cpu_residual_job_free(job);
  return mg_out_of_memory(bytes, "residual rows");
}

void mg_cpu_residual_job_free(mg_cpu_residual_job_t *job) {
  free(job->rows);
  free(job->partial);
  job->rows = NULL;
  job->partial = NULL;
}

mg_status_t mg_cpu_residual_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t f, double *norm) {
  const int threads = mg_cpu_threads(v);
  mg_cpu_residual_job_t job;
  MG_TRY(mg_cpu_residual_job(v, x, f, NULL, MG_NO_VECTOR, threads, &job));
  mg_cpu_residual_prepare(v, x);
  mg_cpu_strips(v, mg_cpu_residual_norm_strip, &job);
  *norm = mg_cpu_join_norms(job.partial, threads);
  mg_cpu_residual_job_free(&job);
  return MG_OK;
}

/* Called for strips of the coarse patches: four fine rows make one coarse row. */
void mg_cpu_residual_restrict_strip(const mg_view_t *coarse, int patch, int k, int j0, int j1,
                                    void *arg) {
  const mg_cpu_residual_job_t *job = arg;
  const mg_view_t *fine = job->fine;
  const mg_patch_t *p = &fine->patch[patch], *c = &coarse->patch[patch];
  mg_real_t *row[4];
  for (int r = 0; r < 4; r++)
    row[r] = job->rows + mg_cpu_thread() * job->row_values + r * (job->row_values / 4);
  for (int dk = 0; dk < 2; dk++)
    mg_cpu_residual_walls(fine, p, p->vec[job->x], 2 * k + dk, 2 * j0, 2 * j1);
  for (int j = j0; j < j1; j++) {
    for (int r = 0; r < 4; r++)
      mg_cpu_residual_row(fine, p, p->vec[job->x], p->vec[job->f], 2 * j + (r & 1),
                          2 * k + (r >> 1), row[r]);
    mg_real_t *out = mg_cell(c, job->dst, 0, j, k);
    const mg_real_t *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
#pragma omp simd
    for (int i = 0; i < c->n[0]; i++)
      out[i] = mg_mean8(r0[2 * i] + r0[2 * i + 1], r1[2 * i] + r1[2 * i + 1],
                        r2[2 * i] + r2[2 * i + 1], r3[2 * i] + r3[2 * i + 1]);
  }
}

mg_status_t mg_cpu_residual_restrict(const mg_view_t *fine, mg_vector_t x, mg_vector_t f,
                                     const mg_view_t *coarse, mg_vector_t dst) {
  mg_cpu_residual_job_t job;
  MG_TRY(mg_cpu_residual_job(fine, x, f, coarse, dst, mg_cpu_threads(coarse), &job));
  mg_cpu_residual_prepare(fine, x);
  mg_cpu_strips(coarse, mg_cpu_residual_restrict_strip, &job);
  mg_cpu_residual_job_free(&job);
  return MG_OK;
}
