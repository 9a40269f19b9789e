/* The choices that a run made by measurement, in the text report. */
#include "io/report/report_wings.h"
#include <inttypes.h>

/* The chosen cutoff, and the fastest alternative. */
static void print_gpu_cutoff(FILE *out, const mg_trials_t *c) {
  if (c->n_rows < 2) return;
  const mg_trial_row_t *best = &c->row[c->best], *next = NULL;
  for (int r = 0; r < c->n_rows; r++)
    if (r != c->best && (!next || c->row[r].seconds < next->seconds)) next = &c->row[r];
  fprintf(out,
          "  gpu cutoff --cpu-below=%" PRId64
          ": %s solve in %.3f ms, next best %.3f ms with --cpu-below=%" PRId64
          "; measured in %.2f s\n",
          best->below, mg_grid(c->n).text, 1e3 * best->seconds, 1e3 * next->seconds, next->below,
          c->seconds);
}

static void print_agglomeration_row(FILE *out, const mg_trial_row_t *row) {
  fprintf(out, "%.3f ms with %" PRId64 " (finest level on %" PRId64 " rank%s)", 1e3 * row->seconds,
          row->below, row->ranks, row->ranks == 1 ? "" : "s");
}

/* The chosen agglomeration, and the others. */
static void print_agglomeration(FILE *out, const mg_trials_t *a) {
  if (a->n_rows < 2) return;
  fprintf(out, "  agglomeration --agglomerate-below=%" PRId64 ": %s solve in ",
          a->row[a->best].below, mg_grid(a->n).text);
  print_agglomeration_row(out, &a->row[a->best]);
  for (int r = 0; r < a->n_rows; r++) {
    if (r == a->best) continue;
    fprintf(out, ", ");
    print_agglomeration_row(out, &a->row[r]);
  }
  fprintf(out, "; measured in %.2f s\n", a->seconds);
}

/* The size of the strips in which CPUs pass through a level. */
static void print_strips(FILE *out, const mg_strip_size_t *s) {
  if (s->source == MG_STRIPS_NONE) return;
  fprintf(out, "  strips    %s per thread, ", mg_bytes((double)s->bytes).text);
  if (s->n > 0)
    fprintf(out, "chosen from %d sizes up to %s; measured in %.3f s\n", s->n,
            mg_bytes((double)s->size[s->n - 1]).text, s->seconds);
  else
    fprintf(out, "%s\n",
            s->source == MG_STRIPS_CACHE ? "half of the last-level cache's share"
                                         : mg_strips_name(s->source));
}

void mg_report_print_choices(FILE *out, const mg_placement_t *placement) {
  print_gpu_cutoff(out, &placement->gpu_cutoff);
  print_agglomeration(out, &placement->agglomeration);
  print_strips(out, &placement->strips);
}
