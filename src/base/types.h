/* Enums that every layer shares: problem, solver and run options. */
#ifndef MG_TYPES_H
#define MG_TYPES_H

#include "base/operators.h"
#include <stdbool.h>
#include <stdint.h>

/** a alpha u - b div(beta grad u) = f; alpha is 1 unless read from a file. */
typedef enum {
  MG_EQUATION_POISSON,  /**< a = 0, b = 1 */
  MG_EQUATION_HELMHOLTZ /**< a = 1, b = 1 */
} mg_equation_t;

/** beta of a problem without files. */
typedef enum { MG_BETA_BUILT_IN, MG_BETA_ONE } mg_beta_t;

/** Kind of a side of the domain or of a patch; see formulas/walls.h. One byte, because kernels take
 *  all sides as arguments. */
typedef uint8_t mg_wall_t;
enum {
  MG_WALL_NONE = 0,  /**< no wall: other cells, or a periodic side */
  MG_WALL_DIRICHLET, /**< u = 0 on the wall */
  MG_WALL_NEUMANN,   /**< no flux through the wall; 7-point operators only */
  MG_N_TUNED_WALLS,  /**< later kinds run the simple kernels of GPUs, which use mg_ghost */
  MG_N_WALLS = MG_N_TUNED_WALLS /**< --boundary has a word for each (params_domains.c) */
};

/** A side of the domain. On a wall: `u` * u + `flux` * beta du/dn = `value`, with the outward
 * normal n. Dirichlet: flux = 0; Neumann: u = 0; Robin: both are positive, and the side is a
 * Neumann wall whose cells have another alpha. Periodic: MG_WALL_NONE, and all numbers are 0. */
typedef struct {
  double u, flux, value;
  mg_wall_t wall;
  bool varies; /**< the value differs from face to face: it is from a file or a library's caller */
} mg_side_t;

typedef enum {
  MG_SMOOTHER_GSRB,      /**< red-black Gauss-Seidel */
  MG_SMOOTHER_CHEBYSHEV, /**< Chebyshev polynomial in Dinv A */
  MG_SMOOTHER_JACOBI,    /**< weighted Jacobi, weight 2/3 */
  MG_SMOOTHER_L1JACOBI,  /**< Jacobi with the l1-scaled diagonal */
  MG_SMOOTHER_SYMGS,     /**< the colors of GSRB forward, then backward */
  MG_SMOOTHER_SSOR,      /**< the same, over-relaxed */
  MG_SMOOTHER_CHEBYSHEV4 /**< Chebyshev polynomial of the fourth kind in Dinv A */
} mg_smoother_t;

/** Does a smoother have a --degree, and need the largest eigenvalue? */
static inline bool mg_is_polynomial(mg_smoother_t smoother) {
  return smoother == MG_SMOOTHER_CHEBYSHEV || smoother == MG_SMOOTHER_CHEBYSHEV4;
}

typedef enum { MG_BOTTOM_BICGSTAB, MG_BOTTOM_SMOOTHER, MG_BOTTOM_DIRECT } mg_bottom_t;
enum { MG_DIRECT_MAX_CELLS = 343 }; /**< 7^3, as many as CPUs multiply in the time of a cycle */

typedef enum { MG_CYCLE_F, MG_CYCLE_V } mg_cycle_t;

/** What a launch can use on the GPU of any rank. */
typedef struct {
  int sms;          /**< SMs, all at the same time; 0 if ranks share a GPU */
  int shared_bytes; /**< shared memory of a block */
  int l2_bytes;     /**< L2 cache */
} mg_gpu_t;

/** What chooses smoother, cycle and Krylov method: options, or the problem (solver/method.h). */
typedef enum { MG_METHOD_OPTIONS, MG_METHOD_AUTO } mg_method_t;

/** Cycles after the first: V-cycles, or CG steps, each preconditioned with a V-cycle, or with a
 *  K-cycle, which takes two CG steps on coarse levels too; or halves of iterations of BiCGStab,
 * each preconditioned with a V-cycle. */
typedef enum {
  MG_KRYLOV_NONE,
  MG_KRYLOV_CG,
  MG_KRYLOV_KCYCLE,
  MG_KRYLOV_BICGSTAB
} mg_krylov_method_t;

/** Memory of the levels on a GPU. Auto means device.
 *
 *  Unified: managed memory that stays on the GPU. The first level on the CPU then lives in memory
 *  that CPU and GPU both access. */
typedef enum { MG_MEMORY_AUTO, MG_MEMORY_DEVICE, MG_MEMORY_UNIFIED } mg_memory_t;

/** Where the fine levels live. For tests: CUDA_SIMPLE runs CUDA with the simple kernels. GUARD
 *  (tests/guard/) runs the CPU code on memory that no other code may access; the program and the
 *  library lack it. */
typedef enum {
  MG_DEVICE_AUTO,
  MG_DEVICE_CUDA,
  MG_DEVICE_CPU,
  MG_DEVICE_CUDA_SIMPLE,
  MG_DEVICE_GUARD
} mg_device_t;

/** Transport of messages between the GPUs of different ranks. */
typedef enum {
  MG_TRANSPORT_AUTO, /**< the fastest for each pair of ranks */
  MG_TRANSPORT_PEER, /**< direct stores into the other GPU's memory, within a host */
  MG_TRANSPORT_NCCL,
  MG_TRANSPORT_MPI,  /**< MPI with GPU buffers */
  MG_TRANSPORT_HOST, /**< through pinned host memory and MPI */
  MG_N_TRANSPORTS
} mg_transport_t;

/** Fields of a level that a dump can hold; sets use the bits 1 << field. */
typedef enum {
  MG_FIELD_U,
  MG_FIELD_F,
  MG_FIELD_RESIDUAL,
  MG_FIELD_BETA_I,
  MG_FIELD_BETA_J,
  MG_FIELD_BETA_K,
  MG_FIELD_DINV,
  MG_FIELD_ALPHA,
  MG_FIELD_MASK, /**< 0: outside of the problem, 1: solved, 2: u is given; of level 0 */
  MG_N_FIELDS
} mg_field_t;

/** An option that is on, off, or decided by the program. */
typedef enum { MG_NO, MG_YES, MG_AUTO } mg_choice_t;

/** Precision class of the solver (docs/algorithm.md, "Mixed precision"). */
typedef enum {
  MG_CLASS_DOUBLE, /**< everything in double: the original benchmark's rules */
  MG_CLASS_MIXED   /**< u, f, betas and residuals of the levels where solves start in double; the
                      cycles that compute corrections in float */
} mg_precision_class_t;

/** Precision of the values in a dump. */
typedef enum { MG_PRECISION_DOUBLE, MG_PRECISION_FLOAT } mg_precision_t;

/** Location of a dump's values: cell data, or point data at the cell centers. */
typedef enum { MG_CENTERING_CELL, MG_CENTERING_POINT } mg_centering_t;

#endif
