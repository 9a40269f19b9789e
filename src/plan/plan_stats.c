#include "plan/plan_stats.h"
#include "plan/copy_plan.h"
#include <math.h>
#include <string.h>

static void tally_add(mg_tally_t *t, int64_t bytes) {
  t->min = t->n_ranks == 0 || bytes < t->min ? bytes : t->min;
  t->max = bytes > t->max ? bytes : t->max;
  t->sum += (double)bytes;
  t->n_ranks++;
}

/* Element i of `sample` evenly spaced numbers below n; all numbers if sample == n. */
static int64_t spread(int64_t i, int64_t sample, int64_t n) {
  return sample == 1 ? 0 : (int64_t)((__int128)i * (n - 1) / (sample - 1));
}

static int64_t min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static mg_status_t bytes_of(const mg_plan_t *plan, int l, int64_t rank, int64_t *bytes,
                            int *n_patches) {
  mg_level_bytes_t b;
  MG_TRY(mg_plan_bytes(plan, l, rank, &b));
  *bytes = b.vectors + b.images + b.buffers;
  *n_patches = b.n_patches;
  return MG_OK;
}

/* Number of patches of the middle rank among the ranks that hold boxes. */
static mg_status_t typical_patches(const mg_plan_t *plan, int l, int *n_patches) {
  const mg_layout_t *layout = &plan->level[l].layout;
  int64_t bytes;
  return bytes_of(plan, l, mg_layout_rank(layout, layout->n_ranks / 2), &bytes, n_patches);
}

/* Computing the bytes of a rank takes about 0.1 ms per patch. */
static int64_t bytes_sample(double n_patches) {
  return (int64_t)(2500.0 / (n_patches + 1.0)) + 1;
}

/* Computing the messages of a rank takes about 0.5 ms per patch, since the patches of all
 * neighbors are needed. The search for owners along box edges adds about 0.5 ms per 1000 boxes
 * per side. */
static int64_t messages_sample(double n_patches, int64_t boxes) {
  const double side = cbrt((double)boxes);
  const int64_t min_sample = 4, sample = (int64_t)(60.0 / (n_patches + 1e-3 * side));
  return sample > min_sample ? sample : min_sample;
}

static mg_status_t add_exchange(const mg_copy_spec_t *halo, int64_t rank, int64_t *messages_max,
                                int64_t *doubles_max) {
  mg_copy_plan_t copies;
  MG_TRY(mg_copy_plan_build(halo, rank, &copies));
  if (copies.n_send > *messages_max) *messages_max = copies.n_send;
  if (copies.send_values > *doubles_max) *doubles_max = copies.send_values;
  mg_copy_plan_free(&copies);
  return MG_OK;
}

static mg_status_t collect_messages(const mg_plan_t *plan, int l, const bool periodic[3],
                                    int64_t sample, mg_level_stats_t *s) {
  const mg_layout_t *layout = &plan->level[l].layout;
  const mg_copy_spec_t halo = mg_copy_halo(layout, plan->radius, periodic);
  mg_copy_spec_t faces = halo;
  faces.faces = true;
  for (int64_t i = 0; i < sample; i++) {
    const int64_t rank = mg_layout_rank(layout, spread(i, sample, layout->n_ranks));
    MG_TRY(add_exchange(&halo, rank, &s->messages_max, &s->message_doubles_max));
    MG_TRY(add_exchange(&faces, rank, &s->face_messages_max, &s->face_message_doubles_max));
  }
  s->n_message_ranks = sample;
  return MG_OK;
}

/* The owners of the next coarser level's cells have buffers for all of them, and may be few of
 * this level's ranks. They are evaluated separately: in the mean of a sample they would also
 * stand for ranks that are not sampled. */
