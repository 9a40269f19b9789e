#include "plan/plan.h"
#include "formulas/smoother_steps.h"
#include "formulas/vectors.h"
#include "formulas/walls.h"
#include "plan/coarsen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *mg_place_name(mg_place_t place) {
  static const char *const names[MG_N_PLACES] = {[MG_PLACE_CPU] = "cpu",
                                                 [MG_PLACE_CUDA] = "cuda",
                                                 [MG_PLACE_CUDA_SIMPLE] = "cuda-simple",
                                                 [MG_PLACE_GUARD] = "guard"};
  return names[place];
}

int32_t mg_plan_boxes_a_side(int log2_box_dim, int64_t boxes_per_rank, int64_t ranks) {
  const __int128 boxes = (__int128)boxes_per_rank * ranks;
  /* Counting up to twice the limit is enough to detect that it is exceeded. */
  const int64_t limit = ((int64_t)MG_MAX_DIM >> log2_box_dim) * 2;
  int64_t b = 1;
  while (b < limit && (__int128)(b + 1) * (b + 1) * (b + 1) <= boxes)
    b++;
  while (mg_odd_part(b) > MG_MAX_ODD_PART)
    b--;
  return (int32_t)b;
}

static int log2_of(int64_t power) {
  int log2 = 0;
  while ((int64_t)1 << log2 < power)
    log2++;
  return log2;
}

bool mg_plan_find_boxes(int64_t cells, int64_t box_cells, int64_t ranks, int *log2_box_dim,
                        int64_t *boxes_per_rank) {
  for (int w = log2_of(box_cells); w >= log2_of(MG_MIN_BOX_DIM); w--) {
    const int64_t side = cells >> w;
    *log2_box_dim = w;
    *boxes_per_rank = (side * side * side + ranks - 1) / ranks;
    if (mg_plan_boxes_a_side(w, *boxes_per_rank, ranks) == side) return true;
  }
  return false;
}

static bool is_size(int64_t cells) {
  return cells > 0 && cells <= MG_MAX_DIM && cells % MG_MIN_BOX_DIM == 0 &&
         mg_odd_part(cells) <= MG_MAX_ODD_PART;
}

void mg_plan_nearest_sizes(int64_t cells, int64_t *below, int64_t *above) {
  *below = cells < MG_MAX_DIM ? cells : MG_MAX_DIM;
  *above = cells < MG_MAX_DIM ? cells : MG_MAX_DIM;
  if (*above < MG_MIN_BOX_DIM) *above = MG_MIN_BOX_DIM;
  while (*below > 0 && !is_size(*below))
    --*below;
  while (!is_size(*above))
    ++*above;
}

static int radius_of(mg_operator_t op) {
  return op == MG_OPERATOR_FV4 ? 2 : 1;
}

static int64_t min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static mg_place_t place_of(const mg_layout_t *layout, const mg_params_t *params) {
  const int64_t cells = mg_layout_n_cells(layout);
  if (cells < params->cpu_below) return MG_PLACE_CPU;
  if (params->device == MG_DEVICE_CUDA) return MG_PLACE_CUDA;
  if (params->device == MG_DEVICE_CUDA_SIMPLE) return MG_PLACE_CUDA_SIMPLE;
  if (params->device == MG_DEVICE_GUARD) return MG_PLACE_GUARD;
  return MG_PLACE_CPU;
}

/* On two H200s an F-cycle at 512^3 took 19.20 ms with 4096 cells per rank, 18.80 with 32768, 18.91
 * with 262144 and 20.6 with 2097152. */
int64_t mg_plan_min_cells_per_rank(mg_place_t place) {
  return mg_place_is_cuda(place) ? 65536 : 4096;
}

/* A few cells on many ranks are bound by latency: a level keeps only as many ranks as have
 * enough work. */
