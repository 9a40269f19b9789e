/* What cycles and solves call of the wings: coarse cycles (coarse_cycle.c), the inverse of the
 * coarsest level (direct.c), graphs (graph.c), Krylov methods (krylov.c), and mixed precision
 * (mixed.c). */
#ifndef MG_CYCLE_WINGS_H
#define MG_CYCLE_WINGS_H

#include "formulas/arrays.h"
#include "level/level.h"

/* The coarse cycle runs the coarsest levels in one call, if the plan says so (plan/path.h). */

/** Create hierarchy->coarse_cycle, if the plan has one.
 *
 *  Not collective: ranks without cells of these levels have no coarse cycle.
 *  @pre the smoother steps are set; call again if they change
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_coarse_cycle_prepare(mg_hierarchy_t *hierarchy);

/** Run it from level l down: a backend's cycle (backend/cycles.h). */
MG_MUST_CHECK mg_status_t mg_coarse_cycle_run(mg_hierarchy_t *h, int l, mg_cycle_t cycle,
                                              bool zero_guess);

/* --bottom=direct (direct.c). */

/** Compute the inverse of A of the coarsest level for its current coefficients, if the parameters
 *  say so. If A is singular, u has mean 0, and the mean of MG_F is ignored. In each part that
 * closed faces separate and that is singular by itself, u is 0 in one cell.
 *
 *  Collective over the world. Each rank of the level computes all of it.
 *  @return MG_OK, MG_ERR_USAGE (too many cells, or another operator), MG_ERR_MEMORY, MG_ERR_DEVICE,
 * MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_direct_set(mg_hierarchy_t *h);

/** MG_U = inverse of A times MG_F, or from MG_U, the same with their residual. Collective over the
 *  level's ranks; only enqueued if the plan says so (path.h), otherwise composed by the host, with
 *  the same bits. */
MG_MUST_CHECK mg_status_t mg_direct_solve(mg_level_t *level, bool zero_guess);

/* Whole cycles as graphs, launched in one call each. */

/** Capture the cycles of solves from level `top`, so that mg_solve launches each as one graph.
 *
 *  Does nothing if the backend has no graphs, or if a cycle needs the host: for messages, for
 * levels on the CPU, or for a bottom solve of several launches. Allocates; the solves do not.
 * Collective over the world: all ranks capture, or none does.
 *  @pre mg_problem_set has been called, and is not called again without another capture
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_graph_capture(mg_hierarchy_t *h, int top);

MG_MUST_CHECK mg_status_t mg_graph_launch(const mg_hierarchy_t *h, int top, mg_cycle_kind_t kind);

/** Drop the captured graphs, because values baked into them (such as smoother weights) have
 *  changed. */
void mg_graphs_free(mg_hierarchy_t *h);

/* --krylov (krylov.c). */

struct mg_solve; /* solve_parts.h */

/** Before a solve: K-cycles if --krylov says so, and the degree of the smoothers (method.h).
 *  @return as mg_method_adapt */
MG_MUST_CHECK mg_status_t mg_krylov_begin(mg_hierarchy_t *h);

/** The cycles of a solve after the plain ones: steps of CG or BiCGStab. */
MG_MUST_CHECK mg_status_t mg_krylov_cycles(const struct mg_solve *s);

/** Run cycles n to n_cycles - 1 of a solve again, until a level has diverged (mg_cycle_run). */
MG_MUST_CHECK mg_status_t mg_krylov_repeat(mg_hierarchy_t *h, int top, int n, int n_cycles,
                                           int *diverged);

/** Two CG steps on level l, each preconditioned with a cycle from this level on. */
MG_MUST_CHECK mg_status_t mg_krylov_k_cycle(mg_hierarchy_t *h, int l, int *diverged);

/* Cycles in mixed precision. */

/** mg_cycle_by_operations of a hierarchy in mixed precision (mixed.c).
 *  @pre kind NEXT: mg_mixed_residual has been called since u last changed */
MG_MUST_CHECK mg_status_t mg_mixed_cycle(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind,
                                         int *diverged);

/** Check that float cells hold 1 / width^2 of all levels.
 *  @return MG_OK, MG_ERR_USAGE, the same on every rank */
MG_MUST_CHECK mg_status_t mg_mixed_check_widths(const mg_hierarchy_t *h);
/** Values of a beta or alpha, without factors, that float cells surely hold.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_mixed_range(const mg_hierarchy_t *h, mg_vector_t vec,
                                         mg_range_t *range);
/** Check that float cells hold the coefficients of all levels, unless the library has checked its
 *  arrays, round those of the finest level, and derive the range of max |f|. Collective over the
 *  world.
 *  @return MG_OK, MG_ERR_USAGE, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_mixed_lower_coefficients(mg_hierarchy_t *h);
/** Check max |f|, which all ranks have.
 *  @return MG_OK, MG_ERR_USAGE */
MG_MUST_CHECK mg_status_t mg_mixed_check_rhs(const mg_hierarchy_t *h, double f_norm);

/** Whether this kind of cycle in mixed precision also computes the norm of its residual, on the
 *  device. The same on all ranks that hold cells of the level; false on others. */
bool mg_mixed_ends_with_norm(const mg_hierarchy_t *h, int top, mg_cycle_kind_t kind);

/** The norm of mg_cycle_run in mixed precision. If later cycles may follow, the residual becomes
 * the right-hand side of the next one, as by mg_mixed_residual. */
MG_MUST_CHECK mg_status_t mg_mixed_residual_norm(mg_hierarchy_t *h, int top, mg_cycle_kind_t kind,
                                                 double *norm);

/** Make the residual of level `top` the right-hand side of the next cycle in mixed precision.
 *  Overwrites MG_F of the float level. Collective over the level; other ranks return at once.
 *  @param[out] norm  max |f - A u|, on the level's ranks; NULL: not needed */
MG_MUST_CHECK mg_status_t mg_mixed_residual(mg_hierarchy_t *h, int top, double *norm);

/* constants.c */

/** Find whether the betas of level l are constant, if the backend has kernels for that. If they are
 *  no longer the arguments of captured kernels, smoothers are to be set again. Collective over the
 *  level. */
MG_MUST_CHECK mg_status_t mg_find_constants(mg_hierarchy_t *h, int l);

#endif
