/* The guard: a backend for tests. It is the CPU's, on level memory that no other code may access,
 * and emulates what only a device does: fused and resident sweeps, overlap, guesses that are not
 * stored.
 *
 * guard.c and fused.c are compiled twice, like the files of src/cpu. */
#ifndef MG_GUARD_H
#define MG_GUARD_H

#include "backend/arrays.h"
#include "backend/mixed.h"
#include "cpu/pass.h"

#ifdef MG_FLOAT
#define mg_backend_guard      mg_backend_guard_float
#define guard_can_fuse        guard_can_fuse_float
#define guard_can_interpolate guard_can_interpolate_float
#define guard_smooth_fused    guard_smooth_fused_float
#endif

/** The backends of --device=guard, for double and float cells. Slow. */
extern const mg_backend_t mg_backend_guard;
extern const mg_backend_t mg_backend_guard_float;

/** Let --device=guard select them. Call it before options are read. */
void guard_provide(void);

/** Set its paths: those of a GPU, with limits that small tests reach (guard_paths.c). */
void guard_provide_paths(void);

/* guard_memory.c */

/** Entries of the backend table. Memory of a level gets an address that can be neither read nor
 *  written. */
mg_status_t guard_alloc(size_t bytes, mg_space_t space, void **memory);
void guard_release(void *memory, size_t bytes, mg_space_t space);
mg_status_t guard_clear(void *memory, size_t bytes);
/** The accessible address of a value in level memory; any other address is returned unchanged. */
void *guard_open(void *address);

/* fused.c: the oracle of fused sweeps */

/** Use of the residual of fused sweeps: restricted to coarse dst, or if `coarse` is NULL, *norm is
 *  raised to its maximum norm. */
typedef struct {
  const mg_view_t *coarse;
  mg_vector_t dst;
  double *norm;
} guard_residual_t;
/** Interpolated input of fused sweeps: x + P src, or P src if the sweep has no x. */
typedef struct {
  const mg_view_t *coarse;
  mg_vector_t src;
  mg_interpolation_t kind;
} guard_source_t;
bool guard_can_fuse(const mg_view_t *v, int max_steps);
bool guard_can_interpolate(const mg_view_t *v, const mg_view_t *coarse, const mg_sweep_t *sweep);
/** residual, source: may be NULL. */
mg_status_t guard_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                               const guard_residual_t *residual, const guard_source_t *source);

/* guess.c: the oracle of guesses that are not stored */

mg_status_t guard_guess_residual(const mg_view_t *v, const mg_guess_t *guess, mg_vector_t f,
                                 const mg_view_t *low, mg_vector_t dst, double scale);
mg_status_t guard_guess_correct(const mg_view_t *v, mg_vector_t dst, const mg_guess_t *guess,
                                const mg_view_t *low, mg_vector_t e, double scale);

#endif
