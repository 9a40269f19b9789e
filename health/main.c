/* hpgmg-health: options, and the frame of a check. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log_wings.h"
#include "base/machine.h"
#include "base/machine_checks.h"
#include "base/real_path.h"
#include "comm/comm.h"
#include "health/health.h"
#include "io/report/report.h"
#include "params/params_value.h"
#include <stddef.h>
#include <string.h>

static const char *const devices[] = {"auto", "cuda", "cpu", "cuda-simple", NULL};

/* Rows as those of the solver's options, with offsets in health_t. */
/* clang-format off */
#define TO(member) .offset = offsetof(health_t, member)
#define SECONDS    .kind = MG_KIND_DOUBLE, .metavar = "SECONDS", .max = 1e6
#define COUNT      .kind = MG_KIND_INT, .metavar = "N", .max = 1e6
#define PATH       .kind = MG_KIND_PATH, .metavar = "FILE"
static const mg_option_t options[] = {
  {.name = "baseline", PATH, TO(baseline_path),
   .help = "Compare with an earlier check, too: its --json file."},
  {.name = "slow", .kind = MG_KIND_DOUBLE, .metavar = "PERCENT", .max = 100, .open = true, TO(slow), .value = "4",
   .help = "A device is slow if a rate is so far below the median of the job or the baseline; "
           "links, ten times as far (at most 50)."},
  {.name = "timeout", SECONDS, .open = true, TO(timeout), .value = "60",
   .help = "A rank that has not answered this long after rank 0 was done is missing."},
  {.name = "min-time", SECONDS, TO(params.min_time), .value = "15", .help = "Time of each problem."},
  {.name = "min-solves", COUNT, .min = 1, TO(params.min_solves), .value = "10",
   .help = "Minimum number of timed solves of each problem."},
  {.name = "warmup", COUNT, TO(params.warmup), .value = "1", .help = "Solves before timing starts."},
  {.name = "device", .kind = MG_KIND_WORD, .words = devices, TO(params.device), .value = "auto",
   .help = "What to check. auto: GPUs if every rank has one, otherwise cores; cuda, cuda-simple: GPUs; cpu: cores."},
  {.name = "device-id", .kind = MG_KIND_INT, .metavar = "N", .max = 1023, TO(params.device_id),
   .note = "round-robin over the devices of each host",
   .help = "Number of the CUDA device, among those visible to the process. It may differ between ranks."},
  {.name = "json", PATH, TO(params.json),
   .help = "Write a line of JSON per device. FILE - is stdout; the report then goes to stderr."},
  {.name = "quiet", .letter = 'q', .kind = MG_KIND_VERBOSITY, .min = -1, .help = "Print errors only."},
  {.name = "verbose", .letter = 'v', .kind = MG_KIND_VERBOSITY, .min = 1, .help = "Print more on stderr."},
  {.name = "help", .letter = 'h', .kind = MG_KIND_ACTION, .help = "Print this help and exit."},
  {.name = "version", .letter = 'V', .kind = MG_KIND_ACTION, .help = "Print the version and exit."}};
/* clang-format on */
_Static_assert(offsetof(health_t, params) == 0, "mg_option_set takes the solver's parameters");
enum { N_OPTIONS = sizeof options / sizeof *options };

static void print_help(void) {
  puts("Usage: mpirun -n RANKS hpgmg-health [OPTION]...\n"
       "Check the GPU or the cores of each rank: it solves two fixed problems alone. Results are\n"
       "compared with known ones, rates with the median of the job and with an earlier check.\n"
       "The report has one line per device: ok, slow, wrong or missing.\n");
  for (int i = 0; i < N_OPTIONS; i++)
    mg_option_help(stdout, &options[i]);
  puts("\nExit status:\n"
       "  0  all devices are ok            3  file could not be read or written\n"
       "  1  one is slow, wrong, missing   4  out of memory, or device unavailable\n"
       "  2  bad option                    5  internal error\n\n"
       "Example: mpirun -n 8 hpgmg-health --device=cuda --json=base.json");
}

/* The option of "--name", "--name=value" or "-x". */
static const mg_option_t *find(const char *word) {
  const char *const name = word + 2;
  if (word[0] != '-' || word[1] == '\0') return NULL;
  for (const mg_option_t *o = options; o < options + N_OPTIONS; o++) {
    const size_t n = strlen(o->name);
    if (word[1] == o->letter && word[2] == '\0') return o;
    if (word[1] == '-' && strncmp(name, o->name, n) == 0 && (name[n] == '\0' || name[n] == '='))
      return o;
  }
  return NULL;
}

