/* hpgmg-fv: parse, plan, build, solve, verify, report. */
#include "base/log.h"
#include "base/log_wings.h"
#include "base/machine.h"
#include "base/machine_checks.h"
#include "device/device_select.h"
#include "device/memory_check.h"
#include "device/thread_check.h"
#include "io/dump.h"
#include "io/report/report_wings.h"
#include "io/restart.h"
#include "level/ops.h"
#include "params/params_files.h"
#include "plan/axes.h"
#include "run/verify.h"
#include "solver/domain.h"
#include "solver/method.h"
#include "solver/problem.h"
#include "wings.h"
#include <string.h>

typedef struct {
  mg_params_t params;
  mg_plan_t plan;
  mg_placement_t placement;
  mg_input_t input;
  mg_restart_t restart;
  mg_hierarchy_t *h;
  mg_result_t result;
  mg_report_t report;
} run_t;

static mg_status_t plan_levels(run_t *r) {
  const int64_t ranks = r->params.ranks > 0 ? r->params.ranks : mg_comm_size(mg_comm_world());
  char message[1024];
  const mg_status_t status = mg_plan_build(&r->params, ranks, &r->plan, message, sizeof message);
  return status == MG_OK ? MG_OK : mg_root_error(status, "%s", message);
}

static mg_status_t plan(run_t *r) {
  MG_IF_DOMAINS(MG_IF_FILES(MG_TRY(mg_input_open(&r->params, &r->input))));
  MG_IF_DOMAINS(MG_TRY(mg_comm_agree(mg_axes_set(&r->input.grid.axes, &r->params))));
  MG_IF_CHOICES(mg_method_begin(&r->params));
  MG_TRY(r->params.dry_run ? mg_device_resolve(&r->params) : mg_device_choose(&r->params));
  MG_TRY(plan_levels(r));
  MG_IF_DOMAINS(MG_IF_FILES(MG_TRY(mg_input_check_size(&r->params, &r->plan, &r->input))));
  MG_IF_FILES(MG_TRY(mg_restart_open(&r->params, &r->plan, &r->restart)));
  mg_verify_warn_of_rtol(&r->params, r->plan.level[0].layout.n);
  return MG_OK;
}

/* A right-hand side of 0 is rarely meant: the files may lack f, or values on sides. */
static mg_status_t warn_of_zero(mg_level_t *level) {
  double largest;
  MG_TRY(mg_world_norm(level, MG_F, MG_NO_VECTOR, &largest));
  if (largest == 0.0)
    mg_warning("f and all values on sides are 0, so u is constant; give f with --rhs=FILE");
  return MG_OK;
}

/* Set up the problem on levels whose allocation began at `start`. */
static mg_status_t build(run_t *r, double start) {
  const mg_problem_source_t files = {
      MG_IF_DOMAINS(MG_IF_FILES(.load = mg_input_load, .load_wall = mg_input_load_wall, )).data =
          &r->input,
      .sets_f = true};
  const double allocation = mg_now() - start;
  MG_IF_CONSOLE(mg_progress("set-up"));
  MG_TRY(mg_problem_set_from(r->h, r->input.n[0] > 0 ? &files : NULL));
  r->params = r->h->params; /* the betas of files choose the pairs of cells */
  r->plan = r->h->plan;
  if (r->input.n[0] > 0) MG_TRY(mg_comm_agree_or_end(warn_of_zero(&r->h->level[0])));
  MG_IF_CHOICES(MG_TRY(mg_strip_size_choose(&r->params, r->h, &r->placement.strips)));
  r->result.seconds_setup = mg_now() - start;
  mg_verbose("set-up: %.3f s, %.3f s of it for memory", r->result.seconds_setup, allocation);
  MG_IF_FILES(
      return mg_restart_check_problem(&r->params, &r->restart, r->input.checksum, r->input.first));
  return MG_OK;
}

static mg_status_t solve(run_t *r, double start) {
  MG_TRY(build(r, start));
  MG_TRY(mg_report_begin(&r->report, r->h));
  MG_IF_FILES(MG_TRY(mg_restart_load(r->h, &r->restart)));
  MG_TRY(mg_benchmark(r->h, r->restart.n[0] > 0 ? &r->restart.history : NULL, &r->result));
  mg_verify(&r->params, &r->result);
  const mg_status_t status = mg_report_end(&r->report, r->h);
  if (r->result.passed) return status;
  return mg_status_worst(status, r->result.interrupted ? MG_ERR_INTERRUPTED : MG_ERR_DIVERGED);
}

