/* Several operations in one pass over memory, and computation beside messages. */
#ifndef MG_BACKEND_SWEEPS_H
#define MG_BACKEND_SWEEPS_H

#include "backend/backend.h"
#include "formulas/index.h"
#include "formulas/sweeps.h"
#include <math.h>

/** Messages beside computation, for a backend with a queue. */
typedef struct mg_backend_overlap {
  /** A second stream for entries that only enqueue. `stream_fork` starts it at the current point
   *  of the first stream and directs subsequent entries to it. `stream_switch` directs them to the
   *  other of the two streams. `stream_join` directs them to the first stream, which continues
   *  after both have finished. */
  mg_status_t (*stream_fork)(void);
  void (*stream_switch)(void);
  mg_status_t (*stream_join)(void);
  /** Whether `smooth` of n steps can and should process INTERIOR and BOUNDARY separately, so that
   *  the interior overlaps with messages. INTERIOR reads no halo ghosts. The two regions together
   *  equal MG_REGION_ALL. They may be enqueued in either order and on two streams.
   *  @param[in] host  messages are carried by the host and use no SMs */
  bool (*sweep_overlaps)(const mg_view_t *v, int n, bool host);
  /** Whether a sweep of n steps can and should process INTERIOR_FIRST, after an exchange by a
   * kernel (MG_BY_ONE_KERNEL). NULL: never. */
  bool (*interior_first)(const mg_view_t *v, int n);
} mg_backend_overlap_t;

/** Where a face normal to direction d is, by its index: 1, 2 on the domain's low or high side, 0
 *  inside. */
MG_INLINE int mg_place_of_face(const mg_patch_t *p, int d, int at) {
  return p->wall[d][0] && at == 0 ? 1 : p->wall[d][1] && at == p->n[d] ? 2 : 0;
}

/** Index of the patch's first face at a place; -1: it has none. */
MG_INLINE int mg_first_face_at(const mg_patch_t *p, int d, int place) {
  const int first = place == 1 ? 0 : place == 2 ? p->n[d] : p->wall[d][0] ? 1 : 0;
  return mg_place_of_face(p, d, first) == place ? first : -1;
}

/** Largest and least beta of the faces normal to each direction at each place (mg_place_of_face),
 *  the least one with the opposite sign. -INFINITY: no such faces. */
typedef struct {
  double most[3][3], minus_least[3][3];
} mg_beta_bounds_t;

static inline mg_beta_bounds_t mg_no_bounds(void) {
  mg_beta_bounds_t b;
  for (int n = 0; n < 9; n++)
    b.most[n / 3][n % 3] = b.minus_least[n / 3][n % 3] = -INFINITY;
  return b;
}

static inline void mg_bound_beta(mg_beta_bounds_t *bounds, int d, int place, double beta) {
  bounds->most[d][place] = fmax(bounds->most[d][place], beta);
  bounds->minus_least[d][place] = fmax(bounds->minus_least[d][place], -beta);
}

/** What a resident smooth does besides its steps. level/smooth.h also uses it for a smooth of
 * several sweeps: the first one interpolates, the last one has the residual. */
typedef struct {
  /** Its first iterate is x + P src, or P src if the sweep has no x. P: formula `kind`, P0, P1 or
   *  V2. The operation computes the coarse ghosts outside walls and may write them; other ghosts of
   *  src need not be valid. NULL: no interpolation. */
  const mg_view_t *source;
  mg_vector_t src;
  mg_interpolation_t kind;
  /** As smooth_residual does: restrict the residual of the result to vector dst of `coarse`, or if
   *  `coarse` is NULL raise the norm. */
  bool has_residual;
  const mg_view_t *coarse;
  mg_vector_t dst;
} mg_resident_use_t;

/** Several operations in one pass over memory. Each entry is optional by itself. */
typedef struct mg_backend_fused {
  /** All n steps of a smooth as one operation that keeps the level in the processor, or on a CPU
   *  the part of it that is in use, with dst = x, or x < 0. Steps on all cells may also write the
   *  other one of MG_U and MG_TMP. The steps satisfy mg_steps_fuse. It also does what `use` says.
   *  With walls on all sides it reads no ghosts of the level. Otherwise n + 1 ghost layers of x,
   * and n of MG_F, the coefficients and MG_DINV, must be valid, and one layer of dst is valid then.
   *  Needs norm_begin and norm_end. */
  mg_status_t (*smooth_resident)(const mg_view_t *v, const mg_sweep_t *sweep,
                                 const mg_resident_use_t *use);
  /** Rows of the strips in which smooth_resident passes through a level with n steps, for reports.
   *  NULL: it has no strips. */
  int (*strip_rows)(const mg_view_t *v, const mg_step_t *step, int n);
  /** Report whether `interpolate` of this kind computes the ghosts outside walls of the coarse
   *  level itself, so that `fill_wall_ghosts` need not be called before it. */
  bool (*folds_walls)(const mg_view_t *coarse, mg_interpolation_t kind);
  /** Raise the bounds by the betas of this rank; of levels without it, betas are not
   * known to be constant. If those of a patch are not constant
   *  (mg_constant_betas_t), some bounds become INFINITY instead. */
  mg_status_t (*bound_betas)(const mg_view_t *v, mg_beta_bounds_t *bounds);
  /** Prepare operations with the view's constant betas, if alpha is constant too and Dinv is not
   *  l1-scaled. NULL: nothing to prepare.
   *  @return MG_OK, MG_ERR_MEMORY */
  mg_status_t (*constant_rows)(mg_view_t *v);
  /** max |f - A x| without storing it. */
  mg_status_t (*residual_norm)(const mg_view_t *v, mg_vector_t x, mg_vector_t f, double *norm);
  /** coarse dst = mean of the 8 children of f - A x, without storing the residual. */
  mg_status_t (*residual_restrict)(const mg_view_t *fine, mg_vector_t x, mg_vector_t f,
                                   const mg_view_t *coarse, mg_vector_t dst);
  /** `smooth` of n > 1 steps that also uses the residual of its result: coarse dst = mean of its 8
   *  children, or if `coarse` is NULL its maximum norm, which norm_end returns. norm_begin clears
   *  the maximum, which has memory of its own: any other operations may come between. All ghosts
   *  that the sweep reads are needed one layer deeper. Needs norm_begin and norm_end. */
  mg_status_t (*smooth_residual)(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                                 const mg_view_t *coarse, mg_vector_t dst);
  mg_status_t (*norm_begin)(void);
  mg_status_t (*norm_end)(double *norm);
  /** `smooth` of n > 1 steps whose first iterate is x + P src instead of x, or P src alone if the
   *  sweep has no x; it has no `previous`. P: formula `kind`, P0, P1 or V2, from the coarsened
   *  patches. The entry computes the coarse ghosts outside walls and may write them; of all others,
   *  mg_coarse_layers_of_steps layers must be valid. Ghosts of x are those before the correction.
   *  can_interpolate_smooth reports whether it can smooth the views so. Both entries or none. */
  bool (*can_interpolate_smooth)(const mg_view_t *v, const mg_view_t *coarse, const mg_sweep_t *s);
  mg_status_t (*interpolate_smooth)(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                                    const mg_view_t *coarse, mg_vector_t src,
                                    mg_interpolation_t kind);
  /** A whole Krylov solve of the coarsest level as in bottom.h, if the plan says so (path.h).
   *  @param[in] reduction  stop at this reduction of the maximum norm of the residual */
  mg_status_t (*bottom)(const mg_view_t *v, mg_bottom_t method, bool zero_guess, int max_iterations,
                        double reduction);
} mg_backend_fused_t;

#endif
