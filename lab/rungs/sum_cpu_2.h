/* Sum, rung 2: four sums. Their additions do not wait for each other. */
static double RUNG(sum_2)(const double *from, int64_t n) {
  double sum[4] = {0.0}, rest = 0.0;
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    LAB_OPAQUE(i);
    sum[0] += LOAD(from, i);
    sum[1] += LOAD(from, i + 1);
    sum[2] += LOAD(from, i + 2);
    sum[3] += LOAD(from, i + 3);
  }
  for (; i < n; i++)
    rest += LOAD(from, i);
  return sum[0] + sum[1] + sum[2] + sum[3] + rest;
}
