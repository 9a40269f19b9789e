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

void mg_cuda_event_timers_free(void) {
  for (int e = 0; e < timers.n; e++)
    (void)cudaEventDestroy(timers.event[e]);
  free(timers.event);
  timers.event = nullptr;
  timers.n = 0;
}

mg_status_t mg_cuda_event_timers_create(int n) {
  mg_cuda_event_timers_free();
  MG_TRY(mg_new(&timers.event, n, "event timers"));
  for (; timers.n < n; timers.n++) {
    const cudaError_t error = cudaEventCreate(&timers.event[timers.n]);
    if (error == cudaSuccess) continue;
    mg_cuda_event_timers_free();
    return mg_cuda_failed(error, "cudaEventCreate", __FILE__, __LINE__);
  }
  return MG_OK;
}

mg_status_t mg_cuda_event_timer_record(int number) {
  MG_CUDA_TRY(cudaEventRecord(timers.event[number], mg_cuda.stream));
  return MG_OK;
}

mg_status_t mg_cuda_event_timers_elapsed(int first, int last, double *seconds) {
  float ms = 0.0f;
  MG_CUDA_TRY(cudaEventElapsedTime(&ms, timers.event[first], timers.event[last]));
  *seconds = 1e-3 * (double)ms;
  return MG_OK;
}

#ifdef HAVE_NVTX
void mg_cuda_range_begin(const char *name) {
  if (!mg_cuda.captures) (void)nvtxRangePushA(name);
}

void mg_cuda_range_end(void) {
  if (!mg_cuda.captures) (void)nvtxRangePop();
}
#endif
