#include "plan/copy_plan.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/* Cells in direction d of the grid of a distribution. */
static int32_t grid_dim(const mg_distribution_t *s, int d) {
  return s->halved ? mg_layout_coarse_n(s->layout, d) : s->layout->n[d];
}

static mg_status_t patches_of(const mg_distribution_t *s, int64_t rank, mg_cuboid_t **patches,
                              int *n) {
  if (s->cuboid) {
    *n = s->first[rank + 1] - s->first[rank];
    MG_TRY(mg_new(patches, *n, "patch lists"));
    if (*n > 0) memcpy(*patches, s->cuboid + s->first[rank], (size_t)*n * sizeof **patches);
    return MG_OK;
  }
  MG_TRY(mg_layout_patches(s->layout, rank, patches, n));
  if (s->halved)
    for (int p = 0; p < *n; p++)
      (*patches)[p] = mg_layout_coarse(s->layout, &(*patches)[p]);
  return MG_OK;
}

/* Sorted set of ranks. */
typedef struct {
  int64_t *rank;
  int n, capacity;
} rank_set_t;

static mg_status_t rank_set_add(rank_set_t *set, int64_t rank) {
  int at = set->n;
  while (at > 0 && set->rank[at - 1] >= rank)
    at--;
  if (at < set->n && set->rank[at] == rank) return MG_OK;
  if (set->n == set->capacity) {
    const int capacity = set->capacity ? 2 * set->capacity : 16;
    MG_TRY(mg_grow(&set->rank, capacity, "rank lists"));
    set->capacity = capacity;
  }
  memmove(set->rank + at + 1, set->rank + at, (size_t)(set->n - at) * sizeof *set->rank);
  set->rank[at] = rank;
  set->n++;
  return MG_OK;
}

/* Box of a cell in direction d. Cells beyond an end of the grid are those of its other end. */
static int32_t box_at(const mg_distribution_t *s, int d, int32_t cell) {
  const int32_t n = grid_dim(s, d), w = s->layout->box[d], m = s->layout->boxes[d];
  int32_t turns = 0;
  for (; cell < 0; cell += n)
    turns--;
  for (; cell >= n; cell -= n)
    turns++;
  return turns * m + (s->halved ? mg_first_child(&s->layout->single[d], cell) : cell) / w;
}

/* Range of boxes, lo to hi inclusive in each direction. */
typedef struct {
  int32_t lo[3], hi[3];
} range_t;

/* Add the owners of all boxes of a range within the grid; there may be billions of boxes. If
 * two opposite corners have the same owner, it owns all boxes between them. This holds because
 * a rank has a cuboid, or a segment of the curve, along which positions increase with each
 * coordinate. */
static mg_status_t add_owners(const mg_layout_t *layout, const range_t *range, rank_set_t *set) {
  const int64_t owner = mg_layout_owner(layout, range->lo);
  if (owner == mg_layout_owner(layout, range->hi)) return rank_set_add(set, owner);
  range_t below = *range, above = *range;
  int d = 0;
  for (int e = 1; e < 3; e++)
    if (range->hi[e] - range->lo[e] > range->hi[d] - range->lo[d]) d = e;
  /* Cut where an octant of the curve begins: at the most trailing zero bits. */
  int32_t cut = range->hi[d];
  while ((cut & (cut - 1)) > range->lo[d])
    cut &= cut - 1;
  below.hi[d] = cut - 1;
  above.lo[d] = cut;
  MG_TRY(add_owners(layout, &below, set));
  return add_owners(layout, &above, set);
}

/* Same for a range that may extend beyond the grid, where it wraps around. */
static mg_status_t add_wrapped(const mg_layout_t *layout, const range_t *range, rank_set_t *set) {
  const int32_t *m = layout->boxes;
  for (int code = 0; code < 27; code++) {
    const int32_t shift[3] = {(code % 3 - 1) * m[0], (code / 3 % 3 - 1) * m[1],
                              (code / 9 - 1) * m[2]};
    range_t part;
    bool some = true;
    for (int d = 0; d < 3; d++) {
      const int32_t lo = range->lo[d] + shift[d], hi = range->hi[d] + shift[d];
      part.lo[d] = lo > 0 ? lo : 0;
      part.hi[d] = hi < m[d] ? hi : m[d] - 1;
      some = some && part.lo[d] <= part.hi[d];
    }
    if (some) MG_TRY(add_owners(layout, &part, set));
  }
  return MG_OK;
}

/* Add the owners of all boxes of `other` within `depth` cells of a cuboid. */
static mg_status_t add_near(const mg_distribution_t *other, const mg_cuboid_t *c, int depth,
                            const bool periodic[3], rank_set_t *set) {
  const int32_t *m = other->layout->boxes;
  range_t near;
  for (int d = 0; d < 3; d++) {
    near.lo[d] = box_at(other, d, c->lo[d] - depth);
    near.hi[d] = box_at(other, d, c->lo[d] + c->n[d] - 1 + depth);
    if (!periodic[d]) {
      near.lo[d] = near.lo[d] < 0 ? 0 : near.lo[d];
      near.hi[d] = near.hi[d] >= m[d] ? m[d] - 1 : near.hi[d];
    } else if (near.hi[d] - near.lo[d] >= m[d]) { /* all boxes, once */
      near.lo[d] = 0;
      near.hi[d] = m[d] - 1;
    }
  }
  return add_wrapped(other->layout, &near, set);
}

