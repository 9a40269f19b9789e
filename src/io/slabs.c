#include "io/slabs.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/* A patch and the rank that holds it. */
typedef struct {
  int64_t rank;
  mg_cuboid_t cells;
} holding_t;

enum { SLAB_BYTES = 2 << 20, MAX_SETS = 3 };

struct mg_slabs {
  const mg_level_t *level;
  const int32_t *n; /* cells of the level */
  int32_t planes;   /* per slab */
  int n_slabs, n_holders, n_rounds;
  int me;
  holding_t *holding; /* on holders: every patch, ordered by rank */
  int n_holdings;
  int64_t slab_doubles, pack_doubles;
  int n_sets;
  double *set[MAX_SETS]; /* a slab, then packed parts; rounds cycle through the sets */
  double *incoming;
  mg_copies_t *copies; /* in flight */
  mg_requests_t *requests;
};

static int holder_of(const mg_slabs_t *s, int slab) {
  const int64_t size = mg_comm_size(mg_comm_world());
  return (int)(slab % s->n_holders * size / s->n_holders);
}

/* First slab of a round, and one past its last. */
static int round_begin(const mg_slabs_t *s, int round) {
  return round * s->n_holders;
}
static int round_end(const mg_slabs_t *s, int round) {
  const int end = (round + 1) * s->n_holders;
  return end < s->n_slabs ? end : s->n_slabs;
}

/* The slab that this rank holds in a round, or -1. */
static int own_slab(const mg_slabs_t *s, int round) {
  for (int slab = round_begin(s, round); slab < round_end(s, round); slab++)
    if (holder_of(s, slab) == s->me) return slab;
  return -1;
}

static bool is_holder(const mg_slabs_t *s) {
  return own_slab(s, 0) >= 0;
}

/* Intersection of a cuboid with a slab; false if empty. */
static bool within(const mg_slabs_t *s, int slab, const mg_cuboid_t *c, mg_cuboid_t *part) {
  const int32_t first = slab * s->planes, after = first + s->planes;
  const int32_t lo = c->lo[2] > first ? c->lo[2] : first;
  const int32_t end = c->lo[2] + c->n[2];
  *part = *c;
  part->lo[2] = lo;
  part->n[2] = (end < after ? end : after) - lo;
  return part->n[2] > 0;
}

static mg_cuboid_t cuboid_of(const mg_patch_t *p) {
  mg_cuboid_t c;
  memcpy(c.lo, p->lo, sizeof c.lo);
  memcpy(c.n, p->n, sizeof c.n);
  return c;
}

bool mg_slabs_fetch_goes_on(const mg_slabs_t *s) {
  return s->level->backend->queue.wait != NULL;
}

mg_slab_t mg_slabs_planes(const mg_slabs_t *s, int round) {
  const int slab = own_slab(s, round);
  if (slab < 0) return (mg_slab_t){0, 0, NULL};
  const int32_t first = slab * s->planes, left = s->n[2] - first;
  return (mg_slab_t){first, left < s->planes ? left : s->planes, s->set[round % s->n_sets]};
}

int mg_slabs_rounds(const mg_slabs_t *s) {
  return s->n_rounds;
}

/* A part needs no packing if it is a whole slab in a patch of the slab's holder. */
static bool is_whole(const mg_slabs_t *s, int slab, const mg_cuboid_t *part) {
  const int32_t left = s->n[2] - slab * s->planes;
  return holder_of(s, slab) == s->me && part->n[0] == s->n[0] && part->n[1] == s->n[1] &&
         part->n[2] == (left < s->planes ? left : s->planes);
}

/* Iterate over this rank's parts of a round's slabs in packing order. `list` may be NULL. */
static int parts_of_round(const mg_slabs_t *s, int round, bool storing, mg_copy_t *list,
                          int64_t *doubles) {
  const mg_view_t *v = &s->level->store.view;
  int n = 0;
  *doubles = 0;
  for (int slab = round_begin(s, round); slab < round_end(s, round); slab++)
    for (int q = 0; q < v->n_patches; q++) {
      const mg_cuboid_t patch = cuboid_of(&v->patch[q]);
      mg_cuboid_t part;
      if (!within(s, slab, &patch, &part)) continue;
      const bool whole = is_whole(s, slab, &part);
      if (list) {
        mg_copy_t *item = &list[n];
        *item = (mg_copy_t){.src_patch = storing ? -1 : q, .dst_patch = storing ? q : -1};
        int32_t *lo = storing ? item->dst_lo : item->src_lo;
        lo[2] = part.lo[2] - patch.lo[2];
        memcpy(item->n, part.n, sizeof item->n);
        item->buffer = whole ? 0 : s->slab_doubles + *doubles;
      }
      n++;
      if (!whole) *doubles += mg_volume(part.n);
    }
  return n;
}

