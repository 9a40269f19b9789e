/* Properties of the levels of a plan: vectors, ghost layers, fused and resident sweeps. */
#include "formulas/smoother_steps.h"
#include "formulas/vectors.h"
#include "plan/plan.h"
#include "plan/resident_tiles.h"

/* True if the operations of a level's processor can access the cells of the next coarser level
 * in place. */
static bool can_access_coarse(const mg_level_plan_t *level, mg_memory_t memory) {
  if (level[0].place == level[1].place) return true;
  return memory == MG_MEMORY_UNIFIED && level[1].place == MG_PLACE_CPU;
}

/* Properties of the smoother that determine ghost layers and vectors. */
typedef struct {
  int n_steps;
  bool fuse, look_back, colored;
} smoother_t;

/* Whether steps fuse or look back is the same for any number of smooths and any bound. */
static smoother_t smoother_of(const mg_params_t *params) {
  mg_step_t step[MG_MAX_DEGREE];
  const double any_bound = 1.0;
  const int n = mg_smoother_steps_once(params, any_bound, step);
  return (smoother_t){params->smooths * n, mg_steps_fuse(step, n), mg_steps_look_back(step, n),
                      step[0].colored};
}

static int64_t cells_per_rank(const mg_level_plan_t *level) {
  return mg_layout_n_cells(&level->layout) / level->layout.n_ranks;
}

static int64_t vector_bytes_per_rank(const mg_level_plan_t *level) {
  return cells_per_rank(level) * (int64_t)level->value_bytes;
}

/* Whether passes allow the level's numbers of cells. An odd one is allowed between walls; a
 * periodic direction has no red-black coloring then. */
static bool may_be_colored(const mg_layout_t *layout, const mg_params_t *params) {
  for (int d = 0; d < 3; d++)
    if (layout->n[d] % 2 != 0 && (!layout->general || params->boundary == MG_BOUNDARY_PERIODIC ||
                                  params->wall[d][0] == MG_WALL_NONE))
      return false;
  return true;
}

/* True if the smoother of the level may fuse several steps into one sweep: of fv4, only colored
 * steps. Below MG_FUSED_SWEEPS_MIN_CELLS a GPU has too few tiles to work on. All ghost layers must
 * correspond to cells: they wrap at most once, and do not extend beyond a wall that is not the
 * patch's own. */
static bool may_fuse(const mg_level_plan_t *level, int radius, const mg_params_t *params,
                     const smoother_t *smoother) {
  const int most = mg_max_steps_per_pass(params);
  const int64_t cells = cells_per_rank(level);
  const bool large = level->place == MG_PLACE_GUARD ||
                     (level->place == MG_PLACE_CUDA && cells >= MG_FUSED_SWEEPS_MIN_CELLS);
  return most > 1 && (mg_has_path(params->op, MG_PATH_FUSED_ALL) || smoother->colored) &&
         smoother->fuse && large && may_be_colored(&level->layout, params) &&
         level->layout.box_dim >= mg_layers_of_steps(radius, most);
}

/* Whether some ghosts are copies of cells. */
static bool has_halo(const mg_level_plan_t *level, const mg_params_t *params) {
  return level->layout.n_ranks > 1 || mg_params_is_periodic_anywhere(params);
}

/* Whether a pass of colored steps of fv4 works on rows split by color (cpu/split.c): whole rows. */
static bool splits_rows(const mg_level_plan_t *level, const smoother_t *smoother) {
  const mg_layout_t *layout = &level->layout;
  return smoother->colored && layout->n[0] % 8 == 0 &&
         mg_cuboids_part(layout, 0).n[0] == layout->boxes[0];
}

/* Cells that a step of a pass computes on average, in percent of the first rank's: with half of the
 * ghost layers at each side that is not a wall. fv4's split rows have no such layers in i. */
