/* hpgmg-fv: params -> plan -> levels -> problem -> warm up -> solve -> verify -> report. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "base/machine.h"
#include "comm/comm.h"
#include "device/device_select.h"
#include "device/memory_check.h"
#include "io/dump.h"
#include "io/input.h"
#include "io/report/report.h"
#include "io/restart.h"
#include "run/benchmark.h"
#include "run/gpu_cutoff.h"
#include "run/verify.h"
#include "solver/problem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 4096 };

static uint64_t checksum_of(int argc, char **argv) {
  uint64_t checksum = 14695981039346656037u; /* FNV-1a, of the words with their ends */
  for (int i = 1; i < argc; i++)
    for (const char *c = argv[i];; c++) {
      checksum = (checksum ^ (unsigned char)*c) * 1099511628211u;
      if (*c == '\0') break;
    }
  return checksum;
}

/* What a rank understood of its own command line. */
typedef struct {
  mg_params_t params;
  mg_action_t action;
} line_t;

/* "--degree is 3, not 4" where one rank means something else than another, or "". */
static void compare_lines(const line_t *mine, const line_t *first, char *text, int size) {
  static const char *const wanted[] = {"a run", "--help", "--version"};
  text[0] = '\0';
  if (mine->action != first->action)
    snprintf(text, (size_t)size, "it asks for %s, not for %s", wanted[mine->action],
             wanted[first->action]);
  else
    mg_params_compare(&mine->params, &first->params, text, size);
}

/* A launcher may start ranks with lines of their own, as a wrapper script does to choose devices:
 * nothing else may differ. One rank tells. */
static mg_status_t take_own_line(int argc, char **argv, uint64_t checksum_of_first,
                                 mg_params_t *params) {
  static line_t own, first;
  const int rank = mg_comm_rank(mg_comm_world());
  double differs = checksum_of(argc, argv) != checksum_of_first;
  char message[2048], difference[1024] = "";
  MG_TRY(mg_comm_max(mg_comm_world(), &differs, 1));
  if (differs == 0.0) return MG_OK;
  mg_status_t status =
      mg_params_read(argc, argv, &own.params, &own.action, message, (int)sizeof message);
  first = own;
  MG_TRY(mg_comm_broadcast(mg_comm_world(), &first, sizeof first));
  if (status == MG_OK) compare_lines(&own, &first, difference, (int)sizeof difference);
  if (difference[0]) {
    status = MG_ERR_USAGE;
    snprintf(message, sizeof message,
             "rank %d has another command line than rank 0: %s; start all ranks with the same "
             "options (--device-id alone is a rank's own)",
             rank, difference);
  }
  int teller;
  MG_TRY(mg_comm_first(mg_comm_world(), status != MG_OK, &teller));
  if (teller == rank) (void)mg_error(MG_ERR_USAGE, "%s", message);
  params->device_id = own.params.device_id;
  return mg_comm_agree(status);
}

/* Rank 0 reads the command line and the deck; all ranks get what it understood. */
static mg_status_t read_params(int argc, char **argv, mg_params_t *params, mg_action_t *action) {
  static struct {
    line_t line;
    mg_status_t status;
    uint64_t checksum;
  } read;
  /* A dump's settings may name the files of its problem. */
  static const mg_settings_reader_t readers[] = {{"restart", mg_restart_settings},
                                                 {"coefficients", mg_input_coefficients_settings},
                                                 {"rhs", mg_input_rhs_settings},
                                                 {NULL, NULL}};
  if (mg_comm_is_root()) {
    char message[2048];
    read.status = mg_params_parse_with(argc, argv, readers, &read.line.params, &read.line.action,
                                       message, (int)sizeof message);
    read.checksum = checksum_of(argc, argv);
    if (read.status != MG_OK && message[0]) (void)mg_error(MG_ERR_USAGE, "%s", message);
  }
  MG_TRY(mg_comm_broadcast(mg_comm_world(), &read, sizeof read));
  *params = read.line.params;
  *action = read.line.action;
  MG_TRY(read.status);
  return take_own_line(argc, argv, read.checksum, params);
}

static void join_words(int argc, char **argv, char *line, size_t size) {
  line[0] = '\0';
  for (int i = 0; i < argc; i++) {
    if (i > 0) strncat(line, " ", size - strlen(line) - 1);
    strncat(line, argv[i], size - strlen(line) - 1);
  }
}

