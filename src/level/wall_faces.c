#include "level/wall_faces.h"
#include "base/alloc.h"
#include "level/ops.h"
#include <stdlib.h>

/* A double for each face in each part of the memory: */
enum { GIVEN_BETAS, LAID_ASIDE, VALUES, CELLS, N_PARTS };

/* Copies to a part of the memory, or back. */
enum { SAVE, LAY_ASIDE, PUT, RESTORE, N_MOVES };
typedef struct {
  int part;
  bool back;
} move_t;
static const move_t of_betas[N_MOVES] = {[SAVE] = {GIVEN_BETAS, false},
                                         [LAY_ASIDE] = {LAID_ASIDE, false},
                                         [PUT] = {GIVEN_BETAS, true},
                                         [RESTORE] = {LAID_ASIDE, true}};
/* Of the cells next to walls. */
static const move_t of_cells[N_MOVES] = {[SAVE] = {VALUES, false},
                                         [LAY_ASIDE] = {CELLS, false},
                                         [PUT] = {VALUES, true},
                                         [RESTORE] = {CELLS, true}};

struct mg_wall_faces {
  const mg_backend_t *backend;
  void *memory;
  size_t bytes;              /* 0: no faces */
  bool has_betas, has_cells; /* copies are prepared */
  mg_copies_t *betas[N_MOVES][3][2], *cells[N_MOVES][3][2];
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

/* Copies for each side, between a vector and a part of the memory. After a failure, a second call
 * prepares the rest. */
static mg_status_t prepare(const mg_level_t *level, const mg_wall_faces_t *w, const move_t *move,
                           bool cells, mg_copies_t *copies[3][2]) {
  const mg_view_t *v = &level->store.view;
  int64_t first = move->part * count_faces(v);
  mg_copy_t *item;
  mg_status_t status = MG_OK;
  MG_TRY(mg_new(&item, v->n_patches, "copy lists"));
  for (int d = 0; d < 3; d++)
    for (int side = 0; status == MG_OK && side < 2; side++) {
      const int n = list_faces(v, d, side, cells, move->back, item, &first);
      if (n == 0 || copies[d][side]) continue;
      const mg_copy_job_t job = {v, v, w->memory, item, n};
      status = level->backend->prepare_copies(&job, &copies[d][side]);
    }
  free(item);
  return status;
}

static mg_status_t create(mg_hierarchy_t *h) {
  const mg_level_t *level = &h->level[0];
  const size_t bytes = (size_t)count_faces(&level->store.view) * N_PARTS * sizeof(double);
  mg_wall_faces_t *w;
  if (h->wall_faces) return MG_OK;
  MG_TRY(mg_new(&w, 1, "faces on walls"));
  w->backend = level->backend;
  const mg_status_t status =
      bytes > 0 ? level->backend->alloc(bytes, MG_SPACE_LEVEL, &w->memory) : MG_OK;
  if (status != MG_OK) {
    free(w);
    return status;
  }
  w->bytes = bytes;
  h->wall_faces = w;
  return MG_OK;
}

void mg_wall_faces_free(mg_wall_faces_t *w) {
  if (!w) return;
  for (int m = 0; m < N_MOVES; m++)
    for (int d = 0; d < 3; d++)
      for (int side = 0; side < 2; side++) {
        if (w->betas[m][d][side]) w->backend->release_copies(w->betas[m][d][side]);
        if (w->cells[m][d][side]) w->backend->release_copies(w->cells[m][d][side]);
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
    MG_TRY(prepare(level, w, &of_betas[m], false, w->betas[m]));
  w->has_betas = true;
  return move_betas(w, SAVE);
}

mg_status_t mg_wall_betas_lay_aside(const mg_hierarchy_t *h) {
  return move_betas(h->wall_faces, LAY_ASIDE);
}

mg_status_t mg_wall_betas_put_into(const mg_hierarchy_t *h, int d, int side, mg_vector_t vec) {
  const mg_wall_faces_t *w = h->wall_faces;
  if (!w || !w->betas[PUT][d][side]) return MG_OK;
  return w->backend->copy(w->betas[PUT][d][side], vec, vec);
}

mg_status_t mg_wall_betas_put(const mg_hierarchy_t *h) {
  MG_TRY(mg_wall_betas_lay_aside(h));
  return move_betas(h->wall_faces, PUT);
}

mg_status_t mg_wall_betas_restore(const mg_hierarchy_t *h) {
  return move_betas(h->wall_faces, RESTORE);
}

static mg_status_t move_cells(const mg_wall_faces_t *w, int move, int d, int side) {
  if (!w || !w->cells[move][d][side]) return MG_OK;
  return w->backend->copy(w->cells[move][d][side], MG_U, MG_U);
}

mg_status_t mg_wall_values_save(mg_hierarchy_t *h, int d, int side) {
  const mg_level_t *level = &h->level[0];
  if (!level->comm) return MG_OK;
  MG_TRY(create(h));
  mg_wall_faces_t *w = h->wall_faces;
  for (int m = 0; m < N_MOVES && !w->has_cells; m++)
    MG_TRY(prepare(level, w, &of_cells[m], true, w->cells[m]));
  w->has_cells = true;
  return move_cells(w, SAVE, d, side);
}

mg_status_t mg_wall_values_put(const mg_hierarchy_t *h, int d, int side) {
  MG_TRY(move_cells(h->wall_faces, LAY_ASIDE, d, side));
  return move_cells(h->wall_faces, PUT, d, side);
}

mg_status_t mg_wall_values_restore(const mg_hierarchy_t *h, int d, int side) {
  return move_cells(h->wall_faces, RESTORE, d, side);
}
