/* Names of a level's vectors. */
#ifndef MG_VECTORS_H
#define MG_VECTORS_H

/** All cell-centered or face-centered arrays of a patch. The first group exists on every level, the
 *  others where the plan (plan.h) requires them. Face values have the index of the cell above the
 *  face. */
typedef enum {
  MG_NO_VECTOR = -1, /**< an optional argument is absent; any value below 0 means the same */
  MG_U,              /**< solution, or correction on coarser levels */
  MG_F,              /**< right-hand side, or restricted residual */
  MG_BETA_I, /**< beta (h[0] / h[d])^2 of the face between cells i-1 and i, in direction d = 0 */
  MG_BETA_J,
  MG_BETA_K,
  MG_DINV, /**< 1 / diagonal of A, boundary conditions folded in (l1-scaled for l1jacobi) */
  MG_TMP,  /**< residual, or second iterate of an out-of-place smoother */
  MG_N_VECTORS_EVERY_LEVEL,
  MG_RESTRICTED_U = MG_N_VECTORS_EVERY_LEVEL, /**< restriction of the next finer level's solution */
  MG_ALPHA,    /**< alpha of the equation, if it is not 1 everywhere; or volumes (mg_set_mean) */
  MG_PREVIOUS, /**< the iterate before the one in MG_TMP, between fused sweeps */
  MG_SOLUTION, /**< u and f of outer.h, while the V-cycle uses MG_U and MG_F */
  MG_RHS,
  MG_DIRECTION, /**< p and A p of outer.h */
  MG_A_DIRECTION,
  MG_SHADOW,    /**< the first residual of BiCGStab there */
  MG_KRYLOV_R0, /**< this and the following: bottom solvers */
  MG_KRYLOV_R,
  MG_KRYLOV_P,
  MG_KRYLOV_AP,
  MG_KRYLOV_S,
  MG_KRYLOV_AS,
  MG_N_VECTORS
} mg_vector_t;

/** A set of vectors: bit 1 << vector for each. */
#define MG_VECTORS_EVERY_LEVEL ((1u << MG_N_VECTORS_EVERY_LEVEL) - 1)
/** Double cells beside float levels (--precision=mixed). */
#define MG_VECTORS_OF_OUTER                                                                        \
  (1u << MG_U | 1u << MG_F | 1u << MG_BETA_I | 1u << MG_BETA_J | 1u << MG_BETA_K)
#define MG_VECTORS_OF_KRYLOV ((1u << MG_N_VECTORS) - (1u << MG_KRYLOV_R0))
#define MG_VECTORS_OF_OUTER_KRYLOV                                                                 \
  (1u << MG_SOLUTION | 1u << MG_RHS | 1u << MG_DIRECTION | 1u << MG_A_DIRECTION)
/** An image of the next coarser level (see transfer.h) holds one vector. */
#define MG_VECTORS_OF_IMAGE (1u << MG_U)

/** Number of vectors in a set. */
static inline int mg_n_vectors(unsigned vectors) {
  int n = 0;
  for (; vectors != 0; vectors &= vectors - 1)
    n++;
  return n;
}

#endif
