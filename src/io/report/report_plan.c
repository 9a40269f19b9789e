#include "base/log.h"
#include "io/report/report_wings.h"
#include "plan/path_facts.h"
#include "plan/plan_stats.h"
#include "wings.h"
#include <inttypes.h>

static void print_levels(FILE *out, const mg_report_t *r) {
  bool any_resident = false;
  fprintf(out, "\n  level        grid      boxes     box       ranks  place  steps/pass  boxes/rank"
               "   memory/rank: min        mean         max  path\n");
  for (int l = 0; l < r->plan->n_levels; l++) {
    const mg_level_plan_t *level = &r->plan->level[l];
    const mg_layout_t *y = &level->layout;
    const mg_level_stats_t *s = &r->stats->level[l];
    char steps[16] = "resident";
    if (!level->resident) snprintf(steps, sizeof steps, "%d", level->steps_per_pass);
    any_resident = any_resident || (level->resident && level->place == MG_PLACE_CUDA);
    fprintf(out, "  %5d  %10s %10s %7s %11" PRId64 "  %-5s %11s %11" PRId64, l, mg_grid(y->n).text,
            mg_grid(y->boxes).text, mg_report_box(y).text, y->n_ranks, mg_place_name(level->place),
            steps, s->boxes_per_rank_max);
    fprintf(out, " %18s %11s %11s  %s\n", mg_bytes((double)s->bytes.min).text,
            mg_bytes(mg_tally_mean(&s->bytes)).text, mg_bytes((double)s->bytes.max).text,
            mg_level_path(level)->name);
  }
  if (any_resident)
    fprintf(out, "\n  (resident: a smooth in one launch; planned for GPUs with %d SMs)\n",
            r->params->gpu.sms);
}

void mg_report_idle_ranks(FILE *out, const mg_params_t *params, const mg_plan_t *plan) {
  const int64_t idle = mg_plan_idle_ranks(plan), ranks = plan->level[0].layout.world_ranks;
  int64_t below, above;
  if (idle == 0) return;
  mg_plan_useful_ranks(params, plan, &below, &above);
  fprintf(out,
          "  warning   %" PRId64 " of %" PRId64 " ranks hold%s no cells%s; use %" PRId64
          " rank%s for this grid",
          idle, ranks, idle == 1 ? "s" : "",
          params->finest_ranks > 0 ? ", which was measured to be faster" : "", below,
          below == 1 ? "" : "s");
  if (above > 0) {
    const int32_t m = mg_plan_boxes_a_side(params->log2_box_dim, params->boxes_per_rank, above);
    fprintf(out, ", or %" PRId64 " ranks for %d^3", above, m << params->log2_box_dim);
  }
  fprintf(out, "\n");
}

static void print_plan(FILE *out, const mg_report_t *r) {
  const mg_params_t *p = r->params;
  const mg_layout_t *fine = &r->plan->level[0].layout;
  const mg_tally_t *bytes = &r->stats->bytes;
  const int64_t cells = mg_layout_n_cells(fine);
  const double all = mg_plan_stats_bytes(r->stats);
  fprintf(out, "dry run: %s, %s, %s%s on %" PRId64 " rank%s; nothing is allocated or solved\n",
          mg_operator_name(p->op), mg_equation_name(p->equation), mg_boundary_text(p).text,
          p->precision == MG_CLASS_MIXED ? ", mixed precision," : "", r->stats->n_ranks,
          r->stats->n_ranks == 1 ? "" : "s");
  fprintf(out, "  grid %s = %" PRId64 " cells in %s boxes of %s", mg_grid(fine->n).text, cells,
          mg_grid(fine->boxes).text, mg_report_box(fine).text);
  if (mg_layout_n_boxes(fine) != r->plan->boxes_asked)
    fprintf(out, " (%" PRId64 " boxes requested)", r->plan->boxes_asked);
  fprintf(out, "\n");
  if (mg_params_has_cells(p))
    fprintf(out, "  domain %g x %g x %g\n", p->length[0], p->length[1], p->length[2]);
  mg_report_print_problem(out, p, r->input);
  mg_report_idle_ranks(out, p, r->plan);
  print_levels(out, r);
  MG_IF_CHOICES(
      if (p->cpu_below == MG_CPU_BELOW_AUTO && r->plan->level[0].place == MG_PLACE_CUDA)
          fprintf(out, "\n  (a run measures the gpu cutoff; --cpu-below=CELLS sets it)\n");
      if (p->agglomerate_below == MG_AGGLOMERATE_AUTO && mg_agglomeration_is_measured(r->plan))
          fprintf(out,
                  "\n  (a run measures the agglomeration; --agglomerate-below=CELLS sets it)\n"));
  fprintf(out, "\n  per rank, all levels: min %s, mean %s, max %s",
          mg_bytes((double)bytes->min).text, mg_bytes(mg_tally_mean(bytes)).text,
          mg_bytes((double)bytes->max).text);
  if (bytes->n_ranks < r->stats->n_ranks)
    fprintf(out, " (from a sample of %" PRId64 " ranks)", bytes->n_ranks);
  fprintf(out, "\n  in all ranks: about %s, %.1f bytes per cell\n", mg_bytes(all).text,
          all / (double)cells);
}

mg_status_t mg_report_dry_run(const mg_params_t *params, const mg_plan_t *plan,
                              const mg_input_t *input, const char *command_line) {
  static mg_plan_stats_t stats;
  const mg_report_t report = {.params = params,
                              .plan = plan,
                              .input = input,
                              .command_line = command_line,
                              .stats = &stats};
  const int64_t ranks = plan->level[0].layout.world_ranks;
  FILE *out = mg_report_text(params);
  MG_IF_FILES(MG_TRY(mg_report_check_outputs(params)));
  MG_TRY(MG_ON_ROOT(mg_plan_stats_collect(plan, params, ranks, params->json[0] != '\0', &stats)));
  if (out) print_plan(out, &report);
  MG_IF_FILES(return mg_report_write_files(&report));
  return MG_OK;
}
