/* The fv4 backend entries: choose the kernel for each patch. */
#include "cuda/fv4.h"

static mg_status_t run(mg_fv4_operation_t op, const mg_fv4_job_t *job) {
  return mg_cuda_fv4_marches(&job->l) ? mg_cuda_fv4_march(op, job, MG_REGION_ALL)
                                      : mg_cuda_fv4_brick(op, job);
}

static mg_fv4_job_t job_on(const mg_view_t *v, int q, int x, int f) {
  mg_fv4_job_t job = {};
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

mg_status_t mg_cuda_fv4_smooth(const mg_view_t *v, int x, int previous, int dst,
                               const mg_step_t *step, mg_region_t part) {
  for (int q = 0; q < v->n_patches; q++) {
    mg_fv4_job_t job = job_on(v, q, x, MG_F);
    job.dst = job.l.p.vec[dst];
    job.color = step->color;
    job.c2 = step->c2;
    if (step->kind == MG_STEP_CHEBYSHEV && step->c1 != 0.0) {
      job.c1 = step->c1;
      job.previous = previous < 0 ? nullptr : job.l.p.vec[previous];
    }
    const mg_fv4_operation_t op = step->kind == MG_STEP_GSRB ? MG_FV4_GSRB : MG_FV4_POLYNOMIAL;
    MG_TRY(part == MG_REGION_ALL ? run(op, &job) : mg_cuda_fv4_march(op, &job, part));
  }
  return MG_OK;
}

mg_status_t mg_cuda_fv4_residual(const mg_view_t *v, int dst, int x, int f) {
  for (int q = 0; q < v->n_patches; q++) {
    mg_fv4_job_t job = job_on(v, q, x, f);
    job.dst = job.l.p.vec[dst];
    MG_TRY(run(MG_FV4_RESIDUAL, &job));
  }
  return MG_OK;
}

mg_status_t mg_cuda_fv4_residual_norm(const mg_view_t *v, int x, int f, double *norm) {
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++) {
    mg_fv4_job_t job = job_on(v, q, x, f);
    job.maximum = mg_cuda.reduction;
    MG_TRY(run(MG_FV4_NORM, &job));
  }
  return mg_cuda_max_end(norm);
}

mg_status_t mg_cuda_fv4_residual_restrict(const mg_view_t *fine, int x, int f,
                                          const mg_view_t *coarse, int dst) {
  for (int q = 0; q < fine->n_patches; q++) {
    mg_fv4_job_t job = job_on(fine, q, x, f);
    job.coarse = coarse->patch[q];
    job.dst = job.coarse.vec[dst];
    MG_TRY(run(MG_FV4_RESTRICT, &job));
  }
  return MG_OK;
}
