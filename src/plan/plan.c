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

/* Cells per rank below which a level is not worth its messages. On two H200s an F-cycle at
 * 512^3 took 18.80 ms with 32768, 18.91 with 262144, 19.20 with 4096 and 20.6 with 2097152. */
static int64_t min_cells_per_rank(mg_place_t place, int64_t agglomerate_below) {
  if (agglomerate_below != MG_AGGLOMERATE_AUTO) return agglomerate_below;
  return mg_place_is_cuda(place) ? 65536 : 4096;
}

/* A few cells on many ranks are bound by latency: a level keeps only as many ranks as have
 * enough work. */
static int64_t agglomerated_ranks(const mg_layout_t *coarse, int64_t fine_ranks, int64_t cap,
                                  const mg_params_t *params) {
  const int64_t cells = mg_layout_n_cells(coarse);
  const int64_t below = min_cells_per_rank(place_of(coarse, params), params->agglomerate_below);
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

/* True if the smoother of the level may fuse several steps into one sweep: of fv4, only colored
 * steps. Below MG_FUSED_SWEEPS_MIN_CELLS a GPU has too few tiles to work on. All ghost layers must
 * correspond to cells: they wrap at most once, and do not extend beyond a wall that is not the
 * patch's own. A periodic grid with an odd number of cells in some direction has no red-black
 * coloring. */
static bool may_fuse(const mg_level_plan_t *level, const mg_params_t *params,
                     const smoother_t *smoother) {
  const int most = max_fused_steps(params);
  const int32_t *n = level->layout.n;
  const int64_t cells = mg_layout_n_cells(&level->layout) / level->layout.n_ranks;
  const bool large = level->place == MG_PLACE_GUARD ||
                     (level->place == MG_PLACE_CUDA && cells >= MG_FUSED_SWEEPS_MIN_CELLS);
  return most > 1 && (params->op != MG_OPERATOR_FV4 || smoother->colored) && smoother->fuse &&
         large && n[0] % 2 == 0 && n[1] % 2 == 0 && n[2] % 2 == 0 &&
         level->layout.box_dim >= mg_layers_of_steps(radius_of(params->op), most);
}

/* True if the last fused sweeps may compute the residual too, which reads one more ghost layer. On
 * GPUs only levels of one rank do, since it has not been measured beside messages. fv4's residual
 * would read two more layers, for which shared memory has no room (cuda/fv4_fused.cu). */
static bool may_fuse_residual(const mg_level_plan_t *level, const mg_params_t *params,
                              const smoother_t *smoother) {
  const int64_t cells = mg_layout_n_cells(&level->layout) / level->layout.n_ranks,
                min_cells = smoother->colored ? MG_FUSED_RESIDUAL_MIN_CELLS
                                              : MG_FUSED_RESIDUAL_MIN_CELLS_ALL;
  const bool pays =
      level->place == MG_PLACE_GUARD || (cells >= min_cells && level->layout.n_ranks == 1);
  return pays && params->op != MG_OPERATOR_FV4 && !params->alpha_varies &&
         level->layout.box_dim > params->fused_sweeps;
}

static void set_fused_sweeps(mg_plan_t *plan, mg_level_plan_t *level, const mg_params_t *params,
                             const smoother_t *smoother) {
  const bool has_halo = level->layout.n_ranks > 1 || params->boundary == MG_BOUNDARY_PERIODIC;
  level->ghost_layers = plan->radius;
  level->fused_sweeps = 1;
  level->fused_residual = false;
  if (!may_fuse(level, params, smoother)) return;
  level->fused_sweeps = max_fused_steps(params);
  level->fused_residual = may_fuse_residual(level, params, smoother);
  if (has_halo)
    level->ghost_layers =
        mg_layers_of_steps(plan->radius, level->fused_sweeps + level->fused_residual);
  if (smoother->look_back && smoother->n_steps > level->fused_sweeps)
    level->vectors |= 1u << MG_PREVIOUS;
}

static void finish_levels(mg_plan_t *plan, const mg_params_t *params) {
  /* Solves start at h, 2h and 4h; for a user's problem only at h. */
  const int last_start = mg_params_has_files(params) ? 0 : 2;
  const smoother_t smoother = smoother_of(params);
  for (int l = 0; l < plan->n_levels; l++) {
    mg_level_plan_t *level = &plan->level[l];
    const bool is_bottom = l == plan->n_levels - 1;
    level->vectors = MG_VECTORS_EVERY_LEVEL;
    if (l > 0 && l <= last_start) level->vectors |= 1u << MG_RESTRICTED_U;
    if (params->alpha_varies) level->vectors |= 1u << MG_ALPHA;
    if (params->krylov == MG_KRYLOV_CG && l <= last_start) level->vectors |= MG_VECTORS_OF_OUTER_CG;
    if (is_bottom) level->vectors |= MG_VECTORS_OF_KRYLOV;
    set_fused_sweeps(plan, level, params, &smoother);
    if (is_bottom) continue;
    level->nests_coarse = can_access_coarse(level, params->memory) &&
                          mg_layouts_nest(&level->layout, &level[1].layout);
    level[1].shared = level->nests_coarse && level->place != level[1].place;
  }
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

/* The finest grid, on at most one rank per box. */
static mg_layout_t finest_of(const mg_params_t *params, const int32_t boxes[3], int64_t ranks) {
  mg_layout_t layout = {.box_dim = 1 << params->log2_box_dim, .world_ranks = ranks};
  for (int d = 0; d < 3; d++) {
    layout.boxes[d] = boxes[d];
    layout.n[d] = layout.box_dim * boxes[d];
  }
  layout.n_ranks = min64(ranks, mg_layout_n_boxes(&layout));
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

static int64_t round_up(int64_t n, int64_t to) {
  return (n + to - 1) / to * to;
}

mg_patch_strides_t mg_patch_strides(const int32_t n[3], int layers) {
  const int64_t page = 512, skew = 9 * MG_ROW_DOUBLES, small = 4096;
  mg_patch_strides_t s;
  /* The left ghosts of a row are stored at the end of the previous row. */
  s.jstride = round_up(n[0] + 2 * layers, MG_ROW_DOUBLES);
  s.kstride = s.jstride * (n[1] + 2 * layers);
  s.origin = MG_ROW_DOUBLES + layers * (s.jstride + s.kstride);
  s.size = MG_ROW_DOUBLES + s.kstride * (n[2] + 2 * layers);
  /* The vectors of a patch are contiguous. The same cell of two vectors must not agree in the
   * low 12 address bits, or a store stalls the loads of the other vectors. */
  if (s.size > small) s.size = round_up(s.size - skew, page) + skew;
  return s;
}

/* Number of cells of a cuboid grown by `layers` on each side. */
static int64_t grown_cells(const int32_t n[3], int layers) {
  int64_t cells = 1;
  for (int d = 0; d < 3; d++)
    cells *= n[d] + 2 * layers;
  return cells;
}

/* Sides of the region that the boxes of a patch cover when laid side by side, each with ghost
 * layers of depth g. Other patches need fewer cells of this patch than the boxes around it
 * would. A box and its neighbor need equally many cells of each other. */
static void padded_sides(const int32_t n[3], int32_t box_dim, int g, int32_t sides[3]) {
  for (int d = 0; d < 3; d++)
    sides[d] = n[d] / box_dim * (box_dim + 2 * g);
}

/* Upper bound on the doubles received and sent in an exchange of `layers` layers, including
 * edges and corners. */
static int64_t deep_doubles(const int32_t n[3], int32_t box_dim, int layers) {
  int32_t sides[3];
  padded_sides(n, box_dim, layers, sides);
  return grown_cells(n, layers) - grown_cells(n, 0) + grown_cells(sides, 0) -
         grown_cells(sides, -layers);
}

/* Upper bound on the doubles received and sent in the halo exchanges of a patch: one exchange
 * with edges and corners and, if the operator reads only faces, another one for faces. */
static int64_t halo_doubles(const int32_t n[3], int32_t box_dim, int g) {
  const int64_t all = deep_doubles(n, box_dim, g);
  const int64_t face = 2 * g * ((int64_t)n[0] * n[1] + (int64_t)n[0] * n[2] + (int64_t)n[1] * n[2]);
  return g > 1 ? all : all + 2 * face;
}

/* Upper bound on the doubles that gather and scatter move at the coarse end, for a patch of the
 * coarse level. */
static int64_t coarse_end_doubles(const int32_t n[3], int32_t image_box_dim, int g) {
  int32_t sides[3];
  padded_sides(n, image_box_dim, g, sides);
  return grown_cells(n, 0) + grown_cells(sides, 0);
}

static mg_status_t coarse_end_bytes(const mg_plan_t *plan, int l, int64_t rank, int64_t *bytes) {
  mg_cuboid_t *patches;
  int n_patches;
  MG_TRY(mg_layout_patches(&plan->level[l + 1].layout, rank, &patches, &n_patches));
  for (int p = 0; p < n_patches; p++)
    *bytes += (int64_t)sizeof(double) *
              coarse_end_doubles(patches[p].n, plan->level[l].layout.box_dim / 2, plan->radius);
  free(patches);
  return MG_OK;
}

mg_status_t mg_plan_bytes(const mg_plan_t *plan, int l, int64_t rank, mg_level_bytes_t *bytes) {
  const mg_level_plan_t *level = &plan->level[l];
  const bool has_image = l + 1 < plan->n_levels && !level->nests_coarse;
  const int g = plan->radius;
  int64_t doubles = 0, image = 0, buffer = 0;
  mg_cuboid_t *patches;
  memset(bytes, 0, sizeof *bytes);
  bytes->boxes = mg_layout_share(&level->layout, rank);
  MG_TRY(mg_layout_patches(&level->layout, rank, &patches, &bytes->n_patches));
  for (int p = 0; p < bytes->n_patches; p++) {
    const int32_t *n = patches[p].n;
    const int32_t half[3] = {n[0] / 2, n[1] / 2, n[2] / 2};
    doubles += mg_patch_strides(n, level->ghost_layers).size * mg_n_vectors(level->vectors);
    if (level->layout.n_ranks > 1) buffer += halo_doubles(n, level->layout.box_dim, g);
    if (level->layout.n_ranks > 1 && level->ghost_layers > g)
      buffer += deep_doubles(n, level->layout.box_dim, level->ghost_layers);
    if (!has_image) continue;
    image += mg_patch_strides(half, g).size * mg_n_vectors(MG_VECTORS_OF_IMAGE);
    buffer += grown_cells(half, 0) + grown_cells(half, g); /* gather, scatter */
  }
  bytes->vectors = doubles * (int64_t)sizeof(double);
  bytes->images = image * (int64_t)sizeof(double);
  bytes->buffers = buffer * (int64_t)sizeof(double);
  free(patches);
  if (!has_image || level->layout.n_ranks == 1) return MG_OK;
  MG_TRY(coarse_end_bytes(plan, l, rank, &bytes->coarse_buffers));
  bytes->buffers += bytes->coarse_buffers;
  return MG_OK;
}
