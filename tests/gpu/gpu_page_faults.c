/* With --memory=unified, set-up and solves cause no page fault on either side and migrate no
 * page, as counted by CUPTI. A deliberate host access to a page proves that the counters work
 * here. Skips if they do not detect it, and without a device or CUPTI. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_CUPTI
#include "device/device_select.h"
#include "level/ops.h"
#include "level/transfer.h"
#include "solver/problem.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include <cupti.h>
#include <stdlib.h>

#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityUnifiedMemoryCounter3 counter_t;
#else
typedef CUpti_ActivityUnifiedMemoryCounter2 counter_t;
#endif

enum { DEVICE_FAULTS, HOST_FAULTS, TO_DEVICE, TO_HOST, N_COUNTERS };
static const CUpti_ActivityUnifiedMemoryCounterKind kinds[N_COUNTERS] = {
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
};
static int counted[N_COUNTERS];

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *records) {
  *size = 1 << 20;
  *records = 0;
  *buffer = aligned_alloc(8, *size);
  if (!*buffer) *size = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid) {
  CUpti_Activity *record = NULL;
  (void)context;
  (void)stream;
  (void)size;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) continue;
    counter_t counter;
    memcpy(&counter, record, sizeof counter);
    for (int k = 0; k < N_COUNTERS; k++)
      counted[k] += counter.counterKind == kinds[k];
  }
  free(buffer);
}

static bool start_counting(void) {
  CUpti_ActivityUnifiedMemoryCounterConfig config[N_COUNTERS];
  for (int k = 0; k < N_COUNTERS; k++)
    config[k] = (CUpti_ActivityUnifiedMemoryCounterConfig){
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE, kinds[k], 0, 1};
  return cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == CUPTI_SUCCESS &&
         cuptiActivityConfigureUnifiedMemoryCounter(config, N_COUNTERS) == CUPTI_SUCCESS &&
         cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) == CUPTI_SUCCESS;
}

/* Print and return the counts since the last call. */
static int look(const char *what) {
  int sum = 0;
  MUST(mg_backend_cuda.queue.wait());
  CHECK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == CUPTI_SUCCESS);
  printf(
      "%s: faults on the device %d, on the host %d; migrations to the device %d, to the host %d\n",
      what, counted[DEVICE_FAULTS], counted[HOST_FAULTS], counted[TO_DEVICE], counted[TO_HOST]);
  for (int k = 0; k < N_COUNTERS; k++) {
    sum += counted[k];
    counted[k] = 0;
  }
  return sum;
}

int main(int argc, char **argv) {
  static const fixture_backend_t unified = {"cuda and cpu, unified",
                                            "--device=cuda --memory=unified --cpu-below=4097"};
  static mg_history_t history;
  double f_norm;
  fixture_begin(&argc, &argv);
  if (mg_device_count() == 0) return FIXTURE_SKIP("no CUDA device here");
  mg_params_t params;
  mg_params_defaults(&params);
  params.device = MG_DEVICE_CUDA;
  MUST(mg_device_choose(&params));
  if (!start_counting()) return FIXTURE_SKIP("CUPTI has no counters of unified memory here");

  mg_hierarchy_t *h = fixture_create(&unified, 5, 4, "");
  CHECK(h->level[2].plan->place == MG_PLACE_CUDA && h->level[3].plan->shared); /* 16^3 */
  CHECK_INT(look("allocation and set-up"), 0);
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  for (int s = 0; s < 3; s++)
    MUST(mg_solve(h, 0, f_norm, &history));
  CHECK_INT(look("three solves"), 0);

  /* The host touches a device page, which the device must fetch back. */
  volatile double *page = h->level[0].store.memory;
  page[0] = page[0] + 1.0;
  MUST(mg_fill(&h->level[0], MG_U, 0.0));
  if (look("a page that the host writes") == 0 && test_n_failures == 0) {
    mg_hierarchy_free(h);
    return FIXTURE_SKIP("the counters do not see a fault that is there");
  }
  /* The access pattern that --memory=unified keeps out of managed memory for this reason: a
   * level that the host fills and a kernel reads. */
  volatile double *coarse = h->level[1].store.memory;
  for (size_t c = 0; c < h->level[1].store.bytes / sizeof *coarse; c++)
    coarse[c] = 1e-3 * (double)(c % 1000);
  printf("%d^3 cells in managed memory:\n", mg_level_view(&h->level[1])->n[0]);
  (void)look("  the host writes all vectors");
  MUST(mg_interpolate(h, 0, MG_INTERPOLATE_V2, MG_U, true, false));
  CHECK(look("  corrections from there") > 0);
  MUST(mg_interpolate(h, 0, MG_INTERPOLATE_V2, MG_U, true, false));
  CHECK_INT(look("  the same again"), 0);
  mg_hierarchy_free(h);
  return FIXTURE_END();
}
#else
#include "tests/lib/test.h"

int main(void) {
  return test_skip("build without CUPTI");
}
#endif
