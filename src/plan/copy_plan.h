/* Copy lists and messages of a halo exchange, a gather or a scatter.
 *
 * Integers only. Both ends of a message derive its content from the layouts alone, in the same
 * order. Nothing is negotiated, and every neighbor gets exactly one message. */
#ifndef MG_COPY_PLAN_H
#define MG_COPY_PLAN_H

#include "formulas/view.h"
#include "plan/decomp.h"

/** Distribution of cells over ranks: a layout, its image on the next coarser grid, or any cuboids
 *  of the layout's grid. In the image every patch has half its cells in each direction and the same
 *  owner. */
typedef struct {
  const mg_layout_t *layout;
  bool halved;
  const mg_cuboid_t *cuboid; /**< of all ranks, instead of the patches; NULL: none. Some may be
                                empty: n is 0 in all directions. For a spec of depth 0. */
  const int *first; /**< of each rank's cuboids; the entry after the last rank ends the list */
} mg_distribution_t;

/** What to copy: every cell that a destination patch needs, from the source patch that owns it. */
typedef struct {
  mg_distribution_t src, dst;
  int depth;        /**< ghost layers to fill around each destination patch */
  bool interior;    /**< also copy the interior cells of the destination */
  bool faces;       /**< ghosts of the 6 faces only, no edges or corners */
  int face_dir;     /**< 0..2: a face vector, with one more plane at the far wall; -1: cells */
  bool periodic[3]; /**< directions in which the grid wraps around */
} mg_copy_spec_t;

/** The part of the send or receive buffer that is exchanged with one other rank. */
typedef struct {
  int64_t rank;
  int64_t offset, count; /**< values */
} mg_message_t;

/** List of copies with its length. */
typedef struct {
  mg_copy_t *item;
  int n, capacity;
} mg_copy_list_t;

/** Copies and messages of one rank. Free with mg_copy_plan_free. */
typedef struct {
  mg_copy_list_t pack;   /**< source patches to the send buffer */
  mg_copy_list_t local;  /**< source to destination patches of this rank */
  mg_copy_list_t unpack; /**< receive buffer to destination patches */
  mg_message_t *send, *receive;
  int n_send, n_receive;
  int64_t send_values, receive_values;
} mg_copy_plan_t;

/** The halo exchange of a level: all ghosts of `depth` layers, including edges and corners. */
mg_copy_spec_t mg_copy_halo(const mg_layout_t *layout, int depth, const bool periodic[3]);

/** Build the copies and messages of this rank.
 *  @return MG_OK, MG_ERR_MEMORY; nothing remains allocated on error */
MG_MUST_CHECK mg_status_t mg_copy_plan_build(const mg_copy_spec_t *spec, int64_t rank,
                                             mg_copy_plan_t *plan);
void mg_copy_plan_free(mg_copy_plan_t *plan);

#endif
