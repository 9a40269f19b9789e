/* Exact sums: order, grouping and rank count change no bit. The error is less than one unit in
 * the last place. The reference is a 2240-bit number in two's complement. */
#include "base/sum.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"
#include <float.h>
#include <stdlib.h>

enum { WORDS = 70 }; /* 32-bit words from 2^-1074 up: 116 bits above the largest double */

typedef struct {
  uint32_t word[WORDS];
} big_t;

/* big += term, or big -= term if minus */
static void big_add(big_t *big, double term, bool minus) {
  int exponent;
  const double fraction = frexp(fabs(term), &exponent);
  /* term| = mantissa * 2^(position - 1074). Subnormals have fewer bits, none below 2^-1074. */
  int position = exponent - 53 + 1074;
  uint64_t mantissa = (uint64_t)ldexp(fraction, 53);
  for (; position < 0; position++)
    mantissa /= 2;
  const bool negative = (term < 0.0) != minus;
  unsigned __int128 shifted = (unsigned __int128)mantissa << position % 32;
  int64_t carry = 0;
  for (int w = position / 32; w < WORDS; w++, shifted >>= 32) {
    const int64_t part = (int64_t)(uint32_t)shifted;
    const int64_t sum = (int64_t)big->word[w] + (negative ? -part : part) + carry;
    big->word[w] = (uint32_t)sum;
    carry = sum >> 32;
  }
}

/* True if |big| < 2^exponent. */
static bool big_is_below(const big_t *big, int exponent) {
  const uint32_t sign = big->word[WORDS - 1] >> 31 ? 0xffffffffU : 0;
  const int bits = exponent + 1074;
  bool power = sign != 0; /* for -2^exponent itself, all lower bits are 0 */
  for (int w = 0; w < WORDS; w++)
    for (int b = 0; b < 32; b++) {
      const bool differs = ((big->word[w] ^ sign) >> b & 1) != 0;
      if (32 * w + b >= bits && differs) return false;
      if (32 * w + b < bits && !differs) power = false;
    }
  return !power || bits < 0;
}

static double sum_of(const double *term, int n) {
  mg_sum_t sum = {{0}};
  for (int i = 0; i < n; i++)
    mg_sum_add(&sum, term[i]);
  return mg_sum_value(&sum);
}

static bool same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

/* Equal numbers have equal canonical digits. */
static bool same_number(const mg_sum_t *a, const mg_sum_t *b) {
  mg_sum_t x = *a, y = *b;
  mg_sum_normalize(&x);
  mg_sum_normalize(&y);
  return memcmp(&x, &y, sizeof x) == 0;
}

static void shuffle(random_t *r, double *term, int n) {
  for (int i = n - 1; i > 0; i--) {
    const int64_t j = random_int(r, 0, i);
    const double swap = term[i];
    term[i] = term[j];
    term[j] = swap;
  }
}

