/* Several operations in one pass through the caches (temporal blocking by time skewing). */
#ifndef MG_CPU_PASS_H
#define MG_CPU_PASS_H

#include "backend/sweeps.h"
#include "cpu/cpu.h"

/** The other one of MG_U and MG_TMP. */
MG_INLINE mg_vector_t mg_cpu_other_vector(mg_vector_t vec) {
  return vec == MG_U ? MG_TMP : MG_U;
}

/** Values in the longest row of all patches, rounded up to whole cache lines. */
MG_INLINE int64_t mg_cpu_longest_row(const mg_view_t *v) {
  const int64_t line = 16; /* rows of two threads do not share a cache line */
  int64_t n = line;
  for (int q = 0; q < v->n_patches; q++)
    n = v->patch[q].n[0] > n ? v->patch[q].n[0] : n;
  return (n + line - 1) / line * line;
}

/** An operation on the strips of a level's only patch. */
typedef struct {
  mg_strip_fn fn;
  void *arg;
  const mg_view_t *view; /**< of the strips: the level, also with ghost layers as cells, or its
                              coarsened patch */
  int ratio;             /**< cells of the level per cell of `view`: 1 or 2 */
  int behind;            /**< planes and rows behind the first stage */
  mg_vector_t x;         /**< vector whose ghosts outside walls (7-point operators: in k) are filled
                              for it; < 0: none */
} mg_cpu_stage_t;

/** A view of a level's only patch with ghost layers as cells. */
typedef struct {
  mg_view_t view;
  mg_patch_t patch;
} mg_cpu_grown_t;

/** Turn layers[d] ghost layers of direction d into cells, except outside walls.
 *  @return &grown->view */
const mg_view_t *mg_cpu_grow(const mg_view_t *v, const int layers[3], mg_cpu_grown_t *grown);

/** Rows of a strip of which this number of planes has mg_machine_strip_bytes. */
int mg_cpu_pass_rows(const mg_view_t *v, int planes);

/** Strips of at most this number of rows, the same number for each thread. */
int mg_cpu_strip_count(const mg_view_t *v, int threads, int rows);

/** Run the stages as if one after the other, each on its whole view, on at most `threads` threads.
 *  Strips have about `rows` rows, at least 2. The result does not depend on either number.
 *
 *  A stage that is n planes and rows behind the preceding one reads its results at most n planes
 *  and rows ahead; next to walls, stages of fv4 read four. Stages in place leave the cells
 *  unchanged that other cells of the same or the next stage read: colored steps, or steps that
 *  write the vector of the iterate before last. Only the first stage and the last ones may have
 *  ratio 2; the cells of the level are then even in j and k. */
mg_status_t mg_cpu_pass(const mg_view_t *v, const mg_cpu_stage_t *stage, int n, int threads,
                        int rows);

/** Fill the face ghosts of the walls in k next to rows j0 <= j < j1 of plane k, if the plane is at
 * a wall. */
void mg_cpu_wall_planes_of_rows(const mg_view_t *v, const mg_patch_t *p, mg_real_t *x, int k,
                                int j0, int j1);

/** How mg_cpu_new_ghosts fills ghosts of row j of plane k: those at its ends, if there are walls;
 * and those outside the wall in j or k next to it, with the ghosts at their ends. One step inward
 * is dj, dk. */
typedef struct {
  void (*ends)(const mg_patch_t *p, const void *arg, int j, int k);
  void (*outside)(const mg_patch_t *p, const void *arg, int j, int k, int dj, int dk);
} mg_cpu_ghost_rows_t;

/** fv4: fill the ghosts that rows j0 <= j < j1 of plane k read and that neither earlier planes nor
 *  the preceding strip have filled.
 *  @pre the three following planes and two following rows have their values */
void mg_cpu_new_ghosts(const mg_patch_t *p, int k, int j0, int j1, const mg_cpu_ghost_rows_t *fill,
                       const void *arg);

/** The same for the ghosts of x outside walls. */
void mg_cpu_new_wall_ghosts(const mg_patch_t *p, mg_real_t *x, int k, int j0, int j1);

/** A residual, as a norm or restricted. */
typedef struct {
  mg_vector_t dst, x, f;
  const mg_view_t *fine;
  mg_cpu_partial_norm_t *partial; /**< one per thread */
  mg_real_t *rows;                /**< scratch, `row_values` per thread */
  int64_t row_values;
} mg_cpu_residual_job_t;

/** Prepare a job for this number of threads; coarse = NULL: a norm.
 *  @return MG_OK, MG_ERR_MEMORY */
mg_status_t mg_cpu_residual_job(const mg_view_t *v, mg_vector_t x, mg_vector_t f,
                                const mg_view_t *coarse, mg_vector_t dst, int threads,
                                mg_cpu_residual_job_t *job);
void mg_cpu_residual_job_free(mg_cpu_residual_job_t *job);
void mg_cpu_residual_norm_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *job);
void mg_cpu_residual_restrict_strip(const mg_view_t *coarse, int patch, int k, int j0, int j1,
                                    void *job);

/* The entries of the group `fused`. */
mg_status_t mg_cpu_smooth_resident(const mg_view_t *v, const mg_sweep_t *sweep,
                                   const mg_resident_use_t *use);
int mg_cpu_strip_rows(const mg_view_t *v, const mg_step_t *step, int n);
/** mg_cpu_smooth_resident with strips of about `rows` rows (pass.h). */
mg_status_t mg_cpu_smooth_in_strips(const mg_view_t *v, const mg_sweep_t *sweep,
                                    const mg_resident_use_t *use, int rows);
/** mg_cpu_smooth_in_strips for colored steps of fv4, without interpolation (split.c). A norm of the
 *  residual goes to *norm. */
bool mg_cpu_can_split(const mg_view_t *v);
int mg_cpu_split_planes(int n); /* of n steps, for mg_cpu_pass_rows */
mg_status_t mg_cpu_smooth_split(const mg_view_t *v, const mg_sweep_t *sweep,
                                const mg_resident_use_t *use, int rows, double *norm);
mg_status_t mg_cpu_bound_betas(const mg_view_t *v, mg_beta_bounds_t *bounds);
mg_status_t mg_cpu_constant_rows(mg_view_t *v);
mg_status_t mg_cpu_norm_begin(void);
mg_status_t mg_cpu_norm_end(double *norm);
mg_status_t mg_cpu_residual_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t f, double *norm);
mg_status_t mg_cpu_residual_restrict(const mg_view_t *fine, mg_vector_t x, mg_vector_t f,
                                     const mg_view_t *coarse, mg_vector_t dst);

#endif
