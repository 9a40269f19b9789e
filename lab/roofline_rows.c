/* Rows of the solver's kernels: the hierarchy of a problem, and the time of a kernel. */
#include "base/log.h"
#include "base/timers.h"
#include "device/device_select.h"
#include "formulas/index.h"
#include "lab/roofline.h"
#include "params/params_files.h"
#include "solver/domain.h"
#include "solver/problem.h"
#include <math.h>

/* Like lab_seconds, for work that may fail. */
typedef struct {
  mg_hierarchy_t *h;
  roofline_kind_t kind;
  int times; /* repetitions per run */
  mg_status_t status;
} timed_t;

static void run_timed(void *arg) {
  timed_t *t = arg;
  double number;
  for (int i = 0; i < t->times && t->status == MG_OK; i++)
    t->status = roofline_run(t->h, t->kind, &number);
}

/* On a GPU a run is several successive launches, to hide launch latency: 4 ms of them, at most
 * eight (a norm waits for its result each time). */
static mg_status_t choose_times(timed_t *t) {
  const double wanted = 4e-3;
  double one = 0.0;
  for (int run = 0; run < 2; run++) { /* the first run loads the kernel */
    MG_TRY(roofline_wait(&t->h->level[0]));
    const double start = mg_now();
    run_timed(t);
    MG_TRY(t->status);
    MG_TRY(roofline_wait(&t->h->level[0]));
    one = mg_now() - start;
  }
  t->times = one * 8 < wanted ? 8 : one < wanted ? (int)(wanted / one) : 1;
  return MG_OK;
}

mg_status_t roofline_add(lab_t *lab, const roofline_place_t *place, mg_hierarchy_t *h,
                         const roofline_kernel_t *kernel, int steps, double error) {
  const mg_level_t *fine = &h->level[0];
  timed_t timed = {h, kernel->kind, 1, MG_OK};
  lab_row_t row = {.threads = lab->threads,
                   .elements = mg_layout_n_cells(&fine->plan->layout),
                   .useful = kernel->bytes,
                   .flops = kernel->flops,
                   .error = error};
  /* Bytes of a smooth are divided among its steps, and counted once per pass. */
  const double smooth = 6.0 * fine->store.value_bytes;
  row.footprint = (double)row.elements *
                  (kernel->kind == ROOFLINE_SMOOTHS ? smooth : fmin(kernel->bytes, smooth));
  MG_TRY(roofline_begin(place, h));
  lab_t runs = *lab; /* CPU runs take up to some tenths of a second */
  if (lab->place == LAB_CPU && runs.min_runs > 9) runs.min_runs = 9;
  if (lab->place == LAB_CUDA) MG_TRY(choose_times(&timed));
  MG_TRY(place->time(&runs, run_timed, &timed, &row));
  MG_TRY(timed.status);
  row.seconds /= timed.times * steps;
  return lab_add(lab, &row, "%s", kernel->name);
}

/* Position-dependent values, small compared with beta / h^2. */
static mg_status_t load_alpha(void *data, mg_hierarchy_t *h) {
  const roofline_place_t *place = data;
  const mg_patch_t *p = &h->level[0].store.view.patch[0];
  double *first = mg_cell(p, MG_ALPHA, 0, 0, 0);
  const int64_t n = mg_cell(p, MG_ALPHA, p->n[0] - 1, p->n[1] - 1, p->n[2] - 1) - first + 1;
  return place->fill(first, sizeof *first, n, 1);
}

static mg_status_t parse(const lab_t *lab, const roofline_problem_t *p, int log2_n,
                         mg_params_t *params) {
  char deck[320], message[2048] = "";
  const int length = snprintf(
      deck, sizeof deck,
      "log2-box-dim = %d\nboxes-per-rank = 1\noperator = %s\nsmoother = %s\nboundary = %s\n"
      "precision = %s\ndevice = %s\ncpu-below = 0\n%s",
      log2_n, p->op, p->smoother, p->boundary ? p->boundary : "dirichlet",
      p->mixed ? "mixed" : "double", lab->place == LAB_CUDA ? "cuda" : "cpu",
      lab->place == LAB_CUDA ? "memory = device\n" : "");
  const mg_status_t status =
      mg_params_parse_deck(deck, length, "roofline", params, message, sizeof message);
  params->alpha_varies = p->alpha_varies;
  return status == MG_OK ? MG_OK : mg_error(status, "roofline: %s", message);
}

/* Vectors that kernels of the ladder write, and that the oracle reads (1 / diagonal if alpha
 * varies). A solve on a CPU does without. */
static void plan_vectors(mg_plan_t *plan) {
  plan->level[0].vectors |= 1u << MG_TMP | 1u << MG_DINV;
  plan->outer[0].vectors |= 1u << MG_TMP;
}

/* Change a plan for the checks: fused sweeps compute residuals and interpolate on levels where that
 * does not pay. */
static void plan_checks(mg_plan_t *plan) {
  plan->level[0].fused_residual = plan->level[0].steps_per_pass > 1;
  /* No sweep of fv4 interpolates. */
  plan->level[0].fused_interpolation = plan->level[0].steps_per_pass > 1 && plan->radius == 1;
}

mg_status_t roofline_make(const lab_t *lab, const roofline_place_t *place,
                          const roofline_problem_t *problem, int log2_n, mg_hierarchy_t **h) {
  static mg_params_t params;
  static mg_plan_t plan;
  char message[2048] = "";
  MG_TRY(parse(lab, problem, log2_n, &params));
  mg_status_t status = mg_plan_build(&params, 1, &plan, message, sizeof message);
  if (status != MG_OK) return mg_error(status, "roofline: %s", message);
  plan.outer[0].u_holds = 0; /* kernels use MG_U beside float vectors */
  if (roofline_is_checked(lab, log2_n)) plan_checks(&plan);
  if (roofline_is_checked(lab, log2_n) || lab->place == LAB_CPU) plan_vectors(&plan);
  MG_TRY(mg_device_choose(&params));
  MG_TRY(mg_hierarchy_create(&params, &plan, NULL, h));
  const mg_problem_source_t varying = {.load = load_alpha, .data = (void *)(uintptr_t)place};
  status = mg_problem_set_from(*h, problem->alpha_varies ? &varying : NULL);
  if (status != MG_OK) mg_hierarchy_free(*h);
  return status;
}
