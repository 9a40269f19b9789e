/* Tile columns of a level, cut into pieces of planes that keep all SMs of a GPU busy until the end.
 *
 * A block of a fused sweep marches through the planes of one tile. Tiles at walls cost more per
 * plane, and the number of tiles is no multiple of the number of SMs. So blocks of equal height
 * leave SMs idle, for 13 % of a pass at 128^3 on a GPU with 132 SMs. Here each SM gets the same
 * cost: a piece of a column ends where its SM has no time left. */
#ifndef MG_PIECES_H
#define MG_PIECES_H

#include "base/status.h"
#include <stdbool.h>

/** The columns of a level. */
typedef struct {
  int n[2];        /**< along i and j */
  bool wall[2][2]; /**< whether the columns of the low and the high side of i and j are at walls */
  double cost[2][2]; /**< of a plane: [column at a wall in i][in j] */
  double last_j;     /**< factor of it for the last column along j, which can be narrower */
  int planes;        /**< of each column */
  int overhead;      /**< cost of a piece beside that of its planes, in planes */
  int first;         /**< additional cost of a piece that begins at plane 0, in planes */
  int step;          /**< pieces begin at multiples of `step` planes */
  int slots;         /**< blocks that run at the same time */
  int most;          /**< with two columns or more per slot, planes of a piece at most, so that
                          blocks of adjacent columns stay together; 0: no limit */
  double share;      /**< with two columns or more per slot, a piece takes at most this part of the
                          time that its slot has left, 0 < share <= 1 */
  int inner[3][2];   /**< columns and planes, first and end along i, j and k, that do not depend on
                          messages; the others are late */
  int busy;          /**< slots that carry messages at first */
  int delay;         /**< time until messages have arrived, in planes */
} mg_columns_t;

/** Planes first <= k < end of column (i, j). A piece is late if any of them is. */
typedef struct {
  int i, j, first, end;
} mg_piece_t;

/** Cut columns into pieces, in the order in which their blocks should start: a block starts when an
 *  earlier one ends. So that adjacent blocks find each other's values in the cache, blocks that run
 *  at the same time form a square of columns, and start at the same plane.
 *
 *  The pieces are those of the smallest time in which all slots can finish (by bisection), where
 *  the next piece goes to the slot that is free first (Graham 1969), and is cut where the time ends
 *  (McNaughton 1959). A share below 1 leaves small pieces for the end, which even out that blocks
 *  do not all run at the same speed (Polychronopoulos and Kuck 1987).
 *
 *  Late pieces are last. Their height is chosen too: high ones cost less overhead, but more SMs
 * wait for the messages.
 *  @param[out] pieces  the caller frees it
 *  @param[out] early   number of pieces that are not late
 *  @return MG_OK, MG_ERR_MEMORY */
mg_status_t mg_columns_cut(const mg_columns_t *columns, mg_piece_t **pieces, int *n, int *early);

#endif
