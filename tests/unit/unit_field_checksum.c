/* Checksum of a field: that of all its cells in order, on every backend and any ranks, boxes and
 * shapes of patches, also where a patch has more planes than the buffer. A change of the last bit
 * of one cell changes it. */
#include "io/checksum.h"
#include "tests/lib/fixture.h"

static void test_levels(mg_hierarchy_t *h) {
  for (int l = 0; l < 2; l++) {
    mg_level_t *level = &h->level[l];
    const int64_t n = mg_layout_n_cells(&level->plan->layout);
    double *x = field_random(n, 7);
    const uint64_t want = mg_checksum_doubles(x, n, 0);
    uint64_t got = 0;
    field_put(level, MG_U, x);
    MUST(mg_field_checksum(level, MG_U, &got));
    CHECK_CASE(got == want, (double)got, (double)want);
    x[n / 3] = nextafter(x[n / 3], INFINITY);
    field_put(level, MG_U, x);
    MUST(mg_field_checksum(level, MG_U, &got));
    CHECK_CASE(got != want, (double)got, (double)want);
  }
}

int main(int argc, char **argv) {
  const char *options = "--operator=fv2 --equation=poisson --boundary=dirichlet";
  fixture_begin(&argc, &argv);
  fixture_each("4x3 4x1 7x1", options, test_levels);
  fixture_each("2x1", "boxes=3x2x5 --operator=fv2 --equation=poisson --boundary=dirichlet",
               test_levels);
  return FIXTURE_END();
}