static int64_t agglomerated_ranks(const mg_layout_t *coarse, int64_t fine_ranks, int64_t cap,
                                  const mg_params_t *params) {
  const int64_t cells = mg_layout_n_cells(coarse);
  const int64_t below = params->agglomerate_below != MG_AGGLOMERATE_AUTO
                            ? params->agglomerate_below
                            : mg_plan_min_cells_per_rank(place_of(coarse, params));
  int64_t ranks = min64(min64(fine_ranks, cap), mg_layout_n_boxes(coarse));
  if (below > 0) ranks = min64(ranks, cells / below);
  return ranks > 1 ? ranks : 1;
}

/* A cuboid has fewer neighbors than a segment of the curve. If n_ranks ranks cannot have one
 * cuboid each, use fewer ranks, provided that the fullest rank gets no more boxes than before. */
static void prefer_cuboids(mg_layout_t *layout) {
  mg_layout_choose(layout);
  const int64_t boxes = mg_layout_n_boxes(layout), share = mg_layout_largest_share(layout);
  if (layout->cuboids || boxes % share != 0) return;
  mg_layout_t fewer = *layout;
  fewer.n_ranks = boxes / share;
  mg_layout_choose(&fewer);
  if (fewer.cuboids && mg_layout_largest_share(&fewer) == share) *layout = fewer;
}

static void add_level(mg_plan_t *plan, const mg_params_t *params, mg_layout_t *layout) {
  prefer_cuboids(layout);
  plan->level[plan->n_levels++] =
      (mg_level_plan_t){.layout = *layout, .place = place_of(layout, params)};
}

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

/* Maximum number of steps of a fused sweep. */
static int max_fused_steps(const mg_params_t *params) {
  const int most = params->op == MG_OPERATOR_FV4 ? MG_MAX_FUSED_SWEEPS_FV4 : MG_MAX_FUSED_SWEEPS;
  return params->fused_sweeps < most ? params->fused_sweeps : most;
}

static int64_t cells_per_rank(const mg_level_plan_t *level) {
  return mg_layout_n_cells(&level->layout) / level->layout.n_ranks;
}

/* True if the smoother of the level may fuse several steps into one sweep: of fv4, only colored
 * steps. Below MG_FUSED_SWEEPS_MIN_CELLS a GPU has too few tiles to work on. All ghost layers must
 * correspond to cells: they wrap at most once, and do not extend beyond a wall that is not the
 * patch's own. A periodic grid with an odd number of cells in some direction has no red-black
 * coloring. */
static bool may_fuse(const mg_level_plan_t *level, const mg_params_t *params,
                     const smoother_t *smoother) {
  const int most = max_fused_steps(params);
  const int32_t *n = level->layout.n;
  const int64_t cells = cells_per_rank(level);
  const bool large = level->place == MG_PLACE_GUARD ||
                     (level->place == MG_PLACE_CUDA && cells >= MG_FUSED_SWEEPS_MIN_CELLS);
  return most > 1 && (params->op != MG_OPERATOR_FV4 || smoother->colored) && smoother->fuse &&
         large && n[0] % 2 == 0 && n[1] % 2 == 0 && n[2] % 2 == 0 &&
         level->layout.box_dim >= mg_layers_of_steps(radius_of(params->op), most);
}

/* Cells up to which a smooth of a level may be one resident sweep. */
static int64_t max_resident_cells(mg_place_t place, mg_operator_t op, bool colored) {
  const bool is_fv4 = op == MG_OPERATOR_FV4;
  if (place == MG_PLACE_CUDA)
    return is_fv4 && !colored ? MG_RESIDENT_MAX_CELLS_FV4_ALL : MG_RESIDENT_MAX_CELLS;
  return place == MG_PLACE_GUARD && !is_fv4 ? MG_RESIDENT_MAX_CELLS_GUARD : 0;
}

/* True if a smooth of the level may be one sweep that keeps the level in the GPU: a level of one
 * rank, too small for tiles that overlap. fv4 needs boxes as wide as its wall formula. */
