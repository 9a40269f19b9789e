/* Ladder 4: fused smoother steps (temporal blocking), by the solver's pipeline
 * (src/cuda/fused/sweeps.cu) with other shapes: the number of steps, the rows of a tile, and the
 * stages requested ahead.
 *
 * Tiles of fewer rows compute more cells twice. Those of 16 rows let two blocks share an SM. Boxes
 * of shared memory limit the stages in flight. Walls are included. */
#include "cuda/fused/launch.h"
#include "lab/smooth_cuda.h"

namespace {
mg_step_t steps[MG_MAX_STEPS_PER_PASS];

void make_steps(const smooth_data_t *d, bool gsrb) {
  for (int s = 0; s < MG_MAX_STEPS_PER_PASS; s++) {
    steps[s] = {};
    steps[s].colored = gsrb;
    steps[s].color = s % 2;
    steps[s].c2 = gsrb ? 1.0 : d->level.c2;
  }
}

mg_status_t enqueue_single(void *arg, cudaStream_t) {
  const smooth_data_t *d = (const smooth_data_t *)arg;
  const mg_sweep_t sweep = {&steps[0], 1,      steps[0].colored ? MG_TMP : MG_U,
                            MG_TMP,    MG_TMP, MG_NO_VECTOR};
  return mg_backend_cuda.smooth(&d->view, &sweep, MG_REGION_ALL);
}

template <typename S> mg_status_t enqueue_fused(void *arg, cudaStream_t) {
  const smooth_data_t *d = (const smooth_data_t *)arg;
  const mg_sweep_t sweep = {steps, S::STEPS, MG_U, MG_NO_VECTOR, MG_TMP, MG_NO_VECTOR};
  mg_fused::job_t job = mg_fused::job_of(&d->view, 0, &sweep);
  MG_TRY(mg_fused::launch<S>(&d->view, job, &sweep, MG_REGION_ALL));
  MG_CUDA_LAUNCHED("smooth_fused");
  return MG_OK;
}

/* Jacobi: A x and the update 24 flops, the diagonal and its inverse 8, once. A half sweep of GSRB
 * computes half of the cells. */
double flops_of(bool gsrb, int n) {
  return gsrb ? 15.5 : 24.0 + 8.0 / n;
}

template <typename S> mg_status_t add(lab_t *lab, smooth_data_t *d) {
  typedef mg_fused::shape_t<S::COLORED, S::STEPS, mg_fused::VARY_BETAS> solver_t;
  char name[LAB_NAME];
  if (S::BYTES > lab_card().shared_per_block) return MG_OK;
  snprintf(name, sizeof name, "%d steps, %d x %d, %d ahead%s", S::STEPS, (int)S::WIDTH, S::ROWS,
           S::AHEAD,
           S::ROWS == solver_t::ROWS && S::AHEAD == solver_t::AHEAD ? ": the solver" : "");
  MG_TRY(d->expect(MG_OPERATOR_FV2, steps, S::STEPS, true));
  return smooth_add_solver(lab, d, enqueue_fused<S>, d, SMOOTH_X,
                           {name, S::STEPS, 48.0 / S::STEPS, flops_of(S::COLORED, S::STEPS)});
}

mg_status_t begin(lab_t *lab, smooth_data_t *d, bool gsrb) {
  lab_table(lab, "smooth", "fused %s, walls, double, %d^3 cells, an element per cell and step",
            gsrb ? "half sweeps of GSRB" : "steps of Jacobi's form", d->level.n);
  make_steps(d, gsrb);
  MG_TRY(d->expect(MG_OPERATOR_FV2, steps, 1, true));
  return smooth_add_solver(lab, d, enqueue_single, d, SMOOTH_X,
                           {"single step: the solver", 1, 48.0, flops_of(gsrb, 1)});
}

mg_status_t tables(lab_t *lab, smooth_data_t *d) {
  using mg_fused::shape_t, mg_fused::VARY_BETAS;
  bool can_fuse = false;
  MG_TRY(begin(lab, d, false));
  MG_TRY(mg_cuda_has_tma(&can_fuse));
  if (can_fuse) {
    MG_TRY((add<shape_t<false, 2, VARY_BETAS>>(lab, d)));
    MG_TRY((add<shape_t<false, 3, VARY_BETAS, 16>>(lab, d)));
    MG_TRY((add<shape_t<false, 3, VARY_BETAS, 24>>(lab, d)));
    MG_TRY((add<shape_t<false, 3, VARY_BETAS, 24, 2>>(lab, d)));
    MG_TRY((add<shape_t<false, 3, VARY_BETAS>>(lab, d)));
  }
  MG_TRY(begin(lab, d, true));
  if (can_fuse) {
    MG_TRY((add<shape_t<true, 2, VARY_BETAS>>(lab, d)));
    MG_TRY((add<shape_t<true, 3, VARY_BETAS, 16, 2>>(lab, d)));
    MG_TRY((add<shape_t<true, 3, VARY_BETAS, 24, 2>>(lab, d)));
    MG_TRY((add<shape_t<true, 3, VARY_BETAS, 32, 1>>(lab, d)));
    MG_TRY((add<shape_t<true, 3, VARY_BETAS>>(lab, d)));
  }
  return MG_OK;
}
} // namespace

mg_status_t smooth_fused(lab_t *lab, smooth_data_t *d) {
  lab->name_width = 38;
  const mg_status_t status = tables(lab, d);
  lab->name_width = 0;
  return status;
}
