/* Mean of 8 cells, and of 4 faces. Fine and coarse patches correspond one to one. */
#include "cpu/children.h"
#include "wings.h"

typedef struct {
  const mg_view_t *fine;
  mg_vector_t src, dst;
} job_t;

static void cells_strip(const mg_view_t *coarse, int patch, int k, int j0, int j1, void *arg) {
  const job_t *job = arg;
  const mg_patch_t *p = &job->fine->patch[patch], *c = &coarse->patch[patch];
  for (int j = j0; j < j1; j++) {
    const mg_real_t *x = mg_cell(p, job->src, 0, 2 * j, 2 * k);
    const mg_real_t *r0 = x, *r1 = x + p->jstride, *r2 = x + p->kstride,
                    *r3 = x + p->jstride + p->kstride;
    mg_real_t *out = mg_cell(c, job->dst, 0, j, k);
#pragma omp simd
    for (int i = 0; i < c->n[0]; i++)
      out[i] = mg_mean8(r0[2 * i] + r0[2 * i + 1], r1[2 * i] + r1[2 * i + 1],
                        r2[2 * i] + r2[2 * i + 1], r3[2 * i] + r3[2 * i + 1]);
  }
}

mg_status_t mg_cpu_restrict_cells(const mg_view_t *fine, mg_vector_t src, const mg_view_t *coarse,
                                  mg_vector_t dst) {
  job_t job = {.fine = fine, .src = src, .dst = dst};
  MG_IF_DOMAINS(if (!mg_doubles(fine->n, coarse->n)) {
    mg_cpu_restrict_children(fine, src, coarse, dst);
    return MG_OK;
  })
  mg_cpu_strips(coarse, cells_strip, &job);
  return MG_OK;
}

mg_status_t mg_cpu_restrict_faces(const mg_view_t *fine, int d, const mg_view_t *coarse,
                                  mg_vector_t dst, const mg_face_factor_t *factor) {
  (void)factor;
  MG_IF_DOMAINS(if (factor) {
    mg_cpu_restrict_any_faces(fine, d, coarse, dst, factor);
    return MG_OK;
  })
  for (int q = 0; q < fine->n_patches; q++) {
    const mg_patch_t *p = &fine->patch[q], *c = &coarse->patch[q];
    const ptrdiff_t stride[3] = {1, p->jstride, p->kstride};
    const ptrdiff_t t1 = stride[d == 0 ? 1 : 0], t2 = stride[d == 2 ? 1 : 2];
    const int n[3] = {c->n[0] + (d == 0), c->n[1] + (d == 1), c->n[2] + (d == 2)};
#pragma omp parallel for num_threads(mg_cpu_threads(coarse)) if (mg_cpu_threads(coarse) > 1)
    for (int k = 0; k < n[2]; k++)
      for (int j = 0; j < n[1]; j++) {
        mg_real_t *out = mg_cell(c, dst, 0, j, k);
        const mg_real_t *x = mg_cell(p, MG_BETA_I + d, 0, 2 * j, 2 * k);
#pragma omp simd
        for (int i = 0; i < n[0]; i++)
          out[i] = mg_mean4(x + 2 * i, t1, t2);
      }
  }
  return MG_OK;
}
