/* The level hierarchy: sizes, boxes, ranks and placement, for 16^3 to 2^60 cells. */
#include "formulas/smoother.h"
#include "formulas/vectors.h"
#include "plan/plan_stats.h"
#include "tests/guard/guard.h"
#include "tests/lib/plan_case.h"
#include "tests/lib/random.h"
#include <stdlib.h>

static int64_t odd_part(int64_t n) {
  return n / (n & -n);
}

static void test_size_rule(void) {
  static const struct {
    int64_t boxes_per_rank, ranks;
    int32_t side;
  } known[] = {{1, 1, 1},     {7, 1, 1},     {8, 1, 2},     {26, 1, 2},
               {27, 1, 3},    {8, 2, 2},     {8, 8, 4},     {1, 27, 3},
               {1, 64, 4},    {1331, 1, 11}, {1728, 1, 12}, {2197, 1, 12},
               {2744, 1, 14}, {3375, 1, 14}, {4096, 1, 16}, {8, 1000000, 192}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    CHECK_INT(mg_plan_boxes_a_side(7, known[i].boxes_per_rank, known[i].ranks), known[i].side);
  /* The rule as documented: the largest size that satisfies both conditions. */
  for (int64_t boxes = 1; boxes <= 20000; boxes++) {
    int32_t side = 30;
    while (cube(side) > boxes || odd_part(side) > 11)
      side--;
    CHECK_INT(mg_plan_boxes_a_side(4, boxes, 1), side);
    CHECK_INT(mg_plan_boxes_a_side(4, 1, boxes), side);
    if (boxes % 7 == 0) CHECK_INT(mg_plan_boxes_a_side(4, boxes / 7, 7), side);
  }
}

/* The levels as words "boxes x width", finest first. */
static void levels_text(char *text, size_t size) {
  text[0] = '\0';
  for (int l = 0; l < plan.n_levels; l++) {
    const mg_layout_t *y = &plan.level[l].layout;
    const size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%lldx%d", l ? " " : "",
             (long long)mg_layout_n_boxes(y), y->box_dim);
  }
}

