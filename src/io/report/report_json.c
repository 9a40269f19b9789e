#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "io/report/report.h"

#ifdef HAVE_JANSSON
#include "io/report/json_values.h"

static json_t *problem(const mg_params_t *p, const mg_plan_t *plan, const mg_input_t *input) {
  const int32_t *n = plan->level[0].layout.n;
  const bool polynomial = p->smoother == MG_SMOOTHER_CHEBYSHEV;
  json_t *object = json_pack(
      "{s:s, s:s, s:s, s:s, s:i, s:o, s:o, s:s, s:s, s:s, s:s, s:f, s:i, s:i, s:[i,i,i], s:i, s:o, "
      "s:o}",
      "operator", mg_operator_name(p->op), "equation", mg_equation_name(p->equation), "boundary",
      mg_boundary_text(p).text, "smoother", mg_smoother_name(p->smoother), "smooths", p->smooths,
      "degree", polynomial ? json_integer(p->degree) : json_null(), "omega",
      polynomial ? json_null() : json_real(p->omega), "bottom", mg_bottom_name(p->bottom), "cycle",
      mg_cycle_name(p->cycle), "krylov", mg_krylov_name(p->krylov), "precision",
      mg_precision_name(p->precision), "rtol", p->rtol, "max_cycles", p->max_cycles, "coarsest",
      p->coarsest, "dim", n[0], n[1], n[2], "levels", plan->n_levels, "coefficients",
      mg_json_text_or_null(p->coefficients), "rhs", mg_json_text_or_null(p->rhs));
  const char *beta = mg_input_origin(p, input, MG_INPUT_BETA),
             *f = mg_input_origin(p, input, MG_INPUT_F),
             *alpha = mg_input_origin(p, input, MG_INPUT_ALPHA);
  json_object_set_new(
      object, "fields",
      json_pack("{s:s, s:s, s:o}", "beta", beta, "f", f, "alpha", mg_json_text_or_null(alpha)));
  if (mg_params_has_cells(p))
    json_object_set_new(object, "lengths",
                        json_pack("[f,f,f]", p->length[0], p->length[1], p->length[2]));
  return object;
}

/* The nearest rank counts at which every rank has cells. */
static json_t *useful_ranks(const mg_params_t *p, const mg_plan_t *plan) {
  int64_t below, above = 0;
  json_t *list = json_array();
  if (mg_plan_idle_ranks(plan) > 0)
    mg_plan_useful_ranks(p, plan, &below, &above);
  else
    below = plan->level[0].layout.world_ranks;
  json_array_append_new(list, json_integer((json_int_t)below));
  if (above > 0) json_array_append_new(list, json_integer((json_int_t)above));
  return list;
}

/* [min, mean, max] over ranks of each operation that took time. */
static json_t *seconds(const mg_report_t *r, int l) {
  json_t *all = json_object();
  for (int t = 0; t < MG_N_TIMES; t++) {
    char key[MG_TIME_KEY_SIZE];
    if (r->time_max[l][t] == 0.0) continue;
    json_object_set_new(
        all, mg_time_key((mg_time_t)t, key),
        json_pack("[f,f,f]", r->time_min[l][t], r->time_mean[l][t], r->time_max[l][t]));
  }
  return all;
}

static json_t *count(const mg_count_t *c) {
  return json_pack("[I,f,I]", (json_int_t)c->min, c->mean, (json_int_t)c->max);
}

/* The value in use; null: the fixed figures of auto, as they apply to each level. */
static json_t *agglomerate_below(const mg_params_t *params) {
  const bool is_auto = params->agglomerate_below == MG_AGGLOMERATE_AUTO;
  return is_auto ? json_null() : json_integer((json_int_t)params->agglomerate_below);
}

/* The measured ways of agglomeration, the chosen one marked. */
static json_t *agglomeration(const mg_agglomeration_t *a) {
  json_t *list = json_array();
  for (int r = 0; r < a->n_rows; r++) {
    const mg_agglomeration_row_t *row = &a->row[r];
    json_array_append_new(list, json_pack("{s:I, s:I, s:f, s:b}", "agglomerate_below",
                                          (json_int_t)row->below, "finest_level_ranks",
                                          (json_int_t)row->ranks, "seconds", row->seconds, "chosen",
                                          r == a->best));
  }
  return list;
}

