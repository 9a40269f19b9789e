/* unit_search_compile: the code generated from programs of hpgmg-bench's search compiles as
 * CUDA, for a GPU that need not be present. Skips in builds without NVRTC. */
#include "lab/search_plan.h"
#include "tests/lib/test.h"
#include <stdlib.h>

static void check_compiled(const plan_set_t *set) {
  char **cubin = calloc((size_t)set->n, sizeof *cubin);
  size_t *bytes = calloc((size_t)set->n, sizeof *bytes);
  CHECK(cubin && bytes);
  if (cubin && bytes) CHECK_INT(plan_compile_all(set, 90, cubin, bytes), MG_OK);
  for (int i = 0; cubin && bytes && i < set->n; i++) {
    CHECK(bytes[i] > 4 && memcmp(cubin[i], "\177ELF", 4) == 0);
    free(cubin[i]);
  }
  free(cubin);
  free(bytes);
}

/* Invalid source is rejected. */
static void check_refused(void) {
  char *cubin = NULL;
  size_t bytes = 0;
  CHECK_INT(plan_compile("no source", 90, &cubin, &bytes), MG_ERR_INTERNAL);
  CHECK(cubin == NULL);
}

int main(void) {
  plan_set_t set;
  if (!plan_can_compile()) return test_skip("build without NVRTC");
  for (int goal = 0; goal < N_PLAN_GOALS; goal++) {
    CHECK_INT(plan_collect((plan_goal_t)goal, 3, 40, &set), MG_OK);
    check_compiled(&set);
    plan_set_free(&set);
  }
  check_refused();
  return TEST_RESULT();
}
