/* --cpu-below=auto: times solves with each number of levels on the CPU, starting with none, and
 * uses the fastest unless the gain is small. Nothing is measured without a GPU. Uses
 * the guard backend, which is slower than the CPU. No test depends on time: any timings are
 * acceptable. */
#include "run/gpu_cutoff.h"
#include "tests/lib/fixture.h"
#include "tests/lib/plan_case.h"

static mg_trials_t found;

static void build_on(mg_device_t device, int log2_box_dim, int boxes) {
  const int ranks = mg_comm_size(mg_comm_world());
  set_size(log2_box_dim, (boxes * boxes * boxes + ranks - 1) / ranks);
  params.device = device;
  MUST(build(ranks));
}

static void check_rows(int32_t n) {
  CHECK_INT(found.n[0], n);
  CHECK(found.n_rows >= 2 && found.n_rows <= MG_MAX_TRIALS);
  CHECK(found.best >= 0 && found.best < found.n_rows && found.seconds > 0.0);
  int64_t side = 1;
  for (int r = 0; r < found.n_rows; r++) {
    const mg_trial_row_t *row = &found.row[r];
    CHECK_INT(row->below, r == 0 ? 0 : side * side * side + 1);
    CHECK(row->below < (int64_t)n * n * n && row->seconds > 0.0);
    CHECK(found.row[found.best].seconds <= row->seconds ||
          (found.best == 0 && found.row[0].seconds * 0.95 <= row->seconds));
    if (r > 0) side *= 2;
  }
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  build_on(MG_DEVICE_GUARD, 5, 4); /* 128^3: solves of 64^3 */
  MUST(mg_gpu_cutoff_measure(&params, &plan, &found));
  check_rows(64);
  build_on(MG_DEVICE_GUARD, 4, 3); /* 48^3: solves of 32^3 */
  params.op = MG_OPERATOR_7PT;
  params.smoother = MG_SMOOTHER_CHEBYSHEV;
  params.rtol = 1e-9; /* the solves still run one cycle */
  MUST(mg_gpu_cutoff_measure(&params, &plan, &found));
  check_rows(32);
  build_on(MG_DEVICE_GUARD, 4, 1);
  params.coarsest = 16; /* no coarser level */
  MUST(mg_gpu_cutoff_measure(&params, &plan, &found));
  CHECK_INT(found.n_rows, 0);

  for (int d = 0; d < 2; d++) {
    build_on(d == 0 ? MG_DEVICE_CPU : MG_DEVICE_GUARD, 5, 1);
    CHECK_INT(params.cpu_below, MG_CPU_BELOW_AUTO);
    MUST(mg_gpu_cutoff_choose(&params, &plan, &found));
    CHECK_INT(params.cpu_below, 0);
    CHECK_INT(found.n_rows, 0);
    params.cpu_below = 123;
    MUST(mg_gpu_cutoff_choose(&params, &plan, &found));
    CHECK_INT(params.cpu_below, 123);
  }
  return FIXTURE_END();
}
