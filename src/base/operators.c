/* The traits of each operator. */
#include "base/operators.h"

/* Traits that both 7-point operators have. */
#define TRAITS_7                                                                                   \
  .points = 7, .radius = 1, .in_place = true, .sums_diagonal = true, .any_grid = true,             \
  .mixed_sides = true, .order = 2, .weights = 4.0, .max_steps = MG_MAX_STEPS_PER_PASS,             \
  .pass_planes = 1,                                                                                \
  .paths = MG_PATH_TUNED | MG_PATH_FUSED_ALL | MG_PATH_RESIDUAL | MG_PATH_INTERPOLATION |          \
           MG_PATH_ONE_EXCHANGE | MG_PATH_RESIDENT | MG_PATH_EMULATED | MG_PATH_GUESS |            \
           MG_PATH_BLOCK | MG_PATH_PAIRS | MG_PATH_DIRECT | MG_PATH_INTERIOR_FIRST

#define ROW(...)                                                                                   \
  &(const mg_operator_traits_t) {                                                                  \
    __VA_ARGS__                                                                                    \
  }

const mg_operator_traits_t *const mg_operator_traits[] = {
    [MG_OPERATOR_FV2] =
        ROW(TRAITS_7, .wall_order = 2, .v = MG_INTERPOLATE_V2, .f = MG_INTERPOLATE_V2,
            .gsrb_smooths = 3, .jacobi_smooths = 6, .degree = 6, .rounding = {0.014, 0.014}),
    [MG_OPERATOR_FV4] =
        ROW(.points = 25, .radius = 2, .edges = true, .extends_betas = true, .order = 4,
            .weights = 24.0, .max_steps = MG_MAX_STEPS_PER_PASS_FV4, .pass_planes = 2,
            .pass_box_dim = 4,
            .paths = MG_PATH_TUNED | MG_PATH_RESIDENT | MG_PATH_SPLIT | MG_PATH_BLOCK,
            .wall_order = 4, .v = MG_INTERPOLATE_V2, .f = MG_INTERPOLATE_V4, .listed = true,
            .gsrb_smooths = 3, .jacobi_smooths = 6, .degree = 6, .rounding = {0.014, 0.014}),
    [MG_OPERATOR_7PT] =
        ROW(TRAITS_7, .wall_order = 1, .v = MG_INTERPOLATE_P0, .f = MG_INTERPOLATE_P1,
            .closes_faces = true, .point_data = true, .gsrb_smooths = 2, .jacobi_smooths = 4,
            .degree = 4, .rounding = {0.06, 0.03}, .error = {8.7e-3, 1.2e-3}),
    [MG_OPERATOR_27PT] =
        ROW(.points = 27, .radius = 1, .edges = true, .order = 2, .weights = 4.0, .max_steps = 1,
            .wall_order = 3, .v = MG_INTERPOLATE_P2, .f = MG_INTERPOLATE_P2, .constant = true,
            .point_data = true, .gsrb_smooths = 2, .jacobi_smooths = 6, .degree = 4,
            .rounding = {0.12, 0.06}, .error = {1.26e-2, 3.4e-3}),
};

const int mg_n_operators = sizeof mg_operator_traits / sizeof mg_operator_traits[0];