/* Add the ranks with cells in any of their cuboids. */
static mg_status_t add_holders(const mg_distribution_t *other, rank_set_t *set) {
  for (int64_t rank = 0; rank < other->layout->world_ranks; rank++)
    for (int c = other->first[rank]; c < other->first[rank + 1]; c++)
      if (mg_volume(other->cuboid[c].n) > 0) MG_TRY(rank_set_add(set, rank));
  return MG_OK;
}

/* Add this rank, and the ranks that may have cells in or near its cuboids. */
static mg_status_t find_peers(const mg_copy_spec_t *spec, const mg_distribution_t *other,
                              int64_t rank, const mg_cuboid_t *cuboids, int n, rank_set_t *set) {
  if (n > 0) MG_TRY(rank_set_add(set, rank));
  if (n > 0 && other->cuboid) return add_holders(other, set);
  for (int c = 0; c < n; c++)
    if (mg_volume(cuboids[c].n) > 0)
      MG_TRY(add_near(other, &cuboids[c], spec->depth, spec->periodic, set));
  return MG_OK;
}

static mg_status_t list_push(mg_copy_list_t *list, const mg_copy_t *copy) {
  if (list->n == list->capacity) {
    const int capacity = list->capacity ? 2 * list->capacity : 32;
    MG_TRY(mg_grow(&list->item, capacity, "copy lists"));
    list->capacity = capacity;
  }
  list->item[list->n++] = *copy;
  return MG_OK;
}

/* Part of a destination patch by direction -1, 0, 1: a slab of ghosts, or the cells in between. */
static mg_cuboid_t piece_of(const mg_cuboid_t *c, const int direction[3], int depth) {
  mg_cuboid_t piece;
  for (int d = 0; d < 3; d++) {
    piece.lo[d] = direction[d] < 0   ? c->lo[d] - depth
                  : direction[d] > 0 ? c->lo[d] + c->n[d]
                                     : c->lo[d];
    piece.n[d] = direction[d] == 0 ? c->n[d] : depth;
  }
  return piece;
}

/* The last plane of a face vector is at the far wall, beyond the last cell. */
static mg_cuboid_t with_far_wall(const mg_copy_spec_t *spec, const mg_cuboid_t *c) {
  mg_cuboid_t grown = *c;
  const int d = spec->face_dir;
  if (d >= 0 && !spec->periodic[d] && c->lo[d] + c->n[d] == grid_dim(&spec->src, d)) grown.n[d]++;
  return grown;
}

/* All copies from the source patches of one rank to the destination patches of one rank. */
typedef struct {
  const mg_copy_spec_t *spec;
  const mg_cuboid_t *src, *dst;
  int n_src, n_dst;
  bool same_rank;
} pair_t;

static mg_status_t add_piece(const pair_t *pair, int q, const mg_cuboid_t *piece,
                             const int32_t shift[3], mg_copy_list_t *list) {
  const bool unshifted = shift[0] == 0 && shift[1] == 0 && shift[2] == 0;
  mg_cuboid_t shifted = *piece;
  for (int d = 0; d < 3; d++)
    shifted.lo[d] += shift[d];
  for (int s = 0; s < pair->n_src; s++) {
    const mg_cuboid_t src = with_far_wall(pair->spec, &pair->src[s]);
    const mg_cuboid_t common = mg_cuboid_common(&shifted, &src);
    if (mg_volume(common.n) == 0) continue;
    const bool same_cells = pair->same_rank && unshifted && s == q && !pair->spec->interior;
    if (same_cells) continue; /* faces of the far wall, already in place */
    mg_copy_t copy = {.src_patch = s, .dst_patch = q};
    for (int d = 0; d < 3; d++) {
      copy.n[d] = common.n[d];
      copy.src_lo[d] = common.lo[d] - pair->src[s].lo[d];
      copy.dst_lo[d] = common.lo[d] - shift[d] - pair->dst[q].lo[d];
    }
    MG_TRY(list_push(list, &copy));
  }
  return MG_OK;
}

static mg_status_t add_pieces(const pair_t *pair, int q, const int32_t shift[3],
                              mg_copy_list_t *list) {
  const mg_copy_spec_t *spec = pair->spec;
  for (int code = 0; code < 27; code++) {
    const int direction[3] = {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1};
    const int off_axis = abs(direction[0]) + abs(direction[1]) + abs(direction[2]);
    if (off_axis == 0 && !spec->interior) continue;
    if (off_axis > 0 && spec->depth == 0) continue;
    if (off_axis > 1 && spec->faces) continue;
    mg_cuboid_t piece = piece_of(&pair->dst[q], direction, spec->depth);
    if (off_axis == 0) piece = with_far_wall(spec, &piece);
    MG_TRY(add_piece(pair, q, &piece, shift, list));
  }
  return MG_OK;
}

