/* Instances of the fused sweeps in fused/sweeps.cu that interpolate their input. They have a file
 * of their own, because together the instances take twice as long to compile as any other file. */
#include "cuda/fused/launch.h"

namespace mg_fused {
template <input_t INPUT> static launch_t *launch_from(form_t form, int n, bool varies) {
  static launch_t *const launches[N_FORMS][2][2] = {
      {{launch<interpolated_t<shape_t<false, 2, false>, INPUT>>,
        launch<interpolated_t<shape_t<false, 2, true>, INPUT>>},
       {launch<interpolated_t<shape_t<false, 3, false>, INPUT>>,
        launch<interpolated_t<shape_t<false, 3, true>, INPUT>>}},
      {{launch<interpolated_t<shape_t<true, 2, false>, INPUT>>,
        launch<interpolated_t<shape_t<true, 2, true>, INPUT>>},
       {launch<interpolated_t<shape_t<true, 3, false>, INPUT>>,
        launch<interpolated_t<shape_t<true, 3, true>, INPUT>>}},
      {{launch<interpolated_t<weighted_shape_t<2, false>, INPUT>>,
        launch<interpolated_t<weighted_shape_t<2, true>, INPUT>>},
       {launch<interpolated_t<weighted_shape_t<3, false>, INPUT>>,
        launch<interpolated_t<weighted_shape_t<3, true>, INPUT>>}}};
  return launches[form][n - 2][varies];
}

launch_t *launch_interpolated(form_t form, int n, bool varies, input_t input) {
  return input == INPUT_FROM_HALVES ? launch_from<INPUT_FROM_HALVES>(form, n, varies)
                                    : launch_from<INPUT_FROM_PARENTS>(form, n, varies);
}
} // namespace mg_fused
