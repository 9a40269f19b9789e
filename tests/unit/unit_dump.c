/* Checksums of planes, and names of numbered files. */
#include "io/checksum.h"
#include "io/dump.h"
#include "params/params_files.h"
#include "tests/lib/test.h"
#include <math.h>
#include <string.h>

/* The value computed by the Python line in docs/format.md. */
static void test_known_checksum(void) {
  const double x[3] = {1.0, -0.5, 0.0};
  const float y[3] = {1.0f, -0.5f, 0.0f};
  CHECK(mg_checksum_doubles(x, 3, 0) == UINT64_C(0x05bb5c1e801c188a));
  CHECK(mg_checksum_floats(y, 3, 5) == UINT64_C(0xa9dd4495b00bad95));
}

/* Partial checksums combine in any order. A moved value or a flipped bit is detected. */
static void test_checksum_of_parts(void) {
  enum { N = 200000 };
  static double x[N];
  for (int i = 0; i < N; i++)
    x[i] = 1.0 / (i + 1);
  const uint64_t whole = mg_checksum_doubles(x, N, 7);
  CHECK(mg_checksum_doubles(x + 70000, N - 70000, 70007) + mg_checksum_doubles(x, 70000, 7) ==
        whole);
  CHECK(mg_checksum_doubles(x, N, 8) != whole);
  const double kept = x[3];
  x[3] = x[4];
  x[4] = kept;
  CHECK(mg_checksum_doubles(x, N, 7) != whole);
  x[4] = x[3];
  x[3] = kept;
  CHECK(mg_checksum_doubles(x, N, 7) == whole);
  x[N - 1] = nextafter(x[N - 1], 1.0);
  CHECK(mg_checksum_doubles(x, N, 7) != whole);
}

/* Any flipped bit of any value is detected, above all of round values, whose low word is 0. */
static void test_flipped_bits(void) {
  static const double values[] = {0.0, 1.0, -0.5, 1e-5, 1.0 / 3.0};
  int missed = 0;
  for (uint64_t index = 0; index < 4096; index++)
    for (int v = 0; v < 5; v++)
      for (int bit = 0; bit < 64; bit++) {
        uint64_t bits;
        double flipped;
        memcpy(&bits, &values[v], sizeof bits);
        bits ^= UINT64_C(1) << bit;
        memcpy(&flipped, &bits, sizeof flipped);
        missed +=
            mg_checksum_doubles(&flipped, 1, index) == mg_checksum_doubles(&values[v], 1, index);
      }
  CHECK_INT(missed, 0);
}

static void check_number(const char *path, int cycles, const char *expected) {
  char numbered[MG_PATH_MAX];
  mg_dump_numbered(path, cycles, numbered);
  CHECK_STRING(numbered, expected);
}

int main(void) {
  test_known_checksum();
  test_checksum_of_parts();
  test_flipped_bits();
  check_number("grid.hdf", 3, "grid.0003.hdf");
  check_number("a.b/grid", 12, "a.b/grid.0012");
  check_number("/x/y.z.h5", 1000, "/x/y.z.1000.h5");
  return TEST_RESULT();
}
