/* unit_plan_sweeps: which levels fuse steps of a smooth or keep it on the SMs of a GPU, and what
 * that costs. */
#include "cuda/resident/resident_tiles.h"
#include "formulas/vectors.h"
#include "tests/guard/guard.h"
#include "tests/lib/plan_case.h"

/* Limits of the rows, as they were measured on 132 SMs and 32 MiB of L2. */
enum {
  FUSED_MIN_CELLS = 1 << 19,
  RESIDUAL_MIN_BYTES = 3 << 22,
  INTERPOLATION_MIN_BYTES = 3 << 25,
  RESIDUAL_MIN_BYTES_ALL = 3 << 25,
  ONE_EXCHANGE_MAX_CELLS = 1 << 23,
  PASS_WITH_HALO_MIN_CELLS = 1 << 19,
  PASS_MAX_LAYERS = 16
};

/* Which levels fuse several steps, and the cost: extra ghost layers where patches have
 * neighbors, and a vector for the previous Chebyshev iterate. */
static void test_passes(void) {
  static const struct {
    mg_device_t device;
    boundary_t boundary;
    mg_smoother_t smoother;
    mg_operator_t op;
    int64_t ranks;
    int steps, layers; /* for 512^3 or 1024^3 cells, if three steps are requested */
    bool before;
  } cases[] = {
      {MG_DEVICE_CUDA, WALLS, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 1, 3, 1, false},
      {MG_DEVICE_CUDA, PERIODIC, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 1, 3, 3, false},
      {MG_DEVICE_CUDA, PERIODIC, MG_SMOOTHER_JACOBI, MG_OPERATOR_7PT, 1, 3, 3, false},
      {MG_DEVICE_CUDA, WALLS, MG_SMOOTHER_CHEBYSHEV, MG_OPERATOR_FV2, 8, 3, 3, true},
      {MG_DEVICE_CUDA, WALLS, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 8, 3, 3, false},
      {MG_DEVICE_CPU, WALLS, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 8, 6, 7, false},
      {MG_DEVICE_CPU, WALLS, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 1, 6, 1, false},
      {MG_DEVICE_CPU, PERIODIC, MG_SMOOTHER_JACOBI, MG_OPERATOR_7PT, 1, 3, 4, false},
      {MG_DEVICE_CPU, WALLS, MG_SMOOTHER_CHEBYSHEV, MG_OPERATOR_FV2, 8, 1, 1, false},
      {MG_DEVICE_CUDA_SIMPLE, WALLS, MG_SMOOTHER_GSRB, MG_OPERATOR_FV2, 8, 1, 1, false},
      {MG_DEVICE_CUDA, WALLS, MG_SMOOTHER_L1JACOBI, MG_OPERATOR_FV2, 8, 1, 1, false},
      {MG_DEVICE_CUDA, WALLS, MG_SMOOTHER_GSRB, MG_OPERATOR_FV4, 8, 2, 3, false},
      {MG_DEVICE_CUDA, WALLS, MG_SMOOTHER_GSRB, MG_OPERATOR_FV4, 1, 2, 2, false},
      {MG_DEVICE_CUDA, PERIODIC, MG_SMOOTHER_CHEBYSHEV, MG_OPERATOR_FV4, 8, 1, 2, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    set_size(8, 8);
    params.device = cases[i].device;
    set_boundary(cases[i].boundary);
    params.smoother = cases[i].smoother;
    params.op = cases[i].op;
    params.cpu_below = 0;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    const int all_steps = params.smooths * (params.smoother == MG_SMOOTHER_CHEBYSHEV ? params.degree
                                            : params.smoother == MG_SMOOTHER_GSRB    ? 2
                                                                                     : 1);
    int for_finer = 0; /* ghost layers that passes of the next finer level read */
    for (int l = 0; l < plan.n_levels; l++) {
      const mg_level_plan_t *level = &plan.level[l];
      const int64_t cells = mg_layout_n_cells(&level->layout) / level->layout.n_ranks;
      const int32_t n = level->layout.n[0];
      const bool large = cells >= FUSED_MIN_CELLS, is_fv4 = params.op == MG_OPERATOR_FV4,
                 fv4_all = is_fv4 && params.smoother != MG_SMOOTHER_GSRB,
                 on_gpu = cases[i].device == MG_DEVICE_CUDA, on_cpu = level->place == MG_PLACE_CPU,
                 has_halo = level->layout.n_ranks > 1 || mg_params_is_all_periodic(&params),
                 /* on a CPU, levels that have a coarser one; with a halo, large ones */
          resident = on_cpu ? n >= 2 && (!has_halo || (cells >= PASS_WITH_HALO_MIN_CELLS &&
                                                       all_steps < level->layout.box_dim &&
                                                       all_steps < PASS_MAX_LAYERS))
                            : level->layout.n_ranks == 1 && on_gpu &&
                                  (cases[i].steps == 3 || is_fv4) && n >= 4 &&
                                  n <= (fv4_all ? 32 : 64),
                 /* both levels have boxes for the layers */
          with_ghosts = resident && on_cpu && has_halo && !is_fv4 && l + 1 < plan.n_levels &&
                        level->nests_coarse && (all_steps + 2) / 2 * 2 <= PASS_MAX_LAYERS &&
                        (all_steps + 2) / 2 * 2 <= level->layout.box_dim &&
                        (all_steps + 2) / 2 + 1 <= level[1].layout.box_dim,
                 fuses = !on_cpu && cases[i].steps == 3, gsrb = params.smoother == MG_SMOOTHER_GSRB,
                 residual =
                     fuses && 8 * cells >= (gsrb ? RESIDUAL_MIN_BYTES : RESIDUAL_MIN_BYTES_ALL),
                 interpolation = fuses && gsrb && 8 * cells >= INTERPOLATION_MIN_BYTES,
                 deep = large && cases[i].layers > plan.radius,
                 once = on_cpu ? resident && has_halo
                               : deep && cells <= ONE_EXCHANGE_MAX_CELLS &&
                                     level->layout.n_ranks > 1 && params.op != MG_OPERATOR_FV4 &&
                                     !cases[i].before;
      CHECK_INT(level->resident, resident);
      CHECK_INT(level->steps_per_pass, resident           ? all_steps
                                       : large && !on_cpu ? cases[i].steps
                                                          : 1);
      CHECK_INT(level->fused_residual, residual || resident);
      CHECK_INT(level->fused_interpolation,
                interpolation || with_ghosts ||
                    (resident && !is_fv4 && l + 1 < plan.n_levels && !(on_cpu && has_halo)));
      /* One exchange for 3 + 3 steps and a layer that they leave valid. The 18 steps of Chebyshev
       * here are more than two sweeps. */
      CHECK_INT(level->one_exchange, once);
      CHECK_INT(level->ghost_layers, with_ghosts       ? (all_steps + 2) / 2 * 2
                                     : for_finer       ? for_finer
                                     : once && on_cpu  ? cases[i].layers
                                     : once            ? 7
                                     : deep && !on_cpu ? cases[i].layers + residual
                                                       : plan.radius);
      for_finer = with_ghosts ? (all_steps + 2) / 2 + 1 : 0;
      CHECK_INT((level->vectors & 1u << MG_PREVIOUS) != 0, large && cases[i].before);
    }
    params.precision = MG_CLASS_MIXED;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    const int64_t float_bytes =
        4 * mg_layout_n_cells(&plan.level[0].layout) / plan.level[0].layout.n_ranks;
    CHECK_INT(
        plan.level[0].fused_interpolation,
        (plan.level[0].resident && (!plan.level[0].one_exchange || plan.level[0].nests_coarse)) ||
            (params.device == MG_DEVICE_CUDA && cases[i].steps == 3 &&
             params.smoother == MG_SMOOTHER_GSRB && float_bytes >= INTERPOLATION_MIN_BYTES));
    params.precision = MG_CLASS_DOUBLE;
    /* Twenty half sweeps would need 21 layers for one exchange. */
    params.smooths = 10;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    for (int l = 0; l < plan.n_levels; l++)
      CHECK_INT(plan.level[l].one_exchange && cases[i].smoother == MG_SMOOTHER_GSRB, false);
    /* If all steps of a smooth are fused, no other iterate is needed. */
    params.smooths = 1;
    params.degree = 3;
    params.steps_per_pass = 2;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    /* A CPU makes all steps in one pass. */
    const int steps_of_3 = params.smoother == MG_SMOOTHER_CHEBYSHEV ? 3
                           : params.smoother == MG_SMOOTHER_GSRB    ? 2
                                                                    : 1;
    CHECK_INT(plan.level[0].steps_per_pass, params.device == MG_DEVICE_CPU ? steps_of_3
                                            : cases[i].steps > 1           ? 2
                                                                           : 1);
    CHECK_INT((plan.level[0].vectors & 1u << MG_PREVIOUS) != 0, cases[i].before);
    params.degree = 2;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    CHECK_INT((plan.level[0].vectors & 1u << MG_PREVIOUS) != 0, 0);
    params.steps_per_pass = 1;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    CHECK_INT(plan.level[0].steps_per_pass, 1);
    CHECK_INT(plan.level[0].ghost_layers, plan.radius);
  }
}

/* Tiles that a launch accepts: they cover the level, one block per SM, whole warps.
 * @param[out] wide  whether they are for colored steps only */
static bool tiles_of_7_points(const int32_t n[3], bool *wide) {
  mg_resident_tiles_t t;
  if (!mg_resident_choose_tiles(n, params.gpu.sms, &t)) return false;
  *wide = mg_resident_tiles_are_wide(&t);
  CHECK_INT(2 * t.pairs, n[0]);
  CHECK_INT(t.rows[0] * t.tiles[0], n[1]);
  CHECK_INT(t.rows[1] * t.tiles[1], n[2]);
  CHECK(t.rows[0] % 2 == 0 && t.rows[1] % 2 == 0 && t.rows[0] % t.rows_per_thread == 0);
  CHECK(mg_resident_blocks(&t) <= params.gpu.sms &&
        mg_resident_blocks(&t) <= MG_RESIDENT_MAX_BLOCKS);
  CHECK(mg_resident_threads(&t) % 32 == 0);
  if (*wide) {
    CHECK(t.pairs <= MG_RESIDENT_WIDE_PAIRS);
    CHECK(t.rows[0] == MG_RESIDENT_WIDE_SIDE && t.rows[1] == MG_RESIDENT_WIDE_SIDE);
    CHECK(mg_resident_threads(&t) <= MG_RESIDENT_WIDE_THREADS);
    return true;
  }
  CHECK(t.pairs <= MG_RESIDENT_MAX_PAIRS);
  CHECK(t.rows[0] * t.rows[1] <= MG_RESIDENT_MAX_ROWS);
  CHECK(t.rows[0] + t.rows[1] <= MG_RESIDENT_MAX_SIDES);
  CHECK(mg_resident_threads(&t) <= MG_RESIDENT_MAX_THREADS);
  return true;
}

static bool tiles_of_fv4(const int32_t n[3], bool *wide) {
  mg_fv4_tiles_t t;
  if (!mg_fv4_choose_tiles(n, params.gpu.sms, &t)) return false;
  const int64_t cells = (int64_t)t.side[0] * t.side[1] * t.side[2];
  for (int d = 0; d < 3; d++) {
    CHECK_INT(t.side[d] * t.count[d], n[d]);
    CHECK(t.side[d] % 2 == 0 && t.side[d] >= 4);
  }
  CHECK(mg_fv4_tile_blocks(&t) <= params.gpu.sms &&
        mg_fv4_tile_blocks(&t) <= MG_RESIDENT_MAX_BLOCKS);
  CHECK(t.threads <= MG_RESIDENT_MAX_THREADS && t.threads % 32 == 0);
  *wide = mg_fv4_tiles_are_wide(n);
  CHECK_INT(*wide, t.threads < cells);
  return true;
}

/* Append the cells per side of a level to `text` if a smooth of it is resident. The plan must agree
 * with the tiles. Boxes of fv4 need 4 cells per side for its wall formula. */
static void add_resident(int32_t n, int all_steps, char *text, size_t size) {
  params.log2_box_dim = n % 4 == 0 ? 2 : 1;
  const bool is_fv4 = params.op == MG_OPERATOR_FV4;
  for (int d = 0; d < 3; d++)
    params.boxes[d] = n >> params.log2_box_dim;
  CHECK_INT(build(1), MG_OK);
  const mg_level_plan_t *level = &plan.level[0];
  bool wide = false;
  const bool tiles =
      is_fv4 ? tiles_of_fv4(level->layout.n, &wide) : tiles_of_7_points(level->layout.n, &wide);
  CHECK_INT(level->resident,
            tiles && (!wide || params.smoother == MG_SMOOTHER_GSRB) && (!is_fv4 || n % 4 == 0));
  if (level->path == &mg_path_cuda_fused) {
    CHECK(params.gpu.sms > 0 &&
          (int64_t)n * n * n * 132 >= (int64_t)FUSED_MIN_CELLS * params.gpu.sms);
    return;
  }
  CHECK_INT(level->steps_per_pass, level->resident ? all_steps : 1);
  CHECK_INT(level->fused_residual, level->resident);
  CHECK_INT(level->fused_interpolation, level->resident && !is_fv4);
  CHECK_INT(level->ghost_layers, plan.radius);
  const size_t length = strlen(text);
  if (level->resident) snprintf(text + length, size - length, " %d", (int)n);
}

/* Cubes of 16^3 to 80^3 cells on a GPU with 132 SMs, with 20, and with none that it does not
 * share. */
static void test_resident(void) {
  static const struct {
    mg_operator_t op;
    mg_smoother_t smoother;
    int steps;
    const char *on_132, *on_20;
  } cases[] = {
      {MG_OPERATOR_FV2, MG_SMOOTHER_GSRB, 6, " 16 20 24 28 32 36 40 44 48 56 64 72 80",
       " 16 24 32"},
      {MG_OPERATOR_7PT, MG_SMOOTHER_JACOBI, 3, " 16 20 24 28 32 36 40 44 48 56 64", " 16 24"},
      {MG_OPERATOR_FV4, MG_SMOOTHER_GSRB, 6, " 16 20 24 32 40 48 64", " 16"},
      {MG_OPERATOR_FV4, MG_SMOOTHER_JACOBI, 3, " 16 20 24 32 40", " 16"},
  };
  static const int sms[] = {132, 20, 0};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int variant = 0; variant < 12; variant++) {
      char text[256] = "";
      set_size(4, 1);
      CHECK_INT(params.gpu.sms, 132); /* where no GPU is known */
      params.device = MG_DEVICE_CUDA;
      params.cpu_below = 0;
      params.smooths = 3;
      params.op = cases[i].op;
      params.smoother = cases[i].smoother;
      params.gpu.sms = sms[variant / 4];
      set_boundary(variant % 2 ? PERIODIC : WALLS);
      params.precision = variant / 2 % 2 ? MG_CLASS_MIXED : MG_CLASS_DOUBLE;
      for (int32_t n = 16; n <= 80; n += 2)
        add_resident(n, cases[i].steps, text, sizeof text);
      CHECK_STRING(text, params.gpu.sms == 132  ? cases[i].on_132
                         : params.gpu.sms == 20 ? cases[i].on_20
                                                : "");
    }
}

