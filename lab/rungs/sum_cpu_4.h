/* Sum, rung 4: 32 sums in vectors. Several registers of sums hide the latency of an addition, and
 * keep more loads in flight. */
static double RUNG(sum_4)(const double *from, int64_t n) {
  double sum[32] = {0.0}, all = 0.0;
  int64_t i = 0;
  for (; i + 32 <= n; i += 32) {
    SIMD()
    for (int u = 0; u < 32; u++)
      sum[u] += LOAD(from, i + u);
  }
  for (; i < n; i++)
    all += LOAD(from, i);
  for (int u = 0; u < 32; u++)
    all += sum[u];
  return all;
}
