/* The vectors of a level, named. */
#ifndef MG_VECTORS_H
#define MG_VECTORS_H

/** Every cell-centred or face-centred array of a patch. The order is what a level stores: the
 *  first group on every level, SAVED on the levels that a Richardson error needs, the rest on the
 *  coarsest level only. Face values have the index of the cell above the face. */
typedef enum {
  MG_U,      /**< solution, or correction on coarser levels */
  MG_F,      /**< right-hand side, or restricted residual */
  MG_BETA_I, /**< face between cells i-1 and i */
  MG_BETA_J,
  MG_BETA_K,
  MG_DINV, /**< 1 / diagonal of A, boundary conditions folded in (l1-scaled for l1jacobi) */
  MG_TMP,  /**< residual, or the other iterate of an out-of-place smoother */
  MG_N_VECTORS_EVERY_LEVEL,
  MG_SAVED = MG_N_VECTORS_EVERY_LEVEL, /**< restriction of the next finer level's solution */
  MG_KRYLOV_R0,
  MG_KRYLOV_R,
  MG_KRYLOV_P,
  MG_KRYLOV_AP,
  MG_KRYLOV_S,
  MG_KRYLOV_AS,
  MG_N_VECTORS
} mg_vector_t;

/** An image of the next coarser level (see transfer.h) holds one vector, MG_U. */
enum { MG_N_VECTORS_OF_IMAGE = MG_U + 1 };

#endif
