/* The option table and the words of the enums. */
#include "params/params_table.h"
#include "wings.h"
#include <string.h>

_Static_assert(sizeof(mg_operator_t) == sizeof(int), "words are stored as int");

static const char *const operator_words[] = {"fv2", "fv4", "7pt", "27pt", NULL};
static const char *const equation_words[] = {"poisson", "helmholtz", NULL};
static const char *const boundary_words[] = {"dirichlet", "neumann", "periodic", "robin", NULL};
static const char *const smoother_words[] = {"gsrb",  "chebyshev", "jacobi", "l1jacobi",
                                             "symgs", "ssor",      NULL};
static const char *const bottom_words[] = {"bicgstab", "cg", "smoother", NULL};
static const char *const cycle_words[] = {"f", "v", NULL};
static const char *const krylov_words[] = {"none", "cg", NULL};
static const char *const auto_words[] = {"auto", NULL};
static const char *const choice_words[] = {"no", "yes", "auto", NULL};
static const char *const memory_words[] = {"auto", "device", "unified", NULL};
static const char *device_words[] = {"auto", "cuda", "cpu", "cuda-simple", NULL, NULL};
static const char *const transport_words[] = {"auto", "peer", "nccl", "mpi", "host", NULL};

static const char *const field_words[] = {"u",      "f",    "residual", "beta_i", "beta_j",
                                          "beta_k", "dinv", "alpha",    NULL};
static const char *const level_words[] = {"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",
                                          "9",  "10", "11", "12", "13", "14", "15", "16", "17",
                                          "18", "19", "20", "21", "22", "23", NULL};
static const char *const class_words[] = {"double", "mixed", NULL};
static const char *const precision_words[] = {"double", "float", NULL};
static const char *const centering_words[] = {"cell", "point", NULL};

const char *const mg_deck_sections[MG_GROUP_HELP + 1] = {"problem", "solver", "run", "output",
                                                         NULL};

static bool with_cells(const mg_params_t *p) {
  return mg_params_has_cells(p);
}
static bool with_cells_alone(const mg_params_t *p) {
  return with_cells(p) && p->spacing[0] == 0;
}
static bool is_singular(const mg_params_t *p) {
  return with_cells(p) && mg_params_is_singular(p);
}
static bool with_coefficients(const mg_params_t *p) {
  return !mg_traits_of(p->op)->constant;
}
static bool with_chebyshev(const mg_params_t *p) {
  return p->smoother == MG_SMOOTHER_CHEBYSHEV;
}
static bool without_chebyshev(const mg_params_t *p) {
  return !with_chebyshev(p);
}
static bool with_rtol(const mg_params_t *p) {
  return p->rtol > 0;
}
static bool with_timing(const mg_params_t *p) {
  return !p->verify_only;
}
static bool may_measure_energy(const mg_params_t *p) {
  return p->energy != MG_YES || with_timing(p);
}
static bool may_use_cuda(const mg_params_t *p) {
  return p->device == MG_DEVICE_AUTO || mg_params_uses_gpu(p);
}
static bool without_cpu(const mg_params_t *p) {
  return p->device != MG_DEVICE_CPU;
}
static bool with_dry_run(const mg_params_t *p) {
  return p->dry_run;
}
static bool with_health(const mg_params_t *p) {
  return p->health[0] != '\0';
}
static bool with_dump(const mg_params_t *p) {
  return p->dump[0] != '\0';
}
static bool without_dry_run(const mg_params_t *p) {
  return !p->dry_run;
}

#define FIELD(member) .offset = offsetof(mg_params_t, member)

/* Where an option is set: in a section of a deck and as an option, as an argument, or only as an
 * option. */
#define IN(section) .group = MG_GROUP_##section, .where = MG_IN_DECK | MG_AS_OPTION
#define SIZE        .where = MG_IN_DECK | MG_AS_ARGUMENT
#define OPTION_ONLY .where = MG_AS_OPTION