/* Sizes over ranks, for the report. */
static mg_status_t gather_sizes(const mg_hierarchy_t *h, mg_report_t *report) {
  report->transport = mg_transports_name(h->transports);
  report->transport_text = mg_transports_describe(h->transports);
  double bytes[MG_MAX_LEVELS], all = 0.0, lambda[MG_MAX_LEVELS];
  for (int l = 0; l < h->n_levels; l++) {
    bytes[l] = (double)mg_level_bytes(&h->level[l]);
    lambda[l] = h->level[l].lambda_max;
    all += bytes[l];
  }
  MG_TRY(mg_comm_sum(mg_comm_world(), bytes, h->n_levels));
  MG_TRY(mg_comm_max(mg_comm_world(), lambda, h->n_levels));
  MG_TRY(mg_comm_max(mg_comm_world(), &all, 1));
  report->bytes_per_rank_max = (int64_t)all;
  for (int l = 0; l < h->n_levels; l++) {
    report->level_bytes[l] = (int64_t)bytes[l];
    report->lambda_max[l] = lambda[l];
  }
  return MG_OK;
}

/* Seconds per solve, level and operation over ranks. */
static mg_status_t gather_times(const mg_hierarchy_t *h, mg_report_t *report) {
  const int n_solves = report->result->n_profiled;
  const double per_solve = n_solves > 0 ? 1.0 / n_solves : 0.0;
  for (int l = 0; l < h->n_levels; l++) {
    double *min = report->time_min[l], *mean = report->time_mean[l], *max = report->time_max[l];
    for (int t = 0; t < MG_N_TIMES; t++)
      min[t] = mean[t] = max[t] = per_solve * h->level[l].timers.seconds[t];
    double *own = report->time_own[l];
    for (int t = 0; t < MG_N_TIMES; t++)
      own[t] = mean[t] - per_solve * h->level[l].timers.nested[t];
    MG_TRY(mg_comm_min(mg_comm_world(), min, MG_N_TIMES));
    MG_TRY(mg_comm_sum(mg_comm_world(), mean, MG_N_TIMES));
    MG_TRY(mg_comm_max(mg_comm_world(), max, MG_N_TIMES));
    MG_TRY(mg_comm_sum(mg_comm_world(), own, MG_N_TIMES));
    for (int t = 0; t < MG_N_TIMES; t++) {
      mean[t] /= mg_comm_size(mg_comm_world());
      own[t] /= mg_comm_size(mg_comm_world());
    }
  }
  return MG_OK;
}

/* Messages and reductions of one solve, over the ranks that hold cells of a level. All solves of a
 * grid are alike to the last message. */
static mg_status_t gather_traffic(const mg_hierarchy_t *h, mg_report_t *report) {
  enum { N = 3 };
  const int n_solves = report->result->n_profiled > 0 ? report->result->n_profiled : 1;
  for (int l = 0; l < h->n_levels; l++) {
    const mg_traffic_t *t = &h->level[l].timers.traffic;
    const bool member = h->level[l].comm != NULL;
    const int64_t mine[N] = {t->messages / n_solves, t->bytes / n_solves, t->reductions / n_solves};
    double min[N], max[N], sum[N + 1];
    for (int i = 0; i < N; i++) {
      max[i] = sum[i] = member ? (double)mine[i] : 0.0;
      min[i] = member ? (double)mine[i] : INFINITY;
    }
    sum[N] = member;
    MG_TRY(mg_comm_min(mg_comm_world(), min, N));
    MG_TRY(mg_comm_max(mg_comm_world(), max, N));
    MG_TRY(mg_comm_sum(mg_comm_world(), sum, N + 1));
    mg_count_t *const out[N] = {&report->messages[l], &report->message_bytes[l],
                                &report->reductions[l]};
    for (int i = 0; i < N; i++)
      *out[i] = (mg_count_t){(int64_t)min[i], (int64_t)max[i], sum[i] / sum[N]};
  }
  return MG_OK;
}

/* More threads than processors wait for each other: the usual reason for a slow run. */
static mg_status_t warn_if_crowded(void) {
  enum { MOST_PROCESSORS = 1024 };
  double on_host[MOST_PROCESSORS + 1];
  mg_machine_mark_processors(on_host, MOST_PROCESSORS);
  on_host[MOST_PROCESSORS] = mg_machine_threads();
  MG_TRY(mg_comm_sum_on_host(on_host, MOST_PROCESSORS + 1));
  const int threads = (int)on_host[MOST_PROCESSORS];
  int processors = 0;
  for (int p = 0; p < MOST_PROCESSORS; p++)
    processors += on_host[p] > 0.0;
  if (processors > 0 && threads > processors)
    mg_warning("%d threads on %d processor%s of %s wait for each other; start fewer ranks, or set "
               "OMP_NUM_THREADS",
               threads, processors, processors == 1 ? "" : "s", mg_comm_host());
  return MG_OK;
}

