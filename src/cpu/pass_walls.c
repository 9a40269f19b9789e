/* Ghost values outside walls, row by row as a pass needs them. */
#include "cpu/pass.h"

void mg_cpu_wall_planes_of_rows(const mg_view_t *v, const mg_patch_t *p, mg_real_t *x, int k,
                                int j0, int j1) {
  const int order = mg_wall_order(v, mg_operator_order(v), 2);
  for (int side = 0; side < 2; side++) {
    const mg_wall_t kind = p->wall[2][side];
    if (!kind || k != (side == 0 ? 0 : p->n[2] - 1)) continue;
    const ptrdiff_t in = side == 0 ? p->kstride : -p->kstride;
    for (int j = j0; j < j1; j++)
      mg_cpu_wall_line(x + j * p->jstride + k * p->kstride, in, p->n[0], 1, kind, order);
  }
}

/* A range of rows or planes. */
typedef struct {
  int first, end;
} range_t;

/* Planes whose rows plane k is the first to need. Next to the low wall, the ghosts outside it need
 * four planes at once. */
static range_t new_planes(const mg_patch_t *p, int k) {
  const int last = p->wall[2][1] ? p->n[2] - 1 : p->n[2];
  const bool wall = p->wall[2][0];
  range_t r = {k + 1, k + 2};
  if (k == 0) r = wall ? (range_t){0, 4} : (range_t){-1, 2};
  if (wall && k > 0 && k < 3) r.first = 4;
  if (r.end > last + 1) r.end = last + 1;
  return r;
}

void mg_cpu_new_ghosts(const mg_patch_t *p, int k, int j0, int j1, const mg_cpu_ghost_rows_t *fill,
                       const void *arg) {
  const bool low = j0 == 0 && p->wall[1][0], high = j1 == p->n[1] && p->wall[1][1];
  const range_t planes = new_planes(p, k);
  /* The preceding strip has filled the ghosts of row j0, this one fills those of row j1. */
  range_t rows = {j0 == 0 ? -1 : j0 + 1, j1 + 1};
  range_t ends = {low ? 0 : rows.first, high ? j1 : rows.end};
  if (low && ends.end < 4) ends.end = 4; /* the ghosts outside the low wall need four rows */
  for (int plane = planes.first; plane < planes.end; plane++) {
    for (int j = ends.first; j < ends.end; j++)
      fill->ends(p, arg, j, plane);
    if (low) fill->outside(p, arg, 0, plane, 1, 0);
    if (high) fill->outside(p, arg, p->n[1] - 1, plane, -1, 0);
  }
  for (int j = rows.first; j < rows.end && k == 0 && p->wall[2][0]; j++)
    fill->outside(p, arg, j, 0, 0, 1);
  for (int j = rows.first; j < rows.end && k == p->n[2] - 2 && p->wall[2][1]; j++)
    fill->outside(p, arg, j, p->n[2] - 1, 0, -1);
}

static mg_real_t *row_of(const mg_patch_t *p, const void *x, int j, int k) {
  return *(mg_real_t *const *)x + j * p->jstride + k * p->kstride;
}

static void ends_of_row(const mg_patch_t *p, const void *x, int j, int k) {
  mg_real_t *first = row_of(p, x, j, k);
  if (p->wall[0][0]) mg_cpu_wall_line(first, 1, 1, 0, MG_WALL_DIRICHLET, 4);
  if (p->wall[0][1]) mg_cpu_wall_line(first + p->n[0] - 1, -1, 1, 0, MG_WALL_DIRICHLET, 4);
}

static void outside_row(const mg_patch_t *p, const void *x, int j, int k, int dj, int dk) {
  const ptrdiff_t in = dj * p->jstride + dk * p->kstride;
  mg_cpu_wall_line(row_of(p, x, j, k) - 2, in, p->n[0] + 4, 1, MG_WALL_DIRICHLET, 4);
}

void mg_cpu_new_wall_ghosts(const mg_patch_t *p, mg_real_t *x, int k, int j0, int j1) {
  static const mg_cpu_ghost_rows_t fill = {ends_of_row, outside_row};
  mg_cpu_new_ghosts(p, k, j0, j1, &fill, &x);
}
