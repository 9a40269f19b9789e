#ifdef HAVE_CONFIG_H
#include "config.h"
#include "params/params_files.h"
#endif
#include "base/log.h"
#include "git_version.h"
#include "io/report/report_wings.h"
#include "wings.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static int stdout_error; /* of the first failed flush */

int mg_report_flush(FILE *out) {
  if (fflush(out) != 0 && out == stdout && stdout_error == 0) stdout_error = errno;
  return stdout_error;
}

mg_status_t mg_report_check_stdout(void) {
  mg_report_flush(stdout);
  if (stdout_error == 0 && !ferror(stdout)) return MG_OK;
  return mg_error(MG_ERR_IO, "stdout cannot be written: %s",
                  stdout_error != 0 ? strerror(stdout_error) : "an earlier write failed");
}

FILE *mg_report_text(const mg_params_t *params) {
  if (!mg_comm_is_root() || params->verbosity < 0) return NULL;
  return mg_report_is_stdout(params->json) || mg_report_is_stdout(params->csv) ? stderr : stdout;
}

static void print_version(FILE *out) {
  fprintf(out, "%s%s%s\n", PACKAGE_STRING, MG_BUILD_GIT[0] ? ", commit " : "", MG_BUILD_GIT);
  fprintf(out, "compiler  %s\nflags     %s\n", MG_BUILD_CC, MG_BUILD_CFLAGS);
  fprintf(out, "MPI       %s\nOpenMP    %s\n", MG_BUILD_MPI, MG_BUILD_OPENMP);
  fprintf(out, "CUDA      %s\nNCCL      %s\n", MG_BUILD_CUDA, MG_BUILD_NCCL);
  fprintf(out, "jansson   %s\nHDF5      %s\nwings     %s\n", MG_BUILD_JANSSON, MG_BUILD_HDF5,
          MG_BUILD_WINGS);
}

mg_grid_text_t mg_report_box(const mg_layout_t *layout) {
  int32_t box[3];
  for (int d = 0; d < 3; d++) {
    box[d] = layout->box[d];
    if (box[d] > layout->n[d]) box[d] = layout->n[d];
  }
  return mg_grid(box);
}

static void print_levels(FILE *out, const mg_report_t *r) {
  fprintf(out, "\n  level       grid   boxes     box     ranks  place   lambda_max    memory\n");
  for (int l = 0; l < r->plan->n_levels; l++) {
    const mg_level_plan_t *level = &r->plan->level[l];
    fprintf(out, "  %5d  %9s %7s %7s %9" PRId64 "  %-5s %12.6f %10s\n", l,
            mg_grid(level->layout.n).text, mg_grid(level->layout.boxes).text,
            mg_report_box(&level->layout).text, level->layout.n_ranks, mg_place_name(level->place),
            r->lambda_max[l], mg_bytes((double)r->level_bytes[l]).text);
  }
}

static double bytes_in_all(const mg_report_t *r) {
  double bytes = 0.0;
  for (int l = 0; l < r->plan->n_levels; l++)
    bytes += (double)r->level_bytes[l];
  return bytes;
}

/* The first CG step from zero is the first cycle, unless that cycle is an F-cycle. */
static void print_cycles(FILE *out, const mg_params_t *p) {
  static const char *const next[] = {"V", "CG with a V-cycle as preconditioner", "K-cycles",
                                     "BiCGStab with V-cycles as preconditioner"};
  const bool skips_first = p->cycle == MG_CYCLE_V && p->krylov != MG_KRYLOV_NONE;
  fprintf(out, "  cycle     %s", skips_first ? "" : p->cycle == MG_CYCLE_F ? "F" : "V");
  if (p->rtol > 0.0) fprintf(out, "%s%s", skips_first ? "" : ", then ", next[p->krylov]);
}

void mg_report_print_problem(FILE *out, const mg_params_t *params, const mg_input_t *input) {
  MG_IF_FILES(mg_report_print_input(out, params, input); return ); /* without files: */
  (void)input;
  fprintf(out, "  problem   beta %s, f built-in%s\n",
          params->beta == MG_BETA_ONE ? "constant 1" : "built-in",
          params->equation == MG_EQUATION_HELMHOLTZ ? ", alpha constant 1" : "");
}

