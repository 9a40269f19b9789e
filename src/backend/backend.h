/* Backend interface: one table of whole-level operations per kind of processor.
 *
 * Entries are required, or belong to a group that a backend may lack: ops.c then composes the
 * operation from required entries, and the composition is its test oracle. A backend has all
 * entries of a group or none, unless the group says otherwise. Every entry works on the patches of
 * one rank. No entry sends messages, prints, or depends on other levels. */
#ifndef MG_BACKEND_H
#define MG_BACKEND_H

#include "backend/device.h"
#include "base/sum.h"
#include "formulas/smoother.h"
#include "formulas/view.h"
#include "plan/path.h"
#include <stddef.h>

/** Kind of memory. */
typedef enum {
  MG_SPACE_LEVEL,   /**< accessed by the backend's operations only */
  MG_SPACE_MANAGED, /**< as LEVEL, but CUDA managed memory, which stays on the device */
  MG_SPACE_SHARED   /**< accessed by host code too: message buffers, the first level on the CPU */
} mg_space_t;

/** Region of a level. INTERIOR: cells whose stencil reads no ghost filled by copies or messages
 *  (a backend may choose fewer). BOUNDARY: all other cells. INTERIOR_FIRST: all cells; the interior
 *  while the exchange that was enqueued just before still runs (mg_exchange_halo). */
typedef enum {
  MG_REGION_INTERIOR,
  MG_REGION_BOUNDARY,
  MG_REGION_ALL,
  MG_REGION_INTERIOR_FIRST
} mg_region_t;

/** The built-in problem in direction d of the unit cube: n[d] + 1 values at faces, n[d] in cells.
 */
typedef struct {
  bool constant;                /**< beta = 1 */
  const double *face[3];        /**< positions of the faces */
  const double *center[3];      /**< and of the centers */
  double beta_scale[3];         /**< mg_beta_scale */
  const double *beta_face[3];   /**< sin(2 pi x) at faces */
  const double *beta_center[3]; /**< sin(2 pi x) at cell centers */
  const double *f[3];           /**< factor of the right-hand side at cell centers */
  const double *f_xx[3];        /**< second derivative of f, times (h[d] / h[0])^2 */
} mg_tables_t;

/** List of copies between the patches of two views, or between a view and a buffer that operations
 *  access. The buffer may be NULL if no item refers to it. */
typedef struct {
  const mg_view_t *src, *dst;
  mg_real_t *buffer;
  const mg_copy_t *item;
  int n;
} mg_copy_job_t;

/** Prepared copy list, in a backend-specific form. */
typedef struct mg_copies mg_copies_t;

/** For restrict_faces between levels of any sizes (formulas/transfer.h). */
typedef struct mg_face_factor mg_face_factor_t;

/** x + alpha; alpha x + beta y, or alpha x if y < 0; x y. */
typedef enum { MG_SHIFT, MG_AXPBY, MG_MULTIPLY } mg_combination_t;

/** For a backend whose entries only enqueue; zero if entries return when they have finished. */
typedef struct {
  /** Wait until all enqueued operations have completed. Host code calls it before it accesses
   *  shared memory. */
  mg_status_t (*wait)(void);
  /** Record an event after all operations enqueued so far, and wait for that event while later
   *  operations continue. One event at a time. Like `wait`, event_wait fails if a message is lost.
   */
  mg_status_t (*event_record)(void);
  mg_status_t (*event_wait)(void);
  /** x += (mean - sum(x weight) / n) scale, for the n cells of a level, all on this rank. The
   * result is that of dot, and shift or axpby, but the host need not wait for the sum.
   *  @param[in] weight, scale  vectors, or MG_NO_VECTOR for ones */
  mg_status_t (*set_mean)(const mg_view_t *v, mg_vector_t x, mg_vector_t weight, mg_vector_t scale,
                          double mean);
} mg_backend_queue_t;