static bool may_reside(const mg_level_plan_t *level, const mg_params_t *params,
                       const smoother_t *smoother) {
  const int32_t *n = level->layout.n;
  const int width = params->op == MG_OPERATOR_FV4 ? 4 : 1;
  return params->fused_sweeps > 1 && smoother->fuse && level->layout.n_ranks == 1 &&
         level->layout.box_dim >= width &&
         mg_layout_n_cells(&level->layout) <=
             max_resident_cells(level->place, params->op, smoother->colored) &&
         smoother->n_steps > 1 && smoother->n_steps <= MG_RESIDENT_MAX_STEPS && n[0] % 2 == 0 &&
         n[1] % 2 == 0 && n[2] % 2 == 0;
}

/* True if the last fused sweeps may compute the residual too, which reads one more ghost layer.
 * fv4's residual would read two more, for which shared memory has no room (cuda/fv4_fused.cu). */
static bool may_fuse_residual(const mg_level_plan_t *level, const mg_params_t *params,
                              const smoother_t *smoother) {
  const int64_t cells = cells_per_rank(level), min_cells = smoother->colored
                                                               ? MG_FUSED_RESIDUAL_MIN_CELLS
                                                               : MG_FUSED_RESIDUAL_MIN_CELLS_ALL;
  const bool pays = level->place == MG_PLACE_GUARD || cells >= min_cells;
  return pays && params->op != MG_OPERATOR_FV4 && !params->alpha_varies &&
         level->layout.box_dim > params->fused_sweeps;
}

/* True if a smooth may exchange its ghosts once, with `layers` layers. See may_fuse for the limit
 * on the layers. fv4's sweeps would need its 1 / diagonal and betas deeper outside walls too. */
static bool may_exchange_once(const mg_level_plan_t *level, const mg_params_t *params, int layers) {
  const int64_t cells = cells_per_rank(level);
  const bool pays = level->place == MG_PLACE_GUARD
                        ? cells <= MG_ONE_EXCHANGE_MAX_CELLS_GUARD
                        : cells <= MG_ONE_EXCHANGE_MAX_CELLS && level->layout.n_ranks > 1;
  return pays && params->op != MG_OPERATOR_FV4 && layers > 0 &&
         layers <= MG_ONE_EXCHANGE_MAX_LAYERS && level->layout.box_dim >= layers;
}

static void set_fused_sweeps(mg_plan_t *plan, mg_level_plan_t *level, const mg_params_t *params,
                             const smoother_t *smoother) {
  const bool has_halo = level->layout.n_ranks > 1 || params->boundary == MG_BOUNDARY_PERIODIC;
  level->ghost_layers = plan->radius;
  level->fused_sweeps = 1;
  level->resident = may_reside(level, params, smoother);
  if (level->resident) {
    level->fused_sweeps = smoother->n_steps;
    level->fused_residual = true;
  }
  if (level->resident || !may_fuse(level, params, smoother)) return;
  level->fused_sweeps = max_fused_steps(params);
  level->fused_residual = may_fuse_residual(level, params, smoother);
  if (has_halo) {
    const int layers = mg_steps_ghost_layers(smoother->n_steps, level->fused_sweeps,
                                             smoother->look_back, level->value_bytes);
    level->one_exchange = may_exchange_once(level, params, layers);
    level->ghost_layers =
        level->one_exchange
            ? layers
            : mg_layers_of_steps(plan->radius, level->fused_sweeps + level->fused_residual);
  }
  if (smoother->look_back && smoother->n_steps > level->fused_sweeps)
    level->vectors |= 1u << MG_PREVIOUS;
}

/* True if the first fused sweep of a smooth may interpolate its input from the next level, which
 * exists. On GPUs only levels of one rank do, since it has not been measured beside messages, and
 * only double cells: passes of float cells are bound by their instructions. */
static bool may_fuse_interpolation(const mg_level_plan_t *level, const mg_params_t *params) {
  const bool pays = level->place == MG_PLACE_GUARD || level->resident ||
                    (level->layout.n_ranks == 1 && level->value_bytes == sizeof(double) &&
                     mg_layout_n_cells(&level->layout) >= MG_FUSED_INTERPOLATION_MIN_CELLS);
  return level->fused_sweeps > 1 && pays && params->op != MG_OPERATOR_FV4 &&
         level[1].place == level->place;
}

