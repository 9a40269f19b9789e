/* hpgmg-bench: why the solver's kernels have their form. Each ladder measures variants of a kernel,
 * from the naive form to the limit of the machine, on a CPU or a CUDA device. It also checks their
 * results. docs/kernels.md walks through the ladders. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "base/log_wings.h"
#include "base/machine.h"
#include "base/machine_checks.h"
#include "base/timers.h"
#include "comm/comm.h"
#include "io/report/report.h"
#include "lab/exercise.h"
#include "lab/lab.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CUDA
#define ON_CUDA(function) function
#else
#define ON_CUDA(function) NULL
#endif
static const struct {
  const char *name, *what;
  lab_ladder_t *cpu, *cuda;
  bool by_name;    /* runs only if named */
  int arrays;      /* arrays of --mib= in memory at once on a CPU, including ghosts */
  int64_t largest; /* largest array in MiB that it uses; 0: unlimited */
  /* Cost on two cores with a copy bandwidth of 20 GB/s: seconds per MiB with and without --quick,
   * and the single-threaded fraction. */
  double quick_s_per_mib, s_per_mib, alone;
} ladders[] = {
    {"copy", "threads, loads in flight, occupancy", lab_copy_cpu, ON_CUDA(lab_copy_cuda), false, 2,
     0, 0.017, 0.063, 0.67},
    {"stride", "how much of a cache line, sector or bank is used", lab_stride_cpu,
     ON_CUDA(lab_stride_cuda), false, 2, 0, 0.012, 0.043, 0.16},
    {"wide", "loads of 8 and 16 bytes, launch bounds", lab_wide_cpu, ON_CUDA(lab_wide_cuda), false,
     2, 0, 0.004, 0.007, 0.78},
    {"smooth",
     "the 7-point smoother: single and fused steps; on a GPU fourth order, legs of cycles",
     lab_smooth_cpu, ON_CUDA(lab_smooth_cuda), false, 10, 0, 0.14, 0.20, 0.62},
    {"reduce", "sums: trees, shuffles, launches", lab_reduce_cpu, ON_CUDA(lab_reduce_cuda), false,
     2, 0, 0.005, 0.014, 0.94},
    /* Levels up to 512^3 cells. */
    {"roofline", "the solver's kernels: bytes, flops, percent of the limit", lab_roofline,
     lab_roofline, false, 26, 512, 0.0, 0.0, 0.0},
    {"search", "random shapes of a norm or a sum: proven, compiled and timed (GPU only)", NULL,
     ON_CUDA(lab_search_cuda), true, 0, 0, 0.0, 0.0, 0.0},
    {"exercise", "N: check your solution of exercise N, 1 to 5 (docs/kernels.md)", lab_exercise_cpu,
     ON_CUDA(lab_exercise_cuda), true, 8, 0, 0.02, 0.04, 0.0},
};
enum {
  N_LADDERS = sizeof ladders / sizeof ladders[0],
  LADDER_ROOFLINE = 5,
  LADDER_SEARCH,
  LADDER_EXERCISE
};

typedef struct {
  const char *device, *json, *csv, *plot, *reduction, *source;
  const char *searches; /* an option that only the search accepts */
  int64_t mib, seed, tries, exercise;
  bool quick, quiet, named[N_LADDERS], all;
} options_t;

static void print_ladders(bool by_name) {
  for (int l = 0; l < N_LADDERS; l++)
    if (ladders[l].by_name == by_name) printf("  %-10s %s\n", ladders[l].name, ladders[l].what);
}

