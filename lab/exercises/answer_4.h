/* Answer 4: sixteen sums, which a CPU holds in two or more vectors. */
MG_INLINE double RUNG(exercise_4)(const double *x, int64_t first, int64_t last, int64_t step) {
  enum { SUMS = 16 };
  double sum[SUMS] = {0.0}, all = 0.0;
  int64_t i = first;
  for (; i + (SUMS - 1) * step < last; i += SUMS * step)
    for (int u = 0; u < SUMS; u++)
      sum[u] += LOAD(x, i + u * step);
  for (; i < last; i += step)
    all += LOAD(x, i);
  for (int u = 0; u < SUMS; u++)
    all += sum[u];
  return all;
}