/* restart: where to go on from, or NULL; start: when the set-up began. */
static mg_status_t solve(mg_hierarchy_t *h, mg_input_t *input, mg_restart_t *restart, double start,
                         mg_result_t *result, mg_report_t *report) {
  const bool prints = mg_comm_is_root() && h->params.verbosity >= 0;
  const double created = mg_now();
  mg_progress("set-up");
  const mg_problem_source_t source = {mg_input_load, input};
  MG_TRY(mg_problem_set_from(h, input->cells > 0 ? &source : NULL));
  result->seconds_setup = mg_now() - start;
  mg_verbose("set-up: %.3f s for memory and exchanges, %.3f s for coefficients and right-hand side "
             "of %d levels",
             created - start, mg_now() - created, h->n_levels);
  if (restart) MG_TRY(mg_restart_check_problem(&h->params, restart, input->checksum));
  mg_verify_warn_of_rtol(&h->params, h->plan.level[0].layout.n);
  MG_TRY(gather_sizes(h, report));
  mg_progress_clear();
  if (prints) mg_report_begin(mg_report_text(&h->params), report);
  /* A pipe that nobody reads has sent SIGPIPE, and the run ends as after any other signal. */
  const bool checks = mg_comm_is_root() && mg_machine_signal() == 0;
  MG_TRY(mg_comm_agree(checks ? mg_report_check_stdout() : MG_OK));
  if (restart) MG_TRY(mg_restart_load(h, restart));
  MG_TRY(mg_benchmark(h, restart ? &restart->history : NULL, result));
  mg_verify(&h->params, result);
  MG_TRY(gather_times(h, report));
  MG_TRY(gather_traffic(h, report));
  if (prints) mg_report_end(mg_report_text(&h->params), report);
  const mg_status_t written = mg_report_write_files(report);
  if (written >= MG_ERR_DEVICE) return written;
  /* After the report, which a dump that fails must not cost; a report that fails costs no dump. */
  mg_dump_stats_t dump;
  const mg_status_t dumped =
      mg_dump_run(h, result, report->command_line, report->threads, input->checksum, &dump);
  if (dumped >= MG_ERR_DEVICE) return dumped;
  if (prints && dumped <= MG_ERR_INTERRUPTED)
    mg_report_dump(mg_report_text(&h->params), &h->params, &dump);
  mg_status_t status = dumped > written ? dumped : written;
  /* All ranks need the same exit code: launchers pass on that of the rank that ends first. */
  const mg_status_t shown =
      mg_comm_agree(mg_comm_is_root() && status < MG_ERR_IO ? mg_report_check_stdout() : MG_OK);
  if (shown > status) status = shown;
  if (!result->passed && status < MG_ERR_DIVERGED)
    status = result->interrupted ? MG_ERR_INTERRUPTED : MG_ERR_DIVERGED;
  return status;
}

static mg_status_t make_plan(const mg_params_t *params, int64_t ranks, mg_plan_t *plan) {
  char message[1024];
  const mg_status_t status = mg_plan_build(params, ranks, plan, message, (int)sizeof message);
  if (status != MG_OK && mg_comm_is_root()) (void)mg_error(status, "%s", message);
  return status;
}

/* On rank 0 alone. */
static mg_status_t survey_plan(const mg_params_t *params, const mg_plan_t *plan, int64_t ranks,
                               const mg_dry_run_t *report, mg_plan_stats_t *stats) {
  MG_TRY(mg_report_check_outputs(params));
  MG_TRY(mg_plan_stats_collect(plan, params, ranks, params->json[0] != '\0', stats));
  if (params->verbosity >= 0) mg_report_dry_run(mg_report_text(params), report);
  return MG_OK;
}

static mg_status_t report_plan(const mg_params_t *params, const mg_plan_t *plan, int64_t ranks,
                               const char *command_line) {
  static mg_plan_stats_t stats;
  const mg_dry_run_t report = {params, plan, &stats, command_line};
  MG_TRY(MG_ON_ROOT(survey_plan(params, plan, ranks, &report, &stats)));
  return mg_report_write_dry_run(&report);
}

static mg_status_t dry_run(mg_params_t *params, const char *command_line) {
  const int64_t ranks = params->ranks > 0 ? params->ranks : mg_comm_size(mg_comm_world());
  mg_plan_t plan;
  mg_input_t input;
  MG_TRY(mg_input_open(params, &input));
  MG_TRY(mg_device_foresee(params));
  MG_TRY(make_plan(params, ranks, &plan));
  MG_TRY(MG_ON_ROOT(mg_input_check_size(params, &plan, &input)));
  static mg_restart_t restart;
  if (params->restart[0] != '\0') MG_TRY(mg_restart_open(params, &plan, &restart));
  mg_verify_warn_of_rtol(params, plan.level[0].layout.n);
  return report_plan(params, &plan, ranks, command_line);
}

