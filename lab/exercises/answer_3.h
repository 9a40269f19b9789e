/* Answer 3: the betas, which the operator needs anyway, give the diagonal. So does the solver on
 * its large levels. */
MG_INLINE void RUNG(exercise_3)(double *__restrict__ before, const double *x, const double *f,
                                const double *dinv, const double *bi, const double *bj,
                                const double *bk, int64_t js, int64_t ks, int64_t first,
                                int64_t last, int64_t step) {
  (void)dinv;
  for (int64_t i = first; i < last; i += step) {
    const double c = LOAD(x, i);
    const double i_low = LOAD(bi, i), i_high = LOAD(bi, i + 1);
    const double j_low = LOAD(bj, i), j_high = LOAD(bj, i + js);
    const double k_low = LOAD(bk, i), k_high = LOAD(bk, i + ks);
    const double diagonal = 0.5 + (i_low + i_high + j_low + j_high + k_low + k_high);
    const double ax = 0.5 * c - (i_high * (LOAD(x, i + 1) - c) + i_low * (LOAD(x, i - 1) - c) +
                                 j_high * (LOAD(x, i + js) - c) + j_low * (LOAD(x, i - js) - c) +
                                 k_high * (LOAD(x, i + ks) - c) + k_low * (LOAD(x, i - ks) - c));
    const double change = 1.0 / diagonal * (LOAD(f, i) - ax);
    STORE(before, i, c + 0.25 * (c - LOAD(before, i)) + 0.5 * change);
  }
}
