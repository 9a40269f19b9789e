/* The paths of the guard: those of a GPU, on levels of other sizes. */
#include "cuda/fused/fused_path.h"
#include "cuda/resident/resident_tiles.h"
#include "tests/guard/guard.h"

enum { RESIDENT_MAX_CELLS = 8 * 8 * 8 };

static bool can_reside(const mg_level_facts_t *level) {
  const int32_t *n = level->layout->n;
  return level->op->paths & MG_PATH_EMULATED && mg_smooth_fuses(level) &&
         level->n_steps <= MG_RESIDENT_MAX_STEPS && level->layout->n_ranks == 1 &&
         mg_layout_n_cells(level->layout) <= RESIDENT_MAX_CELLS && n[0] % 2 == 0 && n[1] % 2 == 0 &&
         n[2] % 2 == 0;
}

static void resident_needs(const mg_level_facts_t *level, mg_level_plan_t *plan) {
  mg_path_cuda_resident.needs(level, plan);
}

static const mg_path_t resident = {
    .name = "resident", .why = "a test", .can = can_reside, .needs = resident_needs};

/* One exchange on levels of up to 24^3 cells per rank, so that there are levels of both kinds. */
static const mg_fused_limits_t limits = {.one_exchange_max_cells = 24 * 24 * 24};

static bool can_fuse(const mg_level_facts_t *level) {
  return mg_fused_can(level, &limits);
}

static void fused_needs(const mg_level_facts_t *level, mg_level_plan_t *plan) {
  mg_fused_needs(level, &limits, plan);
}

static const mg_path_t fused = {
    .name = "fused sweeps", .why = "a test", .can = can_fuse, .needs = fused_needs};

const mg_place_paths_t guard_paths = {{&resident, &fused}, .guesses = true};
