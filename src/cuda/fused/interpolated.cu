/* Instances of the fused sweeps in fused/sweeps.cu that interpolate their input. They have a file
 * of their own, because together the instances take twice as long to compile as any other file. */
#include "cuda/fused/launch.h"

namespace mg_fused {
launch_t *launch_interpolated(int n, bool varies, input_t input) {
  return varies ? launch_of_steps<true, VARY_ALL, RESIDUAL_UNUSED, INPUT_FROM_PARENTS>(n)
                : launch_of_input<VARY_BETAS>(n, input);
}
} // namespace mg_fused