static mg_status_t run(run_t *r) {
  mg_machine_catch_broken_pipes();
  MG_IF_PREFLIGHT(MG_TRY(mg_thread_check()));
  MG_TRY(plan(r));
  /* Errors that would otherwise end the run after its solves. */
  MG_IF_FILES(MG_TRY(mg_report_check_outputs(&r->params)));
  MG_IF_FILES(MG_TRY(mg_dump_check(&r->params, &r->plan)));
  MG_IF_PREFLIGHT(MG_TRY(mg_memory_check(&r->params)));
  MG_IF_ENERGY(MG_TRY(mg_energy_open(&r->params, &r->result.energy)));
  MG_IF_CHOICES(MG_TRY(mg_placement_choose(&r->params, &r->plan, &r->placement)));
  if (r->params.cpu_below == MG_CPU_BELOW_AUTO) r->params.cpu_below = 0; /* nothing measured it */
  MG_IF_PREFLIGHT(MG_TRY(mg_thread_warn_if_crowded()));
  const double start = mg_now();
  mg_status_t status = mg_hierarchy_create(&r->params, &r->plan, NULL, &r->h);
  mg_machine_catch_signals();
  if (status == MG_OK) status = mg_comm_agree_or_end(solve(r, start));
  if (status >= MG_ERR_DEVICE) return status; /* freeing is collective */
  mg_hierarchy_free(r->h);
  MG_IF_DOMAINS(mg_axes_free(&r->input.grid.axes));
  mg_device_close();
  return status;
}

static mg_status_t run_action(run_t *r, mg_action_t action) {
  MG_IF_PREFLIGHT(if (action == MG_ACTION_RUN && r->params.dry_run) {
    MG_TRY(plan(r));
    return mg_report_dry_run(&r->params, &r->plan, &r->input, r->report.command_line);
  })
  if (action == MG_ACTION_RUN && !r->params.print_config) return run(r);
  mg_report_print_info(action, &r->params);
  return MG_OK;
}

/* The health check is a program of its own. */
static mg_status_t refuse_health(int argc, char *const argv[]) {
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], "--health", strlen("--health")) == 0)
      return mg_root_error(MG_ERR_USAGE, "unknown option %.60s; run hpgmg-health instead", argv[i]);
  return MG_OK;
}

int main(int argc, char **argv) {
  /* Options whose files contain values of other options. */
  static const mg_settings_reader_t readers[] = {
      MG_IF_FILES({"restart", mg_restart_settings},
                  MG_IF_DOMAINS({"coefficients", mg_input_coefficients_settings},
                                {"rhs", mg_input_rhs_settings}, )){NULL, NULL}};
  static run_t r = {.report = {.params = &r.params,
                               .plan = &r.plan,
                               .placement = &r.placement,
                               .result = &r.result,
                               .input = &r.input}};
  mg_action_t action;
  mg_machine_open_streams();
  MG_IF_PREFLIGHT(mg_machine_limit_threads());
  r.report.command_line = mg_report_command_line(argc, argv);
  mg_status_t status = mg_comm_init(&argc, &argv);
  if (status != MG_OK) return mg_status_exit_code(status);
  const int rank = mg_comm_rank(mg_comm_world()), ranks = mg_comm_size(mg_comm_world());
  mg_log_setup(rank, ranks, MG_LOG_NORMAL);
  status = mg_comm_agree(refuse_health(argc, argv));
  if (status == MG_OK) status = mg_params_parse_on_ranks(argc, argv, readers, &r.params, &action);
  mg_log_setup(rank, ranks, (mg_log_level_t)r.params.verbosity);
  MG_IF_CONSOLE(if (status == MG_OK) status = mg_comm_agree(mg_progress_begin()));
  if (status == MG_OK) status = run_action(&r, action);
  /* All ranks need the same exit code: launchers return that of the rank that ends first. */
  if (status < MG_ERR_IO) status = mg_status_worst(status, MG_ON_ROOT(mg_report_check_stdout()));
  /* After a failed device or message, other ranks may wait for this one. */
  if (status >= MG_ERR_DEVICE) mg_comm_abort(mg_status_exit_code(status));
  mg_comm_finalize();
  return mg_status_exit_code(status);
}
