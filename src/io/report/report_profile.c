/* Times, messages and paths of the levels. */
#include "base/log.h"
#include "comm/comm.h"
#include "io/report/report_wings.h"
#include "level/profile.h"

/* Statistics of up to MG_N_TIMES numbers over the ranks that are members. */
static mg_status_t gather(const double *mine, int n, bool member, mg_spread_t *out) {
  double min[MG_N_TIMES], max[MG_N_TIMES], sum[MG_N_TIMES + 1];
  for (int i = 0; i < n; i++) {
    max[i] = sum[i] = member ? mine[i] : 0.0;
    min[i] = member ? mine[i] : INFINITY;
  }
  sum[n] = member;
  MG_TRY(mg_comm_min(mg_comm_world(), min, n));
  MG_TRY(mg_comm_max(mg_comm_world(), max, n));
  MG_TRY(mg_comm_sum(mg_comm_world(), sum, n + 1));
  for (int i = 0; i < n; i++)
    out[i] = (mg_spread_t){min[i], sum[i] / sum[n], max[i]};
  return MG_OK;
}

/* Per solve. All solves of one grid send the same messages. */
mg_status_t mg_report_gather_profile(mg_report_t *r, const mg_hierarchy_t *h) {
  const mg_hierarchy_t *cycles = mg_hierarchy_of_cycles(h);
  const int n = r->result->n_profiled, solves = n > 0 ? n : 1;
  for (int l = 0; l < cycles->n_levels; l++) {
    const mg_timers_t timers = mg_hierarchy_timers(h, l);
    const mg_traffic_t *t = &timers.traffic;
    const double counts[] = {(double)(t->messages / solves), (double)(t->bytes / solves),
                             (double)(t->reductions / solves)};
    double seconds[MG_N_TIMES];
    for (int i = 0; i < MG_N_TIMES; i++)
      seconds[i] = (n > 0 ? 1.0 / n : 0.0) * timers.seconds[i];
    MG_TRY(gather(seconds, MG_N_TIMES, true, r->seconds[l]));
    MG_TRY(gather(counts, MG_N_COUNTS, cycles->level[l].comm != NULL, r->counts[l]));
  }
  return MG_OK;
}

static void print_breakdown(FILE *out, const mg_report_t *r) {
  fprintf(out, "\n  seconds of one solve at h (min, mean, max over ranks)%s\n",
          r->result->extra ? ", from extra solves with event timers" : "");
  fprintf(out, "  level       grid  operation               min         mean          max\n");
  for (int l = 0; l < r->plan->n_levels; l++)
    for (int t = 0; t < MG_N_TIMES; t++) {
      const mg_spread_t *s = &r->seconds[l][t];
      if (s->max == 0.0) continue;
      fprintf(out, "  %5d  %9s  %-17s %12.3e %12.3e %12.3e\n", l,
              mg_grid(r->plan->level[l].layout.n).text, mg_time_name((mg_time_t)t), s->min, s->mean,
              s->max);
    }
}

static void print_smoothing(FILE *out, const mg_report_t *r) {
  fprintf(out,
          "\n  paths on rank 0\n  level       grid  interpolate  restrict    norm        path\n");
  for (int l = 0; l < r->plan->n_levels; l++) {
    const mg_smoothing_t *s = &r->smoothing[l];
    const bool smooths = !r->plan->level[l].cycle && !r->plan->level[l].bottom;
    if (s->steps == 0) continue;
    fprintf(out, "  %5d  %9s  %-11s  %-10s  %-10s  %s", l, mg_grid(r->plan->level[l].layout.n).text,
            smooths ? s->interpolation : "", smooths ? s->restriction : "",
            smooths && s->norm ? s->norm : "", s->path->name);
    if (smooths)
      fprintf(out, ", %d step%s in %d sweep%s", s->steps, s->steps == 1 ? "" : "s", s->sweeps,
              s->sweeps == 1 ? "" : "s");
    if (smooths && s->strip_rows > 0)
      fprintf(out, ", strips of %d row%s", s->strip_rows, s->strip_rows == 1 ? "" : "s");
    if (s->path->why && (l == 0 || s->path != r->smoothing[l - 1].path))
      fprintf(out, "\n  %s: %s", s->path->name, s->path->why);
    fprintf(out, "\n");
  }
}

