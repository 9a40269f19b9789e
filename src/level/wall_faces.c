#include "level/wall_faces.h"
#include "base/alloc.h"
#include "level/ops.h"
#include <stdlib.h>

/* A double for each face in each part of the memory: */
enum { GIVEN_BETAS, LAID_ASIDE, VALUES, N_PARTS };

/* What is copied to the memory, or back. */
enum { SAVE, LAY_ASIDE, PUT, RESTORE, N_MOVES };
static const struct {
  int part;
  bool back;
} moves[N_MOVES] = {[SAVE] = {GIVEN_BETAS, false},
                    [LAY_ASIDE] = {LAID_ASIDE, false},
                    [PUT] = {GIVEN_BETAS, true},
                    [RESTORE] = {LAID_ASIDE, true}};

struct mg_wall_faces {
  const mg_backend_t *backend;
  void *memory;
  size_t bytes;               /* 0: no faces */
  bool has_betas, has_values; /* copies are prepared */
  mg_copies_t *betas[N_MOVES][3][2];
  mg_copies_t *values[2][3][2]; /* from the level, and back */
};

/* List this rank's faces on a side as copies of betas, or of the cells next to them; count them if
 * there is no list. `first` is the number of the first face. */
static int list_faces(const mg_view_t *v, int d, int side, bool cells, bool back, mg_copy_t *item,
                      int64_t *first) {
  int n = 0;
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    if (p->wall[d][side] == MG_WALL_NONE) continue;
    mg_copy_t c = {.src_patch = back ? -1 : q,
                   .dst_patch = back ? q : -1,
                   .n = {p->n[0], p->n[1], p->n[2]},
                   .buffer = *first};
    c.n[d] = 1;
    (back ? c.dst_lo : c.src_lo)[d] = side == 0 ? 0 : p->n[d] - cells;
    *first += mg_volume(c.n);
    if (item) item[n] = c;
    n++;
  }
  return n;
}

static int64_t count_faces(const mg_view_t *v) {
  int64_t faces = 0;
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++)
      (void)list_faces(v, d, side, false, false, NULL, &faces);
  return faces;
}

/* Copies for each side, between a vector and a part of the memory. */
static mg_status_t prepare(const mg_level_t *level, const mg_wall_faces_t *w, int part, bool back,
                           mg_copies_t *copies[3][2]) {
  const mg_view_t *v = &level->store.view;
  int64_t first = part * count_faces(v);
  mg_copy_t *item;
  mg_status_t status = MG_OK;
  MG_TRY(mg_new(&item, v->n_patches, "copy lists"));
  for (int d = 0; d < 3; d++)
    for (int side = 0; status == MG_OK && side < 2; side++) {
      const int n = list_faces(v, d, side, part == VALUES, back, item, &first);
      if (n == 0) continue;
      const mg_copy_job_t job = {v, v, w->memory, item, n};
      status = level->backend->prepare_copies(&job, &copies[d][side]);
    }
  free(item);
  return status;
}

static mg_status_t create(mg_hierarchy_t *h) {
  const mg_level_t *level = &h->level[0];
  if (h->wall_faces) return MG_OK;
  MG_TRY(mg_new(&h->wall_faces, 1, "faces on walls"));
  mg_wall_faces_t *w = h->wall_faces;
  w->backend = level->backend;
  const size_t bytes = (size_t)count_faces(&level->store.view) * N_PARTS * sizeof(double);
  if (bytes == 0) return MG_OK;
  MG_TRY(level->backend->alloc(bytes, MG_SPACE_LEVEL, &w->memory));
  w->bytes = bytes;
  return MG_OK;
}

void mg_wall_faces_free(mg_wall_faces_t *w) {
  if (!w) return;
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) {
      for (int m = 0; m < N_MOVES; m++)
        if (w->betas[m][d][side]) w->backend->release_copies(w->betas[m][d][side]);
      for (int back = 0; back < 2; back++)
        if (w->values[back][d][side]) w->backend->release_copies(w->values[back][d][side]);
    }
  if (w->bytes > 0) w->backend->release(w->memory, w->bytes, MG_SPACE_LEVEL);
  free(w);
}

static mg_status_t move_betas(const mg_wall_faces_t *w, int move) {
  for (int d = 0; w && d < 3; d++)
    for (int side = 0; side < 2; side++) {
      const mg_vector_t beta = MG_BETA_I + (mg_vector_t)d;
      if (!w->betas[move][d][side]) continue;
      MG_TRY(w->backend->copy(w->betas[move][d][side], beta, beta));
    }
  return MG_OK;
}

mg_status_t mg_wall_betas_save(mg_hierarchy_t *h) {
  const mg_level_t *level = &h->level[0];
  if (!level->comm) return MG_OK;
  MG_TRY(create(h));
  mg_wall_faces_t *w = h->wall_faces;
  for (int m = 0; m < N_MOVES && !w->has_betas; m++)
    MG_TRY(prepare(level, w, moves[m].part, moves[m].back, w->betas[m]));
  w->has_betas = true;
  return move_betas(w, SAVE);
}

mg_status_t mg_wall_betas_put(const mg_hierarchy_t *h) {
  MG_TRY(move_betas(h->wall_faces, LAY_ASIDE));
  return move_betas(h->wall_faces, PUT);
}

mg_status_t mg_wall_betas_restore(const mg_hierarchy_t *h) {
  return move_betas(h->wall_faces, RESTORE);
}

mg_status_t mg_wall_values_save(mg_hierarchy_t *h, int d, int side) {
  const mg_level_t *level = &h->level[0];
  if (!level->comm) return MG_OK;
  MG_TRY(create(h));
  mg_wall_faces_t *w = h->wall_faces;
  for (int back = 0; back < 2 && !w->has_values; back++)
    MG_TRY(prepare(level, w, VALUES, back == 1, w->values[back]));
  w->has_values = true;
  return w->values[0][d][side] ? w->backend->copy(w->values[0][d][side], MG_U, MG_U) : MG_OK;
}

mg_status_t mg_wall_values_put(const mg_hierarchy_t *h, int d, int side) {
  const mg_wall_faces_t *w = h->wall_faces;
  if (!w || !w->values[1][d][side]) return MG_OK;
  return w->backend->copy(w->values[1][d][side], MG_U, MG_U);
}