static double percent_with_ghosts(const mg_level_plan_t *level, const mg_params_t *params,
                                  const smoother_t *smoother, int layers) {
  const mg_layout_t *layout = &level->layout;
  const mg_cuboid_t part = mg_cuboids_part(layout, 0), cells = mg_layout_cells(layout, &part);
  double percent = 100.0;
  const bool split = mg_has_path(params->op, MG_PATH_SPLIT) && splits_rows(level, smoother);
  for (int d = split ? 1 : 0; d < 3; d++) {
    const int parts = (layout->boxes[d] + part.n[d] - 1) / part.n[d],
              sides = mg_params_is_periodic(params, d) || parts > 2 ? 2 : parts - 1;
    percent *= 1.0 + 0.5 * sides * layers / cells.n[d];
  }
  return percent;
}

/* True if a smooth of the level on a CPU passes it through the caches once. With a halo it also
 * computes ghosts, `radius` layers less with each step. */
static bool passes_once(const mg_level_plan_t *level, int radius, const mg_params_t *params,
                        const smoother_t *smoother) {
  const mg_layout_t *layout = &level->layout;
  const int layers = mg_layers_of_pass(radius, smoother->n_steps);
  const mg_operator_traits_t *t = mg_traits_of(params->op);
  const bool pays =
      !has_halo(level, params) ||
      (layers <= MG_PASS_MAX_LAYERS && layout->box_dim >= layers &&
       (t->radius > 1 ? layout->cuboids && percent_with_ghosts(level, params, smoother, layers) <=
                                               MG_PASS_FV4_MAX_PERCENT
                      : cells_per_rank(level) >= MG_PASS_WITH_HALO_MIN_CELLS));
  return t->pass_planes > 0 && pays && may_be_colored(layout, params) &&
         layout->box_dim >= t->pass_box_dim;
}

/* True if the SMs of the GPU have room for the cells of the level. fv4 needs boxes as wide as its
 * wall formula. The guard emulates the 7-point operators only. */
static bool fits_on_sms(const mg_level_plan_t *level, const mg_params_t *params, bool colored) {
  const int32_t *n = level->layout.n;
  const int64_t cells = mg_layout_n_cells(&level->layout);
  const mg_operator_traits_t *t = mg_traits_of(params->op);
  mg_resident_tiles_t tiles;
  mg_fv4_tiles_t fv4_tiles;
  if (level->place == MG_PLACE_GUARD)
    return t->paths & MG_PATH_EMULATED && cells <= MG_RESIDENT_MAX_CELLS_GUARD && n[0] % 2 == 0 &&
           n[1] % 2 == 0 && n[2] % 2 == 0;
  if (level->place != MG_PLACE_CUDA || !(t->paths & MG_PATH_RESIDENT) ||
      cells > MG_RESIDENT_MAX_CELLS)
    return false;
  if (t->points == 7)
    return mg_resident_choose_tiles(n, params->sms, &tiles) &&
           (colored || !mg_resident_tiles_are_wide(&tiles));
  return level->layout.box_dim >= t->pass_box_dim && (colored || !mg_fv4_tiles_are_wide(n)) &&
         mg_fv4_choose_tiles(n, params->sms, &fv4_tiles);
}

/* True if a smooth of the level is one resident sweep: on a GPU a level of one rank, too small for
 * tiles that overlap. */
static bool may_reside(const mg_level_plan_t *level, int radius, const mg_params_t *params,
                       const smoother_t *smoother) {
  const int n = smoother->n_steps;
  return params->steps_per_pass != 1 && smoother->fuse && n > 1 && n <= MG_RESIDENT_MAX_STEPS &&
         (level->place == MG_PLACE_CPU
              ? passes_once(level, radius, params, smoother)
              : level->layout.n_ranks == 1 && fits_on_sms(level, params, smoother->colored));
}

/* True if the last fused sweeps may compute the residual too, which reads one more ghost layer.
 * fv4's residual would read two more; separate, it is faster (cuda/fv4_fused.cu). */
static bool may_fuse_residual(const mg_level_plan_t *level, const mg_params_t *params,
                              const smoother_t *smoother) {
  const int64_t least =
      smoother->colored ? MG_FUSED_RESIDUAL_MIN_BYTES : MG_FUSED_RESIDUAL_MIN_BYTES_ALL;
  const bool pays = level->place == MG_PLACE_GUARD || vector_bytes_per_rank(level) >= least;
  return pays && mg_has_path(params->op, MG_PATH_RESIDUAL) && !params->alpha_varies &&
         level->layout.box_dim > mg_max_steps_per_pass(params);
}