static json_t *smoothing(const mg_smoothing_t *s) {
  return json_pack("{s:i, s:i, s:i}", "steps", s->steps, "sweeps", s->sweeps, "strip_rows",
                   s->strip_rows);
}

static json_t *levels(const mg_report_t *r) {
  json_t *list = json_array();
  for (int l = 0; l < r->plan->n_levels; l++) {
    const mg_level_plan_t *level = &r->plan->level[l];
    const int32_t *n = level->layout.n;
    json_t *item =
        json_pack("{s:[i,i,i], s:I, s:i, s:I, s:s, s:I}", "dim", n[0], n[1], n[2], "boxes",
                  (json_int_t)mg_layout_n_boxes(&level->layout), "box_dim", level->layout.box_dim,
                  "ranks", (json_int_t)level->layout.n_ranks, "backend",
                  mg_place_name(level->place), "bytes", (json_int_t)r->level_bytes[l]);
    if (mg_report_has_breakdown(r)) {
      json_object_set_new(item, "smooth", smoothing(&r->smoothing[l]));
      json_object_set_new(item, "seconds", seconds(r, l));
      json_object_set_new(item, "messages", count(&r->messages[l]));
      json_object_set_new(item, "message_bytes", count(&r->message_bytes[l]));
      json_object_set_new(item, "reductions", count(&r->reductions[l]));
    }
    json_array_append_new(list, item);
  }
  return list;
}

/* Why a solve ended. */
static const char *end_of(const mg_report_t *r, const mg_history_t *history) {
  return history->diverged_level >= 0 ? "divergence"
         : history->stagnated         ? "stagnation"
         : !history->converged        ? history->stopped ? "signal" : "max cycles"
         : r->params->rtol > 0.0      ? "tolerance"
                                      : "cycle";
}

static json_t *solves(const mg_report_t *r) {
  json_t *list = json_array();
  for (int s = 0; s < r->result->n_sizes; s++) {
    const mg_size_result_t *size = &r->result->size[s];
    const bool timed = !r->params->verify_only;
    json_t *norms = json_array(), *rel = json_array();
    for (int c = 0; c < size->history.n_cycles; c++) {
      json_array_append_new(norms, mg_json_number(size->history.norm[c]));
      json_array_append_new(rel, mg_json_number(size->history.rel[c]));
    }
    json_t *item =
        json_pack("{s:o, s:I, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o}", "h",
                  mg_json_number(mg_report_width(r->params, size->n)), "dof",
                  (json_int_t)mg_size_dof(size), "f_norm", mg_json_number(size->f_norm), "norms",
                  norms, "rel", rel, "cycles", size->history.n_cycles, "solves", size->n_solves,
                  "seconds_min", mg_json_number(timed ? size->seconds_min : NAN), "seconds_mean",
                  mg_json_number(timed ? size->seconds_mean : NAN), "dof_per_s",
                  mg_json_number(mg_report_rate(r, size)));
    json_object_set_new(item, "ended", json_string(end_of(r, &size->history)));
    if (r->reference.norm > 0.0) {
      json_object_set_new(item, "reference_norm", mg_json_number(r->reference.norm));
      json_object_set_new(item, "reference_u", mg_json_number(r->reference.u));
    }
    json_array_append_new(list, item);
  }
  return list;
}

static json_t *energy_part(const mg_result_t *result, mg_energy_part_t part) {
  const mg_energy_t *e = &result->energy;
  const mg_energy_sum_t *sum = &e->sum[part];
  const char *gap = mg_report_energy_gap(e, part);
  const double per_solve = mg_report_joules_per_solve(e, part);
  return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o}", "source", mg_energy_part_source(part),
                   "counters", sum->n_counters, "joules", mg_json_number(gap ? NAN : sum->joules),
                   "joules_per_solve", mg_json_number(per_solve), "dof_per_joule",
                   mg_json_number(gap ? NAN : mg_size_dof(&result->size[0]) / per_solve),
                   "idle_watts", mg_json_number(sum->idle_watts), "reason",
                   gap ? mg_json_text(gap) : json_null());
}

