/* Message accounting: the levels' counters match the requests to MPI, message by message and
 * byte by byte, each on its own level, and every reduction. This program interposes MPI_Isend
 * and MPI_Allreduce: its versions count and then call MPI's own. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "level/ops.h"
#include "level/transfer.h"
#include "solver/problem.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include "wings.h"
#ifdef HAVE_MPI
#include <mpi.h>

static mg_traffic_t asked;
static mg_traffic_t before[MG_MAX_LEVELS];

int MPI_Isend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *request) {
  int size = 0;
  PMPI_Type_size(type, &size);
  asked.messages++;
  asked.bytes += (int64_t)count * size;
  return PMPI_Isend(data, count, type, rank, tag, comm, request);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  asked.reductions++;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

static void begin(const mg_hierarchy_t *h) {
  memset(&asked, 0, sizeof asked);
  for (int l = 0; l < h->n_levels; l++)
    before[l] = h->level[l].timers.traffic;
}

/* All requests to MPI since begin() are accounted for, on all levels or on one alone. */
static void check_accounts(const mg_hierarchy_t *h, int alone) {
  mg_traffic_t all = {0, 0, 0};
  for (int l = 0; l < h->n_levels; l++) {
    const mg_traffic_t *now = &h->level[l].timers.traffic;
    const int64_t messages = now->messages - before[l].messages;
    if (alone >= 0 && l != alone) CHECK_INT(messages, 0);
    /* Only ranks with cells on a level send from it. */
    if (!h->level[l].comm) CHECK_INT(messages, 0);
    all.messages += messages;
    all.bytes += now->bytes - before[l].bytes;
    all.reductions += now->reductions - before[l].reductions;
  }
  CHECK_INT(all.messages, asked.messages);
  CHECK_INT(all.bytes, asked.bytes);
  CHECK_INT(all.reductions, asked.reductions);
}

/* Messages of all ranks since begin(). */
static double messages_of_all(void) {
  double messages = (double)asked.messages;
  MUST(mg_comm_sum(mg_comm_world(), &messages, 1));
  return messages;
}

static void check_level(mg_hierarchy_t *h, int l) {
  mg_level_t *level = &h->level[l];
  double value;
  for (int box = 0; box < 2; box++) {
    begin(h);
    MUST(mg_halo(level, MG_U, box));
    check_accounts(h, l);
    /* The ranks of a level are neighbors. */
    CHECK((messages_of_all() > 0.0) == (level->plan->layout.n_ranks > 1));
  }
  begin(h);
  MUST(mg_dot(level, MG_U, MG_F, &value));
  check_accounts(h, -1);
  MUST(mg_max_norm(level, MG_U, -1, &value));
  MUST(mg_residual_norm(level, MG_U, MG_F, &value));
  check_accounts(h, -1);
}

/* Ranks with fine cells send restricted values; ranks with coarse cells send coarse values. */
static void check_transfers(mg_hierarchy_t *h, int l) {
  begin(h);
  MUST(mg_restrict(h, l, MG_F, MG_F));
  check_accounts(h, l);
  begin(h);
  MUST(mg_interpolate(h, l, mg_interpolation_of(h->params.op, MG_CYCLE_V), MG_U, true, false));
  check_accounts(h, l + 1);
}

static void test_hierarchy(mg_hierarchy_t *h) {
  static mg_history_t history;
  double f_norm;
  /* Other transports between devices do not use MPI. */
  const char *way = mg_transports_name(h->transports);
  if (strcmp(way, "host") != 0 && strcmp(way, "none") != 0) return;
  for (int l = 0; l < h->n_levels; l++) {
    check_level(h, l);
    if (l + 1 < h->n_levels) check_transfers(h, l);
  }
  for (int top = 0; top < 2; top++) {
    MUST(mg_problem_restrict_rhs(h, top, &f_norm));
    begin(h);
    MUST(mg_solve(h, top, f_norm, &history));
    check_accounts(h, -1);
  }
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_each("4x2 4x3", "--equation=poisson --coarsest=4", test_hierarchy);
  fixture_each("4x2 4x3",
               "--operator=7pt --equation=helmholtz " MG_IF_KRYLOV(
                   "--krylov=cg ") "--rtol=1e-2 --smoother=gsrb,symgs",
               test_hierarchy);
  return FIXTURE_END();
}
#else
int main(void) {
  return test_skip("build without MPI sends no messages");
}
#endif
