/* --agglomerate-below=auto: times solves with the levels gathered in several ways and uses the
 * fastest. All ways give bit-identical results. Nothing is measured on one rank or on the CPU, and
 * a given value is kept. Uses the guard backend. No test depends on time: any timings are
 * acceptable. */
#include "run/agglomeration.h"
#include "run/trial.h"
#include "tests/lib/fixture.h"
#include "tests/lib/plan_case.h"

static mg_trials_t found;

static int n_ranks(void) {
  return mg_comm_size(mg_comm_world());
}

static void build_on(mg_device_t device, int log2_box_dim, int boxes) {
  set_size(log2_box_dim, (boxes * boxes * boxes + n_ranks() - 1) / n_ranks());
  params.device = device;
  MUST(build(n_ranks()));
}

static void check_fastest(void) {
  const mg_trial_row_t row[] = {
      {.seconds = 5.0}, {.seconds = 4.96}, {.seconds = 7.0}, {.seconds = 4.9}, {.seconds = 4.9}};
  CHECK_INT(mg_trial_fastest(row, 1, 0.0), 0);
  CHECK_INT(mg_trial_fastest(row, 3, 0.0), 1);
  CHECK_INT(mg_trial_fastest(row, 5, 0.0), 3);  /* the first of two equal times */
  CHECK_INT(mg_trial_fastest(row, 3, 0.01), 0); /* 0.8 % is no reason to replace the first */
  CHECK_INT(mg_trial_fastest(row, 5, 0.01), 3);
  CHECK_INT(mg_trial_fastest(row, 5, 0.05), 0);
}

static void check_rows(void) {
  CHECK(found.n_rows >= 2 && found.n_rows <= MG_MAX_TRIALS);
  CHECK(found.best >= 0 && found.best < found.n_rows && found.seconds > 0.0);
  CHECK_INT(found.row[0].below, mg_plan_min_cells_per_rank(MG_PLACE_GUARD));
  CHECK_INT(found.row[0].finest_ranks, 0);
  CHECK_INT(found.row[0].ranks, plan.level[0].layout.n_ranks);
  for (int r = 0; r < found.n_rows; r++) {
    const mg_trial_row_t *row = &found.row[r];
    CHECK(row->seconds > 0.0 && row->ranks <= found.row[0].ranks);
    CHECK(row->finest_ranks == 0 || row->ranks <= row->finest_ranks);
    CHECK(found.row[found.best].seconds <= row->seconds ||
          (found.best == 0 && found.row[0].seconds * 0.99 <= row->seconds));
    for (int d = 0; d < 3; d++)
      CHECK_INT(found.n[d], plan.level[0].layout.n[d]);
  }
}

/* Residual norms of one solve on the levels from `first` on. */
static mg_history_t solve_part(int first) {
  static mg_plan_t part;
  static mg_history_t history;
  mg_hierarchy_t *h;
  double f_norm;
  mg_plan_coarse_part(&plan, &params, first, &part);
  MUST(mg_hierarchy_create(&params, &part, NULL, &h));
  MUST(mg_problem_set(h));
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  MUST(mg_solve(h, 0, f_norm, &history));
  mg_hierarchy_free(h);
  return history;
}

static void check_same(const mg_history_t *a, const mg_history_t *b) {
  CHECK_INT(a->n_cycles, b->n_cycles);
  for (int c = 0; c < a->n_cycles; c++)
    CHECK(a->norm[c] == b->norm[c] && a->rel[c] == b->rel[c]);
}

/* Every row, and the finest level on every number of ranks, gives the same results. */
static void check_results(void) {
  static mg_history_t first, other;
  params.rtol = 1e-8;
  first = solve_part(0);
  for (int r = 0; r < found.n_rows + n_ranks(); r++) {
    params.agglomerate_below = r < found.n_rows ? found.row[r].below : 1000;
    params.finest_ranks = r < found.n_rows ? found.row[r].finest_ranks : r - found.n_rows + 1;
    MUST(build(n_ranks()));
    CHECK(params.finest_ranks == 0 || plan.level[0].layout.n_ranks <= params.finest_ranks);
    other = solve_part(0);
    check_same(&first, &other);
  }
}

/* Part of a plan: the same levels, and results that do not depend on the ranks either. */
static void check_part(void) {
  static mg_plan_t part;
  static mg_history_t first, other;
  build_on(MG_DEVICE_GUARD, 5, 2);
  params.agglomerate_below = 0;
  MUST(build(n_ranks()));
  mg_plan_coarse_part(&plan, &params, 1, &part);
  CHECK_INT(part.n_levels, plan.n_levels - 1);
  for (int l = 0; l < part.n_levels; l++) {
    const mg_level_plan_t *got = &part.level[l], *want = &plan.level[l + 1];
    CHECK_INT(got->layout.n[0], want->layout.n[0]);
    CHECK_INT(got->layout.n_ranks, want->layout.n_ranks);
    CHECK_INT(got->place, want->place);
    CHECK_INT(got->ghost_layers, want->ghost_layers);
    CHECK_INT(got->steps_per_pass, want->steps_per_pass);
    CHECK_INT(got->nests_coarse, want->nests_coarse);
  }
  first = solve_part(1);
  params.agglomerate_below = 100000;
  MUST(build(n_ranks()));
  other = solve_part(1);
  check_same(&first, &other);
}

static void check_choice(mg_device_t device) {
  build_on(device, 4, 2);
  CHECK_INT(params.agglomerate_below, MG_AGGLOMERATE_AUTO);
  params.agglomerate_below = 123;
  MUST(mg_agglomeration_choose(&params, &plan, &found));
  CHECK_INT(params.agglomerate_below, 123);
  CHECK_INT(params.finest_ranks, 0);
  CHECK_INT(found.n_rows, 0);
  params.agglomerate_below = MG_AGGLOMERATE_AUTO;
  MUST(mg_agglomeration_choose(&params, &plan, &found));
  if (device == MG_DEVICE_CPU || n_ranks() == 1) {
    CHECK_INT(found.n_rows, 0);
    CHECK_INT(params.agglomerate_below, MG_AGGLOMERATE_AUTO);
    return;
  }
  check_rows();
  CHECK_INT(params.agglomerate_below, found.row[found.best].below);
  CHECK_INT(params.finest_ranks, found.row[found.best].finest_ranks);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  check_fastest();
  check_choice(MG_DEVICE_CPU);
  check_choice(MG_DEVICE_GUARD);
  build_on(MG_DEVICE_GUARD, 4, 4);
  MUST(mg_agglomeration_measure(&params, &plan, &found));
  if (n_ranks() > 1) check_rows();
  check_results();
  check_part();
  return FIXTURE_END();
}
