/* Transfers between levels of any sizes (formulas/transfer.h). Patches correspond one to one. */
#include "cpu/children.h"
#include "formulas/transfer.h"

typedef struct {
  const mg_view_t *fine;
  mg_vector_t src, dst;
} restriction_t;

static void restrict_strip(const mg_view_t *coarse, int patch, int k, int j0, int j1, void *arg) {
  const restriction_t *job = arg;
  const mg_patch_t *p = &job->fine->patch[patch], *c = &coarse->patch[patch];
  const mg_real_t weight = mg_child_weight(job->fine->n, coarse->n);
  const mg_children_t in_k = mg_children(job->fine, p, c, 2, k);
  for (int j = j0; j < j1; j++) {
    const mg_children_t in_j = mg_children(job->fine, p, c, 1, j);
    const mg_real_t *x = mg_cell(p, job->src, 0, in_j.first, in_k.first);
    mg_real_t *out = mg_cell(c, job->dst, 0, j, k);
    for (int i = 0; i < c->n[0]; i++) {
      const mg_children_t in_i = mg_children(job->fine, p, c, 0, i);
      out[i] =
          weight * mg_sum_children(x + in_i.first, p->jstride, p->kstride, in_i.n, in_j.n, in_k.n);
    }
  }
}

void mg_cpu_restrict_children(const mg_view_t *fine, mg_vector_t src, const mg_view_t *coarse,
                              mg_vector_t dst) {
  restriction_t job = {.fine = fine, .src = src, .dst = dst};
  mg_cpu_strips(coarse, restrict_strip, &job);
}

void mg_cpu_restrict_any_faces(const mg_view_t *fine, int d, const mg_view_t *coarse,
                               mg_vector_t dst, const mg_face_factor_t *factor) {
  for (int q = 0; q < fine->n_patches; q++) {
    const mg_patch_t *p = &fine->patch[q], *c = &coarse->patch[q];
    const int n[3] = {c->n[0] + (d == 0), c->n[1] + (d == 1), c->n[2] + (d == 2)};
#pragma omp parallel for num_threads(mg_cpu_threads(coarse)) if (mg_cpu_threads(coarse) > 1)
    for (int k = 0; k < n[2]; k++)
      for (int j = 0; j < n[1]; j++)
        for (int i = 0; i < n[0]; i++)
          *mg_cell(c, dst, i, j, k) =
              mg_restrict_face(fine, p, c, d, (const int[3]){i, j, k}, factor);
  }
}

enum { LINES = 5 };

/* Combine three rows with their ghosts next to the patch, at a child's side of the middle one. */
static const mg_real_t *combine_side(mg_interpolation_t kind, const mg_real_t *const x[3], int side,
                                     int n, mg_real_t *restrict out) {
  if (side == 0) return x[1];
  const mg_real_t *const lines[LINES] = {x[0], x[0], x[1], x[2], x[2]};
  mg_cpu_interpolation_rows(kind).combine(lines, side, n, out);
  return out;
}

/* Set cells [i0, i1) of a fine row, which are single or pairs, from a row of the coarse patch. */
static void expand_any(const mg_cpu_interpolation_job_t *job, const mg_real_t *t, int i0, int i1,
                       bool pairs, mg_real_t *out) {
  const int n = pairs ? (i1 - i0) / 2 : 0;
  if (n > 0) mg_cpu_interpolation_rows(job->kind).expand(t, n, out + i0, job->add);
  for (int i = i0 + 2 * n; i < i1; i++) { /* in the place of a coarse cell */
    const mg_real_t value = t[i - i0 - n];
    out[i] = job->add ? out[i] + value : value;
  }
}

static int clamp(int x, int low, int high) {
  return x < low ? low : x > high ? high : x;
}

static void expand_row(const mg_cpu_interpolation_job_t *job, const mg_patch_t *p,
                       const mg_patch_t *c, const mg_real_t *t, mg_real_t *out) {
  const mg_singles_t *s = &job->fine->single[0];
  int at = 0;
  for (int r = 0; at < p->n[0]; r++) {
    const int begin = r < 2 ? clamp(s->begin[r] - p->lo[0], at, p->n[0]) : p->n[0],
              end = r < 2 ? clamp(s->end[r] - p->lo[0], begin, p->n[0]) : p->n[0];
    expand_any(job, t + mg_parent(s, p->lo[0] + at) - c->lo[0], at, begin, true, out);
    expand_any(job, t + mg_parent(s, p->lo[0] + begin) - c->lo[0], begin, end, false, out);
    at = end;
  }
}

/* Interpolate to a strip of the fine level. */
static void interpolate_strip(const mg_view_t *fine, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_interpolation_job_t *job = arg;
  const mg_patch_t *p = &fine->patch[patch], *c = &job->coarse->patch[patch];
  const mg_singles_t *in_j = &fine->single[1], *in_k = &fine->single[2];
  const bool p0 = job->kind == MG_INTERPOLATE_P0;
  const int32_t k_all = p->lo[2] + k;
  const int side_k = p0 ? 0 : mg_child_side(in_k, fine->n[2], k_all);
  /* P0 reads and writes none of these rows. */
  mg_real_t *mine[LINES + 1] = {NULL};
  for (int line = 0; !p0 && line <= LINES; line++)
    mine[line] = mg_cpu_interpolation_scratch(job, line);
  for (int j = j0; j < j1; j++) {
    const int32_t j_all = p->lo[1] + j;
    const int side_j = p0 ? 0 : mg_child_side(in_j, fine->n[1], j_all), reach = side_j ? 1 : 0;
    const mg_real_t *const x = mg_cell(c, job->src, 0, mg_parent(in_j, j_all) - c->lo[1],
                                       mg_parent(in_k, k_all) - c->lo[2]),
                           *rows[3] = {NULL};
    for (int dj = -reach; dj <= reach; dj++) {
      const mg_real_t *const at = x + dj * c->jstride, *const planes[3] = {at - c->kstride, at,
                                                                           at + c->kstride};
      rows[dj + 1] = combine_side(job->kind, planes, side_k, c->n[0], mine[dj + 1]);
    }
    const mg_real_t *t = combine_side(job->kind, rows, side_j, c->n[0], mine[LINES]);
    expand_row(job, p, c, t, mg_cell(p, job->dst, 0, j, k));
  }
}

void mg_cpu_interpolate_children(const mg_view_t *fine, mg_cpu_interpolation_job_t *job) {
  mg_cpu_strips(fine, interpolate_strip, job);
}
