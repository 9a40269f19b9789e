/* hpgmg-bench: why the solver's kernels have their form. Each ladder measures variants of a kernel,
 * from the naive form to the limit of the machine, on a CPU or a CUDA device. It also checks their
 * results. docs/kernels.md walks through the ladders. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "base/machine.h"
#include "base/timers.h"
#include "comm/comm.h"
#include "io/report/report.h"
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
  lab_ladder_t cpu, cuda;
  bool by_name;    /* runs only if named */
  int arrays;      /* arrays of --mib= in memory at once on a CPU, including ghosts */
  int64_t largest; /* largest array in MiB that it uses; 0: unlimited */
  /* Cost on two cores with a copy bandwidth of 20 GB/s: seconds per MiB with and without --quick,
   * and the single-threaded fraction. */
  double quick_s_per_mib, s_per_mib, alone;
} ladders[] = {
    {.name = "copy",
     .what = "threads, loads under way, occupancy",
     .cpu = lab_copy_cpu,
     .cuda = ON_CUDA(lab_copy_cuda),
     .arrays = 2,
     .quick_s_per_mib = 0.017,
     .s_per_mib = 0.063,
     .alone = 0.67},
    {.name = "stride",
     .what = "what of a line, a sector or a bank is used",
     .cpu = lab_stride_cpu,
     .cuda = ON_CUDA(lab_stride_cuda),
     .arrays = 2,
     .quick_s_per_mib = 0.032,
     .s_per_mib = 0.115,
     .alone = 0.16},
    {.name = "wide",
     .what = "loads of 8 and 16 bytes, launch bounds",
     .cpu = lab_wide_cpu,
     .cuda = ON_CUDA(lab_wide_cuda),
     .arrays = 2,
     .quick_s_per_mib = 0.005,
     .s_per_mib = 0.012,
     .alone = 0.78},
    {.name = "smooth",
     .what = "the 7-point smoother: iterations over memory, steps fused in one pass, 4th order",
     .cpu = lab_smooth_cpu,
     .cuda = ON_CUDA(lab_smooth_cuda),
     .arrays = 14,
     .quick_s_per_mib = 0.20,
     .s_per_mib = 0.337,
     .alone = 0.54},
    {.name = "reduce",
     .what = "trees, shuffles, launches of a sum",
     .cpu = lab_reduce_cpu,
     .cuda = ON_CUDA(lab_reduce_cuda),
     .arrays = 2,
     .quick_s_per_mib = 0.006,
     .s_per_mib = 0.017,
     .alone = 0.94},
    {.name = "roofline",
     .what = "the solver's own kernels: bytes, flops, percent of the limit",
     .cpu = lab_roofline,
     .cuda = lab_roofline,
     .arrays = 26,
     .largest = 512, /* levels up to 512^3 cells */
     .quick_s_per_mib = 0.6,
     .s_per_mib = 0.85,
     .alone = 0.68},
    {.name = "search",
     .what =
         "the shape of a norm or a sum: programs at random, proven, compiled and timed; on a GPU",
     .cuda = ON_CUDA(lab_search_cuda),
     .by_name = true},
};
enum { N_LADDERS = sizeof ladders / sizeof ladders[0], LADDER_ROOFLINE = 5, LADDER_SEARCH = 6 };

typedef struct {
  const char *device, *json, *csv, *plot, *reduction, *source;
  const char *searches; /* an option that only the search accepts */
  int64_t mib, seed, tries;
  bool quick, quiet, named[N_LADDERS], all;
} options_t;