/* Kinds of values. */
#define ONE_OF(member, list)       .kind = MG_KIND_WORD, FIELD(member), .words = list
#define SOME_OF(member, list)      .kind = MG_KIND_SET, FIELD(member), .words = list
#define INTEGER(member, low, high) .kind = MG_KIND_INT, FIELD(member), .min = low, .max = high
#define LARGE(member, low, high)   .kind = MG_KIND_INT64, FIELD(member), .min = low, .max = high
#define REAL(member, low, high)    .kind = MG_KIND_DOUBLE, FIELD(member), .min = low, .max = high
#define CELLS(member, low, high)   .kind = MG_KIND_CELLS, FIELD(member), .min = low, .max = high
#define REALS(member, low, high)   .kind = MG_KIND_REALS, FIELD(member), .min = low, .max = high
#define STRETCH(member, low, high) .kind = MG_KIND_STRETCH, FIELD(member), .min = low, .max = high
#define SIDES(member, list)        .kind = MG_KIND_SIDES, FIELD(member), .words = list
#define FLAG(member)               .kind = MG_KIND_FLAG, FIELD(member), .value = "no"
#define LOUDNESS                   .kind = MG_KIND_VERBOSITY, FIELD(verbosity), .value = "no"
#define PATH(member)               .kind = MG_KIND_PATH, .metavar = "FILE", FIELD(member)
#define NEEDS(name, word)          .wing = MG_WING_##name, .wing_word = word

/* Conditions. */
#define DUMPED    .applies = with_dump, .condition = "requires --dump=FILE", .decided_by = MG_OPT_DUMP
#define WITH_RTOL .applies = with_rtol, .condition = "requires --rtol=R", .decided_by = MG_OPT_RTOL
#define ON_HEALTH                                                                                  \
  .applies = with_health, .condition = "requires --health", .decided_by = MG_OPT_HEALTH
#define REAL_RUN                                                                                   \
  .applies = without_dry_run, .condition = "cannot be combined with --dry-run",                    \
  .decided_by = MG_OPT_DRY_RUN
#define ON_CUDA                                                                                    \
  .applies = may_use_cuda, .condition = "requires --device=auto, cuda or cuda-simple",             \
  .decided_by = MG_OPT_DEVICE
#define TIMED                                                                                      \
  .applies = with_timing, .decided_by = MG_OPT_VERIFY_ONLY,                                        \
  .condition = "cannot be combined with --verify-only or --restart"

