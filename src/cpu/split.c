/* Splitting rows by color, joining them, and their ghosts outside walls. */
#include "cpu/split.h"
#include "cpu/pass.h"
#include <string.h>

enum { BLOCK = MG_CPU_BLOCK };

/* ---- splitting and joining rows ---- */

MG_INLINE void split_block(const mg_real_t *row, mg_real_t *even, mg_real_t *odd, ptrdiff_t n) {
#pragma omp simd
  for (ptrdiff_t l = 0; l < n; l++) {
    const mg_real_t x = row[2 * l], y = row[2 * l + 1];
    even[l] = x;
    odd[l] = y;
  }
}

MG_INLINE void join_block(const mg_real_t *even, const mg_real_t *odd, mg_real_t *row,
                          ptrdiff_t n) {
#pragma omp simd
  for (ptrdiff_t l = 0; l < n; l++) {
    const mg_real_t x = even[l], y = odd[l];
    row[2 * l] = x;
    row[2 * l + 1] = y;
  }
}

/* In whole blocks: GCC would vectorize a loop over a remainder, too, with a long preparation. */
enum { PART = 4 };

/* Columns 2 m and 2 m + 1 for 0 <= m < n. The even ones may replace the row, but not the odd
 * ones. */
MG_INLINE void split_row(const mg_real_t *row, mg_real_t *even, mg_real_t *odd, ptrdiff_t n) {
  ptrdiff_t m = 0;
  for (; m + BLOCK <= n; m += BLOCK)
    split_block(row + 2 * m, even + m, odd + m, BLOCK);
  for (; m < n; m += PART)
    split_block(row + 2 * m, even + m, odd + m, PART);
}

/* The odd columns may be part of the row, but not the even ones. */
MG_INLINE void join_row(const mg_real_t *even, const mg_real_t *odd, mg_real_t *row, ptrdiff_t n) {
  ptrdiff_t m = 0;
  for (; m + BLOCK <= n; m += BLOCK)
    join_block(even + m, odd + m, row + 2 * m, BLOCK);
  for (; m < n; m += PART)
    join_block(even + m, odd + m, row + 2 * m, PART);
}

MG_INLINE void copy_row(const mg_real_t *from, mg_real_t *to, ptrdiff_t n) {
  ptrdiff_t m = 0;
  for (; m + BLOCK <= n; m += BLOCK)
    memcpy(to + m, from + m, BLOCK * sizeof *to);
  for (; m < n; m += PART)
    memcpy(to + m, from + m, PART * sizeof *to);
}

/* Aligned: vectors that cross cache lines would take twice the time. */
static mg_real_t *scratch_row(const mg_cpu_split_t *s) {
  return s->rows + mg_cpu_thread() * s->row_values;
}

/* Split or join rows of plane k in place, with two ghosts at either end. */
typedef void in_place_fn(const mg_patch_t *p, mg_vector_t vec, int k, int j0, int j1,
                         mg_real_t *scratch);

static void split_in_place(const mg_patch_t *p, mg_vector_t vec, int k, int j0, int j1,
                           mg_real_t *odd) {
  const ptrdiff_t n = p->n[0] / 2, at = mg_cpu_odd_columns(p);
  mg_real_t *row = mg_cell(p, vec, 0, j0, k);
  for (int j = j0; j < j1; j++, row += p->jstride) {
    const mg_real_t low[2] = {row[-2], row[-1]}, high[2] = {row[2 * n], row[2 * n + 1]};
    split_row(row, row, odd, n);
    copy_row(odd, row + at, n);
    row[-1] = low[0];
    row[at - 1] = low[1];
    row[n] = high[0];
    row[at + n] = high[1];
  }
}

static void join_in_place(const mg_patch_t *p, mg_vector_t vec, int k, int j0, int j1,
                          mg_real_t *even) {
  const ptrdiff_t n = p->n[0] / 2, at = mg_cpu_odd_columns(p);
  mg_real_t *row = mg_cell(p, vec, 0, j0, k);
  for (int j = j0; j < j1; j++, row += p->jstride) {
    const mg_real_t low[2] = {row[-1], row[at - 1]}, high[2] = {row[n], row[at + n]};
    copy_row(row, even, n);
    join_row(even, row + at, row, n);
    row[-2] = low[0];
    row[-1] = low[1];
    row[2 * n] = high[0];
    row[2 * n + 1] = high[1];
  }
}