static void print_help(void) {
  printf("Usage: hpgmg-bench [OPTION]... [LADDER]...\n"
         "Measure variants of the solver's kernels, from the naive form to the machine's limit.\n\n"
         "Ladders, all of them unless some are named:\n");
  for (int l = 0; l < N_LADDERS; l++)
    if (!ladders[l].by_name) printf("  %-10s %s\n", ladders[l].name, ladders[l].what);
  printf("\nOnly where it is named:\n");
  for (int l = 0; l < N_LADDERS; l++)
    if (ladders[l].by_name) printf("  %-10s %s\n", ladders[l].name, ladders[l].what);
  printf(
      "\nOptions:\n"
      "  --device=auto|cuda|cpu  where; auto takes a GPU that is there. Default auto\n"
      "  --mib=N                 MiB of an array, 1 to 65536; default on a CPU 16 per thread and "
      "at\n"
      "                          most 256, on a GPU 512, or less if memory is short. On two cores\n"
      "                          all ladders take about half a minute with the default, and some\n"
      "                          five minutes with --mib=256, which adds levels of 256^3 cells.\n"
      "                          Caches must not hold it: what a cache holds is not memory's rate\n"
      "  --quick                 few runs of each variant: for a first look, and for tests\n"
      "  --json=FILE, --csv=FILE all rows; - is stdout, and the tables are then left out\n"
      "  --plot=FILE.png         all rows as a picture (.svg, .pdf); needs python3 and matplotlib\n"
      "  --reduction=norm|sum    search: of what, the solver's maximum norm or a sum; default "
      "norm\n"
      "  --seed=N                search: another N, other programs; default 1\n"
      "  --tries=N               search: programs that are considered, 1 to 10000; default 300\n"
      "  --source=FILE           search: the winner as CUDA source; - is stdout\n"
      "  --quiet                 no tables\n"
      "  --help, --version       this, and the version\n\n"
      "Exit codes: 0 done, 2 a bad option, 3 a file cannot be written, 4 memory or device,\n"
      "5 a variant computed something wrong.\n");
}

static mg_status_t parse_number(const char *name, const char *text, int64_t least, int64_t most,
                                int64_t *number) {
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (errno || end == text || *end || value < least || value > most)
    return mg_error(MG_ERR_USAGE, "--%s=%s is no whole number from %" PRId64 " to %" PRId64, name,
                    text, least, most);
  *number = value;
  return MG_OK;
}

/* A file name, or - for stdout. */
static mg_status_t parse_file(const char *option, const char *text, const char **name) {
  if (*text == '\0') return mg_error(MG_ERR_USAGE, "--%s= needs the name of a file", option);
  *name = text;
  return MG_OK;
}

static mg_status_t parse_ladder(const char *name, options_t *o) {
  for (int l = 0; l < N_LADDERS; l++)
    if (strcmp(name, ladders[l].name) == 0) {
      o->named[l] = true;
      return MG_OK;
    }
  char names[256] = "";
  for (int l = 0; l < N_LADDERS; l++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", l ? ", " : "",
             ladders[l].name);
  return mg_error(MG_ERR_USAGE, "'%s' is no ladder; there are %s", name, names);
}

static mg_status_t parse_device(const char *device) {
  if (strcmp(device, "auto") && strcmp(device, "cuda") && strcmp(device, "cpu"))
    return mg_error(MG_ERR_USAGE, "--device=%s is none of auto, cuda, cpu", device);
  return MG_OK;
}

enum {
  OPT_HELP = 1000,
  OPT_VERSION,
  OPT_DEVICE,
  OPT_MIB,
  OPT_QUICK,
  OPT_QUIET,
  OPT_JSON,
  OPT_CSV,
  OPT_PLOT,
  OPT_REDUCTION,
  OPT_SEED,
  OPT_TRIES,
  OPT_SOURCE
};
static const struct option known[] = {
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"mib", required_argument, NULL, OPT_MIB},
    {"quick", no_argument, NULL, OPT_QUICK},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"json", required_argument, NULL, OPT_JSON},
    {"csv", required_argument, NULL, OPT_CSV},
    {"plot", required_argument, NULL, OPT_PLOT},
    {"reduction", required_argument, NULL, OPT_REDUCTION},
    {"seed", required_argument, NULL, OPT_SEED},
    {"tries", required_argument, NULL, OPT_TRIES},
    {"source", required_argument, NULL, OPT_SOURCE},
    {NULL, 0, NULL, 0},
};