/* Whether kernels compute 1 / diagonal on this level. */
static bool computes_dinv(const mg_level_plan_t *level, const mg_params_t *params) {
  const int64_t cells = cells_per_rank(level);
  return params->op != MG_OPERATOR_FV4 && params->smoother != MG_SMOOTHER_L1JACOBI &&
         cells >= MG_STORED_DINV_MAX_CELLS &&
         (level->place == MG_PLACE_CUDA ||
          (level->place == MG_PLACE_CPU && params->precision == MG_CLASS_MIXED &&
           !params->alpha_varies));
}

static bool dumps(const mg_params_t *params, mg_field_t field) {
  return params->dump[0] && params->dump_fields & 1u << field;
}

/* Vectors that a level does without, to save memory: MG_DINV, if 1 / diagonal is computed; on a
 * float level on the CPU also MG_TMP, if steps and residuals are in place or fused. The bottom
 * solver needs both. */
static unsigned unused_vectors(const mg_level_plan_t *level, const mg_params_t *params,
                               const smoother_t *smoother) {
  const bool is_mixed = params->precision == MG_CLASS_MIXED;
  unsigned unused = 0;
  if (computes_dinv(level, params) && (is_mixed || !dumps(params, MG_FIELD_DINV)))
    unused |= 1u << MG_DINV;
  if (is_mixed && level->place == MG_PLACE_CPU && params->op != MG_OPERATOR_FV4 &&
      smoother->colored)
    unused |= 1u << MG_TMP;
  return unused;
}

/* Vectors that only a level where a solve starts needs. */
static unsigned vectors_of_start(const mg_params_t *params, int l) {
  const unsigned restricted = l > 0 ? 1u << MG_RESTRICTED_U : 0;
  return restricted | (params->krylov == MG_KRYLOV_CG ? MG_VECTORS_OF_OUTER_CG : 0);
}

/* True if double cells beside a float level need MG_TMP: to swap the vectors of CG, to dump a
 * residual, or where the backend cannot compute its norm without storing it. */
static bool needs_outer_tmp(const mg_level_plan_t *level, const mg_params_t *params) {
  return dumps(params, MG_FIELD_RESIDUAL) || params->krylov == MG_KRYLOV_CG ||
         level->place == MG_PLACE_GUARD || level->place == MG_PLACE_CUDA_SIMPLE;
}

/* The double cells of the levels where solves start. Nothing is smoothed there. */
static void set_outer_levels(mg_plan_t *plan, const mg_params_t *params, int n_starts) {
  plan->n_outer = n_starts < plan->n_levels ? n_starts : plan->n_levels;
  for (int l = 0; l < plan->n_outer; l++) {
    mg_level_plan_t *outer = &plan->outer[l];
    *outer = plan->level[l];
    outer->value_bytes = sizeof(double);
    outer->vectors = MG_VECTORS_OF_OUTER | vectors_of_start(params, l);
    if (params->alpha_varies) outer->vectors |= 1u << MG_ALPHA;
    if (dumps(params, MG_FIELD_DINV)) outer->vectors |= 1u << MG_DINV;
    if (needs_outer_tmp(outer, params)) outer->vectors |= 1u << MG_TMP;
    outer->ghost_layers = plan->radius;
    outer->fused_sweeps = 1;
    outer->resident = outer->fused_residual = outer->fused_interpolation = outer->one_exchange =
        false;
  }
}

