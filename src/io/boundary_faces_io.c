#include "io/boundary_faces_io.h"
#include "base/alloc.h"
#include "level/ops.h"
#include <stdlib.h>
#include <string.h>

/* The two directions within a wall normal to d. */
static int faster_of(int d) {
  return d == 0 ? 1 : 0;
}
static int slower_of(int d) {
  return d == 2 ? 1 : 2;
}

int64_t mg_boundary_faces_size(const int32_t cells[3], int d, int32_t n[2]) {
  n[0] = cells[faster_of(d)];
  n[1] = cells[slower_of(d)];
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

/* This rank's patches at the wall. */
typedef struct {
  const mg_level_t *level;
  mg_vector_t vec;
  bool cells;  /* next to the side, not its faces */
  int side;    /* 0: low */
  int d, t, u; /* direction normal to the wall, and the two within it */
  double *buffer;
  int64_t doubles;
  mg_copy_t *list;
  int n;
} wall_t;

static void list_patches(wall_t *w, bool putting) {
  const mg_view_t *v = &w->level->store.view;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    if (!p->wall[w->d][w->side]) continue;
    mg_copy_t *item = &w->list[w->n++];
    *item = (mg_copy_t){.src_patch = putting ? -1 : q, .dst_patch = putting ? q : -1};
    (putting ? item->dst_lo : item->src_lo)[w->d] =
        w->side == 0 ? 0 : p->n[w->d] - (w->cells ? 1 : 0);
    memcpy(item->n, p->n, sizeof item->n);
    item->n[w->d] = 1;
    item->buffer = w->doubles;
    w->doubles += (int64_t)p->n[w->t] * p->n[w->u];
  }
}

/* Copy between the plane and the buffer, patch by patch. */
static void move_rows(const wall_t *w, double *wall, bool putting) {
  const mg_view_t *v = &w->level->store.view;
  for (int c = 0; c < w->n; c++) {
    const mg_patch_t *p = &v->patch[putting ? w->list[c].dst_patch : w->list[c].src_patch];
    double *dense = w->buffer + w->list[c].buffer;
    const size_t bytes = (size_t)p->n[w->t] * sizeof *dense;
    for (int32_t row = 0; row < p->n[w->u]; row++, dense += p->n[w->t]) {
      double *at = wall + (int64_t)(p->lo[w->u] + row) * v->n[w->t] + p->lo[w->t];
      memcpy(putting ? dense : at, putting ? at : dense, bytes);
    }
  }
}

static mg_status_t copy(const wall_t *w) {
  const mg_view_t *v = &w->level->store.view;
  const mg_copy_job_t job = {v, v, w->buffer, w->list, w->n};
  return mg_copy_once(w->level->backend, &job, w->vec, w->vec);
}

static mg_status_t allocate(wall_t *w, bool putting) {
  void *memory = NULL;
  MG_TRY(mg_new(&w->list, w->level->store.view.n_patches, "boundary faces"));
  list_patches(w, putting);
  if (w->n == 0) return MG_OK;
  MG_TRY(w->level->backend->alloc((size_t)w->doubles * sizeof(double), MG_SPACE_SHARED, &memory));
  w->buffer = memory;
  return MG_OK;
}

static void release(wall_t *w) {
  if (w->buffer)
    w->level->backend->release(w->buffer, (size_t)w->doubles * sizeof(double), MG_SPACE_SHARED);
  free(w->list);
}

/* Sum over ranks: each has its part, and zeros elsewhere. */
static mg_status_t share(double *wall, const int32_t n[2]) {
  for (int32_t row = 0; row < n[1]; row++)
    MG_TRY(mg_comm_sum(mg_comm_world(), wall + (int64_t)row * n[0], n[0]));
  return MG_OK;
}

static mg_status_t run(wall_t w, double *wall, bool putting) {
  int32_t n[2];
  const int64_t faces = mg_boundary_faces_size(w.level->plan->layout.n, w.d, n);
  w.t = faster_of(w.d);
  w.u = slower_of(w.d);
  mg_status_t status = mg_comm_agree(allocate(&w, putting));
  if (status == MG_OK && putting) status = share(wall, n);
  if (status == MG_OK) {
    if (putting)
      move_rows(&w, wall, true);
    else
      memset(wall, 0, (size_t)faces * sizeof *wall);
    status = mg_comm_agree(copy(&w));
  }
  if (status == MG_OK && !putting) {
    move_rows(&w, wall, false);
    status = share(wall, n);
  }
  release(&w);
  return status;
}

mg_status_t mg_boundary_faces_put(const mg_level_t *level, int d, double *wall) {
  return run((wall_t){.level = level, .vec = MG_BETA_I + (mg_vector_t)d, .side = 1, .d = d}, wall,
             true);
}

mg_status_t mg_boundary_faces_get(const mg_level_t *level, int d, double *wall) {
  return run((wall_t){.level = level, .vec = MG_BETA_I + (mg_vector_t)d, .side = 1, .d = d}, wall,
             false);
}

mg_status_t mg_boundary_cells_put(const mg_level_t *level, mg_vector_t vec, int d, int side,
                                  double *wall) {
  return run((wall_t){.level = level, .vec = vec, .cells = true, .side = side, .d = d}, wall, true);
}

mg_status_t mg_boundary_cells_get(const mg_level_t *level, mg_vector_t vec, int d, int side,
                                  double *wall) {
  return run((wall_t){.level = level, .vec = vec, .cells = true, .side = side, .d = d}, wall,
             false);
}