/* Ranks may have environments of their own: the first one that cannot have its threads says so. */
static mg_status_t check_threads(void) {
  int first;
  MG_TRY(mg_comm_first(mg_comm_world(), !mg_machine_has_threads(), &first));
  const bool mine = first == mg_comm_rank(mg_comm_world());
  return mg_comm_agree(mine ? mg_machine_check_threads() : MG_OK);
}

static mg_status_t run(mg_params_t *params, const char *command_line) {
  const int ranks = mg_comm_size(mg_comm_world());
  mg_plan_t plan;
  mg_gpu_cutoff_t gpu_cutoff;
  mg_input_t input;
  mg_machine_catch_broken_pipes();
  MG_TRY(check_threads());
  MG_TRY(mg_input_open(params, &input));
  MG_TRY(mg_device_choose(params));
  MG_TRY(make_plan(params, ranks, &plan));
  MG_TRY(MG_ON_ROOT(mg_input_check_size(params, &plan, &input)));
  MG_TRY(MG_ON_ROOT(mg_report_check_outputs(params)));
  MG_TRY(MG_ON_ROOT(mg_dump_check(params, &plan)));
  MG_TRY(mg_dump_check_reach(params));
  static mg_restart_t restart;
  const bool restarts = params->restart[0] != '\0';
  if (restarts) MG_TRY(mg_restart_open(params, &plan, &restart));
  /* The crossover already allocates; what it moves to the CPU is small. */
  MG_TRY(mg_memory_check(params));
  MG_TRY(mg_comm_agree_or_end(mg_gpu_cutoff_choose(params, &plan, &gpu_cutoff)));
  MG_TRY(make_plan(params, ranks, &plan));
  MG_TRY(warn_if_crowded());

  mg_result_t *result = calloc(1, sizeof *result);
  mg_report_t *report = calloc(1, sizeof *report);
  mg_hierarchy_t *h = NULL;
  double start = 0.0;
  mg_status_t status = result && report ? MG_OK : mg_error(MG_ERR_MEMORY, "no memory for results");
  status = mg_comm_agree(status);
  if (status == MG_OK) {
    *report = (mg_report_t){.params = params,
                            .plan = &plan,
                            .gpu_cutoff = &gpu_cutoff,
                            .result = result,
                            .input = &input,
                            .ranks = ranks,
                            .threads = mg_machine_threads(),
                            .host = mg_comm_host(),
                            .device = mg_device_text(),
                            .command_line = command_line};
    start = mg_now();
    status = mg_hierarchy_create(params, &plan, &h);
  }
  mg_machine_catch_signals();
  if (status == MG_OK)
    status =
        mg_comm_agree_or_end(solve(h, &input, restarts ? &restart : NULL, start, result, report));
  /* After a failed device or message the ranks don't meet again: the end of the process frees all.
   */
  if (status < MG_ERR_DEVICE) {
    mg_hierarchy_free(h);
    mg_device_close();
  }
  free(result);
  free(report);
  return status;
}

static mg_status_t act(mg_params_t *params, mg_action_t action, const char *command_line) {
  if (action == MG_ACTION_RUN && params->dry_run) return dry_run(params, command_line);
  if (action == MG_ACTION_RUN && !params->print_config) return run(params, command_line);
  if (!mg_comm_is_root()) return MG_OK;
  if (action == MG_ACTION_HELP)
    mg_params_help(stdout);
  else if (action == MG_ACTION_VERSION)
    mg_report_version(stdout);
  else
    mg_params_print(stdout, params);
  return MG_OK;
}

int main(int argc, char **argv) {
  char command_line[LINE_SIZE];
  mg_machine_open_streams();
  join_words(argc, argv, command_line, sizeof command_line);
  mg_status_t status = mg_comm_init(&argc, &argv);
  if (status != MG_OK) return mg_status_exit_code(status);
  const int rank = mg_comm_rank(mg_comm_world()), ranks = mg_comm_size(mg_comm_world());
  mg_log_setup(rank, ranks, MG_LOG_NORMAL);

  static mg_params_t params;
  mg_action_t action = MG_ACTION_RUN;
  status = read_params(argc, argv, &params, &action);
  if (status == MG_OK) {
    mg_log_setup(rank, ranks, (mg_log_level_t)params.verbosity);
    status = act(&params, action, command_line);
  }
  if (status < MG_ERR_IO && mg_comm_is_root()) {
    const mg_status_t written = mg_report_check_stdout();
    if (written != MG_OK) status = written;
  }
  /* One rank's failed message or device leaves the others waiting: end them too. */
  if (status >= MG_ERR_DEVICE) mg_comm_abort(mg_status_exit_code(status));
  mg_comm_finalize();
  return mg_status_exit_code(status);
}