static void settle_sizes(mg_slabs_t *s, int n_holders) {
  const int64_t plane = (int64_t)s->n[0] * s->n[1];
  const int64_t fit = SLAB_BYTES / (plane * (int64_t)sizeof(double));
  const int32_t share = (s->n[2] + n_holders - 1) / n_holders;
  s->planes = (int32_t)(fit < 1 ? 1 : fit < share ? fit : share);
  s->n_slabs = (s->n[2] + s->planes - 1) / s->planes;
  s->n_holders = n_holders < s->n_slabs ? n_holders : s->n_slabs;
  s->n_rounds = (s->n_slabs + s->n_holders - 1) / s->n_holders;
  for (int round = 0; round < s->n_rounds; round++) {
    int64_t doubles;
    (void)parts_of_round(s, round, false, NULL, &doubles);
    if (doubles > s->pack_doubles) s->pack_doubles = doubles;
  }
  s->slab_doubles = is_holder(s) ? plane * s->planes : 0;
}

static mg_status_t list_holdings(mg_slabs_t *s) {
  const mg_layout_t *layout = &s->level->plan->layout;
  int capacity = 0;
  for (int64_t rank = 0; rank < layout->world_ranks; rank++) {
    if (mg_layout_share(layout, rank) == 0) continue;
    mg_cuboid_t *patch;
    int n;
    MG_TRY(mg_layout_patches(layout, rank, &patch, &n));
    if (s->n_holdings + n > capacity) {
      capacity = 2 * (s->n_holdings + n);
      const mg_status_t status = mg_grow(&s->holding, capacity, "patch lists");
      if (status != MG_OK) {
        free(patch);
        return status;
      }
    }
    for (int q = 0; q < n; q++)
      s->holding[s->n_holdings++] = (holding_t){rank, patch[q]};
    free(patch);
  }
  return MG_OK;
}

static size_t set_bytes(const mg_slabs_t *s) {
  return (size_t)(s->slab_doubles + s->pack_doubles) * sizeof(double);
}

static mg_status_t allocate(mg_slabs_t *s) {
  for (int set = 0; set < s->n_sets && set_bytes(s) > 0; set++) {
    void *memory;
    MG_TRY(s->level->backend->alloc(set_bytes(s), MG_SPACE_SHARED, &memory));
    s->set[set] = memory;
  }
  if (is_holder(s)) {
    MG_TRY(mg_new(&s->incoming, s->slab_doubles, "I/O slabs"));
    MG_TRY(list_holdings(s));
  }
  return mg_requests_create(s->n_holders, &s->requests);
}

mg_status_t mg_slabs_create(const mg_level_t *level, int n_holders, mg_slabs_t **out) {
  mg_slabs_t *s;
  mg_status_t status = mg_new(&s, 1, "I/O slabs");
  *out = NULL;
  if (s) {
    s->level = level;
    s->n = level->plan->layout.n;
    s->me = mg_comm_rank(mg_comm_world());
    /* One slab being written, one being read, and one in flight from the device. */
    s->n_sets = mg_slabs_fetch_goes_on(s) ? 3 : 2;
    settle_sizes(s, n_holders);
    status = allocate(s);
  }
  status = mg_comm_agree(status);
  if (status == MG_OK)
    *out = s;
  else
    mg_slabs_free(s);
  return status;
}

void mg_slabs_free(mg_slabs_t *s) {
  if (!s) return;
  const mg_backend_t *backend = s->level->backend;
  if (s->copies) {
    if (backend->queue.wait) (void)backend->queue.wait();
    backend->release_copies(s->copies);
  }
  for (int set = 0; set < s->n_sets; set++)
    if (s->set[set]) backend->release(s->set[set], set_bytes(s), MG_SPACE_SHARED);
  mg_requests_free(s->requests);
  free(s->incoming);
  free(s->holding);
  free(s);
}

/* Start the copies between the patches and a round's set. */
static mg_status_t start_copies(mg_slabs_t *s, mg_vector_t vec, int round, bool storing) {
  const mg_backend_t *backend = s->level->backend;
  int64_t doubles;
  const int n = parts_of_round(s, round, storing, NULL, &doubles);
  if (n == 0) return MG_OK;
  mg_copy_t *list;
  MG_TRY(mg_new(&list, n, "copy lists"));
  (void)parts_of_round(s, round, storing, list, &doubles);
  const mg_view_t *v = &s->level->store.view;
  const mg_copy_job_t job = {v, v, s->set[round % s->n_sets], list, n};
  mg_status_t status = backend->prepare_copies(&job, &s->copies);
  if (status == MG_OK) status = backend->copy(s->copies, vec, vec);
  if (status == MG_OK && backend->queue.event_record) status = backend->queue.event_record();
  free(list);
  return status;
}

