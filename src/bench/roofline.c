/* Ladder 6, on any place: the solver's own kernels, from 64^3 to 512^3 cells. Each is timed through
 * the same door as in a solve (ops.h), one of many behind each other, with halos and walls; bytes
 * are the least that it has to move, and flops those of src/stencil.h, fma counting two.
 *
 * The reference is the equation: of f = A u a smoother leaves u as it is, to rounding; what is
 * fused must give the bits of what it is composed of. */
#include "device.h"
#include "lab_cpu.h"
#include "log.h"
#include "ops.h"
#include "problem.h"
#include "transfer.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  mg_hierarchy_t *h;
  int times; /* one behind the other in a run */
  mg_status_t status;
} work_t;

typedef mg_status_t (*kernel_fn)(mg_hierarchy_t *h);

static mg_status_t smooth(mg_hierarchy_t *h) {
  return mg_smooth(&h->level[0], false);
}
static mg_status_t residual(mg_hierarchy_t *h) {
  return mg_residual(&h->level[0], MG_TMP, MG_U, MG_F);
}
static mg_status_t residual_norm(mg_hierarchy_t *h) {
  double norm;
  return mg_residual_norm(&h->level[0], MG_U, MG_F, &norm);
}
static mg_status_t restrict_residual(mg_hierarchy_t *h) {
  return mg_restrict_residual(h, 0);
}
static mg_status_t restrict_cells(mg_hierarchy_t *h) {
  return mg_restrict(h, 0, MG_U, MG_F);
}
static mg_status_t interpolate_v(mg_hierarchy_t *h) {
  return mg_interpolate(h, 0, mg_interpolation_of(h->params.op, MG_CYCLE_V), true);
}
static mg_status_t interpolate_f(mg_hierarchy_t *h) {
  return mg_interpolate(h, 0, mg_interpolation_of(h->params.op, MG_CYCLE_F), false);
}
static mg_status_t axpby(mg_hierarchy_t *h) {
  return mg_axpby(&h->level[0], MG_TMP, 2.0, MG_U, 3.0, MG_F);
}
static mg_status_t fill(mg_hierarchy_t *h) {
  return mg_fill(&h->level[0], MG_TMP, 1.0);
}
static mg_status_t max_norm(mg_hierarchy_t *h) {
  double norm;
  return mg_max_norm(&h->level[0], MG_U, -1, &norm);
}
static mg_status_t dot(mg_hierarchy_t *h) {
  double sum;
  return mg_dot(&h->level[0], MG_U, MG_F, &sum);
}

/* Bytes and flops a cell of the finer level. A smoother's are those of one step; a half sweep
 * computes half of the cells, and moves the lines of all. */
typedef struct {
  const char *name;
  kernel_fn run;
  double bytes, flops;
  bool smooths, changes; /* changes MG_U */
} kernel_t;

static const kernel_t of_fv2[] = {
    {"residual", residual, 48.0, 21.0, false, false},
    {"residual and its norm", residual_norm, 40.0, 22.0, false, false},
    {"residual, restricted", restrict_residual, 41.0, 22.0, false, false},
    {"restriction", restrict_cells, 9.0, 1.0, false, false},
    {"interpolation of corrections", interpolate_v, 17.0, 5.0, false, true},
    {"interpolation of solutions", interpolate_f, 9.0, 16.0, false, true},
    {"a x + b y", axpby, 24.0, 3.0, false, false},
    {"fill", fill, 8.0, 0.0, false, false},
    {"maximum norm", max_norm, 8.0, 1.0, false, false},
    {"dot product", dot, 16.0, 2.0, false, false},
};
static const kernel_t of_fv4[] = {
    {"residual", residual, 48.0, 113.0, false, false},
    {"residual and its norm", residual_norm, 40.0, 114.0, false, false},
    {"residual, restricted", restrict_residual, 41.0, 114.0, false, false},
};
static const kernel_t gsrb = {"GSRB, a half sweep", smooth, 48.0, 15.5, true, true},
                      jacobi = {"Jacobi, a step", smooth, 56.0, 35.0, true, true},
                      chebyshev = {"Chebyshev, a step", smooth, 56.0, 35.0, true, true},
                      gsrb4 = {"GSRB, a half sweep", smooth, 56.0, 57.5, true, true},
                      chebyshev4 = {"Chebyshev, a step", smooth, 64.0, 119.0, true, true};
