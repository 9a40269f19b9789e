/* Memory of a plan: patches, images and message buffers. */
#include "formulas/transfer.h"
#include "formulas/vectors.h"
#include "plan/plan_stats.h"
#include <stdlib.h>
#include <string.h>

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
static void padded_sides(const int32_t n[3], const int32_t box[3], int g, int32_t sides[3]) {
  for (int d = 0; d < 3; d++)
    sides[d] = n[d] + (n[d] + box[d] - 1) / box[d] * 2 * g;
}

/* Cells per side of a layout's boxes, or the fewest of their image on the next coarser level. */
static void boxes_of(const mg_layout_t *layout, bool image, int32_t box[3]) {
  for (int d = 0; d < 3; d++) {
    box[d] = layout->box[d];
    if (image && mg_has_pairs(&layout->single[d], layout->n[d])) box[d] = (box[d] + 1) / 2;
  }
}

/* Upper bound on the values received and sent in an exchange of `layers` layers, including
 * edges and corners. */
static int64_t deep_values(const int32_t n[3], const int32_t box[3], int layers) {
  int32_t sides[3];
  padded_sides(n, box, layers, sides);
  return grown_cells(n, layers) - grown_cells(n, 0) + grown_cells(sides, 0) -
         grown_cells(sides, -layers);
}

/* Upper bound on the values received and sent in the halo exchanges of a patch: one exchange
 * with edges and corners and, if the operator reads only faces, another one for faces. */
static int64_t halo_values(const int32_t n[3], const int32_t box[3], int g) {
  const int64_t all = deep_values(n, box, g);
  const int64_t face = 2 * g * ((int64_t)n[0] * n[1] + (int64_t)n[0] * n[2] + (int64_t)n[1] * n[2]);
  return g > 1 ? all : all + 2 * face;
}

/* Upper bound on the values that gather and scatter move at the coarse end, for a coarse patch. */
static int64_t coarse_end_values(const int32_t n[3], const int32_t image_box[3], int g) {
  int32_t sides[3];
  padded_sides(n, image_box, g, sides);
  return grown_cells(n, 0) + grown_cells(sides, 0);
}

static mg_status_t coarse_end_bytes(const mg_plan_t *plan, const mg_level_plan_t *level,
                                    int64_t rank, int64_t *bytes) {
  mg_cuboid_t *patches;
  int n_patches;
  int32_t box[3];
  boxes_of(&level->layout, true, box);
  MG_TRY(mg_layout_patches(&level[1].layout, rank, &patches, &n_patches));
  for (int p = 0; p < n_patches; p++)
    *bytes += level->value_bytes * coarse_end_values(patches[p].n, box, plan->radius);
  free(patches);
  return MG_OK;
}

/* Add the bytes of one level's cells. `vectors`: those that share no memory. level[1] is the
 * next coarser level if `has_image`. */
static mg_status_t add_level_bytes(const mg_plan_t *plan, const mg_level_plan_t *level,
                                   unsigned vectors, bool has_image, int64_t rank,
                                   mg_level_bytes_t *bytes) {
  const int g = plan->radius;
  int64_t values = 0, image = 0, buffer = 0, coarse_buffers = 0;
  int32_t box[3];
  boxes_of(&level->layout, false, box);
  mg_cuboid_t *patches;
  MG_TRY(mg_layout_patches(&level->layout, rank, &patches, &bytes->n_patches));
  for (int p = 0; p < bytes->n_patches; p++) {
    const int32_t *n = patches[p].n;
    const mg_cuboid_t half = mg_layout_coarse(&level->layout, &patches[p]);
    values += mg_patch_strides_of(n, patches[p].lo, level->layout.n, level->ghost_layers,
                                  level->wall_layers)
                  .size *
              mg_n_vectors(vectors);
    if (level->layout.n_ranks > 1) buffer += halo_values(n, box, g);
    if (level->layout.n_ranks > 1 && level->ghost_layers > g)
      buffer += deep_values(n, box, level->ghost_layers);
    if (!has_image) continue;
    image += mg_patch_strides(half.n, g).size * mg_n_vectors(MG_VECTORS_OF_IMAGE);
    buffer += grown_cells(half.n, 0) + grown_cells(half.n, g); /* gather, scatter */
  }
  free(patches);
  if (has_image && level->layout.n_ranks > 1)
    MG_TRY(coarse_end_bytes(plan, level, rank, &coarse_buffers));
  bytes->vectors += values * level->value_bytes;
  bytes->images += image * level->value_bytes;
  bytes->buffers += buffer * level->value_bytes + coarse_buffers;
  bytes->coarse_buffers += coarse_buffers;
  return MG_OK;
}

mg_status_t mg_plan_bytes(const mg_plan_t *plan, int l, int64_t rank, mg_level_bytes_t *bytes) {
  const mg_level_plan_t *level = &plan->level[l],
                        *outer = l < plan->n_outer ? &plan->outer[l] : NULL;
  memset(bytes, 0, sizeof *bytes);
  bytes->boxes = mg_layout_share(&level->layout, rank);
  MG_TRY(add_level_bytes(plan, level, level->vectors & ~(outer ? outer->u_holds : 0),
                         l + 1 < plan->n_levels && !level->nests_coarse, rank, bytes));
  if (!outer) return MG_OK;
  return add_level_bytes(plan, outer, outer->vectors, l + 1 < plan->n_outer && !outer->nests_coarse,
                         rank, bytes);
}