static mg_status_t finish_copies(mg_slabs_t *s) {
  const mg_backend_t *backend = s->level->backend;
  if (!s->copies) return MG_OK;
  mg_status_t status = MG_OK;
  if (backend->queue.event_wait)
    status = backend->queue.event_wait();
  else if (backend->queue.wait)
    status = backend->queue.wait();
  backend->release_copies(s->copies);
  s->copies = NULL;
  return status;
}

mg_status_t mg_slabs_fetch_begin(mg_slabs_t *s, mg_vector_t vec, int round) {
  return start_copies(s, vec, round, false);
}

/* Copy the rows between a dense part and its slab. */
static void move_rows(const mg_slab_t *slab, const int32_t n[3], const mg_cuboid_t *part,
                      double *dense, bool into_slab) {
  const size_t bytes = (size_t)part->n[0] * sizeof(double);
  for (int32_t k = 0; k < part->n[2]; k++)
    for (int32_t j = 0; j < part->n[1]; j++) {
      double *row =
          slab->cells +
          ((int64_t)(part->lo[2] + k - slab->first) * n[1] + part->lo[1] + j) * (int64_t)n[0] +
          part->lo[0];
      memcpy(into_slab ? row : dense, into_slab ? dense : row, bytes);
      dense += part->n[0];
    }
}

/* Start a message of n cells to or from another rank. */
static mg_status_t post(const mg_slabs_t *s, int64_t rank, double *cells, int64_t n, bool sends) {
  const int64_t bytes = n * (int64_t)sizeof *cells;
  return sends ? mg_comm_send(s->requests, rank, cells, bytes)
               : mg_comm_receive(s->requests, rank, cells, bytes);
}

/* Iterate over the parts of this rank's slab that other ranks hold: exchange messages, or move
 * rows. */
static mg_status_t exchange_with_others(mg_slabs_t *s, int slab_number, const mg_slab_t *slab,
                                        bool storing, bool moving) {
  double *dense = s->incoming;
  int64_t rank = -1, count = 0;
  double *start = dense;
  for (int h = 0; slab->n > 0 && h < s->n_holdings; h++) {
    mg_cuboid_t part;
    if (s->holding[h].rank == s->me || !within(s, slab_number, &s->holding[h].cells, &part))
      continue;
    if (moving) {
      move_rows(slab, s->n, &part, dense, !storing);
    } else {
      if (rank >= 0 && s->holding[h].rank != rank) {
        MG_TRY(post(s, rank, start, count, storing));
        start += count;
        count = 0;
      }
      rank = s->holding[h].rank;
      count += mg_volume(part.n);
    }
    dense += mg_volume(part.n);
  }
  if (moving || count == 0) return MG_OK;
  return post(s, rank, start, count, storing);
}

/* Exchange this rank's packed parts with the holders of the slabs; move its own parts. */
static mg_status_t exchange_packed(mg_slabs_t *s, int round, const mg_slab_t *own, bool storing) {
  const mg_view_t *v = &s->level->store.view;
  double *dense = s->set[round % s->n_sets] + s->slab_doubles;
  for (int slab = round_begin(s, round); slab < round_end(s, round); slab++) {
    const int holder = holder_of(s, slab);
    int64_t count = 0;
    for (int q = 0; q < v->n_patches; q++) {
      const mg_cuboid_t patch = cuboid_of(&v->patch[q]);
      mg_cuboid_t part;
      if (!within(s, slab, &patch, &part) || is_whole(s, slab, &part)) continue;
      if (holder == s->me) move_rows(own, s->n, &part, dense + count, !storing);
      count += mg_volume(part.n);
    }
    if (holder != s->me && count > 0) MG_TRY(post(s, holder, dense, count, !storing));
    dense += count;
  }
  return MG_OK;
}

mg_status_t mg_slabs_fetch_end(mg_slabs_t *s, int round, mg_slab_t *slab) {
  *slab = mg_slabs_planes(s, round);
  const int number = own_slab(s, round);
  MG_TRY(finish_copies(s));
  MG_TRY(exchange_with_others(s, number, slab, false, false));
  MG_TRY(exchange_packed(s, round, slab, false));
  MG_TRY(mg_requests_wait(s->requests));
  return exchange_with_others(s, number, slab, false, true);
}

mg_status_t mg_slabs_store(mg_slabs_t *s, mg_vector_t vec, int round) {
  const mg_slab_t slab = mg_slabs_planes(s, round);
  const int number = own_slab(s, round);
  MG_TRY(exchange_with_others(s, number, &slab, true, true));
  MG_TRY(exchange_with_others(s, number, &slab, true, false));
  MG_TRY(exchange_packed(s, round, &slab, true));
  MG_TRY(mg_requests_wait(s->requests));
  MG_TRY(start_copies(s, vec, round, true));
  return finish_copies(s);
}
