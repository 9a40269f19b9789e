/* The fv4 backend entries: choose the kernel for each patch. */
#include "cuda/fv4/job.h"

static mg_status_t run(const mg_fv4_job_t *job) {
  return mg_cuda_fv4_marches(&job->l) ? mg_cuda_fv4_march(job, MG_REGION_ALL)
                                      : mg_cuda_fv4_small(job);
}

static mg_fv4_job_t job_on(mg_fv4_operation_t operation, const mg_view_t *v, int q, mg_vector_t x,
                           mg_vector_t f) {
  mg_fv4_job_t job = {};
  job.operation = operation;
  job.l = mg_cuda_patch(v, q);
  job.x = job.l.p.vec[x];
  job.f = f < 0 ? nullptr : job.l.p.vec[f];
  job.dinv = job.l.p.vec[MG_DINV];
  return job;
}

bool mg_cuda_fv4_sweep_overlaps(const mg_view_t *v, bool host) {
  bool pays = host || v->n_patches == 1;
  for (int q = 0; q < v->n_patches && pays; q++) {
    const mg_cuda_patch_t l = mg_cuda_patch(v, q);
    pays = mg_cuda_fv4_marches(&l) && mg_cuda_fv4_march_pays(&l.p, host);
  }
  return pays;
}

mg_status_t mg_cuda_fv4_smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  const mg_update_t u = mg_update_of(sweep);
  const mg_fv4_operation_t op = u.form == MG_UPDATE_COLORED ? MG_FV4_COLORED : MG_FV4_ALL;
  for (int q = 0; q < v->n_patches; q++) {
    mg_fv4_job_t job = job_on(op, v, q, u.x, MG_F);
    job.dst = job.l.p.vec[u.dst];
    job.color = u.color;
    job.c1 = u.c1;
    job.c2 = u.c2;
    if (u.previous >= 0 && u.c1 != 0.0) job.previous = job.l.p.vec[u.previous];
    MG_TRY(region == MG_REGION_ALL ? run(&job) : mg_cuda_fv4_march(&job, region));
  }
  return MG_OK;
}

mg_status_t mg_cuda_fv4_residual(const mg_view_t *v, mg_vector_t dst, mg_vector_t x,
                                 mg_vector_t f) {
  for (int q = 0; q < v->n_patches; q++) {
    mg_fv4_job_t job = job_on(MG_FV4_RESIDUAL, v, q, x, f);
    job.dst = job.l.p.vec[dst];
    MG_TRY(run(&job));
  }
  return MG_OK;
}

mg_status_t mg_cuda_fv4_residual_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t f,
                                      double *norm) {
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++) {
    mg_fv4_job_t job = job_on(MG_FV4_NORM, v, q, x, f);
    job.maximum = mg_cuda.reduction;
    MG_TRY(run(&job));
  }
  return mg_cuda_max_end(norm);
}

mg_status_t mg_cuda_fv4_residual_restrict(const mg_view_t *fine, mg_vector_t x, mg_vector_t f,
                                          const mg_view_t *coarse, mg_vector_t dst) {
  for (int q = 0; q < fine->n_patches; q++) {
    mg_fv4_job_t job = job_on(MG_FV4_RESTRICT, fine, q, x, f);
    job.coarse = coarse->patch[q];
    job.dst = job.coarse.vec[dst];
    MG_TRY(run(&job));
  }
  return MG_OK;
}
