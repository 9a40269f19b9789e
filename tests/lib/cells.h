/* Loops over the cells of a grid or patch, i fastest. */
#ifndef MG_TEST_CELLS_H
#define MG_TEST_CELLS_H

#include <stdint.h>

/** Loop over the cells lo <= at < hi. */
#define EACH_CELL_FROM(at, lo, hi)                                                                 \
  for (int32_t at[3] = {0, 0, (lo)[2]}; at[2] < (hi)[2]; at[2]++)                                  \
    for (at[1] = (lo)[1]; at[1] < (hi)[1]; at[1]++)                                                \
      for (at[0] = (lo)[0]; at[0] < (hi)[0]; at[0]++)

/** Loop over n[0] x n[1] x n[2] cells. */
#define EACH_CELL(at, n) EACH_CELL_FROM(at, ((const int32_t[3]){0, 0, 0}), n)

/** Loop over these cells and `rim` layers of ghosts. */
#define EACH_CELL_AND_GHOST(at, n, rim)                                                            \
  EACH_CELL_FROM(at, ((const int32_t[3]){-(rim), -(rim), -(rim)}),                                 \
                 ((const int32_t[3]){(n)[0] + (rim), (n)[1] + (rim), (n)[2] + (rim)}))

#endif