void mg_report_print_head(FILE *out, const mg_report_t *r) {
  const mg_params_t *p = r->params;
  const mg_layout_t *fine = &r->plan->level[0].layout;
  const double cells = (double)mg_layout_n_cells(fine);
  fprintf(out, "%s: %s, %s, %s\n", PACKAGE_STRING, mg_operator_name(p->op),
          mg_equation_name(p->equation), mg_boundary_text(p).text);
  fprintf(out, "  grid      %s = %.0f cells in %s boxes of %s\n", mg_grid(fine->n).text, cells,
          mg_grid(fine->boxes).text, mg_report_box(fine).text);
  if (mg_layout_n_boxes(fine) != r->plan->boxes_asked)
    fprintf(out, "            (the largest cube within the requested %" PRId64 " boxes)\n",
            r->plan->boxes_asked);
  MG_IF_DOMAINS(mg_report_print_domain(out, p));
  mg_report_print_problem(out, p, r->input);
  MG_IF_DOMAINS(mg_report_print_range(out, p, r->input->beta));
  if (p->reason[0]) fprintf(out, "  method    auto: %s\n", p->reason);
  fprintf(out, "  smoother  %s, ", mg_smoother_name(p->smoother));
  if (mg_is_polynomial(p->smoother))
    fprintf(out, "degree %d, ", p->degree);
  else if (p->omega != 1.0)
    fprintf(out, "omega %.4g, ", p->omega);
  fprintf(out, "%d smooth%s before and after\n", p->smooths, p->smooths == 1 ? "" : "s");
  print_cycles(out, p);
  if (p->rtol > 0.0) {
    fprintf(out, " until max|f-Au| < %g %s", p->rtol, mg_reference_name(&r->reference));
    if (r->reference.norm > 0.0) fprintf(out, " with c = %.6g", r->reference.u);
    fprintf(out, ", at most %d cycle%s", p->max_cycles, p->max_cycles == 1 ? "" : "s");
  }
  fprintf(out, "; bottom %s\n",
          mg_bottom_name(mg_plan_bottom(p, &r->plan->level[r->plan->n_levels - 1].layout)));
  if (p->precision == MG_CLASS_MIXED)
    fprintf(out, "  precision mixed: u, f and residuals in double, cycles in float\n");
  fprintf(out, "  machine   %d rank%s of %d thread%s, rank 0 on %s: %s\n", r->ranks,
          r->ranks == 1 ? "" : "s", r->threads, r->threads == 1 ? "" : "s", r->host, r->cpu);
  MG_IF_PREFLIGHT(mg_report_idle_ranks(out, p, r->plan));
  fprintf(out, "  device    %s\n", r->device);
  if (mg_place_is_cuda(r->plan->level[0].place) && r->ranks > 1)
    fprintf(out, "  messages  %s; %s\n", r->transport, r->transport_text);
  fprintf(out, "  memory    %s on the fullest rank, %.1f bytes per cell in total; %s\n",
          mg_bytes((double)r->bytes_per_rank_max).text, bytes_in_all(r) / cells,
          mg_report_memory(p, r->plan));
  MG_IF_CHOICES(mg_report_print_choices(out, r->placement));
  print_levels(out, r);
  fprintf(out, "\n  set-up took %.3f s\n", r->result->seconds_setup);
  mg_report_flush(out);
}

static void print_histories(FILE *out, const mg_result_t *result) {
  fprintf(out, "\n  residual after each cycle\n");
  for (int s = 0; s < result->n_sizes; s++) {
    const mg_size_result_t *size = &result->size[s];
    for (int c = 0; c < size->history.n_cycles; c++)
      fprintf(out, "  %9s  cycle %2d  max|f-Au| %.15e  relative %.15e\n", mg_grid(size->n).text,
              c + 1, size->history.norm[c], size->history.rel[c]);
  }
}

static void print_performance(FILE *out, const mg_report_t *r) {
  const mg_result_t *result = r->result;
  static const char *const names[MG_N_SIZES] = {"h", "2h", "4h"};
  /* Cells of other grids than cubes of boxes may be no cubes. */
  const bool has_width = !mg_params_has_cells(r->params);
  fprintf(out, "\n  %*s            DOF   solves  seconds (min)  seconds (mean)        DOF/s\n",
          has_width ? 9 : 14, has_width ? "h =" : "cells");
  for (int s = 0; s < result->n_sizes; s++) {
    const mg_size_result_t *size = &result->size[s];
    const double rate = mg_report_rate(r, size);
    if (has_width)
      fprintf(out, "  %2s  1/%-8d", names[s], size->n[0]);
    else
      fprintf(out, "  %14s", mg_grid(size->n).text);
    fprintf(out, " %12.0f %8d", mg_size_dof(size), size->n_solves);
    if (!r->params->verify_only && !isnan(size->seconds_mean))
      fprintf(out, " %14.6f %15.6f", size->seconds_min, size->seconds_mean);
    else
      fprintf(out, "              -               -");
    if (isnan(rate))
      fprintf(out, "            -\n");
    else
      fprintf(out, " %12.4e\n", rate);
  }
  for (int s = 0; s < result->n_sizes; s++)
    if (mg_report_spread(&result->size[s]) > MG_MAX_SPREAD)
      fprintf(out,
              "  warning   at %s the mean is %.3g times the fastest solve: other work on the "
              "machine? Repeat the run on an idle one\n",
              mg_grid(result->size[s].n).text, mg_report_spread(&result->size[s]));
}

void mg_report_print_results(FILE *out, const mg_report_t *r) {
  const mg_result_t *result = r->result;
  print_histories(out, result);
  MG_IF_PROFILE(mg_report_print_profile(out, r));
  print_performance(out, r);
  MG_IF_ENERGY(mg_report_print_energy(out, result));
  fprintf(out, "\n");
  if (!isnan(result->error)) fprintf(out, "error %.15e\n", result->error);
  if (!isnan(result->order)) fprintf(out, "order %.3f\n", result->order);
  if (!isnan(result->error_rounding))
    fprintf(out, "float rounding changes the error by at most %.2g %%, the order by at most %.2g\n",
            100.0 * result->error_rounding, result->order_rounding);
  if (result->note[0]) fprintf(out, "note  %s\n", result->note);
  if (result->passed)
    fprintf(out, "VERIFICATION: PASSED\n");
  else
    fprintf(out, "VERIFICATION: FAILED (%s)\n", result->why);
  mg_report_flush(out);
}

void mg_report_print_info(mg_action_t action, const mg_params_t *params) {
  (void)params; /* without files */
  if (!mg_comm_is_root()) return;
  if (action == MG_ACTION_HELP)
    mg_params_help(stdout);
  else if (action == MG_ACTION_VERSION)
    print_version(stdout);
  MG_IF_FILES(else mg_params_print(stdout, params);)
}
