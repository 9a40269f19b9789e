/* The progress of solves. */
#include "base/log_wings.h"
#include "run/benchmark.h"
#include <limits.h>
#include <math.h>

void mg_benchmark_show(const mg_params_t *p, int s, bool timed, int done, double estimate) {
  static const char *const names[MG_N_SIZES] = {"h", "2h", "4h"};
  double of = timed ? p->min_solves : p->warmup;
  if (timed && estimate > 0.0) of = fmax(of, fmin(ceil(p->min_time / estimate), INT_MAX));
  if (p->verify_only)
    mg_progress("verification at %s", names[s]);
  else
    mg_progress("%s at %s: solve %d of %d, %.0f s left", timed ? "timing" : "warm-up", names[s],
                done + 1, (int)of, estimate * (of - done));
}