/* With three steps in a pass: bytes of a pass, of which each step has a third. */
static const kernel_t
    gsrb_passes = {"GSRB, 3 half sweeps a pass", smooth, 48.0 / 3, 15.5, true, true},
    jacobi_passes = {"Jacobi, 3 steps a pass", smooth, 48.0 / 3, 35.0, true, true},
    chebyshev_passes = {"Chebyshev, 3 steps a pass", smooth, 56.0 / 3, 35.0, true, true};

static const struct {
  const char *operator, * smoother;
  const kernel_t *passes, *first, *others; /* passes NULL: none in any place */
  int n_others;
} problems[] = {
    {"fv2", "gsrb", &gsrb_passes, &gsrb, of_fv2, sizeof of_fv2 / sizeof of_fv2[0]},
    {"fv2", "jacobi", &jacobi_passes, &jacobi, NULL, 0},
    {"fv2", "chebyshev", &chebyshev_passes, &chebyshev, NULL, 0},
    {"fv4", "gsrb", NULL, &gsrb4, of_fv4, sizeof of_fv4 / sizeof of_fv4[0]},
    {"fv4", "chebyshev", NULL, &chebyshev4, NULL, 0},
};
enum { N_PROBLEMS = sizeof problems / sizeof problems[0] };

static mg_status_t wait_for(const mg_level_t *level) {
  return level->backend->wait ? level->backend->wait() : MG_OK;
}

/* As lab_seconds, for work that may fail. */
typedef struct {
  work_t work;
  const kernel_t *kernel;
} timed_t;

static void run_timed(void *arg) {
  timed_t *t = arg;
  for (int i = 0; i < t->work.times && t->work.status == MG_OK; i++)
    t->work.status = t->kernel->run(t->work.h);
  if (t->work.status == MG_OK) t->work.status = wait_for(&t->work.h->level[0]);
}

/* How far an operation is from what it must give, relative; 0 where bits must agree. */
typedef struct {
  double error, tolerance;
} check_t;

static double relative(double got, double want) {
  return got == want ? 0.0 : fabs(got - want) / fmax(fabs(got), fabs(want));
}

/* u is f of the problem, and f then A u. */
static mg_status_t begin(mg_hierarchy_t *h) {
  mg_level_t *fine = &h->level[0];
  MG_TRY(mg_axpby(fine, MG_U, 1.0, MG_F, 0.0, -1));
  return mg_residual(fine, MG_F, MG_U, -1);
}

/* Errors of A are of the size of its diagonal, some 10 n^2, times rounding. */
static mg_status_t check_smooth(mg_hierarchy_t *h, check_t *c) {
  mg_level_t *fine = &h->level[0];
  const double n = fine->plan->layout.n;
  double largest, left;
  MG_TRY(mg_max_norm(fine, MG_U, -1, &largest));
  MG_TRY(mg_residual_norm(fine, MG_U, MG_F, &left));
  *c = (check_t){left / (n * n * largest), 1e-12};
  return MG_OK;
}

/* The norm of the residual, in one go and in two. */
static mg_status_t check_residual(mg_hierarchy_t *h, check_t *c) {
  mg_level_t *fine = &h->level[0];
  double fused, composed;
  MG_TRY(mg_axpby(fine, MG_F, 1.0, MG_U, 0.0, -1)); /* else it is rounding alone */
  MG_TRY(mg_residual_norm(fine, MG_U, MG_F, &fused));
  MG_TRY(mg_residual(fine, MG_TMP, MG_U, MG_F));
  MG_TRY(mg_max_norm(fine, MG_TMP, -1, &composed));
  *c = (check_t){relative(fused, composed), 0.0};
  return MG_OK;
}

