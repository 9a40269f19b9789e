/* Pieces of tile columns: see pieces.h. */
#include "plan/pieces.h"
#include "base/log.h"
#include <math.h>
#include <stdlib.h>

/* Memory of a cut. */
typedef struct {
  double *time; /* when each slot is free: a heap, the earliest first */
  int *first;   /* of each column, the first plane of the part that is in no piece yet */
  int *queue;   /* columns that have such planes, in a ring */
  mg_piece_t *piece;
  int n, early, most;
} cut_t;

/* The parts of all columns, in the order in which they are cut. */
typedef enum { PART_EARLY, PART_LATE_LOW, PART_LATE_HIGH, N_PARTS } part_t;

static double cost_of(const mg_columns_t *c, int column) {
  const int at[2] = {column % c->n[0], column / c->n[0]};
  bool wall[2];
  for (int d = 0; d < 2; d++)
    wall[d] = (c->wall[d][0] && at[d] == 0) || (c->wall[d][1] && at[d] == c->n[d] - 1);
  return c->cost[wall[0]][wall[1]] * (at[1] == c->n[1] - 1 ? c->last_j : 1.0);
}

/* The first slot of the heap is busy for `cost` more. */
static void occupy_first(double *time, int n, double cost) {
  const double end = time[0] + cost;
  int at = 0;
  for (int child = 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && time[child + 1] < time[child]) child++;
    if (end <= time[child]) break;
    time[at] = time[child];
    at = child;
  }
  time[at] = end;
}

/* Planes of the next piece of a column of which `rest` planes are left, for a slot that has `room`
 * planes. A piece is at least as high as its overhead; so is what it leaves.
 *  @return 0 if there is too little room */
static int planes_of_piece(const mg_columns_t *c, int rest, double room) {
  const double most = c->most > 0 && c->most < room ? c->most : room;
  if (rest <= most) return rest;
  int planes = most < rest - c->overhead ? (int)most : rest - c->overhead;
  planes -= planes % c->step;
  return planes < c->overhead ? 0 : planes;
}

static int overhead_at(const mg_columns_t *c, int plane) {
  return c->overhead + (plane == 0 ? c->first : 0);
}

/* Planes *first <= k < end of a part of a column.
 *  @return end; *first if the column has none */
static int planes_of_part(const mg_columns_t *c, int column, part_t part, int *first) {
  const int i = column % c->n[0], j = column / c->n[0], *k = c->inner[2];
  const bool inner = i >= c->inner[0][0] && i < c->inner[0][1] && j >= c->inner[1][0] &&
                     j < c->inner[1][1] && k[0] < k[1];
  const int bound[N_PARTS + 1] = {inner ? k[0] : 0, inner ? k[1] : 0, 0, 0};
  *first = part == PART_LATE_LOW ? 0 : bound[part == PART_LATE_HIGH];
  return part == PART_EARLY ? bound[1] : part == PART_LATE_LOW ? bound[0] : c->planes;
}

/* List all columns that have a part in bands as high as a square of one column per slot, from one
 * side to the other and back.
 *  @return number of columns */
static int line_up(const mg_columns_t *c, part_t part, cut_t *w) {
  int side = 1, n = 0;
  while ((side + 1) * (side + 1) <= c->slots)
    side++;
  for (int band = 0; band * side < c->n[1]; band++)
    for (int at = 0; at < c->n[0]; at++)
      for (int j = band * side; j < c->n[1] && j < (band + 1) * side; j++) {
        const int column = (band % 2 == 0 ? at : c->n[0] - 1 - at) + j * c->n[0];
        if (planes_of_part(c, column, part, &w->first[column]) > w->first[column])
          w->queue[n++] = column;
      }
  return n;
}

/* Cut a part such that all slots end at `limit`, if that is possible. */
static bool cut_part(const mg_columns_t *c, part_t part, double limit, double share, cut_t *w) {
  const int columns = line_up(c, part, w);
  int head = 0, waiting = columns;
  for (; waiting > 0; w->n++) {
    const int column = w->queue[head];
    const double cost = cost_of(c, column), room = (limit - w->time[0]) / cost;
    int unused;
    const int first = w->first[column], over = overhead_at(c, first),
              rest = planes_of_part(c, column, part, &unused) - first;
    int planes = planes_of_piece(c, rest, share * room - over);
    if (planes == 0) planes = planes_of_piece(c, rest, room - over);
    if (planes == 0 || w->n == w->most) return false;
    w->piece[w->n] = (mg_piece_t){column % c->n[0], column / c->n[0], first, first + planes};
    occupy_first(w->time, c->slots, cost * (planes + over));
    w->first[column] = first + planes;
    head = (head + 1) % columns;
    if (planes == rest)
      waiting--;
    else
      w->queue[(head + waiting - 1) % columns] = column;
  }
  return true;
}

