#include "plan/plan.h"
#include "plan/coarsen.h"
#include "plan/domain_plan.h"
#include "wings.h"
#include <stdio.h>
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

static int64_t min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Whether the tuned kernels of GPUs support the operator and have the ghosts of all sides. */
static bool is_tuned(const mg_params_t *params) {
  bool tuned = mg_has_path(params->op, MG_PATH_TUNED);
  for (int s = 0; s < 6; s++)
    tuned = tuned && params->side[s / 2][s % 2].wall < MG_N_TUNED_WALLS;
  return tuned;
}

static mg_place_t place_of(const mg_layout_t *layout, const mg_params_t *params) {
  const int64_t cells = mg_layout_n_cells(layout);
  if (cells < params->cpu_below) return MG_PLACE_CPU;
  if (params->device == MG_DEVICE_CUDA && is_tuned(params)) return MG_PLACE_CUDA;
  if (mg_params_uses_gpu(params)) return MG_PLACE_CUDA_SIMPLE;
  if (params->device == MG_DEVICE_GUARD) return MG_PLACE_GUARD;
  return MG_PLACE_CPU;
}

/* Where latency of messages outweighs work: the default of --agglomerate-below, which several GPUs
 * measure from there on. On two H200s an F-cycle at 512^3 took 19.20 ms with 4096 cells per rank,
 * 18.80 with 32768, 18.91 with 262144 and 20.6 with 2097152. */
int64_t mg_plan_min_cells_per_rank(mg_place_t place) {
  return mg_place_is_cuda(place) ? 65536 : 4096;
}

int64_t mg_plan_coarse_ranks(const mg_layout_t *coarse, int64_t fine_ranks, int64_t cap,
                             const mg_params_t *params) {
  const int64_t cells = mg_layout_n_cells(coarse);
  const int64_t below = params->agglomerate_below != MG_AGGLOMERATE_AUTO
                            ? params->agglomerate_below
                            : mg_plan_min_cells_per_rank(place_of(coarse, params));
  int64_t ranks = min64(min64(fine_ranks, cap), mg_layout_n_boxes(coarse));
  if (params->bottom == MG_BOTTOM_DIRECT && cells <= MG_DIRECT_MAX_CELLS) return 1;
  if (below > 0) ranks = min64(ranks, cells / below);
  return ranks > 1 ? ranks : 1;
}

/* A cuboid has fewer neighbors than a segment of the curve. If n_ranks ranks cannot have one
 * cuboid each, use fewer ranks, provided that the fullest rank gets no more boxes than before. */