/* The residual's restriction, in one go and in two: sum and maximum. */
static mg_status_t check_restriction(mg_hierarchy_t *h, check_t *c) {
  mg_level_t *fine = &h->level[0], *coarse = &h->level[1];
  double norm[2], mean[2];
  MG_TRY(mg_axpby(fine, MG_F, 1.0, MG_U, 0.0, -1));
  MG_TRY(mg_restrict_residual(h, 0));
  MG_TRY(mg_max_norm(coarse, MG_F, -1, &norm[0]));
  MG_TRY(mg_mean(coarse, MG_F, &mean[0]));
  MG_TRY(mg_residual(fine, MG_TMP, MG_U, MG_F));
  MG_TRY(mg_restrict(h, 0, MG_TMP, MG_F));
  MG_TRY(mg_max_norm(coarse, MG_F, -1, &norm[1]));
  MG_TRY(mg_mean(coarse, MG_F, &mean[1]));
  *c = (check_t){relative(norm[0], norm[1]) + relative(mean[0], mean[1]), 0.0};
  return MG_OK;
}

/* Twice the coarse values are twice the fine ones, to the last bit. */
static mg_status_t check_interpolation(mg_hierarchy_t *h, mg_interpolation_t kind, check_t *c) {
  mg_level_t *fine = &h->level[0], *coarse = &h->level[1];
  double once, twice;
  MG_TRY(mg_restrict(h, 0, MG_F, MG_U));
  MG_TRY(mg_interpolate(h, 0, kind, false));
  MG_TRY(mg_max_norm(fine, MG_U, -1, &once));
  MG_TRY(mg_axpby(coarse, MG_U, 2.0, MG_U, 0.0, -1));
  MG_TRY(mg_interpolate(h, 0, kind, false));
  MG_TRY(mg_max_norm(fine, MG_U, -1, &twice));
  *c = (check_t){relative(2.0 * once, twice) + (once > 0.0 ? 0.0 : 1.0), 0.0};
  return MG_OK;
}

/* Of ones the maximum is 1 and the dot product the number of cells; 2 x 1 + 3 x 1 is 5. */
static mg_status_t check_vectors(mg_hierarchy_t *h, check_t *c) {
  mg_level_t *fine = &h->level[0];
  const double n = fine->plan->layout.n;
  double one, five, cells;
  MG_TRY(mg_fill(fine, MG_U, 1.0));
  MG_TRY(mg_fill(fine, MG_F, 1.0));
  MG_TRY(mg_max_norm(fine, MG_U, -1, &one));
  MG_TRY(mg_dot(fine, MG_U, MG_F, &cells));
  MG_TRY(mg_axpby(fine, MG_TMP, 2.0, MG_U, 3.0, MG_F));
  MG_TRY(mg_max_norm(fine, MG_TMP, -1, &five));
  *c = (check_t){relative(one, 1.0) + relative(cells, n * n * n) + relative(five, 5.0), 0.0};
  return MG_OK;
}

static mg_status_t check(mg_hierarchy_t *h, const kernel_t *k, check_t *c) {
  if (k->smooths) return check_smooth(h, c);
  if (k->run == residual || k->run == residual_norm) return check_residual(h, c);
  if (k->run == restrict_residual || k->run == restrict_cells) return check_restriction(h, c);
  if (k->run == interpolate_v)
    return check_interpolation(h, mg_interpolation_of(h->params.op, MG_CYCLE_V), c);
  if (k->run == interpolate_f)
    return check_interpolation(h, mg_interpolation_of(h->params.op, MG_CYCLE_F), c);
  return check_vectors(h, c);
}