/* Read all options, up to --help or --version. An error is a text. */
static mg_status_t parse(int argc, char **argv, health_t *h, char *error, size_t size) {
  mg_why_t why = {""};
  mg_params_defaults(&h->params);
  for (const mg_option_t *o = options; o < options + N_OPTIONS; o++)
    if (o->value && !mg_option_set(o, o->value, &h->params, &why)) return MG_ERR_INTERNAL;
  for (int i = 1; i < argc && h->action == MG_ACTION_RUN; i++) {
    const mg_option_t *o = find(argv[i]);
    const char *value = strchr(argv[i], '=');
    const bool has_next = i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0;
    snprintf(error, size, "unknown option %.60s; hpgmg-health --help lists all", argv[i]);
    if (!o) return MG_ERR_USAGE;
    if (o->kind == MG_KIND_ACTION)
      h->action = o->letter == 'h' ? MG_ACTION_HELP : MG_ACTION_VERSION;
    else if (!value)
      value = o->kind == MG_KIND_VERBOSITY ? "yes" : has_next ? argv[++i] : "";
    else
      value++;
    if (o->kind == MG_KIND_ACTION || mg_option_set(o, value, &h->params, &why)) continue;
    snprintf(error, size, "--%s=%.60s: %s", o->name, value, why.text);
    return MG_ERR_USAGE;
  }
  snprintf(error, size, "--device-id requires --device=auto, cuda or cuda-simple");
  if (h->params.device_id >= 0 && h->params.device == MG_DEVICE_CPU) return MG_ERR_USAGE;
  snprintf(error, size, "--json would overwrite '%.150s', which --baseline reads; use another file",
           h->baseline_path);
  return mg_path_is_same(h->params.json, h->baseline_path) ? MG_ERR_USAGE : MG_OK;
}

/* Options of all ranks are the same, except --device-id: a wrapper script can set it. */
static mg_status_t read_options(int argc, char **argv, health_t *h) {
  static health_t first;
  mg_comm_t *const world = mg_comm_world();
  char error[1024];
  int reporter;
  mg_status_t status = parse(argc, argv, h, error, sizeof error);
  memcpy(&first, h, sizeof first);
  MG_TRY(mg_comm_broadcast(world, &first, sizeof first));
  first.params.device_id = h->params.device_id;
  if (status == MG_OK && memcmp(&first, h, sizeof first) != 0) {
    snprintf(error, sizeof error,
             "the options of rank %d differ from those of rank 0; give all ranks the same (only "
             "--device-id may differ)",
             mg_comm_rank(world));
    status = MG_ERR_USAGE;
  }
  MG_TRY(mg_comm_first(world, status != MG_OK, &reporter));
  if (reporter == mg_comm_rank(world)) (void)mg_error(status, "%s", error);
  return mg_comm_agree(status);
}

static mg_status_t run(int argc, char **argv, health_t *h) {
  const int rank = mg_comm_rank(mg_comm_world()), ranks = mg_comm_size(mg_comm_world());
  mg_log_setup(rank, ranks, MG_LOG_NORMAL);
  MG_TRY(read_options(argc, argv, h));
  mg_log_setup(rank, ranks, (mg_log_level_t)h->params.verbosity);
  MG_TRY(mg_comm_agree(mg_progress_begin()));
  if (h->action == MG_ACTION_HELP && rank == 0) print_help();
  if (h->action == MG_ACTION_VERSION && rank == 0) puts("hpgmg-health " PACKAGE_VERSION);
  return h->action == MG_ACTION_RUN ? health_report(h) : MG_OK;
}

int main(int argc, char **argv) {
  static health_t health;
  mg_machine_open_streams();
  mg_machine_limit_threads();
  mg_log_program("hpgmg-health");
  mg_status_t status = mg_comm_init(&argc, &argv);
  if (status != MG_OK) return mg_status_exit_code(status);
  status = run(argc, argv, &health);
  /* All ranks need the same exit code: launchers return that of the rank that ends first. */
  if (status < MG_ERR_IO) status = mg_status_worst(status, MG_ON_ROOT(mg_report_check_stdout()));
  /* After a failed device or message, other ranks may wait for this one. */
  if (status >= MG_ERR_DEVICE) mg_comm_abort(mg_status_exit_code(status));
  mg_comm_finalize();
  return mg_status_exit_code(status);
}
