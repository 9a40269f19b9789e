/* unit_plan_sweeps: which levels fuse steps of a smooth, and what that costs. */
#include "formulas/vectors.h"
#include "tests/lib/plan_case.h"

/* Which levels fuse several steps, and the cost: extra ghost layers where patches have
 * neighbors, and a vector for the previous Chebyshev iterate. */
static void test_passes(void) {
  static const struct {
    mg_device_t device;
    mg_boundary_t boundary;
    mg_smoother_t smoother;
    mg_operator_t op;
    int64_t ranks;
    int steps, layers; /* for 512^3 or 1024^3 cells, if three steps are requested */
    bool before;
    int64_t residual_cells; /* from which the residual is fused too; 0: never */
  } cases[] = {
      {MG_DEVICE_CUDA, MG_BOUNDARY_DIRICHLET, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 1, 3, 1, false,
       1 << 24},
      {MG_DEVICE_CUDA, MG_BOUNDARY_PERIODIC, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 1, 3, 3, false,
       1 << 24},
      {MG_DEVICE_CUDA, MG_BOUNDARY_PERIODIC, MG_SMOOTHER_JACOBI, MG_OPERATOR_7PT, 1, 3, 3, false,
       1 << 27},
      {MG_DEVICE_CUDA, MG_BOUNDARY_DIRICHLET, MG_SMOOTHER_CHEBYSHEV, MG_OPERATOR_FV2, 8, 3, 3, true,
       1 << 27},
      {MG_DEVICE_CUDA, MG_BOUNDARY_DIRICHLET, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 8, 3, 3, false,
       1 << 24},
      {MG_DEVICE_CPU, MG_BOUNDARY_DIRICHLET, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 8, 1, 1, false, 0},
      {MG_DEVICE_CUDA_SIMPLE, MG_BOUNDARY_DIRICHLET, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 8, 1, 1,
       false, 0},
      {MG_DEVICE_CUDA, MG_BOUNDARY_DIRICHLET, MG_SMOOTHER_L1JACOBI, MG_OPERATOR_FV2, 8, 1, 1, false,
       0},
      {MG_DEVICE_CUDA, MG_BOUNDARY_DIRICHLET, MG_SMOOTHER_GSRB, MG_OPERATOR_FV4, 8, 2, 3, false, 0},
      {MG_DEVICE_CUDA, MG_BOUNDARY_DIRICHLET, MG_SMOOTHER_GSRB, MG_OPERATOR_FV4, 1, 2, 2, false, 0},
      {MG_DEVICE_CUDA, MG_BOUNDARY_PERIODIC, MG_SMOOTHER_CHEBYSHEV, MG_OPERATOR_FV4, 8, 1, 2, false,
       0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    set_size(8, 8);
    params.device = cases[i].device;
    params.boundary = cases[i].boundary;
    params.smoother = cases[i].smoother;
    params.op = cases[i].op;
    params.cpu_below = 0;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    const int all_steps = params.smooths * (params.smoother == MG_SMOOTHER_CHEBYSHEV ? params.degree
                                            : params.smoother == MG_SMOOTHER_GSRB    ? 2
                                                                                     : 1);
    for (int l = 0; l < plan.n_levels; l++) {
      const mg_level_plan_t *level = &plan.level[l];
      const int64_t cells = mg_layout_n_cells(&level->layout) / level->layout.n_ranks;
      const int32_t *n = level->layout.n;
      const bool large = cells >= MG_FUSED_SWEEPS_MIN_CELLS, is_fv4 = params.op == MG_OPERATOR_FV4,
                 fv4_all = is_fv4 && params.smoother != MG_SMOOTHER_GSRB,
                 resident =
                     (cases[i].steps == 3 || is_fv4) && level->layout.n_ranks == 1 &&
                     n[0] % 2 == 0 && (!is_fv4 || level->layout.box_dim >= 4) &&
                     cells <= (fv4_all ? MG_RESIDENT_MAX_CELLS_FV4_ALL : MG_RESIDENT_MAX_CELLS),
                 residual = cases[i].residual_cells > 0 && cells >= cases[i].residual_cells,
                 interpolation = large && cells >= MG_FUSED_INTERPOLATION_MIN_CELLS &&
                                 cases[i].steps == 3 && cases[i].ranks == 1,
                 deep = large && cases[i].layers > plan.radius,
                 once = deep && cells <= MG_ONE_EXCHANGE_MAX_CELLS && level->layout.n_ranks > 1 &&
                        params.op != MG_OPERATOR_FV4 && !cases[i].before;
      CHECK_INT(level->resident, resident);
      CHECK_INT(level->fused_sweeps, large ? cases[i].steps : resident ? all_steps : 1);
      CHECK_INT(level->fused_residual, residual || resident);
      CHECK_INT(level->fused_interpolation,
                interpolation || (resident && !is_fv4 && l + 1 < plan.n_levels));
      /* One exchange for 3 + 3 steps and a layer that they leave valid. The 18 steps of Chebyshev
       * here are more than two sweeps. */
      CHECK_INT(level->one_exchange, once);
      CHECK_INT(level->ghost_layers, once ? 7 : deep ? cases[i].layers + residual : plan.radius);
      CHECK_INT((level->vectors & 1u << MG_PREVIOUS) != 0, large && cases[i].before);
    }
    params.precision = MG_CLASS_MIXED;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    CHECK_INT(plan.level[0].fused_interpolation, false); /* float cells */
    params.precision = MG_CLASS_DOUBLE;
    /* Twenty half sweeps would need 21 layers for one exchange. */
    params.smooths = 10;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    for (int l = 0; l < plan.n_levels; l++)
      CHECK_INT(plan.level[l].one_exchange && cases[i].smoother == MG_SMOOTHER_GSRB, false);
    /* If all steps of a smooth are fused, no other iterate is needed. */
    params.smooths = 1;
    params.degree = 3;
    params.fused_sweeps = 2;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    CHECK_INT(plan.level[0].fused_sweeps, cases[i].steps > 1 ? 2 : 1);
    CHECK_INT((plan.level[0].vectors & 1u << MG_PREVIOUS) != 0, cases[i].before);
    params.degree = 2;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    CHECK_INT((plan.level[0].vectors & 1u << MG_PREVIOUS) != 0, 0);
    params.fused_sweeps = 1;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    CHECK_INT(plan.level[0].fused_sweeps, 1);
    CHECK_INT(plan.level[0].ghost_layers, plan.radius);
  }
}

int main(void) {
  test_passes();
  return TEST_RESULT();
}
