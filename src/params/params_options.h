/* The options, in the order of --help: OPTION(ID, fields of mg_option_t). Included where OPTION is
 * defined: for the ids, and for the table. */
/* clang-format off */
OPTION(LOG2_BOX_DIM,
  .name = "log2-box-dim", .group = MG_GROUP_PROBLEM, SIZE, .metavar = "LOG2_BOX_DIM",
  INTEGER(log2_box_dim, 4, 10),
  .help = "Cells per side of a box on the finest level, as a power of two: 7 means 128 cells.")
OPTION(BOXES_PER_RANK,
  .name = "boxes-per-rank", .group = MG_GROUP_PROBLEM, SIZE, .metavar = "BOXES_PER_RANK",
  LARGE(boxes_per_rank, 1, 1e12),
  .help = "Maximum number of boxes per rank. The grid is the largest cube of boxes that fits "
          "on all ranks together and coarsens well.")
OPTION(CELLS,
  .name = "cells", NEEDS(DOMAINS, NULL), IN(PROBLEM), .metavar = "NXxNYxNZ", CELLS(cells, 1, 1048576),
  .help = "Cells of the finest grid in x, y and z, instead of LOG2_BOX_DIM and BOXES_PER_RANK: "
          "any number in each direction (fv2, 7pt). Only this grid is solved, and the verdict is "
          "its residual. Defaults change as with --rhs.",
  .attribute = "domain_cells", .in_later_dumps = true)
OPTION(SPACING,
  .name = "spacing", NEEDS(DOMAINS, NULL), IN(PROBLEM), .metavar = "HX,HY,HZ", REALS(spacing, 1e-100, 1e100),
  .applies = mg_params_has_cells, .condition = "requires --cells", .decided_by = MG_OPT_CELLS,
  .help = "Widths of a cell in x, y and z.")
OPTION(LENGTHS,
  .name = "lengths", NEEDS(DOMAINS, NULL), IN(PROBLEM), .metavar = "LX,LY,LZ", REALS(length, 1e-100, 1e100),
  .note = "cubic cells, LX = 1", .applies = with_cells_alone,
  .condition = "requires --cells without --spacing", .decided_by = MG_OPT_SPACING,
  .help = "Lengths of the domain in x, y and z.", .in_later_dumps = true)
OPTION(STRETCH,
  .name = "stretch", NEEDS(DOMAINS, NULL), IN(PROBLEM), .metavar = "AXIS:tanh:B", STRETCH(stretch, 0.01, 8),
  .applies = mg_params_has_cells, .condition = "requires --cells", .decided_by = MG_OPT_CELLS,
  .help = "Axes with cells of different widths, separated by commas: x:tanh:B puts the faces at "
          "LX/2 (1 + tanh(B s) / tanh(B)), s from -1 to 1, so that the cells are narrow at both "
          "sides. For B of 2 the widest cells are about 14 times as wide as the narrowest, for 3 "
          "about 100 times.",
  .in_later_dumps = true)
OPTION(OPERATOR,
  .name = "operator", IN(PROBLEM), ONE_OF(op, operator_words), .value = "fv2", .in_dump = true,
  .help = "Discretization. fv2: 2nd-order finite volume, 7 points; fv4: 4th-order finite "
          "volume, 25 points; 7pt: 2nd-order finite difference, 7 points; 27pt: 2nd-order "
          "finite difference, 27 points, beta = 1, on a cube of boxes.")
OPTION(EQUATION,
  .name = "equation", IN(PROBLEM), ONE_OF(equation, equation_words), .value = "poisson",
  .in_dump = true,
  .help = "poisson: -div(beta grad u) = f; helmholtz: u - div(beta grad u) = f.")
OPTION(BETA,
  .name = "beta", IN(PROBLEM), ONE_OF(beta, beta_words), .value = "built-in",
  .applies = with_built_in_beta, .decided_by = MG_OPT_OPERATOR, .in_later_dumps = true,
  .condition = "requires --operator=fv2, fv4 or 7pt without --coefficients and --rhs",
  .help = "built-in: the coefficient of the benchmark, which varies; 1: a constant.")