/* The limits of fused sweeps on GPUs with half and twice the SMs and L2: 64^3 to 320^3 cells on
 * each of two ranks. */
static void test_limits(void) {
  static const struct {
    int sms, l2_mib;
    int64_t fused, residual, interpolation, one_exchange; /* cells per rank */
  } cases[] = {
      {132, 50, FUSED_MIN_CELLS, RESIDUAL_MIN_BYTES / 8, INTERPOLATION_MIN_BYTES / 8,
       ONE_EXCHANGE_MAX_CELLS},
      {132, 60, FUSED_MIN_CELLS, RESIDUAL_MIN_BYTES / 8, INTERPOLATION_MIN_BYTES / 8,
       ONE_EXCHANGE_MAX_CELLS},
      {264, 126, 2 * FUSED_MIN_CELLS, RESIDUAL_MIN_BYTES / 4, INTERPOLATION_MIN_BYTES / 4,
       23726566 /* sqrt(8) times */},
      {66, 25, FUSED_MIN_CELLS / 2, RESIDUAL_MIN_BYTES / 16, INTERPOLATION_MIN_BYTES / 16, 2965820},
      {0, 50, FUSED_MIN_CELLS, RESIDUAL_MIN_BYTES / 8, INTERPOLATION_MIN_BYTES / 8,
       ONE_EXCHANGE_MAX_CELLS}, /* shared */
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int32_t n = 64; n <= 320; n += 8) {
      set_size(4, 1);
      params.device = MG_DEVICE_CUDA;
      params.cpu_below = 0;
      set_boundary(WALLS);
      params.smoother = MG_SMOOTHER_GSRB;
      params.smooths = 3;
      params.gpu.sms = cases[i].sms;
      params.gpu.l2_bytes = cases[i].l2_mib << 20;
      params.log2_box_dim = 3;
      params.boxes[0] = params.boxes[1] = n / 8;
      params.boxes[2] = 2 * n / 8;
      CHECK_INT(build(2), MG_OK);
      const mg_level_plan_t *level = &plan.level[0];
      const int64_t cells = (int64_t)n * n * n;
      const bool fused = cells >= cases[i].fused;
      CHECK(level->layout.n_ranks == 2 && !level->resident);
      CHECK_INT(level->steps_per_pass, fused ? 3 : 1);
      CHECK_INT(level->fused_residual, fused && cells >= cases[i].residual);
      CHECK_INT(level->fused_interpolation, fused && cells >= cases[i].interpolation);
      CHECK_INT(level->one_exchange, fused && cells <= cases[i].one_exchange);
    }
}

