/* Arrays of an application in host memory. */
#include "backend/arrays.h"
#include "cpu/cpu.h"
#include <string.h>

enum { LINE = 8 }; /* doubles */

static double *row_of(const mg_strided_t *a, int32_t j, int32_t k) {
  return a->x + j * a->stride[1] + k * a->stride[2];
}

/* The direction in which neighbors are adjacent in memory; i if there is none. */
static int fastest(const mg_strided_t *a) {
  if (a->stride[0] == 1) return 0;
  return a->stride[1] == 1 ? 1 : a->stride[2] == 1 ? 2 : 0;
}

/* Copy LINE lines of LINE elements, whose first elements have these distances, to as many lines: in
 * the same direction, or across. */
static void copy_tile(const double *x, ptrdiff_t to_next_x, double *y, ptrdiff_t to_next_y,
                      bool same) {
  double t[LINE][LINE];
  for (int a = 0; a < LINE; a++)
    for (int b = 0; b < LINE; b++)
      t[a][b] = x[a * to_next_x + b];
  for (int a = 0; a < LINE; a++)
    for (int b = 0; b < LINE; b++)
      y[a * to_next_y + b] = same ? t[a][b] : t[b][a];
}

/* Copy LINE elements from `first` on of rows in i, of which there are n[d], where one of the arrays
 * is contiguous in direction d: LINE rows at a time. Planes that are 2^k apart share few places in
 * a cache, so few of them are in use at a time. */
static void copy_lines(const int32_t n[3], const mg_strided_t *from, const mg_strided_t *to, int d,
                       int32_t first, int32_t row) {
  const int32_t end = first + LINE < n[0] ? first + LINE : n[0];
  const double *x = from->x + row * from->stride[3 - d];
  double *y = to->x + row * to->stride[3 - d];
  const ptrdiff_t xi = from->stride[0], xd = from->stride[d], yi = to->stride[0],
                  yd = to->stride[d];
  const bool has_lines = (xi == 1 || xd == 1) && (yi == 1 || yd == 1);
  for (int32_t m0 = 0; m0 < n[d]; m0 += LINE)
    if (has_lines && end - first == LINE && m0 + LINE <= n[d])
      copy_tile(x + first * xi + m0 * xd, xi == 1 ? xd : xi, y + first * yi + m0 * yd,
                yi == 1 ? yd : yi, (xi == 1) == (yi == 1));
    else
      for (int32_t m = m0; m < n[d] && m < m0 + LINE; m++)
        for (int32_t i = first; i < end; i++)
          y[i * yi + m * yd] = x[i * xi + m * xd];
}

static void copy_rows(const int32_t n[3], const mg_strided_t *from, const mg_strided_t *to) {
#pragma omp parallel for collapse(2) if (mg_volume(n) > 10000)
  for (int32_t k = 0; k < n[2]; k++)
    for (int32_t j = 0; j < n[1]; j++)
      memcpy(row_of(to, j, k), row_of(from, j, k), (size_t)n[0] * sizeof *to->x);
}

static void copy_across(const int32_t n[3], const mg_strided_t *from, const mg_strided_t *to) {
  const int of_from = fastest(from), of_to = fastest(to),
            d = of_from > 0 ? of_from
                : of_to > 0 ? of_to
                            : 1;
#pragma omp parallel for collapse(2) if (mg_volume(n) > 10000)
  for (int32_t row = 0; row < n[3 - d]; row++)
    for (int32_t first = 0; first < n[0]; first += LINE)
      copy_lines(n, from, to, d, first, row);
}

static mg_status_t copy(const int32_t n[3], const mg_strided_t *from, const mg_strided_t *to) {
  if (from->stride[0] == 1 && to->stride[0] == 1)
    copy_rows(n, from, to);
  else
    copy_across(n, from, to);
  return MG_OK;
}

/* The first element of a row outside of a range; n if there is none. */
static int32_t first_outside(int32_t n, const double *x, ptrdiff_t stride, const mg_range_t *r) {
  int32_t i = 0;
  while (i < n && mg_is_in_range(r, x[i * stride]))
    i++;
  return i;
}

static mg_status_t find_outside(const int32_t n[3], const mg_strided_t *array,
                                const mg_range_t *range, int64_t *place, double *value) {
  const int d = fastest(array), a = d == 0, b = d == 2 ? 1 : 2;
  const int64_t rows = (int64_t)n[1] * n[2], quick = (int64_t)n[a] * n[b];
  bool any = false;
  *place = -1;
#pragma omp parallel for reduction(|| : any) if (rows * n[0] > 10000)
  for (int64_t row = 0; row < quick; row++) {
    const double *x = array->x + row % n[a] * array->stride[a] + row / n[a] * array->stride[b];
    any = any || first_outside(n[d], x, array->stride[d], range) < n[d];
  }
  for (int64_t row = 0; any && *place < 0 && row < rows; row++) {
    const double *x = row_of(array, (int32_t)(row % n[1]), (int32_t)(row / n[1]));
    const int32_t i = first_outside(n[0], x, array->stride[0], range);
    if (i == n[0]) continue;
    *place = row * n[0] + i;
    *value = x[i * array->stride[0]];
  }
  return MG_OK;
}

static mg_status_t average(const mg_view_t *v, int d, mg_vector_t src, const double *position) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    const int32_t n[3] = {p->n[0] + (d == 0), p->n[1] + (d == 1), p->n[2] + (d == 2)};
#pragma omp parallel for num_threads(mg_cpu_threads(v)) if (mg_cpu_threads(v) > 1)
    for (int k = 0; k < n[2]; k++)
      for (int j = 0; j < n[1]; j++)
        for (int i = 0; i < n[0]; i++) {
          const int at[3] = {i, j, k};
          *mg_cell(p, MG_BETA_I + (mg_vector_t)d, i, j, k) =
              mg_face_average(p, v->n[d], d, src, position, at);
        }
  }
  return MG_OK;
}

const mg_backend_arrays_t mg_cpu_arrays = {
    .copy = copy, .find_outside = find_outside, .average = average};