static void print_messages(FILE *out, const mg_report_t *r) {
  fprintf(out, "\n  messages of one solve at h, sent per rank (min, mean, max over the ranks of a "
               "level)\n");
  fprintf(out, "  level       grid  messages: min     mean      max   bytes: min         mean      "
               "    max  reductions\n");
  for (int l = 0; l < r->plan->n_levels; l++) {
    const mg_spread_t *m = &r->counts[l][MG_COUNT_MESSAGES], *b = &r->counts[l][MG_COUNT_BYTES];
    const double reductions = r->counts[l][MG_COUNT_REDUCTIONS].max;
    if (m->max == 0.0 && reductions == 0.0) continue;
    fprintf(out, "  %5d  %9s  %13.0f %8.1f %8.0f  %11.0f %12.0f %12.0f %11.0f\n", l,
            mg_grid(r->plan->level[l].layout.n).text, m->min, m->mean, m->max, b->min, b->mean,
            b->max, reductions);
  }
}

/* Print a row of the table of shares: percent of a solve per operation that took any time (blank
 * if `times` is NULL), percent of all operations together, and seconds. */
static void print_share(FILE *out, const mg_spread_t *times,
                        const mg_spread_t of_operation[MG_N_TIMES], double sum, double solve) {
  for (int t = 0; t < MG_N_TIMES; t++) {
    const int length = (int)strlen(mg_time_name((mg_time_t)t)), width = length > 8 ? length : 8;
    if (!(of_operation[t].mean > 0.0)) continue;
    if (times)
      fprintf(out, "  %*.1f", width, 100.0 * times[t].mean / solve);
    else
      fprintf(out, "  %*s", width, "");
  }
  fprintf(out, "  %8.1f  %12.6f\n", 100.0 * sum / solve, sum);
}

static double sum_of(const mg_spread_t times[MG_N_TIMES]) {
  double sum = 0.0;
  for (int t = 0; t < MG_N_TIMES; t++)
    sum += times[t].mean;
  return sum;
}

/* Print where a solve's time goes: one line per level, then sums. Time spent waiting for levels
 * on which a rank has no cells belongs to no operation. */
static void print_shares(FILE *out, const mg_report_t *r) {
  const double solve = r->result->seconds_profiled;
  mg_spread_t all[MG_N_TIMES] = {{0.0, 0.0, 0.0}};
  for (int l = 0; l < r->plan->n_levels; l++)
    for (int t = 0; t < MG_N_TIMES; t++)
      all[t].mean += r->seconds[l][t].mean;
  fprintf(out, "\n  percent of one solve at h, mean over ranks\n  level       grid");
  for (int t = 0; t < MG_N_TIMES; t++)
    if (all[t].mean > 0.0) fprintf(out, "  %8s", mg_time_name((mg_time_t)t));
  fprintf(out, "       all       seconds\n");
  for (int l = 0; l < r->plan->n_levels; l++) {
    fprintf(out, "  %5d  %9s", l, mg_grid(r->plan->level[l].layout.n).text);
    print_share(out, r->seconds[l], all, sum_of(r->seconds[l]), solve);
  }
  fprintf(out, "  %16s", "all levels");
  print_share(out, all, all, sum_of(all), solve);
  fprintf(out, "  %16s", "elsewhere");
  print_share(out, NULL, all, solve - sum_of(all), solve);
  fprintf(out, "  %16s", "one solve");
  print_share(out, NULL, all, solve, solve);
}

void mg_report_print_profile(FILE *out, const mg_report_t *r) {
  if (mg_report_has_breakdown(r) || r->params->verbosity >= MG_LOG_VERBOSE) print_smoothing(out, r);
  if (!mg_report_has_breakdown(r)) return;
  print_breakdown(out, r);
  if (r->ranks > 1) print_messages(out, r);
  print_shares(out, r);
}