static mg_status_t pair_list(const pair_t *pair, mg_copy_list_t *list) {
  const mg_distribution_t *src = &pair->spec->src;
  const int32_t n[3] = {grid_dim(src, 0), grid_dim(src, 1), grid_dim(src, 2)};
  const bool *wraps = pair->spec->periodic;
  for (int q = 0; q < pair->n_dst; q++)
    for (int k = -wraps[2]; k <= wraps[2]; k++)
      for (int j = -wraps[1]; j <= wraps[1]; j++)
        for (int i = -wraps[0]; i <= wraps[0]; i++) {
          const int32_t shift[3] = {i * n[0], j * n[1], k * n[2]};
          MG_TRY(add_pieces(pair, q, shift, list));
        }
  return MG_OK;
}

/* Append the copies of a pair to `list` as one message; the buffer replaces the remote patch. */
static mg_status_t add_message(const mg_copy_list_t *copies, bool sending, int64_t rank,
                               mg_copy_list_t *list, mg_message_t *message, int64_t *total) {
  *message = (mg_message_t){.rank = rank, .offset = *total};
  for (int c = 0; c < copies->n; c++) {
    mg_copy_t copy = copies->item[c];
    copy.buffer = *total;
    *total += mg_volume(copy.n);
    if (sending)
      copy.dst_patch = -1;
    else
      copy.src_patch = -1;
    MG_TRY(list_push(list, &copy));
  }
  message->count = *total - message->offset;
  return MG_OK;
}

/* Source and destination patches of this rank while the plan is built. */
typedef struct {
  mg_cuboid_t *src, *dst;
  int n_src, n_dst;
} mine_t;

/* Add the messages to or from all peers; when receiving, also the copies within this rank. */
static mg_status_t build_messages(const mg_copy_spec_t *spec, int64_t rank, const mine_t *mine,
                                  const rank_set_t *peers, bool sending, mg_copy_plan_t *plan) {
  mg_message_t **const messages = sending ? &plan->send : &plan->receive;
  int *const n = sending ? &plan->n_send : &plan->n_receive;
  MG_TRY(mg_new(messages, peers->n, "message lists"));
  for (int i = 0; i < peers->n; i++) {
    const bool same_rank = peers->rank[i] == rank;
    mg_cuboid_t *theirs = NULL;
    int n_theirs = 0;
    mg_copy_list_t copies = {0};
    if (same_rank && sending) continue;
    mg_status_t status =
        patches_of(sending ? &spec->dst : &spec->src, peers->rank[i], &theirs, &n_theirs);
    const pair_t pair = sending
                            ? (pair_t){spec, mine->src, theirs, mine->n_src, n_theirs, false}
                            : (pair_t){spec, theirs, mine->dst, n_theirs, mine->n_dst, same_rank};
    if (status == MG_OK) status = pair_list(&pair, &copies);
    if (status == MG_OK && copies.n > 0 && same_rank) {
      plan->local = copies;
      copies = (mg_copy_list_t){0};
    } else if (status == MG_OK && copies.n > 0) {
      status =
          add_message(&copies, sending, peers->rank[i], sending ? &plan->pack : &plan->unpack,
                      &(*messages)[(*n)++], sending ? &plan->send_values : &plan->receive_values);
    }
    free(theirs);
    free(copies.item);
    MG_TRY(status);
  }
  return MG_OK;
}

mg_copy_spec_t mg_copy_halo(const mg_layout_t *layout, int depth, const bool periodic[3]) {
  const mg_distribution_t cells = {.layout = layout};
  return (mg_copy_spec_t){.src = cells,
                          .dst = cells,
                          .depth = depth,
                          .face_dir = -1,
                          .periodic = {periodic[0], periodic[1], periodic[2]}};
}

mg_status_t mg_copy_plan_build(const mg_copy_spec_t *spec, int64_t rank, mg_copy_plan_t *plan) {
  mine_t mine = {0};
  rank_set_t sources = {0}, targets = {0};
  memset(plan, 0, sizeof *plan);
  mg_status_t status = patches_of(&spec->src, rank, &mine.src, &mine.n_src);
  if (status == MG_OK) status = patches_of(&spec->dst, rank, &mine.dst, &mine.n_dst);
  if (status == MG_OK) status = find_peers(spec, &spec->src, rank, mine.dst, mine.n_dst, &sources);
  if (status == MG_OK) status = find_peers(spec, &spec->dst, rank, mine.src, mine.n_src, &targets);
  if (status == MG_OK) status = build_messages(spec, rank, &mine, &sources, false, plan);
  if (status == MG_OK) status = build_messages(spec, rank, &mine, &targets, true, plan);
  free(mine.src);
  free(mine.dst);
  free(sources.rank);
  free(targets.rank);
  if (status != MG_OK) mg_copy_plan_free(plan);
  return status;
}

void mg_copy_plan_free(mg_copy_plan_t *plan) {
  free(plan->pack.item);
  free(plan->local.item);
  free(plan->unpack.item);
  free(plan->send);
  free(plan->receive);
  memset(plan, 0, sizeof *plan);
}
