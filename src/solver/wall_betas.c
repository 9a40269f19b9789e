#include "solver/wall_betas.h"
#include "base/alloc.h"
#include "level/ops.h"
#include <stdlib.h>

/* Faces of this rank's patches on walls normal to d, as copies to or from a buffer. */
static int list_faces(const mg_level_t *level, int d, bool saving, mg_copy_t *item,
                      int64_t *doubles) {
  const mg_view_t *v = &level->store.view;
  int n = 0;
  for (int q = 0; q < v->n_patches; q++)
    for (int side = 0; side < 2; side++) {
      const mg_patch_t *p = &v->patch[q];
      if (p->wall[d][side] == MG_WALL_NONE) continue;
      mg_copy_t c = {.src_patch = saving ? q : -1,
                     .dst_patch = saving ? -1 : q,
                     .n = {p->n[0], p->n[1], p->n[2]},
                     .buffer = *doubles};
      c.n[d] = 1;
      (saving ? c.src_lo : c.dst_lo)[d] = side == 0 ? 0 : p->n[d];
      *doubles += mg_volume(c.n);
      if (item) item[n] = c;
      n++;
    }
  return n;
}

/* Copy all faces on walls to the buffer, or back. */
static mg_status_t copy_faces(const mg_level_t *level, bool saving, double *buffer) {
  const mg_view_t *v = &level->store.view;
  int64_t doubles = 0;
  mg_status_t status = MG_OK;
  for (int d = 0; status == MG_OK && d < 3; d++) {
    const mg_vector_t beta = MG_BETA_I + (mg_vector_t)d;
    mg_copy_t *item;
    MG_TRY(mg_new(&item, 2 * (int64_t)v->n_patches, "copy lists"));
    const int n = list_faces(level, d, saving, item, &doubles);
    status = mg_copy_once(level->backend, &(mg_copy_job_t){v, v, buffer, item, n}, beta, beta);
    free(item);
  }
  return status;
}

static mg_status_t allocate(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[0];
  int64_t doubles = 0;
  for (int d = 0; d < 3; d++)
    (void)list_faces(level, d, true, NULL, &doubles);
  h->wall_bytes = (size_t)doubles * sizeof(double);
  for (int s = 0; s < 2; s++) {
    void *memory;
    MG_TRY(level->backend->alloc(h->wall_bytes, MG_SPACE_SHARED, &memory));
    h->wall_beta[s] = memory;
  }
  return MG_OK;
}

mg_status_t mg_wall_betas_save(mg_hierarchy_t *h) {
  if (!h->level[0].comm) return MG_OK;
  if (!h->wall_beta[0]) MG_TRY(allocate(h));
  return copy_faces(&h->level[0], true, h->wall_beta[0]);
}

mg_status_t mg_wall_betas_swap(mg_hierarchy_t *h) {
  double *const saved = h->wall_beta[0];
  if (!h->level[0].comm) return MG_OK;
  MG_TRY(copy_faces(&h->level[0], true, h->wall_beta[1]));
  MG_TRY(copy_faces(&h->level[0], false, saved));
  h->wall_beta[0] = h->wall_beta[1];
  h->wall_beta[1] = saved;
  return MG_OK;
}
