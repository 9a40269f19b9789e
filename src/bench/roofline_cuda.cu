/* Where the ladder of the solver's kernels has its levels on a CUDA device. */
#include "lab_cuda.h"
extern "C" {
#include "roofline.h"
}

namespace {
mg_status_t fill(double *at, int64_t n, int64_t first) {
  MG_TRY(lab_cuda_fill(at, n, first));
  MG_CUDA_TRY(cudaDeviceSynchronize()); /* levels have a stream of their own */
  return MG_OK;
}

mg_status_t fetch(double *host, const double *at, int64_t n) {
  MG_CUDA_TRY(cudaMemcpy(host, at, (size_t)n * sizeof *host, cudaMemcpyDeviceToHost));
  return MG_OK;
}

mg_status_t put(double *at, double value) {
  MG_CUDA_TRY(cudaMemcpy(at, &value, sizeof value, cudaMemcpyHostToDevice));
  return MG_OK;
}

struct job_t {
  lab_work_t work;
  void *arg;
};

mg_status_t enqueue(void *arg, cudaStream_t) {
  const job_t *job = (const job_t *)arg;
  job->work(job->arg);
  return MG_OK;
}

mg_status_t time_work(const lab_t *lab, lab_work_t work, void *arg, lab_row_t *row) {
  job_t job = {work, arg};
  MG_TRY(lab_cuda_time(lab, enqueue, &job, &row->seconds, nullptr, mg_cuda.stream));
  return lab_cuda_launched(row);
}
} // namespace

extern "C" const roofline_place_t roofline_on_cuda = {fill, fetch, put, time_work};
