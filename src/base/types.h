/* The vocabulary that every layer shares: what is solved and how. */
#ifndef MG_TYPES_H
#define MG_TYPES_H

/** Discretization of -b div(beta grad u). */
typedef enum {
  MG_OPERATOR_FV2, /**< 7-point finite volume, volume-averaged data, 2nd order */
  MG_OPERATOR_FV4, /**< 25-point finite volume, 4th order */
  MG_OPERATOR_7PT  /**< 7-point cell-centred finite difference, point data, 2nd order */
} mg_operator_t;

/** a alpha u - b div(beta grad u) = f; alpha is 1, or the user's. */
typedef enum {
  MG_EQUATION_POISSON,  /**< a = 0, b = 1 */
  MG_EQUATION_HELMHOLTZ /**< a = 1, b = 1 */
} mg_equation_t;

typedef enum { MG_BOUNDARY_DIRICHLET, MG_BOUNDARY_PERIODIC } mg_boundary_t;

typedef enum {
  MG_SMOOTHER_GSRB,      /**< red-black Gauss-Seidel */
  MG_SMOOTHER_CHEBYSHEV, /**< Chebyshev polynomial in Dinv A */
  MG_SMOOTHER_JACOBI,    /**< weighted Jacobi, weight 2/3 */
  MG_SMOOTHER_L1JACOBI,  /**< Jacobi with the l1-scaled diagonal */
  MG_SMOOTHER_SYMGS      /**< the colours of GSRB forward, then backward */
} mg_smoother_t;

/** Steps of a smoother that one pass over memory may make. */
enum { MG_MAX_FUSED_SWEEPS = 3 };

typedef enum { MG_BOTTOM_BICGSTAB, MG_BOTTOM_CG, MG_BOTTOM_SMOOTHER } mg_bottom_t;

typedef enum { MG_CYCLE_F, MG_CYCLE_V } mg_cycle_t;

/** The cycles after the first one: V-cycles, or steps of conjugate gradients around one. */
typedef enum { MG_KRYLOV_NONE, MG_KRYLOV_CG } mg_krylov_method_t;

/** Memory of levels that are not on the CPU. Unified: managed memory that stays on the device, and
 *  the first level on the CPU in memory that both sides reach. Auto is device. */
typedef enum { MG_MEMORY_AUTO, MG_MEMORY_DEVICE, MG_MEMORY_UNIFIED } mg_memory_t;

/** Where the fine levels live. Guard is the CPU's arithmetic on memory that only it may touch;
 *  simple is CUDA with simple kernels. */
typedef enum {
  MG_DEVICE_AUTO,
  MG_DEVICE_CUDA,
  MG_DEVICE_CPU,
  MG_DEVICE_GUARD,
  MG_DEVICE_CUDA_SIMPLE
} mg_device_t;

/** How messages travel between CUDA devices of different ranks. */
typedef enum {
  MG_TRANSPORT_AUTO, /**< what is fastest for each pair */
  MG_TRANSPORT_PEER, /**< stores into the other device's memory, on one host */
  MG_TRANSPORT_NCCL,
  MG_TRANSPORT_MPI,  /**< MPI takes device memory */
  MG_TRANSPORT_HOST, /**< through pinned host memory and MPI */
  MG_N_TRANSPORTS
} mg_transport_t;

/** What can be dumped of a level, as bits of a set: 1 << field. */
typedef enum {
  MG_FIELD_U,
  MG_FIELD_F,
  MG_FIELD_RESIDUAL,
  MG_FIELD_BETA_I,
  MG_FIELD_BETA_J,
  MG_FIELD_BETA_K,
  MG_FIELD_DINV,
  MG_FIELD_ALPHA,
  MG_N_FIELDS
} mg_field_t;

/** Of the fields in a dump. */
typedef enum { MG_PRECISION_DOUBLE, MG_PRECISION_FLOAT } mg_precision_t;

/** Where a dump says that its values stand: in the cells, or as points at their centres. */
typedef enum { MG_CENTERING_CELL, MG_CENTERING_POINT } mg_centering_t;

#endif
