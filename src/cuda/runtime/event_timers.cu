/* Profiling support: event timers and NVTX ranges. */
#include "cuda/cuda.h"
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <cstdlib>
#ifdef HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

static struct {
  cudaEvent_t *event;
  int n;
} timers;

static void release(void) {
  for (int e = 0; e < timers.n; e++)
    (void)cudaEventDestroy(timers.event[e]);
  free(timers.event);
  timers.event = nullptr;
  timers.n = 0;
}

static mg_status_t create(int n) {
  release();
  MG_TRY(mg_new(&timers.event, n, "event timers"));
  for (; timers.n < n; timers.n++) {
    const cudaError_t error = cudaEventCreate(&timers.event[timers.n]);
    if (error == cudaSuccess) continue;
    release();
    return mg_cuda_failed(error, "cudaEventCreate", __FILE__, __LINE__);
  }
  return MG_OK;
}

static mg_status_t record(int number) {
  MG_CUDA_TRY(cudaEventRecord(timers.event[number], mg_cuda.stream));
  return MG_OK;
}

static mg_status_t elapsed(int first, int last, double *seconds) {
  float ms = 0.0f;
  MG_CUDA_TRY(cudaEventElapsedTime(&ms, timers.event[first], timers.event[last]));
  *seconds = 1e-3 * (double)ms;
  return MG_OK;
}

#ifdef HAVE_NVTX
static void range_begin(const char *name) {
  if (!mg_cuda.captures) (void)nvtxRangePushA(name);
}

static void range_end(void) {
  if (!mg_cuda.captures) (void)nvtxRangePop();
}
#endif

const mg_backend_profile_t mg_cuda_profile = {
    .timers_create = create,
    .timers_free = release,
    .timer_record = record,
    .timers_elapsed = elapsed,
#ifdef HAVE_NVTX
    .range_begin = range_begin,
    .range_end = range_end,
#endif
};
