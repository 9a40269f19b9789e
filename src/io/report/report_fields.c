/* The fields of the reports of runs and plans, in the order of the JSON file. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#include "plan/path_facts.h"
#endif
#include "io/report/fields.h"
#include "io/report/report_wings.h"
#include "plan/plan_stats.h"
#include "wings.h"

#define RANKS   .low = 1, .high = 1e9
#define DIM     .low = 1, .high = 1 << 20, .least = 3, .most = 3
#define THREE   .least = 3, .most = 3, OPTIONAL
#define PLACES  .words = "cpu|cuda|cuda-simple"
#define SECONDS .low = 1e-9, .high = 1e9, OR_NULL
#define RATE    .low = 1e-9, .high = 1e18, OR_NULL

/* A condition of --boundary, with its numbers. */
#define NUMBER "[-+]?[0-9.]+(e[-+]?[0-9]+)?"
#define SIDE   "(dirichlet|neumann|periodic|robin)(:" NUMBER "){0,3}"

/* clang-format off */
static void put_problem(mg_sink_t *s, const mg_report_t *r) {
  const mg_params_t *p = r->params;
  const bool polynomial = mg_is_polynomial(p->smoother);
  const mg_boundary_text_t boundary = mg_boundary_text(p);
  TEXT("operator", mg_operator_name(p->op), "--operator", .csv = 1);
  TEXT("equation", mg_equation_name(p->equation), "--equation", .csv = 2);
  TEXT("boundary", boundary.text, "words of `--boundary`", .csv = 3, .pattern = "^" SIDE "(," SIDE "){0,5}$");
  TEXT("method", mg_method_name(p->method), "--method", LATER);
  TEXT("method_reason", p->reason, "why `--method=auto` chose smoother, cycle and krylov", LATER, OR_NULL);
  TEXT("smoother", mg_smoother_name(p->smoother), "--smoother", .csv = 4);
  INTEGER("smooths", p->smooths, "--smooths");
  INTEGER("degree", polynomial ? p->degree : -1, "--degree; `null` unless Chebyshev", OR_NULL);
  REAL("omega", polynomial ? NAN : p->omega, "--omega; `null` if Chebyshev", OR_NULL);
  TEXT("bottom", mg_bottom_name(p->bottom), "--bottom");
  TEXT("cycle", mg_cycle_name(p->cycle), "--cycle", .csv = 5);
  TEXT("krylov", mg_krylov_name(p->krylov), "--krylov", .csv = 22);
  TEXT("precision", mg_precision_name(p->precision), "--precision", .csv = 23);
  REAL("rtol", p->rtol, "--rtol; 0: one cycle");
  INTEGER("max_cycles", p->max_cycles, "--max-cycles");
  INTEGER("coarsest", p->coarsest, "--coarsest");
  LIST(INTEGER, "dim", 3, r->plan->level[0].layout.n[i], "cells in x, y and z", DIM);
  INTEGER("levels", r->plan->n_levels, "number of levels", .low = 1, .high = MG_MAX_LEVELS);
  TEXT("coefficients", p->coefficients, "path of `--coefficients`", OR_NULL);
  TEXT("rhs", p->rhs, "path of `--rhs`", OR_NULL);
  OBJECT("fields", "origins: `built-in`, `constant 1`, `constant 0` or `file`", LATER) {
    TEXT("beta", mg_input_origin(p, r->input, MG_INPUT_BETA), "origin of beta");
    TEXT("f", mg_input_origin(p, r->input, MG_INPUT_F), "origin of f");
    TEXT("alpha", mg_input_origin(p, r->input, MG_INPUT_ALPHA), "origin of alpha; `null` if there is none",
         OR_NULL);
  }
  FLAG("constant_beta", p->constant_beta, "whether beta is constant and kernels take it as an argument", LATER);
  INTEGER("cells_outside", p->n_outside, "cells without an open face", LATER);
  INTEGER("singular_pockets", p->n_singular, "sets of cells whose u is determined only up to a constant, with closed faces", LATER);
  if (s->lists || mg_params_has_cells(p))
    LIST(REAL, "lengths", 3, p->length[i], "with `--cells`, of the domain in x, y and z", .low = 1e-300,
         THREE);
}

