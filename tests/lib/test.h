/* Checks for unit tests: a failed check prints file:line and the test continues.
 *
 *   int main(void) {
 *     CHECK(1 + 1 == 2);
 *     CHECK_INT(n_boxes, 8);
 *     return TEST_RESULT();   // 0, or 1 after any failure
 *   } */
#ifndef MG_TEST_H
#define MG_TEST_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Exit code that the test harness counts as skipped. */
enum { TEST_SKIP = 77 };

/** Number of failures to print; further ones are only counted. */
enum { TEST_MOST_SHOWN = 50 };

static int test_n_checks, test_n_failures;

/* Count a check. @return false if it failed and the caller must print the values */
static inline bool test_count(bool ok, const char *file, int line, const char *what) {
  test_n_checks++;
  if (ok) return true;
  test_n_failures++;
  if (test_n_failures > TEST_MOST_SHOWN) return true;
  fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  return false;
}

static inline void test_int(long long got, long long want, const char *file, int line,
                            const char *what) {
  if (!test_count(got == want, file, line, what))
    fprintf(stderr, "  got  %lld\n  want %lld\n", got, want);
}

static inline void test_near(double got, double want, double tolerance, const char *file, int line,
                             const char *what) {
  if (!test_count(fabs(got - want) <= tolerance, file, line, what)) /* false for NaN */
    fprintf(stderr, "  got  %.17g\n  want %.17g +- %.3g\n", got, want, tolerance);
}

static inline void test_string(const char *got, const char *want, const char *file, int line,
                               const char *what) {
  if (!test_count(strcmp(got, want) == 0, file, line, what))
    fprintf(stderr, "  got  \"%s\"\n  want \"%s\"\n", got, want);
}

static inline void test_contains(const char *text, const char *part, const char *file, int line,
                                 const char *what) {
  if (!test_count(strstr(text, part) != NULL, file, line, what))
    fprintf(stderr, "  got  \"%s\"\n  want \"...%s...\"\n", text, part);
}

/* printf into a new text, which is kept until the program ends. */
__attribute__((format(printf, 1, 2))) static inline const char *textf(const char *format, ...) {
  enum { SIZE = 1024 };
  static struct kept {
    struct kept *previous;
    char text[SIZE];
  } * last;
  struct kept *t = malloc(sizeof *t);
  va_list values;
  if (!t) abort();
  t->previous = last;
  last = t;
  va_start(values, format);
  if (vsnprintf(t->text, SIZE, format, values) >= SIZE) abort();
  va_end(values);
  return t->text;
}

/* @return the exit code of a skipped test */
static inline int test_skip(const char *why) {
  fprintf(stderr, "skipped: %s\n", why);
  return TEST_SKIP;
}

static inline int test_result(void) {
  printf("%d checks, %d failures\n", test_n_checks, test_n_failures);
  return test_n_failures == 0 ? 0 : 1;
}

#define CHECK(condition)     ((void)test_count((condition), __FILE__, __LINE__, #condition))
#define CHECK_INT(got, want) test_int((long long)(got), (long long)(want), __FILE__, __LINE__, #got)
#define CHECK_NEAR(got, want, tolerance)                                                           \
  test_near((got), (want), (tolerance), __FILE__, __LINE__, #got)
#define CHECK_STRING(got, want)    test_string((got), (want), __FILE__, __LINE__, #got)
#define CHECK_CONTAINS(text, part) test_contains((text), (part), __FILE__, __LINE__, #text)
#define TEST_RESULT()              test_result()

#endif
