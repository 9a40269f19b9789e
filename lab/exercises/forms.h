/* The table EXERCISE_FORMS of the forms that calls.h has made. No include guard. */
#define FORM(number)                                                                               \
  static double call_##number(const exercise_data_t *d, int pass, int64_t first, int64_t last,     \
                              int64_t step) {                                                      \
    /* Known to be 1 in a copy of the kernel, which the compiler can vectorize. */                 \
    return step == 1 ? run_##number(d, pass, first, last, 1)                                       \
                     : run_##number(d, pass, first, last, step);                                   \
  }                                                                                                \
  static double call_##number##_counted(const exercise_data_t *d, int pass, int64_t first,         \
                                        int64_t last, int64_t step) {                              \
    return run_##number##_counted(d, pass, first, last, step);                                     \
  }
FORM(1)
FORM(2)
FORM(3)
FORM(4)
FORM(5)
#undef FORM

static int64_t call_place(int64_t i, int field, int64_t n) {
  return place(i, field, n);
}

const exercise_form_t EXERCISE_FORMS[EXERCISES] = {
    {call_1, call_1_counted, 1, NULL},      {call_2, call_2_counted, 1, call_place},
    {call_3, call_3_counted, 1, NULL},      {call_4, call_4_counted, 1, NULL},
    {call_5, call_5_counted, PASSES, NULL},
};
