/* Sum, rung 1: one sum. Each addition waits for the one before, some four cycles. LAB_OPAQUE keeps
 * the compiler from changing the loop. */
static double RUNG(sum_1)(const double *from, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) {
    LAB_OPAQUE(i);
    sum += LOAD(from, i);
  }
  return sum;
}
