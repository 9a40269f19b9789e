/* Ladder 2 on a CPU: memory is read in lines of 64 bytes, whether all of a line is used or not. */
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

static double gathered(const void *arg, int64_t i) {
  const work_t *w = arg;
  const int64_t rows = w->n_from / w->stride - 1;
  return lab_value(i / rows % w->stride + i % rows * w->stride);
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
    row.moved = 8.0 + touched(w->stride);
    row.seconds = lab_seconds(lab, gather, w);
    row.error = lab_wrong(w->to, w->n, gathered, w);
    MG_TRY(lab_add(lab, &row, "stride %d", w->stride));
  }
  return MG_OK;
}

mg_status_t lab_stride_cpu(lab_t *lab) {
  /* Half of the array is read a stride apart; the rest is room for what wraps. */
  work_t w = {.n_from = lab->bytes / 8, .n = lab->bytes / 16};
  double *from = lab_values(w.n_from + 64);
  w.to = from ? lab_doubles(w.n) : NULL;
  w.from = from;
  const mg_status_t status = w.to ? gathers(lab, &w) : MG_ERR_MEMORY;
  free(w.to);
  free(from);
  return status;
}
