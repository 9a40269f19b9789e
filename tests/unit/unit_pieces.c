/* Pieces of tile columns: they cover every plane once, start where they may, have no more planes
 * than allowed, and keep all slots busy. The first ones form a square. Pieces that depend on
 * messages are last, and the others contain no plane that does. */
#include "plan/pieces.h"
#include "tests/lib/test.h"
#include <stdint.h>
#include <stdlib.h>

static bool at_wall(const mg_columns_t *c, int d, int at) {
  return (c->wall[d][0] && at == 0) || (c->wall[d][1] && at == c->n[d] - 1);
}

static double cost_of(const mg_columns_t *c, int i, int j) {
  return c->cost[at_wall(c, 0, i)][at_wall(c, 1, j)] * (j == c->n[1] - 1 ? c->last_j : 1.0);
}

/* The pieces cover each plane of each column once. */
static bool covers(const mg_columns_t *c, const mg_piece_t *piece, int n) {
  char *covered = calloc((size_t)(c->n[0] * c->n[1]), (size_t)c->planes);
  bool right = covered != NULL;
  int64_t planes = 0;
  for (int b = 0; b < n && right; b++) {
    const mg_piece_t *p = &piece[b];
    right = p->i >= 0 && p->i < c->n[0] && p->j >= 0 && p->j < c->n[1] && p->first >= 0 &&
            p->first < p->end && p->end <= c->planes && p->first % c->step == 0;
    for (int k = p->first; k < p->end && right; k++) {
      char *at = &covered[(size_t)(p->i + p->j * c->n[0]) * (size_t)c->planes + (size_t)k];
      right = *at == 0;
      *at = 1;
    }
    planes += p->end - p->first;
  }
  free(covered);
  return right && planes == (int64_t)c->n[0] * c->n[1] * c->planes;
}

static bool is_early(const mg_columns_t *c, const mg_piece_t *p) {
  const int first[3] = {p->i, p->j, p->first}, end[3] = {p->i + 1, p->j + 1, p->end};
  bool early = true;
  for (int d = 0; d < 3; d++)
    early = early && first[d] >= c->inner[d][0] && end[d] <= c->inner[d][1];
  return early;
}

static double time_of_piece(const mg_columns_t *c, const mg_piece_t *p) {
  return cost_of(c, p->i, p->j) *
         (p->end - p->first + c->overhead + (p->first == 0 ? c->first : 0));
}

/* Time until all blocks have ended, if each starts when a slot is free.
 *  @param[in] early  number of pieces that need no message
 *  @param[in] limit  time of all slots
 *  @param[in,out] share  the largest part of the time left that a piece takes, of pieces for which
 *                        `share` of it is enough for several times the overhead */
static double time_of(const mg_columns_t *c, const mg_piece_t *piece, int n, int early,
                      double limit, double *share) {
  double *time = calloc((size_t)c->slots, sizeof *time), last = 0.0, most = 0.0;
  for (int s = 0; s < c->busy && time; s++)
    time[s] = c->delay;
  for (int b = 0; b < n && time; b++) {
    int slot = 0;
    for (int s = 1; s < c->slots; s++)
      if (time[s] < time[slot]) slot = s;
    if (b >= early && time[slot] < c->delay) time[slot] = c->delay;
    const double left = limit - time[slot], takes = time_of_piece(c, &piece[b]);
    if (*share * left > 10.0 * c->overhead && takes > most * left) most = takes / left;
    time[slot] += takes;
    if (time[slot] > last) last = time[slot];
  }
  free(time);
  *share = most;
  return last;
}

static bool is_limited(const mg_columns_t *c) {
  return c->most > 0 && c->n[0] * c->n[1] >= 2 * c->slots;
}

/* Time if the columns were cut only where they must be and no slot was ever idle.
 *  @param[in] parts  of a column, which are cut separately */
static double least_time(const mg_columns_t *c, int parts) {
  const int more = parts - 1 + (is_limited(c) ? (c->planes - 1) / c->most : 0);
  double work = 0.0;
  for (int j = 0; j < c->n[1]; j++)
    for (int i = 0; i < c->n[0]; i++)
      work += cost_of(c, i, j) * (c->planes + (1 + more) * c->overhead + c->first);
  return work / c->slots;
}

/* The pieces that start first are those of a square of columns, one per slot. */
static bool forms_square(const mg_columns_t *c, const mg_piece_t *piece) {
  int low[2] = {c->n[0], c->n[1]}, high[2] = {0, 0};
  for (int b = 0; b < c->slots; b++) {
    const int at[2] = {piece[b].i, piece[b].j};
    for (int d = 0; d < 2; d++) {
      low[d] = at[d] < low[d] ? at[d] : low[d];
      high[d] = at[d] > high[d] ? at[d] : high[d];
    }
  }
  const int wide = high[0] - low[0] + 1, rows = high[1] - low[1] + 1;
  return rows * rows <= c->slots && (rows + 1) * (rows + 1) > c->slots &&
         (wide - 1) * rows <= c->slots;
}