typedef struct mg_backend {
  const char *name;
  int value_bytes; /**< sizeof(mg_real_t) of the levels that the table works on: 8 or 4 */

  /** Allocate zeroed memory. The caller keeps `bytes` for release.
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t (*alloc)(size_t bytes, mg_space_t space, void **memory);
  void (*release)(void *memory, size_t bytes, mg_space_t space);
  /** Set memory to zero that has another owner, and that operations access. */
  mg_status_t (*clear)(void *memory, size_t bytes);

  /** Fill f and the face betas of every cell, including the faces at index n that close the
   *  patch, without the factors of level/metric.h. */
  mg_status_t (*set_problem)(const mg_view_t *v, const mg_tables_t *tables);
  /** Restrict MG_BETA_I + d of the fine patches to vector `dst` of the coarse patches, for faces
   *  0..n in direction d. Coarse patch p is the coarsened fine patch p.
   *  @param[in] factor  for mg_restrict_face, of each coarse face in direction d; NULL: each coarse
   *      face has 4 fine ones, whose mean is its beta */
  mg_status_t (*restrict_faces)(const mg_view_t *fine, int d, const mg_view_t *coarse,
                                mg_vector_t dst, const mg_face_factor_t *factor);
  /** fv4: extend the betas one layer outside the walls, in the tangential directions. */
  mg_status_t (*extend_faces)(const mg_view_t *v);
  /** Fill MG_DINV, if the level stores it. lambda_max is the local maximum of the Gershgorin bound
   * of Dinv A.
   *  @param[in] l1  fill the l1-scaled diagonal instead; lambda_max is still that of Dinv A */
  mg_status_t (*set_diagonal)(const mg_view_t *v, bool l1, double *lambda_max);

  /** Fill the ghosts outside the walls; edges and corners as tensor products.
   *  @param[in] order  1, 2 or 4; lower where boxes are narrower than the formula */
  mg_status_t (*fill_wall_ghosts)(const mg_view_t *v, mg_vector_t vec, int order);

  /** Apply the steps of a sweep, with right-hand side MG_F, to a region of the level.
   *
   *  A single step (n = 1) is in place (x == dst) if it is colored and the operator has 7 points,
   *  otherwise out of place; `previous` is then dst. x < 0 stands for a zero vector that is not
   *  stored: the first smooth on a coarse level neither fills nor reads its guess. Halo ghosts of
   *  x must be valid. The backend handles the walls itself and may write the ghosts of x.
   *  n > 1 (temporal blocking) only as the level's path allows (path.h), regions other than
   *  MG_REGION_ALL only as sweep_overlaps and interior_first allow. Fused steps are out of place:
   *  neither dst nor previous_out may be x or previous. Outside the walls, mg_layers_of_steps ghost
   *  layers of x must be valid, one less of the betas, and n - 1 of previous, MG_F, MG_ALPHA and,
   *  for fv4, MG_DINV. */
  mg_status_t (*smooth)(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region);
  /** dst = f - A x; f < 0 means dst = A x. Ghosts of x as for smooth. */
  mg_status_t (*residual)(const mg_view_t *v, mg_vector_t dst, mg_vector_t x, mg_vector_t f);

  /** Mean of the 8 children. Coarse patch p is the coarsened fine patch p. */
  mg_status_t (*restrict_cells)(const mg_view_t *fine, mg_vector_t src, const mg_view_t *coarse,
                                mg_vector_t dst);
  /** fine dst = (add ? dst : 0) + P coarse src. All ghosts of src must be valid (none for P0). */
  mg_status_t (*interpolate)(const mg_view_t *coarse, mg_vector_t src, const mg_view_t *fine,
                             mg_vector_t dst, mg_interpolation_t kind, bool add);
  /** Prepare a list of cuboid copies that is run many times.
   *
   *  @param[in] job   views and copies; the views must outlive the result, the list need not
   *  @param[out] out  argument of `copy`; free with release_copies
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t (*prepare_copies)(const mg_copy_job_t *job, mg_copies_t **out);
  void (*release_copies)(mg_copies_t *copies);
  /** Copy the cuboids of a list from vector src to vector dst. */
  mg_status_t (*copy)(const mg_copies_t *copies, mg_vector_t src, mg_vector_t dst);

  /** dst = value, including ghosts. */
  mg_status_t (*fill)(const mg_view_t *v, mg_vector_t dst, double value);
  /** Set dst to a combination of x and y, cell by cell. */
  mg_status_t (*combine)(const mg_view_t *v, mg_combination_t c, mg_vector_t dst, double alpha,
                         mg_vector_t x, double beta, mg_vector_t y);

  /** max |x - y| over the cells of this rank; y < 0: max |x|. NaN if any cell is not finite. */
  mg_status_t (*max_norm)(const mg_view_t *v, mg_vector_t x, mg_vector_t y, double *norm);
  /** Add the sum of x y over the cells of this rank to `sum`; y < 0: the sum of x. See sum.h for
   *  the order of summation. */
  mg_status_t (*dot)(const mg_view_t *v, mg_vector_t x, mg_vector_t y, mg_sum_t *sum);

  /* ---- optional groups, zero or NULL in a backend that lacks them ---- */
  mg_backend_queue_t queue;
  const struct mg_backend_overlap *overlap; /**< backend/sweeps.h */
  const struct mg_backend_fused *fused;     /**< backend/sweeps.h */
  const struct mg_backend_profile *profile; /**< backend/event_timers.h */
  const mg_backend_device_t *device;        /**< in all tables of GPUs */
  const struct mg_backend_coarse *coarse;   /**< backend/cycles.h */
  const struct mg_backend_graph *graph;     /**< backend/cycles.h */
  const struct mg_backend_domains *domains; /**< backend/domains.h; only in tables for double */
  const struct mg_backend_mixed *mixed;     /**< backend/mixed.h; only in tables for double */
  const struct mg_backend_arrays *arrays;   /**< backend/arrays.h; in all tables for double */
  const struct mg_backend_peer *peer;       /**< backend/peer.h; only in tables for double */
  const struct mg_backend_p2p *p2p;         /**< backend/p2p.h */
} mg_backend_t;

/** The CPU: OpenMP over planes and rows, SIMD along i. The same for float cells. */
extern const mg_backend_t mg_backend_cpu;
extern const mg_backend_t mg_backend_cpu_float;

/** CUDA devices; only in builds with HAVE_CUDA. */
extern const mg_backend_t mg_backend_cuda;
extern const mg_backend_t mg_backend_cuda_float;

/** CUDA devices with single-step kernels and no fused entries: the oracle of mg_backend_cuda. */
extern const mg_backend_t mg_backend_cuda_simple;
extern const mg_backend_t mg_backend_cuda_simple_float;

#endif
