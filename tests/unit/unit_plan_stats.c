/* Rank statistics of a dry run. For few ranks they equal a full count. For many ranks they come
 * from a sample, which also includes the levels that live on few ranks. */
#include "plan/copy_plan.h"
#include "plan/plan_stats.h"
#include "tests/lib/plan_case.h"
#include <stdint.h>
#include <stdlib.h>

static mg_plan_stats_t stats;

static void look(int64_t ranks, int log2_box_dim, int64_t boxes_per_rank, bool messages) {
  params.log2_box_dim = log2_box_dim;
  params.boxes_per_rank = boxes_per_rank;
  CHECK_INT(build(ranks), MG_OK);
  CHECK_STRING(message, "");
  CHECK_INT(mg_plan_stats_collect(&plan, &params, ranks, messages, &stats), MG_OK);
  CHECK_INT(stats.n_ranks, ranks);
}

/* The most that any rank of a level sends in an exchange, of face ghosts only or of all ghosts. */
static void count_messages(int l, int64_t ranks, bool faces, int64_t *messages, int64_t *doubles) {
  const mg_layout_t *y = &plan.level[l].layout;
  *messages = *doubles = 0;
  for (int64_t rank = 0; rank < ranks; rank++) {
    if (mg_layout_share(y, rank) == 0) continue;
    const mg_copy_spec_t spec = {.src = {.layout = y},
                                 .dst = {.layout = y},
                                 .depth = plan.radius,
                                 .faces = faces,
                                 .face_dir = -1,
                                 .periodic = {mg_params_is_periodic(&params, 0),
                                              mg_params_is_periodic(&params, 1),
                                              mg_params_is_periodic(&params, 2)}};
    mg_copy_plan_t copies;
    CHECK_INT(mg_copy_plan_build(&spec, rank, &copies), MG_OK);
    *messages = copies.n_send > *messages ? copies.n_send : *messages;
    *doubles = copies.send_values > *doubles ? copies.send_values : *doubles;
    mg_copy_plan_free(&copies);
  }
}

/* Compute every statistic of a level by counting. */
static void count_level(int l, int64_t ranks, int64_t *all) {
  const mg_layout_t *y = &plan.level[l].layout;
  const mg_level_stats_t *s = &stats.level[l];
  int64_t boxes = 0, messages, doubles, holders = 0, least = INT64_MAX, most = 0, sum = 0;
  int patches_max = 0;
  for (int64_t rank = 0; rank < ranks; rank++) {
    const int64_t share = mg_layout_share(y, rank), bytes = bytes_of(l, rank);
    all[rank] += bytes;
    if (share == 0) continue;
    mg_cuboid_t *patches;
    int n_patches;
    CHECK_INT(mg_layout_patches(y, rank, &patches, &n_patches), MG_OK);
    free(patches);
    patches_max = n_patches > patches_max ? n_patches : patches_max;
    boxes = share > boxes ? share : boxes;
    least = bytes < least ? bytes : least;
    most = bytes > most ? bytes : most;
    sum += bytes;
    holders++;
  }
  CHECK_INT(s->boxes_per_rank_max, boxes);
  CHECK_NEAR(s->imbalance, (double)boxes / ((double)mg_layout_n_boxes(y) / (double)holders), 1e-12);
  CHECK_INT(s->patches_max, patches_max);
  CHECK_INT(s->bytes.n_ranks, holders);
  CHECK_INT(s->bytes.min, least);
  CHECK_INT(s->bytes.max, most);
  CHECK(s->bytes.sum == (double)sum);
  CHECK_INT(s->n_message_ranks, holders);
  count_messages(l, ranks, false, &messages, &doubles);
  CHECK_INT(s->messages_max, messages);
  CHECK_INT(s->message_doubles_max, doubles);
  count_messages(l, ranks, true, &messages, &doubles);
  CHECK_INT(s->face_messages_max, messages);
  CHECK_INT(s->face_message_doubles_max, doubles);
}

static void check_few(const char *what, int64_t ranks, int log2_box_dim, int64_t boxes_per_rank) {
  enum { MOST_RANKS = 16 };
  int64_t all[MOST_RANKS] = {0}, sum = 0;
  const int failures = test_n_failures;
  look(ranks, log2_box_dim, boxes_per_rank, true);
  for (int l = 0; l < plan.n_levels; l++)
    count_level(l, ranks, all);
  CHECK_INT(stats.bytes.n_ranks, ranks);
  for (int64_t rank = 0; rank < ranks; rank++) {
    CHECK(stats.bytes.min <= all[rank] && all[rank] <= stats.bytes.max);
    sum += all[rank];
  }
  CHECK(mg_plan_stats_bytes(&stats) == (double)sum);
  if (test_n_failures > failures) fprintf(stderr, "  in %s\n", what);
}

