/* Exercise 1: fuse loops.
 *
 * Task: a step of a solver in three loops: the residual r = f - x / 2, the update x = x + r / 4,
 * and the largest |r|, which is returned. Nothing else needs r. Compute x and the norm with fewer
 * bytes; r may then have any values.
 *
 * Machine: the arrays do not fit in the cache, so each loop reads its arrays from memory again. The
 * loops move 24 + 24 + 8 = 56 bytes per element.
 *
 * Goal: 24 bytes per element.
 * Hint: a value that is needed again at once can stay in a variable. */
MG_INLINE double RUNG(exercise_1)(double *x, const double *f, double *r, int64_t first,
                                  int64_t last, int64_t step) {
  double norm = 0.0;
  for (int64_t i = first; i < last; i += step)
    STORE(r, i, LOAD(f, i) - 0.5 * LOAD(x, i));
  for (int64_t i = first; i < last; i += step)
    STORE(x, i, LOAD(x, i) + 0.25 * LOAD(r, i));
  for (int64_t i = first; i < last; i += step) {
    const double size = fabs(LOAD(r, i));
    norm = size > norm ? size : norm;
  }
  return norm;
}