/* The vectors that no step writes. Ghosts of those of faces outside walls belong to the outermost
 * strips and planes. */
static void read_only_strip(const mg_patch_t *p, const mg_cpu_split_t *s, int k, int j0, int j1,
                            in_place_fn *fn) {
  mg_real_t *scratch = scratch_row(s);
  fn(p, MG_F, k, j0, j1, scratch);
  fn(p, MG_DINV, k, j0, j1, scratch);
  if (p->vec[MG_ALPHA]) fn(p, MG_ALPHA, k, j0, j1, scratch);
  const int k0 = k == 0 && p->wall[2][0] ? -1 : k,
            k1 = k == p->n[2] - 1 && p->wall[2][1] ? k + 2 : k + 1;
  if (j0 == 0 && p->wall[1][0]) j0 = -1;
  if (j1 == p->n[1] && p->wall[1][1]) j1++;
  for (int plane = k0; plane < k1; plane++)
    for (int b = MG_BETA_I; b <= MG_BETA_K; b++)
      fn(p, (mg_vector_t)b, plane, j0, j1, scratch);
}

void mg_cpu_split_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_split_t *s = arg;
  const mg_patch_t *p = &v->patch[patch];
  read_only_strip(p, s, k, j0, j1, split_in_place);
  if (s->dst < 0) return;
  for (int j = j0; j < j1; j++)
    split_row(mg_cell(p, s->in[0], 0, j, k), mg_cpu_half(p, s->dst, 0, j, k),
              mg_cpu_half(p, s->dst, 1, j, k), p->n[0] / 2);
}

/* The two ghosts at either end of a periodic row. */
static void repeat_row(mg_real_t *row, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i < 2; i++) {
    row[i - 2] = row[n + i - 2];
    row[n + i] = row[i];
  }
}

void mg_cpu_join_strip(const mg_view_t *v, int patch, int k, int j0, int j1, void *arg) {
  const mg_cpu_split_t *s = arg;
  const mg_patch_t *p = &v->patch[patch];
  mg_real_t *even = scratch_row(s);
  read_only_strip(p, s, k, j0, j1, join_in_place);
  for (int j = j0; j < j1; j++) {
    copy_row(mg_cpu_half_of_x(p, s, 0, j, k), even, p->n[0] / 2);
    mg_real_t *row = mg_cell(p, s->dst, 0, j, k);
    join_row(even, mg_cpu_half_of_x(p, s, 1, j, k), row, p->n[0] / 2);
    if (!p->wall[0][0]) repeat_row(row, p->n[0]);
  }
}

/* ---- ghosts ---- */

/* Both ghosts of the cells x1, x2, x3 and x4 inward of a wall. */
MG_INLINE void wall_ghosts(mg_real_t *near, mg_real_t *far, mg_real_t x1, mg_real_t x2,
                           mg_real_t x3, mg_real_t x4) {
  *near = mg_ghost_4(1, x1, x2, x3, x4);
  *far = mg_ghost_4(2, x1, x2, x3, x4);
}

/* Ghosts at both ends of a row: of the even columns at the low and high end, then the odd ones. The
 * row's patch has walls at both ends or is periodic in i. */
static void ends_of_row(const mg_patch_t *p, const mg_cpu_split_t *s, int j, int k,
                        mg_real_t end[4]) {
  const ptrdiff_t n = p->n[0] / 2;
  const mg_real_t *even = mg_cpu_half_of_x(p, s, 0, j, k), *odd = mg_cpu_half_of_x(p, s, 1, j, k);
  if (p->wall[0][0]) {
    wall_ghosts(&end[2], &end[0], even[0], odd[0], even[1], odd[1]);
    wall_ghosts(&end[1], &end[3], odd[n - 1], even[n - 1], odd[n - 2], even[n - 2]);
    return;
  }
  end[0] = even[n - 1];
  end[1] = even[0];
  end[2] = odd[n - 1];
  end[3] = odd[0];
}