OPTION(BOUNDARY,
  .name = "boundary", NEEDS(DOMAINS, "other"), IN(PROBLEM), SIDES(side, boundary_words), .value = "dirichlet",
  .in_dump = true,
  .help = "Boundary conditions: one word for all sides, three for x, y and z, or six for x-low, "
          "x-high, y-low, y-high, z-low and z-high, separated by commas. dirichlet: u = 0, or "
          "dirichlet:G, u = G; neumann: no flux, or neumann:Q, beta du/dn = Q with n outward; "
          "robin:A:B:G: A u + B beta du/dn = G; periodic: both sides of a direction. Numbers "
          "require --cells. fv4, 27pt: one word, not neumann.")
OPTION(MEAN,
  .name = "mean", NEEDS(DOMAINS, NULL), IN(PROBLEM), .metavar = "M", REAL(mean, -1e60, 1e60), .value = "0",
  .applies = is_singular,
  .condition = "requires --cells and --equation=poisson without Dirichlet and Robin sides",
  .decided_by = MG_OPT_BOUNDARY,
  .help = "Mean of u over the domain, where the problem determines u only up to a constant.",
  .in_later_dumps = true)
OPTION(COEFFICIENTS,
  .name = "coefficients", .wing = MG_WING_FILES ? MG_WING_FILES : MG_WING_DOMAINS, IN(PROBLEM), PATH(coefficients),
  .applies = with_coefficients, .condition = "requires --operator=fv2, fv4 or 7pt: with 27pt, beta is 1",
  .decided_by = MG_OPT_OPERATOR,
  .help = "HDF5 file in dump layout with alpha, beta or both. beta is either a cell field, "
          "averaged harmonically onto the faces, or beta_i, beta_j and beta_k on the lower "
          "faces of each cell. Without --rhs, the file is also that of --rhs if it has f or "
          "/boundary. With a file nothing is built in: beta = 1, alpha = 1 and f = 0 where no "
          "file gives them. The file sets the grid. Defaults change to --operator=7pt "
          "--method=auto --rtol=1e-8 --max-cycles=200 --warmup=0 "
          "--min-solves=1 --min-time=0.")
OPTION(RHS,
  .name = "rhs", .wing = MG_WING_FILES ? MG_WING_FILES : MG_WING_DOMAINS, IN(PROBLEM), PATH(rhs),
  .help = "HDF5 file in dump layout with the right-hand side f, and values on sides in "
          "/boundary. Without --coefficients, the file is also that of --coefficients if it has "
          "alpha or beta. Fields that no file gives and the grid: as with --coefficients. "
          "Defaults change to --method=auto --rtol=1e-8 --max-cycles=200 --warmup=0 --min-solves=1 "
          "--min-time=0.")
OPTION(METHOD,
  .name = "method", NEEDS(CHOICES, "auto"), IN(SOLVER), ONE_OF(method, method_words), .value = "options",
  .note = "auto with --cells, --coefficients or --rhs, otherwise options",
  .help = "auto: the grid and how much beta varies decide --smoother, --cycle and --krylov, unless they "
          "are given (docs/own-problem.md); options: their defaults apply.")
OPTION(SMOOTHER,
  .name = "smoother", IN(SOLVER), ONE_OF(smoother, smoother_words), .value = "gsrb",
  .in_dump = true,
  .help = "gsrb: red-black Gauss-Seidel; chebyshev: Chebyshev polynomial; jacobi: Jacobi "
          "weighted by 2/3; l1jacobi: Jacobi with the l1 diagonal; symgs: symmetric red-black "
          "Gauss-Seidel; ssor: symgs over-relaxed by --omega; chebyshev4: Chebyshev polynomial of "
          "the fourth kind.")