static mg_status_t collect_coarse_end(const mg_plan_t *plan, int l, mg_level_stats_t *s,
                                      double *total) {
  int typical;
  *total = 0.0;
  if (l + 1 == plan->n_levels || plan->level[l].nests_coarse) return MG_OK;
  const mg_layout_t *coarse = &plan->level[l + 1].layout;
  MG_TRY(typical_patches(plan, l + 1, &typical));
  const int64_t sample = min64(bytes_sample(typical), coarse->n_ranks);
  for (int64_t i = 0; i < sample; i++) {
    mg_level_bytes_t b;
    MG_TRY(mg_plan_bytes(plan, l, mg_layout_rank(coarse, spread(i, sample, coarse->n_ranks)), &b));
    const int64_t bytes = b.vectors + b.images + b.buffers;
    if (b.boxes > 0 && bytes > s->bytes.max) s->bytes.max = bytes;
    *total += (double)b.coarse_buffers * (double)coarse->n_ranks / (double)sample;
  }
  return MG_OK;
}

/* n_patches: mean over the ranks that hold boxes. */
static mg_status_t collect_level(const mg_plan_t *plan, int l, mg_level_stats_t *s,
                                 double *n_patches) {
  const mg_layout_t *layout = &plan->level[l].layout;
  s->boxes_per_rank_max = mg_layout_largest_share(layout);
  s->imbalance =
      (double)s->boxes_per_rank_max * (double)layout->n_ranks / (double)mg_layout_n_boxes(layout);
  int typical;
  double own = 0.0, coarse_buffers;
  MG_TRY(typical_patches(plan, l, &typical));
  const int64_t sample = min64(bytes_sample(typical), layout->n_ranks);
  *n_patches = 0.0;
  for (int64_t i = 0; i < sample; i++) {
    mg_level_bytes_t b;
    MG_TRY(mg_plan_bytes(plan, l, mg_layout_rank(layout, spread(i, sample, layout->n_ranks)), &b));
    tally_add(&s->bytes, b.vectors + b.images + b.buffers);
    own += (double)(b.vectors + b.images + b.buffers - b.coarse_buffers);
    *n_patches += (double)b.n_patches / (double)sample;
    if (b.n_patches > s->patches_max) s->patches_max = b.n_patches;
  }
  MG_TRY(collect_coarse_end(plan, l, s, &coarse_buffers));
  s->bytes_in_all = own * (double)layout->n_ranks / (double)sample + coarse_buffers;
  if (sample < layout->n_ranks)
    s->bytes.sum = s->bytes_in_all * (double)sample / (double)layout->n_ranks;
  return MG_OK;
}

static mg_status_t collect_ranks(const mg_plan_t *plan, int64_t sample, mg_plan_stats_t *stats) {
  for (int64_t i = 0; i < sample; i++) {
    int64_t sum = 0, bytes;
    int n_patches;
    for (int l = 0; l < plan->n_levels; l++) {
      MG_TRY(bytes_of(plan, l, spread(i, sample, stats->n_ranks), &bytes, &n_patches));
      sum += bytes;
    }
    tally_add(&stats->bytes, sum);
  }
  if (sample < stats->n_ranks)
    stats->bytes.sum = mg_plan_stats_bytes(stats) * (double)sample / (double)stats->n_ranks;
  return MG_OK;
}

mg_status_t mg_plan_stats_collect(const mg_plan_t *plan, const mg_params_t *params, int64_t ranks,
                                  bool messages, mg_plan_stats_t *stats) {
  bool periodic[3];
  for (int d = 0; d < 3; d++)
    periodic[d] = mg_params_is_periodic(params, d);
  memset(stats, 0, sizeof *stats);
  stats->n_ranks = ranks;
  int64_t sample = ranks;
  for (int l = 0; l < plan->n_levels; l++) {
    mg_level_stats_t *s = &stats->level[l];
    double n_patches;
    MG_TRY(collect_level(plan, l, s, &n_patches));
    sample = min64(sample, bytes_sample(n_patches));
    if (!messages) continue;
    const int64_t few = messages_sample(n_patches, s->boxes_per_rank_max);
    MG_TRY(collect_messages(plan, l, periodic, min64(few, plan->level[l].layout.n_ranks), s));
  }
  return collect_ranks(plan, sample, stats);
}

double mg_plan_stats_bytes(const mg_plan_stats_t *s) {
  if (s->bytes.n_ranks == s->n_ranks) return s->bytes.sum;
  double bytes = 0.0;
  for (int l = 0; l < MG_MAX_LEVELS; l++)
    bytes += s->level[l].bytes_in_all;
  return bytes;
}
