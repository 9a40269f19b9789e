/* The path of fused sweeps: several steps per pass over memory (fused/sweeps.cu, fv4/fused.cu). */
#include "formulas/walls.h"
#include "plan/path_facts.h"

enum { ONE_EXCHANGE_MAX_LAYERS = 8 }; /* two sweeps of three steps read 7 layers */

static double cells_of(const mg_level_facts_t *level) {
  return (double)mg_cells_per_rank(level);
}

/* Of fv4, only colored steps. All ghost layers must correspond to cells: they wrap at most once,
 * and do not extend beyond a wall that is not the patch's own. */
static bool can(const mg_level_facts_t *level) {
  return level->max_fused > 1 && (level->op->paths & MG_PATH_FUSED_ALL || level->colored) &&
         level->fuse && cells_of(level) >= level->limits->min_cells * mg_relative_sms(level) &&
         mg_has_colors(level) &&
         level->layout->box_dim >= mg_layers_of_steps(level->op->radius, level->max_fused);
}

/* Size of a vector in L2s. Sizes of caches are rounded down to powers of two: the limits are not
 * known more precisely, and the L2 of a kind of GPU may have more or fewer parts in use. */
static double vector_in_l2s(const mg_level_facts_t *level) {
  int64_t l2 = 1;
  while (2 * l2 <= level->gpu.l2_bytes)
    l2 *= 2;
  return cells_of(level) * level->plan->value_bytes / (double)l2;
}

/* Whether the last sweep may compute the residual too, which reads one more ghost layer. A ring of
 * alpha planes does not fit into shared memory beside it. fv4's
 * residual would read two more; separate, it is faster (fv4/fused.cu). */
static bool may_compute_residual(const mg_level_facts_t *level) {
  return vector_in_l2s(level) >= level->limits->residual_min_l2[level->colored] &&
         level->op->paths & MG_PATH_RESIDUAL && !level->alpha_varies &&
         level->layout->box_dim > level->max_fused;
}

/* Whether an exchange takes longer than computing ghosts, whose time is that of the faces of the
 * rank's cells, divided by the SMs. */
static bool ghosts_pay(const mg_level_facts_t *level) {
  const double sms = mg_relative_sms(level),
               cells = cells_of(level) / level->limits->one_exchange_max_cells;
  return cells * cells <= sms * sms * sms;
}

/* Whether a smooth may exchange its ghosts once, with `layers` layers. fv4's sweeps would need its
 * 1 / diagonal and betas deeper outside walls too. */
static bool may_exchange_once(const mg_level_facts_t *level, int layers) {
  return ghosts_pay(level) &&
         (double)level->layout->n_ranks >= level->limits->one_exchange_min_ranks &&
         level->op->paths & MG_PATH_ONE_EXCHANGE && layers > 0 &&
         layers <= ONE_EXCHANGE_MAX_LAYERS && level->layout->box_dim >= layers;
}

static void needs(const mg_level_facts_t *level, mg_level_plan_t *plan) {
  const int n = level->max_fused;
  plan->steps_per_pass = n;
  plan->fused_residual = may_compute_residual(level);
  plan->fused_interpolation = level->colored && mg_interpolates(level) &&
                              vector_in_l2s(level) >= level->limits->interpolation_min_l2;
  if (mg_has_halo(level)) {
    const int layers =
        mg_steps_ghost_layers(level->n_steps, n, level->look_back, level->plan->value_bytes);
    plan->one_exchange = may_exchange_once(level, layers);
    mg_deepen(plan, plan->one_exchange
                        ? layers
                        : mg_layers_of_steps(level->op->radius, n + plan->fused_residual));
  }
  if (level->look_back && level->n_steps > n) plan->vectors |= 1u << MG_PREVIOUS;
}

/* Whether every patch is large enough for the kernels, and each of its directions has walls on both
 * sides or the ghost layers. If the number of cells along i is odd, the patch ends at a wall there,
 * and the last pairs also write the ghosts outside it, which nothing reads. fv4's last tiles have
 * the cells that the formulas of a wall need, and a wall on one side at most. With 8 planes, a
 * block that walks along k computes as many planes outside its piece as inside, and still gains. */
static bool suits(const mg_view_t *v, int n) {
  const bool wide = v->radius > 1;
  const int layers = mg_layers_of_steps(v->radius, n), tile[3] = {60, 28, 0},
            least[3] = {32, 32, wide ? 32 : 8};
  bool fit = !wide || mg_operator_orders(v).along[0] == mg_traits_of(v->op)->wall_order;
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++) {
      const mg_patch_t *p = &v->patch[q];
      const bool walls = p->wall[d][0] && p->wall[d][1];
      fit = fit && p->n[d] >= least[d] && (walls || v->ghost_layers >= layers) &&
            (!wide || (p->n[d] % 4 == 0 && (!walls || p->n[d] > tile[d])));
    }
  return fit;
}

/* The limits are measured on H100s and H200s, with 132 SMs and 32 MiB of L2 after rounding.
 *
 * Sweeps: with fewer cells per SM, a GPU has too few tiles to work on.
 *
 * Residual: separate, it reads u, f and three betas from the L2 if they are there, as five vectors
 * of 3/8 L2s just are. So it is fused from 116^3 double and 147^3 float cells on. F-cycles of GSRB,
 * speed with to speed without: 128^3 1.06, 240^3 1.17; float 128^3 0.99, 192^3 1.03. Sweeps on all
 * cells take longer with it, unless each vector exceeds the L2.
 *
 * Interpolation: separate, its result is read from the L2, unless that vector exceeds it. So it is
 * fused from 233^3 double and 293^3 float cells on. 128^3 0.96, 256^3 1.07, 480^3 1.10; float 256^3
 * 0.99, 512^3 1.04. Steps on all cells spill registers, and do not gain from it (Chebyshev 256^3
 * 0.98, 512^3 0.99), so they have no kernels for it.
 *
 * One exchange: up to 203^3 cells per rank. Two H100s, F-cycles without and with it, ms: 160^3 1.21
 * and 1.19, 256^3 2.28 and 2.26. */
const mg_path_t mg_path_cuda_fused = {
    .name = "fused sweeps",
    .why = "three steps per pass over memory; measured on an H200, an F-cycle of 512^3 takes 18.8 "
           "instead of 29.3 ms; with fv4 (two steps) it is 1.45 times as fast",
    .limits = {.min_cells = 1 << 19,
               .residual_min_l2 = {3.0, 3.0 / 8.0},
               .interpolation_min_l2 = 3.0,
               .one_exchange_max_cells = 1 << 23,
               .one_exchange_min_ranks = 2},
    .can = can,
    .needs = needs,
    .suits = suits};