/* A random finite double with its exponent between two limits (0 is subnormal). */
static double random_double(random_t *r, int lo, int hi) {
  const uint64_t exponent = (uint64_t)random_int(r, lo, hi);
  const uint64_t bits = (random_bits(r) & 0x800fffffffffffffULL) | exponent << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

enum { N_TERMS = 1000 };

/* Ranges of biased exponents: all, subnormal, around 1, the largest, and a few binades. */
static const int ranges[][2] = {{0, 2046},   {0, 0},       {0, 60},     {1000, 1046},
                                {990, 1100}, {1990, 2035}, {1023, 1026}};
enum { N_RANGES = sizeof ranges / sizeof ranges[0] };

static void test_against_long_number(void) {
  random_t r = {1};
  for (int round = 0; round < 60; round++) {
    const int *range = ranges[round % N_RANGES];
    const int n = (int)random_int(&r, 1, N_TERMS);
    mg_sum_t sum = {{0}};
    big_t big = {{0}};
    for (int i = 0; i < n; i++) {
      const double term = random_double(&r, range[0], range[1]);
      mg_sum_add(&sum, term);
      big_add(&big, term, false);
    }
    const double value = mg_sum_value(&sum);
    if (!isfinite(value)) { /* overflow: the number exceeds the largest double */
      CHECK(isinf(value) && !big_is_below(&big, 1023));
      continue;
    }
    int exponent;
    frexp(value, &exponent);
    big_add(&big, value, true);
    /* One unit in the last place of a value in [2^(e-1), 2^e) is 2^(e-53). For subnormals it is
     * 2^-1074, and the sum is exact. */
    CHECK(big_is_below(&big, exponent - 53 > -1074 ? exponent - 53 : -1074));
  }
}

static void test_order(void) {
  static double term[N_TERMS];
  random_t r = {2};
  for (int round = 0; round < 2 * N_RANGES; round++) {
    const int *range = ranges[round % N_RANGES];
    for (int i = 0; i < N_TERMS; i++)
      term[i] = random_double(&r, range[0], range[1]);
    const double value = sum_of(term, N_TERMS);
    for (int again = 0; again < 5; again++) {
      shuffle(&r, term, N_TERMS);
      CHECK(same_bits(sum_of(term, N_TERMS), value));
    }
  }
}

/* Terms are split into parts, and the parts are merged in any order. Some parts are normalized
 * first, as before a sum over ranks. */
static void test_grouping(void) {
  enum { MOST = 40 };
  random_t r = {3};
  for (int round = 0; round < 3 * N_RANGES; round++) {
    const int *range = ranges[round % N_RANGES], n_parts = (int)random_int(&r, 1, MOST);
    mg_sum_t whole = {{0}}, merged = {{0}}, part[MOST] = {{{0}}};
    for (int i = 0; i < N_TERMS; i++) {
      const double term = random_double(&r, range[0], range[1]);
      mg_sum_add(&whole, term);
      mg_sum_add(&part[random_int(&r, 0, n_parts - 1)], term);
    }
    const int first = (int)random_int(&r, 0, n_parts - 1);
    for (int p = 0; p < n_parts; p++) {
      mg_sum_t *next = &part[(first + p) % n_parts];
      if (random_int(&r, 0, 1)) mg_sum_normalize(next);
      mg_sum_merge(&merged, next);
    }
    CHECK(same_number(&whole, &merged));
    CHECK(same_bits(mg_sum_value(&whole), mg_sum_value(&merged)));
  }
}

/* Many terms at once: of one range, or of two, some of them far smaller than the others. */
static void test_all_at_once(void) {
  static double term[N_TERMS];
  random_t r = {9};
  for (int round = 0; round < 40 * N_RANGES; round++) {
    const int *range = ranges[round % N_RANGES], *other = ranges[random_int(&r, 0, N_RANGES - 1)];
    const int n = (int)random_int(&r, 1, N_TERMS);
    mg_sum_t single = {{0}}, all = {{0}};
    for (int i = 0; i < n; i++) {
      const int *from = random_int(&r, 0, 9) > 0 ? range : other;
      term[i] = random_int(&r, 0, 9) > 0 ? random_double(&r, from[0], from[1]) : 0.0;
      mg_sum_add(&single, term[i]);
    }
    mg_sum_add_all(&all, term, n);
    CHECK(same_number(&single, &all));
    term[random_int(&r, 0, n - 1)] = random_int(&r, 0, 1) ? NAN : INFINITY;
    mg_sum_add_all(&all, term, n);
    CHECK(isnan(mg_sum_value(&all)));
  }
}

/* Whole chunks of the largest terms of every binade, of one sign: sums of their parts need all bits
 * of a double. A much smaller term needs further parts. */
static void test_full_chunks(void) {
  double term[2 * MG_SUM_CHUNK];
  random_t r = {10};
  for (int exponent = 0; exponent < 2047; exponent++) {
    const int n = 2 * MG_SUM_CHUNK - (int)random_int(&r, 0, 1);
    const double sign = exponent % 2 ? -1.0 : 1.0;
    mg_sum_t single = {{0}}, all = {{0}};
    for (int i = 0; i < n; i++) {
      const bool small = i == MG_SUM_CHUNK + 1;
      term[i] = sign * fabs(random_double(&r, small ? exponent / 2 : exponent, exponent));
      mg_sum_add(&single, term[i]);
    }
    mg_sum_add_all(&all, term, n);
    CHECK(same_number(&single, &all));
  }
}

static void test_normalized_digits(void) {
  random_t r = {4};
  for (int round = 0; round < 2 * N_RANGES; round++) {
    mg_sum_t sum = {{0}};
    for (int i = 0; i < N_TERMS; i++)
      mg_sum_add(&sum, random_double(&r, ranges[round % N_RANGES][0], ranges[round % N_RANGES][1]));
    const double value = mg_sum_value(&sum);
    mg_sum_normalize(&sum);
    for (int i = 0; i < MG_SUM_DIGITS - 1; i++)
      CHECK(sum.digit[i] >= 0 && sum.digit[i] < 0x100000000LL);
    CHECK_INT(sum.digit[MG_SUM_NONFINITE], 0);
    CHECK(same_bits(mg_sum_value(&sum), value));
  }
}

/* 2^30 terms with the largest possible digit, by doubling without a carry in between. */
static void test_room_for_terms(void) {
  const double largest[] = {DBL_MAX, -DBL_MAX, 2.0 - DBL_EPSILON, nextafter(DBL_MIN, 0.0)};
  for (int exponent = -1022; exponent <= 990; exponent++) {
    const double term = ldexp(2.0 - DBL_EPSILON, exponent);
    mg_sum_t sum = {{0}};
    mg_sum_add(&sum, term);
    for (int doubling = 0; doubling < 30; doubling++)
      mg_sum_merge(&sum, &sum);
    CHECK(mg_sum_value(&sum) == ldexp(term, 30));
  }
  for (int i = 0; i < 4; i++) {
    mg_sum_t sum = {{0}}, less = {{0}};
    mg_sum_add(&sum, largest[i]);
    mg_sum_add(&less, -largest[i]);
    for (int doubling = 0; doubling < 30; doubling++) {
      mg_sum_merge(&sum, &sum);
      mg_sum_merge(&less, &less);
    }
    mg_sum_add(&less, largest[i]); /* all but one */
    mg_sum_merge(&sum, &less);
    CHECK(same_bits(mg_sum_value(&sum), largest[i]));
  }
}

static void test_known_sums(void) {
  static const struct {
    double term[5], value;
  } cases[] = {
      {{0.0}, 0.0},
      {{-0.0, -0.0}, 0.0},
      {{1.0, 2.0, 3.0, 4.0, 5.0}, 15.0},
      {{1e308, 1.0, -1e308}, 1.0},
      {{1e308, 5e-324, -1e308}, 5e-324},
      {{1.0, 0x1p-60, -1.0}, 0x1p-60},
      {{0.1, 0.2, -0.3}, 0x1p-55}, /* 0.1 + 0.2 - 0.3 of the rounded decimals, exactly */
      {{-1e300, 1e300, -3e-310}, -3e-310},
      {{0x0.fffffffffffffp-1022, 0x1p-1074}, 0x1p-1022}, /* subnormals carry into normals */
      {{DBL_MAX, DBL_MAX, -DBL_MAX}, DBL_MAX},
      {{DBL_MAX, DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX}, DBL_MAX},
      {{DBL_MAX, DBL_MAX}, INFINITY},
      {{-DBL_MAX, -DBL_MAX}, -INFINITY},
      {{-DBL_MAX, -0x1p971, 1.0}, -INFINITY},
      {{1.0, -1.0, 0x1p-1074, -0x1p-1074}, 0.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    CHECK(same_bits(sum_of(cases[i].term, 5), cases[i].value));
}

static void test_closed_forms(void) {
  mg_sum_t numbers = {{0}}, powers = {{0}}, cubes = {{0}};
  for (int i = 1; i <= 100000; i++) {
    mg_sum_add(&numbers, i);
    mg_sum_add(&cubes, -(double)i * i * i);
  }
  CHECK(mg_sum_value(&numbers) == 5000050000.0);
  /* -(n (n+1) / 2)^2 has 65 bits. The conversion rounds once; the sum rounds at most to a
   * neighbor. */
  const double squared = -(double)((unsigned __int128)5000050000 * 5000050000);
  CHECK(fabs(mg_sum_value(&cubes) - squared) <= ldexp(1.0, 64 - 52));
  for (int i = -1074; i < 1023; i++)
    mg_sum_add(&powers, ldexp(1.0, i)); /* 2^1023 - 2^-1074 */
  CHECK(mg_sum_value(&powers) == 0x1p1023);
  mg_sum_add(&powers, -0x1p1023);
  CHECK(mg_sum_value(&powers) == -0x1p-1074);
}

/* One non-finite term makes the sum NaN, regardless of the other terms and their order. */
static void test_not_finite(void) {
  const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 4; i++) {
    mg_sum_t sum = {{0}}, other = {{0}};
    mg_sum_add(&other, 1.0);
    CHECK(mg_sum_value(&other) == 1.0);
    mg_sum_add(&sum, 1.0);
    mg_sum_add(&sum, bad[i]);
    mg_sum_add(&sum, -1.0);
    CHECK(isnan(mg_sum_value(&sum)));
    mg_sum_normalize(&sum);
    CHECK(isnan(mg_sum_value(&sum)));
    mg_sum_merge(&other, &sum);
    CHECK(isnan(mg_sum_value(&other)));
    mg_sum_add(&sum, -bad[i]); /* does not cancel */
    CHECK(isnan(mg_sum_value(&sum)));
  }
}

int main(void) {
  test_against_long_number();
  test_order();
  test_grouping();
  test_all_at_once();
  test_full_chunks();
  test_normalized_digits();
  test_room_for_terms();
  test_known_sums();
  test_closed_forms();
  test_not_finite();
  return TEST_RESULT();
}