/* clang-format off */
const mg_option_t mg_options[MG_N_OPTIONS] = {
  [MG_OPT_LOG2_BOX_DIM] = {
    .name = "log2-box-dim", .group = MG_GROUP_PROBLEM, SIZE, .metavar = "LOG2_BOX_DIM",
    INTEGER(log2_box_dim, 4, 10),
    .help = "Cells per side of a box on the finest level, as a power of two: 7 means 128 cells."},
  [MG_OPT_BOXES_PER_RANK] = {
    .name = "boxes-per-rank", .group = MG_GROUP_PROBLEM, SIZE, .metavar = "BOXES_PER_RANK",
    LARGE(boxes_per_rank, 1, 1e12),
    .help = "Maximum number of boxes per rank. The grid is the largest cube of boxes that fits "
            "on all ranks together and coarsens well."},
  [MG_OPT_CELLS] = {
    .name = "cells", IN(PROBLEM), .metavar = "NXxNYxNZ", CELLS(cells, 1, 1048576),
    .help = "Cells of the finest grid in x, y and z, instead of LOG2_BOX_DIM and BOXES_PER_RANK: "
            "any number in each direction (fv2, 7pt). Only this grid is solved, and the verdict is "
            "its residual. Defaults change as with --rhs.",
    .attribute = "domain_cells", .in_later_dumps = true},
  [MG_OPT_SPACING] = {
    .name = "spacing", IN(PROBLEM), .metavar = "HX,HY,HZ", REALS(spacing, 1e-100, 1e100),
    .applies = with_cells, .condition = "requires --cells", .decided_by = MG_OPT_CELLS,
    .help = "Widths of a cell in x, y and z."},
  [MG_OPT_LENGTHS] = {
    .name = "lengths", IN(PROBLEM), .metavar = "LX,LY,LZ", REALS(length, 1e-100, 1e100),
    .note = "cubic cells, LX = 1", .applies = with_cells_alone,
    .condition = "requires --cells without --spacing", .decided_by = MG_OPT_SPACING,
    .help = "Lengths of the domain in x, y and z.", .in_later_dumps = true},
  [MG_OPT_STRETCH] = {
    .name = "stretch", IN(PROBLEM), .metavar = "AXIS:tanh:B", STRETCH(stretch, 0.01, 8),
    .applies = with_cells, .condition = "requires --cells", .decided_by = MG_OPT_CELLS,
    .help = "Axes with cells of different widths, separated by commas: x:tanh:B puts the faces at "
            "LX/2 (1 + tanh(B s) / tanh(B)), s from -1 to 1, so that the cells are narrow at both "
            "sides. For B of 2 the widest cells are about 14 times as wide as the narrowest, for 3 "
            "about 100 times.",
    .in_later_dumps = true},
  [MG_OPT_OPERATOR] = {
    .name = "operator", IN(PROBLEM), ONE_OF(op, operator_words), .value = "fv2", .in_dump = true,
    .help = "Discretization. fv2: 2nd-order finite volume, 7 points; fv4: 4th-order finite "
            "volume, 25 points; 7pt: 2nd-order finite difference, 7 points; 27pt: 2nd-order "
            "finite difference, 27 points, beta = 1, on a cube of boxes."},
  [MG_OPT_EQUATION] = {
    .name = "equation", IN(PROBLEM), ONE_OF(equation, equation_words), .value = "poisson",
    .in_dump = true,
    .help = "poisson: -div(beta grad u) = f; helmholtz: u - div(beta grad u) = f."},
  [MG_OPT_BOUNDARY] = {
    .name = "boundary", IN(PROBLEM), SIDES(side, boundary_words), .value = "dirichlet",
    .in_dump = true,
    .help = "Boundary conditions: one word for all sides, three for x, y and z, or six for x-low, "
            "x-high, y-low, y-high, z-low and z-high, separated by commas. dirichlet: u = 0, or "
            "dirichlet:G, u = G; neumann: no flux, or neumann:Q, beta du/dn = Q with n outward; "
            "robin:A:B:G: A u + B beta du/dn = G; periodic: both sides of a direction. Numbers "
            "require --cells. fv4, 27pt: one word, not neumann."},
  [MG_OPT_MEAN] = {
    .name = "mean", IN(PROBLEM), .metavar = "M", REAL(mean, -1e60, 1e60), .value = "0",
    .applies = is_singular,
    .condition = "requires --cells and --equation=poisson without Dirichlet and Robin sides",
    .decided_by = MG_OPT_BOUNDARY,
    .help = "Mean of u over the domain, where the problem determines u only up to a constant.",
    .in_later_dumps = true},
  [MG_OPT_COEFFICIENTS] = {
    .name = "coefficients", NEEDS(FILES, NULL), IN(PROBLEM), PATH(coefficients),
    .applies = with_coefficients, .condition = "requires --operator=fv2, fv4 or 7pt: with 27pt, beta is 1",
    .decided_by = MG_OPT_OPERATOR,
    .help = "HDF5 file in dump layout with alpha, beta or both. beta is either a cell field, "
            "averaged harmonically onto the faces, or beta_i, beta_j and beta_k on the lower "
            "faces of each cell. Without --rhs, the file is also that of --rhs if it has f or "
            "/boundary. With a file nothing is built in: beta = 1, alpha = 1 and f = 0 where no "
            "file gives them. The file sets the grid. Defaults change to --operator=7pt "
            "--smoother=chebyshev --krylov=cg --cycle=v --rtol=1e-8 --max-cycles=200 --warmup=0 "
            "--min-solves=1 --min-time=0."},
  [MG_OPT_RHS] = {
    .name = "rhs", NEEDS(FILES, NULL), IN(PROBLEM), PATH(rhs),
    .help = "HDF5 file in dump layout with the right-hand side f, and values on sides in "
            "/boundary. Without --coefficients, the file is also that of --coefficients if it has "
            "alpha or beta. Fields that no file gives and the grid: as with --coefficients. "
            "Defaults change to --rtol=1e-8 --max-cycles=200 --warmup=0 --min-solves=1 "
            "--min-time=0."},
  [MG_OPT_SMOOTHER] = {
    .name = "smoother", IN(SOLVER), ONE_OF(smoother, smoother_words), .value = "gsrb",
    .in_dump = true,
    .help = "gsrb: red-black Gauss-Seidel; chebyshev: Chebyshev polynomial; jacobi: Jacobi "
            "weighted by 2/3; l1jacobi: Jacobi with the l1 diagonal; symgs: symmetric red-black "
            "Gauss-Seidel; ssor: symgs over-relaxed by --omega."},
  [MG_OPT_SMOOTHS] = {
    .name = "smooths", IN(SOLVER), .metavar = "N", INTEGER(smooths, 1, 100), .value = "3",
    .note = "gsrb 3 (7pt 2), symgs and ssor 2, jacobi and l1jacobi 6 (7pt 4), chebyshev 1",
    .in_dump = true,
    .help = "Smoothing steps before and after each coarse-grid correction: red-black sweeps "
            "(gsrb), forward-backward pairs (symgs, ssor), sweeps (jacobi, l1jacobi) or polynomials "
            "(chebyshev)."},
  [MG_OPT_DEGREE] = {
    .name = "degree", IN(SOLVER), .metavar = "N", INTEGER(degree, 1, MG_MAX_DEGREE), .value = "6",
    .note = "6 (7pt 4)", .applies = with_chebyshev, .condition = "requires --smoother=chebyshev",
    .decided_by = MG_OPT_SMOOTHER, .in_dump = true,
    .help = "Degree of the Chebyshev polynomial."},
  [MG_OPT_OMEGA] = {
    .name = "omega", IN(SOLVER), .metavar = "W", REAL(omega, 0, 2), .open = true, .value = "1",
    .note = "ssor 1.15, jacobi 2/3, others 1", .applies = without_chebyshev,
    .condition = "cannot be combined with --smoother=chebyshev", .decided_by = MG_OPT_SMOOTHER,
    .in_later_dumps = true,
    .help = "Relaxation weight: each smoother step adds W times its correction."},
  [MG_OPT_BOTTOM] = {
    .name = "bottom", IN(SOLVER), ONE_OF(bottom, bottom_words), .value = "bicgstab",
    .in_dump = true,
    .help = "Solver on the coarsest level."},
  [MG_OPT_CYCLE] = {
    .name = "cycle", IN(SOLVER), ONE_OF(cycle, cycle_words), .value = "f", .in_dump = true,
    .help = "First cycle of each solve. f: F-cycle (full multigrid); v: V-cycle from u = 0."},
  [MG_OPT_RTOL] = {
    .name = "rtol", IN(SOLVER), .metavar = "R", REAL(rtol, 0, 1), .open = true, .note = "one cycle",
    .in_dump = true,
    .help = "After the first cycle, run further cycles until max|f-Au| / max|f-Ac| is below R. c is the "
            "least, middle or greatest u on the sides, by the values of --boundary; otherwise 0."},
  [MG_OPT_MAX_CYCLES] = {
    .name = "max-cycles", IN(SOLVER), .metavar = "N", INTEGER(max_cycles, 1, 1000), .value = "1",
    .note = "20", WITH_RTOL, .in_dump = true,
    .help = "Maximum number of cycles per solve, including the first."},
  [MG_OPT_KRYLOV] = {
    .name = "krylov", IN(SOLVER), ONE_OF(krylov, krylov_words), .value = "none", WITH_RTOL,
    .in_later_dumps = true,
    .help = "Method after the first cycle. none: V-cycles; cg: flexible conjugate gradients "
            "preconditioned by a V-cycle, for coefficients with large jumps, best with "
            "--operator=7pt and --smoother=symgs or chebyshev."},
  [MG_OPT_COARSEST] = {
    .name = "coarsest", IN(SOLVER), .metavar = "N", INTEGER(coarsest, 1, 1048576), .value = "1",
    .in_dump = true,
    .help = "Do not coarsen below N cells per side."},
  [MG_OPT_PRECISION] = {
    .name = "precision", NEEDS(MIXED, "mixed"), IN(SOLVER), ONE_OF(precision, class_words), .value = "double",
    .official = "double", .attribute = "solver_precision", .in_later_dumps = true,
    .help = "double: all cells in double; mixed: the solution, f and residuals in double, the cycles "
            "that correct the solution in float."},
  [MG_OPT_WARMUP] = {
    .name = "warmup", IN(RUN), .metavar = "N", INTEGER(warmup, 0, 1000000), .value = "1",
    .official = "10", TIMED,
    .help = "Solves before timing starts."},
  [MG_OPT_MIN_SOLVES] = {
    .name = "min-solves", IN(RUN), .metavar = "N", INTEGER(min_solves, 1, 1000000), .value = "10",
    .official = "10", TIMED,
    .help = "Minimum number of timed solves of each grid (h, 2h and 4h)."},
  [MG_OPT_MIN_TIME] = {
    .name = "min-time", IN(RUN), .metavar = "SECONDS", REAL(min_time, 0, 1e6), .value = "1",
    .official = "60", TIMED,
    .help = "Minimum total time of the timed solves of each grid."},
  [MG_OPT_OFFICIAL] = {
    .name = "official", IN(RUN), FLAG(official), TIMED,
    .help = "Use the settings of the official benchmark: --warmup=10 --min-solves=10 "
            "--min-time=60. Every solve also computes max|f|."},
  [MG_OPT_VERIFY_ONLY] = {
    .name = "verify-only", IN(RUN), FLAG(verify_only),
    .help = "Solve each grid once to verify it, without warm-up and timing."},
  [MG_OPT_ENERGY] = {
    .name = "energy", NEEDS(ENERGY, "yes"), IN(RUN), ONE_OF(energy, choice_words), .value = "auto", .bare = "yes",
    .applies = may_measure_energy,
    .condition = "cannot be combined with --verify-only or --restart",
    .decided_by = MG_OPT_VERIFY_ONLY,
    .help = "Measure the energy of GPUs, CPUs and nodes during the timed solves at h, and their idle "
            "power for 1 s before set-up. auto: with --official, where counters exist."},
  [MG_OPT_DEVICE] = {
    .name = "device", IN(RUN), ONE_OF(device, device_words), .value = "auto",
    .help = "Where the fine levels live. auto: GPU if every rank has one, otherwise CPU; cuda: "
            "GPU; cpu: CPU; cuda-simple: GPU with simple kernels, for tests."},
  [MG_OPT_DEVICE_ID] = {
    .name = "device-id", IN(RUN), .metavar = "N", INTEGER(device_id, 0, 1023),
    .note = "round-robin over the devices of each host", ON_CUDA,
    .help = "Number of the CUDA device, among those visible to the process. A wrapper script "
            "can set it for each rank."},
  [MG_OPT_MEMORY] = {
    .name = "memory", IN(RUN), ONE_OF(memory, memory_words), .value = "auto",
    .applies = without_cpu, .condition = "cannot be combined with --device=cpu",
    .decided_by = MG_OPT_DEVICE,
    .help = "Memory of GPU levels. device: plain device memory; unified: managed memory that "
            "stays on the GPU, with the first CPU level in memory that CPU and GPU both access; "
            "auto: device. Results are bit-identical."},
  [MG_OPT_TRANSPORT] = {
    .name = "transport", NEEDS(EXCHANGE, "peer"), IN(RUN), ONE_OF(transport, transport_words), .value = "auto", ON_CUDA,
    .help = "Message transport between GPUs. auto: the fastest that works; peer: direct stores "
            "into the other GPU's memory, within a host; nccl: NCCL; mpi: GPU-aware MPI; host: "
            "pinned host memory, always available."},
  [MG_OPT_CPU_BELOW] = {
    .name = "cpu-below", IN(RUN), .metavar = "CELLS", LARGE(cpu_below, 0, 1e18),
    .words = auto_words, .value = "auto",
    .help = "Levels with fewer cells than this in total live on the CPU. auto: measure at "
            "start-up which coarse levels run faster on the CPU; 0 without a GPU."},
  [MG_OPT_AGGLOMERATE_BELOW] = {
    .name = "agglomerate-below", IN(RUN), .metavar = "CELLS", LARGE(agglomerate_below, 0, 1e18),
    .words = auto_words, .value = "auto", .note = "auto (measured on several GPUs, 4096 on the CPU)",
    .help = "Gather coarse levels onto fewer ranks until each rank holds at least this many "
            "cells. 0: gather only levels with fewer boxes than ranks. auto: with several GPUs, "
            "measure at start-up which value is fastest, and whether the finest level too is "
            "faster on fewer GPUs; 4096 on the CPU. Results are bit-identical."},
  [MG_OPT_STEPS_PER_PASS] = {
    .name = "steps-per-pass", NEEDS(FUSED, NULL), .alias = "fused-sweeps", IN(RUN), .metavar = "N",
    LARGE(steps_per_pass, 1, MG_MAX_STEPS_PER_PASS), .words = auto_words, .value = "auto",
    .help = "Maximum number of half sweeps (gsrb) or steps (chebyshev, jacobi) that a GPU fuses "
            "into one pass over a large level (temporal blocking). auto: 3, for fv4 2. "
            "1: no fusing. Requires sm_90 or sm_100 and CUDA 12 or newer. One CPU rank with dirichlet "
            "boundaries fuses all steps of a smooth if N > 1 (fv2, 7pt). Results are bit-identical. "
            "Alias: --fused-sweeps."},
  [MG_OPT_STRIP_BYTES] = {
    .name = "strip-bytes", .wing = MG_WING_FUSED ? MG_WING_FUSED : MG_WING_CHOICES, IN(RUN), .metavar = "BYTES", LARGE(strip_bytes, 4096, 1e12),
    .words = auto_words, .value = "auto",
    .help = "Bytes of a level that each CPU thread keeps in cache while it makes all steps of a "
            "smooth. auto: time strips between the sizes of the second-level and the last-level "
            "cache at set-up, on levels of at least 2^18 cells per rank. Results are "
            "bit-identical."},
  [MG_OPT_RESTART] = {
    .name = "restart", NEEDS(FILES, NULL), IN(RUN), PATH(restart),
    .help = "Continue from the solution in a --dump file, on any ranks, boxes and device: "
            "V-cycles at h until --rtol or --max-cycles, then verification, without timing. The "
            "file sets the size and the defaults of all other settings. The problem must be the "
            "same."},
  [MG_OPT_INPUT] = {
    .name = "input", NEEDS(FILES, NULL), .group = MG_GROUP_RUN, OPTION_ONLY, PATH(input),
    .help = "Read options from a deck with lines `key = value`; the keys are the long option "
            "names. The command line overrides the deck."},
  [MG_OPT_DRY_RUN] = {
    .name = "dry-run", .group = MG_GROUP_RUN, OPTION_ONLY, FLAG(dry_run),
    .help = "Print levels, boxes and bytes per rank without allocating the grid, and exit."},
  [MG_OPT_RANKS] = {
    .name = "ranks", .group = MG_GROUP_RUN, OPTION_ONLY, .metavar = "N", LARGE(ranks, 1, 1e9),
    .note = "number of started ranks", .applies = with_dry_run, .condition = "requires --dry-run",
    .decided_by = MG_OPT_DRY_RUN,
    .help = "Number of ranks to plan for."},
  [MG_OPT_HEALTH] = {
    .name = "health", NEEDS(HEALTH, NULL), .group = MG_GROUP_RUN, OPTION_ONLY, PATH(health), .bare = "-",
    .help = "Check the devices instead of solving one problem: each rank solves two fixed problems "
            "alone, for 15 s each (--min-time). Results are compared with known ones, rates with "
            "the median of the job and with FILE, the --json file of an earlier check."},
  [MG_OPT_HEALTH_SLOW] = {
    .name = "health-slow", .group = MG_GROUP_RUN, OPTION_ONLY, .metavar = "PERCENT",
    REAL(health_slow, 0, 100), .open = true, .value = "4", ON_HEALTH,
    .help = "A device is slow if a rate is so far below the median of the job or the baseline; "
            "links, ten times as far (at most 50)."},
  [MG_OPT_HEALTH_TIMEOUT] = {
    .name = "health-timeout", .group = MG_GROUP_RUN, OPTION_ONLY, .metavar = "SECONDS",
    REAL(health_timeout, 0, 1e6), .open = true, .value = "60", ON_HEALTH,
    .help = "A rank that has not answered this long after rank 0 was done is missing."},
  [MG_OPT_LEVELS_BREAKDOWN] = {
    .name = "levels-breakdown", IN(OUTPUT), FLAG(levels_breakdown),
    .help = "Print seconds per operation and level, and messages, bytes and reductions per "
            "level (min, mean and max over ranks); then each level's percentage of a solve, "
            "with totals. GPU levels are timed in three additional solves."},
  [MG_OPT_JSON] = {
    .name = "json", NEEDS(FILES, NULL), IN(OUTPUT), PATH(json),
    .help = "Write the results, the plan of --dry-run or the devices of --health as JSON. FILE - is "
            "stdout; the report then goes to stderr."},
  [MG_OPT_CSV] = {
    .name = "csv", NEEDS(FILES, NULL), IN(OUTPUT), PATH(csv), REAL_RUN,
    .help = "Write the results as CSV. FILE - is stdout; the report then goes to stderr."},
  [MG_OPT_DUMP] = {
    .name = "dump", NEEDS(FILES, NULL), IN(OUTPUT), PATH(dump), REAL_RUN,
    .help = "After the solves, write the fields to an HDF5 file (VTKHDF image data; ParaView "
            "opens it if its name ends in .hdf) and a description to FILE.xdmf."},
  [MG_OPT_DUMP_FIELDS] = {
    .name = "dump-fields", IN(OUTPUT), SOME_OF(dump_fields, field_words), .value = "u,f,residual",
    DUMPED,
    .help = "Fields to write: solution u, right-hand side f, residual f - A u, beta_i, beta_j "
            "and beta_k on the lower faces of each cell, dinv (1 / diagonal), and alpha if "
            "--coefficients has one."},
  [MG_OPT_DUMP_LEVELS] = {
    .name = "dump-levels", IN(OUTPUT), .metavar = "LEVELS", SOME_OF(dump_levels, level_words),
    .value = "0", DUMPED,
    .help = "Levels to write, separated by commas; 0 is the finest. Levels 0, 1 and 2 hold the "
            "solutions at h, 2h and 4h; coarser levels hold the values of the last cycle."},
  [MG_OPT_DUMP_EVERY] = {
    .name = "dump-every", IN(OUTPUT), .metavar = "N", INTEGER(dump_every, 0, 1000), .value = "0",
    DUMPED,
    .help = "Solve once more at h and write a file after every N cycles: grid.hdf becomes "
            "grid.0003.hdf. 0: off."},
  [MG_OPT_DUMP_PRECISION] = {
    .name = "dump-precision", IN(OUTPUT), ONE_OF(dump_precision, precision_words),
    .value = "double", DUMPED,
    .help = "Precision of stored values; float halves the file size. If a value is out of the range "
            "of floats, the file has doubles, and a warning names the value."},
  [MG_OPT_DUMP_COMPRESS] = {
    .name = "dump-compress", IN(OUTPUT), .metavar = "N", INTEGER(dump_compress, 0, 9), .value = "0",
    DUMPED,
    .help = "Deflate compression level. 0: no compression."},
  [MG_OPT_DUMP_CENTERING] = {
    .name = "dump-centering", IN(OUTPUT), ONE_OF(dump_centering, centering_words), .value = "cell",
    DUMPED,
    .help = "Type of VTKHDF data. cell: cells; point: points at the cell centers, for older "
            "readers (VTK 9.1, ParaView 5.11). The values are the same."},
  [MG_OPT_DUMP_HINTS] = {
    .name = "dump-hints", IN(OUTPUT), .metavar = "KEY=VALUE,...", .kind = MG_KIND_PAIRS,
    FIELD(dump_hints), DUMPED,
    .help = "MPI-IO hints for parallel writes, such as cb_nodes=4."},
  [MG_OPT_PRINT_CONFIG] = {
    .name = "print-config", .group = MG_GROUP_OUTPUT, OPTION_ONLY, FLAG(print_config), REAL_RUN,
    .help = "Print a deck that reproduces this run, and exit."},
  [MG_OPT_QUIET] = {
    .name = "quiet", .letter = 'q', IN(OUTPUT), LOUDNESS, .min = -1,
    .help = "Suppress the report, progress and warnings. Files, errors and the exit status "
            "remain."},
  [MG_OPT_VERBOSE] = {
    .name = "verbose", .letter = 'v', IN(OUTPUT), LOUDNESS, .min = 1,
    .help = "Print more on stderr: set-up steps, one line per solve, source locations of "
            "errors."},
  [MG_OPT_HELP] = {
    .name = "help", .letter = 'h', .group = MG_GROUP_HELP, OPTION_ONLY, .kind = MG_KIND_ACTION,
    .help = "Print this help and exit."},
  [MG_OPT_VERSION] = {
    .name = "version", .letter = 'V', .group = MG_GROUP_HELP, OPTION_ONLY, .kind = MG_KIND_ACTION,
    .help = "Print the version and build configuration, and exit."},
};
/* clang-format on */