/* Returns MG_ERR_INTERRUPTED after --help or --version. */
static mg_status_t parse(int argc, char **argv, options_t *o) {
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, ":", known, NULL)) != -1;) {
    const char *said = argv[optind - 1];
    switch (c) {
    case OPT_HELP:
      print_help();
      return MG_ERR_INTERRUPTED;
    case OPT_VERSION:
      printf("hpgmg-bench %s\n", PACKAGE_VERSION);
      return MG_ERR_INTERRUPTED;
    case OPT_DEVICE:
      o->device = optarg;
      break;
    case OPT_MIB:
      MG_TRY(parse_number("mib", optarg, 1, 65536, &o->mib));
      break;
    case OPT_QUICK:
      o->quick = true;
      break;
    case OPT_QUIET:
      o->quiet = true;
      break;
    case OPT_JSON:
      MG_TRY(parse_file("json", optarg, &o->json));
      break;
    case OPT_CSV:
      MG_TRY(parse_file("csv", optarg, &o->csv));
      break;
    case OPT_PLOT:
      MG_TRY(parse_file("plot", optarg, &o->plot));
      break;
    case OPT_REDUCTION:
      o->searches = "reduction";
      o->reduction = optarg;
      if (strcmp(optarg, "norm") != 0 && strcmp(optarg, "sum") != 0)
        return mg_error(MG_ERR_USAGE, "--reduction=%s is none of norm, sum", optarg);
      break;
    case OPT_SEED:
      o->searches = "seed";
      MG_TRY(parse_number("seed", optarg, 0, INT64_MAX, &o->seed));
      break;
    case OPT_TRIES:
      o->searches = "tries";
      MG_TRY(parse_number("tries", optarg, 1, 10000, &o->tries));
      break;
    case OPT_SOURCE:
      o->searches = "source";
      MG_TRY(parse_file("source", optarg, &o->source));
      break;
    case ':':
      return mg_error(MG_ERR_USAGE, "%s needs a value: %s=...", said, said);
    default:
      if (optopt > 0 && optopt < OPT_HELP)
        return mg_error(MG_ERR_USAGE, "unknown option '-%c'; --help has all", optopt);
      return mg_error(MG_ERR_USAGE, "unknown option '%s'; --help has all", said);
    }
  }
  o->all = optind == argc;
  for (int i = optind; i < argc; i++)
    MG_TRY(parse_ladder(argv[i], o));
  MG_TRY(parse_device(o->device));
  if (o->searches && !o->named[LADDER_SEARCH])
    return mg_error(MG_ERR_USAGE, "--%s is for `hpgmg-bench search`", o->searches);
  return MG_OK;
}

/* Peak memory of the selected ladders on a CPU. */
static double needed_bytes(const options_t *o, int64_t mib) {
  const double rest = 250e6;       /* the program, and the oracle of a level of 128^3 */
  double most = 2.0 * (double)mib; /* the initial copy */
  for (int l = 0; l < N_LADDERS; l++) {
    if (!o->named[l] && (!o->all || ladders[l].by_name)) continue;
    const bool capped = ladders[l].largest > 0 && mib > ladders[l].largest;
    const double all = (double)ladders[l].arrays * (double)(capped ? ladders[l].largest : mib);
    most = all > most ? all : most;
  }
  return rest + most * (1 << 20);
}

/* MiB per array on a CPU. Checked in advance, because touching overcommitted memory would kill the
 * process without a message. */
