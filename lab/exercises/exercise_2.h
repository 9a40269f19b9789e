/* Exercise 2: the layout of a structure.
 *
 * Task: each cell has 8 fields (FIELD_U, FIELD_F, ...; lab/exercise.h), and all are in one array.
 * The kernel updates u += dinv * r, so it needs three of them. place() is the position of a field
 * of cell i, of n cells. Change place() so that the kernel uses every byte of the lines it touches.
 * The test data are written with your place(), too.
 *
 * Machine: memory is read and written in lines of 64 bytes on a CPU, in sectors of 32 bytes on a
 * GPU. Here a cell is a line, which is read and written as a whole: 128 bytes per cell.
 *
 * Goal: 32 bytes per cell.
 * Hint: which values does the next iteration, or the next thread of a GPU, need? */
MG_INLINE int64_t RUNG(place)(int64_t i, int field, int64_t n) {
  (void)n;
  return i * FIELDS + field;
}

MG_INLINE void RUNG(exercise_2)(double *cell, int64_t n, int64_t first, int64_t last,
                                int64_t step) {
  for (int64_t i = first; i < last; i += step) {
    const int64_t u = RUNG(place)(i, FIELD_U, n);
    const double r = LOAD(cell, RUNG(place)(i, FIELD_R, n));
    const double dinv = LOAD(cell, RUNG(place)(i, FIELD_DINV, n));
    STORE(cell, u, LOAD(cell, u) + dinv * r);
  }
}
