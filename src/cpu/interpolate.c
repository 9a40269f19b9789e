/* Interpolation from the coarsened patches: tensor products, in k first, then j, then i.
 *
 * Bytes per fine cell: 17 with correction (u read and written, 1/8 of a coarse cell), 9 without. */
#include "base/alloc.h"
#include "cpu/children.h"
#include "wings.h"
#include <stdlib.h>

enum { REACH = 2, LINES = 2 * REACH + 1, PAD = 16 };

/* The formulas in one direction, of the coarse values at offsets -2 to 2. */
#define P0(a, b, c, d, e, side) (c)
#define P1(a, b, c, d, e, side) mg_interpolate_p1(b, c, d, side)
#define V2(a, b, c, d, e, side) mg_interpolate_v2(b, c, d, side)
#define P2(a, b, c, d, e, side) mg_interpolate_p2(b, c, d, side)
#define V4(a, b, c, d, e, side) mg_interpolate_v4(a, b, c, d, e, side)
#define FOR_ALL(what)           what(P0) what(P1) what(V2) what(P2) what(V4)

#define COMBINE(kind)                                                                              \
  static void combine_##kind(const mg_real_t *const x[LINES], int side, int n,                     \
                             mg_real_t *restrict out) {                                            \
    (void)side; /* P0 */                                                                           \
    _Pragma("omp simd") for (int i = -REACH; i < n + REACH; i++) out[i] =                          \
        kind(x[0][i], x[1][i], x[2][i], x[3][i], x[4][i], side);                                   \
  }
FOR_ALL(COMBINE)

#define CHILD(kind, side) kind(t[i - 2], t[i - 1], t[i], t[i + 1], t[i + 2], side)
#define EXPAND(kind)                                                                               \
  static void expand_##kind(const mg_real_t *t, int n, mg_real_t *restrict out, bool add) {        \
    if (add) {                                                                                     \
      _Pragma("omp simd") for (int i = 0; i < n; i++) {                                            \
        out[2 * i] += CHILD(kind, -1);                                                             \
        out[2 * i + 1] += CHILD(kind, 1);                                                          \
      }                                                                                            \
    } else {                                                                                       \
      _Pragma("omp simd") for (int i = 0; i < n; i++) {                                            \
        out[2 * i] = CHILD(kind, -1);                                                              \
        out[2 * i + 1] = CHILD(kind, 1);                                                           \
      }                                                                                            \
    }                                                                                              \
  }
FOR_ALL(EXPAND)

#define ROW(kind) [MG_INTERPOLATE_##kind] = {combine_##kind, expand_##kind},
static const mg_cpu_interpolation_rows_t formulas[] = {FOR_ALL(ROW)};

mg_cpu_interpolation_rows_t mg_cpu_interpolation_rows(mg_interpolation_t kind) {
  return formulas[kind];
}

mg_real_t *mg_cpu_interpolation_scratch(const mg_cpu_interpolation_job_t *job, int line) {
  return job->scratch + (mg_cpu_thread() * (LINES + 1) + line) * job->row_values + PAD;
}

static void inject_strip(const mg_view_t *coarse, int patch, int k, int j0, int j1,
                         const mg_cpu_interpolation_job_t *job) {
  const mg_patch_t *p = &job->fine->patch[patch], *c = &coarse->patch[patch];
  for (int j = j0; j < j1; j++)
    for (int child = 0; child < 4; child++)
      formulas[MG_INTERPOLATE_P0].expand(
          mg_cell(c, job->src, 0, j, k), c->n[0],
          mg_cell(p, job->dst, 0, 2 * j + (child & 1), 2 * k + (child >> 1)), job->add);
}