/* The nearest rank counts at which every rank has cells; 0: none. */
static int64_t useful_ranks(const mg_report_t *r, int i) {
  int64_t ranks[2] = {r->plan->level[0].layout.world_ranks, 0};
  MG_IF_PREFLIGHT(if (mg_plan_idle_ranks(r->plan) > 0)
                      mg_plan_useful_ranks(r->params, r->plan, &ranks[0], &ranks[1]));
  return ranks[i];
}

static void put_agglomeration(mg_sink_t *s, const mg_trials_t *a) {
  OBJECTS("agglomeration", i, a->n_rows, "choices that `auto` timed", .most = 100) {
    INTEGER("agglomerate_below", a->row[i].below, "the choice");
    INTEGER("finest_level_ranks", a->row[i].ranks, "ranks with cells of the finest level", RANKS);
    REAL("seconds", a->row[i].seconds, "per solve");
    FLAG("chosen", i == a->best, "whether it is in use");
  }
}

static void put_machine(mg_sink_t *s, const mg_report_t *r, bool is_run) {
  const mg_level_plan_t *fine = &r->plan->level[0];
  INTEGER("ranks", fine->layout.world_ranks, "number of ranks", RANKS, .csv = 8);
  INTEGER("idle_ranks", mg_plan_idle_ranks(r->plan), "ranks without cells", .high = 1e9);
  LIST(INTEGER, "useful_ranks", useful_ranks(r, 1) > 0 ? 2 : 1, useful_ranks(r, i), "nearest ranks that all "
       "have cells: with this grid, with the next larger one", .low = 1, .least = 1, .most = 2);
  if (is_run) INTEGER("threads", r->threads, "threads per rank", .low = 1, .high = 1e6, .csv = 9);
  TEXT("backend", mg_place_name(fine->place), "backend of the finest level", PLACES);
  if (is_run) {
    const mg_strip_size_t *strips = &r->placement->strips;
    TEXT("device", r->device, "name of rank 0's device");
    TEXT("transport", r->transport, "how messages travel between GPUs",
         .pattern = "^(none|(peer|nccl|mpi|host)(\\+(nccl|mpi|host))*)$");
    INTEGER("cpu_below", r->params->cpu_below, "limit in use for levels on the CPU", .high = 1e18);
    INTEGER("agglomerate_below", r->params->agglomerate_below, "value in use; `null`: `auto` measured "
            "nothing (65536 on GPUs, 4096 on CPUs)", .high = 1e18, OR_NULL);
    put_agglomeration(s, &r->placement->agglomeration);
    INTEGER("strip_bytes", strips->source == MG_STRIPS_NONE ? -1 : strips->bytes, "size of the "
            "[strips](performance.md#cpu) of CPU threads; `null`: no level has strips", .low = 1,
            .high = 1e12, OR_NULL, LATER);
    TEXT("strip_source", mg_strips_name(strips->source), "origin of that size; `cache`: half of the "
         "last-level cache's share, since no choice matters", .words = "none|given|measured|cache", LATER);
    TEXT("host", r->host, "host of rank 0");
    TEXT("cpu", r->cpu, "model of its CPU", LATER);
    REAL("setup_seconds", r->result->seconds_setup, "from the first allocation to all coefficients and "
         "right-hand sides");
    TEXT("restart", r->params->restart, "path of the dump that the run continues", OR_NULL);
  }
  TEXT("command_line", r->command_line, "the command");
}

static void put_timing(mg_sink_t *s, const mg_params_t *p) {
  FLAG("official", p->official, "--official");
  FLAG("verify_only", p->verify_only, "--verify-only");
  INTEGER("warmup", p->warmup, "--warmup");
  INTEGER("min_solves", p->min_solves, "--min-solves");
  REAL("min_time", p->min_time, "--min-time");
}

static void put_count(mg_sink_t *s, const char *key, const mg_spread_t *count) {
  MG_OPEN(MG_ROW(REAL, key, "of one solve: min, mean, max over its ranks", THREE, .list = true), true) {
    if (!s->lists) INTEGER(key, (int64_t)count->min, "");
    REAL(key, count->mean, "");
    if (!s->lists) INTEGER(key, (int64_t)count->max, "");
  }
}

static const char *name_of(const mg_path_t *path) {
  return path ? path->name : NULL;
}

#define PASSES .words = "smooth|one pass|two passes", LATER
#define PATHS                                                                                      \
  .words = "cache pass|resident|fused sweeps|single steps|coarse cycle of cubes|coarse cycle of "  \
           "fv4|bottom in one launch|inverse in one launch|bottom solver"

