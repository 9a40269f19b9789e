#include "io/boundary_faces_io.h"
#include "base/alloc.h"
#include "level/ops.h"
#include <stdlib.h>
#include <string.h>

int64_t mg_boundary_faces_size(const int32_t cells[3], int d, int32_t n[2]) {
  n[0] = cells[d == 0 ? 1 : 0];
  n[1] = cells[d == 2 ? 1 : 2];
  return (int64_t)n[0] * n[1];
}

int64_t mg_boundary_faces_max(const mg_level_t *level) {
  int64_t max = 0;
  for (int d = 0; d < 3; d++) {
    int32_t n[2];
    const int64_t faces = mg_boundary_faces_size(level->plan->layout.n, d, n);
    max = faces > max ? faces : max;
  }
  return max;
}

/* Copy between this rank's patches at a side and a plane. */
static mg_status_t copy_patches(const mg_level_t *level, mg_vector_t vec, int d, int side, bool put,
                                double *memory) {
  const mg_view_t *v = &level->store.view;
  const bool cells = vec != MG_BETA_I + (mg_vector_t)d;
  mg_patch_t plane = {.vec = {[MG_U] = memory}};
  mg_copy_t *list;
  int n = 0;
  memcpy(plane.n, level->plan->layout.n, sizeof plane.n);
  plane.n[d] = 1;
  plane.jstride = plane.n[0];
  plane.kstride = plane.jstride * plane.n[1];
  const mg_view_t whole = {.patch = &plane, .n_patches = 1, .cells = mg_volume(plane.n)};
  MG_TRY(mg_new(&list, v->n_patches, "boundary faces"));
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    if (!p->wall[d][side]) continue;
    mg_copy_t *c = &list[n++];
    int32_t *in_patch = put ? c->dst_lo : c->src_lo, *in_plane = put ? c->src_lo : c->dst_lo;
    *(put ? &c->dst_patch : &c->src_patch) = q;
    memcpy(c->n, p->n, sizeof c->n);
    memcpy(in_plane, p->lo, sizeof c->src_lo);
    c->n[d] = 1;
    in_plane[d] = 0;
    in_patch[d] = side == 0 ? 0 : p->n[d] - (cells ? 1 : 0);
  }
  const mg_copy_job_t job = {put ? &whole : v, put ? v : &whole, NULL, list, n};
  const mg_status_t status = mg_copy_once(level->backend, &job, put ? MG_U : vec, put ? vec : MG_U);
  free(list);
  return status;
}

/* Sum over ranks: each has its part, and zeros elsewhere. */
static mg_status_t share(double *wall, const int32_t n[2]) {
  for (int32_t row = 0; row < n[1]; row++)
    MG_TRY(mg_comm_sum(mg_comm_world(), wall + (int64_t)row * n[0], n[0]));
  return MG_OK;
}

mg_status_t mg_boundary_move(const mg_level_t *level, mg_vector_t vec, int d, int side, bool put,
                             double *wall) {
  int32_t n[2];
  void *memory = NULL;
  const size_t bytes = (size_t)mg_boundary_faces_size(level->plan->layout.n, d, n) * sizeof *wall;
  mg_status_t status = mg_comm_agree(level->backend->alloc(bytes, MG_SPACE_SHARED, &memory));
  if (status == MG_OK && put) status = share(wall, n);
  if (status == MG_OK) {
    if (put) memcpy(memory, wall, bytes);
    if (!put) memset(memory, 0, bytes);
    status = mg_comm_agree(copy_patches(level, vec, d, side, put, memory));
  }
  if (status == MG_OK && !put) {
    memcpy(wall, memory, bytes);
    status = share(wall, n);
  }
  if (memory) level->backend->release(memory, bytes, MG_SPACE_SHARED);
  return status;
}
