/* What a kernel sees: flat arrays with strides, and the numbers of one level. */
#ifndef MG_VIEW_H
#define MG_VIEW_H

#include "base/types.h"
#include "formulas/vectors.h"
#include <stdbool.h>
#include <stdint.h>

/** One patch: a cuboid of cells with a ghost rim, one array per vector.
 *
 *  Cell (i,j,k) of vector v is vec[v][i + j*jstride + k*kstride], 0 <= i < n[0] and so on; ghosts
 *  have indices -layers..-1 and n..n+layers-1. NULL where the level does not store the vector. */
typedef struct {
  int32_t n[3];    /**< cells */
  int32_t lo[3];   /**< global index of cell (0,0,0) */
  int64_t jstride; /**< doubles from a row to the next */
  int64_t kstride; /**< doubles from a plane to the next */
  bool wall[3][2]; /**< the low and high side of each direction is a Dirichlet boundary */
  double *vec[MG_N_VECTORS];
} mg_patch_t;

/** A level, or the image of one, as far as one rank holds it. */
typedef struct {
  mg_patch_t *patch;
  int n_patches;
  int32_t dim;     /**< cells a side of the whole level */
  int32_t box_dim; /**< cells a side of a box: boundary formulas fall back where it is small */
  int ghosts;      /**< layers that the operator reads */
  int layers;      /**< of ghosts that are allocated; more where passes make several steps */
  int64_t cells;   /**< of all patches here */
  bool varies;     /**< alpha does, and is in MG_ALPHA; a is 1 then */
  mg_operator_t op;
  bool periodic;
  double h;    /**< width of a cell */
  double a;    /**< a of the equation, and a alpha where alpha does not vary */
  double b_h2; /**< b / h^2 */
} mg_view_t;

/** A cuboid of cells to copy between patches, or between a patch and a message buffer. */
typedef struct {
  int32_t src_patch, dst_patch; /**< index into the view; -1 for the buffer */
  int32_t src_lo[3], dst_lo[3]; /**< first cell, patch-local */
  int32_t n[3];
  int64_t buffer; /**< offset in doubles; cells lie densely, i fastest */
} mg_copy_t;

typedef enum { MG_STEP_GSRB, MG_STEP_CHEBYSHEV, MG_STEP_JACOBI } mg_step_kind_t;

/** One step of a smoother. Which fields matter depends on the kind. */
typedef struct {
  mg_step_kind_t kind;
  int color;     /**< GSRB: cells with (i+j+k+color) even, global indices */
  double c1, c2; /**< x' = x + c1 (x - x_previous) + c2 Dinv (f - A x) */
  bool l1;       /**< Dinv is that of the l1-scaled diagonal, not of the diagonal of A */
} mg_step_t;

#endif
