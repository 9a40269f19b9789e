#include "level/wall_faces.h"
#include "base/alloc.h"
#include "level/ops.h"
#include <stdlib.h>
#include <string.h>

/* A double for each face in each part of the memory: betas and values of conditions as they were
 * given, and what betas and cells next to walls were before. */
enum { GIVEN, LAID_ASIDE, N_PARTS };
enum { BETAS, CELLS, N_KINDS };

/* Copies to a part of the memory, or back. */
enum { SAVE, LAY_ASIDE, PUT, RESTORE, N_MOVES };
static int part_of(int move) {
  return move == SAVE || move == PUT ? GIVEN : LAID_ASIDE;
}
static bool is_back(int move) {
  return move >= PUT;
}

struct mg_wall_faces {
  const mg_backend_t *backend;
  void *memory;
  size_t bytes;                                /* 0: no faces */
  bool has[N_KINDS];                           /* copies are prepared */
  mg_copies_t *copies[N_KINDS][N_MOVES][3][2]; /* NULL: no faces of this rank */
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
static mg_status_t prepare(const mg_level_t *level, mg_wall_faces_t *w, int kind, int move) {
  const mg_view_t *v = &level->store.view;
  int64_t first = (kind * N_PARTS + part_of(move)) * count_faces(v);
  mg_copy_t *item;
  mg_status_t status = MG_OK;
  MG_TRY(mg_new(&item, v->n_patches, "copy lists"));
  for (int d = 0; d < 3; d++)
    for (int side = 0; status == MG_OK && side < 2; side++) {
      mg_copies_t **copies = &w->copies[kind][move][d][side];
      const int n = list_faces(v, d, side, kind == CELLS, is_back(move), item, &first);
      if (n == 0 || *copies) continue;
      const mg_copy_job_t job = {v, v, w->memory, item, n};
      status = level->backend->prepare_copies(&job, copies);
    }
  free(item);
  return status;
}

static mg_status_t create(mg_hierarchy_t *h) {
  const mg_level_t *level = &h->level[0];
  const size_t bytes = (size_t)count_faces(&level->store.view) * N_KINDS * N_PARTS * sizeof(double);
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

void mg_wall_faces_forget_copies(mg_wall_faces_t *w) {
  if (!w) return;
  mg_copies_t **const copies = &w->copies[0][0][0][0];
  for (size_t c = 0; c < sizeof w->copies / sizeof *copies; c++) {
    if (copies[c]) w->backend->release_copies(copies[c]);
    copies[c] = NULL;
  }
  memset(w->has, 0, sizeof w->has);
}

void mg_wall_faces_free(mg_wall_faces_t *w) {
  if (!w) return;
  mg_wall_faces_forget_copies(w);
  if (w->bytes > 0) w->backend->release(w->memory, w->bytes, MG_SPACE_LEVEL);
  free(w);
}

static mg_status_t move_side(const mg_hierarchy_t *h, int kind, int move, int d, int side,
                             mg_vector_t vec) {
  const mg_wall_faces_t *w = h->wall_faces;
  if (!w || !w->copies[kind][move][d][side]) return MG_OK;
  return w->backend->copy(w->copies[kind][move][d][side], vec, vec);
}

static mg_status_t move_betas(const mg_hierarchy_t *h, int move) {
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++)
      MG_TRY(move_side(h, BETAS, move, d, side, MG_BETA_I + (mg_vector_t)d));
  return MG_OK;
}

static mg_status_t prepare_all(mg_hierarchy_t *h, int kind) {
  const mg_level_t *level = &h->level[0];
  if (!level->comm) return MG_OK;
  MG_TRY(create(h));
  for (int m = 0; m < N_MOVES && !h->wall_faces->has[kind]; m++)
    MG_TRY(prepare(level, h->wall_faces, kind, m));
  h->wall_faces->has[kind] = true;
  return MG_OK;
}

mg_status_t mg_wall_betas_save(mg_hierarchy_t *h) {
  MG_TRY(prepare_all(h, BETAS));
  return move_betas(h, SAVE);
}

mg_status_t mg_wall_betas_lay_aside(const mg_hierarchy_t *h) {
  return move_betas(h, LAY_ASIDE);
}

mg_status_t mg_wall_betas_put_into(const mg_hierarchy_t *h, int d, int side, mg_vector_t vec) {
  return move_side(h, BETAS, PUT, d, side, vec);
}

mg_status_t mg_wall_betas_put(const mg_hierarchy_t *h) {
  MG_TRY(move_betas(h, LAY_ASIDE));
  return move_betas(h, PUT);
}

mg_status_t mg_wall_betas_restore(const mg_hierarchy_t *h) {
  return move_betas(h, RESTORE);
}

mg_status_t mg_wall_values_save(mg_hierarchy_t *h, int d, int side) {
  MG_TRY(prepare_all(h, CELLS));
  return move_side(h, CELLS, SAVE, d, side, MG_U);
}

mg_status_t mg_wall_values_put(const mg_hierarchy_t *h, int d, int side) {
  MG_TRY(move_side(h, CELLS, LAY_ASIDE, d, side, MG_U));
  return move_side(h, CELLS, PUT, d, side, MG_U);
}

mg_status_t mg_wall_values_restore(const mg_hierarchy_t *h, int d, int side) {
  return move_side(h, CELLS, RESTORE, d, side, MG_U);
}