/* Passes on a CPU with a halo: of fv2 from 2^19 cells per rank on, or from 2^17 if the ghosts are
 * few; of fv4 where they are few. If a rank holds whole rows, colored steps of fv4 compute no
 * ghosts in i, and a layer per step in j and k instead of two. */
static void test_pass_halo(void) {
  static const struct {
    boundary_t boundary;
    int log2_box_dim;
    int64_t boxes, ranks;
    bool pass[3];
    int layers; /* of colored steps of fv4 */
  } cases[] = {
      {WALLS, 5, 4, 2, {true, true, true}, 9},    {WALLS, 4, 4, 2, {false}, 0},
      {WALLS, 6, 2, 4, {true, true, true}, 9},    {WALLS, 5, 2, 4, {false}, 0},
      {WALLS, 7, 1, 8, {true, true, true}, 14},   {WALLS, 6, 1, 8, {false, true, false}, 0},
      {PERIODIC, 7, 1, 1, {true, true, true}, 9}, {PERIODIC, 6, 1, 1, {false}, 0},
  };
  enum { COLORED_FV4, JACOBI_FV4, COLORED_FV2 };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int kind = 0; kind < 3; kind++) {
      const bool pass = cases[i].pass[kind];
      set_size(cases[i].log2_box_dim, cases[i].boxes);
      params.device = MG_DEVICE_CPU;
      params.op = kind == COLORED_FV2 ? MG_OPERATOR_FV2 : MG_OPERATOR_FV4;
      params.smoother = kind == JACOBI_FV4 ? MG_SMOOTHER_JACOBI : MG_SMOOTHER_GSRB;
      set_boundary(cases[i].boundary);
      params.smooths = 3; /* 6 colored steps, or 3 */
      CHECK_INT(build(cases[i].ranks), MG_OK);
      const int layers = kind == COLORED_FV4 ? cases[i].layers : 8; /* fv2: to interpolate */
      CHECK_INT(plan.level[0].one_exchange, pass);
      CHECK_INT(plan.level[0].ghost_layers, pass ? layers : plan.radius);
    }
}