static mg_status_t choose_size(const options_t *o, int64_t *mib) {
  const int64_t machine = mg_host_memory_available(), process = mg_host_memory_process_limit();
  const double room = (double)(machine < process ? machine : process);
  /* All ladders then finish within a minute on two cores. */
  const int64_t a_thread = 16, most = 256, threads = mg_machine_threads();
  const int64_t wanted = o->mib ? o->mib : threads < most / a_thread ? threads * a_thread : most;
  for (*mib = wanted; *mib > 1 && needed_bytes(o, *mib) > room; (*mib)--)
    ;
  if (needed_bytes(o, *mib) > room)
    return mg_error(MG_ERR_MEMORY, "even --mib=1 needs about %s of memory, and %s are free",
                    mg_bytes(needed_bytes(o, 1)).text, mg_bytes(room).text);
  if (o->mib && *mib < wanted)
    return mg_error(MG_ERR_MEMORY,
                    "--mib=%" PRId64 " needs about %s of memory, and %s are free; take "
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
    return mg_error(MG_ERR_DEVICE, "--device=cuda: there is no CUDA device; take --device=cpu");
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

static lab_ladder_t ladder_of(const lab_t *lab, int l) {
  return lab->place == LAB_CUDA ? ladders[l].cuda : ladders[l].cpu;
}

/* A ladder not available on this place is skipped by default, and an error if named. */
static mg_status_t check_named(const options_t *o, const lab_t *lab) {
  const bool cuda = lab->place == LAB_CUDA;
  for (int l = 0; l < N_LADDERS; l++)
    if (o->named[l] && !ladder_of(lab, l))
      return mg_error(cuda || strcmp(o->device, "cpu") == 0 ? MG_ERR_USAGE : MG_ERR_DEVICE,
                      "%s needs %s", ladders[l].name,
                      cuda ? "--device=cpu" : "a CUDA device: none is here or allowed");
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

/* Total size of a ladder in MiB; the roofline ladder has its own sizes. */
static double mib_of(int l, int64_t bytes) {
  double cells = 0.0;
  if (l != LADDER_ROOFLINE) return (double)bytes / (1 << 20);
  for (int64_t n = 64; n <= 512; n *= 2)
    if (n == 64 || 8 * n * n * n <= 2 * bytes) cells += (double)(n * n * n);
  return 8.0 * cells / (1 << 20);
}

/* Estimated seconds for the chosen ladders, from the copy bandwidth. Accurate within a factor of
 * two on an idle machine. 0: unknown. */
static double estimate(const options_t *o, const lab_t *lab) {
  const double on_h200 = 57.0, slow = 20.0 / lab->copy_gb_per_s;
  double seconds = 0.0;
  if (lab->place == LAB_CUDA) return o->all && !o->quick && !o->mib ? on_h200 : 0.0;
  for (int l = 0; l < N_LADDERS; l++) {
    if (!is_chosen(o, lab, l)) continue;
    const double alone = ladders[l].alone;
    seconds += (o->quick ? ladders[l].quick_s_per_mib : ladders[l].s_per_mib) *
               mib_of(l, lab->bytes) * slow * (1.0 - alone + alone * 0.5 * lab->threads);
  }
  return seconds;
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
  lab->progress.estimated = estimate(o, lab);
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
  fprintf(lab->text, "hpgmg-bench %s on %s%s: a copy moves %.1f GB/s\n", PACKAGE_VERSION,
          lab->machine, threads, lab->copy_gb_per_s);
}

static mg_status_t run(const options_t *o, lab_t *lab) {
  const bool to_stdout = (o->json && !strcmp(o->json, "-")) || (o->csv && !strcmp(o->csv, "-")) ||
                         (o->source && !strcmp(o->source, "-"));
  lab->text = o->quiet || to_stdout ? NULL : stdout;
  mg_log_setup(0, 1, o->quiet ? MG_LOG_QUIET : MG_LOG_NORMAL);
  lab->least_runs = o->quick ? 3 : 21;
  lab->least_seconds = o->quick ? 0.0 : 0.03;
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
  if (!mg_comm_is_root()) return MG_ERR_USAGE;
  return mg_error(MG_ERR_USAGE, "hpgmg-bench is one process: start it without mpirun");
}

int main(int argc, char **argv) {
  mg_machine_open_streams();
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
  return mg_status_exit_code(status);
}
