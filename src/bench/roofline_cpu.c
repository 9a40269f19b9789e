/* Where the ladder of the solver's kernels has its levels in host memory. */
#include "roofline.h"
#include <string.h>

static mg_status_t fill(double *at, int64_t n, int64_t first) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++)
    at[i] = lab_value(first + i);
  return MG_OK;
}

static mg_status_t fetch(double *host, const double *at, int64_t n) {
  memcpy(host, at, (size_t)n * sizeof *host);
  return MG_OK;
}

static mg_status_t put(double *at, double value) {
  *at = value;
  return MG_OK;
}

static mg_status_t time_work(const lab_t *lab, lab_work_t work, void *arg, lab_row_t *row) {
  row->seconds = lab_seconds(lab, work, arg);
  return MG_OK;
}

const roofline_place_t roofline_on_cpu = {fill, fetch, put, time_work};