OPTION(SMOOTHS,
  .name = "smooths", IN(SOLVER), .metavar = "N", INTEGER(smooths, 1, 100), .value = "3",
  .note = "gsrb 3 (7pt 2), symgs and ssor 2, jacobi and l1jacobi 6 (7pt 4), chebyshev and chebyshev4 1",
  .in_dump = true,
  .help = "Smoothing steps before and after each coarse-grid correction: red-black sweeps "
          "(gsrb), forward-backward pairs (symgs, ssor), sweeps (jacobi, l1jacobi) or polynomials "
          "(chebyshev, chebyshev4).")
OPTION(DEGREE,
  .name = "degree", IN(SOLVER), .metavar = "N", INTEGER(degree, 1, MG_MAX_DEGREE), .value = "6",
  .note = "6 (7pt 4)", .applies = with_chebyshev, .condition = "requires --smoother=chebyshev or chebyshev4",
  .decided_by = MG_OPT_SMOOTHER, .in_dump = true,
  .help = "Degree of the Chebyshev polynomial.")
OPTION(OMEGA,
  .name = "omega", IN(SOLVER), .metavar = "W", REAL(omega, 0, 2), .open = true, .value = "1",
  .note = "ssor 1.15, jacobi 2/3, others 1", .applies = without_chebyshev,
  .condition = "cannot be combined with --smoother=chebyshev or chebyshev4", .decided_by = MG_OPT_SMOOTHER,
  .in_later_dumps = true,
  .help = "Relaxation weight: each smoother step adds W times its correction.")
OPTION(BOTTOM,
  .name = "bottom", IN(SOLVER), ONE_OF(bottom, bottom_words), .value = "bicgstab",
  .note = "bicgstab; of --method=auto direct", .in_dump = true,
  .help = "Solver on the coarsest level. direct: the inverse of A, of at most 343 cells (fv2, 7pt).")
OPTION(CYCLE,
  .name = "cycle", IN(SOLVER), ONE_OF(cycle, cycle_words), .value = "f", .in_dump = true,
  .help = "First cycle of each solve. f: F-cycle (full multigrid); v: V-cycle from u = 0.")
OPTION(RTOL,
  .name = "rtol", IN(SOLVER), .metavar = "R", REAL(rtol, 0, 1), .open = true, .note = "one cycle",
  .in_dump = true,
  .help = "After the first cycle, run further cycles until max|f-Au| / max|f-Ac| is below R. c is the "
          "least, middle or greatest u on the sides, by the values of --boundary; otherwise 0.")
OPTION(MAX_CYCLES,
  .name = "max-cycles", IN(SOLVER), .metavar = "N", INTEGER(max_cycles, 1, 1000), .value = "1",
  .note = "20", WITH_RTOL, .in_dump = true,
  .help = "Maximum number of cycles per solve, including the first.")
OPTION(KRYLOV,
  .name = "krylov", NEEDS(KRYLOV, NULL), IN(SOLVER), ONE_OF(krylov, krylov_words), .value = "none", WITH_RTOL,
  .in_later_dumps = true,
  .help = "Method after the first cycle. none: V-cycles; cg: flexible conjugate gradients "
          "preconditioned by a V-cycle, for coefficients with large jumps, best with "
          "--operator=7pt and --smoother=symgs or chebyshev; kcycle: CG on coarse levels too; bicgstab: "
          "BiCGStab, for fv2 and fv4, whose walls are not symmetric. Half an iteration is a cycle.")
OPTION(COARSEST,
  .name = "coarsest", IN(SOLVER), .metavar = "N", INTEGER(coarsest, 1, 1048576), .value = "1",
  .in_dump = true,
  .help = "Do not coarsen below N cells per side.")
OPTION(PRECISION,
  .name = "precision", NEEDS(MIXED, "mixed"), IN(SOLVER), ONE_OF(precision, class_words), .value = "double",
  .official = "double", .attribute = "solver_precision", .in_later_dumps = true,
  .help = "double: all cells in double; mixed: the solution, f and residuals in double, the cycles "
          "that correct the solution in float.")
