#include "io/slabs.h"
#include "base/alloc.h"
#include "level/ops.h"
#include "transport/transport.h"
#include <stdlib.h>
#include <string.h>

enum { SLAB_BYTES = 2 << 20, MAX_SETS = 3 };

struct mg_slabs {
  const mg_level_t *level;
  const int32_t *n; /* cells of the level */
  int32_t planes;   /* per slab */
  int n_slabs, n_holders, n_rounds;
  int me;
  int64_t slab_doubles, packed_doubles;
  int n_sets;
  double *set[MAX_SETS]; /* a slab, then messages of the patches; rounds cycle through the sets */
  double *messages;      /* of the slab */
  mg_view_t slab[MAX_SETS];
  mg_patch_t patch[MAX_SETS]; /* the slab as the only patch */
  mg_cuboid_t *cuboid;        /* of each rank in a round; and their positions in the list */
  int *first;
  mg_copy_plan_t plan;
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

/* Plan the copies of a round. */
static mg_status_t plan_round(mg_slabs_t *s, int round, bool storing) {
  const mg_distribution_t cells = {.layout = &s->level->plan->layout},
                          slabs = {.layout = cells.layout, .cuboid = s->cuboid, .first = s->first};
  const mg_copy_spec_t spec = {.src = storing ? slabs : cells,
                               .dst = storing ? cells : slabs,
                               .interior = true,
                               .face_dir = -1};
  memset(s->cuboid, 0, (size_t)mg_comm_size(mg_comm_world()) * sizeof *s->cuboid);
  for (int slab = round_begin(s, round); slab < round_end(s, round); slab++) {
    const int32_t first = slab * s->planes, left = s->n[2] - first;
    s->cuboid[holder_of(s, slab)] =
        (mg_cuboid_t){{0, 0, first}, {s->n[0], s->n[1], left < s->planes ? left : s->planes}};
  }
  mg_copy_plan_free(&s->plan);
  return mg_copy_plan_build(&spec, s->me, &s->plan);
}

static mg_status_t settle_sizes(mg_slabs_t *s, int n_holders) {
  const int size = mg_comm_size(mg_comm_world());
  const int64_t plane = (int64_t)s->n[0] * s->n[1];
  const int64_t fit = SLAB_BYTES / (plane * (int64_t)sizeof(double));
  const int32_t share = (s->n[2] + n_holders - 1) / n_holders;
  s->planes = (int32_t)(fit < 1 ? 1 : fit < share ? fit : share);
  s->n_slabs = (s->n[2] + s->planes - 1) / s->planes;
  s->n_holders = n_holders < s->n_slabs ? n_holders : s->n_slabs;
  s->n_rounds = (s->n_slabs + s->n_holders - 1) / s->n_holders;
  s->slab_doubles = is_holder(s) ? plane * s->planes : 0;
  MG_TRY(mg_new(&s->cuboid, size, "I/O slabs"));
  MG_TRY(mg_new(&s->first, size + 1, "I/O slabs"));
  for (int rank = 0; rank <= size; rank++)
    s->first[rank] = rank;
  for (int round = 0; round < s->n_rounds; round++) {
    MG_TRY(plan_round(s, round, false));
    if (s->plan.send_values > s->packed_doubles) s->packed_doubles = s->plan.send_values;
  }
  return MG_OK;
}

static size_t set_bytes(const mg_slabs_t *s) {
  return (size_t)(s->slab_doubles + s->packed_doubles) * sizeof(double);
}

static mg_status_t allocate(mg_slabs_t *s) {
  for (int set = 0; set < s->n_sets && set_bytes(s) > 0; set++) {
    void *memory;
    MG_TRY(s->level->backend->alloc(set_bytes(s), MG_SPACE_SHARED, &memory));
    s->set[set] = memory;
  }
  if (is_holder(s)) MG_TRY(mg_new(&s->messages, s->slab_doubles, "I/O slabs"));
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
    status = settle_sizes(s, n_holders);
    if (status == MG_OK) status = allocate(s);
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
  mg_copy_plan_free(&s->plan);
  free(s->messages);
  free(s->cuboid), free(s->first);
  free(s);
}

/* The slab of a round's set as a view. */
static const mg_view_t *view_of(mg_slabs_t *s, int round) {
  const int set = round % s->n_sets;
  const mg_slab_t slab = mg_slabs_planes(s, round);
  const int64_t row = s->n[0], plane = row * s->n[1];
  s->patch[set] = (mg_patch_t){.n = {s->n[0], s->n[1], slab.n},
                               .lo = {0, 0, slab.first},
                               .jstride = row,
                               .kstride = plane,
                               .vec = {[MG_U] = slab.cells}};
  s->slab[set] =
      (mg_view_t){.patch = &s->patch[set], .n_patches = slab.n > 0, .cells = plane * slab.n};
  return &s->slab[set];
}

/* NULL: this rank has no set. */
static double *packed(const mg_slabs_t *s, int round) {
  double *const set = s->set[round % s->n_sets];
  return set ? set + s->slab_doubles : NULL;
}

/* Start the copies between the patches and a round's set. */
static mg_status_t start_copies(mg_slabs_t *s, mg_vector_t vec, int round, bool storing) {
  const mg_backend_t *backend = s->level->backend;
  const mg_view_t *cells = &s->level->store.view, *slab = view_of(s, round);
  const mg_copy_list_t *far = storing ? &s->plan.unpack : &s->plan.pack, *own = &s->plan.local;
  mg_copy_t *list;
  if (far->n + own->n == 0) return MG_OK;
  MG_TRY(mg_new(&list, (int64_t)far->n + own->n, "copy lists"));
  if (far->n > 0) memcpy(list, far->item, (size_t)far->n * sizeof *list);
  if (own->n > 0) memcpy(list + far->n, own->item, (size_t)own->n * sizeof *list);
  const mg_copy_job_t job = {storing ? slab : cells, storing ? cells : slab, packed(s, round), list,
                             far->n + own->n};
  mg_status_t status = backend->prepare_copies(&job, &s->copies);
  if (status == MG_OK)
    status = backend->copy(s->copies, storing ? MG_U : vec, storing ? vec : MG_U);
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
  MG_TRY(plan_round(s, round, false));
  return start_copies(s, vec, round, false);
}

/* Copy on the host between a slab and its messages. */
static mg_status_t copy_messages(mg_slabs_t *s, int round, const mg_copy_list_t *list) {
  const mg_view_t *slab = view_of(s, round);
  const mg_copy_job_t job = {slab, slab, s->messages, list->item, list->n};
  return mg_copy_once(&mg_backend_cpu, &job, MG_U, MG_U);
}

static mg_status_t exchange(mg_slabs_t *s, const double *from, double *to) {
  MG_TRY(mg_messages_receive(s->requests, s->plan.receive, s->plan.n_receive, to, sizeof *to));
  MG_TRY(mg_messages_send(s->requests, s->plan.send, s->plan.n_send, from, sizeof *from));
  return mg_requests_wait(s->requests);
}

mg_status_t mg_slabs_fetch_end(mg_slabs_t *s, int round, mg_slab_t *slab) {
  *slab = mg_slabs_planes(s, round);
  MG_TRY(finish_copies(s));
  MG_TRY(exchange(s, packed(s, round), s->messages));
  return copy_messages(s, round, &s->plan.unpack);
}

mg_status_t mg_slabs_store(mg_slabs_t *s, mg_vector_t vec, int round) {
  MG_TRY(plan_round(s, round, true));
  MG_TRY(copy_messages(s, round, &s->plan.pack));
  MG_TRY(exchange(s, s->messages, packed(s, round)));
  MG_TRY(start_copies(s, vec, round, true));
  return finish_copies(s);
}