/* An operator without a row of traits is refused by the plan, and by what backends still decide. */
static void test_unknown_operator(void) {
  const mg_operator_t unknown = (mg_operator_t)(MG_OPERATOR_27PT + 1);
  mg_patch_t patch = {.n = {16, 16, 16}};
  mg_view_t v = {.n_patches = 1,
                 .patch = &patch,
                 .n = {16, 16, 16},
                 .box_dim = 16,
                 .radius = 1,
                 .ghost_layers = 8,
                 .cells = 4096,
                 .op = MG_OPERATOR_FV2};
  const mg_step_t steps[2] = {{.colored = true}, {.colored = true, .color = 1}};
  const mg_sweep_t sweep = {.step = steps, .n = 2};
  const mg_backend_fused_t *fused = mg_backend_guard.fused;
  CHECK_INT(mg_traits_of(unknown)->points, 0);
  CHECK(fused->can_interpolate_smooth(&v, &v, &sweep));
  v.op = unknown;
  CHECK(!fused->can_interpolate_smooth(&v, &v, &sweep));
  set_size(4, 8);
  params.op = unknown;
  CHECK_INT(build(1), MG_ERR_USAGE);
  CHECK(strstr(message, "has no traits"));
}

/* 27pt lists no fast path: every level is plain, and on a GPU runs the simple kernels. */
static void test_plain_operator(void) {
  static const mg_device_t devices[] = {MG_DEVICE_CPU, MG_DEVICE_GUARD, MG_DEVICE_CUDA};
  for (int c = 0; c < 3 * 2 * 2; c++) {
    set_size(5, 8);
    params.op = MG_OPERATOR_27PT;
    params.device = devices[c % 3];
    set_boundary(c / 3 % 2 ? PERIODIC : WALLS);
    params.precision = c / 6 ? MG_CLASS_MIXED : MG_CLASS_DOUBLE;
    params.gpu.sms = 132;
    params.cpu_below = 0;
    CHECK_INT(build(1 + c % 2 * 7), MG_OK);
    for (int l = 0; l < plan.n_levels; l++) {
      const mg_level_plan_t *level = &plan.level[l];
      CHECK(level->place != MG_PLACE_CUDA && !level->resident && !level->fused_residual &&
            !level->fused_interpolation && !level->one_exchange);
      CHECK_INT(level->steps_per_pass, 1);
      CHECK_INT(level->ghost_layers, 1);
      CHECK(level->vectors & 1u << MG_DINV && level->vectors & 1u << MG_TMP);
    }
  }
  params.device = MG_DEVICE_CPU;
  set_boundary(WALLS);
  params.side[0][0].wall = MG_WALL_NEUMANN;
  CHECK_INT(build(1), MG_ERR_USAGE);
  params.side[0][0].wall = MG_WALL_DIRICHLET;
  params.boxes[0] = params.boxes[1] = 2;
  params.boxes[2] = 1;
  CHECK_INT(build(1), MG_ERR_USAGE);
  CHECK(strstr(message, "as many cells along y and z"));
}

/* Tuned kernels lack the ghosts of a new kind of wall. */
static void test_new_wall(void) {
  for (int side = 0; side < 7; side++) {
    set_size(5, 8);
    params.device = MG_DEVICE_CUDA;
    params.cpu_below = 0;
    if (side < 6) params.side[side / 2][side % 2].wall = MG_N_TUNED_WALLS;
    CHECK_INT(build(1), MG_OK);
    for (int l = 0; l < plan.n_levels; l++)
      CHECK_INT(plan.level[l].place, side < 6 ? MG_PLACE_CUDA_SIMPLE : MG_PLACE_CUDA);
  }
}

int main(void) {
  guard_provide();
  test_plain_operator();
  test_new_wall();
  test_passes();
  test_unknown_operator();
  test_pass_halo();
  test_resident();
  test_limits();
  return TEST_RESULT();
}
