#include "solver/cycle.h"
#include "formulas/walls.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "solver/bottom.h"
#include "solver/cycle_wings.h"
#include "wings.h"
#include <math.h>

/* A first V-cycle with P0 may raise the residual by a factor of up to 0.035 n (verify.c); up to
 * 2^13 cells per side, a convergent solve stays below 1e3. CG reduces the error in the norm of A,
 * and its largest residual may rise meanwhile, depending on how much the coefficient varies. For
 * a user's coefficients no bound is known. */
double mg_divergence_limit(const mg_hierarchy_t *h) {
  if (mg_params_has_files(&h->params) || h->params.has_arrays) return 1e15;
  if (mg_uses_krylov(h)) return 1e8;
  const int32_t *n = h->plan.level[0].layout.n;
  return fmax(1e3, 0.1 * fmax(n[0], fmax(n[1], n[2])));
}

mg_status_t mg_divergence_check(mg_hierarchy_t *h, int l, mg_vector_t x, int *diverged) {
  double norm[2];
  if (!diverged || *diverged >= 0) return MG_OK;
  MG_TRY(mg_residual_norm(&h->level[l], x, MG_F, &norm[0]));
  MG_TRY(mg_max_norm(&h->level[l], MG_F, MG_NO_VECTOR, &norm[1]));
  MG_TRY(mg_comm_max(mg_comm_world(), norm, 2));
  /* Not ">": a NaN has diverged. */
  if (!(norm[0] <= mg_divergence_limit(h) * norm[1])) *diverged = l;
  return MG_OK;
}

/* A leg of level l that interpolates. The coarser level ended with its own ascent, or if it is the
 * lowest level, with its solver. */
static mg_leg_t interpolating_leg(const mg_hierarchy_t *h, int l, int lowest, mg_cycle_t kind,
                                  mg_start_t start, mg_leg_end_t end) {
  return (mg_leg_t){start, end, mg_interpolation_of(h->params.op, kind), l + 1 < lowest};
}

/* The level that ends the descent: the first one of the coarse cycle (coarse_cycle.c) if there is
 * one, otherwise the coarsest. */
static int lowest_level(const mg_hierarchy_t *h, int top, const int *diverged) {
  if (!h->coarse_cycle || diverged) return h->n_levels - 1;
  return h->coarse_cycle_first > top ? h->coarse_cycle_first : top;
}

/* Solve on the lowest level: bottom solver, or coarse cycle on it and all coarser levels. */
static mg_status_t solve_lowest(mg_hierarchy_t *h, int l, mg_cycle_t cycle, bool zero_guess,
                                int *diverged) {
  MG_IF_COARSE(
      if (h->coarse_cycle && !diverged) return mg_coarse_cycle_run(h, l, cycle, zero_guess));
  (void)cycle;
  MG_TRY(mg_bottom_solve(&h->level[l], h->params.bottom, zero_guess, mg_bottom_reduction(h)));
  return mg_divergence_check(h, l, MG_U, diverged);
}

static bool takes_inner_cg(const mg_hierarchy_t *h, int l) {
  return h->inner_cg && h->level[l].plan->inner_cg;
}

/* `first` is the descent of the top level. with_norm: the last sweep also computes the norm. */
static mg_status_t v_cycle(mg_hierarchy_t *h, int top, const mg_leg_t *first, bool with_norm,
                           int *diverged) {
  const int end = lowest_level(h, top, diverged);
  const mg_leg_t from_zero = {.start = MG_FROM_ZERO, .end = MG_TO_COARSE};
  int lowest = top;
  for (; lowest < end && (lowest == top || !takes_inner_cg(h, lowest)); lowest++) {
    MG_TRY(mg_leg_run(h, lowest, lowest == top ? first : &from_zero));
    MG_TRY(mg_divergence_check(h, lowest, h->level[lowest].descended, diverged));
  }
  const bool zero_guess = first->start == MG_FROM_ZERO || lowest > top;
  if (lowest == end) MG_TRY(solve_lowest(h, lowest, MG_CYCLE_V, zero_guess, diverged));
  MG_IF_KRYLOV(else MG_TRY(mg_krylov_k_cycle(h, lowest, diverged));)
  for (int l = lowest - 1; l >= top; l--) {
    const mg_leg_t ascent = interpolating_leg(h, l, lowest, MG_CYCLE_V, MG_FROM_CORRECTION,
                                              with_norm && l == top ? MG_TO_NORM : MG_TO_SOLUTION);
    MG_TRY(mg_leg_run(h, l, &ascent));
    MG_TRY(mg_divergence_check(h, l, MG_U, diverged));
  }
  return MG_OK;
}

