/* Result rows of the laboratory: medians, rates, and speed-ups over the first row of a table.
 * Wrong results never become a row. */
#include "lab/lab.h"
#include "tests/lib/test.h"
#include <math.h>
#include <string.h>

static void check_median(void) {
  double odd[] = {5.0, 1.0, 3.0}, even[] = {4.0, 1.0, 2.0, 100.0}, one[] = {7.0};
  CHECK(lab_median(odd, 3) == 3.0);
  CHECK(lab_median(even, 4) == 3.0);
  CHECK(lab_median(one, 1) == 7.0);
}

static mg_status_t add(lab_t *lab, const char *name, int64_t elements, double seconds) {
  const lab_row_t r = {.elements = elements, .useful = 16.0, .seconds = seconds};
  return lab_add(lab, &r, "%s", name);
}

static void check_rows(void) {
  lab_t lab = {.copy_gb_per_s = 100.0};
  lab_table(&lab, "copy", "table %d", 1);
  CHECK_INT(add(&lab, "first", 1000000000, 0.5), MG_OK);
  CHECK_INT(add(&lab, "twice as fast", 1000000000, 0.25), MG_OK);
  CHECK_INT(add(&lab, "half of the elements in the first's time", 500000000, 0.5), MG_OK);
  lab_table(&lab, "copy", "table %d", 2);
  CHECK_INT(add(&lab, "another table", 1000000000, 1.0), MG_OK);
  CHECK_INT(lab.n_entries, 4);
  CHECK_NEAR(lab.entry[0].gb_per_s, 32.0, 1e-12);
  CHECK_NEAR(lab.entry[0].of_copy, 0.32, 1e-12);
  CHECK(lab.entry[0].speed_up == 1.0);
  CHECK_NEAR(lab.entry[1].speed_up, 2.0, 1e-12);
  CHECK_NEAR(lab.entry[2].speed_up, 0.5, 1e-12);
  CHECK(lab.entry[3].speed_up == 1.0);
  CHECK_STRING(lab.entry[1].variant, "twice as fast");
  CHECK(strcmp(lab.entry[2].table, "table 1") == 0);
  CHECK(strcmp(lab.entry[3].table, "table 2") == 0);
  lab_free(&lab);
}

static void check_wrong(void) {
  lab_t lab = {.copy_gb_per_s = 100.0};
  lab_table(&lab, "copy", "wrong ones");
  lab_row_t r = {.elements = 10, .useful = 16.0, .seconds = 1.0, .error = 1.0};
  CHECK_INT(lab_add(&lab, &r, "one element"), MG_ERR_INTERNAL);
  r.error = NAN;
  CHECK_INT(lab_add(&lab, &r, "one element"), MG_ERR_INTERNAL);
  r.error = 0.0;
  r.seconds = 0.0;
  CHECK_INT(lab_add(&lab, &r, "one element"), MG_ERR_INTERNAL);
  CHECK_INT(lab.n_entries, 0);
  r.seconds = 1.0;
  CHECK_INT(lab_add(&lab, &r, "one element"), MG_OK);
  CHECK_INT(lab.n_entries, 1);
  lab_free(&lab);
}

/* More rows than the initial capacity: earlier rows stay unchanged. */
static void check_many(void) {
  enum { MANY = 1000 };
  lab_t lab = {.copy_gb_per_s = 1.0};
  lab_table(&lab, "copy", "many");
  for (int i = 0; i < MANY; i++)
    CHECK_INT(add(&lab, "one of many", i + 1, 1.0), MG_OK);
  CHECK_INT(lab.n_entries, MANY);
  for (int i = 0; i < lab.n_entries; i++)
    CHECK_INT(lab.entry[i].row.elements, i + 1);
  lab_free(&lab);
}

/* Cover each i, j and k, with even and odd ones in combination. */
static void check_places_of(int n) {
  int seen[3][512] = {{0}}, corners = 0, mixed = 0;
  for (int q = 0; q < lab_places(n); q++) {
    int at[3], ends = 0;
    lab_place(q, n, at);
    for (int d = 0; d < 3; d++) {
      CHECK(at[d] >= 0 && at[d] < n);
      if (at[d] >= 0 && at[d] < n) seen[d][at[d]]++;
      ends += at[d] == 0 || at[d] == n - 1;
    }
    corners += ends == 3;
    mixed |= 1 << (at[0] % 2 + 2 * (at[1] % 2) + 4 * (at[2] % 2));
  }
  for (int m = 0; m < n && n <= 64; m++)
    CHECK(seen[0][m] > 0 && seen[1][m] > 0 && seen[2][m] > 0);
  CHECK(corners >= 8);
  CHECK_INT(mixed, 255);
}

static void check_places(void) {
  for (int n = 16; n <= 512; n *= 2)
    check_places_of(n);
}

int main(void) {
  check_median();
  check_rows();
  check_wrong();
  check_many();
  check_places();
  return TEST_RESULT();
}
