/* Answer 1: one loop. The residual stays in a register, and nothing stores it. */
MG_INLINE double RUNG(exercise_1)(double *x, const double *f, double *r, int64_t first,
                                  int64_t last, int64_t step) {
  double norm = 0.0;
  (void)r;
  for (int64_t i = first; i < last; i += step) {
    const double old = LOAD(x, i), residual = LOAD(f, i) - 0.5 * old;
    const double size = fabs(residual);
    STORE(x, i, old + 0.25 * residual);
    norm = size > norm ? size : norm;
  }
  return norm;
}