static void put_smoothing(mg_sink_t *s, const mg_smoothing_t *m) {
  INTEGER("steps", m->steps, "steps of a smooth from a guess", .low = 1, .high = 1e9);
  INTEGER("sweeps", m->sweeps, "sweeps over memory that make them", .low = 1, .high = 1e9);
  INTEGER("strip_rows", m->strip_rows, "rows per strip of a [CPU pass](performance.md#cpu); 0: no strips", .high = 1 << 20);
  TEXT("path", name_of(m->path), "how the level is smoothed, or with coarser ones solved",
       PATHS, LATER);
  TEXT("interpolation", m->interpolation, "to the level: with the first sweep of its `smooth`, or in one pass alone", PASSES);
  TEXT("restriction", m->restriction, "of its residual: with the last sweep of its `smooth`, or alone", PASSES);
  TEXT("norm", m->norm ? m->norm : "", "of its residual, likewise; `null` with `--precision=mixed`", PASSES, OR_NULL);
}

/* Key of a timed operation. */
static const char *key_of(mg_time_t time, char key[MG_TIME_KEY_SIZE]) {
  key[0] = '\0';
  (void)time; /* without the wing, nothing was timed */
  MG_IF_PROFILE(mg_time_key(time, key));
  return key;
}

static void put_breakdown(mg_sink_t *s, const mg_report_t *r, int l) {
  OBJECT("seconds", "with `--levels-breakdown`: [operations](usage.md#the-table-of-levels) that took time",
         OPTIONAL)
    for (int t = 0; t < MG_N_TIMES; t++) {
      const mg_spread_t *spread = &r->seconds[l][t];
      const double values[] = {spread->min, spread->mean, spread->max};
      char key[MG_TIME_KEY_SIZE];
      if (s->lists || values[2] != 0.0)
        LIST(REAL, key_of((mg_time_t)t, key), 3, values[i], "min, mean, max over ranks", THREE);
    }
  put_count(s, "messages", &r->counts[l][MG_COUNT_MESSAGES]);
  put_count(s, "message_bytes", &r->counts[l][MG_COUNT_BYTES]);
  put_count(s, "reductions", &r->counts[l][MG_COUNT_REDUCTIONS]);
}

static void put_tally(mg_sink_t *s, const mg_tally_t *t) {
  OBJECT("bytes_per_rank", "memory") {
    INTEGER("min", t->min, "least");
    REAL("mean", mg_tally_mean(t), "mean");
    INTEGER("max", t->max, "most");
  }
}

static void put_planned(mg_sink_t *s, const mg_level_plan_t *level, const mg_level_stats_t *stats) {
  TEXT("path", name_of(mg_level_path(level)), "how the level is smoothed, or with coarser ones solved", PATHS, LATER);
  INTEGER("steps_per_pass", level->steps_per_pass, "most steps (GSRB: half sweeps) fused into one pass; all "
          "of a smooth, if resident");
  FLAG("resident", level->resident, "a smooth is one [launch](performance.md#resident-smooths), or one [pass "
       "of a CPU](performance.md#cpu)");
  INTEGER("boxes_per_rank_max", stats->boxes_per_rank_max, "most boxes of a rank");
  REAL("imbalance", stats->imbalance, "cells of the fullest rank / mean of ranks with cells");
  INTEGER("patches_per_rank_max", stats->patches_max, "most patches (cuboids of boxes) of a rank");
  put_tally(s, &stats->bytes);
  INTEGER("bytes_ranks_looked_at", stats->bytes.n_ranks, "sample of ranks");
  INTEGER("messages_per_exchange_max", stats->messages_max, "most of a rank, in a halo exchange with edges "
          "and corners");
  INTEGER("message_doubles_per_exchange_max", stats->message_doubles_max, "likewise; floats on the float "
          "levels of `--precision=mixed`");
  INTEGER("messages_per_face_exchange_max", stats->face_messages_max, "most of a rank, in an exchange of "
          "faces only");
  INTEGER("message_doubles_per_face_exchange_max", stats->face_message_doubles_max, "likewise");
  INTEGER("messages_ranks_looked_at", stats->n_message_ranks, "sample of ranks");
}

