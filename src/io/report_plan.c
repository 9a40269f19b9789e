#include "report.h"
#include <inttypes.h>
#include <stdlib.h>

/* Bytes of a level over the ranks that were looked at. */
typedef struct {
  int64_t min, max, ranks;
  double sum;
} spread_t;

static void spread_add(spread_t *s, int64_t bytes) {
  s->min = s->ranks == 0 || bytes < s->min ? bytes : s->min;
  s->max = bytes > s->max ? bytes : s->max;
  s->sum += (double)bytes;
  s->ranks++;
}

/* Ranks to look at: all of them, or an even sample where that would take longer than people wait.
 * The time of a rank grows with the number of its patches, some 0.1 ms each. */
static mg_status_t sample_size(const mg_plan_t *plan, int64_t ranks, int64_t *sample) {
  const int64_t most_patches = 2500;
  mg_level_bytes_t bytes;
  MG_TRY(mg_plan_bytes(plan, 0, ranks / 2, &bytes));
  *sample = most_patches / (bytes.n_patches + 1) + 1;
  if (*sample > ranks) *sample = ranks;
  return MG_OK;
}

mg_status_t mg_report_dry_run(FILE *out, const mg_params_t *params, const mg_plan_t *plan,
                              int64_t ranks) {
  const mg_layout_t *fine = &plan->level[0].layout;
  const double cells = (double)fine->n * fine->n * fine->n;
  int64_t sample;
  MG_TRY(sample_size(plan, ranks, &sample));
  spread_t level[MG_MAX_LEVELS] = {{0, 0, 0, 0.0}}, total = {0, 0, 0, 0.0};
  for (int64_t s = 0; s < sample; s++) {
    const int64_t rank = sample == 1 ? 0 : (int64_t)((__int128)s * (ranks - 1) / (sample - 1));
    int64_t sum = 0;
    for (int l = 0; l < plan->n_levels; l++) {
      mg_level_bytes_t bytes;
      MG_TRY(mg_plan_bytes(plan, l, rank, &bytes));
      const int64_t here = bytes.vectors + bytes.images + bytes.buffers;
      if (bytes.boxes > 0) spread_add(&level[l], here);
      sum += here;
    }
    spread_add(&total, sum);
  }
  fprintf(out, "dry run: %s, %s, %s on %" PRId64 " ranks; nothing is allocated or solved\n",
          mg_operator_name(params->op), mg_equation_name(params->equation),
          mg_boundary_name(params->boundary), ranks);
  fprintf(out, "  grid %d^3 = %.6g cells in %d^3 boxes of %d^3", fine->n, cells, fine->boxes,
          fine->box_dim);
  if (mg_layout_n_boxes(fine) != plan->boxes_asked)
    fprintf(out, " (%" PRId64 " boxes were asked for)", plan->boxes_asked);
  fprintf(out, "\n\n  level        grid      boxes     box       ranks  place  boxes/rank   "
               "MB/rank: min        mean         max\n");
  for (int l = 0; l < plan->n_levels; l++) {
    const mg_layout_t *y = &plan->level[l].layout;
    const int64_t boxes = mg_layout_n_boxes(y), most = (boxes + y->n_ranks - 1) / y->n_ranks;
    fprintf(out, "  %5d  %8d^3 %8d^3 %5d^3 %11" PRId64 "  %-5s %11" PRId64, l, y->n, y->boxes,
            y->box_dim, y->n_ranks, mg_place_name(plan->level[l].place), most);
    const double scale = 1e-6;
    fprintf(out, " %14.3f %11.3f %11.3f\n", scale * (double)level[l].min,
            level[l].ranks ? scale * level[l].sum / (double)level[l].ranks : 0.0,
            scale * (double)level[l].max);
  }
  if (params->cpu_below == MG_CPU_BELOW_AUTO && plan->level[0].place == MG_PLACE_CUDA)
    fprintf(out,
            "\n  (a run measures which levels to leave to the CPU; --cpu-below=CELLS says it)\n");
  fprintf(out, "\n  in all, MB a rank: min %.3f, mean %.3f, max %.3f", 1e-6 * (double)total.min,
          1e-6 * total.sum / (double)total.ranks, 1e-6 * (double)total.max);
  if (sample < ranks) fprintf(out, " (over %" PRId64 " ranks, evenly spread)", sample);
  fprintf(out, "\n  in all ranks: about %.3f GB, %.1f bytes a cell\n",
          1e-9 * total.sum / (double)total.ranks * (double)ranks,
          total.sum / (double)total.ranks * (double)ranks / cells);
  return MG_OK;
}