/* The examples of docs/algorithm.md, and others worked out by hand from its level rule. */
static void test_worked_examples(void) {
  static const struct {
    mg_operator_t op;
    boundary_t boundary;
    int log2, boxes, coarsest;
    const char *levels;
  } cases[] = {
      {MG_OPERATOR_FV2, WALLS, 7, 8, 1, "8x128 8x64 8x32 8x16 8x8 1x8 1x4 1x2 1x1"},
      {MG_OPERATOR_FV2, PERIODIC, 7, 8, 1, "8x128 8x64 8x32 8x16 8x8 1x8 1x4 1x2"},
      {MG_OPERATOR_FV4, WALLS, 7, 8, 1, "8x128 8x64 8x32 8x16 8x8 1x8 1x4 1x2"},
      {MG_OPERATOR_7PT, WALLS, 4, 27, 1, "27x16 27x8 27x4 27x2 1x3"},
      {MG_OPERATOR_FV4, PERIODIC, 4, 27, 1, "27x16 27x8 27x4 27x2 1x3"},
      {MG_OPERATOR_FV2, WALLS, 4, 1, 1, "1x16 1x8 1x4 1x2 1x1"},
      {MG_OPERATOR_FV2, WALLS, 4, 64, 1, "64x16 64x8 8x8 1x8 1x4 1x2 1x1"},
      {MG_OPERATOR_FV2, WALLS, 4, 125, 1, "125x16 125x8 125x4 125x2 1x5"},
      {MG_OPERATOR_FV2, WALLS, 5, 216, 1, "216x32 216x16 216x8 27x8 27x4 27x2 1x3"},
      {MG_OPERATOR_FV4, WALLS, 5, 1331, 1, "1331x32 1331x16 1331x8 1331x4 1331x2 1x11"},
      {MG_OPERATOR_FV2, WALLS, 4, 64, 8, "64x16 64x8 8x8 1x8"},
      {MG_OPERATOR_FV2, WALLS, 4, 64, 9, "64x16 64x8 8x8"},
      {MG_OPERATOR_FV2, WALLS, 4, 27, 4, "27x16 27x8 27x4 27x2"},
      {MG_OPERATOR_FV2, WALLS, 4, 1, 17, "1x16"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[512];
    set_size(cases[i].log2, cases[i].boxes);
    params.op = cases[i].op;
    set_boundary(cases[i].boundary);
    params.coarsest = cases[i].coarsest;
    CHECK_INT(build(1), MG_OK);
    levels_text(text, sizeof text);
    CHECK_STRING(text, cases[i].levels);
  }
}

/* Grids that are no cubes, worked out by hand: cells in i, j, k and the width of the boxes. */
static void test_bricks(void) {
  static const struct {
    mg_operator_t op;
    int log2;
    int32_t boxes[3], level[6][4];
    int n_levels;
  } cases[] = {
      {MG_OPERATOR_FV2,
       3,
       {3, 2, 5},
       {{24, 16, 40, 8}, {12, 8, 20, 4}, {6, 4, 10, 2}, {3, 2, 5, 1}},
       4},
      {MG_OPERATOR_FV4, 3, {3, 2, 5}, {{24, 16, 40, 8}, {12, 8, 20, 4}, {6, 4, 10, 2}}, 3},
      {MG_OPERATOR_FV2,
       4,
       {2, 4, 2},
       {{32, 64, 32, 16}, {16, 32, 16, 8}, {8, 16, 8, 8}, {4, 8, 4, 4}, {2, 4, 2, 2}, {1, 2, 1, 1}},
       6},
      {MG_OPERATOR_FV2, 2, {3, 3, 9}, {{12, 12, 36, 4}, {6, 6, 18, 2}, {3, 3, 9, 3}}, 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    for (int64_t ranks = 1; ranks <= 30; ranks++) {
      set_size(cases[i].log2, 1);
      params.op = cases[i].op;
      params.agglomerate_below = 0;
      memcpy(params.boxes, cases[i].boxes, sizeof params.boxes);
      CHECK_INT(build(ranks), MG_OK);
      CHECK_INT(plan.boxes_asked, mg_volume(cases[i].boxes));
      CHECK_INT(plan.n_levels, cases[i].n_levels);
      for (int l = 0; l < plan.n_levels; l++) {
        const mg_layout_t *y = &plan.level[l].layout;
        CHECK_INT(y->box_dim, cases[i].level[l][3]);
        CHECK(y->n_ranks >= 1 && y->n_ranks <= mg_layout_n_boxes(y));
        for (int d = 0; d < 3; d++) {
          CHECK_INT(y->n[d], cases[i].level[l][d]);
          CHECK_INT(y->boxes[d] * y->box_dim, y->n[d]);
        }
      }
    }
}

/* The next coarser grid, reimplemented. The first applicable rule of four decides. Coarsening
 * ends if none applies or if fewer than `smallest` cells per side would remain. */
static bool coarser(int32_t w, int32_t m, int radius, int32_t smallest, int32_t *w_c, int32_t *m_c,
                    int64_t *most_ranks) {
  const int64_t n = (int64_t)w * m, c = odd_part(n);
  *w_c = w;
  *m_c = m;
  *most_ranks = INT64_MAX;
  if (n % 2 == 1 || n < 2 * smallest) return false;
  const bool halves = w % 2 == 0 && w / 2 >= radius;
  if (halves && w > 8) {
    *w_c = w / 2;
  } else if (m % 2 == 0) {
    *m_c = m / 2;
  } else if (n == 2 * c && c > 1) {
    *w_c = (int32_t)c;
    *m_c = 1;
    *most_ranks = 1;
  } else if (halves) {
    *w_c = w / 2;
    if (c > 1) *most_ranks = n == 8 * c ? c * c : radius == 1 ? c : 1;
  } else {
    return false;
  }
  return true;
}

/* A level available to `ranks` ranks uses all of them, or fewer with one cuboid each. In that
 * case no rank has more boxes than the fullest of all `ranks` would have. */
static void check_ranks(const mg_layout_t *y, int64_t ranks) {
  const int64_t boxes = mg_layout_n_boxes(y), most = (boxes + ranks - 1) / ranks;
  CHECK(y->n_ranks >= 1 && y->n_ranks <= ranks);
  CHECK(y->n_ranks == ranks || (y->cuboids && y->n_ranks * most == boxes));
  if (y->n_ranks < ranks) CHECK_INT(mg_layout_largest_share(y), most);
  /* The curve is used only if cuboids are impossible. */
  mg_layout_t fewer = *y;
  fewer.n_ranks = boxes / most;
  fewer.cuboids = mg_cuboids_are_even(&fewer);
  const bool can = fewer.cuboids && mg_layout_largest_share(&fewer) == most;
  if (boxes % most == 0 && can) CHECK(y->cuboids);
}

/* All invariants between a level and the next coarser one. */
static void check_pair(const mg_level_plan_t *fine, const mg_level_plan_t *coarse, int radius,
                       int32_t smallest) {
  const mg_layout_t *f = &fine->layout, *c = &coarse->layout;
  const int64_t least = mg_place_is_cuda(coarse->place) ? 65536 : 4096;
  const int64_t below = params.agglomerate_below < 0 ? least : params.agglomerate_below,
                boxes = mg_layout_n_boxes(c), cells = mg_layout_n_cells(c);
  int32_t w, m;
  int64_t most;
  CHECK(coarser(f->box_dim, f->boxes[0], radius, smallest, &w, &m, &most));
  CHECK_INT(c->box_dim, w);
  CHECK_INT(c->boxes[0], m);
  CHECK(mg_doubles(f->n, c->n));
  /* Each rank has enough cells, or only one rank is left; no rank is dropped without need. */
  int64_t ranks = f->n_ranks < boxes ? f->n_ranks : boxes;
  if (most < ranks) ranks = most;
  if (ranks * below > cells) ranks = cells / below > 1 ? cells / below : 1;
  check_ranks(c, ranks);
  CHECK(fine->place >= coarse->place); /* guard, then CPU, never back */
  const bool crosses = fine->place != coarse->place;
  CHECK_INT(fine->nests_coarse,
            (!crosses || params.memory == MG_MEMORY_UNIFIED) && mg_layouts_nest(f, c));
  CHECK_INT(coarse->shared, crosses && fine->nests_coarse);
}

static void check_hierarchy(int64_t ranks) {
  const int radius = params.op == MG_OPERATOR_FV4 ? 2 : 1;
  const int failures = test_n_failures;
  int32_t smallest = mg_params_is_all_periodic(&params) ? 2 : 1, w, m;
  int64_t most;
  if (params.coarsest > smallest) smallest = params.coarsest;
  CHECK_INT(build(ranks), MG_OK);
  CHECK_STRING(message, "");
  CHECK(plan.n_levels >= 1 && plan.n_levels <= MG_MAX_LEVELS);
  CHECK_INT(plan.radius, radius);
  CHECK_INT(plan.boxes_asked, params.boxes_per_rank * ranks);
  const mg_layout_t *finest = &plan.level[0].layout;
  CHECK_INT(finest->box_dim, 1 << params.log2_box_dim);
  CHECK_INT(finest->boxes[0],
            mg_plan_boxes_a_side(params.log2_box_dim, params.boxes_per_rank, ranks));
  const int64_t boxes = mg_layout_n_boxes(finest);
  check_ranks(finest, ranks < boxes ? ranks : boxes);
  for (int l = 0; l < plan.n_levels; l++) {
    const mg_level_plan_t *level = &plan.level[l];
    const mg_layout_t *y = &level->layout;
    for (int d = 0; d < 3; d++)
      CHECK_INT(y->box_dim * y->boxes[d], y->n[0]);
    CHECK(y->box_dim >= radius && y->n[0] <= MG_MAX_DIM);
    CHECK_INT(y->world_ranks, ranks);
    const bool guard = params.device == MG_DEVICE_GUARD && mg_layout_n_cells(y) >= params.cpu_below;
    CHECK_INT(level->place, guard ? MG_PLACE_GUARD : MG_PLACE_CPU);
    const bool is_bottom = l + 1 == plan.n_levels, is_restricted = l == 1 || l == 2;
    const unsigned outer = params.krylov == MG_KRYLOV_CG && l <= 2 ? MG_VECTORS_OF_OUTER_KRYLOV : 0;
    /* Large levels on a CPU smooth in place, and compute 1 / diagonal, except in passes (with few
     * ghosts, see test_stored_diagonal). */
    const bool is_large = level->place == MG_PLACE_CPU && !is_bottom &&
                          params.op != MG_OPERATOR_FV4 &&
                          mg_layout_n_cells(y) / y->n_ranks >= MG_STORED_DINV_MAX_CELLS;
    const bool has_ghosts = y->n_ranks > 1 || mg_params_is_all_periodic(&params);
    const unsigned dinv = 1u << MG_DINV, either = level->resident && has_ghosts ? dinv : 0,
                   without = is_large ? (level->resident ? 0 : dinv) |
                                            (params.krylov == MG_KRYLOV_CG ? 0 : 1u << MG_TMP)
                                      : 0;
    CHECK_INT(level->vectors | either, (MG_VECTORS_EVERY_LEVEL & ~without) | either |
                                           (is_restricted ? 1u << MG_RESTRICTED_U : 0) | outer |
                                           (is_bottom ? MG_VECTORS_OF_KRYLOV : 0));
    if (is_bottom)
      CHECK(!level->nests_coarse &&
            !coarser(y->box_dim, y->boxes[0], radius, smallest, &w, &m, &most));
    else
      check_pair(level, level + 1, radius, smallest);
  }
  if (test_n_failures > failures && failures < TEST_MOST_SHOWN)
    fprintf(stderr, "  in %s, boundary %d, boxes of 2^%d, %lld a rank, %lld ranks\n",
            mg_operator_name(params.op), (int)mg_params_is_all_periodic(&params),
            params.log2_box_dim, (long long)params.boxes_per_rank, (long long)ranks);
}

/* True if the size fits into the largest grid. */
static bool is_small_enough(int log2, int64_t boxes_per_rank, int64_t ranks) {
  const int64_t boxes = mg_plan_boxes_a_side(log2, boxes_per_rank, ranks);
  const int64_t share = (cube(boxes) + ranks - 1) / ranks;
  return boxes << log2 <= MG_MAX_DIM && share <= (int64_t)1 << (MG_MAX_LOG2_SHARE - 3 * log2);
}

static void test_many_sizes(void) {
  static const int64_t few[] = {1, 2, 8, 13, 27, 64, 125, 343, 729, 1000, 1331, 123456};
  static const int64_t many_ranks[] = {100, 1000, 65536, 1000000, 1000000000};
  random_t r = {1};
  int n_sizes = 0;
  for (int64_t i = 1; i <= 69; i++)
    for (int log2 = 4; log2 <= 10; log2++)
      for (int b = 0; b < 12; b++) {
        const int64_t ranks = i <= 64 ? i : many_ranks[i - 65];
        if (!is_small_enough(log2, few[b], ranks)) continue;
        set_size(log2, few[b]);
        params.op = (mg_operator_t)random_int(&r, MG_OPERATOR_FV2, MG_OPERATOR_7PT);
        set_boundary((boundary_t)random_int(&r, 0, 1));
        if (random_int(&r, 0, 3) == 0) params.coarsest = (int)random_int(&r, 1, 100);
        if (random_int(&r, 0, 1)) params.agglomerate_below = random_int(&r, 0, 100000);
        if (random_int(&r, 0, 1)) params.device = MG_DEVICE_GUARD;
        if (random_int(&r, 0, 1)) params.memory = MG_MEMORY_UNIFIED;
        if (random_int(&r, 0, 1)) params.cpu_below = cube(random_int(&r, 1, 1000));
        if (random_int(&r, 0, 1)) params.krylov = MG_KRYLOV_CG;
        check_hierarchy(ranks);
        n_sizes++;
      }
  CHECK(n_sizes > 5000);
}

/* Rejected sizes: the message names the largest size that works, and the next larger one fails. */
static void test_impossible_sizes(void) {
  static const struct {
    int log2;
    int64_t boxes_per_rank, ranks;
    const char *why;
  } cases[] = {
      {10, 1000000000000, 1000000000, "2^20 cells per side"},
      {10, 2, 1000000000, "2^20 cells per side"},
      {10, 17179869184, 1073741824, "2^20 cells per side"}, /* 2^64 boxes are not 0 */
      {10, 1000000000000, 1000000, "2^20 cells per side"},
      {10, 1000000000000, 1000, "2^20 cells per side"},
      {4, 1000000000, 1000000, "2^20 cells per side"},
      {7, 1000000000000, 7, "2^20 cells per side"},
      {10, 1073741824, 1, "2^53 cells per rank"},
      {10, 11239424, 1, "2^53 cells per rank"}, /* 224^3 * 2^30 cells; 192^3 * 2^30 are fewer */
      {10, 16777216, 2, "2^53 cells per rank"},
      {7, 10000000000, 1, "2^53 cells per rank"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    set_size(cases[i].log2, cases[i].boxes_per_rank);
    CHECK_INT(build(cases[i].ranks), MG_ERR_USAGE);
    CHECK_CONTAINS(message, cases[i].why);
    CHECK(strchr(message, '\n') == NULL);
    static const char words[] = "the largest valid BOXES_PER_RANK is ";
    CHECK_CONTAINS(message, words);
    const char *at = strstr(message, words);
    if (!at) continue;
    params.boxes_per_rank = strtoll(at + strlen(words), NULL, 10);
    CHECK(params.boxes_per_rank >= 1 && params.boxes_per_rank < cases[i].boxes_per_rank);
    check_hierarchy(cases[i].ranks);
    params.boxes_per_rank++;
    CHECK_INT(build(cases[i].ranks), MG_ERR_USAGE);
  }
}

/* The largest grid: 2^60 cells in 21 levels. The largest share of a rank: 2^53 cells. */
static void test_largest_grids(void) {
  set_size(10, 1 << 23);
  check_hierarchy(16);
  CHECK_INT(cube(plan.level[0].layout.n[0]) / 16, (int64_t)1 << 53);
  set_size(10, 1);
  check_hierarchy(1 << 30);
  CHECK_INT(plan.level[0].layout.n[0], 1 << 20);
  CHECK_INT(plan.level[0].layout.n_ranks, 1 << 30);
  CHECK_INT(plan.n_levels, 21);
  CHECK_INT(plan.level[20].layout.n[0], 1);
}

/* If ranks are idle, the plan suggests other rank counts. The smaller keeps the grid; the larger
 * yields the next larger grid on which all ranks have cells. */
static void test_useful_ranks(void) {
  static const int64_t boxes_per_rank[] = {1, 3, 8, 27};
  for (size_t b = 0; b < sizeof boxes_per_rank / sizeof boxes_per_rank[0]; b++)
    for (int64_t ranks = 1; ranks <= 70; ranks++) {
      int64_t below, above;
      set_size(4, boxes_per_rank[b]);
      CHECK_INT(build(ranks), MG_OK);
      const int32_t n = plan.level[0].layout.n[0];
      int64_t with_cells = 0;
      for (int64_t rank = 0; rank < ranks; rank++)
        with_cells += mg_layout_share(&plan.level[0].layout, rank) > 0;
      CHECK_INT(mg_plan_idle_ranks(&plan), ranks - with_cells);
      mg_plan_useful_ranks(&params, &plan, &below, &above);
      CHECK_INT(below, with_cells);
      CHECK_INT(build(below), MG_OK);
      CHECK_INT(plan.level[0].layout.n[0], n);
      CHECK_INT(mg_plan_idle_ranks(&plan), 0);
      for (int64_t more = ranks + 1; more < above; more++) {
        CHECK_INT(build(more), MG_OK);
        CHECK(plan.level[0].layout.n[0] == n || mg_plan_idle_ranks(&plan) > 0);
      }
      CHECK_INT(build(above), MG_OK);
      CHECK(plan.level[0].layout.n[0] > n);
      CHECK_INT(mg_plan_idle_ranks(&plan), 0);
    }
  /* No suggestion exceeds the largest grid, and a file fixes the grid. */
  int64_t below, above;
  set_size(10, 1);
  CHECK_INT(build(1073741824), MG_OK);
  mg_plan_useful_ranks(&params, &plan, &below, &above);
  CHECK_INT(above, 0);
  set_size(4, 1);
  snprintf(params.rhs, sizeof params.rhs, "f.hdf");
  CHECK_INT(build(7), MG_OK);
  mg_plan_useful_ranks(&params, &plan, &below, &above);
  CHECK_INT(below, 1);
  CHECK_INT(above, 0);
}

/* Passes on large levels of a CPU store 1 / diagonal, unless ghosts need too much memory; single
 * sweeps do not. */
static void test_stored_diagonal(void) {
  static const struct {
    int log2, boxes, ranks, steps_per_pass;
    boundary_t boundary;
    bool resident, stored;
  } cases[] = {
      {6, 8, 1, MG_MAX_STEPS_PER_PASS, WALLS, true, true},
      {6, 8, 1, 1, WALLS, false, false},
      {6, 4, 2, MG_MAX_STEPS_PER_PASS, WALLS, true, true},
      {7, 1, 8, MG_MAX_STEPS_PER_PASS, WALLS, true, false},
      {8, 1, 8, MG_MAX_STEPS_PER_PASS, WALLS, true, true},
      {6, 8, 1, MG_MAX_STEPS_PER_PASS, PERIODIC, true, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    set_size(cases[i].log2, cases[i].boxes);
    params.op = MG_OPERATOR_FV2;
    set_boundary(cases[i].boundary);
    params.steps_per_pass = cases[i].steps_per_pass;
    CHECK_INT(build(cases[i].ranks), MG_OK);
    CHECK_INT(plan.level[0].resident, cases[i].resident);
    CHECK_INT((plan.level[0].vectors & 1u << MG_DINV) != 0, cases[i].stored);
  }
}

int main(void) {
  guard_provide();
  test_useful_ranks();
  test_size_rule();
  test_worked_examples();
  test_bricks();
  test_many_sizes();
  test_impossible_sizes();
  test_largest_grids();
  test_stored_diagonal();
  return TEST_RESULT();
}
