/* Ghost values outside walls, from the interior cells next to them.
 *
 * The 7-point operators read only face ghosts, one layer. The kernels fill these strip by strip,
 * while the cells are in cache. Interpolation and fv4 also read edges and corners.
 * mg_cpu_fill_wall_ghosts fills all ghosts, one direction after the other, so edges and corners
 * become tensor products of the formulas. */
#include "cpu/cpu.h"

/* Lines along a row in vectors, others one by one: gathering and scattering takes twice as long. */
#define LINES(stride, ghosts)                                                                      \
  for (int64_t l = 0; l < n; l++) {                                                                \
    mg_real_t *c = x + l * (stride);                                                               \
    ghosts;                                                                                        \
  }
#define EACH_LINE(ghosts)                                                                          \
  if (along == 1) _Pragma("omp simd") LINES(1, ghosts) else LINES(along, ghosts)

void mg_cpu_wall_line(mg_real_t *x, ptrdiff_t in, int64_t n, ptrdiff_t along, mg_wall_t kind,
                      int order) {
  if (kind == MG_WALL_NEUMANN) {
    EACH_LINE(c[-in] = mg_ghost(MG_WALL_NEUMANN, 1, c[0], 0.0))
  } else if (order == 1) {
    EACH_LINE(c[-in] = mg_ghost(MG_WALL_DIRICHLET, 1, c[0], 0.0))
  } else if (order == 2) {
    EACH_LINE(c[-in] = mg_ghost(MG_WALL_DIRICHLET, 2, c[0], c[in]))
  } else if (order == 3) {
    EACH_LINE(c[-in] = mg_ghost_3(c[0], c[in]))
  } else {
    EACH_LINE(c[-in] = mg_ghost_4(1, c[0], c[in], c[2 * in], c[3 * in]);
              c[-2 * in] = mg_ghost_4(2, c[0], c[in], c[2 * in], c[3 * in]))
  }
}

/* The same for `lines` lines, `apart` values apart. */
static void wall_lines(const mg_view_t *v, mg_real_t *x, ptrdiff_t in, int64_t n, ptrdiff_t along,
                       int lines, ptrdiff_t apart, mg_wall_t kind, int order) {
  const int threads = mg_cpu_threads(v);
  if (threads == 1) { /* a parallel region of one thread would take longer than a small level */
    for (int l = 0; l < lines; l++)
      mg_cpu_wall_line(x + l * apart, in, n, along, kind, order);
    return;
  }
#pragma omp parallel for num_threads(threads)
  for (int l = 0; l < lines; l++)
    mg_cpu_wall_line(x + l * apart, in, n, along, kind, order);
}

void mg_cpu_wall_ends(const mg_view_t *v, const mg_patch_t *p, mg_real_t *x, int k, int j0,
                      int j1) {
  const int order = mg_wall_order(v, mg_operator_order(v), 0);
  mg_real_t *first = x + j0 * p->jstride + k * p->kstride, *last = first + p->n[0] - 1;
  const mg_wall_t low = p->wall[0][0], high = p->wall[0][1];
  if (low) mg_cpu_wall_line(first, 1, j1 - j0, p->jstride, low, order);
  if (high) mg_cpu_wall_line(last, -1, j1 - j0, p->jstride, high, order);
}

void mg_cpu_wall_rows(const mg_view_t *v, const mg_patch_t *p, mg_real_t *x, int k, int j0,
                      int j1) {
  const int order = mg_wall_order(v, mg_operator_order(v), 1);
  mg_real_t *plane = x + k * p->kstride;
  const mg_wall_t low = p->wall[1][0], high = p->wall[1][1];
  if (low && j0 == 0) mg_cpu_wall_line(plane, p->jstride, p->n[0], 1, low, order);
  if (high && j1 == p->n[1])
    mg_cpu_wall_line(plane + (p->n[1] - 1) * p->jstride, -p->jstride, p->n[0], 1, high, order);
}

void mg_cpu_wall_planes(const mg_view_t *v, mg_vector_t vec) {
  const int order = mg_wall_order(v, mg_operator_order(v), 2);
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    for (int side = 0; side < 2; side++) {
      if (!p->wall[2][side]) continue;
      mg_real_t *x = mg_cell(p, vec, 0, 0, side == 0 ? 0 : p->n[2] - 1);
      const ptrdiff_t in = side == 0 ? p->kstride : -p->kstride;
      wall_lines(v, x, in, p->n[0], 1, p->n[1], p->jstride, p->wall[2][side], order);
    }
  }
}

/* Index range of direction d that holds valid values, with ghosts; those at a wall once filled. */
static void valid_range(const mg_view_t *v, const mg_patch_t *p, int d, bool walls_filled,
                        int range[2]) {
  range[0] = p->wall[d][0] && !walls_filled ? 0 : -v->radius;
  range[1] = p->n[d] + (p->wall[d][1] && !walls_filled ? 0 : v->radius);
}

static void boundary_direction(const mg_view_t *v, const mg_patch_t *p, mg_vector_t vec, int d,
                               int order) {
  const ptrdiff_t stride[3] = {1, p->jstride, p->kstride};
  const int inner = d == 0 ? 1 : 0, outer = d == 2 ? 1 : 2;
  int line[2], lines[2];
  valid_range(v, p, inner, inner < d, line);
  valid_range(v, p, outer, outer < d, lines);
  for (int side = 0; side < 2; side++) {
    if (!p->wall[d][side]) continue;
    mg_real_t *wall = p->vec[vec] + (side == 0 ? 0 : (p->n[d] - 1) * stride[d]);
    const ptrdiff_t in = side == 0 ? stride[d] : -stride[d];
    wall_lines(v, wall + lines[0] * stride[outer] + line[0] * stride[inner], in, line[1] - line[0],
               stride[inner], lines[1] - lines[0], stride[outer], p->wall[d][side], order);
  }
}

mg_status_t mg_cpu_fill_wall_ghosts(const mg_view_t *v, mg_vector_t vec, int order) {
  const mg_wall_orders_t used = mg_wall_orders(v, order);
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++)
      boundary_direction(v, &v->patch[q], vec, d, used.along[d]);
  return MG_OK;
}
