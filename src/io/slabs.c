#include "io/slabs.h"
#include "base/alloc.h"
#include "transport/redistribute.h"
#include <stdlib.h>
#include <string.h>

enum { SLAB_BYTES = 2 << 20 };

struct mg_slabs {
  mg_redistribution_t cells;
  const int32_t *n; /* cells of the level */
  int32_t planes;   /* per slab */
  int n_holders, n_rounds, n_sets;
  int holder; /* number of this rank among those that hold slabs; -1: it holds none */
  size_t set_bytes;
  void *sets;     /* of a slab each; rounds cycle through them */
  mg_held_t held; /* the slab in flight */
};

static int rank_of(const mg_slabs_t *s, int64_t holder) {
  return (int)(holder * mg_comm_size(mg_comm_world()) / s->n_holders);
}

static double *set_of(const mg_slabs_t *s, int round) {
  return (double *)s->sets + (size_t)(round % s->n_sets) * s->set_bytes / sizeof(double);
}

/* Planes of a holder's slab in a round. */
static mg_slab_t planes_of(const mg_slabs_t *s, int round, int holder) {
  const int64_t first = ((int64_t)round * s->n_holders + holder) * s->planes,
                left = s->n[2] - first;
  if (holder < 0 || left <= 0) return (mg_slab_t){0, 0, NULL};
  return (mg_slab_t){(int32_t)first, left < s->planes ? (int32_t)left : s->planes,
                     set_of(s, round)};
}

bool mg_slabs_fetch_goes_on(const mg_slabs_t *s) {
  return s->cells.backend->queue.wait != NULL;
}

mg_slab_t mg_slabs_planes(const mg_slabs_t *s, int round) {
  return planes_of(s, round, s->holder);
}

int mg_slabs_rounds(const mg_slabs_t *s) {
  return s->n_rounds;
}

static void settle_sizes(mg_slabs_t *s, int n_holders) {
  const int64_t plane = (int64_t)s->n[0] * s->n[1];
  const int64_t fit = SLAB_BYTES / (plane * (int64_t)sizeof(double));
  const int32_t share = (s->n[2] + n_holders - 1) / n_holders;
  s->planes = (int32_t)(fit < 1 ? 1 : fit < share ? fit : share);
  const int n_slabs = (s->n[2] + s->planes - 1) / s->planes;
  s->n_holders = n_holders < n_slabs ? n_holders : n_slabs;
  s->n_rounds = (n_slabs + s->n_holders - 1) / s->n_holders;
  s->holder = s->n_holders - 1;
  while (s->holder >= 0 && rank_of(s, s->holder) != mg_comm_rank(mg_comm_world()))
    s->holder--;
  s->set_bytes = s->holder >= 0 ? (size_t)(plane * s->planes) * sizeof(double) : 0;
}

static mg_status_t allocate(mg_slabs_t *s) {
  const int size = mg_comm_size(mg_comm_world());
  MG_TRY(mg_redistribution_create(size, &s->cells));
  for (int rank = 0; rank <= size; rank++)
    s->cells.first[rank] = rank;
  return s->set_bytes == 0
             ? MG_OK
             : s->cells.backend->alloc((size_t)s->n_sets * s->set_bytes, MG_SPACE_SHARED, &s->sets);
}

mg_status_t mg_slabs_create(const mg_level_t *level, int n_holders, mg_slabs_t **out) {
  mg_slabs_t *s;
  mg_status_t status = mg_new(&s, 1, "I/O slabs");
  *out = NULL;
  if (s) {
    s->cells = (mg_redistribution_t){.backend = level->backend,
                                     .view = &level->store.view,
                                     .layout = &level->plan->layout,
                                     .is_shared = true,
                                     .face_dir = -1};
    s->n = level->plan->layout.n;
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
  mg_redistribution_free(&s->cells);
  if (s->sets)
    s->cells.backend->release(s->sets, (size_t)s->n_sets * s->set_bytes, MG_SPACE_SHARED);
  free(s);
}

static mg_status_t begin(mg_slabs_t *s, mg_vector_t vec, int round, bool storing) {
  const ptrdiff_t row = s->n[0];
  memset(s->cells.cuboid, 0, (size_t)mg_comm_size(mg_comm_world()) * sizeof *s->cells.cuboid);
  for (int holder = 0; holder < s->n_holders; holder++) {
    const mg_slab_t slab = planes_of(s, round, holder);
    if (slab.n > 0)
      s->cells.cuboid[rank_of(s, holder)] =
          (mg_cuboid_t){{0, 0, slab.first}, {s->n[0], s->n[1], slab.n}};
  }
  s->cells.storing = storing;
  s->held = (mg_held_t){{set_of(s, round), {1, row, row * s->n[1]}}, false};
  return mg_redistribution_begin(&s->cells, &s->held, vec);
}

mg_status_t mg_slabs_fetch_begin(mg_slabs_t *s, mg_vector_t vec, int round) {
  return begin(s, vec, round, false);
}

mg_status_t mg_slabs_fetch_end(mg_slabs_t *s, int round, mg_slab_t *slab) {
  *slab = mg_slabs_planes(s, round);
  return mg_redistribution_finish(&s->cells);
}

mg_status_t mg_slabs_store(mg_slabs_t *s, mg_vector_t vec, int round) {
  MG_TRY(begin(s, vec, round, true));
  return mg_redistribution_finish(&s->cells);
}
