/* parity_traits: an operator uses exactly what its row of traits lists. Here 7pt's row has the
 * mathematics of fv2 and lists no fast path, as a new operator would. Every level is plain, and
 * solves are bit-identical to those of fv2, which lists all paths. The row of fv4 is empty, so the
 * plan refuses fv4. The row of 27pt has another number of points, for which no error is known. */
#include "level/ops.h"
#include "level/smooth.h"
#include "run/verify.h"
#include "solver/problem.h"
#include "tests/lib/fixture.h"

#define FV2                                                                                        \
  .points = 7, .radius = 1, .in_place = true, .order = 2, .weights = 4.0, .wall_order = 2,         \
  .v = MG_INTERPOLATE_V2, .f = MG_INTERPOLATE_V2, .gsrb_smooths = 3, .jacobi_smooths = 6,          \
  .degree = 6, .rounding = {0.014, 0.014}

/* Instead of the table in the library. */
static const mg_operator_traits_t none,
    fv2 = {FV2,
           .sums_diagonal = true,
           .max_steps = MG_MAX_STEPS_PER_PASS,
           .pass_planes = 1,
           .pass_box_dim = 1,
           .paths = ~0u & ~MG_PATH_SPLIT},
    mock = {FV2, .edges = true, .max_steps = 1}, other = {.points = 9, .radius = 1, .order = 2};
const mg_operator_traits_t *const mg_operator_traits[] = {[MG_OPERATOR_FV2] = &fv2,
                                                          [MG_OPERATOR_FV4] = &none,
                                                          [MG_OPERATOR_7PT] = &mock,
                                                          [MG_OPERATOR_27PT] = &other};
const int mg_n_operators = MG_OPERATOR_27PT + 1;

enum { MOST_CASES = 1000 };
static uint64_t hash[2][MOST_CASES];
static int n_cases[2], fast_levels;

static bool is_plain(const mg_level_plan_t *p) {
  return p->place != MG_PLACE_CUDA && p->steps_per_pass == 1 && !p->resident &&
         !p->fused_residual && !p->fused_interpolation && !p->one_exchange;
}

static void test_solve(mg_hierarchy_t *h) {
  const bool is_mock = h->params.op == MG_OPERATOR_7PT;
  for (int l = 0; l < h->n_levels; l++) {
    CHECK(!is_mock || is_plain(h->level[l].plan));
    fast_levels += !is_plain(h->level[l].plan);
  }
  const mg_history_t *history = fixture_solve(h);
  double *u = field_get(&h->level[0], MG_U);
  for (int c = 0; c < history->n_cycles; c++)
    u[c] += history->norm[c];
  const int c = n_cases[is_mock]++;
  MUST(c < MOST_CASES ? MG_OK : MG_ERR_INTERNAL);
  hash[is_mock][c] = field_hash(u, mg_volume(h->level[0].store.view.n));
  CHECK(!is_mock || hash[0][c] == hash[1][c]);
}

static void test_refusal(void) {
  static mg_params_t params;
  static mg_plan_t plan;
  char message[256] = "";
  mg_params_defaults(&params);
  params.log2_box_dim = 4;
  params.boxes_per_rank = 1;
  params.op = MG_OPERATOR_FV4;
  CHECK_INT(mg_plan_build(&params, 1, &plan, message, sizeof message), MG_ERR_USAGE);
  CHECK(strstr(message, "has no traits"));
  /* Another path than those of smooths. */
  mg_hierarchy_t *h;
  params.op = MG_OPERATOR_7PT;
  params.device = MG_DEVICE_CPU;
  params.bottom = MG_BOTTOM_DIRECT;
  MUST(mg_plan_build(&params, mg_comm_size(mg_comm_world()), &plan, message, sizeof message));
  MUST(mg_hierarchy_create(&params, &plan, NULL, &h));
  CHECK_INT(mg_problem_set(h), MG_ERR_USAGE);
  mg_hierarchy_free(h);
}

/* Without a known error, any error of a converged solve passes. */
static void test_verdict(void) {
  static mg_params_t params;
  static mg_result_t r;
  mg_params_defaults(&params);
  r.n_sizes = r.n_sizes_planned = MG_N_SIZES;
  r.error = r.order = 1.0;
  for (int s = 0; s < MG_N_SIZES; s++) {
    r.size[s].n[0] = r.size[s].n[1] = r.size[s].n[2] = 128 >> s;
    r.size[s].history = (mg_history_t){.n_cycles = 1, .converged = true, .diverged_level = -1};
  }
  params.op = MG_OPERATOR_FV2;
  mg_verify(&params, &r);
  CHECK(!r.passed);
  params.op = MG_OPERATOR_27PT;
  mg_verify(&params, &r);
  CHECK(r.passed);
  CHECK_STRING(r.note, "--operator=27pt: only the residual is checked");
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  test_refusal();
  test_verdict();
  /* Two lists: then each backend has all combinations. */
  fixture_each("4x1 4x2",
               "--operator=fv2,7pt --equation=poisson --smoother=gsrb --rtol=1e-30 --max-cycles=2",
               test_solve);
  fixture_each(
      "4x2",
      "--operator=fv2,7pt --equation=helmholtz --smoother=chebyshev --rtol=1e-30 --max-cycles=2",
      test_solve);
  CHECK(fast_levels > 0 && n_cases[0] > 0);
  CHECK_INT(n_cases[0], n_cases[1]);
  return FIXTURE_END();
}
