#include "device/fused_steps.h"
#include "base/log.h"
#include "formulas/smoother_steps.h"
#include <stdio.h>

static void use(mg_params_t *params, int steps, const char *why, const char *what) {
  mg_warning("--steps-per-pass=%d: using %d, %s%s", (int)params->steps_per_pass, steps, why, what);
  params->steps_per_pass = steps;
}

/* The smoother is unknown here if the betas choose it. */
void mg_fused_steps_settle(mg_params_t *params, bool can_fuse) {
  mg_step_t step[MG_MAX_DEGREE];
  const int once = mg_smoother_steps_once(params, 1.0, step), all = mg_smoother_n_steps(params);
  const bool on_gpu = mg_params_uses_gpu(params), fuse = mg_steps_fuse(step, once),
             is_given = !params->chooses.smoother;
  const mg_operator_traits_t *op = mg_traits_of(params->op);
  const char *const op_name = mg_operator_name(params->op);
  char pair[64];
  snprintf(pair, sizeof pair, "%s with %s", mg_smoother_name(params->smoother), op_name);
  if (params->device == MG_DEVICE_GUARD) return; /* of tests */
  if (params->steps_per_pass == MG_STEPS_AUTO)
    params->steps_per_pass = on_gpu && !can_fuse ? 1 : mg_max_steps_per_pass(params);
  else if (params->steps_per_pass == 1)
    return;
  else if (params->device == MG_DEVICE_CUDA_SIMPLE)
    use(params, 1, "as --device=cuda-simple fuses no steps", "");
  else if (on_gpu && !can_fuse)
    use(params, 1, "as fusing requires sm_90 or sm_100 on all GPUs and CUDA 12 or newer", "");
  else if (op->max_steps == 1)
    use(params, 1, "as no fused sweep supports ", op_name);
  else if (is_given && !fuse)
    use(params, 1, "as no fused sweep supports ", pair);
  else if (!on_gpu && is_given && all > params->steps_per_pass)
    mg_warning("--steps-per-pass=%d: a CPU fuses all %d steps of a smooth, or none",
               (int)params->steps_per_pass, all);
  else if (on_gpu && is_given && !step[0].colored && !(op->paths & MG_PATH_FUSED_ALL))
    mg_warning("--steps-per-pass=%d: a GPU fuses no steps of %s on large levels",
               (int)params->steps_per_pass, pair);
  else if (on_gpu && params->steps_per_pass > op->max_steps)
    use(params, op->max_steps, "the most that a GPU fuses with ", op_name);
}
