/* cycle_groups: groups of ranks solve different problems at the same time, each group as its own
 * world. Results are those of all ranks together. On one rank, only that a group may be the world.
 */
#include "comm/comm_wings.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include <string.h>

enum { PROBLEMS = 2 };
static const char *const problems[PROBLEMS] = {
    "--operator=fv2 --boundary=dirichlet --rtol=1e-8",
    "--operator=7pt --boundary=periodic --equation=helmholtz --smoother=chebyshev --rtol=1e-6"};

static mg_history_t solve(const fixture_backend_t *backend, int problem) {
  mg_hierarchy_t *h = fixture_create(backend, 4, 2, problems[problem]);
  const mg_history_t history = *fixture_solve(h);
  mg_hierarchy_free(h);
  fixture_release();
  return history;
}

static void check_same(const mg_history_t *got, const mg_history_t *want) {
  CHECK_INT(got->n_cycles, want->n_cycles);
  CHECK_SAME(got->norm, want->norm, want->n_cycles);
}

/* Every second rank is in the same group. Group g solves problem g and then the other one. */
static void test(const fixture_backend_t *backend) {
  const int rank = mg_comm_rank(mg_comm_world()), size = mg_comm_size(mg_comm_world());
  mg_history_t together[PROBLEMS];
  mg_comm_t *group = NULL;
  for (int p = 0; p < PROBLEMS; p++)
    together[p] = solve(backend, p);
  for (int g = 0; g < PROBLEMS; g++) {
    mg_comm_t *members;
    MUST(mg_comm_split(mg_comm_world(), rank % PROBLEMS == g, &members));
    if (members) group = members;
  }
  mg_comm_t *before = mg_comm_enter(group);
  CHECK_INT(mg_comm_size(mg_comm_world()), (size + PROBLEMS - 1 - rank % PROBLEMS) / PROBLEMS);
  CHECK_INT(mg_comm_rank(mg_comm_world()), rank / PROBLEMS);
  for (int p = 0; p < PROBLEMS; p++) {
    const int problem = (rank + p) % PROBLEMS;
    const mg_history_t apart = solve(backend, problem);
    check_same(&apart, &together[problem]);
  }
  CHECK(mg_comm_enter(before) == group || size == 1);
  CHECK_INT(mg_comm_size(mg_comm_world()), size);
  mg_comm_free(group);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  for (const fixture_backend_t *backend = fixture_backends; backend->name; backend++)
    if (strncmp(backend->name, "cuda", 4) != 0) test(backend);
  return FIXTURE_END();
}
