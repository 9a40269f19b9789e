/* Layouts of grids of any size: parts of ranks cover the grid once, begin at even cells and are
 * balanced; coarser levels have the parts of the finer ones where they can. Directions are
 * coarsened until the cells have similar widths. */
#include "formulas/transfer.h"
#include "plan/domain_plan.h"
#include "plan/plan.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static random_t numbers = {37};

static mg_cuboid_t part_of(const mg_layout_t *layout, int64_t rank) {
  mg_cuboid_t *patch, c = {{0, 0, 0}, {0, 0, 0}};
  int n;
  CHECK_INT(mg_layout_patches(layout, rank, &patch, &n), MG_OK);
  CHECK(n <= 1);
  if (n == 1) c = *patch;
  free(patch);
  return c;
}

/* Every cell has one owner: the parts are disjoint if they are inside the grid, their cells add up
 * and each contains the box of its first cell. */
static void check_parts(const mg_layout_t *layout) {
  int64_t cells = 0, largest = 0;
  int32_t narrowest = INT32_MAX;
  for (int64_t r = 0; r < layout->world_ranks; r++) {
    const mg_cuboid_t c = part_of(layout, r);
    if (mg_volume(c.n) == 0) continue;
    int32_t box[3];
    for (int d = 0; d < 3; d++) {
      CHECK(c.lo[d] % 2 == 0);
      CHECK(c.n[d] > 0 && c.lo[d] + c.n[d] <= layout->n[d]);
      CHECK(c.n[d] % 2 == 0 || c.lo[d] + c.n[d] == layout->n[d]);
      box[d] = c.lo[d] / layout->box[d];
      narrowest = c.n[d] < narrowest ? c.n[d] : narrowest;
    }
    CHECK_INT(mg_layout_owner(layout, box), r);
    cells += mg_volume(c.n);
    largest = mg_volume(c.n) > largest ? mg_volume(c.n) : largest;
  }
  CHECK_INT(cells, mg_layout_n_cells(layout));
  CHECK_INT(layout->box_dim, narrowest);
  CHECK(largest * layout->n_ranks < 2 * cells);
}

static void test_parts(void) {
  for (int c = 0; c < 400; c++) {
    const int32_t most = c % 4 == 0 ? 6 : c % 4 == 1 ? 40 : 130;
    const int32_t n[3] = {(int32_t)random_int(&numbers, 1, most),
                          (int32_t)random_int(&numbers, 1, most),
                          (int32_t)random_int(&numbers, 1, most)};
    const int64_t ranks = random_int(&numbers, 1, 20);
    const mg_layout_t layout = mg_cuboids_layout(n, ranks, ranks);
    CHECK(layout.n_ranks >= 1 && layout.n_ranks <= ranks);
    check_parts(&layout);
  }
}

/* Large grids on a few ranks are balanced to 10 %. */
static void test_balance(void) {
  static const int32_t grids[][3] = {{60, 220, 85}, {512, 512, 511}, {100, 100, 1}, {33, 1000, 7}};
  for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
    for (int64_t ranks = 1; ranks <= 17; ranks++) {
      const mg_layout_t layout = mg_cuboids_layout(grids[g], ranks, ranks);
      int64_t largest = 0;
      CHECK_INT(layout.n_ranks, ranks);
      for (int64_t r = 0; r < ranks; r++) {
        const mg_cuboid_t c = part_of(&layout, r);
        largest = mg_volume(c.n) > largest ? mg_volume(c.n) : largest;
      }
      CHECK(10 * largest * ranks <= 11 * mg_layout_n_cells(&layout));
    }
}

static mg_params_t params_of(const int32_t n[3], const double length[3]) {
  mg_params_t p;
  mg_params_defaults(&p);
  for (int d = 0; d < 3; d++) {
    p.cells[d] = n[d];
    p.length[d] = length[d];
  }
  return p;
}

