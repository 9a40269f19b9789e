/* fv4 operations based on A x, in kernels that evaluate the ghosts outside walls themselves. */
#ifndef MG_CUDA_FV4_JOB_H
#define MG_CUDA_FV4_JOB_H

#include "cuda/reduction.h"

enum mg_fv4_operation_t {
  MG_FV4_COLORED, /**< step on the cells of a color */
  MG_FV4_ALL,     /**< step on all cells */
  MG_FV4_RESIDUAL,
  MG_FV4_NORM,     /**< max norm of the residual */
  MG_FV4_RESTRICT, /**< restriction of the residual */
  MG_FV4_ANY       /**< of a kernel: the operation of the job */
};

/** One operation on one patch, passed to its kernels by value. */
struct mg_fv4_job_t {
  mg_fv4_operation_t operation;
  mg_cuda_patch_t l;
  const mg_real_t *x, *f; /**< f is null for A x instead of f - A x */
  const mg_real_t *dinv, *previous;
  mg_real_t *dst;   /**< cell (0,0,0); in the coarse patch for MG_FV4_RESTRICT */
  int color;        /**< as in mg_step_t */
  mg_real_t c1, c2; /**< as in mg_step_t */
  mg_patch_t coarse;
  unsigned long long *maximum;
};

/** The result of an operation for one cell. */
static __device__ __forceinline__ mg_real_t mg_fv4_result(const mg_fv4_job_t &job,
                                                          mg_fv4_operation_t op, mg_real_t x,
                                                          mg_real_t ax, mg_real_t f, mg_real_t dinv,
                                                          mg_real_t previous) {
  if (op == MG_FV4_COLORED) return mg_relax(x, ax, f, dinv, job.c2);
  /* If c1 = 0 the previous iterate has no effect, and x is already loaded. */
  if (op == MG_FV4_ALL)
    return mg_update(x, job.c1 == MG_REAL(0.0) ? x : previous, ax, f, dinv, job.c1, job.c2);
  return job.f ? f - ax : ax;
}

/* The two kernels. The march streams planes through shared memory; it needs patches that fill the
 * device and have a suitable shape. The kernel for small patches handles any patch. */
bool mg_cuda_fv4_marches(const mg_cuda_patch_t *l);
mg_status_t mg_cuda_fv4_march(const mg_fv4_job_t *job, mg_region_t part);
mg_status_t mg_cuda_fv4_small(const mg_fv4_job_t *job);

/* As the backend entry sweep_overlaps, for a patch that uses the march. */
bool mg_cuda_fv4_march_pays(const mg_patch_t *p, bool host);

#endif