static mg_status_t f_cycle(mg_hierarchy_t *h, int top, bool with_norm, int *diverged) {
  const int lowest = lowest_level(h, top, diverged);
  for (int l = top; l < lowest; l++)
    MG_TRY(mg_restrict(h, l, MG_F, MG_F));
  MG_TRY(solve_lowest(h, lowest, MG_CYCLE_F, true, diverged));
  for (int l = lowest - 1; l >= top; l--) {
    const mg_leg_t first =
        interpolating_leg(h, l, lowest, MG_CYCLE_F, MG_FROM_COARSE, MG_TO_COARSE);
    MG_TRY(v_cycle(h, l, &first, with_norm && l == top, diverged));
  }
  return MG_OK;
}

/* Whether the norm is that of u with its mean: a number of --mean has rounding errors, and in mixed
 * precision a restart from u continues with the same residual. */
static bool mean_first(const mg_hierarchy_t *h, int top) {
  return (h->params.mean != 0.0 || h->low) && mg_is_singular(&h->level[top].store.view);
}

/* Whether the last operation before the norm is a post-smooth. */
static bool ends_with_smooth(const mg_hierarchy_t *h, int top, mg_cycle_kind_t kind) {
  return kind != MG_KIND_PRECONDITION && top < lowest_level(h, top, NULL) && !mean_first(h, top);
}

/* Whether the last sweep of a cycle also computes the residual norm. */
static bool ends_with_norm(const mg_hierarchy_t *h, int top, mg_cycle_kind_t kind) {
  return ends_with_smooth(h, top, kind) &&
         mg_smooth_has_residual(&h->level[top], MG_FROM_CORRECTION);
}

static mg_status_t residual_norm(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind, double *norm) {
  mg_level_t *level = &h->level[top];
  MG_IF_MIXED(if (h->low) return mg_mixed_residual_norm(h, top, kind, norm));
  if (ends_with_norm(h, top, kind)) return mg_residual_norm_end(level, norm);
  return ends_with_smooth(h, top, kind) && mg_smooth_fills_ghosts(level)
             ? mg_residual_norm_inside(level, MG_U, MG_F, norm)
             : mg_residual_norm(level, MG_U, MG_F, norm);
}

mg_status_t mg_cycle_by_operations(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind,
                                   int *diverged) {
  MG_IF_MIXED(if (h->low) return mg_mixed_cycle(h, top, kind, diverged));
  const bool with_norm = !diverged && ends_with_norm(h, top, kind);
  /* First of all: between the last two launches it would delay the last one. */
  if (with_norm) MG_TRY(mg_residual_norm_begin(&h->level[top]));
  if (kind == MG_KIND_FIRST && h->params.cycle == MG_CYCLE_F)
    return f_cycle(h, top, with_norm, diverged);
  const mg_leg_t first = {.start = kind == MG_KIND_NEXT ? MG_FROM_GUESS : MG_FROM_ZERO,
                          .end = MG_TO_COARSE};
  return v_cycle(h, top, &first, with_norm, diverged);
}

/* One cycle, as a captured graph if there is one. */
static mg_status_t run_cycle(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind, int *diverged) {
  MG_IF_COARSE(if (h->graph[top][kind] && !h->captured && !h->profile && !diverged &&
                   h->low_scale == 1.0) return mg_graph_launch(h, top, kind));
  return mg_cycle_by_operations(h, top, kind, diverged);
}

mg_status_t mg_cycle_run(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind, double *norm,
                         int *diverged) {
  mg_level_t *level = &h->level[top];
  const bool norm_first = norm && !mean_first(h, top);
  MG_IF_MIXED(if (h->low && kind == MG_KIND_NEXT && h->residual_level != top)
                  MG_TRY(mg_mixed_residual(h, top, NULL)));
  MG_IF_PROFILE(if (level->ranges)
                    level->ranges->range_begin(kind == MG_KIND_FIRST ? "first cycle" : "cycle"));
  MG_TRY(run_cycle(h, top, kind, diverged));
  MG_IF_PROFILE(if (level->ranges) level->ranges->range_end());
  h->residual_level = -1;
  if (norm_first) MG_TRY(residual_norm(h, top, kind, norm));
  MG_TRY(mg_set_mean(level, MG_U, kind == MG_KIND_PRECONDITION ? 0.0 : h->params.mean));
  return norm && !norm_first ? residual_norm(h, top, kind, norm) : MG_OK;
}

mg_status_t mg_cycles_set_smoothers(mg_hierarchy_t *h, bool slow) {
  mg_hierarchy_t *cycles = h->low ? h->low : h;
  mg_params_t params = cycles->params;
  if (slow) params.degree = params.slow_degree;
  MG_IF_COARSE(mg_graphs_free(h);)
  for (int l = 0; l < cycles->n_levels; l++)
    MG_TRY(mg_smoother_set(&cycles->level[l], &params, cycles->level[l].lambda_max, true));
  h->is_slow = slow;
  cycles->has_smoothers = true;
  MG_IF_COARSE(return mg_coarse_cycle_prepare(cycles));
  return MG_OK;
}