static void finish_levels(mg_plan_t *plan, const mg_params_t *params) {
  const bool is_mixed = params->precision == MG_CLASS_MIXED;
  /* Solves start at h, 2h and 4h; for a user's problem only at h. */
  const int last_start = mg_params_has_files(params) ? 0 : 2;
  const smoother_t smoother = smoother_of(params);
  for (int l = 0; l < plan->n_levels; l++) {
    mg_level_plan_t *level = &plan->level[l];
    const bool is_bottom = l == plan->n_levels - 1;
    level->value_bytes = is_mixed ? sizeof(float) : sizeof(double);
    level->vectors = MG_VECTORS_EVERY_LEVEL;
    if (l <= last_start && !is_mixed) level->vectors |= vectors_of_start(params, l);
    if (params->alpha_varies) level->vectors |= 1u << MG_ALPHA;
    if (is_bottom) level->vectors |= MG_VECTORS_OF_KRYLOV;
    if (!is_bottom) level->vectors &= ~unused_vectors(level, params, &smoother);
    set_fused_sweeps(plan, level, params, &smoother);
    if (is_bottom) continue;
    level->fused_interpolation = may_fuse_interpolation(level, params);
    level->nests_coarse = can_access_coarse(level, params->memory) &&
                          mg_layouts_nest(&level->layout, &level[1].layout);
    level[1].shared = level->nests_coarse && level->place != level[1].place;
  }
  if (is_mixed) set_outer_levels(plan, params, last_start + 1);
}

static bool is_too_wide(int log2_box_dim, const int32_t boxes[3]) {
  const int32_t max_boxes = MG_MAX_DIM >> log2_box_dim;
  return boxes[0] > max_boxes || boxes[1] > max_boxes || boxes[2] > max_boxes;
}

/* True if the grid may have these boxes. */
static bool fits(int log2_box_dim, const int32_t boxes[3], int64_t ranks) {
  const int64_t share = (mg_volume(boxes) + ranks - 1) / ranks;
  return !is_too_wide(log2_box_dim, boxes) &&
         share <= (int64_t)1 << (MG_MAX_LOG2_SHARE - 3 * log2_box_dim);
}

/* By bisection: `fits` is true up to some number of boxes and false from there on. */
static int64_t largest_boxes_per_rank(int log2_box_dim, int64_t boxes_per_rank, int64_t ranks) {
  int64_t good = 0, bad = boxes_per_rank;
  while (bad - good > 1) {
    const int64_t middle = good + (bad - good) / 2;
    const int32_t m = mg_plan_boxes_a_side(log2_box_dim, middle, ranks);
    if (fits(log2_box_dim, (int32_t[3]){m, m, m}, ranks))
      good = middle;
    else
      bad = middle;
  }
  return good;
}

/* True if u is given on a wall. Otherwise A of a single cell could be 0. */
static bool has_dirichlet_wall(const mg_params_t *params) {
  return params->boundary != MG_BOUNDARY_PERIODIC && mg_has_wall(params->wall, MG_WALL_DIRICHLET);
}

/* Boxes of the finest grid: as many per side as fit, or those of the parameters. */
static void choose_boxes(const mg_params_t *params, int64_t ranks, int32_t boxes[3]) {
  const int32_t m = mg_plan_boxes_a_side(params->log2_box_dim, params->boxes_per_rank, ranks);
  for (int d = 0; d < 3; d++)
    boxes[d] = params->boxes[d] > 0 ? params->boxes[d] : m;
}

/* The finest grid, on at most one rank per box and at most finest_ranks ranks. */
static mg_layout_t finest_of(const mg_params_t *params, const int32_t boxes[3], int64_t ranks) {
  mg_layout_t layout = {.box_dim = 1 << params->log2_box_dim, .world_ranks = ranks};
  for (int d = 0; d < 3; d++) {
    layout.boxes[d] = boxes[d];
    layout.n[d] = layout.box_dim * boxes[d];
  }
  layout.n_ranks = min64(ranks, mg_layout_n_boxes(&layout));
  if (params->finest_ranks > 0) layout.n_ranks = min64(layout.n_ranks, params->finest_ranks);
  return layout;
}

/* True if a run on `ranks` ranks has m boxes per side on its finest grid, and boxes on every
 * rank. */
