/* Copies of cuboids of cells, for halo exchange, packing and gathering. */
#include "base/alloc.h"
#include "cpu/cpu.h"
#include <stdlib.h>
#include <string.h>

/* One side of a copy: a patch's vector, or a contiguous part of the buffer. */
typedef struct {
  mg_real_t *at;
  int64_t jstride, kstride;
} side_t;

static side_t side_of(const mg_view_t *v, mg_vector_t vec, int32_t patch, const int32_t lo[3],
                      const int32_t n[3], mg_real_t *buffer) {
  if (patch < 0) return (side_t){buffer, n[0], (int64_t)n[0] * n[1]};
  const mg_patch_t *p = &v->patch[patch];
  return (side_t){mg_cell(p, vec, lo[0], lo[1], lo[2]), p->jstride, p->kstride};
}

static void copy_rows(const mg_copy_t *c, side_t src, side_t dst, int k) {
  for (int j = 0; j < c->n[1]; j++) {
    const mg_real_t *from = src.at + j * src.jstride + k * src.kstride;
    mg_real_t *to = dst.at + j * dst.jstride + k * dst.kstride;
    if (c->n[0] <= 4)
      for (int i = 0; i < c->n[0]; i++)
        to[i] = from[i];
    else
      memcpy(to, from, (size_t)c->n[0] * sizeof *to);
  }
}

struct mg_copies {
  const mg_view_t *src, *dst;
  mg_real_t *buffer;
  int n;
  mg_copy_t item[];
};

mg_status_t mg_cpu_prepare_copies(const mg_copy_job_t *job, mg_copies_t **out) {
  char *memory;
  *out = NULL;
  MG_TRY(mg_new(&memory, (int64_t)(sizeof(mg_copies_t) + (size_t)job->n * sizeof(mg_copy_t)),
                "copy lists"));
  mg_copies_t *c = *out = (void *)memory;
  c->src = job->src;
  c->dst = job->dst;
  c->buffer = job->buffer;
  c->n = job->n;
  if (job->n > 0) memcpy(c->item, job->item, (size_t)job->n * sizeof *c->item);
  return MG_OK;
}

void mg_cpu_release_copies(mg_copies_t *copies) {
  free(copies);
}

mg_status_t mg_cpu_copy(const mg_copies_t *copies, mg_vector_t src, mg_vector_t dst) {
  for (int l = 0; l < copies->n; l++) {
    const mg_copy_t *c = &copies->item[l];
    mg_real_t *dense = copies->buffer ? copies->buffer + c->buffer : NULL;
    const side_t from = side_of(copies->src, src, c->src_patch, c->src_lo, c->n, dense);
    const side_t to = side_of(copies->dst, dst, c->dst_patch, c->dst_lo, c->n, dense);
#pragma omp parallel for num_threads(mg_cpu_threads(copies->src)) if (c->n[2] > 16)
    for (int k = 0; k < c->n[2]; k++)
      copy_rows(c, from, to, k);
  }
  return MG_OK;
}
