#include "solver/solids_parts.h"
#include "base/alloc.h"
#include "level/ops.h"
#include <stdlib.h>
#include <string.h>

mg_status_t mg_part_number(mg_level_t *level, mg_part_t *part) {
  const mg_view_t *v = &level->store.view;
  *part = (mg_part_t){.level = level};
  MG_TRY(mg_new(&part->first, v->n_patches, "numbers of cells"));
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    part->first[q].cell = part->n_cells;
    part->n_cells += mg_volume(p->n);
  }
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++) {
      const mg_patch_t *p = &v->patch[q];
      const int64_t plane = mg_volume(p->n) / p->n[d];
      part->first[q].face[d] = part->n_faces[d];
      part->n_faces[d] += plane * (p->n[d] + 1);
      for (int side = 0; side < 2; side++) {
        const bool wall = p->wall[d][side] != MG_WALL_NONE;
        part->first[q].ghost[d][side] = wall ? -1 : part->n_cells + part->n_ghosts;
        if (!wall) part->n_ghosts += plane;
      }
    }
  return MG_OK;
}

/* The cuboids of a patch; returns their number. */
static int list_patch(const mg_part_t *part, int q, int what, bool back, mg_copy_t *item) {
  const mg_patch_t *p = &part->level->store.view.patch[q];
  const mg_copy_t all = {.src_patch = back ? -1 : q,
                         .dst_patch = back ? q : -1,
                         .n = {p->n[0], p->n[1], p->n[2]},
                         .buffer = part->first[q].cell};
  int n = 0;
  if (what != MG_PART_GHOSTS) item[n++] = all;
  if (what >= MG_PART_FACES) item[0].n[what - MG_PART_FACES]++;
  if (what >= MG_PART_FACES) item[0].buffer = part->first[q].face[what - MG_PART_FACES];
  for (int s = 0; what == MG_PART_GHOSTS && s < 6; s++) {
    const int d = s / 2, side = s % 2;
    if (part->first[q].ghost[d][side] < 0) continue;
    item[n] = all;
    item[n].n[d] = 1;
    item[n].src_lo[d] = side == 0 ? -1 : p->n[d];
    item[n++].buffer = part->first[q].ghost[d][side];
  }
  return n;
}

static mg_status_t copy_part(mg_solids_t *s, const mg_part_t *part, int what, bool back,
                             mg_vector_t vec) {
  const mg_level_t *level = part->level;
  const mg_view_t *v = &level->store.view;
  mg_copy_t *item;
  int n = 0;
  if (part->n_cells == 0) return MG_OK;
  MG_TRY(mg_new(&item, 6 * (int64_t)v->n_patches, "copy lists"));
  for (int q = 0; q < v->n_patches; q++)
    n += list_patch(part, q, what, back, item + n);
  const mg_copy_job_t job = {v, v, s->memory, item, n};
  const mg_status_t status = mg_copy_once(level->backend, &job, vec, vec);
  free(item);
  return status;
}

mg_status_t mg_part_read(mg_solids_t *s, const mg_part_t *part, int what, mg_vector_t vec) {
  return copy_part(s, part, what, false, vec);
}

mg_status_t mg_part_write(mg_solids_t *s, const mg_part_t *part, int what, mg_vector_t vec) {
  return copy_part(s, part, what, true, vec);
}

mg_status_t mg_solids_read_with_ghosts(mg_solids_t *s, double *values) {
  const mg_part_t *p = &s->part;
  MG_TRY(mg_halo(p->level, MG_U, false));
  MG_TRY(mg_part_read(s, p, MG_PART_CELLS, MG_U));
  MG_TRY(mg_part_read(s, p, MG_PART_GHOSTS, MG_U));
  memcpy(values, s->memory, (size_t)(p->n_cells + p->n_ghosts) * sizeof *values);
  return MG_OK;
}

double mg_part_get(const mg_solids_t *s, const mg_part_t *part, int64_t at) {
  return part->level->backend->value_bytes == sizeof(float) ? (double)((const float *)s->memory)[at]
                                                            : ((const double *)s->memory)[at];
}
void mg_part_put(mg_solids_t *s, const mg_part_t *part, int64_t at, double x) {
  if (part->level->backend->value_bytes == sizeof(float))
    ((float *)s->memory)[at] = (float)x;
  else
    ((double *)s->memory)[at] = x;
}