static void print_help(void) {
  printf("Usage: hpgmg-bench [OPTION]... [LADDER]...\n"
         "  or:  hpgmg-bench [OPTION]... exercise N\n"
         "Measure variants of the solver's kernels, from the naive form to the machine's limit.\n\n"
         "Ladders (default: all of them):\n");
  print_ladders(false);
  printf("\nRuns only if named:\n");
  print_ladders(true);
  printf(
      "\nOptions:\n"
      "  --device=auto|cuda|cpu  where to run; auto (default) uses a GPU if there is one\n"
      "  --mib=N                 MiB per array, 1 to 65536. Default on a CPU: 16 per thread, at\n"
      "                          most 256; on a GPU: 512, or less if memory is short. On two\n"
      "                          cores all ladders take about a minute by default, and ten\n"
      "                          minutes with --mib=256, which adds levels of 256^3 cells.\n"
      "                          Arrays that fit in a cache do not measure memory\n"
      "  --quick                 few runs per variant: for a first look, and for tests\n"
      "  --json=FILE, --csv=FILE write all rows; - is stdout, without the tables\n"
      "  --plot=FILE.png         plot all rows (or .svg, .pdf); needs python3 and matplotlib\n"
      "  --reduction=norm|sum    search: the solver's maximum norm (default), or a sum\n"
      "  --seed=N                search: seed of the random programs; default 1\n"
      "  --tries=N               search: number of random programs, 1 to 10000; default 300\n"
      "  --source=FILE           search: write the winner as CUDA source; - is stdout\n"
      "  --quiet                 print no tables\n"
      "  --help, --version       print this help, or the version\n\n"
      "Exit codes: 0 success, 1 exercise not solved, 2 invalid option, 3 file cannot be written,\n"
      "4 memory or device error, 5 wrong result.\n");
}

static mg_status_t parse_number(const char *name, const char *text, int64_t min, int64_t max,
                                int64_t *number) {
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (errno || end == text || *end || value < min || value > max)
    return mg_error(MG_ERR_USAGE, "--%s=%s is not an integer from %" PRId64 " to %" PRId64, name,
                    text, min, max);
  *number = value;
  return MG_OK;
}

/* One of some words; no list: a file name, or - for stdout. */
static mg_status_t parse_text(const char *name, const char *text, const char *const words[],
                              const char **value) {
  char list[64] = "";
  *value = text;
  if (!words) return *text ? MG_OK : mg_error(MG_ERR_USAGE, "--%s= needs a file name", name);
  for (int w = 0; words[w]; w++) {
    if (strcmp(text, words[w]) == 0) return MG_OK;
    snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", w ? ", " : "", words[w]);
  }
  return mg_error(MG_ERR_USAGE, "--%s=%s is not one of %s", name, text, list);
}

/* The number of an exercise; another ladder beside it would hide its verdict. */
static mg_status_t parse_exercise(int argc, char **argv, options_t *o) {
  const char *text = argc > 1 ? argv[1] : "";
  char *end;
  errno = 0;
  o->exercise = strtoll(text, &end, 10);
  if (errno || end == text || *end || o->exercise < 1 || o->exercise > EXERCISES)
    return mg_error(MG_ERR_USAGE, "`exercise` needs a number from 1 to %d, not '%s'", EXERCISES,
                    text);
  if (argc > 2) return mg_error(MG_ERR_USAGE, "an exercise runs alone; remove '%s'", argv[2]);
  return MG_OK;
}

static mg_status_t parse_ladder(const char *name, options_t *o) {
  char names[256] = "";
  for (int l = 0; l < N_LADDERS; l++) {
    o->named[l] = o->named[l] || strcmp(name, ladders[l].name) == 0;
    if (strcmp(name, ladders[l].name) == 0) return MG_OK;
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", l ? ", " : "",
             ladders[l].name);
  }
  return mg_error(MG_ERR_USAGE, "unknown ladder '%s'; the ladders are %s", name, names);
}

enum { HELP_FLAG, VERSION_FLAG, QUICK_FLAG, QUIET_FLAG, N_FLAGS, VALUE = 1000 };
static const struct option known[] = {
    {"help", no_argument, NULL, HELP_FLAG},        {"version", no_argument, NULL, VERSION_FLAG},
    {"quick", no_argument, NULL, QUICK_FLAG},      {"quiet", no_argument, NULL, QUIET_FLAG},
    {"json", required_argument, NULL, VALUE},      {"csv", required_argument, NULL, VALUE},
    {"plot", required_argument, NULL, VALUE},      {"device", required_argument, NULL, VALUE},
    {"mib", required_argument, NULL, VALUE},       {"source", required_argument, NULL, VALUE},
    {"reduction", required_argument, NULL, VALUE}, {"seed", required_argument, NULL, VALUE},
    {"tries", required_argument, NULL, VALUE},     {NULL, 0, NULL, 0}};

