/* Shared by the CPU operations: distribution of a level's cells over threads, and walls. */
#ifndef MG_CPU_H
#define MG_CPU_H

#include "backend/backend.h"
#include "formulas/index.h"
#include "formulas/walls.h"

/** Cells in a block of constant length: one vector. Loops over blocks become a few vector
 *  instructions. Two AVX2 vectors of fv4 at once would need more than the 16 registers. */
#ifdef __AVX512F__
enum { MG_CPU_BLOCK = 64 / sizeof(mg_real_t) };
#else
enum { MG_CPU_BLOCK = 32 / sizeof(mg_real_t) };
#endif

/** Process rows j0 <= j < j1 of plane k of one patch. */
typedef void (*mg_strip_fn)(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg);

/** Call `fn` on all threads, for strips that together cover every row of every patch once.
 *
 *  A thread processes a strip plane by plane, so that a plane is still in cache when the next one
 *  reads it as a neighbor. A strip has at least two rows if the patch does. So a strip at a wall
 *  contains both rows that the wall's ghosts need. All threads share `arg`. */
void mg_cpu_strips(const mg_view_t *v, mg_strip_fn fn, void *arg);

/** Number of threads that mg_cpu_strips uses for a level; 1 if the level is too small. */
int mg_cpu_threads(const mg_view_t *v);

/** Index of the calling thread within mg_cpu_strips. */
int mg_cpu_thread(void);

/** Fill face ghosts of the low and high walls in k, for the 7-point operators. */
void mg_cpu_wall_planes(const mg_view_t *v, mg_vector_t vec);

/** Ghosts of n lines of cells. x points at the cells next to the wall, `in` is the inward stride,
 *  `along` the stride between lines. */
void mg_cpu_wall_line(mg_real_t *x, ptrdiff_t in, int64_t n, ptrdiff_t along, mg_wall_t kind,
                      int order);

/** Fill only the face ghosts of the walls in j next to the strip. */
void mg_cpu_wall_rows(const mg_view_t *v, const mg_patch_t *p, mg_real_t *x, int k, int j0, int j1);

/** Fill face ghosts of the walls in i for rows j0 <= j < j1 of plane k. */
void mg_cpu_wall_ends(const mg_view_t *v, const mg_patch_t *p, mg_real_t *x, int k, int j0, int j1);

/** Residual f - A x of one row into out[0..n), or A x if f is NULL.
 *  @pre ghosts of x are valid */
void mg_cpu_residual_row(const mg_view_t *v, const mg_patch_t *p, const mg_real_t *x,
                         const mg_real_t *f, int j, int k, mg_real_t *out);

/** Fill the wall ghosts of vector x before computing rows of A x.
 *
 *  mg_cpu_residual_prepare fills all of them for fv4, and those in k for the other operators.
 *  mg_cpu_residual_walls adds those in j and i strip by strip. */
void mg_cpu_residual_prepare(const mg_view_t *v, mg_vector_t x);
void mg_cpu_residual_walls(const mg_view_t *v, const mg_patch_t *p, mg_real_t *x, int k, int j0,
                           int j1);

/** A thread's part of a maximum norm, padded to keep threads on separate cache lines. */
typedef struct {
  mg_real_t norm, poison; /* poison: 0, or NaN if a value is not finite */
  double pad[14];
} mg_cpu_partial_norm_t;

/** Raise `largest` to max |x - y| of a row, or max |x| if y is NULL. */
void mg_cpu_norm_of_row(const mg_real_t *x, const mg_real_t *y, int n,
                        mg_cpu_partial_norm_t *largest);

/** The norm over all threads; NaN if any value is not finite. */
double mg_cpu_join_norms(const mg_cpu_partial_norm_t *partial, int threads);

/* Operations on strips, for mg_cpu_strips and mg_cpu_pass, with their arguments. */

typedef struct mg_cpu_step mg_cpu_step_t;
/** A step on rows j0 <= j < j1 of plane k of a patch. */
typedef void mg_cpu_rows_fn(const mg_view_t *v, const mg_patch_t *p, const mg_cpu_step_t *step,
                            int k, int j0, int j1);
/** A single smoother step. */
struct mg_cpu_step {
  mg_update_t u;
  mg_real_t wall[3][2]; /* mg_wall_weight of each side */
  mg_cpu_rows_fn *rows;
};
mg_cpu_step_t mg_cpu_step_of(const mg_view_t *v, const mg_sweep_t *sweep);
void mg_cpu_step_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *step);

