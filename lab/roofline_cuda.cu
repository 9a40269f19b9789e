/* Roofline ladder: levels on a CUDA device. */
#include "lab/lab_cuda.h"
extern "C" {
#include "lab/roofline.h"
}

namespace {
/* The solver works on its own streams, including the zeroing of its allocations. Synchronize the
 * device, because nothing here waits for those streams implicitly. */
mg_status_t fill(void *at, int value_bytes, int64_t n, int64_t first) {
  MG_CUDA_TRY(cudaDeviceSynchronize());
  if (value_bytes == sizeof(float))
    MG_TRY(lab_cuda_fill((float *)at, n, first));
  else
    MG_TRY(lab_cuda_fill((double *)at, n, first));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

mg_status_t fetch(void *host, const void *at, size_t bytes) {
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_CUDA_TRY(cudaMemcpy(host, at, bytes, cudaMemcpyDeviceToHost));
  return MG_OK;
}

mg_status_t put(double *at, double value) {
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_CUDA_TRY(cudaMemcpy(at, &value, sizeof value, cudaMemcpyHostToDevice));
  MG_CUDA_TRY(cudaDeviceSynchronize()); /* it may still be in flight */
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
  MG_TRY(lab_cuda_time(lab, enqueue, &job, &row->seconds, mg_cuda.stream));
  return lab_cuda_launched(row);
}

struct chains_t {
  const double *from;
  double *to;
  int64_t n;
};

__global__ void __launch_bounds__(256) chain(const double *from, double *to) {
  const int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
  double x[ROOFLINE_CHAINS];
#pragma unroll
  for (int q = 0; q < ROOFLINE_CHAINS; q++)
    x[q] = from[i % ROOFLINE_KINDS] + q;
  for (int l = 0; l < ROOFLINE_LINKS; l++)
#pragma unroll
    for (int q = 0; q < ROOFLINE_CHAINS; q++)
      x[q] = roofline_link(x[q], true);
  double sum = x[0];
#pragma unroll
  for (int q = 1; q < ROOFLINE_CHAINS; q++)
    sum += x[q];
  to[i] = sum;
}

mg_status_t enqueue_chains(void *arg, cudaStream_t stream) {
  const chains_t *c = (const chains_t *)arg;
  chain<<<(unsigned)(c->n / 256), 256, 0, stream>>>(c->from, c->to);
  MG_CUDA_LAUNCHED("chain");
  return MG_OK;
}

mg_status_t chains(const lab_t *lab, double *from, double *to, int64_t n, lab_row_t *row) {
  chains_t c = {from, to, n};
  MG_TRY(lab_cuda_time(lab, enqueue_chains, &c, &row->seconds, mg_cuda.stream));
  return lab_cuda_launched(row);
}

/* Sixteen waves of fully occupied SMs. */
int64_t chain_numbers(const lab_t *) {
  const lab_card_t card = lab_card();
  return (int64_t)16 * card.processors * card.threads_per_processor;
}
} // namespace

extern "C" const roofline_place_t roofline_on_cuda = {fill,   fetch,         put, time_work,
                                                      chains, chain_numbers, true};