static bool uses_all_ranks(const mg_params_t *params, int32_t m, int64_t ranks) {
  if (mg_plan_boxes_a_side(params->log2_box_dim, params->boxes_per_rank, ranks) != m) return false;
  mg_layout_t layout = finest_of(params, (int32_t[3]){m, m, m}, ranks);
  prefer_cuboids(&layout);
  return layout.n_ranks == ranks;
}

void mg_plan_useful_ranks(const mg_params_t *params, const mg_plan_t *plan, int64_t *below,
                          int64_t *above) {
  const mg_layout_t *fine = &plan->level[0].layout;
  const int64_t max_boxes = MG_MAX_DIM >> params->log2_box_dim;
  *below = fine->n_ranks;
  *above = 0;
  if (mg_params_has_files(params) || params->boxes[0] > 0) return; /* the grid is fixed */
  for (int64_t m = fine->boxes[0] + 1; m <= max_boxes && *above == 0; m++) {
    const int64_t ranks = (m * m * m + params->boxes_per_rank - 1) / params->boxes_per_rank;
    if (mg_odd_part(m) <= MG_MAX_ODD_PART && uses_all_ranks(params, (int32_t)m, ranks))
      *above = ranks;
  }
}

mg_status_t mg_plan_build(const mg_params_t *params, int64_t ranks, mg_plan_t *plan, char *message,
                          int message_size) {
  memset(plan, 0, sizeof *plan);
  const int32_t w = 1 << params->log2_box_dim;
  int32_t boxes[3];
  choose_boxes(params, ranks, boxes);
  if (!fits(params->log2_box_dim, boxes, ranks)) {
    const bool too_wide = is_too_wide(params->log2_box_dim, boxes);
    snprintf(
        message, (size_t)message_size,
        "%lld boxes of %d^3 cells on each of %lld rank%s exceed 2^%d cells per %s; "
        "the largest valid BOXES_PER_RANK is %lld",
        (long long)params->boxes_per_rank, w, (long long)ranks, ranks == 1 ? "" : "s",
        too_wide ? MG_MAX_LOG2_DIM : MG_MAX_LOG2_SHARE, too_wide ? "side" : "rank",
        (long long)largest_boxes_per_rank(params->log2_box_dim, params->boxes_per_rank, ranks));
    return MG_ERR_USAGE;
  }
  if (params->op == MG_OPERATOR_FV4 && mg_has_wall(params->wall, MG_WALL_NEUMANN)) {
    snprintf(message, (size_t)message_size, "fv4 has Dirichlet walls or periodic sides only");
    return MG_ERR_USAGE;
  }
  const int radius = radius_of(params->op);
  int smallest = has_dirichlet_wall(params) ? 1 : 2;
  if (params->coarsest > smallest) smallest = params->coarsest;

  plan->radius = radius;
  mg_layout_t layout = finest_of(params, boxes, ranks);
  plan->boxes_asked =
      params->boxes[0] > 0 ? mg_volume(boxes) : (int64_t)((__int128)params->boxes_per_rank * ranks);
  add_level(plan, params, &layout);

  mg_layout_t coarse;
  int64_t cap;
  while (mg_layout_coarsen(&layout, radius, smallest, &coarse, &cap)) {
    coarse.n_ranks = agglomerated_ranks(&coarse, layout.n_ranks, cap, params);
    layout = coarse;
    add_level(plan, params, &layout);
  }
  finish_levels(plan, params);
  return MG_OK;
}

void mg_plan_coarse_part(const mg_plan_t *plan, const mg_params_t *params, int first,
                         mg_plan_t *part) {
  memset(part, 0, sizeof *part);
  part->radius = plan->radius;
  part->n_levels = plan->n_levels - first;
  for (int l = 0; l < part->n_levels; l++)
    part->level[l] = (mg_level_plan_t){.layout = plan->level[first + l].layout,
                                       .place = plan->level[first + l].place};
  part->boxes_asked = mg_layout_n_boxes(&part->level[0].layout);
  finish_levels(part, params);
}