/* Combine row j of planes k - reach to k + reach. */
static void combine_in_k(const mg_cpu_interpolation_job_t *job, const mg_patch_t *c, int j, int k,
                         int reach, int side_k, mg_real_t *out) {
  const mg_real_t *x[LINES];
  for (int dk = -REACH; dk <= REACH; dk++) {
    const int reached = dk < -reach ? -reach : dk > reach ? reach : dk;
    x[dk + REACH] = mg_cell(c, job->src, 0, j, k + reached);
  }
  formulas[job->kind].combine(x, 2 * side_k - 1, c->n[0], out);
}

void mg_cpu_interpolation_strip(const mg_view_t *coarse, int patch, int k, int j0, int j1,
                                void *arg) {
  const mg_cpu_interpolation_job_t *job = arg;
  if (job->kind == MG_INTERPOLATE_P0) {
    inject_strip(coarse, patch, k, j0, j1, job);
    return;
  }
  const mg_patch_t *p = &job->fine->patch[patch], *c = &coarse->patch[patch];
  /* Read only `reach` cells past the patch: p1 and v2 have a single ghost layer. */
  const int reach = job->kind == MG_INTERPOLATE_V4 ? 2 : 1;
  mg_real_t *across_jk = mg_cpu_interpolation_scratch(job, LINES);
  for (int side_k = 0; side_k < 2; side_k++) {
    /* Rows j - reach to j + reach, combined in k. From row to row, each moves down by one. */
    mg_real_t *across_k[LINES];
    for (int r = 0; r < LINES; r++)
      across_k[r] = mg_cpu_interpolation_scratch(job, r);
    for (int j = j0 - reach + 1; j <= j0 + reach; j++)
      combine_in_k(job, c, j - 1, k, reach, side_k, across_k[REACH + j - j0]);
    for (int j = j0; j < j1; j++) {
      mg_real_t *const lowest = across_k[REACH - reach];
      for (int r = REACH - reach; r < REACH + reach; r++)
        across_k[r] = across_k[r + 1];
      across_k[REACH + reach] = lowest;
      combine_in_k(job, c, j + reach, k, reach, side_k, lowest);
      for (int side_j = 0; side_j < 2; side_j++) {
        const mg_real_t *const x[LINES] = {across_k[0], across_k[1], across_k[2], across_k[3],
                                           across_k[4]};
        formulas[job->kind].combine(x, 2 * side_j - 1, c->n[0], across_jk);
        formulas[job->kind].expand(
            across_jk, c->n[0], mg_cell(p, job->dst, 0, 2 * j + side_j, 2 * k + side_k), job->add);
      }
    }
  }
}

mg_status_t mg_cpu_interpolation_job(const mg_view_t *coarse, mg_vector_t src,
                                     const mg_view_t *fine, mg_vector_t dst,
                                     mg_interpolation_t kind, bool add, int threads,
                                     mg_cpu_interpolation_job_t *job) {
  *job =
      (mg_cpu_interpolation_job_t){.fine = fine, .src = src, .dst = dst, .kind = kind, .add = add};
  if (kind == MG_INTERPOLATE_P0) return MG_OK;
  for (int q = 0; q < coarse->n_patches; q++)
    if (coarse->patch[q].n[0] + 2 * PAD > job->row_values)
      job->row_values = coarse->patch[q].n[0] + 2 * PAD;
  return mg_new(&job->scratch, threads * (LINES + 1) * job->row_values, "interpolation rows");
}

mg_status_t mg_cpu_interpolate(const mg_view_t *coarse, mg_vector_t src, const mg_view_t *fine,
                               mg_vector_t dst, mg_interpolation_t kind, bool add) {
  const bool halves = mg_doubles(fine->n, coarse->n);
  const int threads = mg_cpu_threads(halves ? coarse : fine);
  mg_cpu_interpolation_job_t job;
  MG_TRY(mg_cpu_interpolation_job(coarse, src, fine, dst, kind, add, threads, &job));
  job.coarse = coarse;
  if (halves) mg_cpu_strips(coarse, mg_cpu_interpolation_strip, &job);
  MG_IF_DOMAINS(if (!halves) mg_cpu_interpolate_children(fine, &job));
  free(job.scratch);
  return MG_OK;
}
