/* Cells of a level and of the next coarser one, in one direction.
 *
 * A coarse cell is a pair of cells 2m and 2m + 1, a last cell alone, or a single cell. Single cells
 * are in two ranges, in which cells are wide already. */
#ifndef MG_PAIRS_H
#define MG_PAIRS_H

#include "base/inline.h"
#include <stdbool.h>
#include <stdint.h>

/** Ranges begin[r] <= cell < end[r] of single cells, in ascending order. Bounds are even, or the
 *  number of cells. All 0: no single cells. */
typedef struct {
  int32_t begin[2], end[2];
} mg_singles_t;

/** Single cells below a cell. */
MG_INLINE int32_t mg_singles_below(const mg_singles_t *s, int32_t cell) {
  int32_t below = 0;
  for (int r = 0; r < 2; r++)
    if (cell > s->begin[r]) below += (cell < s->end[r] ? cell : s->end[r]) - s->begin[r];
  return below;
}

/** Coarse cells that the first n cells become. n separates no pair. */
MG_INLINE int32_t mg_coarse_cells(const mg_singles_t *s, int32_t n) {
  const int32_t below = mg_singles_below(s, n);
  return below + (n - below + 1) / 2;
}

/** First child of a coarse cell. */
MG_INLINE int32_t mg_first_child(const mg_singles_t *s, int32_t coarse) {
  int32_t singles = 0;
  for (int r = 0; r < 2; r++) {
    const int32_t begin = (s->begin[r] + singles) / 2, n = s->end[r] - s->begin[r];
    if (coarse > begin) singles += coarse - begin < n ? coarse - begin : n;
  }
  return 2 * coarse - singles;
}

#endif
