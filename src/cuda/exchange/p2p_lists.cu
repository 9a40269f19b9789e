/* Build the tile lists for a rank's messages, once per exchange plan. */
#include "cuda/exchange/p2p_tiles.h"
#include <cstdlib>

static bool as_words(int64_t values) {
  return values <= MG_P2P_WORDS_VALUES;
}

/* Maximum cells per tile. With words, one cell per thread. Large messages use tiles big enough to
 * keep a list to a few thousand tiles. */
static int64_t max_tile_cells(int64_t values) {
  return as_words(values) ? (int64_t)MG_TILE_THREADS : mg_tile_cells(values);
}

static int64_t cells_of(const mg_copy_t *c) {
  return (int64_t)c->n[0] * c->n[1] * c->n[2];
}

static int64_t tiles_of(const mg_copy_t *items, int n_items, int64_t first, int64_t values) {
  int64_t tiles = 0;
  for (const mg_copy_t *c = items; c < items + n_items; c++)
    if (c->buffer >= first && c->buffer < first + values)
      tiles += (cells_of(c) + max_tile_cells(values) - 1) / max_tile_cells(values);
  return tiles;
}

mg_p2p_bytes_t mg_p2p_bytes(const mg_copy_t *items, int n_items, int64_t first, int64_t values) {
  const int64_t counters = tiles_of(items, n_items, first, values) * (int64_t)sizeof(mg_counter_t);
  const bool words = as_words(values);
  return {MG_P2P_SLOTS * values * (words ? MG_WORD_BYTES : (int64_t)sizeof(mg_real_t)),
          words ? 0 : counters, counters};
}

static mg_cuboid_address_t patch_of(const mg_view_t *view, const mg_copy_t *c, bool source) {
  return mg_cuboid_address(view, source ? c->src_patch : c->dst_patch,
                           source ? c->src_lo : c->dst_lo, c->n, nullptr);
}

/** The lists of one direction, on the host. */
struct plan_t {
  const mg_view_t *view;
  const mg_copy_t *item;
  const mg_p2p_message_t *message;
  int n_items, n_messages;
  bool sending;
};

/* A tile of item c; `index` is its number within the message. */
static mg_p2p_tile_t tile_of(const plan_t *p, const mg_p2p_message_t *m, const mg_copy_t *c,
                             const mg_tile_t &tile, int index) {
  mg_p2p_tile_t s = {};
  const int64_t ni = c->n[0], nj = c->n[1];
  const int64_t width = as_words(m->values) ? MG_WORD_BYTES : (int64_t)sizeof(mg_real_t);
  const int64_t before = c->buffer - m->first + tile.i + ni * (tile.j + nj * tile.k);
  mg_counter_t *const arrivals =
      as_words(m->values) ? nullptr : (mg_counter_t *)m->arrivals + index;
  mg_counter_t *const acks = m->acks ? (mg_counter_t *)m->acks + index : nullptr;
  s.tile = tile;
  s.rank = m->rank;
  s.ni = (unsigned)ni;
  s.nj = (unsigned)nj;
  s.cells = patch_of(p->view, c, p->sending);
  s.slot = (char *)m->slots + before * width;
  s.slot_stride = m->values * width;
  s.signal = p->sending ? arrivals : acks;
  s.wait_for = p->sending ? acks : arrivals;
  s.words = as_words(m->values);
  return s;
}

/* Append the tiles of a message to `out`. */
static mg_status_t add_message(const plan_t *p, const mg_p2p_message_t *m, mg_p2p_tile_t *out,
                               int *n) {
  int first = 0, n_items = 0, n_tiles = 0;
  while (first < p->n_items && p->item[first].buffer < m->first)
    first++;
  while (first + n_items < p->n_items && p->item[first + n_items].buffer < m->first + m->values)
    n_items++;
  const mg_copy_t *const item = p->item + first;
  mg_copy_tile_t *sizes;
  MG_TRY(mg_new(&sizes, n_items, "copy lists"));
  for (int c = 0; c < n_items; c++)
    memcpy(sizes[c].n, item[c].n, sizeof sizes[c].n);
  mg_tile_t *tile = nullptr;
  const mg_status_t status =
      mg_cuboids_cut(sizes, n_items, max_tile_cells(m->values), &tile, &n_tiles);
  for (int t = 0; t < n_tiles && status == MG_OK; t++)
    out[(*n)++] = tile_of(p, m, &item[tile[t].copy], tile[t], t);
  free(sizes);
  free(tile);
  return status;
}

static mg_status_t create_direction(const plan_t *p, mg_direction_t *out) {
  int64_t n_tiles = 0;
  for (const mg_p2p_message_t *m = p->message; m < p->message + p->n_messages; m++)
    n_tiles += tiles_of(p->item, p->n_items, m->first, m->values);
  if (n_tiles == 0) return MG_OK;
  const size_t bytes = sizeof(mg_p2p_tile_t) * (size_t)n_tiles;
  mg_p2p_tile_t *tiles = (mg_p2p_tile_t *)aligned_alloc(alignof(mg_p2p_tile_t), bytes);
  mg_status_t status = tiles ? MG_OK : mg_out_of_memory(bytes, "tile lists");
  for (int m = 0; m < p->n_messages && status == MG_OK; m++)
    status = add_message(p, &p->message[m], tiles, &out->n);
  if (status == MG_OK)
    status = mg_cuda_to_device(tiles, sizeof *tiles * (size_t)out->n, (void **)&out->tiles);
  free(tiles);
  return status;
}

mg_status_t mg_p2p_create(const mg_p2p_job_t *job, mg_p2p_t **out) {
  MG_TRY(mg_new(out, 1, "peer-to-peer exchanges"));
  mg_p2p_t *const p2p = *out;
  const plan_t out_plan = {job->src, job->pack, job->sent, job->n_pack, job->n_sent, true};
  const plan_t in_plan = {job->dst,      job->unpack,     job->received,
                          job->n_unpack, job->n_received, false};
  p2p->src = mg_vectors_in(job->src);
  p2p->dst = mg_vectors_in(job->dst);
  mg_status_t status = create_direction(&out_plan, &p2p->out);
  if (status == MG_OK) status = create_direction(&in_plan, &p2p->in);
  if (status == MG_OK)
    status = mg_cuboids_of({job->src, job->dst, nullptr, job->local, job->n_local}, &p2p->local);
  if (status == MG_OK)
    status = mg_p2p_max_blocks(job->sharers, &p2p->max_blocks, &p2p->max_blocks_concurrent);
  if (status == MG_OK) return MG_OK;
  mg_p2p_free(p2p);
  *out = nullptr;
  return status;
}

void mg_p2p_free(mg_p2p_t *p2p) {
  if (!p2p) return;
  mg_cuda_release(p2p->out.tiles, 0, MG_SPACE_LEVEL);
  mg_cuda_release(p2p->in.tiles, 0, MG_SPACE_LEVEL);
  mg_cuboids_free(&p2p->local);
  free(p2p);
}