/* True if a smooth may exchange its ghosts once, with `layers` layers. See may_fuse for the limit
 * on the layers. fv4's sweeps would need its 1 / diagonal and betas deeper outside walls too. */
static bool may_exchange_once(const mg_level_plan_t *level, const mg_params_t *params, int layers) {
  const int64_t cells = cells_per_rank(level);
  const bool pays = level->place == MG_PLACE_GUARD
                        ? cells <= MG_ONE_EXCHANGE_MAX_CELLS_GUARD
                        : cells <= MG_ONE_EXCHANGE_MAX_CELLS && level->layout.n_ranks > 1;
  return pays && mg_has_path(params->op, MG_PATH_ONE_EXCHANGE) && layers > 0 &&
         layers <= MG_ONE_EXCHANGE_MAX_LAYERS && level->layout.box_dim >= layers;
}

static void set_steps_per_pass(mg_plan_t *plan, mg_level_plan_t *level, const mg_params_t *params,
                               const smoother_t *smoother) {
  level->ghost_layers = plan->radius;
  level->steps_per_pass = 1;
  level->resident = may_reside(level, plan->radius, params, smoother);
  if (level->resident) {
    level->steps_per_pass = smoother->n_steps;
    level->fused_residual = level->halves;
    level->one_exchange = level->place == MG_PLACE_CPU && has_halo(level, params);
    if (level->one_exchange)
      level->ghost_layers = mg_layers_of_pass(plan->radius, smoother->n_steps);
  }
  if (level->resident || !may_fuse(level, plan->radius, params, smoother)) return;
  level->steps_per_pass = mg_max_steps_per_pass(params);
  level->fused_residual = may_fuse_residual(level, params, smoother);
  if (has_halo(level, params)) {
    const int layers = mg_steps_ghost_layers(smoother->n_steps, level->steps_per_pass,
                                             smoother->look_back, level->value_bytes);
    level->one_exchange = may_exchange_once(level, params, layers);
    level->ghost_layers =
        level->one_exchange
            ? layers
            : mg_layers_of_steps(plan->radius, level->steps_per_pass + level->fused_residual);
  }
  if (smoother->look_back && smoother->n_steps > level->steps_per_pass)
    level->vectors |= 1u << MG_PREVIOUS;
}

/* True if a pass that computes ghosts may also interpolate to them: if both levels have boxes for
 * the layers, and the coarse ones are cells of the next level. */
static bool may_interpolate_ghosts(const mg_level_plan_t *level, const smoother_t *smoother) {
  const int layers = mg_layers_of_interpolating_pass(smoother->n_steps);
  return level->nests_coarse && layers <= MG_PASS_MAX_LAYERS && level->layout.box_dim >= layers &&
         level[1].layout.box_dim >= mg_coarse_layers_of_pass(smoother->n_steps);
}

/* Whether passes of the level compute ghosts and interpolate to them. */
static bool interpolates_ghosts(const mg_level_plan_t *level) {
  return level->resident && level->one_exchange && level->fused_interpolation;
}

/* True if the first fused sweep of a smooth may interpolate its input from the next level, which
 * exists. */
static bool may_fuse_interpolation(const mg_level_plan_t *level, const mg_params_t *params,
                                   const smoother_t *smoother) {
  const int64_t least =
      smoother->colored ? MG_FUSED_INTERPOLATION_MIN_BYTES : MG_FUSED_INTERPOLATION_MIN_BYTES_ALL;
  const bool pays =
      level->place == MG_PLACE_GUARD || level->resident || vector_bytes_per_rank(level) >= least;
  const bool with_ghosts = level->resident && level->one_exchange;
  return level->steps_per_pass > 1 && pays && mg_has_path(params->op, MG_PATH_INTERPOLATION) &&
         (level->halves || !level->resident) && level[1].place == level->place &&
         (!with_ghosts || may_interpolate_ghosts(level, smoother));
}

