/* The paths of the guard: those of a GPU, on levels of other sizes. */
#include "cuda/resident/resident_tiles.h"
#include "formulas/walls.h"
#include "plan/path_facts.h"
#include "plan/plan.h"
#include "tests/guard/guard.h"

enum { RESIDENT_MAX_CELLS = 8 * 8 * 8 };

static bool can_reside(const mg_level_facts_t *level) {
  const int32_t *n = level->layout->n;
  return level->op->paths & MG_PATH_EMULATED && mg_smooth_fuses(level) &&
         level->n_steps <= MG_RESIDENT_MAX_STEPS && level->layout->n_ranks == 1 &&
         mg_layout_n_cells(level->layout) <= RESIDENT_MAX_CELLS && n[0] % 2 == 0 && n[1] % 2 == 0 &&
         n[2] % 2 == 0;
}

/* Results have ghosts of a residual. */
static bool suits_resident(const mg_view_t *v, int n) {
  return !mg_has_wall(v->side, MG_WALL_NONE) && guard_can_fuse(v, n + 1);
}

/* One exchange on levels of up to 24^3 cells per rank, so that there are levels of both kinds. */
void guard_provide_paths(void) {
  static mg_path_t resident, fused;
  resident = mg_path_cuda_resident;
  resident.can = can_reside;
  resident.suits = suits_resident;
  fused = mg_path_cuda_fused;
  fused.suits = guard_can_fuse;
  fused.limits = (mg_path_limits_t){.one_exchange_max_cells = 24 * 24 * 24};
  mg_plan_provide_guard(&(mg_place_paths_t){{&resident, &fused}, .guess = {&mg_path_cuda_guess}});
}
