/* The option table and the words of the enums. */
#include "params/params_table.h"
#include <string.h>

_Static_assert(sizeof(mg_operator_t) == sizeof(int), "words are stored as int");

static const char *const operator_words[] = {"fv2", "fv4", "7pt", NULL};
static const char *const equation_words[] = {"poisson", "helmholtz", NULL};
static const char *const boundary_words[] = {"dirichlet", "periodic", NULL};
static const char *const smoother_words[] = {"gsrb",     "chebyshev", "jacobi",
                                             "l1jacobi", "symgs",     NULL};
static const char *const bottom_words[] = {"bicgstab", "cg", "smoother", NULL};
static const char *const cycle_words[] = {"f", "v", NULL};
static const char *const krylov_words[] = {"none", "cg", NULL};
static const char *const auto_words[] = {"auto", NULL};
static const char *const memory_words[] = {"auto", "device", "unified", NULL};
static const char *const device_words[] = {"auto", "cuda", "cpu", "guard", "cuda-simple", NULL};
static const char *const transport_words[] = {"auto", "peer", "nccl", "mpi", "host", NULL};

static const char *const field_words[] = {"u",      "f",    "residual", "beta_i", "beta_j",
                                          "beta_k", "dinv", "alpha",    NULL};
static const char *const level_words[] = {"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",
                                          "9",  "10", "11", "12", "13", "14", "15", "16", "17",
                                          "18", "19", "20", "21", "22", "23", NULL};
static const char *const precision_words[] = {"double", "float", NULL};
static const char *const centering_words[] = {"cell", "point", NULL};

static const char *const group_names[MG_N_GROUPS] = {"problem", "solver", "run", "output", "help"};

static bool with_chebyshev(const mg_params_t *p) {
  return p->smoother == MG_SMOOTHER_CHEBYSHEV;
}
static bool with_rtol(const mg_params_t *p) {
  return p->rtol > 0;
}
static bool with_timing(const mg_params_t *p) {
  return !p->verify_only;
}
static bool may_use_cuda(const mg_params_t *p) {
  return p->device == MG_DEVICE_AUTO || p->device == MG_DEVICE_CUDA ||
         p->device == MG_DEVICE_CUDA_SIMPLE;
}
static bool without_cpu(const mg_params_t *p) {
  return p->device != MG_DEVICE_CPU;
}
static bool with_dry_run(const mg_params_t *p) {
  return p->dry_run;
}
static bool with_dump(const mg_params_t *p) {
  return p->dump[0] != '\0';
}
static bool without_dry_run(const mg_params_t *p) {
  return !p->dry_run;
}

#define FIELD(member) .offset = offsetof(mg_params_t, member)
#define ANYWHERE      .where = MG_IN_DECK | MG_AS_OPTION
#define SIZE          .where = MG_IN_DECK | MG_AS_ARGUMENT
#define OPTION_ONLY   .where = MG_AS_OPTION
#define DUMPED                                                                                     \
  .applies = with_dump, .condition = "only with --dump", .remedy = "add --dump=FILE.hdf",          \
  .decided_by = MG_OPT_DUMP
#define TIMED                                                                                      \
  .applies = with_timing, .condition = "only without --verify-only and --restart",                 \
  .remedy = "drop --verify-only or --restart", .decided_by = MG_OPT_VERIFY_ONLY