static mg_status_t parse_value(const char *name, options_t *o) {
  static const char *const devices[] = {"auto", "cuda", "cpu", NULL};
  static const char *const reductions[] = {"norm", "sum", NULL};
  const struct {
    const char *name;
    bool search; /* only the search accepts it */
    const char **text, *const *words;
    int64_t *number, min, max;
  } options[] = {{"json", .text = &o->json},
                 {"csv", .text = &o->csv},
                 {"plot", .text = &o->plot},
                 {"device", .text = &o->device, .words = devices},
                 {"mib", .number = &o->mib, .min = 1, .max = 65536},
                 {"source", .search = true, .text = &o->source},
                 {"reduction", .search = true, .text = &o->reduction, .words = reductions},
                 {"seed", .search = true, .number = &o->seed, .max = INT64_MAX},
                 {"tries", .search = true, .number = &o->tries, .min = 1, .max = 10000}};
  int k = 0;
  while (strcmp(options[k].name, name) != 0)
    k++;
  if (options[k].search) o->searches = name;
  return options[k].text
             ? parse_text(name, optarg, options[k].words, options[k].text)
             : parse_number(name, optarg, options[k].min, options[k].max, options[k].number);
}

/* Returns MG_ERR_INTERRUPTED after --help or --version. */
static mg_status_t parse(int argc, char **argv, options_t *o) {
  opterr = 0;
  for (int c, k; (c = getopt_long(argc, argv, ":", known, &k)) != -1;) {
    const char *said = argv[optind - 1];
    if (c == '?' && optopt > N_FLAGS && optopt < VALUE)
      return mg_error(MG_ERR_USAGE, "unknown option '-%c'; see --help", optopt);
    if (c == '?') return mg_error(MG_ERR_USAGE, "unknown option '%s'; see --help", said);
    if (c == ':') return mg_error(MG_ERR_USAGE, "%s needs a value: %s=...", said, said);
    if (c == VALUE) MG_TRY(parse_value(known[k].name, o));
    if (c == HELP_FLAG) print_help();
    if (c == VERSION_FLAG) printf("hpgmg-bench %s\n", PACKAGE_VERSION);
    if (c == HELP_FLAG || c == VERSION_FLAG) return MG_ERR_INTERRUPTED;
    o->quick = o->quick || c == QUICK_FLAG;
    o->quiet = o->quiet || c == QUIET_FLAG;
  }
  o->all = optind == argc;
  for (int i = optind; i < argc; i++) {
    MG_TRY(parse_ladder(argv[i], o));
    if (!o->named[LADDER_EXERCISE]) continue;
    if (i > optind)
      return mg_error(MG_ERR_USAGE, "an exercise runs alone; remove '%s'", argv[optind]);
    MG_TRY(parse_exercise(argc - i, argv + i, o));
    break;
  }
  if (o->searches && !o->named[LADDER_SEARCH])
    return mg_error(MG_ERR_USAGE, "--%s requires `hpgmg-bench search`", o->searches);
  return MG_OK;
}

/* Peak memory of the selected ladders on a CPU. */
static double needed_bytes(const options_t *o, int64_t mib) {
  const double rest = 250e6;          /* the program, and the oracle of a level of 128^3 */
  double max_mib = 2.0 * (double)mib; /* the initial copy */
  for (int l = 0; l < N_LADDERS; l++) {
    if (!o->named[l] && (!o->all || ladders[l].by_name)) continue;
    const bool capped = ladders[l].largest > 0 && mib > ladders[l].largest;
    const double all = (double)ladders[l].arrays * (double)(capped ? ladders[l].largest : mib);
    max_mib = all > max_mib ? all : max_mib;
  }
  return rest + max_mib * (1 << 20);
}

/* MiB per array on a CPU. Checked in advance, because touching overcommitted memory would kill the
 * process without a message. */
static mg_status_t choose_size(const options_t *o, int64_t *mib) {
  const int64_t machine = mg_host_memory_available(), process = mg_host_memory_process_limit();
  const double room = (double)(machine < process ? machine : process);
  /* All ladders then finish within a minute on two cores. */
  const int64_t per_thread = 16, limit = 256, threads = mg_machine_threads();
  const int64_t preset = threads < limit / per_thread ? threads * per_thread : limit;
  const int64_t wanted = o->mib ? o->mib : preset;
  for (*mib = wanted; *mib > 1 && needed_bytes(o, *mib) > room; (*mib)--)
    ;
  if (needed_bytes(o, *mib) > room)
    return mg_error(MG_ERR_MEMORY, "even --mib=1 needs about %s of memory; %s are free",
                    mg_bytes(needed_bytes(o, 1)).text, mg_bytes(room).text);
  if (o->mib && *mib < wanted)
    return mg_error(MG_ERR_MEMORY,
                    "--mib=%" PRId64 " needs about %s of memory; %s are free. Use "
                    "--mib=%" PRId64 " or less, or fewer ladders",
                    wanted, mg_bytes(needed_bytes(o, wanted)).text, mg_bytes(room).text, *mib);
  return MG_OK;
}