/* Energy of the timed solves at h; null if none is reported. */
static json_t *energy(const mg_result_t *result) {
  const mg_energy_t *e = &result->energy;
  if (!e->is_reported) return json_null();
  json_t *object = json_pack("{s:i, s:o, s:o}", "solves", e->n_solves, "window_seconds",
                             mg_json_number(e->n_solves > 0 ? e->seconds : NAN), "idle_seconds",
                             mg_json_number(e->idle_seconds > 0.0 ? e->idle_seconds : NAN));
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++)
    json_object_set_new(object, mg_energy_part_name((mg_energy_part_t)p),
                        energy_part(result, (mg_energy_part_t)p));
  return object;
}

/* Null if no level has strips. */
static json_t *strip_bytes(const mg_strip_size_t *s) {
  return s->source == MG_STRIPS_NONE ? json_null() : json_integer((json_int_t)s->bytes);
}

/* Settings of the timed solves. */
static json_t *timing(const mg_params_t *p) {
  return json_pack("{s:b, s:b, s:i, s:i, s:f}", "official", p->official, "verify_only",
                   p->verify_only, "warmup", p->warmup, "min_solves", p->min_solves, "min_time",
                   p->min_time);
}

static json_t *checksums(const mg_report_t *r) {
  if (!r->has_checksums) return json_null();
  return json_pack("{s:o, s:o}", "u", mg_json_checksum(r->checksum_u), "f",
                   mg_json_checksum(r->checksum_f));
}

static json_t *figure_of_merit(const mg_report_t *r) {
  const mg_fom_t fom = mg_report_fom(r);
  return json_pack("{s:s, s:s, s:s, s:o}", "class", mg_result_class_name(fom.result_class),
                   "validity", fom.valid ? "valid" : "invalid", "reason", fom.why, "dof_per_s",
                   mg_json_number(fom.dof_per_s));
}

static mg_status_t write_and_free(FILE *out, json_t *root) {
  if (!root) return mg_error(MG_ERR_MEMORY, "out of memory: cannot build the JSON report");
  const int rc = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  json_decref(root);
  fputc('\n', out);
  return rc == 0 ? MG_OK : mg_error(MG_ERR_IO, "the JSON report cannot be written");
}

mg_status_t mg_report_json(FILE *out, const mg_report_t *r) {
  json_t *root = json_pack(
      "{s:s, s:s, s:i, s:o, s:{s:i, s:I, s:o, s:i, s:s, s:o, s:s, s:I, s:o, s:o, s:o, s:s, s:o, "
      "s:s, s:f, "
      "s:o, s:o}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:o, s:{s:s, s:I}}",
      "program", PACKAGE_NAME, "version", PACKAGE_VERSION, "schema", MG_REPORT_SCHEMA, "problem",
      problem(r->params, r->plan, r->input), "run", "ranks", r->ranks, "idle_ranks",
      (json_int_t)mg_plan_idle_ranks(r->plan), "useful_ranks", useful_ranks(r->params, r->plan),
      "threads", r->threads, "backend", mg_place_name(r->plan->level[0].place), "device",
      mg_json_text(r->device), "transport", r->transport, "cpu_below",
      (json_int_t)r->params->cpu_below, "agglomerate_below", agglomerate_below(r->params),
      "agglomeration", agglomeration(&r->placement->agglomeration), "strip_bytes",
      strip_bytes(&r->placement->strips), "strip_source",
      mg_strips_name(r->placement->strips.source), "host", mg_json_text(r->host), "cpu", r->cpu,
      "setup_seconds", r->result->seconds_setup, "restart",
      mg_json_text_or_null(r->params->restart), "command_line", mg_json_text(r->command_line),
      "timing", timing(r->params), "levels", levels(r), "solves", solves(r), "checksums",
      checksums(r), "error", mg_json_number(r->result->error), "order",
      mg_json_number(r->result->order), "error_rounding", mg_json_number(r->result->error_rounding),
      "order_rounding", mg_json_number(r->result->order_rounding), "energy", energy(r->result),
      "verification", r->result->passed ? "passed" : "failed", "reason", r->result->why, "note",
      r->result->note, "fom", figure_of_merit(r), "memory", "kind",
      mg_report_memory(r->params, r->plan), "bytes_per_rank_max",
      (json_int_t)r->bytes_per_rank_max);
  return write_and_free(out, root);
}