/* clang-format off */
const mg_option_t mg_options[MG_N_OPTIONS] = {
  [MG_OPT_LOG2_BOX_DIM] = {
    .name = "log2-box-dim", .metavar = "LOG2_BOX_DIM", .kind = MG_KIND_INT,
    .group = MG_GROUP_PROBLEM, SIZE, FIELD(log2_box_dim), .min = 4, .max = 10,
    .help = "Cells a side of a box of the finest level, as a power of two: 7 is 128 cells."},
  [MG_OPT_BOXES_PER_RANK] = {
    .name = "boxes-per-rank", .metavar = "BOXES_PER_RANK", .kind = MG_KIND_INT64,
    .group = MG_GROUP_PROBLEM, SIZE, FIELD(boxes_per_rank), .min = 1, .max = 1e12,
    .help = "Boxes for each rank, at most: the grid is the largest cube of boxes that all ranks "
            "together can hold and that coarsens well."},
  [MG_OPT_OPERATOR] = {
    .name = "operator", .kind = MG_KIND_WORD, .group = MG_GROUP_PROBLEM, ANYWHERE, FIELD(op),
    .words = operator_words, .value = "fv2",
    .help = "Discretization: fv2 finite volume of 2nd order, 7 points; fv4 finite volume of 4th "
            "order, 25 points; 7pt finite difference of 2nd order, 7 points."},
  [MG_OPT_EQUATION] = {
    .name = "equation", .kind = MG_KIND_WORD, .group = MG_GROUP_PROBLEM, ANYWHERE, FIELD(equation),
    .words = equation_words, .value = "poisson",
    .help = "poisson: -div(beta grad u) = f; helmholtz: u - div(beta grad u) = f."},
  [MG_OPT_BOUNDARY] = {
    .name = "boundary", .kind = MG_KIND_WORD, .group = MG_GROUP_PROBLEM, ANYWHERE, FIELD(boundary),
    .words = boundary_words, .value = "dirichlet",
    .help = "Boundary of the unit cube: u = 0 on it, or periodic in all three directions."},
  [MG_OPT_COEFFICIENTS] = {
    .name = "coefficients", .metavar = "FILE", .kind = MG_KIND_PATH, .group = MG_GROUP_PROBLEM,
    ANYWHERE, FIELD(coefficients),
    .help = "HDF5 file, laid out like a dump, with the problem's own alpha, and beta_i, beta_j and "
            "beta_k of the faces below each cell or one beta of the cells, which is averaged "
            "harmonically. The grid's size comes from the file. Unless told otherwise: 7pt, chebyshev, "
            "--krylov=cg from zero until --rtol=1e-8, --max-cycles=200, one solve, no warm-up."},
  [MG_OPT_RHS] = {
    .name = "rhs", .metavar = "FILE", .kind = MG_KIND_PATH, .group = MG_GROUP_PROBLEM, ANYWHERE,
    FIELD(rhs),
    .help = "HDF5 file, laid out like a dump, with the problem's own right-hand side f; size and "
            "defaults as for --coefficients, but for operator, smoother and cycle."},
  [MG_OPT_SMOOTHER] = {
    .name = "smoother", .kind = MG_KIND_WORD, .group = MG_GROUP_SOLVER, ANYWHERE, FIELD(smoother),
    .words = smoother_words, .value = "gsrb",
    .help = "gsrb: red-black Gauss-Seidel; chebyshev: polynomial in the scaled operator; jacobi: "
            "weighted with 2/3; l1jacobi: Jacobi with the l1-scaled diagonal; symgs: the colours "
            "of gsrb forward, then backward."},
  [MG_OPT_SMOOTHS] = {
    .name = "smooths", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_SOLVER, ANYWHERE,
    FIELD(smooths), .min = 1, .max = 100, .value = "3",
    .note = "gsrb 3 (7pt 2), symgs 2, jacobi and l1jacobi 6 (7pt 4), chebyshev 1",
    .help = "Smoothing before and after each coarse-grid correction: full red-black sweeps (gsrb), "
            "forward and backward pairs (symgs), sweeps (jacobi, l1jacobi) or applications of the "
            "polynomial (chebyshev)."},
  [MG_OPT_DEGREE] = {
    .name = "degree", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_SOLVER, ANYWHERE,
    FIELD(degree), .min = 1, .max = 50, .value = "6", .note = "6 (7pt 4)",
    .applies = with_chebyshev, .condition = "only with --smoother=chebyshev",
    .remedy = "add --smoother=chebyshev", .decided_by = MG_OPT_SMOOTHER,
    .help = "Degree of the Chebyshev polynomial."},
  [MG_OPT_BOTTOM] = {
    .name = "bottom", .kind = MG_KIND_WORD, .group = MG_GROUP_SOLVER, ANYWHERE, FIELD(bottom),
    .words = bottom_words, .value = "bicgstab",
    .help = "Solver of the coarsest level."},
  [MG_OPT_CYCLE] = {
    .name = "cycle", .kind = MG_KIND_WORD, .group = MG_GROUP_SOLVER, ANYWHERE, FIELD(cycle),
    .words = cycle_words, .value = "f",
    .help = "First cycle of a solve: f an F-cycle (full multigrid), v a V-cycle from zero."},
  [MG_OPT_RTOL] = {
    .name = "rtol", .metavar = "R", .kind = MG_KIND_DOUBLE, .group = MG_GROUP_SOLVER, ANYWHERE,
    FIELD(rtol), .min = 0, .max = 1, .open = true, .note = "exactly one cycle",
    .help = "V-cycles follow the first cycle until max|f-Au| / max|f| is below R."},
  [MG_OPT_MAX_CYCLES] = {
    .name = "max-cycles", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_SOLVER, ANYWHERE,
    FIELD(max_cycles), .min = 1, .max = 1000, .value = "1", .note = "20",
    .applies = with_rtol, .condition = "only with --rtol", .remedy = "add --rtol=1e-8",
    .decided_by = MG_OPT_RTOL,
    .help = "The most cycles of a solve, the first included."},
  [MG_OPT_KRYLOV] = {
    .name = "krylov", .kind = MG_KIND_WORD, .group = MG_GROUP_SOLVER, ANYWHERE, FIELD(krylov),
    .words = krylov_words, .value = "none",
    .applies = with_rtol, .condition = "only with --rtol", .remedy = "add --rtol=1e-8",
    .decided_by = MG_OPT_RTOL,
    .help = "cg: the cycles after the first are steps of flexible conjugate gradients with a V-cycle "
            "as preconditioner, for coefficients with large jumps; best with --operator=7pt and "
            "--smoother=symgs or chebyshev."},
  [MG_OPT_COARSEST] = {
    .name = "coarsest", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_SOLVER, ANYWHERE,
    FIELD(coarsest), .min = 1, .max = 1048576, .value = "1",
    .help = "Never coarsen below N cells a side."},
  [MG_OPT_WARMUP] = {
    .name = "warmup", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_RUN, ANYWHERE,
    FIELD(warmup), .min = 0, .max = 1000000, .value = "1", .official = "10", TIMED,
    .help = "Solves before the timing starts."},
  [MG_OPT_MIN_SOLVES] = {
    .name = "min-solves", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_RUN, ANYWHERE,
    FIELD(min_solves), .min = 1, .max = 1000000, .value = "10", .official = "10", TIMED,
    .help = "Timed solves of each grid (h, 2h and 4h), at least."},
  [MG_OPT_MIN_TIME] = {
    .name = "min-time", .metavar = "SECONDS", .kind = MG_KIND_DOUBLE, .group = MG_GROUP_RUN,
    ANYWHERE, FIELD(min_time), .min = 0, .max = 1e6, .value = "1", .official = "60", TIMED,
    .help = "Seconds of timed solves of each grid, at least."},
  [MG_OPT_OFFICIAL] = {
    .name = "official", .kind = MG_KIND_FLAG, .group = MG_GROUP_RUN, ANYWHERE, FIELD(official),
    .value = "no", TIMED,
    .help = "The official benchmark: --warmup=10 --min-solves=10 --min-time=60."},
  [MG_OPT_VERIFY_ONLY] = {
    .name = "verify-only", .kind = MG_KIND_FLAG, .group = MG_GROUP_RUN, ANYWHERE,
    FIELD(verify_only), .value = "no",
    .help = "One solve of each grid for the verification; no warm-up and no timing."},
  [MG_OPT_DEVICE] = {
    .name = "device", .kind = MG_KIND_WORD, .group = MG_GROUP_RUN, ANYWHERE, FIELD(device),
    .words = device_words, .value = "auto",
    .help = "Where the fine levels live: auto a GPU where there is one, else the CPU; cuda; cpu; "
            "and for tests of the program: guard the CPU on memory that nothing else may touch; "
            "cuda-simple a GPU with simple kernels."},
  [MG_OPT_DEVICE_ID] = {
    .name = "device-id", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_RUN, ANYWHERE,
    FIELD(device_id), .min = 0, .max = 1023, .note = "ranks of a host take its devices in turn",
    .applies = may_use_cuda, .condition = "only with --device=auto, cuda or cuda-simple",
    .remedy = "change --device", .decided_by = MG_OPT_DEVICE,
    .help = "Number of the CUDA device to use, as the driver counts those that a process may see. A "
            "wrapper script can give each rank its own."},
  [MG_OPT_MEMORY] = {
    .name = "memory", .kind = MG_KIND_WORD, .group = MG_GROUP_RUN, ANYWHERE, FIELD(memory),
    .words = memory_words, .value = "auto", .applies = without_cpu,
    .condition = "only without --device=cpu", .remedy = "change --device",
    .decided_by = MG_OPT_DEVICE,
    .help = "Memory of levels on a GPU: device; unified managed memory that stays on the device, "
            "with the first level on the CPU in memory that both reach without copies; auto is "
            "device. The digits are the same."},
  [MG_OPT_TRANSPORT] = {
    .name = "transport", .kind = MG_KIND_WORD, .group = MG_GROUP_RUN, ANYWHERE, FIELD(transport),
    .words = transport_words, .value = "auto",
    .applies = may_use_cuda, .condition = "only with --device=auto, cuda or cuda-simple",
    .remedy = "change --device", .decided_by = MG_OPT_DEVICE,
    .help = "How messages travel between GPUs: auto what works and is fastest; peer stores into the "
            "other GPU's memory, within a host; nccl; mpi hands GPU memory to an MPI library that "
            "takes it; host through pinned memory, which always works."},
  [MG_OPT_CPU_BELOW] = {
    .name = "cpu-below", .metavar = "CELLS", .kind = MG_KIND_INT64, .group = MG_GROUP_RUN,
    ANYWHERE, FIELD(cpu_below), .words = auto_words, .min = 0, .max = 1e18, .value = "auto",
    .help = "Levels with fewer cells in all than this live on the CPU, whatever --device is. auto "
            "measures at the start of a run on a GPU which coarse levels are faster there; without "
            "a GPU it is 0."},
  [MG_OPT_AGGLOMERATE_BELOW] = {
    .name = "agglomerate-below", .metavar = "CELLS", .kind = MG_KIND_INT64, .group = MG_GROUP_RUN,
    ANYWHERE, FIELD(agglomerate_below), .words = auto_words, .min = 0, .max = 1e18,
    .value = "auto", .note = "auto, 4096 on the CPU and 65536 on a GPU",
    .help = "Coarse levels gather onto fewer ranks until each of these holds at least this many "
            "cells; 0 gathers only where there are fewer boxes than ranks."},
  [MG_OPT_STEPS_PER_PASS] = {
    .name = "steps-per-pass", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_RUN, ANYWHERE,
    FIELD(steps_per_pass), .min = 1, .max = MG_MAX_FUSED_SWEEPS, .value = "3",
    .help = "Most half sweeps (gsrb) or steps (chebyshev, jacobi) of fv2 and 7pt that a GPU makes in "
            "one pass over a large level, where it has a tensor copy engine and 216 KiB of shared "
            "memory a block (sm_90, sm_100), and the build code for it (CUDA 12 on): 1 to 3. The "
            "digits are the same."},
  [MG_OPT_RESTART] = {
    .name = "restart", .metavar = "FILE", .kind = MG_KIND_PATH, .group = MG_GROUP_RUN, ANYWHERE,
    FIELD(restart),
    .help = "Go on from the solution in the file of an earlier --dump, on any ranks, boxes and "
            "device: V-cycles at h until --rtol or --max-cycles, then the verification, without "
            "timing. The size and all settings come from the file where nothing else is said; the "
            "problem cannot be another."},
  [MG_OPT_INPUT] = {
    .name = "input", .metavar = "FILE", .kind = MG_KIND_PATH, .group = MG_GROUP_RUN, OPTION_ONLY,
    FIELD(input),
    .help = "Read options from a deck of lines `key = value`, where the keys are the names of the "
            "long options; the command line wins over the deck."},
  [MG_OPT_DRY_RUN] = {
    .name = "dry-run", .kind = MG_KIND_FLAG, .group = MG_GROUP_RUN, OPTION_ONLY, FIELD(dry_run),
    .value = "no",
    .help = "Print levels, boxes and bytes per rank without allocating the grid, and stop."},
  [MG_OPT_RANKS] = {
    .name = "ranks", .metavar = "N", .kind = MG_KIND_INT64, .group = MG_GROUP_RUN, OPTION_ONLY,
    FIELD(ranks), .min = 1, .max = 1e9, .note = "as started",
    .applies = with_dry_run, .condition = "only with --dry-run", .remedy = "add --dry-run",
    .decided_by = MG_OPT_DRY_RUN,
    .help = "Plan for N ranks."},
  [MG_OPT_LEVELS_BREAKDOWN] = {
    .name = "levels-breakdown", .kind = MG_KIND_FLAG, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(levels_breakdown), .value = "no",
    .help = "Print seconds per operation and level, and the messages, bytes and reductions of a "
            "level's ranks: min, mean and max over ranks; then each level's percent of a solve and the "
            "sums. With levels on a GPU, from three further solves after the timed ones."},
  [MG_OPT_JSON] = {
    .name = "json", .metavar = "FILE", .kind = MG_KIND_PATH, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(json),
    .help = "Write the results as JSON; - is stdout, and the report then goes to stderr. With "
            "--dry-run the plan."},
  [MG_OPT_CSV] = {
    .name = "csv", .metavar = "FILE", .kind = MG_KIND_PATH, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(csv), .applies = without_dry_run, .condition = "only without --dry-run",
    .remedy = "drop --dry-run", .decided_by = MG_OPT_DRY_RUN,
    .help = "Write the results as CSV; - is stdout, and the report then goes to stderr."},
  [MG_OPT_DUMP] = {
    .name = "dump", .metavar = "FILE", .kind = MG_KIND_PATH, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(dump), .applies = without_dry_run, .condition = "only without --dry-run",
    .remedy = "drop --dry-run", .decided_by = MG_OPT_DRY_RUN,
    .help = "Write the grid's state after the solves to an HDF5 file (VTKHDF image data, which "
            "ParaView opens when it is called NAME.hdf), and beside it FILE.xdmf."},
  [MG_OPT_DUMP_FIELDS] = {
    .name = "dump-fields", .kind = MG_KIND_SET, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(dump_fields), .words = field_words, .value = "u,f,residual", DUMPED,
    .help = "What to write of a level: u, the right-hand side f, f - A u, the betas of the faces "
            "below each cell, 1 / diagonal, alpha where --coefficients has one; all for everything."},
  [MG_OPT_DUMP_LEVELS] = {
    .name = "dump-levels", .metavar = "LEVELS", .kind = MG_KIND_SET, .group = MG_GROUP_OUTPUT,
    ANYWHERE, FIELD(dump_levels), .words = level_words, .value = "0", DUMPED,
    .help = "Levels to write, by number with commas, 0 the finest; all for every one. Levels 0, 1 "
            "and 2 hold the solutions at h, 2h and 4h, those below what the last cycle left."},
  [MG_OPT_DUMP_EVERY] = {
    .name = "dump-every", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(dump_every), .min = 0, .max = 1000, .value = "0", DUMPED,
    .help = "Solve once more at h and write after every N cycles, to files with the cycle in their "
            "names: grid.hdf becomes grid.0003.hdf."},
  [MG_OPT_DUMP_PRECISION] = {
    .name = "dump-precision", .kind = MG_KIND_WORD, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(dump_precision), .words = precision_words, .value = "double", DUMPED,
    .help = "Of the values in the file; float halves it."},
  [MG_OPT_DUMP_COMPRESS] = {
    .name = "dump-compress", .metavar = "N", .kind = MG_KIND_INT, .group = MG_GROUP_OUTPUT,
    ANYWHERE, FIELD(dump_compress), .min = 0, .max = 9, .value = "0", DUMPED,
    .help = "Compress with deflate of this level; 0 does not."},
  [MG_OPT_DUMP_CENTERING] = {
    .name = "dump-centering", .kind = MG_KIND_WORD, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(dump_centering), .words = centering_words, .value = "cell", DUMPED,
    .help = "What readers of VTKHDF see: cells, or points at the cells' centres, which older ones "
            "(VTK 9.1, ParaView 5.11) can read too. The values are the same."},
  [MG_OPT_DUMP_HINTS] = {
    .name = "dump-hints", .metavar = "KEY=VALUE,...", .kind = MG_KIND_PAIRS,
    .group = MG_GROUP_OUTPUT, ANYWHERE, FIELD(dump_hints), DUMPED,
    .help = "Hints for MPI-IO, such as cb_nodes=4, where ranks write at once."},
  [MG_OPT_PRINT_CONFIG] = {
    .name = "print-config", .kind = MG_KIND_FLAG, .group = MG_GROUP_OUTPUT, OPTION_ONLY,
    FIELD(print_config), .value = "no",
    .applies = without_dry_run, .condition = "only without --dry-run",
    .remedy = "drop --dry-run", .decided_by = MG_OPT_DRY_RUN,
    .help = "Print a deck that reproduces this run, and stop."},
  [MG_OPT_QUIET] = {
    .name = "quiet", .letter = 'q', .kind = MG_KIND_VERBOSITY, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(verbosity), .min = -1, .value = "no",
    .help = "No report, no progress and no warnings: only files, errors and the exit status."},
  [MG_OPT_VERBOSE] = {
    .name = "verbose", .letter = 'v', .kind = MG_KIND_VERBOSITY, .group = MG_GROUP_OUTPUT, ANYWHERE,
    FIELD(verbosity), .min = 1, .value = "no",
    .help = "More detail on stderr: steps of the set-up, a line per solve, the source location of an error."},
  [MG_OPT_HELP] = {
    .name = "help", .letter = 'h', .kind = MG_KIND_ACTION, .group = MG_GROUP_HELP, OPTION_ONLY,
    .help = "Print this text and stop."},
  [MG_OPT_VERSION] = {
    .name = "version", .letter = 'V', .kind = MG_KIND_ACTION, .group = MG_GROUP_HELP, OPTION_ONLY,
    .help = "Print the version and what it was built with, and stop."},
};
/* clang-format on */