/* Layers for passes that interpolate to ghosts: this level's own, and those of the next finer level
 * (NULL: none). */
static void set_ghost_layers(mg_level_plan_t *level, const mg_level_plan_t *finer,
                             const smoother_t *smoother) {
  if (interpolates_ghosts(level))
    level->ghost_layers = mg_layers_of_interpolating_pass(smoother->n_steps);
  const int read =
      finer && interpolates_ghosts(finer) ? mg_coarse_layers_of_pass(smoother->n_steps) : 0;
  if (read > level->ghost_layers) level->ghost_layers = read;
}

/* True if a pass on a CPU reads 1 / diagonal: if ghosts need little memory, and not in mixed
 * precision, which needs more anyway. */
static bool pass_reads_dinv(const mg_level_plan_t *level, const mg_params_t *params,
                            const smoother_t *smoother) {
  return level->resident && params->precision == MG_CLASS_DOUBLE &&
         (!has_halo(level, params) ||
          percent_with_ghosts(level, params, smoother, level->ghost_layers) <=
              MG_PASS_DINV_MAX_PERCENT);
}

/* Whether kernels compute 1 / diagonal on this level. On a CPU, they do not read a varying alpha
 * for it. */
static bool computes_dinv(const mg_level_plan_t *level, const mg_params_t *params,
                          const smoother_t *smoother) {
  return mg_traits_of(params->op)->sums_diagonal && params->smoother != MG_SMOOTHER_L1JACOBI &&
         cells_per_rank(level) >= MG_STORED_DINV_MAX_CELLS &&
         (level->place == MG_PLACE_CUDA || (level->place == MG_PLACE_CPU && !params->alpha_varies &&
                                            !pass_reads_dinv(level, params, smoother)));
}

static bool dumps(const mg_params_t *params, mg_field_t field) {
  return params->dump[0] && params->dump_fields & 1u << field;
}

/* True if double cells where nothing is smoothed, or in place, need MG_TMP: to swap the vectors of
 * CG, to dump a residual, or where the backend cannot compute its norm without storing it. */
static bool needs_tmp(const mg_level_plan_t *level, const mg_params_t *params) {
  return dumps(params, MG_FIELD_RESIDUAL) || params->krylov == MG_KRYLOV_CG ||
         level->place == MG_PLACE_GUARD || level->place == MG_PLACE_CUDA_SIMPLE;
}

/* Vectors that a level does without, to save memory: MG_DINV, if 1 / diagonal is computed; on a CPU
 * also MG_TMP, if steps and residuals are in place or fused: on float levels, and on large levels.
 * A residual is fused with its restriction to half the cells only.
 * The bottom solver needs both. */
static unsigned unused_vectors(const mg_level_plan_t *level, const mg_params_t *params,
                               const smoother_t *smoother) {
  const bool is_mixed = params->precision == MG_CLASS_MIXED,
             is_large = cells_per_rank(level) >= MG_STORED_DINV_MAX_CELLS;
  unsigned unused = 0;
  if (computes_dinv(level, params, smoother) && (is_mixed || !dumps(params, MG_FIELD_DINV)))
    unused |= 1u << MG_DINV;
  if (level->place == MG_PLACE_CPU && mg_traits_of(params->op)->in_place && smoother->colored &&
      level->halves && (is_mixed || (is_large && !needs_tmp(level, params))))
    unused |= 1u << MG_TMP;
  return unused;
}

/* Vectors that only a level where a solve starts needs. */
static unsigned vectors_of_start(const mg_params_t *params, int l) {
  const unsigned restricted = l > 0 ? 1u << MG_RESTRICTED_U : 0;
  return restricted | (params->krylov == MG_KRYLOV_CG ? MG_VECTORS_OF_OUTER_CG : 0);
}

/* True if a solve writes MG_U of the finest double cells once, in its last operation, which
 * corrects a guess that is not stored (solver/mixed.c): it has one F-cycle and the backend defers
 * the guess (op_deferred_guess.c checks the condition). A restart reads MG_U at once. */