/* CPU or GPU; a device requested by name must exist. */
static mg_status_t choose_place(const options_t *o, lab_t *lab) {
  const int64_t mib = 1 << 20;
#ifdef HAVE_CUDA
  const int devices = lab_cuda_devices();
  if (strcmp(o->device, "cuda") == 0 && devices == 0)
    return mg_error(MG_ERR_DEVICE, "--device=cuda: no CUDA device found; use --device=cpu");
  if (strcmp(o->device, "cpu") != 0 && devices > 0) {
    lab->place = LAB_CUDA;
    lab->bytes = o->mib * mib;
    return o->mib ? MG_OK : lab_cuda_default(512 * mib, &lab->bytes);
  }
#else
  if (strcmp(o->device, "cuda") == 0)
    return mg_error(MG_ERR_DEVICE, "--device=cuda needs a build with CUDA (configure --with-cuda)");
#endif
  lab->place = LAB_CPU;
  MG_TRY(choose_size(o, &lab->bytes));
  lab->bytes *= mib;
  return MG_OK;
}

static lab_ladder_t *ladder_of(const lab_t *lab, int l) {
  return lab->place == LAB_CUDA ? ladders[l].cuda : ladders[l].cpu;
}

/* A ladder not available on this place is skipped by default, and an error if named. */
static mg_status_t check_named(const options_t *o, const lab_t *lab) {
  const bool cuda = lab->place == LAB_CUDA;
  for (int l = 0; l < N_LADDERS; l++)
    if (o->named[l] && !ladder_of(lab, l))
      return mg_error(cuda || strcmp(o->device, "cpu") == 0 ? MG_ERR_USAGE : MG_ERR_DEVICE,
                      "%s requires %s", ladders[l].name, cuda ? "--device=cpu" : "a CUDA device");
  return MG_OK;
}

static mg_status_t open_place(lab_t *lab) {
#ifdef HAVE_CUDA
  if (lab->place == LAB_CUDA) return lab_open_cuda(lab);
#endif
  return lab_open_cpu(lab);
}

static bool is_chosen(const options_t *o, const lab_t *lab, int l) {
  return ladder_of(lab, l) && (o->named[l] || (o->all && !ladders[l].by_name));
}

/* Estimated seconds for the chosen ladders, from the copy bandwidth and runs of some kernels. 0:
 * unknown. */
static mg_status_t estimate(const options_t *o, lab_t *lab) {
  const double on_h200 = 57.0, slow = 20.0 / lab->copy_gb_per_s;
  double *seconds = &lab->progress.estimated;
  if (lab->place == LAB_CUDA) *seconds = o->all && !o->quick && !o->mib ? on_h200 : 0.0;
  for (int l = 0; l < N_LADDERS && lab->place == LAB_CPU; l++) {
    const double alone = ladders[l].alone, mib = (double)lab->bytes / (1 << 20);
    double kernels = 0.0;
    if (!is_chosen(o, lab, l)) continue;
    if (l == LADDER_ROOFLINE) MG_TRY(lab_roofline_estimate(lab, &kernels));
    *seconds += kernels + (o->quick ? ladders[l].quick_s_per_mib : ladders[l].s_per_mib) * mib *
                              slow * (1.0 - alone + alone * 0.5 * lab->threads);
  }
  return MG_OK;
}

static void say_plan(const lab_t *lab) {
  if (!lab->text) return;
  fprintf(lab->text, "%d ladder%s, arrays of %.4g MiB", lab->progress.of,
          lab->progress.of == 1 ? "" : "s", (double)lab->bytes / (1 << 20));
  if (lab->progress.estimated >= 1.0)
    fprintf(lab->text, ": about %.0f s", lab->progress.estimated);
  else if (lab->progress.estimated > 0.0)
    fprintf(lab->text, ": about a second");
  fprintf(lab->text, "\n");
  fflush(lab->text);
}

/* True if tables cannot be written (disk full, or pipe closed). Measurements then stop, and output
 * files hold the ladders completed so far. */