static void fill_ends(const mg_patch_t *p, const void *split, int j, int k) {
  const mg_cpu_split_t *s = split;
  mg_real_t end[4];
  ends_of_row(p, s, j, k, end);
  for (int parity = 0; parity < 2; parity++) {
    mg_real_t *x = mg_cpu_half_of_x(p, s, parity, j, k);
    x[-1] = end[2 * parity];
    x[p->n[0] / 2] = end[2 * parity + 1];
  }
}

/* Columns first <= m < end of the two rows outside a wall in j or k. */
static void wall_row(const mg_patch_t *p, const mg_cpu_split_t *s, int parity, int j, int k, int dj,
                     int dk, ptrdiff_t first, ptrdiff_t end) {
  const mg_real_t *x[4];
  for (int d = 0; d < 4; d++)
    x[d] = mg_cpu_half_of_x(p, s, parity, j + d * dj, k + d * dk);
  mg_real_t *near = mg_cpu_half_of_x(p, s, parity, j - dj, k - dk),
            *far = mg_cpu_half_of_x(p, s, parity, j - 2 * dj, k - 2 * dk);
#pragma omp simd
  for (ptrdiff_t m = first; m < end; m++)
    wall_ghosts(near + m, far + m, x[0][m], x[1][m], x[2][m], x[3][m]);
}

/* The ghosts at the ends of the two rows outside a wall in k. They are made of cells, not of the
 * ghosts of the four planes: the next stage, a plane behind, has replaced some of those. */
static void wall_row_ends(const mg_patch_t *p, const mg_cpu_split_t *s, int j, int k, int dk) {
  mg_real_t end[4][4];
  for (int d = 0; d < 4; d++)
    ends_of_row(p, s, j, k + d * dk, end[d]);
  for (int e = 0; e < 4; e++) {
    const ptrdiff_t m = e % 2 ? p->n[0] / 2 : -1;
    wall_ghosts(mg_cpu_half_of_x(p, s, e / 2, j, k - dk) + m,
                mg_cpu_half_of_x(p, s, e / 2, j, k - 2 * dk) + m, end[0][e], end[1][e], end[2][e],
                end[3][e]);
  }
}

/* The ghosts outside both a wall in j and one in k, made of cells for the same reason: one row, as
 * a step reads no farther ones. */
static void wall_edge(const mg_patch_t *p, const mg_cpu_split_t *s, int parity, int j, int k,
                      int dk) {
  const int dj = j < 0 ? 1 : -1;
  const mg_real_t *x[4][4];
  for (int r = 0; r < 16; r++)
    x[r / 4][r % 4] = mg_cpu_half_of_x(p, s, parity, j + (1 + r % 4) * dj, k + r / 4 * dk);
  mg_real_t *out = mg_cpu_half_of_x(p, s, parity, j, k - dk);
#pragma omp simd
  for (ptrdiff_t m = 0; m < p->n[0] / 2; m++) {
    mg_real_t y[4];
    for (int d = 0; d < 4; d++)
      y[d] = mg_ghost_4(1, x[d][0][m], x[d][1][m], x[d][2][m], x[d][3][m]);
    out[m] = mg_ghost_4(1, y[0], y[1], y[2], y[3]);
  }
}

/* Outside a wall in j or k: the ghosts of row j of plane k, which is next to the wall, with those
 * at its ends. One step inward is dj, dk. */
static void fill_outside(const mg_patch_t *p, const void *split, int j, int k, int dj, int dk) {
  const mg_cpu_split_t *s = split;
  const ptrdiff_t n = p->n[0] / 2;
  const bool edge = dk != 0 && ((j < 0 && p->wall[1][0]) || (j >= p->n[1] && p->wall[1][1]));
  for (int parity = 0; parity < 2; parity++)
    if (edge)
      wall_edge(p, s, parity, j, k, dk);
    else
      wall_row(p, s, parity, j, k, dj, dk, dk == 0 ? -1 : 0, dk == 0 ? n + 1 : n);
  if (dk != 0 && !edge) wall_row_ends(p, s, j, k, dk);
}

void mg_cpu_split_ghosts(const mg_patch_t *p, const mg_cpu_split_t *s, int k, int j0, int j1) {
  static const mg_cpu_ghost_rows_t fill = {fill_ends, fill_outside};
  mg_cpu_new_ghosts(p, k, j0, j1, &fill, s);
}
