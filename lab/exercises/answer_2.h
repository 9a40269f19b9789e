/* Answer 2: field by field instead of cell by cell. The solver stores each vector in this way. */
MG_INLINE int64_t RUNG(place)(int64_t i, int field, int64_t n) {
  return field * n + i;
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