static bool writes_u_once(const mg_plan_t *plan, const mg_params_t *params) {
  const mg_level_plan_t *finest = &plan->level[0];
  const bool can_defer = (finest->place == MG_PLACE_CUDA || finest->place == MG_PLACE_GUARD) &&
                         mg_has_path(params->op, MG_PATH_GUESS) && finest->layout.n_ranks == 1 &&
                         mg_plan_has_dirichlet_wall(params) &&
                         !mg_params_is_periodic_anywhere(params) && plan->n_outer > 1;
  return can_defer && params->cycle == MG_CYCLE_F && params->rtol == 0.0 && !params->restart[0];
}

/* Cells of different volumes, where the mean of u counts: MG_ALPHA, which A does not have then,
 * holds the volumes. */
static unsigned volumes(const mg_params_t *params, int l) {
  return l == 0 && mg_params_is_stretched(params) && mg_params_is_singular(params) ? 1u << MG_ALPHA
                                                                                   : 0;
}

/* The double cells of the levels where solves start. Nothing is smoothed there. */
static void set_outer_levels(mg_plan_t *plan, const mg_params_t *params, int n_starts) {
  plan->n_outer = n_starts < plan->n_levels ? n_starts : plan->n_levels;
  for (int l = 0; l < plan->n_outer; l++) {
    mg_level_plan_t *outer = &plan->outer[l];
    *outer = plan->level[l];
    outer->value_bytes = sizeof(double);
    outer->vectors = MG_VECTORS_OF_OUTER | vectors_of_start(params, l) | volumes(params, l);
    if (params->alpha_varies) outer->vectors |= 1u << MG_ALPHA;
    if (dumps(params, MG_FIELD_DINV)) outer->vectors |= 1u << MG_DINV;
    if (needs_tmp(outer, params)) outer->vectors |= 1u << MG_TMP;
    outer->ghost_layers = outer->wall_layers = plan->radius;
    outer->steps_per_pass = 1;
    outer->resident = outer->fused_residual = outer->fused_interpolation = outer->one_exchange =
        false;
  }
  /* The last operation reads neither vector. Together they have the bytes of MG_U. */
  if (writes_u_once(plan, params)) plan->outer[0].u_holds = 1u << MG_F | 1u << MG_TMP;
}

void mg_plan_set_levels(mg_plan_t *plan, const mg_params_t *params) {
  const bool is_mixed = params->precision == MG_CLASS_MIXED;
  const int last_start = mg_params_solves_once(params) ? 0 : 2;
  const smoother_t smoother = smoother_of(params);
  for (int l = 0; l < plan->n_levels; l++) {
    mg_level_plan_t *level = &plan->level[l];
    const bool is_bottom = l == plan->n_levels - 1;
    level->halves = is_bottom || mg_doubles(level->layout.n, level[1].layout.n);
    level->value_bytes = is_mixed ? sizeof(float) : sizeof(double);
    level->vectors = MG_VECTORS_EVERY_LEVEL;
    if (l <= last_start && !is_mixed)
      level->vectors |= vectors_of_start(params, l) | volumes(params, l);
    if (params->alpha_varies) level->vectors |= 1u << MG_ALPHA;
    if (is_bottom) level->vectors |= MG_VECTORS_OF_KRYLOV;
    set_steps_per_pass(plan, level, params, &smoother);
    if (!is_bottom) level->vectors &= ~unused_vectors(level, params, &smoother);
    if (!is_bottom) {
      level->nests_coarse = can_access_coarse(level, params->memory) &&
                            mg_layouts_nest(&level->layout, &level[1].layout);
      level[1].shared = level->nests_coarse && level->place != level[1].place;
      level->fused_interpolation = may_fuse_interpolation(level, params, &smoother);
    }
    set_ghost_layers(level, l > 0 ? level - 1 : NULL, &smoother);
    level->wall_layers = level->place == MG_PLACE_CPU && !mg_params_is_periodic_anywhere(params)
                             ? plan->radius
                             : level->ghost_layers;
  }
  if (is_mixed) set_outer_levels(plan, params, last_start + 1);
}