static void prefer_cuboids(mg_layout_t *layout) {
  layout->cuboids = mg_cuboids_are_even(layout);
  const int64_t boxes = mg_layout_n_boxes(layout), share = mg_layout_largest_share(layout);
  if (layout->cuboids || boxes % share != 0) return;
  mg_layout_t fewer = *layout;
  fewer.n_ranks = boxes / share;
  fewer.cuboids = mg_cuboids_are_even(&fewer);
  if (fewer.cuboids && mg_layout_largest_share(&fewer) == share) *layout = fewer;
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

/* Boxes of the finest grid: as many per side as fit, or those of the parameters. */
static void choose_boxes(const mg_params_t *params, int64_t ranks, int32_t boxes[3]) {
  const int32_t m = mg_plan_boxes_a_side(params->log2_box_dim, params->boxes_per_rank, ranks);
  for (int d = 0; d < 3; d++)
    boxes[d] = params->boxes[d] > 0 ? params->boxes[d] : m;
}

mg_layout_t mg_plan_finest(const mg_params_t *params, const int32_t boxes[3], int64_t ranks) {
  const int64_t most = params->finest_ranks > 0 ? min64(ranks, params->finest_ranks) : ranks;
  MG_IF_DOMAINS(
      if (mg_params_has_cells(params)) return mg_cuboids_layout(params->cells, most, ranks));
  mg_layout_t layout = {.box_dim = 1 << params->log2_box_dim, .world_ranks = ranks};
  for (int d = 0; d < 3; d++) {
    layout.boxes[d] = boxes[d];
    layout.box[d] = layout.box_dim;
    layout.n[d] = layout.box_dim * boxes[d];
  }
  layout.n_ranks = min64(most, mg_layout_n_boxes(&layout));
  prefer_cuboids(&layout);
  return layout;
}

static int64_t round_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

mg_patch_strides_t mg_patch_strides_of(const int32_t n[3], const int32_t lo[3],
                                       const int32_t level_n[3], int layers, int wall_layers) {
  const int64_t page = 512, skew = 9 * MG_ROW_VALUES, small = 4096;
  int low[3], length[3];
  for (int d = 0; d < 3; d++) {
    low[d] = lo[d] == 0 ? wall_layers : layers;
    length[d] = low[d] + n[d] + (lo[d] + n[d] == level_n[d] ? wall_layers : layers);
  }
  mg_patch_strides_t s;
  /* The left ghosts of a row are stored at the end of the previous row. */
  s.jstride = round_up(length[0], MG_ROW_VALUES);
  s.kstride = s.jstride * length[1];
  s.origin = MG_ROW_VALUES + low[1] * s.jstride + low[2] * s.kstride;
  s.size = MG_ROW_VALUES + s.kstride * length[2];
  /* The vectors of a patch are contiguous. The same cell of two vectors must not agree in the
   * low 12 address bits, or a store stalls the loads of the other vectors. */
  if (s.size > small) s.size = round_up(s.size - skew, page) + skew;
  return s;
}

static mg_status_t check_boxes(const mg_params_t *params, const int32_t boxes[3], int64_t ranks,
                               char *message, int message_size) {
  if (fits(params->log2_box_dim, boxes, ranks)) return MG_OK;
  const bool too_wide = is_too_wide(params->log2_box_dim, boxes);
  snprintf(message, (size_t)message_size,
           "%lld boxes of %d^3 cells on each of %lld rank%s exceed 2^%d cells per %s; "
           "the largest valid BOXES_PER_RANK is %lld",
           (long long)params->boxes_per_rank, 1 << params->log2_box_dim, (long long)ranks,
           ranks == 1 ? "" : "s", too_wide ? MG_MAX_LOG2_DIM : MG_MAX_LOG2_SHARE,
           too_wide ? "side" : "rank",
           (long long)largest_boxes_per_rank(params->log2_box_dim, params->boxes_per_rank, ranks));
  return MG_ERR_USAGE;
}

/* Whether the operator has formulas for the sides and the shape of the grid. */
static mg_status_t check_operator(const mg_params_t *params, const mg_layout_t *finest,
                                  char *message, int message_size) {
  const mg_operator_traits_t *t = mg_traits_of(params->op);
  const char *needs = NULL;
  if (!t->mixed_sides && mg_params_count_sides(params, MG_WALL_DIRICHLET) < 6 &&
      !mg_params_is_all_periodic(params))
    needs = "--boundary=dirichlet or periodic on all sides";
  else if (t->constant && !mg_is_cube(finest->n))
    needs = "as many cells along y and z as along x";
  if (!needs) return MG_OK;
  snprintf(message, (size_t)message_size, "--operator=%s requires %s; use fv2 or 7pt",
           mg_operator_name(params->op), needs);
  return MG_ERR_USAGE;
}

mg_level_plan_t *mg_plan_add_level(mg_plan_t *plan, const mg_params_t *params,
                                   const mg_layout_t *layout) {
  mg_level_plan_t *level = &plan->level[plan->n_levels++];
  *level = (mg_level_plan_t){.layout = *layout, .place = place_of(layout, params)};
  return level;
}

/* Add the next coarser level, by the level rule of the benchmark. Without u on a wall, A of a
 * single cell could be 0.
 * @return false if there is none */
static bool coarsen_boxes(mg_plan_t *plan, const mg_params_t *params) {
  const mg_level_plan_t *fine = &plan->level[plan->n_levels - 1];
  const int least = mg_params_count_sides(params, MG_WALL_DIRICHLET) > 0 ? 1 : 2;
  mg_layout_t coarse;
  int64_t cap;
  if (plan->n_levels == MG_MAX_LEVELS ||
      !mg_layout_coarsen(&fine->layout, plan->radius,
                         params->coarsest > least ? params->coarsest : least, &coarse, &cap))
    return false;
  coarse.n_ranks = mg_plan_coarse_ranks(&coarse, fine->layout.n_ranks, cap, params);
  prefer_cuboids(&coarse);
  mg_level_plan_t *level = mg_plan_add_level(plan, params, &coarse);
  for (int d = 0; d < 3; d++)
    level->h[d] = 2.0 * fine->h[d];
  return true;
}

mg_status_t mg_plan_build(const mg_params_t *params, int64_t ranks, mg_plan_t *plan, char *message,
                          int message_size) {
  const mg_operator_traits_t *t = mg_traits_of(params->op);
  const bool has_cells = mg_params_has_cells(params);
  int32_t boxes[3];
  memset(plan, 0, sizeof *plan);
  if (t->points == 0) {
    snprintf(message, (size_t)message_size, "operator %d has no traits (base/operators.h)",
             (int)params->op);
    return MG_ERR_USAGE;
  }
  choose_boxes(params, ranks, boxes);
  MG_IF_DOMAINS(if (has_cells) MG_TRY(mg_plan_check_cells(params, ranks, message, message_size)));
  if (!has_cells) MG_TRY(check_boxes(params, boxes, ranks, message, message_size));
  const mg_layout_t finest = mg_plan_finest(params, boxes, ranks);
  MG_TRY(check_operator(params, &finest, message, message_size));
  plan->radius = t->radius;
  plan->boxes_asked = has_cells || params->boxes[0] > 0
                          ? mg_layout_n_boxes(&finest)
                          : (int64_t)((__int128)params->boxes_per_rank * ranks);
  mg_level_plan_t *level = mg_plan_add_level(plan, params, &finest);
  for (int d = 0; d < 3; d++)
    level->h[d] = (has_cells ? params->length[d] : 1.0) / finest.n[d];
  MG_IF_DOMAINS(if (has_cells) MG_TRY(mg_plan_coarsen_cells(plan, params)));
  while (!has_cells && coarsen_boxes(plan, params))
    continue;
  mg_plan_set_levels(plan, params);
  return MG_OK;
}
