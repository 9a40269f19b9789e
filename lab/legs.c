/* Part of ladder 4 on a GPU: legs of a V-cycle on one level, by the solver's own operations.
 * unit_roofline also runs them on a CPU.
 *
 * On its way down, a cycle smooths and restricts the residual. On its way up, it interpolates the
 * correction and smooths; the last smooth also computes the residual norm. Each operation is timed
 * as a separate kernel before or after the smooth, and in its fused sweeps if the plan and the
 * backend allow that. Results are checked on at most 128^3 cells.
 *
 * Times are per cell and leg. Speed-ups are over the smooth alone. */
#include "device/device_select.h"
#include "lab/roofline.h"
#include "level/smooth.h"

/* A leg moves the bytes of its smooth and `bytes` more. */
typedef struct {
  const char *name;
  roofline_kind_t kind;
  bool fused;
  double bytes, flops;
} leg_t;

static const leg_t legs[] = {
    {"smooth", ROOFLINE_SMOOTHS, false, 0.0, 0.0},
    {"smooth; residual, restricted", ROOFLINE_SMOOTHS_RESTRICTS, false, 41.0, 22.0},
    {"last sweep restricts residual", ROOFLINE_SMOOTHS_RESTRICTS, true, 1.0, 22.0},
    {"smooth; residual norm", ROOFLINE_SMOOTHS_NORM, false, 40.0, 22.0},
    {"last sweep computes the norm", ROOFLINE_SMOOTHS_NORM, true, 0.0, 22.0},
    {"correction; smooth", ROOFLINE_CORRECTS_SMOOTHS, false, 17.0, 7.75},
    {"first sweep interpolates correction", ROOFLINE_CORRECTS_SMOOTHS, true, 1.0, 7.75},
};
enum { N_LEGS = sizeof legs / sizeof legs[0] };

/* Bytes of a fused sweep of any number of steps; bytes and flops of a single step, as in
 * roofline.c. In double. */
static const struct {
  roofline_problem_t problem;
  double pass_bytes, bytes, flops;
} smoothers[] = {
    {{"fv2", .smoother = "gsrb"}, 48.0, 48.0, 15.5},
    {{"fv2", .smoother = "gsrb", .mixed = true}, 48.0, 48.0, 15.5},
    {{"fv2", .smoother = "chebyshev"}, 56.0, 56.0 - 8.0 / 6, 35.0},
    {{"fv2", .smoother = "chebyshev", .mixed = true}, 56.0, 56.0 - 8.0 / 6, 35.0},
};
enum { N_SMOOTHERS = sizeof smoothers / sizeof smoothers[0] };

/* Let a smooth compute the residual and interpolate, or not. *has: whether it does what the leg
 * needs. A float level needs no norm. */
static mg_status_t choose(mg_hierarchy_t *h, const leg_t *leg, bool *has) {
  mg_level_t *fine = &h->level[0];
  mg_level_plan_t *plan = &h->plan.level[0];
  const mg_level_plan_t unchanged = *plan;
  const bool is_float = fine->store.value_bytes == sizeof(float),
             corrects = leg->kind == ROOFLINE_CORRECTS_SMOOTHS;
  plan->fused_residual = unchanged.fused_residual && leg->fused;
  plan->fused_interpolation = unchanged.fused_interpolation && leg->fused;
  const mg_status_t status = mg_smoother_set(fine, &h->params, fine->lambda_max, true);
  *plan = unchanged;
  *has = (!leg->fused || (corrects ? mg_smooth_interpolates(fine)
                                   : mg_smooth_has_residual(fine, MG_FROM_GUESS))) &&
         !(is_float && leg->kind == ROOFLINE_SMOOTHS_NORM);
  return status;
}

/* Errors of all legs of hierarchy h, with the oracle `twin`. */
static mg_status_t check_legs(const roofline_place_t *place, mg_hierarchy_t *h,
                              mg_hierarchy_t *twin, double error[N_LEGS]) {
  for (int l = 0; l < N_LEGS; l++) {
    bool has;
    error[l] = 0.0;
    MG_TRY(choose(h, &legs[l], &has));
    if (has) MG_TRY(roofline_check(place, h, twin, legs[l].kind, roofline_run, &error[l]));
  }
  return MG_OK;
}

static mg_status_t check_small(const lab_t *lab, const roofline_place_t *place, int s, int log2_n,
                               double error[N_LEGS]) {
  mg_hierarchy_t *h = NULL, *twin = NULL;
  MG_TRY(roofline_make(lab, place, &smoothers[s].problem, log2_n, &h));
  mg_status_t status = roofline_twin_create(h, &twin);
  if (status == MG_OK)
    status = check_legs(place, h->low ? h->low : h, h->low ? twin->low : twin, error);
  mg_hierarchy_free(twin);
  mg_hierarchy_free(h);
  return status;
}

static mg_status_t add_legs(lab_t *lab, const roofline_place_t *place, mg_hierarchy_t *h, int s,
                            const double error[N_LEGS]) {
  const mg_level_t *fine = &h->level[0];
  const double part = fine->store.value_bytes == sizeof(float) ? 0.5 : 1.0;
  for (int l = 0; l < N_LEGS; l++) {
    bool has;
    MG_TRY(choose(h, &legs[l], &has));
    if (!has) continue;
    const int steps = fine->steps_per_pass;
    const double bytes = steps > 1 ? smoothers[s].pass_bytes / steps : smoothers[s].bytes;
    const roofline_kernel_t kernel = {legs[l].name, part * (fine->n_steps * bytes + legs[l].bytes),
                                      fine->n_steps * smoothers[s].flops + legs[l].flops,
                                      legs[l].kind};
    MG_TRY(roofline_add(lab, place, h, &kernel, 1, error[l]));
  }
  return MG_OK;
}

static mg_status_t table(lab_t *lab, const roofline_place_t *place, int s, int log2_n) {
  const roofline_problem_t *problem = &smoothers[s].problem;
  const int checked = log2_n < ROOFLINE_LARGEST_CHECKED ? log2_n : ROOFLINE_LARGEST_CHECKED;
  double error[N_LEGS];
  mg_hierarchy_t *h = NULL;
  MG_TRY(check_small(lab, place, s, checked, error));
  MG_TRY(roofline_make(lab, place, problem, log2_n, &h));
  lab_table(lab, "smooth", "legs of a cycle, %s %s, %s, %d^3 cells", problem->op, problem->smoother,
            problem->mixed ? "float" : "double", 1 << log2_n);
  const mg_status_t status = add_legs(lab, place, h->low ? h->low : h, s, error);
  mg_hierarchy_free(h);
  return status;
}

mg_status_t lab_legs(lab_t *lab, const roofline_place_t *place) {
  int log2_n = 6;
  while (log2_n < 9 && (int64_t)8 << 3 * (log2_n + 1) <= 2 * lab->bytes)
    log2_n++;
  mg_status_t status = MG_OK;
  for (int s = 0; s < N_SMOOTHERS && status == MG_OK; s++)
    status = table(lab, place, s, log2_n);
  mg_device_close();
  return status;
}
