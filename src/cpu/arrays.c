/* Arrays of an application in host memory. */
#include "backend/arrays.h"
#include "cpu/cpu.h"
#include <string.h>

static double *row_of(const mg_strided_t *a, int32_t j, int32_t k) {
  return a->x + j * a->stride[1] + k * a->stride[2];
}

static mg_status_t copy(const int32_t n[3], const mg_strided_t *from, const mg_strided_t *to) {
  const bool dense = from->stride[0] == 1 && to->stride[0] == 1;
#pragma omp parallel for collapse(2) if ((int64_t)n[0] * n[1] * n[2] > 10000)
  for (int32_t k = 0; k < n[2]; k++)
    for (int32_t j = 0; j < n[1]; j++) {
      const double *x = row_of(from, j, k);
      double *y = row_of(to, j, k);
      if (dense)
        memcpy(y, x, (size_t)n[0] * sizeof *y);
      else
        for (int32_t i = 0; i < n[0]; i++)
          y[i * to->stride[0]] = x[i * from->stride[0]];
    }
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
  const int64_t rows = (int64_t)n[1] * n[2];
  int64_t bad = rows;
#pragma omp parallel for reduction(min : bad) if (rows * n[0] > 10000)
  for (int64_t row = 0; row < rows; row++) {
    const double *x = row_of(array, (int32_t)(row % n[1]), (int32_t)(row / n[1]));
    if (row < bad && first_outside(n[0], x, array->stride[0], range) < n[0]) bad = row;
  }
  *place = -1;
  if (bad == rows) return MG_OK;
  const double *x = row_of(array, (int32_t)(bad % n[1]), (int32_t)(bad / n[1]));
  const int32_t i = first_outside(n[0], x, array->stride[0], range);
  *place = bad * n[0] + i;
  *value = x[i * array->stride[0]];
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
