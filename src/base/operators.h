/* The operators: one row of traits for each (operators.c).
 *
 * Code that depends on the operator asks for a trait. Only the rows and the option's words name an
 * operator (scripts/check-includes.sh). What a row does not list is not supported: the operator
 * then runs the plain operations, or is refused. Kernels get traits as arguments. */
#ifndef MG_OPERATORS_H
#define MG_OPERATORS_H

#include "base/inline.h"
#include <stdbool.h>

/** Discretization of -b div(beta grad u). */
typedef enum {
  MG_OPERATOR_FV2, /**< 7-point finite volume, volume-averaged data, 2nd order */
  MG_OPERATOR_FV4, /**< 25-point finite volume, 4th order */
  MG_OPERATOR_7PT, /**< 7-point cell-centered finite difference, point data, 2nd order */
  MG_OPERATOR_27PT /**< 27-point finite difference, beta = 1, point data, 2nd order */
} mg_operator_t;

/** Interpolation formulas, tensor products of one-dimensional formulas. */
typedef enum {
  MG_INTERPOLATE_P0,
  MG_INTERPOLATE_P1,
  MG_INTERPOLATE_V2,
  MG_INTERPOLATE_V4,
  MG_INTERPOLATE_P2
} mg_interpolation_t;

/** Fast paths, which an operator may use. */
enum {
  MG_PATH_TUNED = 1 << 0,          /**< kernels of cuda/ other than those in simple.cu */
  MG_PATH_FUSED_ALL = 1 << 1,      /**< fused sweeps also of steps on all cells */
  MG_PATH_RESIDUAL = 1 << 2,       /**< fused sweeps that also compute the residual */
  MG_PATH_INTERPOLATION = 1 << 3,  /**< fused sweeps that interpolate their input */
  MG_PATH_ONE_EXCHANGE = 1 << 4,   /**< fused sweeps that compute the ghosts of later ones */
  MG_PATH_RESIDENT = 1 << 5,       /**< resident sweeps on a GPU */
  MG_PATH_EMULATED = 1 << 6,       /**< resident sweeps of the guard backend */
  MG_PATH_SPLIT = 1 << 7,          /**< passes on rows split by color (cpu/smooth_split.c) */
  MG_PATH_GUESS = 1 << 8,          /**< guesses that are interpolated where they are read */
  MG_PATH_BLOCK = 1 << 9,          /**< coarse levels in one block: bottom solver, coarse cycle */
  MG_PATH_PAIRS = 1 << 10,         /**< the same for pairs of cells, on levels of any shape */
  MG_PATH_DIRECT = 1 << 11,        /**< inverse of A on the coarsest level (--bottom=direct) */
  MG_PATH_INTERIOR_FIRST = 1 << 12 /**< fused sweeps that a GPU runs beside its messages */
};

/** What the program knows about an operator. */
typedef struct {
  int points;         /**< of the stencil; selects formulas of kernels. 0: no such operator */
  int radius;         /**< ghost layers that the stencil reads */
  bool edges;         /**< reads ghosts at edges and corners of patches, not only at faces */
  bool extends_betas; /**< reads betas one face outside walls */
  bool in_place;      /**< a cell reads no other cell of its color: colored steps run in place */
  bool sums_diagonal; /**< kernels may sum the diagonal from the betas that they load */
  bool any_grid;      /**< grids of any size, with any spacing and boundary values (--cells) */
  bool closes_faces;  /**< betas inside of the grid may be 0: formulas read only adjacent cells */
  bool mixed_sides;   /**< Neumann walls, and walls beside periodic sides */
  int order;          /**< of convergence */
  double weights;     /**< bound on the sum of weight magnitudes in the gradient at a face */
  int max_steps;      /**< maximum steps of a fused sweep; 1: no fused sweeps */
  int pass_planes;    /**< planes from one step of a CPU's pass to the next; 0: no passes */
  int pass_box_dim;   /**< narrowest box of passes and resident sweeps; 0: any */
  unsigned paths;     /**< set of MG_PATH_ bits */

  int wall_order;       /**< of the wall formula (formulas/walls.h) */
  mg_interpolation_t v; /**< interpolation of corrections in V-cycles */
  mg_interpolation_t f; /**< interpolation of solutions in F-cycles */
  bool constant;        /**< beta is 1 and cells are cubes: no other coefficients */
  bool point_data;      /**< data are values at points, not averages (formulas/coefficients.h) */
  bool listed;          /**< HPGMG's list accepts its results */
  int gsrb_smooths;     /**< default of --smooths for gsrb */
  int jacobi_smooths;   /**< default of --smooths for jacobi and l1jacobi */
  int degree;           /**< default of --degree */
  double rounding[2];   /**< residuals stall near this times eps n^2: between walls, periodic */
  double error[2];      /**< expected error times n^2: between walls, periodic; 0: derived in
                             run/verify.c */
} mg_operator_traits_t;

/** Maximum number of fused sweeps (temporal blocking): of the 7-point operators, and of fv4. */
enum { MG_MAX_STEPS_PER_PASS = 3, MG_MAX_STEPS_PER_PASS_FV4 = 2 };

/** The rows, in the order of mg_operator_t; in host memory. */
extern const mg_operator_traits_t *const mg_operator_traits[];
extern const int mg_n_operators;

/** The row of an operator; all zero if there is none. */
static inline const mg_operator_traits_t *mg_traits_of(mg_operator_t op) {
  static const mg_operator_traits_t none = {.points = 0};
  return (int)op >= 0 && (int)op < mg_n_operators ? mg_operator_traits[op] : &none;
}

/** Whether an operator may use a fast path. */
static inline bool mg_has_path(mg_operator_t op, unsigned path) {
  return (mg_traits_of(op)->paths & path) != 0;
}

/** Order of the wall formula that matches an interpolation. */
MG_INLINE int mg_interpolation_order(mg_interpolation_t kind) {
  if (kind == MG_INTERPOLATE_P2) return 3;
  return kind == MG_INTERPOLATE_V4 ? 4 : kind == MG_INTERPOLATE_V2 ? 2 : 1;
}

#endif
