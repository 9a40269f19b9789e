/* Energy counters: the domains of a powercap tree, and which differences of readings are energy. */
#include "run/energy_counter.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/unit_energy.XXXXXX";

static void put(const char *domain, const char *name, const char *content) {
  (void)mkdir(textf("%s/%s", root, domain), 0777); /* may exist */
  FILE *out = fopen(textf("%s/%s/%s", root, domain, name), "w");
  CHECK(out != NULL);
  if (!out) return;
  fputs(content, out);
  fclose(out);
}

static void put_domain(const char *domain, const char *name, const char *joules) {
  put(domain, "name", textf("%s\n", name));
  put(domain, "energy_uj", textf("%s000000\n", joules));
  put(domain, "max_energy_range_uj", "262143328850\n");
}

static void clear(void) {
  CHECK_INT(system(textf("rm -rf '%s'/*", root)), 0);
}

/* Number of counters of a part, and the sum of their values in joules. */
static int count(const mg_counters_t *found, mg_energy_part_t part) {
  int n = 0;
  for (int c = 0; c < found->n; c++)
    n += found->counter[c].part == part;
  return n;
}

static double sum(mg_counters_t *found, mg_energy_part_t part) {
  static mg_reading_t reading[MG_MAX_COUNTERS];
  double joules = 0.0;
  mg_counters_read(found, reading);
  for (int c = 0; c < found->n; c++)
    if (found->counter[c].part == part)
      joules += (double)reading[c].value * found->counter[c].joules;
  return joules;
}

/* Packages, with one or several dies, and psys count. Parts of a package and a second interface to
 * the same counter do not. */
static void test_domains(void) {
  static mg_counters_t found;
  put_domain("intel-rapl:0", "package-0-die-0", "1");
  put_domain("intel-rapl:0:0", "core", "10");
  put_domain("intel-rapl:0:1", "dram", "100");
  put_domain("intel-rapl:1", "package-0-die-1", "2");
  put_domain("intel-rapl:10", "package-1", "4");
  put_domain("intel-rapl:2", "psys", "8");
  put_domain("intel-rapl-mmio:0", "package-0", "1000");
  put_domain("intel-rapl:x", "package-9", "10000");
  mg_powercap_find(&found);
  CHECK_INT(found.state[MG_ENERGY_CPU], MG_ENERGY_OK);
  CHECK_INT(count(&found, MG_ENERGY_CPU), 3);
  CHECK_NEAR(sum(&found, MG_ENERGY_CPU), 7.0, 1e-9);
  CHECK_INT(count(&found, MG_ENERGY_NODE), 1);
  CHECK_NEAR(sum(&found, MG_ENERGY_NODE), 8.0, 1e-9);
  CHECK_INT(found.state[MG_ENERGY_GPU], MG_ENERGY_NONE);
  clear();
}

static void test_missing(void) {
  static mg_counters_t found;
  put_domain("intel-rapl:0:0", "core", "1");
  mg_powercap_find(&found);
  CHECK_INT(found.state[MG_ENERGY_CPU], MG_ENERGY_ABSENT);
  CHECK_INT(found.state[MG_ENERGY_NODE], MG_ENERGY_ABSENT);
  CHECK_INT(found.n, 0);
  CHECK_CONTAINS(found.why[MG_ENERGY_CPU], root);
  clear();
}

/* A counter without a range could wrap unnoticed. Root can read any file, but not a folder. */
static void test_unreadable(void) {
  static mg_counters_t without_range, folder, text;
  static mg_reading_t reading[MG_MAX_COUNTERS];
  put("intel-rapl:0", "name", "package-0\n");
  put("intel-rapl:0", "energy_uj", "5\n");
  mg_powercap_find(&without_range);
  CHECK_INT(without_range.state[MG_ENERGY_CPU], MG_ENERGY_FAILED);
  CHECK_CONTAINS(without_range.why[MG_ENERGY_CPU], "intel-rapl:0/max_energy_range_uj");
  clear();
  put("intel-rapl:0", "name", "package-0\n");
  put("intel-rapl:0", "max_energy_range_uj", "1000\n");
  CHECK_INT(mkdir(textf("%s/intel-rapl:0/energy_uj", root), 0777), 0);
  mg_powercap_find(&folder);
  CHECK_INT(folder.state[MG_ENERGY_CPU], MG_ENERGY_OK);
  mg_counters_read(&folder, reading);
  CHECK_INT(folder.state[MG_ENERGY_CPU], MG_ENERGY_FAILED);
  CHECK_CONTAINS(folder.why[MG_ENERGY_CPU], "intel-rapl:0/energy_uj cannot be read: ");
  clear();
  put_domain("intel-rapl:0", "package-0", "x");
  mg_powercap_find(&text);
  mg_counters_read(&text, reading);
  CHECK_CONTAINS(text.why[MG_ENERGY_CPU], "contains 'x000000', not a number");
  clear();
  /* Reading a pipe would wait for a writer. */
  char why[MG_ENERGY_WHY];
  uint64_t value;
  const char *const pipe = textf("%s/pipe", root);
  CHECK_INT(mkfifo(pipe, 0600), 0);
  CHECK(!mg_powercap_read(pipe, &value, why));
  CHECK_CONTAINS(why, "it is a pipe");
  CHECK_INT(unlink(pipe), 0);
}

/* Readings of a counter with a range of 1000 J, which needs 10 s at 100 W to wrap. */
static void test_joules(void) {
  static const struct {
    mg_reading_t from, to;
    double joules;
    const char *why; /* NULL: accepted */
  } cases[] = {
      {{100, 5.0}, {140, 6.0}, 20.0, NULL},
      {{100, 5.0}, {2000, 15.0}, 950.0, NULL},
      {{100, 5.0}, {99, 6.0}, 0.0, "wrapped or was reset, from 100 to 99"},
      {{100, 5.0}, {140, 15.5}, 0.0, "may have wrapped unnoticed"},
      {{100, 5.0}, {140, 5.5}, 0.0, "only 0.5 s were timed, and it needs 1 s"},
      {{100, 5.0}, {100, 6.0}, 0.0, "did not change in 1 s"},
      {{100, 5.0}, {140, 4.0}, 0.0, "only -1 s were timed"},
  };
  const mg_counter_t counter = {
      .name = "it", .range = 2000, .joules = 0.5, .max_watts = 100.0, .min_seconds = 1.0};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    double joules = 0.0;
    char why[MG_ENERGY_WHY] = "";
    CHECK(mg_counter_joules(&counter, &cases[c].from, &cases[c].to, &joules, why) ==
          (cases[c].why == NULL));
    CHECK_NEAR(joules, cases[c].joules, 0.0);
    CHECK_CONTAINS(why, cases[c].why ? cases[c].why : "");
  }
}

/* The first failure of a part is the one that is reported. */
static void test_first_failure(void) {
  static mg_counters_t counters;
  mg_counters_fail(&counters, MG_ENERGY_CPU, MG_ENERGY_FAILED, "first %d", 1);
  mg_counters_fail(&counters, MG_ENERGY_CPU, MG_ENERGY_ABSENT, "second");
  CHECK_INT(counters.state[MG_ENERGY_CPU], MG_ENERGY_FAILED);
  CHECK_STRING(counters.why[MG_ENERGY_CPU], "first 1");
}

int main(void) {
  if (!mkdtemp(root) || setenv("HPGMG_POWERCAP", root, 1) != 0) return 1;
  test_domains();
  test_missing();
  test_unreadable();
  test_joules();
  test_first_failure();
  CHECK_INT(rmdir(root), 0);
  return TEST_RESULT();
}
