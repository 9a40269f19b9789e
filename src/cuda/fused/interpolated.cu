/* Instances of the fused sweeps in fused/sweeps.cu that interpolate their input. They have a file
 * of their own, because together the instances take twice as long to compile as any other file.
 * FROM_PARENTS also interpolates from halves, FORM_WEIGHTED has the same results with a weight of
 * 1: rare cases share kernels. */
#include "cuda/fused/launch.h"

namespace mg_fused {
launch_t *launch_interpolated(form_t form, int n, bool varies, input_t input) {
  if (varies) return launch_of_steps<FORM_WEIGHTED, true, RESIDUAL_UNUSED, INPUT_FROM_PARENTS>(n);
  if (form == FORM_WEIGHTED)
    return launch_of_steps<FORM_WEIGHTED, false, RESIDUAL_UNUSED, INPUT_FROM_PARENTS>(n);
  return input == INPUT_FROM_HALVES
             ? launch_of_steps<FORM_COLORED, false, RESIDUAL_UNUSED, INPUT_FROM_HALVES>(n)
             : launch_of_steps<FORM_COLORED, false, RESIDUAL_UNUSED, INPUT_FROM_PARENTS>(n);
}
} // namespace mg_fused
