/* Figure of merit: class and validity of a result (docs/rules.md), and the lines that end the text
 * report. scripts/check-result repeats the rules. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "io/report/report.h"
#include <stdarg.h>

/* On smaller grids, error and order are not fully verified (verify.c). */
enum { MIN_DIM = 64 };

/* Minimum number of solves and seconds of each grid, by class. */
static const struct {
  const char *name;
  int solves;
  double seconds;
} rules[] = {
    [MG_RESULT_OFFICIAL] = {"official", 10, 60.0},
    [MG_RESULT_DOUBLE] = {"double", 10, 1.0},
    [MG_RESULT_MIXED] = {"mixed", 10, 1.0},
    [MG_RESULT_OPEN] = {"open", 1, 0.0},
};

const char *mg_result_class_name(mg_result_class_t result_class) {
  return rules[result_class].name;
}

/* HPGMG-FV's problem: Poisson on a cube with u = 0 at all walls and the built-in coefficients. */
static bool is_standard_problem(const mg_params_t *p) {
  return mg_params_count_sides(p, MG_WALL_DIRICHLET) == 6 && p->equation == MG_EQUATION_POISSON &&
         p->beta == MG_BETA_BUILT_IN && !mg_params_solves_once(p);
}

/* HPGMG-FV's algorithm: one F-cycle from zero on all levels, and the usual smooths. */
static bool is_standard_solve(const mg_params_t *p) {
  return p->cycle == MG_CYCLE_F && p->rtol == 0.0 && p->coarsest == 1 &&
         mg_params_has_default_smooths(p) && !p->restart[0];
}

/* The mathematics that HPGMG's list requires, apart from the duration. */
static bool is_listed(const mg_params_t *p) {
  return mg_traits_of(p->op)->listed && p->smoother == MG_SMOOTHER_GSRB &&
         p->bottom != MG_BOTTOM_DIRECT;
}

static mg_result_class_t class_of(const mg_params_t *p) {
  if (!is_standard_problem(p) || !is_standard_solve(p)) return MG_RESULT_OPEN;
  if (p->precision == MG_CLASS_MIXED) return MG_RESULT_MIXED;
  return p->official && is_listed(p) ? MG_RESULT_OFFICIAL : MG_RESULT_DOUBLE;
}

static void refuse(mg_fom_t *fom, const char *format, ...) MG_PRINTF(2, 3);
static void refuse(mg_fom_t *fom, const char *format, ...) {
  if (!fom->valid) return; /* the first reason */
  fom->valid = false;
  va_list args;
  va_start(args, format);
  vsnprintf(fom->why, sizeof fom->why, format, args);
  va_end(args);
}

/* The grids of HPGMG's list have C 2^k cells per side, with an odd C up to 11 and k >= 4. */
static bool is_listed_size(int32_t n) {
  int k = 0;
  for (; n % 2 == 0; n /= 2)
    k++;
  return n <= 11 && k >= 4;
}

double mg_report_spread(const mg_size_result_t *size) {
  return size->seconds_min > 0.0 ? size->seconds_mean / size->seconds_min : 1.0;
}

static void check_times(const mg_result_t *result, mg_fom_t *fom) {
  const int solves = rules[fom->result_class].solves;
  const double seconds = rules[fom->result_class].seconds;
  const char *name = rules[fom->result_class].name;
  for (int s = 0; s < result->n_sizes; s++) {
    const mg_size_result_t *size = &result->size[s];
    const mg_grid_text_t grid = mg_grid(size->n);
    const double total = size->n_solves * size->seconds_mean;
    if (size->n_solves < solves)
      refuse(fom, "%d timed solve%s at %s, class %s requires %d", size->n_solves,
             size->n_solves == 1 ? "" : "s", grid.text, name, solves);
    if (total < seconds * (1.0 - 1e-9)) /* rounding of the mean */
      refuse(fom, "%.3g s of timed solves at %s, class %s requires %g s", total, grid.text, name,
             seconds);
    if (mg_report_spread(size) > MG_MAX_SPREAD)
      refuse(fom, "at %s the mean is %.3g times the fastest solve, class %s allows %g", grid.text,
             mg_report_spread(size), name, MG_MAX_SPREAD);
  }
}

