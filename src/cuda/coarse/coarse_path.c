/* The paths of the coarsest levels on a GPU: one launch of one block for the bottom solve
 * (bottom.cu), or for a cycle over all of them (cycle.cu). Separate launches would take longer than
 * the work. */
#include "cuda/coarse/coarse_path.h"
#include "plan/path.h"

static bool is_cube(const int32_t n[3]) {
  return n[0] == n[1] && n[0] == n[2];
}

/* Whether the domain is periodic in some directions, but not in all. */
static bool is_channel(const mg_level_facts_t *level) {
  const int n = level->periodic[0] + level->periodic[1] + level->periodic[2];
  return n == 1 || n == 2;
}

/* Whether one rank has the level, and a block can number its cells and ghosts (mg_divisor_t). */
static bool fits_block(const mg_level_facts_t *level, const mg_layout_t *y, int64_t max_cells) {
  int64_t all = 1, widest = 0;
  if (y->n_ranks > 1 || mg_layout_n_cells(y) > max_cells) return false;
  for (int d = 0; d < 3; d++) {
    const int64_t width = y->n[d] + 2 * level->op->radius;
    all *= width;
    if (width > widest) widest = width;
  }
  return all * widest < 1 << 18;
}

/* fv4's bottom solver divides cubes only. */
static bool can_solve(const mg_level_facts_t *level) {
  const mg_layout_t *y = level->layout;
  return level->op->paths & MG_PATH_BLOCK && level->n_levels == 1 &&
         level->bottom == MG_BOTTOM_BICGSTAB && fits_block(level, y, MG_BLOCK_MAX_CELLS) &&
         (level->op->paths & MG_PATH_PAIRS || (is_cube(y->n) && !is_channel(level)));
}

static bool can_multiply(const mg_level_facts_t *level) {
  return level->bottom == MG_BOTTOM_DIRECT && level->n_levels == 1 && level->layout->n_ranks == 1;
}

typedef bool (*fits_fn)(const mg_level_facts_t *level, const mg_level_plan_t *plan);

/* Whether a block can run all levels. Each uses the coarsened patches of the finer one in place. */
static bool can_cycle(const mg_level_facts_t *level, int max_levels, fits_fn fits) {
  const mg_level_plan_t *plan = level->plan;
  const int n = level->n_levels;
  bool can = level->op->paths & MG_PATH_BLOCK && n <= max_levels &&
             level->n_steps <= MG_BLOCK_MAX_STEPS && level->bottom != MG_BOTTOM_DIRECT;
  for (int l = 0; l < n && can; l++)
    can = plan[l].place == plan->place && (l + 1 == n || plan[l].nests_coarse) &&
          fits_block(level, &plan[l].layout, MG_BLOCK_PAIRED_CELLS) && fits(level, &plan[l]);
  return can;
}

/* A cube without Neumann walls: the kernels for cubes interpolate with Dirichlet ghosts, in a
 * domain that is periodic in all directions or in none. */
static bool cube_fits(const mg_level_facts_t *level, const mg_level_plan_t *plan) {
  return !plan->layout.general && is_cube(plan->layout.n) && !level->neumann && !is_channel(level);
}

/* Bytes of shared memory of a cycle in pairs: assign_places in paired_cycle.cu. A single cell is
 * solved in registers. */
static int64_t paired_bytes(const mg_level_facts_t *level) {
  const int n = level->n_levels, align = 16 / level->plan->value_bytes, first = level->layout->n[0];
  const int64_t pairs = first * first * (first / 2);
  int64_t values = 2 * pairs + (pairs + 1) / 2 * 2, most_padded = 0;
  for (int l = 0; l < n; l++) {
    const int64_t w = level->plan[l].layout.n[0], cells = (w * w * w + 1) / 2 * 2,
                  padded = (w + 2) * (w + 2) * (w + 2);
    values += MG_PAIRED_VALUES * (l + 1 < n ? w * w * (w / 2) * 2 : cells) + 2 * cells +
              2 * level->n_steps;
    if (l > 0 && padded > most_padded) most_padded = padded;
  }
  values = (values + most_padded + align - 1) / align * align;
  if (level->plan[n - 1].layout.n[0] > 1 || level->bottom == MG_BOTTOM_SMOOTHER)
    return values * level->plan->value_bytes + MG_BLOCK_SHARED_BYTES(level->plan->value_bytes);
  return values * level->plan->value_bytes;
}

/* Whether interpolation's wall formulas have the orders of the operator's. */
static bool orders_match(const mg_operator_traits_t *op) {
  return op->wall_order == 1 ? op->v == MG_INTERPOLATE_P0 && op->f == MG_INTERPOLATE_P1
                             : op->v == MG_INTERPOLATE_V2 && op->f == MG_INTERPOLATE_V2;
}

/* Colored steps are done in pairs. */
static bool can_cubes(const mg_level_facts_t *level) {
  return level->op->paths & MG_PATH_PAIRS && orders_match(level->op) &&
         !(level->colored && level->n_steps % 2) && can_cycle(level, MG_COARSE_LEVELS, cube_fits) &&
         paired_bytes(level) <= level->gpu.shared_bytes;
}

/* The coarsest level is one box, whose wall formula has order 2. */
static bool can_fv4(const mg_level_facts_t *level) {
  const mg_layout_t *last = &level->plan[level->n_levels - 1].layout;
  return !(level->op->paths & MG_PATH_PAIRS) && level->op->v == MG_INTERPOLATE_V2 &&
         level->op->f == MG_INTERPOLATE_V4 && level->bottom != MG_BOTTOM_SMOOTHER &&
         level->layout->n[0] <= MG_FV4_BLOCK_SIDE && last->n[0] <= MG_FV4_BLOCK_BOTTOM_SIDE &&
         last->n[0] >= 2 && last->box_dim == last->n[0] &&
         can_cycle(level, MG_FV4_BLOCK_LEVELS, cube_fits);
}

const mg_path_t mg_path_cuda_bottom = {
    .name = "bottom in one launch",
    .why = "a cycle can be a graph; measured on an H100, a solve of 32x32x32 takes 0.62 instead of "
           "2.44 ms",
    .can = can_solve};
const mg_path_t mg_path_cuda_direct = {
    .name = "inverse in one launch",
    .why = "no levels below 343 cells; measured on an H200, a solve of 100^3 takes 1.30 instead of "
           "1.94 ms",
    .can = can_multiply};
const mg_path_t mg_path_cuda_cubes = {
    .name = "coarse cycle of cubes",
    .why = "all levels in shared memory; measured on an H100, an F-cycle of 32^3 takes 0.124 "
           "instead of 0.167 ms",
    .can = can_cubes};
const mg_path_t mg_path_cuda_fv4 = {
    .name = "coarse cycle of fv4",
    .why = "all levels in registers; measured on an H100, an F-cycle of 32^3 takes 0.344 instead "
           "of 0.558 ms",
    .can = can_fv4};
