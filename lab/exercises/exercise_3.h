/* Exercise 3: compute instead of load.
 *
 * Task: a Chebyshev step of the 7-point operator with variable coefficients; `before` holds the
 * previous iterate, which is overwritten with the next one. 1 / diagonal is loaded from dinv, as it
 * was stored before the first step. The diagonal is 0.5 plus the sum of the cell's six betas. Get
 * rid of the array.
 *
 * Neighbors of cell i are i - 1 and i + 1, i - js and i + js, i - ks and i + ks. bi[i] is the beta
 * of the face between cells i - 1 and i; so are bj and bk in the other two directions.
 *
 * Machine: neighbors come from the cache. Seven arrays are read from memory and one is written: 64
 * bytes per cell. Arithmetic is nearly free, as long as memory is the limit.
 *
 * Goal: 56 bytes per cell.
 * Hint: every beta of the sum is loaded already. The result must keep its bits: multiply by
 * 1.0 / diagonal. */
MG_INLINE void RUNG(exercise_3)(double *__restrict__ before, const double *x, const double *f,
                                const double *dinv, const double *bi, const double *bj,
                                const double *bk, int64_t js, int64_t ks, int64_t first,
                                int64_t last, int64_t step) {
  for (int64_t i = first; i < last; i += step) {
    const double c = LOAD(x, i);
    const double ax =
        0.5 * c - (LOAD(bi, i + 1) * (LOAD(x, i + 1) - c) + LOAD(bi, i) * (LOAD(x, i - 1) - c) +
                   LOAD(bj, i + js) * (LOAD(x, i + js) - c) + LOAD(bj, i) * (LOAD(x, i - js) - c) +
                   LOAD(bk, i + ks) * (LOAD(x, i + ks) - c) + LOAD(bk, i) * (LOAD(x, i - ks) - c));
    const double change = LOAD(dinv, i) * (LOAD(f, i) - ax);
    STORE(before, i, c + 0.25 * (c - LOAD(before, i)) + 0.5 * change);
  }
}