static mg_status_t add(lab_t *lab, mg_hierarchy_t *h, const kernel_t *k) {
  const mg_level_t *fine = &h->level[0];
  const int64_t n = fine->plan->layout.n;
  /* Launches behind each other; norms wait for their number each time. */
  timed_t timed = {{h, lab->place == LAB_CUDA ? 8 : 1, MG_OK}, k};
  lab_row_t row = {.threads = lab->threads, .elements = n * n * n, .useful = k->bytes};
  check_t c;
  row.flops = k->flops;
  snprintf(row.variant, sizeof row.variant, "%s", k->name);
  MG_TRY(begin(h));
  const double seconds = lab_seconds(lab, run_timed, &timed);
  MG_TRY(timed.work.status);
  row.seconds = seconds / timed.work.times / (k->smooths ? fine->n_steps : 1);
  /* What smoothed is still the solution; all else begins anew. */
  if (!k->smooths) MG_TRY(begin(h));
  MG_TRY(check(h, k, &c));
  row.error = c.error;
  row.tolerance = c.tolerance;
  return lab_add(lab, &row);
}

/* The hierarchy of a problem on n^3 cells, as the program would make it. */
static mg_status_t make(const lab_t *lab, int p, int log2_n, mg_hierarchy_t **h) {
  char size[16], op[32], smoother[32], message[2048] = "";
  snprintf(size, sizeof size, "%d", log2_n);
  snprintf(op, sizeof op, "--operator=%s", problems[p].operator);
  snprintf(smoother, sizeof smoother, "--smoother=%s", problems[p].smoother);
  char *argv[] = {"hpgmg-bench",
                  size,
                  "1",
                  op,
                  smoother,
                  lab->place == LAB_CUDA ? "--device=cuda" : "--device=cpu",
                  "--cpu-below=0",
                  "--memory=device",
                  NULL};
  if (lab->place == LAB_CPU) argv[7] = NULL;
  static mg_params_t params;
  static mg_plan_t plan;
  mg_action_t action;
  mg_status_t status = mg_params_parse(lab->place == LAB_CUDA ? 8 : 7, argv, &params, &action,
                                       message, sizeof message);
  if (status == MG_OK) status = mg_plan_build(&params, 1, &plan, message, sizeof message);
  if (status != MG_OK) return mg_error(status, "roofline: %s", message);
  MG_TRY(mg_device_choose(&params));
  MG_TRY(mg_hierarchy_create(&params, &plan, h));
  status = mg_problem_set_from(*h, NULL);
  if (status != MG_OK) mg_hierarchy_free(*h);
  return status;
}

static mg_status_t table(lab_t *lab, int p, int log2_n) {
  mg_hierarchy_t *h = NULL;
  MG_TRY(make(lab, p, log2_n, &h));
  const int n = 1 << log2_n;
  lab_table(lab, "roofline", "%s, %s, %d^3 cells", problems[p].operator, problems[p].smoother, n);
  mg_status_t status = MG_OK;
  if (problems[p].passes && h->level[0].steps_per_pass == MG_MOST_STEPS_PER_PASS)
    status = add(lab, h, problems[p].passes);
  h->level[0].steps_per_pass = 1;
  if (status == MG_OK) status = add(lab, h, problems[p].first);
  for (int k = 0; k < problems[p].n_others && status == MG_OK; k++)
    status = add(lab, h, &problems[p].others[k]);
  mg_hierarchy_free(h);
  return status;
}

/* Sizes whose vectors are up to twice the size of the other ladders' arrays. */
static mg_status_t tables(lab_t *lab) {
  for (int log2_n = 6; log2_n <= 9; log2_n++)
    for (int p = 0; p < N_PROBLEMS; p++)
      if (log2_n == 6 || (int64_t)8 << 3 * log2_n <= 2 * lab->bytes) MG_TRY(table(lab, p, log2_n));
  return MG_OK;
}

mg_status_t lab_roofline(lab_t *lab) {
  lab->unlike = true;
  const mg_status_t status = tables(lab);
  lab->unlike = false;
  mg_device_close();
  return status;
}