mg_fom_t mg_report_fom(const mg_report_t *r) {
  const mg_params_t *p = r->params;
  const mg_result_t *result = r->result;
  mg_fom_t fom = {.result_class = class_of(p), .valid = true, .dof_per_s = NAN};
  if (result->n_sizes > 0) fom.dof_per_s = mg_report_rate(r, &result->size[0]);
  if (!result->passed) refuse(&fom, "%s", result->why);
  if (p->verify_only) refuse(&fom, "--verify-only measures no times");
  if (isnan(fom.dof_per_s)) refuse(&fom, "the solve continues --restart and was not timed");
  if (!fom.valid || fom.result_class == MG_RESULT_OPEN) return fom;
  if (result->size[0].n[0] < MIN_DIM || result->n_sizes < MG_N_SIZES)
    refuse(&fom, "class %s requires a grid of at least %d^3 and solves at h, 2h and 4h",
           rules[fom.result_class].name, MIN_DIM);
  check_times(result, &fom);
  if (fom.result_class == MG_RESULT_OFFICIAL && !is_listed_size(result->size[0].n[0]))
    refuse(&fom, "%s is not of the form C 2^k with an odd C up to 11 and k of 4 or more",
           mg_grid(result->size[0].n).text);
  return fom;
}

/* The summary of HPGMG-FV, with its formats, so that scripts written for it read this report. */
static void print_hpgmg_summary(FILE *out, const mg_report_t *r) {
  fprintf(out,
          "\n***                            HPGMG-FV Benchmark                            ***\n"
          "===== Performance Summary ======================================================\n");
  for (int s = 0; s < r->result->n_sizes; s++) {
    const mg_size_result_t *size = &r->result->size[s];
    const double h = mg_report_width(r->params, size->n);
    if (!isnan(h)) fprintf(out, "  h=%.15e", h);
    fprintf(out, "  DOF=%.15e  time=%.6f  DOF/s=%.3e  MPI=%d  OMP=%d\n", mg_size_dof(size),
            size->seconds_mean, mg_report_rate(r, size), r->ranks, r->threads);
  }
}

/* The problem and the machine, as name=value words without blanks. */
static void print_run(FILE *out, const mg_report_t *r) {
  const mg_params_t *p = r->params;
  fprintf(out, " operator=%s smoother=%s equation=%s boundary=%s cycle=%s precision=%s",
          mg_operator_name(p->op), mg_smoother_name(p->smoother), mg_equation_name(p->equation),
          mg_boundary_text(p).text, mg_cycle_name(p->cycle), mg_precision_name(p->precision));
  if (p->beta == MG_BETA_ONE) fprintf(out, " beta=1");
  if (p->rtol > 0.0) fprintf(out, " rtol=%g", p->rtol);
  fprintf(out, " grid=%s ranks=%d threads=%d backend=%s version=%s",
          mg_grid(r->plan->level[0].layout.n).text, r->ranks, r->threads,
          mg_place_name(r->plan->level[0].place), PACKAGE_VERSION);
}

void mg_report_print_fom(FILE *out, const mg_report_t *r) {
  const mg_fom_t *fom = &r->fom;
  char rate[32] = "none";
  if (!isnan(fom->dof_per_s)) {
    print_hpgmg_summary(out, r);
    snprintf(rate, sizeof rate, "%.3e", fom->dof_per_s);
  }
  fprintf(out, "FOM: %s DOF/s %s class=%s", rate, fom->valid ? "VALID" : "INVALID",
          mg_result_class_name(fom->result_class));
  print_run(out, r);
  if (!fom->valid) fprintf(out, " reason: %s", fom->why);
  fprintf(out, "\n");
  mg_report_flush(out);
}
