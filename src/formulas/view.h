/* View of a level for kernels: flat arrays with strides, and the level's parameters. */
#ifndef MG_VIEW_H
#define MG_VIEW_H

#include "base/inline.h"
#include "base/types.h"
#include "formulas/pairs.h"
#include "formulas/real.h"
#include "formulas/vectors.h"
#include <stdbool.h>
#include <stdint.h>

/** One patch: a cuboid of cells surrounded by ghosts, one array per vector.
 *
 *  Cell (i,j,k) of vector v is vec[v][i + j*jstride + k*kstride], with 0 <= i < n[0] etc. Ghosts
 *  have indices -ghost_layers..-1 and n..n+ghost_layers-1; outside walls wall_layers. vec[v] is
 * NULL if the level does not store v. */
typedef struct {
  int32_t n[3];                 /**< cells */
  int32_t lo[3];                /**< global index of cell (0,0,0) */
  int64_t jstride;              /**< values between consecutive rows */
  int64_t kstride;              /**< values between consecutive planes */
  mg_wall_t wall[3][2];         /**< kind of the low and high side of each direction */
  mg_real_t *vec[MG_N_VECTORS]; /**< opaque to all layers but the backend */
} mg_patch_t;

/** Betas, the same on all faces normal to a direction inside the domain, and on those of a side. */
typedef struct {
  bool is; /**< the level's betas are so */
  double inside[3], side[3][2];
  void *rows; /**< of a CPU (cpu/constant.c), or NULL; freed with the level */
} mg_constant_betas_t;

/** The part of a level, or of a level's image, that one rank holds. */
typedef struct {
  mg_patch_t *patch;
  int n_patches;
  int32_t n[3];      /**< cells of the whole level */
  int32_t box_dim;   /**< cells per side of a box; wall formulas fall back if it is small */
  bool general;      /**< of any size; patches begin at any even cell; see mg_wall_orders */
  int radius;        /**< ghost layers that the operator reads */
  int ghost_layers;  /**< allocated ghost layers; more than `radius` if sweeps are fused */
  int wall_layers;   /**< allocated ghost layers outside walls */
  int grown[3];      /**< ghost layers that are cells of this view, at sides without walls */
  int64_t cells;     /**< total over the patches here */
  bool alpha_varies; /**< alpha varies and is stored in MG_ALPHA, with a = 1 */
  mg_constant_betas_t constant;
  mg_operator_t op;
  bool periodic;          /**< in all directions */
  mg_wall_t side[3][2];   /**< kind of the domain's low and high side of each direction */
  mg_singles_t single[3]; /**< cells that the next coarser level has too */
  double h[3];            /**< cell width in each direction */
  bool linear_walls;      /**< wall formulas have order 1 */
  double a;               /**< a of the equation; a alpha if alpha is constant */
  double b_h2;            /**< b / h[0]^2; the face betas hold the other widths (coefficients.h) */
} mg_view_t;

/** A cuboid of cells to copy between patches, or between a patch and a message buffer. */
typedef struct {
  int32_t src_patch, dst_patch; /**< index into the view; -1 for the buffer */
  int32_t src_lo[3], dst_lo[3]; /**< first cell, patch-local */
  int32_t n[3];
  int64_t buffer; /**< offset in values; cells are contiguous, i fastest */
} mg_copy_t;

#endif
