/* Roofline ladder: levels in host memory. */
#include "lab/roofline.h"
#include <string.h>

static mg_status_t fill(void *at, int value_bytes, int64_t n, int64_t first) {
  double *d = at;
  float *f = at;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++)
    if (value_bytes == sizeof *f)
      f[i] = (float)lab_value(first + i);
    else
      d[i] = lab_value(first + i);
  return MG_OK;
}

static mg_status_t fetch(void *host, const void *at, size_t bytes) {
  memcpy(host, at, bytes);
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

typedef struct {
  const double *from;
  double *to;
  int64_t n;
} chains_t;

/* Vectors of eight numbers, each with its own chains: enough for two units with four cycles
 * of latency each. */
static void run_chains(void *arg) {
  enum { WIDE = 8 };
  const chains_t *c = arg;
#pragma omp parallel for
  for (int64_t i = 0; i < c->n; i += WIDE) {
    double x[ROOFLINE_CHAINS][WIDE];
    for (int q = 0; q < ROOFLINE_CHAINS; q++)
#pragma omp simd
      for (int v = 0; v < WIDE; v++)
        x[q][v] = c->from[(i + v) % ROOFLINE_KINDS] + q;
    for (int l = 0; l < ROOFLINE_LINKS; l++)
      for (int q = 0; q < ROOFLINE_CHAINS; q++)
#pragma omp simd
        for (int v = 0; v < WIDE; v++)
          x[q][v] = roofline_link(x[q][v], ROOFLINE_HOST_FUSES);
    for (int v = 0; v < WIDE; v++) {
      double sum = x[0][v];
      for (int q = 1; q < ROOFLINE_CHAINS; q++)
        sum += x[q][v];
      c->to[i + v] = sum;
    }
  }
}

static mg_status_t chains(const lab_t *lab, double *from, double *to, int64_t n, lab_row_t *row) {
  chains_t c = {from, to, n};
  return time_work(lab, run_chains, &c, row);
}

static int64_t chain_numbers(const lab_t *lab) {
  return (int64_t)1024 * lab->threads;
}

const roofline_place_t roofline_on_cpu = {
    fill, fetch, put, time_work, chains, chain_numbers, ROOFLINE_HOST_FUSES};
