/* Properties of the levels of a plan: their paths (path.h), vectors, ghost layers. */
#include "formulas/smoother_steps.h"
#include "formulas/vectors.h"
#include "plan/plan.h"
#include "wings.h"

const mg_path_t mg_path_steps = {.name = "single steps"},
                mg_path_bottom = {.name = "bottom solver"};

static mg_place_paths_t places[MG_N_PLACES] = {
    [MG_PLACE_CPU] = {MG_IF_FUSED({&mg_path_cpu_pass}, .norms = true)},
    [MG_PLACE_CUDA] = {
        {MG_IF_RESIDENT(&mg_path_cuda_resident, ) MG_IF_FUSED(&mg_path_cuda_fused, ) NULL},
        {MG_IF_COARSE(&mg_path_cuda_bottom, &mg_path_cuda_direct, ) NULL},
        {MG_IF_COARSE(&mg_path_cuda_cubes, &mg_path_cuda_fv4, ) NULL},
        {MG_IF_MIXED(&mg_path_cuda_guess, ) NULL},
        true}};

void mg_plan_provide_guard(const mg_place_paths_t *paths) {
  places[MG_PLACE_GUARD] = *paths;
}

/* Whether a level's processor can access the cells of the next coarser level in place. */
static bool can_access_coarse(const mg_level_plan_t *level, mg_memory_t memory) {
  if (level[0].place == level[1].place) return true;
  return memory == MG_MEMORY_UNIFIED && level[1].place == MG_PLACE_CPU;
}

/* Whether steps fuse or look back is the same for any number of smooths and any bound. */
static mg_level_facts_t facts_of(const mg_level_plan_t *level, int n_levels,
                                 const mg_params_t *params) {
  mg_step_t step[MG_MAX_DEGREE];
  const int n = mg_smoother_steps_once(params, 1.0, step);
  const bool has_coarse = n_levels > 1 && level[1].place == level->place;
  return (mg_level_facts_t){.plan = level,
                            .n_levels = n_levels,
                            .layout = &level->layout,
                            .op = mg_traits_of(params->op),
                            .periodic = {mg_params_is_periodic(params, 0),
                                         mg_params_is_periodic(params, 1),
                                         mg_params_is_periodic(params, 2)},
                            .neumann = mg_params_count_sides(params, MG_WALL_NEUMANN) > 0,
                            .alpha_varies = params->alpha_varies,
                            .gpu = params->gpu,
                            .coarse_box_dim = has_coarse ? level[1].layout.box_dim : 0,
                            .bottom = mg_plan_bottom(params, &level[n_levels - 1].layout),
                            .n_steps = mg_smoother_n_steps(params),
                            .max_fused = mg_max_steps_per_pass(params),
                            .fuse = mg_steps_fuse(step, n),
                            .look_back = mg_steps_look_back(step, n),
                            .colored = step[0].colored};
}

static void set_single_steps(mg_level_plan_t *level) {
  level->path = &mg_path_steps;
  level->bottom = level->cycle = level->guess = NULL;
  level->steps_per_pass = 1;
  level->resident = level->fused_residual = level->fused_interpolation = level->reads_dinv =
      level->one_exchange = false;
}

/* The first row that can, otherwise `simple`. */
static const mg_path_t *first_path(const mg_path_t *const *row, const mg_path_t *simple,
                                   mg_level_facts_t facts) {
  for (; *row; row++) {
    facts.limits = &(*row)->limits;
    if ((*row)->can(&facts)) return *row;
  }
  return simple;
}

static void choose_path(mg_level_facts_t *facts, mg_level_plan_t *level) {
  set_single_steps(level);
  level->path = first_path(places[level->place].smooth, &mg_path_steps, *facts);
  level->n_steps = facts->n_steps;
  facts->limits = &level->path->limits;
  if (level->path->needs) level->path->needs(facts, level);
}

/* One launch runs the levels from the finest one on that a row can, after those with CG steps. */
static void choose_coarse_paths(mg_level_plan_t *level, int n, const mg_params_t *params) {
  const mg_path_t *cycle = NULL;
  mg_level_plan_t *end = &level[n - 1];
  int first = 0;
  MG_IF_KRYLOV(first = mg_plan_inner_cg(level, n, params));
  end->bottom = first_path(places[end->place].bottom, &mg_path_bottom, facts_of(end, 1, params));
  for (int l = first; l < n; l++) {
    mg_level_facts_t facts = facts_of(&level[l], n - l, params);
    if (params->slow_degree > 0)
      facts.n_steps = facts.n_steps / params->degree * params->slow_degree;
    level[l].cycle = cycle = cycle ? cycle : first_path(places[level[l].place].cycle, NULL, facts);
  }
}