static void put_level(mg_sink_t *s, const mg_report_t *r, int l) {
  const mg_level_plan_t *level = &r->plan->level[l];
  LIST(INTEGER, "dim", 3, level->layout.n[i], "cells in x, y and z", DIM);
  INTEGER("boxes", mg_layout_n_boxes(&level->layout), "number of boxes", .low = 1);
  INTEGER("box_dim", level->layout.box_dim, "cells per side of a box; with `--cells`, on the narrowest side of any rank",
          .high = 1 << 20);
  INTEGER("ranks", level->layout.n_ranks, "ranks with cells", RANKS);
  TEXT("backend", mg_place_name(level->place), "backend of the level", PLACES);
  if (r->stats) {
    put_planned(s, level, &r->stats->level[l]);
    return;
  }
  INTEGER("bytes", r->level_bytes[l], "of all ranks; with `--precision=mixed`, here and in `seconds`, of "
          "double and float cells", .low = 1);
  if (s->lists || r->smoothing[l].steps > 0)
    OBJECT("smooth", "the smooth of a level that rank 0 has cells of", OPTIONAL)
      put_smoothing(s, &r->smoothing[l]);
  if (s->lists || mg_report_has_breakdown(r)) put_breakdown(s, r, l);
}

/* Why a solve ended. */
static const char *end_of(const mg_report_t *r, const mg_history_t *history) {
  return history->diverged_level >= 0 ? "divergence"
         : history->stagnated         ? "stagnation"
         : !history->converged        ? history->stopped ? "signal" : "max cycles"
         : r->params->rtol > 0.0      ? "tolerance"
                                      : "cycle";
}

static void put_solve(mg_sink_t *s, const mg_report_t *r, const mg_size_result_t *size) {
  const mg_history_t *history = &size->history;
  const bool timed = !r->params->verify_only;
  REAL("h", mg_report_width(r->params, size->n), "width of a cell; `null` if cells are no cubes of one size",
       .low = 1e-300, OR_NULL, .csv = 10);
  INTEGER("dof", mg_volume(size->n), "number of cells", .low = 1, .high = 0x1p60, .csv = 11);
  REAL("f_norm", size->f_norm, "max|f|", OR_NULL);
  LIST(REAL, "norms", history->n_cycles, history->norm[i], "max|f - Au| after each cycle", OR_NULL,
       .least = 1, .most = 1000);
  LIST(REAL, "rel", history->n_cycles, history->rel[i], "the same / `f_norm` or `reference_norm`", OR_NULL,
       .least = 1, .most = 1000);
  INTEGER("cycles", history->n_cycles, "number of cycles", .low = 1, .high = 1000, .csv = 12);
  INTEGER("solves", size->n_solves, "number of timed solves", .high = INT32_MAX);
  REAL("seconds_min", timed ? size->seconds_min : NAN, "of the fastest solve", SECONDS, .csv = 15);
  REAL("seconds_mean", timed ? size->seconds_mean : NAN, "mean of the solves", SECONDS, .csv = 16);
  REAL("dof_per_s", mg_report_rate(r, size), "`dof` / `seconds_mean`; `null` if not verified or not timed",
       RATE, .csv = 17);
  TEXT("ended", end_of(r, history), "why the solve ended; `stagnation`: at round-off",
       .words = "cycle|tolerance|max cycles|stagnation|divergence|signal", LATER);
  if (!s->lists && !(r->reference.norm > 0.0)) return;
  REAL("reference_norm", r->reference.norm, "with values on sides: `rel` is `norms` divided by it", OPTIONAL);
  REAL("reference_u", r->reference.u, "the constant of this norm ([algorithm.md](algorithm.md#cycles))",
       .low = -1e300, OPTIONAL);
}

/* CSV columns without a JSON field. Energy and times of operations are measured at h only. */
static void put_columns(mg_sink_t *s, const mg_report_t *r) {
  const bool at_h = s->grid == 0;
  const mg_size_result_t *size = &r->result->size[s->grid];
  char key[64], operation[MG_TIME_KEY_SIZE];
  const char *name = "seconds";
  int next = 26;
  INTEGER("n", size->n[0], "cells in x", .csv = 6);
  INTEGER("levels", r->plan->n_levels - s->grid, "number of levels", .csv = 7);
  REAL("norm", size->history.norm[size->history.n_cycles - 1], "after the last cycle", .csv = 13);
  REAL("rel", size->history.rel[size->history.n_cycles - 1], "after the last cycle", .csv = 14);
  for (int t = 0; t < MG_N_TIMES && mg_report_has_breakdown(r); t++) {
    double seconds = 0.0; /* each level counts its slowest rank */
    for (int l = 0; l < r->plan->n_levels; l++)
      seconds += r->seconds[l][t].max;
    REAL(KEY(key_of((mg_time_t)t, operation)), at_h ? seconds : NAN, "", .csv = next++);
  }
  MG_IF_ENERGY(mg_energy_columns(s, r, next));
}