/* Each level has the cells and the widths that follow from the finer one. */
static void check_levels(const mg_params_t *p, const mg_plan_t *plan) {
  for (int l = 0; l + 1 < plan->n_levels; l++) {
    const mg_level_plan_t *fine = &plan->level[l], *coarse = fine + 1;
    const double ratio = l < MG_MAX_LEVELS / 3 ? sqrt(2.0) : 2.0;
    double narrowest = 0.0;
    bool any = false, halves = true;
    for (int d = 0; d < 3; d++)
      if (fine->layout.n[d] > 1 && (narrowest == 0.0 || fine->h[d] < narrowest))
        narrowest = fine->h[d];
    for (int d = 0; d < 3; d++) {
      const int32_t n = fine->layout.n[d];
      const bool kept = n == 1 || fine->h[d] >= ratio * narrowest;
      CHECK_INT(coarse->layout.n[d], kept ? n : (n + 1) / 2);
      CHECK(coarse->h[d] == (kept ? fine->h[d] : 2.0 * fine->h[d]));
      double length = 0.0;
      for (int32_t c = 0; c < coarse->layout.n[d]; c++)
        length += mg_plan_width(plan->level, p, l + 1, d, c);
      CHECK(fabs(length - p->length[d]) <= 1e-12 * length);
      any = any || !kept;
      halves = halves && n == 2 * coarse->layout.n[d];
    }
    CHECK(any);
    CHECK_INT(fine->halves, halves);
    check_parts(&coarse->layout);
    if (!mg_layouts_nest(&fine->layout, &coarse->layout)) continue;
    for (int64_t r = 0; r < fine->layout.world_ranks; r++) {
      const mg_cuboid_t f = part_of(&fine->layout, r), c = part_of(&coarse->layout, r);
      const mg_cuboid_t image = mg_layout_coarse(&fine->layout, &f);
      CHECK(mg_volume(f.n) == 0 || memcmp(&image, &c, sizeof c) == 0);
    }
  }
  CHECK(mg_layout_n_cells(&plan->level[plan->n_levels - 1].layout) <= 8);
}

static void test_levels(void) {
  static mg_plan_t plan;
  char message[1024];
  for (int c = 0; c < 300; c++) {
    const int32_t most = c % 2 == 0 ? 12 : 130;
    const int32_t n[3] = {(int32_t)random_int(&numbers, 1, most),
                          (int32_t)random_int(&numbers, 1, most),
                          (int32_t)random_int(&numbers, 1, most)};
    const double length[3] = {1.0, (double)random_int(&numbers, 1, 100) / 10,
                              1.0 / (double)random_int(&numbers, 1, 100)};
    const mg_params_t p = params_of(n, length);
    CHECK_INT(mg_plan_build(&p, random_int(&numbers, 1, 9), &plan, message, (int)sizeof message),
              MG_OK);
    check_levels(&p, &plan);
  }
}

/* 60 x 220 x 85 cubes go down to a few cells; a layer of 1/100 of the width is coarsened last. */
static void test_known(void) {
  static mg_plan_t plan;
  static const int32_t reservoir[][3] = {{60, 220, 85}, {30, 110, 43}, {15, 55, 22}, {8, 28, 11},
                                         {4, 14, 6},    {2, 7, 3},     {1, 4, 2}},
                       layer[][3] = {{16, 16, 16}, {16, 16, 8}, {16, 16, 4}, {16, 16, 2},
                                     {16, 16, 1},  {8, 8, 1},   {4, 4, 1},   {2, 2, 1}};
  char message[1024];
  mg_params_t p = params_of(reservoir[0], (const double[3]){60, 220, 85});
  CHECK_INT(mg_plan_build(&p, 1, &plan, message, (int)sizeof message), MG_OK);
  CHECK_INT(plan.n_levels, 7);
  for (int l = 0; l < plan.n_levels; l++)
    CHECK(memcmp(plan.level[l].layout.n, reservoir[l], sizeof *reservoir) == 0);
  p = params_of(layer[0], (const double[3]){1, 1, 0.01});
  CHECK_INT(mg_plan_build(&p, 1, &plan, message, (int)sizeof message), MG_OK);
  CHECK_INT(plan.n_levels, 8);
  for (int l = 0; l < plan.n_levels; l++)
    CHECK(memcmp(plan.level[l].layout.n, layer[l], sizeof *layer) == 0);
}

/* Pairs and single cells by counting. */
static void test_pairs(void) {
  for (int c = 0; c < 3000; c++) {
    const int32_t n = (int32_t)random_int(&numbers, 1, 40);
    mg_singles_t s = {{0}, {0}};
    int32_t bound = 0;
    for (int r = 0; r < 2; r++) {
      bound += 2 * (int32_t)random_int(&numbers, 0, 4);
      s.begin[r] = bound < n ? bound : n;
      bound += 2 * (int32_t)random_int(&numbers, 0, 4);
      s.end[r] = bound < n ? bound : n;
    }
    int32_t coarse = 0;
    for (int32_t i = 0; i < n; coarse++) {
      const bool single = mg_is_single(&s, i);
      CHECK_INT(mg_first_child(&s, coarse), i);
      CHECK_INT(mg_coarse_cells(&s, i), coarse);
      CHECK_INT(mg_parent(&s, i), coarse);
      if (!single && i + 1 < n) CHECK_INT(mg_parent(&s, i + 1), coarse);
      i += single ? 1 : 2;
    }
    CHECK_INT(mg_coarse_cells(&s, n), coarse);
    CHECK_INT(mg_has_pairs(&s, n), coarse < n);
  }
}