const char *mg_option_group_name(mg_option_group_t group) {
  return group_names[group];
}

const mg_option_t *mg_option_find(const char *name) {
  for (int i = 0; i < MG_N_OPTIONS; i++)
    if (strcmp(mg_options[i].name, name) == 0) return &mg_options[i];
  return NULL;
}

const mg_option_t *mg_option_find_letter(char letter) {
  for (int i = 0; i < MG_N_OPTIONS; i++)
    if (letter != '\0' && mg_options[i].letter == letter) return &mg_options[i];
  return NULL;
}

bool mg_option_applies(const mg_option_t *option, const mg_params_t *params) {
  return !option->applies || option->applies(params);
}

const char *mg_operator_name(mg_operator_t op) {
  return operator_words[op];
}
const char *mg_equation_name(mg_equation_t equation) {
  return equation_words[equation];
}
const char *mg_boundary_name(mg_boundary_t boundary) {
  return boundary_words[boundary];
}
const char *mg_smoother_name(mg_smoother_t smoother) {
  return smoother_words[smoother];
}
const char *mg_bottom_name(mg_bottom_t bottom) {
  return bottom_words[bottom];
}
const char *mg_cycle_name(mg_cycle_t cycle) {
  return cycle_words[cycle];
}
const char *mg_krylov_name(mg_krylov_method_t krylov) {
  return krylov_words[krylov];
}
const char *mg_device_name(mg_device_t device) {
  return device_words[device];
}
const char *mg_memory_name(mg_memory_t memory) {
  return memory_words[memory];
}
const char *mg_field_name(mg_field_t field) {
  return field_words[field];
}
const char *mg_transport_name(mg_transport_t transport) {
  return transport_words[transport];
}