OPTION(WARMUP,
  .name = "warmup", IN(RUN), .metavar = "N", INTEGER(warmup, 0, 1000000), .value = "1",
  .official = "10", TIMED,
  .help = "Solves before timing starts.")
OPTION(MIN_SOLVES,
  .name = "min-solves", IN(RUN), .metavar = "N", INTEGER(min_solves, 1, 1000000), .value = "10",
  .official = "10", TIMED,
  .help = "Minimum number of timed solves of each grid (h, 2h and 4h).")
OPTION(MIN_TIME,
  .name = "min-time", IN(RUN), .metavar = "SECONDS", REAL(min_time, 0, 1e6), .value = "1",
  .official = "60", TIMED,
  .help = "Minimum total time of the timed solves of each grid.")
OPTION(OFFICIAL,
  .name = "official", IN(RUN), FLAG(official), TIMED,
  .help = "Use the settings of the official benchmark: --warmup=10 --min-solves=10 "
          "--min-time=60. Every solve also computes max|f|.")
OPTION(VERIFY_ONLY,
  .name = "verify-only", IN(RUN), FLAG(verify_only),
  .help = "Solve each grid once to verify it, without warm-up and timing.")
OPTION(ENERGY,
  .name = "energy", NEEDS(ENERGY, "yes"), IN(RUN), ONE_OF(energy, choice_words), .value = "auto", .bare = "yes",
  .applies = may_measure_energy,
  .condition = "cannot be combined with --verify-only or --restart",
  .decided_by = MG_OPT_VERIFY_ONLY,
  .help = "Measure the energy of GPUs, CPUs and nodes during the timed solves at h, and their idle "
          "power for 1 s before set-up. auto: with --official, where counters exist.")
OPTION(DEVICE,
  .name = "device", IN(RUN), ONE_OF(device, device_words), .value = "auto",
  .help = "Where the fine levels live. auto: GPU if every rank has one, otherwise CPU; cuda: "
          "GPU; cpu: CPU; cuda-simple: GPU with simple kernels, for tests.")
OPTION(DEVICE_ID,
  .name = "device-id", IN(RUN), .metavar = "N", INTEGER(device_id, 0, 1023),
  .note = "round-robin over the devices of each host", ON_CUDA,
  .help = "Number of the CUDA device, among those visible to the process. A wrapper script "
          "can set it for each rank.")
OPTION(MEMORY,
  .name = "memory", IN(RUN), ONE_OF(memory, memory_words), .value = "auto",
  .applies = without_cpu, .condition = "cannot be combined with --device=cpu",
  .decided_by = MG_OPT_DEVICE,
  .help = "Memory of GPU levels. device: plain device memory; unified: managed memory that "
          "stays on the GPU, with the first CPU level in memory that CPU and GPU both access; "
          "auto: device. Results are bit-identical.")
OPTION(TRANSPORT,
  .name = "transport", NEEDS(EXCHANGE, "peer"), IN(RUN), ONE_OF(transport, transport_words), .value = "auto", ON_CUDA,
  .help = "Message transport between GPUs. auto: the fastest that works; peer: direct stores "
          "into the other GPU's memory, within a host; nccl: NCCL; mpi: GPU-aware MPI; host: "
          "pinned host memory, always available.")
OPTION(CPU_BELOW,
  .name = "cpu-below", IN(RUN), .metavar = "CELLS", LARGE(cpu_below, 0, 1e18),
  .words = auto_words, .value = "auto",
  .help = "Levels with fewer cells than this in total live on the CPU. auto: measure at "
          "start-up which coarse levels run faster on the CPU; 0 without a GPU.")
