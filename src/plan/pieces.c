/* Pieces of tile columns: see pieces.h. */
#include "plan/pieces.h"
#include "base/log.h"
#include <stdlib.h>
#include <string.h>

/* Memory of a cut. */
typedef struct {
  double *time; /* when each slot is free: a heap, the earliest first */
  int *first;   /* of each column, the first plane that is in no piece yet */
  int *queue;   /* columns that have such planes, in a ring */
  mg_piece_t *piece;
  int n, most;
} cut_t;

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

/* List all columns in bands as high as a square of one column per slot, from one side to the other
 * and back. */
static void line_up(const mg_columns_t *c, int *queue) {
  int side = 1, n = 0;
  while ((side + 1) * (side + 1) <= c->slots)
    side++;
  for (int band = 0; band * side < c->n[1]; band++)
    for (int at = 0; at < c->n[0]; at++)
      for (int j = band * side; j < c->n[1] && j < (band + 1) * side; j++)
        queue[n++] = (band % 2 == 0 ? at : c->n[0] - 1 - at) + j * c->n[0];
}

/* Cut such that all slots end at `limit`, if that is possible. */
static bool cut_within(const mg_columns_t *c, double limit, double share, cut_t *w) {
  const int columns = c->n[0] * c->n[1];
  int head = 0, waiting = columns;
  memset(w->time, 0, sizeof *w->time * (size_t)c->slots);
  memset(w->first, 0, sizeof *w->first * (size_t)columns);
  line_up(c, w->queue);
  for (w->n = 0; waiting > 0; w->n++) {
    const int column = w->queue[head];
    const double cost = cost_of(c, column), room = (limit - w->time[0]) / cost;
    const int first = w->first[column], rest = c->planes - first, over = overhead_at(c, first);
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

/* @return whether it was possible; with share 1 it always is */
static bool cut_smallest(const mg_columns_t *c, double share, cut_t *w) {
  const int more = c->most > 0 ? (c->planes - 1) / c->most : 0; /* pieces of a column */
  double total = 0.0, largest = 0.0;
  for (int column = 0; column < c->n[0] * c->n[1]; column++) {
    const double cost = cost_of(c, column) * (c->planes + overhead_at(c, 0) + more * c->overhead);
    total += cost;
    largest = cost > largest ? cost : largest;
  }
  /* At `high` and share 1 only `most` cuts columns, as some slot is free at the mean time. */
  double low = total / c->slots, high = low + largest;
  for (int round = 0; round < 20; round++) {
    const double middle = 0.5 * (low + high);
    if (cut_within(c, middle, share, w))
      high = middle;
    else
      low = middle;
  }
  return cut_within(c, high, share, w);
}

mg_status_t mg_columns_cut(const mg_columns_t *columns, mg_piece_t **pieces, int *n) {
  const size_t count = (size_t)columns->n[0] * (size_t)columns->n[1],
               slots = (size_t)columns->slots;
  const bool several = count >= 2 * slots, shares = several && columns->share < 1.0;
  mg_columns_t c = *columns;
  if (!several) c.most = 0;
  const size_t limited = c.most > 0 ? (size_t)(c.planes / c.most) : 0, /* pieces of a column */
      most = (2 + limited) * count + 8 * slots;                        /* share 1 needs fewer */
  cut_t w = {.most = (int)most,
             .time = malloc(sizeof *w.time * slots),
             .first = malloc(sizeof *w.first * count),
             .queue = malloc(sizeof *w.queue * count),
             .piece = malloc(sizeof *w.piece * most)};
  const bool enough = w.time && w.first && w.queue && w.piece;
  if (enough && !(shares && cut_smallest(&c, c.share, &w))) (void)cut_smallest(&c, 1.0, &w);
  free(w.time);
  free(w.first);
  free(w.queue);
  if (!enough) free(w.piece);
  *pieces = enough ? w.piece : NULL;
  *n = w.n;
  return enough ? MG_OK : mg_error(MG_ERR_MEMORY, "cannot list the tiles of a sweep");
}