/* Cut such that all slots end at `limit`, if that is possible. */
static bool cut_within(const mg_columns_t *c, double limit, double share, cut_t *w) {
  w->n = 0;
  for (int s = 0; s < c->slots; s++)
    w->time[s] = s < c->slots - c->busy ? 0.0 : c->delay;
  if (!cut_part(c, PART_EARLY, limit, share, w)) return false;
  w->early = w->n;
  for (int s = 0; s < c->slots; s++)
    if (w->time[s] < c->delay) w->time[s] = c->delay;
  return cut_part(c, PART_LATE_LOW, limit, share, w) &&
         cut_part(c, PART_LATE_HIGH, limit, share, w);
}

static bool has_late(const mg_columns_t *c) {
  return c->inner[0][0] > 0 || c->inner[0][1] < c->n[0] || c->inner[1][0] > 0 ||
         c->inner[1][1] < c->n[1] || c->inner[2][0] > 0 || c->inner[2][1] < c->planes;
}

/* Cut with the smallest limit.
 *  @return it; HUGE_VAL if it was impossible, with share 1 never */
static double cut_smallest(const mg_columns_t *c, double share, cut_t *w) {
  const int more = c->most > 0 ? (c->planes - 1) / c->most : 0, /* pieces of a column */
      parts = has_late(c) ? N_PARTS - 1 : 0;
  double total = 0.0, largest = 0.0, over = 0.0;
  for (int column = 0; column < c->n[0] * c->n[1]; column++) {
    const double plane = cost_of(c, column),
                 cost = plane * (c->planes + overhead_at(c, 0) + more * c->overhead);
    total += cost;
    over += plane * parts * c->overhead;
    largest = cost > largest ? cost : largest;
  }
  /* At `high` and share 1 only `most` and parts cut columns, as some slot is free at the mean time.
   */
  double low = total / c->slots, high = low + over / c->slots + c->delay + largest;
  for (int round = 0; round < 20; round++) {
    const double middle = 0.5 * (low + high);
    if (cut_within(c, middle, share, w))
      high = middle;
    else
      low = middle;
  }
  return cut_within(c, high, share, w) ? high : HUGE_VAL;
}

/* Let at least `height` planes be late at each side in k that has late planes, and the last `rows`
 * columns along j in all planes: columns need no cut between early and late planes then. */
static mg_columns_t with_late(const mg_columns_t *c, int height, int rows) {
  mg_columns_t out = *c;
  int *k = out.inner[2];
  if (k[0] > 0 && k[0] < height) k[0] = height;
  if (k[1] < c->planes && k[1] > c->planes - height) k[1] = c->planes - height;
  k[0] += (c->step - k[0] % c->step) % c->step;
  k[1] -= k[1] < c->planes ? k[1] % c->step : 0;
  out.inner[1][1] -= rows;
  return out;
}

static double cut_with_share(const mg_columns_t *c, bool shares, cut_t *w) {
  const double limit = shares ? cut_smallest(c, c->share, w) : HUGE_VAL;
  return limit < HUGE_VAL ? limit : cut_smallest(c, 1.0, w);
}

/* Cut with the late pieces that have the smallest limit. Early pieces keep a third of the planes,
 * which is enough for the formulas at a wall. With many columns, late pieces are as high as others:
 * columns are cut anyway. */
static void cut_best(const mg_columns_t *c, bool shares, bool several, cut_t *w) {
  const bool both = c->inner[2][0] > 0 && c->inner[2][1] < c->planes;
  const int lowest = c->most > 0 ? c->most : c->overhead,
            highest = c->most > 0 ? lowest : c->planes / (both ? 3 : 2),
            rows = several ? 0 : c->inner[1][1] - c->inner[1][0];
  mg_columns_t best = with_late(c, 0, 0);
  double smallest = HUGE_VAL;
  for (int late = 0; late <= rows && has_late(c); late++)
    for (int height = lowest; height <= highest; height += lowest) {
      const mg_columns_t tried = with_late(c, height, late);
      const double limit = cut_with_share(&tried, shares, w);
      if (limit >= smallest) continue;
      smallest = limit;
      best = tried;
    }
  (void)cut_with_share(&best, shares, w);
}

mg_status_t mg_columns_cut(const mg_columns_t *columns, mg_piece_t **pieces, int *n, int *early) {
  const size_t count = (size_t)columns->n[0] * (size_t)columns->n[1],
               slots = (size_t)columns->slots;
  const bool several = count >= 2 * slots;
  mg_columns_t c = *columns;
  if (!several) c.most = 0;
  const size_t limited = c.most > 0 ? (size_t)(c.planes / c.most) : 0, /* pieces of a column */
      most = (1 + N_PARTS + limited) * count + 8 * slots;              /* share 1 needs fewer */
  cut_t w = {.most = (int)most,
             .time = malloc(sizeof *w.time * slots),
             .first = malloc(sizeof *w.first * count),
             .queue = malloc(sizeof *w.queue * count),
             .piece = malloc(sizeof *w.piece * most)};
  const bool enough = w.time && w.first && w.queue && w.piece;
  if (enough) cut_best(&c, several && c.share < 1.0, several, &w);
  free(w.time);
  free(w.first);
  free(w.queue);
  if (!enough) free(w.piece);
  *pieces = enough ? w.piece : NULL;
  *n = w.n;
  *early = w.early;
  return enough ? MG_OK : mg_error(MG_ERR_MEMORY, "cannot list the tiles of a sweep");
}