OPTION(AGGLOMERATE_BELOW,
  .name = "agglomerate-below", IN(RUN), .metavar = "CELLS", LARGE(agglomerate_below, 0, 1e18),
  .words = auto_words, .value = "auto", .note = "auto (measured on several GPUs, 4096 on the CPU)",
  .help = "Gather coarse levels onto fewer ranks until each rank holds at least this many "
          "cells. 0: gather only levels with fewer boxes than ranks. auto: with several GPUs, "
          "measure at start-up which value is fastest, and whether the finest level too is "
          "faster on fewer GPUs; 4096 on the CPU. Results are bit-identical.")
OPTION(STEPS_PER_PASS,
  .name = "steps-per-pass", NEEDS(FUSED, NULL), .alias = "fused-sweeps", IN(RUN), .metavar = "N",
  LARGE(steps_per_pass, 1, MG_MAX_STEPS_PER_PASS), .words = auto_words, .value = "auto",
  .help = "Maximum number of half sweeps (gsrb) or steps (chebyshev, jacobi) that a GPU fuses "
          "into one pass over a large level (temporal blocking). auto: 3, for fv4 2. "
          "1: no fusing. Requires sm_90 or sm_100 and CUDA 12 or newer. A CPU fuses all steps of a "
          "smooth if N > 1, or none. 27pt, l1jacobi and ssor have single steps. A warning names "
          "what replaces another N. Results are bit-identical. Alias: --fused-sweeps.")
OPTION(STRIP_BYTES,
  .name = "strip-bytes", .wing = MG_WING_FUSED ? MG_WING_FUSED : MG_WING_CHOICES, IN(RUN), .metavar = "BYTES", LARGE(strip_bytes, 4096, 1e12),
  .words = auto_words, .value = "auto",
  .help = "Bytes of a level that each CPU thread keeps in cache while it makes all steps of a "
          "smooth. auto: time strips between the sizes of the second-level and the last-level "
          "cache at set-up, on levels of at least 2^18 cells per rank. Results are "
          "bit-identical.")
OPTION(RESTART,
  .name = "restart", NEEDS(FILES, NULL), IN(RUN), PATH(restart),
  .help = "Continue from the solution in a --dump file, on any ranks, boxes and device: "
          "V-cycles at h until --rtol or --max-cycles, then verification, without timing. The "
          "file sets the size and the defaults of all other settings. The problem must be the "
          "same.")
OPTION(INPUT,
  .name = "input", NEEDS(FILES, NULL), .group = MG_GROUP_RUN, OPTION_ONLY, PATH(input),
  .help = "Read options from a deck with lines `key = value`; the keys are the long option "
          "names. The command line overrides the deck.")
OPTION(DRY_RUN,
  .name = "dry-run", NEEDS(PREFLIGHT, NULL), .group = MG_GROUP_RUN, OPTION_ONLY, FLAG(dry_run),
  .help = "Print levels, boxes and bytes per rank without allocating the grid, and exit.")
OPTION(RANKS,
  .name = "ranks", .group = MG_GROUP_RUN, OPTION_ONLY, .metavar = "N", LARGE(ranks, 1, 1e9),
  .note = "number of started ranks", .applies = with_dry_run, .condition = "requires --dry-run",
  .decided_by = MG_OPT_DRY_RUN,
  .help = "Number of ranks to plan for.")
OPTION(LEVELS_BREAKDOWN,
  .name = "levels-breakdown", NEEDS(PROFILE, NULL), IN(OUTPUT), FLAG(levels_breakdown),
  .help = "Print seconds per operation and level, and messages, bytes and reductions per "
          "level (min, mean and max over ranks); then each level's percentage of a solve, "
          "with totals. GPU levels are timed in three additional solves.")
OPTION(JSON,
  .name = "json", NEEDS(FILES, NULL), IN(OUTPUT), PATH(json),
  .help = "Write the results or the plan of --dry-run as JSON. FILE - is stdout; the report then "
          "goes to stderr.")
OPTION(CSV,
  .name = "csv", NEEDS(FILES, NULL), IN(OUTPUT), PATH(csv), REAL_RUN,
  .help = "Write the results as CSV. FILE - is stdout; the report then goes to stderr.")
