/* Ladder 2 on a CPU: memory is read in lines of 64 bytes, whether all of a line is used or not. */
#include "base/log.h"
#include "lab/lab_cpu.h"
#include <stdlib.h>

enum { LINE_DOUBLES = 8 };
static const int strides[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
enum { N_STRIDES = sizeof strides / sizeof strides[0] };

typedef struct {
  double *to;         /* one element for each that is read */
  const double *from; /* n_from of them */
  int64_t n, n_from;
  int stride;
} work_t;

/* to[i] = from[stride i]; reading wraps, so that every stride reads as many elements. */
static void gather(void *arg) {
  const work_t *w = arg;
  const int64_t rows = w->n_from / w->stride - 1; /* elements of a sweep over `from` */
  double *restrict to = w->to;
#pragma omp parallel
  {
    int64_t first, last;
    lab_share(w->n, 8, &first, &last);
    while (first < last) {
      const int64_t sweep = first / rows, at = first - sweep * rows;
      const int64_t n = last - first < rows - at ? last - first : rows - at;
      const double *restrict from = w->from + sweep % w->stride + at * w->stride;
#pragma omp simd
      for (int64_t i = 0; i < n; i++)
        to[first + i] = from[i * w->stride];
      first += n;
    }
  }
}

static double check_gather(const work_t *w) {
  const int64_t rows = w->n_from / w->stride - 1;
  int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int64_t i = 0; i < w->n; i++) {
    const int64_t sweep = i / rows, at = i % rows;
    wrong += w->to[i] != lab_value(sweep % w->stride + at * w->stride);
    w->to[i] = -1.0;
  }
  return (double)wrong;
}

/* Sums of structures of `stride` doubles, all of which are used: a member at a time over all
 * structures, or a structure at a time. */
static void members_first(void *arg) {
  const work_t *w = arg;
  const int64_t n = w->n_from / w->stride;
  double *restrict to = w->to;
#pragma omp parallel
  {
    int64_t first, last;
    lab_share(n, 8, &first, &last);
    for (int64_t i = first; i < last; i++)
      to[i] = 0.0;
    for (int m = 0; m < w->stride; m++) {
      const double *restrict from = w->from + m;
#pragma omp simd
      for (int64_t i = first; i < last; i++)
        to[i] += from[i * w->stride];
    }
  }
}

static void structures_first(void *arg) {
  const work_t *w = arg;
  const int64_t n = w->n_from / w->stride;
  double *restrict to = w->to;
#pragma omp parallel
  {
    int64_t first, last;
    lab_share(n, 8, &first, &last);
    for (int64_t i = first; i < last; i++) {
      const double *restrict from = w->from + i * w->stride;
      double sum = 0.0;
      for (int m = 0; m < w->stride; m++)
        sum += from[m];
      to[i] = sum;
    }
  }
}

static double check_sums(const work_t *w) {
  int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (int64_t i = 0; i < w->n_from / w->stride; i++) {
    double sum = 0.0;
    for (int m = 0; m < w->stride; m++)
      sum += lab_value(i * w->stride + m);
    wrong += w->to[i] != sum; /* of small integers: exact in any order */
    w->to[i] = -1.0;
  }
  return (double)wrong;
}

/* Bytes of the lines that an element's reading touches: its line, shared by those beside it. */
static double touched(int stride) {
  return 8.0 * (stride < LINE_DOUBLES ? stride : LINE_DOUBLES);
}

static mg_status_t gathers(lab_t *lab, work_t *w) {
  lab_table(lab, "stride", "one double of each stride, read and written densely");
  for (int s = 0; s < N_STRIDES; s++) {
    lab_row_t row = {.threads = lab->threads, .elements = w->n, .useful = 16.0};
    w->stride = strides[s];
    snprintf(row.variant, sizeof row.variant, "stride %d", w->stride);
    row.moved = 8.0 + touched(w->stride);
    row.seconds = lab_seconds(lab, gather, w);
    row.error = check_gather(w);
    MG_TRY(lab_add(lab, &row));
  }
  return MG_OK;
}

static mg_status_t structures(lab_t *lab, work_t *w) {
  static const struct {
    const char *name;
    lab_work_t work;
  } order[] = {{"one member at a time", members_first},
               {"one structure at a time", structures_first}};
  for (int s = 1; s < N_STRIDES; s++) {
    w->stride = strides[s];
    lab_table(lab, "stride", "sums of structures of %d doubles", w->stride);
    for (int o = 0; o < 2; o++) {
      lab_row_t row = {.threads = lab->threads, .elements = w->n_from / w->stride};
      snprintf(row.variant, sizeof row.variant, "%s", order[o].name);
      row.useful = 8.0 * (w->stride + 1);
      /* Member by member, a line is brought once for each of its doubles, and the sums as often. */
      if (o == 0) row.moved = w->stride * (touched(w->stride) + 16.0);
      row.flops = w->stride;
      row.seconds = lab_seconds(lab, order[o].work, w);
      row.error = check_sums(w);
      MG_TRY(lab_add(lab, &row));
    }
  }
  return MG_OK;
}

mg_status_t lab_stride_cpu(lab_t *lab) {
  /* Half of the array is read a stride apart; the rest is room for what wraps. */
  work_t w = {.n_from = lab->bytes / 8, .n = lab->bytes / 16};
  double *from = lab_values(w.n_from + 64);
  w.to = from ? lab_doubles(w.n_from) : NULL;
  w.from = from;
  mg_status_t status = w.to ? gathers(lab, &w) : MG_ERR_MEMORY;
  if (status == MG_OK) status = structures(lab, &w);
  free(w.to);
  free(from);
  return status;
}