static bool is_unheard(const lab_t *lab) {
  if (!lab->text) return false;
  mg_report_flush(stdout);
  return ferror(stdout) != 0;
}

static mg_status_t climb(const options_t *o, lab_t *lab) {
  for (int l = 0; l < N_LADDERS; l++)
    lab->progress.of += is_chosen(o, lab, l);
  MG_TRY(estimate(o, lab));
  lab->progress.start = mg_now();
  say_plan(lab);
  for (int l = 0; l < N_LADDERS; l++) {
    if (!is_chosen(o, lab, l)) continue;
    lab->progress.at++;
    MG_TRY(ladder_of(lab, l)(lab));
    if (is_unheard(lab)) break;
  }
  mg_progress_clear();
  return MG_OK;
}

/* The thread count does not apply to GPU results. */
static void say_machine(const lab_t *lab) {
  char threads[32] = "";
  if (!lab->text) return;
  if (lab->place == LAB_CPU)
    snprintf(threads, sizeof threads, ", %d thread%s", lab->threads, lab->threads == 1 ? "" : "s");
  fprintf(lab->text, "hpgmg-bench %s on %s%s: copy bandwidth %.1f GB/s", PACKAGE_VERSION,
          lab->machine, threads, lab->copy_gb_per_s);
  if (lab->cache_bytes > 0)
    fprintf(lab->text, "; last-level cache %.4g MiB", (double)lab->cache_bytes / (1 << 20));
  fprintf(lab->text, "\n");
}

static mg_status_t run(const options_t *o, lab_t *lab) {
  const bool to_stdout = (o->json && !strcmp(o->json, "-")) || (o->csv && !strcmp(o->csv, "-")) ||
                         (o->source && !strcmp(o->source, "-"));
  lab->text = o->quiet || to_stdout ? NULL : stdout;
  mg_log_setup(0, 1, o->quiet ? MG_LOG_QUIET : MG_LOG_NORMAL);
  lab->quick = o->quick;
  lab->min_runs = o->quick ? 3 : 21;
  lab->min_seconds = o->quick ? 0.0 : 0.03;
  lab->exercise.number = (int)o->exercise;
  lab->search.norm = strcmp(o->reduction, "norm") == 0;
  lab->search.seed = (uint64_t)o->seed;
  lab->search.tries = (int)o->tries;
  MG_TRY(lab_check_files(o->json, o->csv, o->source, o->plot));
  MG_TRY(lab_check_plot(o->plot));
  MG_TRY(choose_place(o, lab));
  MG_TRY(check_named(o, lab));
  MG_TRY(open_place(lab));
  say_machine(lab);
  MG_TRY(climb(o, lab));
  if (o->json) MG_TRY(lab_write_json(lab, o->json));
  if (o->csv) MG_TRY(lab_write_csv(lab, o->csv));
  if (o->source) MG_TRY(lab_write_source(lab, o->source));
  const bool json_is_file = o->json && strcmp(o->json, "-") != 0;
  if (o->plot) MG_TRY(lab_write_plot(lab, json_is_file ? o->json : NULL, o->plot));
  return MG_OK;
}

/* Only rank 0 reports the error. */
static mg_status_t check_alone(void) {
  if (mg_comm_size(mg_comm_world()) == 1) return MG_OK;
  return mg_root_error(MG_ERR_USAGE, "hpgmg-bench runs as one process: start it without mpirun");
}

int main(int argc, char **argv) {
  mg_machine_open_streams();
  mg_machine_limit_threads();
  mg_log_program("hpgmg-bench");
  options_t options = {.device = "auto", .reduction = "norm", .seed = 1, .tries = 300};
  lab_t lab = {.place = LAB_CPU};
  mg_status_t status = parse(argc, argv, &options);
  if (status == MG_ERR_INTERRUPTED) return mg_status_exit_code(mg_report_check_stdout());
  if (status != MG_OK) return mg_status_exit_code(status);
  status = mg_comm_init(&argc, &argv); /* the solver's levels need a communicator */
  if (status == MG_OK) status = check_alone();
  if (status == MG_OK) status = mg_machine_check_threads();
  mg_machine_catch_broken_pipes();
  if (status == MG_OK) status = run(&options, &lab);
  if (status == MG_OK) status = mg_report_check_stdout();
  lab_free(&lab);
  mg_comm_finalize();
  return status == MG_OK && lab.exercise.unsolved ? 1 : mg_status_exit_code(status);
}
