#include "io/boundary_faces_io.h"
#include "backend/arrays.h"
#include "formulas/index.h"
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
  const mg_backend_t *backend = level->backend;
  ptrdiff_t stride[3] = {0}, plane_cells = 1;
  for (int e = 0; e < 3; e++)
    if (e != d) stride[e] = plane_cells, plane_cells *= level->plan->layout.n[e];
  const bool cells = vec != MG_BETA_I + (mg_vector_t)d;
  for (int q = 0; q < level->store.view.n_patches; q++) {
    const mg_patch_t *p = &level->store.view.patch[q];
    int32_t at[3] = {0}, part[3] = {p->n[0], p->n[1], p->n[2]};
    if (!p->wall[d][side]) continue;
    part[d] = 1;
    at[d] = side == 0 ? 0 : p->n[d] - (cells ? 1 : 0);
    mg_strided_t patch = {mg_cell(p, vec, at[0], at[1], at[2]), {1, p->jstride, p->kstride}},
                 plane = {memory, {stride[0], stride[1], stride[2]}};
    for (int e = 0; e < 3; e++)
      plane.x += p->lo[e] * stride[e];
    MG_TRY(backend->arrays->copy(part, put ? &plane : &patch, put ? &patch : &plane));
  }
  return backend->queue.wait ? backend->queue.wait() : MG_OK;
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