OPTION(DUMP,
  .name = "dump", NEEDS(FILES, NULL), IN(OUTPUT), PATH(dump), REAL_RUN,
  .help = "After the solves, write the fields to an HDF5 file (VTKHDF image data; ParaView "
          "opens it if its name ends in .hdf) and a description to FILE.xdmf.")
OPTION(DUMP_FIELDS,
  .name = "dump-fields", IN(OUTPUT), SOME_OF(dump_fields, field_words), .value = "u,f,residual",
  DUMPED,
  .help = "Fields to write: solution u, right-hand side f, residual f - A u, beta_i, beta_j "
          "and beta_k on the lower faces of each cell, dinv (1 / diagonal), and alpha if "
          "--coefficients has one. mask is written if faces inside of the grid are closed.")
OPTION(DUMP_LEVELS,
  .name = "dump-levels", IN(OUTPUT), .metavar = "LEVELS", SOME_OF(dump_levels, level_words),
  .value = "0", DUMPED,
  .help = "Levels to write, separated by commas; 0 is the finest. Levels 0, 1 and 2 hold the "
          "solutions at h, 2h and 4h; coarser levels hold the values of the last cycle.")
OPTION(DUMP_EVERY,
  .name = "dump-every", IN(OUTPUT), .metavar = "N", INTEGER(dump_every, 0, 1000), .value = "0",
  DUMPED,
  .help = "Solve once more at h and write a file after every N cycles: grid.hdf becomes "
          "grid.0003.hdf. 0: off.")
OPTION(DUMP_PRECISION,
  .name = "dump-precision", IN(OUTPUT), ONE_OF(dump_precision, precision_words),
  .value = "double", DUMPED,
  .help = "Precision of stored values; float halves the file size. If a value is out of the range "
          "of floats, the file has doubles, and a warning names the value.")
OPTION(DUMP_COMPRESS,
  .name = "dump-compress", IN(OUTPUT), .metavar = "N", INTEGER(dump_compress, 0, 9), .value = "0",
  DUMPED,
  .help = "Deflate compression level. 0: no compression.")
OPTION(DUMP_CENTERING,
  .name = "dump-centering", IN(OUTPUT), ONE_OF(dump_centering, centering_words), .value = "cell",
  DUMPED,
  .help = "Type of VTKHDF data. cell: cells; point: points at the cell centers, for older "
          "readers (VTK 9.1, ParaView 5.11). The values are the same.")
OPTION(DUMP_HINTS,
  .name = "dump-hints", IN(OUTPUT), .metavar = "KEY=VALUE,...", .kind = MG_KIND_PAIRS,
  FIELD(dump_hints), DUMPED,
  .help = "MPI-IO hints for parallel writes, such as cb_nodes=4.")
OPTION(PRINT_CONFIG,
  .name = "print-config", NEEDS(FILES, NULL), .group = MG_GROUP_OUTPUT, OPTION_ONLY, FLAG(print_config), REAL_RUN,
  .help = "Print a deck that reproduces this run, and exit.")
OPTION(QUIET,
  .name = "quiet", .letter = 'q', IN(OUTPUT), LOUDNESS, .min = -1,
  .help = "Suppress the report, progress and warnings. Files, errors and the exit status "
          "remain.")
OPTION(VERBOSE,
  .name = "verbose", .letter = 'v', IN(OUTPUT), LOUDNESS, .min = 1,
  .help = "Print more on stderr: set-up steps, one line per solve, source locations of "
          "errors.")
OPTION(HELP,
  .name = "help", .letter = 'h', .group = MG_GROUP_HELP, OPTION_ONLY, .kind = MG_KIND_ACTION,
  .help = "Print this help and exit.")
OPTION(VERSION,
  .name = "version", .letter = 'V', .group = MG_GROUP_HELP, OPTION_ONLY, .kind = MG_KIND_ACTION,
  .help = "Print the version and build configuration, and exit.")