/** An interpolation. */
typedef struct {
  const mg_view_t *coarse, *fine; /**< coarse: only between levels of any sizes */
  mg_vector_t src, dst;
  mg_interpolation_t kind;
  bool add;
  mg_real_t *scratch; /**< rows of each thread; free it after use */
  int64_t row_values; /**< length of a scratch row, including padding before its first cell */
} mg_cpu_interpolation_job_t;

/** Formulas of an interpolation along rows. */
typedef struct {
  /** Apply the one of a child's side, -1 or 1, to a row including ghosts; x[0..4] are the rows at
   *  offsets -2..2. */
  void (*combine)(const mg_real_t *const x[5], int side, int n, mg_real_t *restrict out);
  /** Expand a combined row along i into n pairs of children. */
  void (*expand)(const mg_real_t *t, int n, mg_real_t *restrict out, bool add);
} mg_cpu_interpolation_rows_t;

/** A scratch row of the calling thread, 0 to 5. */
mg_real_t *mg_cpu_interpolation_scratch(const mg_cpu_interpolation_job_t *job, int line);

/** @return MG_OK, MG_ERR_MEMORY */
mg_status_t mg_cpu_interpolation_job(const mg_view_t *coarse, mg_vector_t src,
                                     const mg_view_t *fine, mg_vector_t dst,
                                     mg_interpolation_t kind, bool add, int threads,
                                     mg_cpu_interpolation_job_t *job);
void mg_cpu_interpolation_strip(const mg_view_t *coarse, int patch, int k, int j0, int j1,
                                void *job);

/** mg_cpu_residual_row with constant betas; x, f: the row's first cell (constant.c). */
void mg_cpu_constant_residual_row(const mg_view_t *v, const mg_patch_t *p, const mg_real_t *x,
                                  const mg_real_t *f, int j, int k, mg_real_t *out);

/* The entries of the backend table, one file each. */
mg_status_t mg_cpu_set_problem(const mg_view_t *v, const mg_tables_t *tables);
mg_status_t mg_cpu_restrict_faces(const mg_view_t *fine, int d, const mg_view_t *coarse,
                                  mg_vector_t dst, const mg_face_factor_t *factor);
mg_status_t mg_cpu_extend_faces(const mg_view_t *v);
mg_status_t mg_cpu_set_diagonal(const mg_view_t *v, bool l1, double *lambda_max);
mg_status_t mg_cpu_fill_wall_ghosts(const mg_view_t *v, mg_vector_t vec, int order);
mg_status_t mg_cpu_smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region);
mg_status_t mg_cpu_residual(const mg_view_t *v, mg_vector_t dst, mg_vector_t x, mg_vector_t f);
mg_status_t mg_cpu_restrict_cells(const mg_view_t *fine, mg_vector_t src, const mg_view_t *coarse,
                                  mg_vector_t dst);
mg_status_t mg_cpu_interpolate(const mg_view_t *coarse, mg_vector_t src, const mg_view_t *fine,
                               mg_vector_t dst, mg_interpolation_t kind, bool add);
mg_status_t mg_cpu_prepare_copies(const mg_copy_job_t *job, mg_copies_t **out);
void mg_cpu_release_copies(mg_copies_t *copies);
mg_status_t mg_cpu_copy(const mg_copies_t *copies, mg_vector_t src, mg_vector_t dst);
mg_status_t mg_cpu_fill(const mg_view_t *v, mg_vector_t dst, double value);
mg_status_t mg_cpu_combine(const mg_view_t *v, mg_combination_t c, mg_vector_t dst, double alpha,
                           mg_vector_t x, double beta, mg_vector_t y);
mg_status_t mg_cpu_max_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t y, double *norm);
mg_status_t mg_cpu_dot(const mg_view_t *v, mg_vector_t x, mg_vector_t y, mg_sum_t *sum);
extern const struct mg_backend_fused mg_cpu_fused;
#ifndef MG_FLOAT
extern const struct mg_backend_domains mg_cpu_domains;
extern const struct mg_backend_mixed mg_cpu_mixed;
extern const struct mg_backend_arrays mg_cpu_arrays;
#endif

#endif