static void put_results(mg_sink_t *s, const mg_report_t *r) {
  const mg_result_t *result = r->result;
  OBJECTS("solves", i, result->n_sizes, "the grids h, 2h and 4h", .least = 1, .most = MG_N_SIZES) {
    s->grid = i;
    put_solve(s, r, &result->size[i]);
    if (s->is_csv) put_columns(s, r);
  }
  s->grid = -1;
  OBJECT_OR_NULL("checksums", r->has_checksums, "of the fields at h; `null` after a diverged or interrupted "
                 "solve [1]") {
    SUM("u", r->checksum_u, "of the solution");
    SUM("f", r->checksum_f, "of the right-hand side");
  }
  REAL("error", result->error, "as in the text report", OR_NULL, .csv = 18);
  REAL("order", result->order, "as in the text report", .low = -100, .high = 100, OR_NULL, .csv = 19);
  REAL("error_rounding", result->error_rounding, "with `--precision=mixed`: bound on its relative change by "
       "float rounding", OR_NULL);
  REAL("order_rounding", result->order_rounding, "likewise, on the change of `order`", OR_NULL);
  OBJECT_OR_NULL("energy", result->energy.is_reported, "with [`--energy`](usage.md#energy), and with "
                 "`--official` where a counter exists")
    MG_IF_ENERGY(mg_energy_fields(s, result));
  TEXT("verification", result->passed ? "passed" : "failed", "verdict", .words = "passed|failed", .csv = 20);
  TEXT("reason", result->why, "why it failed");
  TEXT("note", result->note, "checks that were skipped");
  OBJECT("fom", "figure of merit: [rules.md](rules.md)") {
    TEXT("class", mg_result_class_name(r->fom.result_class), "class of the result",
         .words = "official|double|mixed|open", .csv = 24);
    TEXT("validity", r->fom.valid ? "valid" : "invalid", "verdict", .words = "valid|invalid", .csv = 25);
    TEXT("reason", r->fom.why, "why it is invalid");
    REAL("dof_per_s", r->fom.dof_per_s, "rate at h", RATE);
  }
}

void mg_report_fields(mg_sink_t *s, const void *report) {
  const mg_report_t *r = report;
  const bool is_run = !r->stats;
  TEXT("program", PACKAGE_NAME, "name of the program", .words = PACKAGE_NAME);
  TEXT("version", PACKAGE_VERSION, "version of the program",
       .pattern = "^[0-9]+(\\.[0-9]+)*[A-Za-z0-9.+-]{0,20}$");
  INTEGER("schema", MG_REPORT_SCHEMA, "version of this format; grows when a key is removed or changes its "
          "meaning", .low = MG_REPORT_SCHEMA, .high = MG_REPORT_SCHEMA);
  if (!is_run) FLAG("dry_run", true, "`true`");
  OBJECT("problem", "the problem and the algorithm") put_problem(s, r);
  OBJECT("run", "the machine and the settings in use") put_machine(s, r, is_run);
  if (is_run) OBJECT("timing", "settings of the timed solves") put_timing(s, r->params);
  OBJECTS("levels", i, r->plan->n_levels, "from the finest to the coarsest", .least = 1,
          .most = MG_MAX_LEVELS)
    put_level(s, r, i);
  if (is_run) put_results(s, r);
  OBJECT("memory", "memory of all levels") {
    TEXT("kind", mg_report_memory(r->params, r->plan), "where the finest level is",
         .words = "host|device|unified");
    if (is_run) {
      INTEGER("bytes_per_rank_max", r->bytes_per_rank_max, "of the fullest rank", .low = 1, .csv = 21);
    } else {
      double bytes = 0.0;
      MG_IF_PREFLIGHT(bytes = mg_plan_stats_bytes(r->stats));
      put_tally(s, &r->stats->bytes);
      if (s->lists || bytes >= 0x1p63)
        REAL("bytes", bytes, "of all ranks");
      else
        INTEGER("bytes", (int64_t)bytes, "");
      INTEGER("ranks_looked_at", r->stats->bytes.n_ranks, "sample of ranks");
    }
  }
}
/* clang-format on */