static bool is_named(const mg_option_t *option, const char *name) {
  return strcmp(option->name, name) == 0 || (option->alias && strcmp(option->alias, name) == 0);
}

const mg_option_t *mg_option_find(const char *name) {
  for (int i = 0; i < MG_N_OPTIONS; i++)
    if (is_named(&mg_options[i], name)) return &mg_options[i];
  return NULL;
}

const mg_option_t *mg_option_find_letter(char letter) {
  for (int i = 0; i < MG_N_OPTIONS; i++)
    if (letter != '\0' && mg_options[i].letter == letter) return &mg_options[i];
  return NULL;
}

void mg_option_attribute(const mg_option_t *option, char *text, int text_size) {
  snprintf(text, (size_t)text_size, "%s", option->attribute ? option->attribute : option->name);
  for (char *c = text; *c; c++)
    if (*c == '-') *c = '_';
}

bool mg_option_applies(const mg_option_t *option, const mg_params_t *params) {
  return !option->applies || option->applies(params);
}

void mg_params_allow_guard(void) {
  device_words[MG_DEVICE_GUARD] = "guard";
}

/* The word of an enum value. */
#define NAME(function, type, words)                                                                \
  const char *function(type value) {                                                               \
    return words[value];                                                                           \
  }
NAME(mg_operator_name, mg_operator_t, operator_words)
NAME(mg_equation_name, mg_equation_t, equation_words)
NAME(mg_smoother_name, mg_smoother_t, smoother_words)
NAME(mg_bottom_name, mg_bottom_t, bottom_words)
NAME(mg_cycle_name, mg_cycle_t, cycle_words)
NAME(mg_krylov_name, mg_krylov_method_t, krylov_words)
NAME(mg_device_name, mg_device_t, device_words)
NAME(mg_precision_name, mg_precision_class_t, class_words)
NAME(mg_field_name, mg_field_t, field_words)
NAME(mg_transport_name, mg_transport_t, transport_words)