static void check_cut(mg_columns_t c) {
  mg_piece_t *piece;
  int n, early;
  CHECK_INT(mg_columns_cut(&c, &piece, &n, &early), MG_OK);
  CHECK_INT(early, n);
  CHECK(covers(&c, piece, n));
  for (int b = 0; b < n && is_limited(&c); b++)
    CHECK(piece[b].end - piece[b].first <= c.most);
  if (c.n[0] * c.n[0] > 2 * c.slots && c.n[1] * c.n[1] > 2 * c.slots)
    CHECK(forms_square(&c, piece));
  double share = c.share;
  const double time = time_of(&c, piece, n, n, 1e300, &share), least = least_time(&c, 1),
               ratio = time / least;
  share = c.share;
  (void)time_of(&c, piece, n, n, time, &share);
  if (c.n[0] * c.n[1] >= 2 * c.slots) CHECK(share <= 1.05 * c.share);
  /* Small pieces at the end have their overhead. */
  const double more = c.share < 1.0 ? 0.05 : 0.0, limit = least > 20 * c.overhead  ? 1.1 + more
                                                          : least > 8 * c.overhead ? 1.25 + more
                                                                                   : 1e300;
  if (!test_count(ratio < limit, __FILE__, __LINE__, "the time of the pieces"))
    fprintf(stderr, "  %d x %d columns of %d planes, step %d, %d slots: %.3f of the least\n",
            c.n[0], c.n[1], c.planes, c.step, c.slots, ratio);
  free(piece);
}

/* A patch with a neighbor at the low or high side in k, or neighbors at all sides, of which a piece
 * reads `depth` ghosts. Each piece costs its overhead, and each slot may wait for the messages. */
static void check_late(mg_columns_t c, bool low, bool all_sides, int depth) {
  mg_piece_t *piece;
  int n, early, n_right = 0;
  if (low || all_sides) c.inner[2][0] = depth;
  if (!low || all_sides) c.inner[2][1] -= depth;
  for (int d = 0; d < 2 && all_sides; d++) {
    c.inner[d][0] = 1;
    c.inner[d][1] = c.n[d] > 2 ? c.n[d] - 1 : 1;
  }
  c.busy = c.slots / 5;
  c.delay = 15;
  CHECK_INT(mg_columns_cut(&c, &piece, &n, &early), MG_OK);
  CHECK(covers(&c, piece, n));
  for (int b = 0; b < n; b++)
    n_right += b >= early || is_early(&c, &piece[b]);
  CHECK_INT(n_right, n);
  double share = c.share;
  const double time = time_of(&c, piece, n, early, 1e300, &share),
               least = least_time(&c, all_sides ? 3 : 2) + c.delay;
  if (!test_count(time < 1.3 * least || least < 20 * c.overhead, __FILE__, __LINE__,
                  "the time of pieces beside messages"))
    fprintf(stderr, "  %d x %d columns of %d planes, step %d, %d slots: %.1f, %.1f at least\n",
            c.n[0], c.n[1], c.planes, c.step, c.slots, time, least);
  free(piece);
}

int main(void) {
#ifdef __SANITIZE_ADDRESS__ /* slow */
  static const int tiles[][2] = {{1, 1}, {5, 10}, {11, 12}}, planes[] = {16, 17, 96},
                   slots[] = {1, 20, 132};
#else
  static const int tiles[][2] = {{1, 1}, {5, 5}, {5, 10}, {11, 10}, {11, 12}, {21, 20}, {43, 40}},
                   planes[] = {16, 17, 96, 128, 256, 512}, slots[] = {1, 20, 108, 132, 264};
#endif
  for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++)
    for (size_t p = 0; p < sizeof planes / sizeof *planes; p++)
      for (size_t s = 0; s < sizeof slots / sizeof *slots; s++)
        for (int step = 1; step <= 2; step++)
          for (int walls = 0; walls < 2; walls++) {
            const bool wall = walls != 0;
            mg_columns_t c = {{tiles[t][0], tiles[t][1]},
                              {{wall, wall}, {wall, false}},
                              {{1.0, 1.25}, {1.5, 1.6}},
                              wall ? 0.7 : 1.0,
                              planes[p],
                              6,
                              wall ? 5 : 0,
                              step,
                              slots[s],
                              0,
                              1.0,
                              {{0, tiles[t][0]}, {0, tiles[t][1]}, {0, planes[p]}},
                              0,
                              0};
            check_cut(c);
            c.share = 0.5;
            check_cut(c);
            c.most = 64;
            check_cut(c);
            for (int sides = 0; sides < 3 && slots[s] == 132 && step == 1 + walls; sides++)
              check_late(c, sides == 1, sides == 2, 4);
          }
  return TEST_RESULT();
}
