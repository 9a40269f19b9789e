/* Sum, rung 3: a vector of sums. One instruction adds to all lanes of a register. */
static double RUNG(sum_3)(const double *from, int64_t n) {
  double sum = 0.0;
  SIMD(reduction(+ : sum))
  for (int64_t i = 0; i < n; i++)
    sum += LOAD(from, i);
  return sum;
}
