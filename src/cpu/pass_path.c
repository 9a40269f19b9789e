/* The path of passes: a smooth passes the level through the caches of a CPU once (pass.h). */
#include "cpu/split.h"
#include "plan/path_facts.h"

/* All measured, not derived (docs/performance.md, "CPU"). */
enum {
  MAX_STEPS = 64,
  /* Ghost layers up to which, and cells per rank from which on, a pass computes ghosts; with few
   * ghosts from fewer cells on. Smaller levels are in cache, where a pass saves less than the
   * ghosts cost. F-cycles on two ranks take, with passes: 128^3 0.68 times as long; 64^3 (111 % of
   * the cells) 1.1 times on an EPYC, 0.8 times on a Xeon. Periodic 64^3 (137 %): 1.8 and 1.0 times.
   */
  MAX_LAYERS = 16,
  WITH_HALO_MIN_CELLS = 1 << 19,
  WITH_FEW_GHOSTS_MIN_CELLS = 1 << 17,
  FEW_GHOSTS_PERCENT = 115,
  /* fv4's passes compute ghosts where cells and ghosts of a step are at most this percentage of a
   * rank's cells. Two ranks, 128^3 (107 %): 0.83 times; 64^3 (114 %): 0.95; 32^3 (128 %): 1.1;
   * periodic 64^3 (130 %): 1.23. */
  FV4_MAX_PERCENT = 120,
  /* The same percentage up to which the passes of fv2 and 7pt read 1 / diagonal from memory, in 0.8
   * to 0.9 times the time that they take if they compute it. With more ghosts, a run of 256^3 would
   * need more than 80 bytes per cell. */
  DINV_MAX_PERCENT = 107
};

/* Whether a pass of colored steps of fv4 works on rows split by color (split.c): whole rows. */
static bool splits_rows(const mg_level_facts_t *level) {
  const mg_layout_t *y = level->layout;
  return level->op->paths & MG_PATH_SPLIT && level->colored && y->n[0] % 8 == 0 &&
         mg_cuboids_part(y, 0).n[0] == y->boxes[0];
}

/* Ghost layers that a pass reads. */
static int layers_of(const mg_level_facts_t *level) {
  return (splits_rows(level) ? mg_layers_of_split_pass : mg_layers_of_pass)(level->op->radius,
                                                                            level->n_steps);
}

/* Cells that a step computes on average, in percent of the first rank's: with half of the ghost
 * layers at each side that is not a wall. fv4's split rows have no such layers in i. */
static double percent_with_ghosts(const mg_level_facts_t *level) {
  const mg_layout_t *y = level->layout;
  const mg_cuboid_t part = mg_cuboids_part(y, 0), cells = mg_layout_cells(y, &part);
  const int layers = layers_of(level);
  double percent = 100.0;
  for (int d = splits_rows(level) ? 1 : 0; d < 3; d++) {
    const int parts = (y->boxes[d] + part.n[d] - 1) / part.n[d],
              sides = level->periodic[d] || parts > 2 ? 2 : parts - 1;
    percent *= 1.0 + 0.5 * sides * layers / cells.n[d];
  }
  return percent;
}

/* Whether it pays to compute ghosts, fewer layers with each step. */
static bool ghosts_pay(const mg_level_facts_t *level) {
  const int layers = layers_of(level);
  if (layers > MAX_LAYERS || level->layout->box_dim < layers) return false;
  const double percent = percent_with_ghosts(level);
  return level->op->radius == 1
             ? mg_cells_per_rank(level) >=
                   (percent <= FEW_GHOSTS_PERCENT ? WITH_FEW_GHOSTS_MIN_CELLS : WITH_HALO_MIN_CELLS)
             : level->layout->cuboids && percent <= FV4_MAX_PERCENT;
}

static bool can(const mg_level_facts_t *level) {
  return mg_smooth_fuses(level) && level->n_steps <= MAX_STEPS && level->op->pass_planes > 0 &&
         level->layout->box_dim >= level->op->pass_box_dim && mg_has_colors(level) &&
         (!mg_has_halo(level) || ghosts_pay(level));
}

/* Whether a pass that computes ghosts may also interpolate to them: if both levels have boxes for
 * the layers, and the coarse ones are cells of the next level. */
static bool may_interpolate_ghosts(const mg_level_facts_t *level) {
  const int layers = mg_layers_of_interpolating_pass(level->n_steps);
  return level->plan->nests_coarse && layers <= MAX_LAYERS && level->layout->box_dim >= layers &&
         level->coarse_box_dim >= mg_coarse_layers_of_pass(level->n_steps);
}

static void needs(const mg_level_facts_t *level, mg_level_plan_t *plan) {
  const int n = level->n_steps;
  const bool halo = mg_has_halo(level);
  plan->resident = true;
  plan->steps_per_pass = n;
  plan->fused_residual = plan->halves;
  plan->fused_interpolation =
      mg_interpolates(level) && plan->halves && (!halo || may_interpolate_ghosts(level));
  plan->one_exchange = halo;
  plan->reads_dinv = !halo || percent_with_ghosts(level) <= DINV_MAX_PERCENT;
  if (halo) mg_deepen(plan, layers_of(level));
  if (!halo || !plan->fused_interpolation) return;
  mg_deepen(plan, mg_layers_of_interpolating_pass(n));
  mg_deepen(plan + 1, mg_coarse_layers_of_pass(n));
}

/* Whether the rank has one patch, with an even number of cells in each direction or an odd one
 * between walls. */
static bool suits(const mg_view_t *v, int n) {
  bool one = v->n_patches == 1;
  (void)n;
  for (int d = 0; d < 3 && one; d++)
    one = v->patch[0].n[d] % 2 == 0 || (v->general && v->side[d][0] != MG_WALL_NONE);
  return one;
}

const mg_path_t mg_path_cpu_pass = {.name = "cache pass",
                                    .why = "a smooth reads memory once; measured on two ranks of "
                                           "an EPYC, an F-cycle of 128^3 takes 31 instead of 45 "
                                           "ms, with fv4 99 instead of 119 ms",
                                    .can = can,
                                    .needs = needs,
                                    .suits = suits};