/* Ascending positions of n + 1 faces. The widths rise and fall `turns` times. */
static double *random_faces(int32_t n, int turns) {
  double *face = calloc((size_t)n + 1, sizeof *face);
  if (!face) abort();
  for (int32_t i = 0; i < n; i++)
    face[i + 1] = face[i] + exp(2.0 * sin(6.28 * turns * i / n)) *
                                (1.0 + 0.01 * (double)random_int(&numbers, 0, 10));
  return face;
}

/* Widths of the pairs of an axis that merge, and of all of them. */
typedef struct {
  double narrowest, merged, widest; /* narrowest of all; narrowest and widest that merge */
} pairs_t;

static pairs_t pairs_of(const mg_params_t *p, const mg_plan_t *plan, int l, int d) {
  const mg_layout_t *fine = &plan->level[l].layout;
  pairs_t pairs = {INFINITY, INFINITY, 0.0};
  double length = 0.0;
  for (int32_t c = 0; c < fine->n[d]; c++)
    length += mg_plan_width(plan->level, p, l, d, c);
  CHECK(fabs(length - p->length[d]) <= 1e-12 * length);
  for (int32_t m = 0; m < fine->n[d] / 2; m++) {
    const double width = p->face[d] ? 0.5 * (mg_plan_width(plan->level, p, l, d, 2 * m) +
                                             mg_plan_width(plan->level, p, l, d, 2 * m + 1))
                                    : plan->level[l].h[d];
    const bool single = mg_is_single(&fine->single[d], 2 * m);
    CHECK_INT(mg_is_single(&fine->single[d], 2 * m + 1), single);
    pairs.narrowest = fmin(pairs.narrowest, width);
    if (single) continue;
    pairs.merged = fmin(pairs.merged, width);
    pairs.widest = fmax(pairs.widest, width);
  }
  return pairs;
}

/* Every level merges some of its narrowest pairs, and nothing that is sqrt(2) times as wide as the
 * narrowest pair of another axis (4 times, if that axis is stretched, and twice on the later
 * levels), or 8 times as wide as the narrowest pair of the same axis. Any grid goes down to 8
 * cells. */
static void check_stretched(const mg_params_t *p, const mg_plan_t *plan) {
  for (int l = 0; l + 1 < plan->n_levels; l++) {
    pairs_t axis[3];
    double narrowest = INFINITY, merged = INFINITY;
    for (int d = 0; d < 3; d++) {
      axis[d] = pairs_of(p, plan, l, d);
      narrowest = fmin(narrowest, axis[d].narrowest);
      merged = fmin(merged, axis[d].merged);
    }
    CHECK(merged == narrowest);
    for (int d = 0; d < 3; d++) {
      for (int e = 0; e < 3; e++) {
        const double most = p->face[e] ? 4.0 : l >= MG_MAX_LEVELS / 3 ? 2.0 : sqrt(2.0);
        if (e != d) CHECK(axis[d].widest < most * axis[e].narrowest);
      }
      CHECK(axis[d].widest == 0.0 || axis[d].widest < 8.0 * axis[d].narrowest);
    }
    check_parts(&plan->level[l + 1].layout);
  }
  CHECK(mg_layout_n_cells(&plan->level[plan->n_levels - 1].layout) <= 8);
}

static void test_stretched(void) {
  static mg_plan_t plan;
  char message[1024];
  for (int c = 0; c < 200; c++) {
    double *face[3] = {NULL, NULL, NULL};
    int32_t n[3];
    double length[3];
    for (int d = 0; d < 3; d++) {
      n[d] = (int32_t)random_int(&numbers, 1, c % 2 ? 12 : 80);
      length[d] = (double)random_int(&numbers, 1, 100) / 10;
      if (random_int(&numbers, 0, 1) == 0) continue;
      face[d] = random_faces(n[d], (int)random_int(&numbers, 0, 4));
      length[d] = face[d][n[d]];
    }
    mg_params_t p = params_of(n, length);
    for (int d = 0; d < 3; d++)
      p.face[d] = face[d];
    CHECK_INT(mg_plan_build(&p, random_int(&numbers, 1, 9), &plan, message, (int)sizeof message),
              MG_OK);
    check_stretched(&p, &plan);
    for (int d = 0; d < 3; d++)
      free(face[d]);
  }
}

