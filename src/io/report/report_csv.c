#include "io/report/report.h"
#include <math.h>
#include <string.h>

static void number(FILE *out, double value, const char *after) {
  if (!isnan(value)) fprintf(out, "%.17g", value);
  fputs(after, out);
}

/* Seconds of an operation, summed over all levels; each level counts its slowest rank. */
static double seconds_of(const mg_report_t *r, int time) {
  double seconds = 0.0;
  for (int l = 0; l < r->plan->n_levels; l++)
    seconds += r->time_max[l][time];
  return seconds;
}

/* Columns of --levels-breakdown; its timings exist only for the finest grid. */
static void breakdown(FILE *out, const mg_report_t *r, bool finest) {
  for (int t = 0; t < MG_N_TIMES && mg_report_has_breakdown(r); t++) {
    fputc(',', out);
    if (finest) number(out, seconds_of(r, t), "");
  }
}

static void breakdown_names(FILE *out, const mg_report_t *r) {
  char key[MG_TIME_KEY_SIZE];
  for (int t = 0; t < MG_N_TIMES && mg_report_has_breakdown(r); t++)
    fprintf(out, ",seconds_%s", mg_time_key((mg_time_t)t, key));
}

/* Columns of energy; measured only on the finest grid. Energy has no columns where none is
 * reported.
 */
static void energy_names(FILE *out, const mg_energy_t *energy) {
  if (energy->is_reported) fputs(",energy_seconds", out);
  for (int p = 0; p < MG_N_ENERGY_PARTS && energy->is_reported; p++) {
    const char *name = mg_energy_part_name((mg_energy_part_t)p);
    fprintf(out, ",%s_joules_per_solve,%s_dof_per_joule,%s_idle_watts,%s_energy_source", name, name,
            name, name);
  }
}

static void energy(FILE *out, const mg_result_t *result, bool finest) {
  const mg_energy_t *e = &result->energy;
  if (!e->is_reported) return;
  fputc(',', out);
  number(out, finest && e->n_solves > 0 ? e->seconds : NAN, "");
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++) {
    const double joules = mg_report_joules_per_solve(e, (mg_energy_part_t)p);
    const bool measured = finest && !isnan(joules);
    fputc(',', out);
    number(out, measured ? joules : NAN, ",");
    number(out, measured ? mg_size_dof(&result->size[0]) / joules : NAN, ",");
    number(out, measured ? e->sum[p].idle_watts : NAN, ",");
    fputs(measured ? mg_energy_part_source((mg_energy_part_t)p) : "", out);
  }
}

/* Quoted if it has commas. */
static void boundary(FILE *out, const mg_params_t *p) {
  const mg_boundary_text_t words = mg_boundary_text(p);
  const char *quote = strchr(words.text, ',') ? "\"" : "";
  fprintf(out, "%s%s%s,", quote, words.text, quote);
}

/* One line per size. Keys are those of the JSON report; run-wide values are repeated. */
mg_status_t mg_report_csv(FILE *out, const mg_report_t *r) {
  const mg_params_t *p = r->params;
  fprintf(out,
          "operator,equation,boundary,smoother,cycle,n,levels,ranks,threads,h,dof,cycles,norm,rel,"
          "seconds_min,seconds_mean,dof_per_s,error,order,verification,bytes_per_rank_max,krylov,"
          "precision,class,validity");
  breakdown_names(out, r);
  energy_names(out, &r->result->energy);
  fputc('\n', out);
  const mg_fom_t fom = mg_report_fom(r);
  for (int s = 0; s < r->result->n_sizes; s++) {
    const mg_size_result_t *size = &r->result->size[s];
    const mg_history_t *hist = &size->history;
    const bool timed = !p->verify_only;
    fprintf(out, "%s,%s,", mg_operator_name(p->op), mg_equation_name(p->equation));
    boundary(out, p);
    fprintf(out, "%s,%s,%d,%d,%d,%d,", mg_smoother_name(p->smoother), mg_cycle_name(p->cycle),
            size->n[0], r->plan->n_levels - s, r->ranks, r->threads);
    number(out, mg_report_width(p, size->n), ",");
    fprintf(out, "%.0f,%d,", mg_size_dof(size), hist->n_cycles);
    number(out, hist->norm[hist->n_cycles - 1], ",");
    number(out, hist->rel[hist->n_cycles - 1], ",");
    number(out, timed ? size->seconds_min : NAN, ",");
    number(out, timed ? size->seconds_mean : NAN, ",");
    number(out, mg_report_rate(r, size), ",");
    number(out, r->result->error, ",");
    number(out, r->result->order, ",");
    fprintf(out, "%s,%lld,%s,%s,%s,%s", r->result->passed ? "passed" : "failed",
            (long long)r->bytes_per_rank_max, mg_krylov_name(p->krylov),
            mg_precision_name(p->precision), mg_result_class_name(fom.result_class),
            fom.valid ? "valid" : "invalid");
    breakdown(out, r, s == 0);
    energy(out, r->result, s == 0);
    fputc('\n', out);
  }
  return MG_OK;
}
