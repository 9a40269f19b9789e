/* Calls of the five exercises with arguments from exercise_data_t. Included behind them, once for
 * each form of lab/access.h. No include guard. */
#define RUN(number)                                                                                \
  MG_INLINE double RUNG(run_##number)(const exercise_data_t *d, int pass, int64_t first,           \
                                      int64_t last, int64_t step)
RUN(1) {
  (void)pass;
  return RUNG(exercise_1)(d->at[0], d->at[1], d->at[2], first, last, step);
}

RUN(2) {
  (void)pass;
  return RUNG(exercise_2)(d->at[0], d->n, first, last, step), 0.0;
}

RUN(3) {
  (void)pass;
  return RUNG(exercise_3)(d->at[0], d->at[1], d->at[2], d->at[3], d->at[4], d->at[5], d->at[6],
                          d->js, d->ks, first, last, step),
         0.0;
}

RUN(4) {
  (void)pass;
  return RUNG(exercise_4)(d->at[0], first, last, step);
}

RUN(5) {
  return RUNG(exercise_5)(d->at[0], d->at[1], d->at[2], d->at[3], d->n, pass, first, last, step),
         0.0;
}
#undef RUN