/* Cells of all levels by cells of the finest one. Axis d is stretched as by --stretch if
 * strength[d] is not 0. */
static double cells_of_levels(int32_t n, const double strength[3]) {
  static mg_plan_t plan;
  char message[1024];
  double cells = 0.0, *face[3] = {NULL, NULL, NULL};
  mg_params_t p = params_of((int32_t[3]){n, n, n}, (double[3]){1.0, 1.0, 1.0});
  for (int d = 0; d < 3; d++) {
    if (strength[d] == 0.0) continue;
    p.face[d] = face[d] = calloc((size_t)n + 1, sizeof *face[d]);
    if (!face[d]) abort();
    for (int32_t i = 0; i <= n; i++)
      face[d][i] = 0.5 * (1.0 + tanh(strength[d] * (2.0 * i / n - 1.0)) / tanh(strength[d]));
  }
  CHECK_INT(mg_plan_build(&p, 1, &plan, message, (int)sizeof message), MG_OK);
  for (int l = 0; l < plan.n_levels; l++)
    cells += (double)mg_layout_n_cells(&plan.level[l].layout);
  for (int d = 0; d < 3; d++)
    free(face[d]);
  return cells / ((double)n * n * n);
}

/* A level of a stretched axis halves all cells that are finer than along the other axes, not only
 * the finest ones. So there is no long row of levels of nearly the full size. */
static void test_work(void) {
  CHECK(cells_of_levels(64, (double[3]){0.0, 0.0, 0.0}) < 1.15);
  CHECK(cells_of_levels(384, (double[3]){0.0, 0.0, 2.0}) < 2.5);
  CHECK(cells_of_levels(384, (double[3]){2.0, 0.0, 0.0}) < 2.5);
  CHECK(cells_of_levels(128, (double[3]){0.0, 0.0, 3.0}) < 3.2);
  CHECK(cells_of_levels(128, (double[3]){2.0, 0.0, 2.0}) < 2.7);
  CHECK(cells_of_levels(128, (double[3]){2.0, 2.0, 2.0}) < 2.5);
}

static double *repeat(double value, int32_t n) {
  double *x = malloc((size_t)n * sizeof *x);
  for (int32_t i = 0; x && i < n; i++)
    x[i] = value;
  return x;
}

/* Betas that differ between directions count as widths: couplings are beta / width^2. */
static void test_betas(void) {
  static mg_plan_t by_betas, by_widths;
  char message[1024];
  for (int c = 0; c < 100; c++) {
    int32_t n[3];
    double one[3] = {1.0, 1.0, 1.0}, length[3], *face[3], *plane[3];
    for (int d = 0; d < 3; d++) {
      n[d] = (int32_t)random_int(&numbers, 1, 40);
      one[d] = n[d];
    }
    mg_params_t p = params_of(n, one);
    for (int d = 0; d < 3; d++) {
      const double beta = exp2((double)random_int(&numbers, 0, 40) - 20.0 + 0.3 * d);
      length[d] = n[d] / sqrt(beta);
      p.face_beta[d] = face[d] = repeat(beta, n[d]);
      p.plane_beta[d] = plane[d] = repeat(1.0, n[d]);
    }
    const mg_params_t wide = params_of(n, length);
    CHECK_INT(mg_plan_build(&p, 1, &by_betas, message, (int)sizeof message), MG_OK);
    CHECK_INT(mg_plan_build(&wide, 1, &by_widths, message, (int)sizeof message), MG_OK);
    CHECK_INT(by_betas.n_levels, by_widths.n_levels);
    for (int l = 0; l < by_betas.n_levels; l++)
      CHECK(memcmp(by_betas.level[l].layout.n, by_widths.level[l].layout.n, sizeof n) == 0);
    for (int d = 0; d < 3; d++)
      free(face[d]), free(plane[d]);
  }
}

int main(void) {
  test_betas();
  test_pairs();
  test_stretched();
  test_work();
  test_parts();
  test_balance();
  test_levels();
  test_known();
  return TEST_RESULT();
}