/* Whether kernels compute 1 / diagonal on this level. On a CPU, they do not read a varying alpha
 * for it, and in double precision a pass may read it; mixed precision needs more memory anyway. */
static bool computes_dinv(const mg_level_plan_t *level, const mg_params_t *params) {
  return mg_traits_of(params->op)->sums_diagonal && params->smoother != MG_SMOOTHER_L1JACOBI &&
         (level->place == MG_PLACE_CUDA ||
          (level->place == MG_PLACE_CPU && !params->alpha_varies &&
           (!level->reads_dinv || params->precision == MG_CLASS_MIXED)));
}

static bool dumps(const mg_params_t *params, mg_field_t field) {
  return params->dump[0] && params->dump_fields & 1u << field;
}

/* True if double cells where nothing is smoothed, or in place, need MG_TMP: to swap the vectors of
 * CG, to dump a residual, or where the backend cannot compute its norm without storing it. */
static bool needs_tmp(const mg_level_plan_t *level, const mg_params_t *params) {
  return dumps(params, MG_FIELD_RESIDUAL) || params->krylov != MG_KRYLOV_NONE ||
         !places[level->place].norms;
}

/* Vectors that a level does without, to save memory: MG_DINV, if 1 / diagonal is computed; on a CPU
 * also MG_TMP, if steps and residuals are in place or fused: on float levels, and on large levels.
 * A residual is fused with its restriction to half the cells only. The bottom solver needs both. */
static unsigned unused_vectors(const mg_level_plan_t *level, const mg_params_t *params,
                               const mg_level_facts_t *facts) {
  const bool is_mixed = params->precision == MG_CLASS_MIXED,
             is_large = mg_cells_per_rank(facts) >= MG_STORED_DINV_MAX_CELLS;
  unsigned unused = 0;
  if (is_large && computes_dinv(level, params) && (is_mixed || !dumps(params, MG_FIELD_DINV)))
    unused |= 1u << MG_DINV;
  if (level->place == MG_PLACE_CPU && places[MG_PLACE_CPU].norms && facts->op->in_place &&
      facts->colored && level->halves && (is_mixed || (is_large && !needs_tmp(level, params))))
    unused |= 1u << MG_TMP;
  return unused;
}

/* Vectors that only a level where a solve starts needs. */
static unsigned vectors_of_start(const mg_params_t *params, int l) {
  const unsigned restricted = l > 0 ? 1u << MG_RESTRICTED_U : 0;
  const unsigned shadow = params->krylov == MG_KRYLOV_BICGSTAB ? 1u << MG_SHADOW : 0;
  return restricted | shadow | (params->krylov != MG_KRYLOV_NONE ? MG_VECTORS_OF_OUTER_KRYLOV : 0);
}

/* True if a solve writes MG_U of the finest double cells once, in its last operation, which
 * corrects a guess that is not stored (solver/mixed.c): one F-cycle, not after a restart. */
static bool writes_u_once(const mg_plan_t *plan, const mg_params_t *params) {
  return plan->n_outer > 1 && plan->outer[0].guess &&
         mg_params_count_sides(params, MG_WALL_DIRICHLET) > 0 && params->cycle == MG_CYCLE_F &&
         params->rtol == 0.0 && !params->restart[0];
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
    set_single_steps(outer);
    outer->guess = first_path(places[outer->place].guess, NULL, facts_of(outer, 1, params));
  }
  /* The last operation reads neither vector. Together they have the bytes of MG_U. */
  if (writes_u_once(plan, params)) plan->outer[0].u_holds = 1u << MG_F | 1u << MG_TMP;
}

void mg_plan_set_levels(mg_plan_t *plan, const mg_params_t *params) {
  const bool is_mixed = params->precision == MG_CLASS_MIXED;
  const int last_start = mg_params_solves_once(params) ? 0 : 2;
  for (int l = 0; l < plan->n_levels; l++)
    plan->level[l].ghost_layers = plan->radius;
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
    if (!is_bottom) {
      level->nests_coarse = can_access_coarse(level, params->memory) &&
                            mg_layouts_nest(&level->layout, &level[1].layout);
      level[1].shared = level->nests_coarse && level->place != level[1].place;
    }
    mg_level_facts_t facts = facts_of(level, plan->n_levels - l, params);
    choose_path(&facts, level);
    if (!is_bottom) level->vectors &= ~unused_vectors(level, params, &facts);
    level->wall_layers =
        level->place == MG_PLACE_CPU && mg_params_count_sides(params, MG_WALL_NONE) == 0
            ? plan->radius
            : level->ghost_layers;
  }
  choose_coarse_paths(plan->level, plan->n_levels, params);
  if (is_mixed) set_outer_levels(plan, params, last_start + 1);
}
