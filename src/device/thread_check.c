#include "device/thread_check.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/machine_checks.h"
#include "comm/comm.h"
#include "comm/comm_wings.h"

mg_status_t mg_thread_check(void) {
  int first;
  MG_TRY(MG_ON_ROOT(mg_machine_check_arithmetic()));
  MG_TRY(mg_comm_first(mg_comm_world(), !mg_machine_has_threads(), &first));
  const bool reports = first == mg_comm_rank(mg_comm_world());
  return mg_comm_agree(reports ? mg_machine_check_threads() : MG_OK);
}

/* Threads beyond the quota wait for the next period, 0.1 s. Rank 0 warns, so the threads of its
 * control group count. */
static mg_status_t warn_of_quota(bool *warned) {
  uint64_t mine, of_root;
  const double quota = mg_machine_cpu_quota(&mine);
  of_root = mine;
  MG_TRY(mg_comm_broadcast(mg_comm_world(), &of_root, sizeof of_root));
  double threads = mine == of_root ? mg_machine_threads() : 0.0;
  MG_TRY(mg_comm_sum_on_host(&threads, 1));
  *warned = quota > 0.0 && threads > quota;
  if (*warned)
    mg_warning(
        "%g thread%s on %s, whose control group has the time of %g CPUs; start fewer ranks or "
        "lower OMP_NUM_THREADS",
        threads, threads == 1.0 ? "" : "s", mg_comm_host(), quota);
  return MG_OK;
}

/* More threads than CPUs are the most frequent cause of a slow run. */
mg_status_t mg_thread_warn_if_crowded(void) {
  enum { MAX_CPUS = 1024 };
  double on_host[MAX_CPUS + 1]; /* ranks that may use each CPU; threads */
  mg_machine_mark_processors(on_host, MAX_CPUS);
  on_host[MAX_CPUS] = mg_machine_threads();
  MG_TRY(mg_comm_sum_on_host(on_host, MAX_CPUS + 1));
  const int threads = (int)on_host[MAX_CPUS];
  bool warned;
  MG_TRY(warn_of_quota(&warned));
  int cpus = 0;
  for (int c = 0; c < MAX_CPUS; c++)
    cpus += on_host[c] > 0.0;
  if (!warned && cpus > 0 && threads > cpus)
    mg_warning("%d threads on %d CPU%s of %s; start fewer ranks or lower OMP_NUM_THREADS", threads,
               cpus, cpus == 1 ? "" : "s", mg_comm_host());
  return MG_OK;
}