/* Levels on all ranks, on few and on one; along the curve and in cuboids. */
static void test_few(void) {
  mg_params_defaults(&params);
  check_few("1 rank", 1, 4, 27);
  check_few("2 ranks", 2, 4, 4);
  check_few("3 ranks", 3, 4, 3);
  check_few("9 ranks", 9, 4, 8);
  check_few("16 ranks", 16, 5, 4);
  params.op = MG_OPERATOR_FV4;
  set_boundary(PERIODIC);
  params.agglomerate_below = 0;
  check_few("7 ranks, all on every level", 7, 4, 4);
  check_few("12 ranks, all on every level", 12, 4, 18);
}

/* A sample of a million ranks; printing the text needs no messages. */
static void test_many(void) {
  const int64_t ranks = 1000000;
  mg_params_defaults(&params);
  look(ranks, 7, 8, true);
  double bytes = 0.0;
  for (int l = 0; l < plan.n_levels; l++) {
    const mg_layout_t *y = &plan.level[l].layout;
    const mg_level_stats_t *s = &stats.level[l];
    CHECK(s->bytes.n_ranks >= 1 && s->bytes.n_ranks <= y->n_ranks && s->bytes.n_ranks <= 10000);
    CHECK(s->n_message_ranks >= 1 && s->n_message_ranks <= y->n_ranks);
    CHECK(s->bytes.n_ranks == y->n_ranks || s->bytes.n_ranks > 100);
    CHECK(s->bytes.min > 0 && s->bytes.min <= s->bytes.max);
    CHECK((y->n_ranks > 1) == (s->messages_max > 0));
    if (y->cuboids) CHECK(s->messages_max <= 26);
    /* The finest level's boxes form whole 2^3 blocks, one for each of 96^3 ranks. */
    if (y->boxes[0] == 192) CHECK(y->n_ranks == 884736 && s->imbalance == 1.0);
    bytes += mg_tally_mean(&s->bytes) * (double)y->n_ranks;
  }
  CHECK(stats.bytes.n_ranks < ranks);
  /* Some owners of coarse cells hold no cells of the finer level. */
  CHECK_NEAR(mg_plan_stats_bytes(&stats) / bytes, 1.0, 1e-3);
  look(ranks, 7, 8, false);
  for (int l = 0; l < plan.n_levels; l++)
    CHECK(stats.level[l].messages_max == 0 && stats.level[l].n_message_ranks == 0);
}

/* Thousands of ranks are sampled, yet the sums match all ranks. This also holds where the few
 * owners of coarse cells hold most of the message buffers. */
static void test_sum(int64_t ranks, int log2_box_dim, int64_t boxes_per_rank, int64_t below) {
  mg_params_defaults(&params);
  params.agglomerate_below = below;
  look(ranks, log2_box_dim, boxes_per_rank, false);
  CHECK(stats.bytes.n_ranks < ranks);
  /* The sample does not know how many ranks are at walls, where patches have fewer ghosts. */
  const double accuracy = 0.01;
  double all = 0.0;
  for (int l = 0; l < plan.n_levels; l++) {
    const mg_level_stats_t *s = &stats.level[l];
    double sum = 0.0;
    for (int64_t rank = 0; rank < ranks; rank++)
      sum += (double)bytes_of(l, rank);
    CHECK_NEAR(s->bytes_in_all / sum, 1.0, accuracy);
    if (s->bytes.n_ranks < plan.level[l].layout.n_ranks)
      CHECK_NEAR(mg_tally_mean(&s->bytes) * (double)plan.level[l].layout.n_ranks / s->bytes_in_all,
                 1.0, 1e-12);
    all += sum;
  }
  CHECK_NEAR(mg_plan_stats_bytes(&stats) / all, 1.0, accuracy);
  CHECK_NEAR(mg_tally_mean(&stats.bytes) * (double)ranks / all, 1.0, accuracy);
}

int main(void) {
  test_few();
  test_sum(4000, 4, 8, 0);
  test_sum(4000, 4, 8, MG_AGGLOMERATE_AUTO);
  test_sum(4000, 4, 8, 100000);
  test_sum(4000, 4, 8, 1000000000);
  test_sum(3000, 5, 7, 1000000000);
  test_many();
  return TEST_RESULT();
}