static json_t *tally(const mg_tally_t *t) {
  return json_pack("{s:I, s:f, s:I}", "min", (json_int_t)t->min, "mean", mg_tally_mean(t), "max",
                   (json_int_t)t->max);
}

/* Bytes over all ranks may exceed 2^63. */
static json_t *large(double count) {
  return count < 0x1p63 ? json_integer((json_int_t)count) : json_real(count);
}

static json_t *planned_levels(const mg_dry_run_t *d) {
  json_t *list = json_array();
  for (int l = 0; l < d->plan->n_levels; l++) {
    const mg_level_plan_t *level = &d->plan->level[l];
    const mg_level_stats_t *s = &d->stats->level[l];
    const int32_t *n = level->layout.n;
    json_array_append_new(
        list,
        json_pack("{s:[i,i,i], s:I, s:i, s:I, s:s, s:i, s:b, s:I, s:f, s:i, s:o, s:I, s:I, s:I, "
                  "s:I, s:I, s:I}",
                  "dim", n[0], n[1], n[2], "boxes", (json_int_t)mg_layout_n_boxes(&level->layout),
                  "box_dim", level->layout.box_dim, "ranks", (json_int_t)level->layout.n_ranks,
                  "backend", mg_place_name(level->place), "steps_per_pass", level->steps_per_pass,
                  "resident", level->resident, "boxes_per_rank_max",
                  (json_int_t)s->boxes_per_rank_max, "imbalance", s->imbalance,
                  "patches_per_rank_max", s->patches_max, "bytes_per_rank", tally(&s->bytes),
                  "bytes_ranks_looked_at", (json_int_t)s->bytes.n_ranks,
                  "messages_per_exchange_max", (json_int_t)s->messages_max,
                  "message_doubles_per_exchange_max", (json_int_t)s->message_doubles_max,
                  "messages_per_face_exchange_max", (json_int_t)s->face_messages_max,
                  "message_doubles_per_face_exchange_max", (json_int_t)s->face_message_doubles_max,
                  "messages_ranks_looked_at", (json_int_t)s->n_message_ranks));
  }
  return list;
}

mg_status_t mg_report_json_dry_run(FILE *out, const mg_dry_run_t *d) {
  const mg_plan_stats_t *s = d->stats;
  return write_and_free(
      out,
      json_pack(
          "{s:s, s:s, s:i, s:b, s:o, s:{s:I, s:I, s:o, s:s, s:o}, s:o, s:{s:s, s:o, s:o, s:I}}",
          "program", PACKAGE_NAME, "version", PACKAGE_VERSION, "schema", MG_REPORT_SCHEMA,
          "dry_run", 1, "problem", problem(d->params, d->plan, d->input), "run", "ranks",
          (json_int_t)s->n_ranks, "idle_ranks", (json_int_t)mg_plan_idle_ranks(d->plan),
          "useful_ranks", useful_ranks(d->params, d->plan), "backend",
          mg_place_name(d->plan->level[0].place), "command_line", mg_json_text(d->command_line),
          "levels", planned_levels(d), "memory", "kind", mg_report_memory(d->params, d->plan),
          "bytes_per_rank", tally(&s->bytes), "bytes", large(mg_plan_stats_bytes(s)),
          "ranks_looked_at", (json_int_t)s->bytes.n_ranks));
}
#else
static mg_status_t no_jansson(void) {
  return mg_error(MG_ERR_USAGE, "--json requires a build with jansson; install libjansson-dev and "
                                "configure --with-jansson");
}

mg_status_t mg_report_json(FILE *out, const mg_report_t *r) {
  (void)out;
  (void)r;
  return no_jansson();
}

mg_status_t mg_report_json_dry_run(FILE *out, const mg_dry_run_t *d) {
  (void)out;
  (void)d;
  return no_jansson();
}
#endif
