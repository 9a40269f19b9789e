/* Executes copy plans for all ranks in one process. Every requested cell that has an owner is
 * written exactly once with the correct value, and nothing else is touched. */
#include "plan/copy_plan.h"
#include "plan/decomp.h"
#include "plan/domain_plan.h"
#include "tests/lib/cells.h"
#include "tests/lib/layouts.h"
#include "tests/lib/random.h"
#include "tests/lib/test.h"
#include "wings.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 12 };

/* A unique value for each position of a grid, including the far wall's faces. */
static int64_t id_of(const int32_t n[3], const int32_t at[3]) {
  return 1 + at[0] + (n[0] + 1) * (at[1] + (n[1] + 1) * (int64_t)at[2]);
}

static void grid_of(const mg_distribution_t *spread, int32_t n[3]) {
  for (int d = 0; d < 3; d++)
    n[d] = spread->halved ? mg_layout_coarse_n(spread->layout, d) : spread->layout->n[d];
}

/* A destination patch with a margin on all sides, wider than requested. */
typedef struct {
  mg_cuboid_t outer;
  int64_t *value; /* 0: not written */
} target_t;

typedef struct {
  mg_copy_plan_t plan;
  mg_cuboid_t *src, *dst;
  int n_src, n_dst;
  target_t *target;
  int64_t *send, *receive;
} rank_t;

/* n + 1 zeros of the given size */
static void *zeros(int64_t n, size_t size) {
  void *memory = calloc((size_t)n + 1, size);
  if (!memory) abort();
  return memory;
}

static int64_t dense(const int32_t n[3], const int32_t at[3]) {
  return at[0] + n[0] * (at[1] + n[1] * (int64_t)at[2]);
}

static void add_cells(int32_t out[3], const int32_t a[3], const int32_t b[3]) {
  for (int d = 0; d < 3; d++)
    out[d] = a[d] + b[d];
}

static void patches_of(const mg_distribution_t *spread, int64_t rank, mg_cuboid_t **patch, int *n) {
  if (spread->cuboid) {
    *n = spread->first[rank + 1] - spread->first[rank];
    *patch = zeros(*n, sizeof **patch);
    memcpy(*patch, spread->cuboid + spread->first[rank], (size_t)*n * sizeof **patch);
    return;
  }
  CHECK_INT(mg_layout_patches(spread->layout, rank, patch, n), MG_OK);
  for (int p = 0; spread->halved && p < *n; p++)
    (*patch)[p] = mg_layout_coarse(spread->layout, &(*patch)[p]);
}

static void rank_create(const mg_copy_spec_t *spec, int64_t rank, rank_t *r) {
  CHECK_INT(mg_copy_plan_build(spec, rank, &r->plan), MG_OK);
  patches_of(&spec->src, rank, &r->src, &r->n_src);
  patches_of(&spec->dst, rank, &r->dst, &r->n_dst);
  r->send = zeros(r->plan.send_values, sizeof *r->send);
  r->receive = zeros(r->plan.receive_values, sizeof *r->receive);
  r->target = zeros(r->n_dst, sizeof *r->target);
  for (int p = 0; p < r->n_dst; p++) {
    target_t *t = &r->target[p];
    t->outer = r->dst[p];
    for (int d = 0; d < 3; d++) {
      t->outer.lo[d] -= spec->depth + 1;
      t->outer.n[d] += 2 * spec->depth + 2;
    }
    t->value = zeros(mg_volume(t->outer.n), sizeof *t->value);
  }
}

static void rank_free(rank_t *r) {
  for (int p = 0; p < r->n_dst; p++)
    free(r->target[p].value);
  free(r->target);
  free(r->send);
  free(r->receive);
  free(r->src);
  free(r->dst);
  mg_copy_plan_free(&r->plan);
}

/* Value stored by a source patch at a position that it owns: its cells and the far wall's faces. */
static int64_t read_source(const mg_copy_spec_t *spec, const rank_t *r, int p,
                           const int32_t local[3]) {
  int32_t n[3], at[3];
  grid_of(&spec->src, n);
  bool inside = p >= 0 && p < r->n_src;
  CHECK(inside);
  if (!inside) return -1;
  add_cells(at, r->src[p].lo, local);
  for (int d = 0; d < 3; d++) {
    const bool far_wall = d == spec->face_dir && !spec->periodic[d] && at[d] == n[d];
    inside = inside && local[d] >= 0 && (local[d] < r->src[p].n[d] || far_wall);
  }
  CHECK(inside);
  return id_of(n, at);
}

static void write_target(const mg_copy_spec_t *spec, rank_t *r, int p, const int32_t local[3],
                         int64_t value) {
  int32_t at[3];
  bool inside = p >= 0 && p < r->n_dst;
  CHECK(inside);
  if (!inside) return;
  target_t *t = &r->target[p];
  for (int d = 0; d < 3; d++) {
    at[d] = local[d] + spec->depth + 1;
    inside = inside && at[d] >= 0 && at[d] < t->outer.n[d];
  }
  CHECK(inside);
  if (!inside) return;
  int64_t *cell = &t->value[dense(t->outer.n, at)];
  CHECK(*cell == 0 && value != 0); /* once, with a value that was sent */
  *cell = value;
}

/* Copy from patches to a buffer, from a buffer to patches, or directly between patches. */
static void run_copies(const mg_copy_spec_t *spec, rank_t *r, const mg_copy_list_t *list,
                       int64_t *to, const int64_t *from) {
  for (int c = 0; c < list->n; c++) {
    const mg_copy_t *copy = &list->item[c];
    CHECK((copy->src_patch < 0) == (from != NULL) && (copy->dst_patch < 0) == (to != NULL));
    CHECK(copy->n[0] > 0 && copy->n[1] > 0 && copy->n[2] > 0);
    EACH_CELL(at, copy->n) {
      const int64_t slot = copy->buffer + dense(copy->n, at);
      int32_t src[3], dst[3];
      add_cells(src, copy->src_lo, at);
      add_cells(dst, copy->dst_lo, at);
      const int64_t value = from ? from[slot] : read_source(spec, r, copy->src_patch, src);
      if (to) {
        CHECK(to[slot] == 0); /* messages do not overlap */
        to[slot] = value;
      } else {
        write_target(spec, r, copy->dst_patch, dst, value);
      }
    }
  }
}

/* Messages are contiguous in the buffer, one per rank, none to the rank itself. */
static void check_messages(const mg_message_t *message, int n, int64_t total, int64_t self) {
  int64_t offset = 0;
  for (int m = 0; m < n; m++) {
    CHECK(message[m].rank != self && message[m].count > 0);
    CHECK_INT(message[m].offset, offset);
    offset += message[m].count;
    for (int other = 0; other < m; other++)
      CHECK(message[other].rank != message[m].rank);
  }
  CHECK_INT(offset, total);
}

/* Deliver every message from the sender's buffer; none remains. */
static void deliver(rank_t *all, int n_ranks) {
  int n_sent = 0, n_received = 0;
  for (int r = 0; r < n_ranks; r++) {
    const mg_copy_plan_t *plan = &all[r].plan;
    check_messages(plan->send, plan->n_send, plan->send_values, r);
    check_messages(plan->receive, plan->n_receive, plan->receive_values, r);
    n_sent += plan->n_send;
    for (int m = 0; m < plan->n_receive; m++) {
      const mg_message_t *in = &plan->receive[m], *out = NULL;
      const rank_t *from = &all[in->rank];
      for (int s = 0; s < from->plan.n_send; s++)
        if (from->plan.send[s].rank == r) out = &from->plan.send[s];
      CHECK(out && out->count == in->count);
      if (!out || out->count != in->count) continue;
      memcpy(&all[r].receive[in->offset], &from->send[out->offset],
             (size_t)in->count * sizeof *from->send);
      n_received++;
    }
  }
  CHECK_INT(n_received, n_sent);
}

/* The expected final value at a position near a destination patch. */
static int64_t wanted(const mg_copy_spec_t *spec, const mg_cuboid_t *patch, const int32_t at[3]) {
  int32_t n[3], cell[3];
  grid_of(&spec->dst, n);
  int n_beside = 0;
  bool own = true, near = true, exists = true;
  for (int d = 0; d < 3; d++) {
    const int32_t below = patch->lo[d] - at[d], above = at[d] - (patch->lo[d] + patch->n[d] - 1);
    const bool faces = d == spec->face_dir && !spec->periodic[d];
    const bool own_wall = faces && at[d] == n[d] && above == 1;
    n_beside += below > 0 || above > 0;
    own = own && below <= 0 && (above <= 0 || own_wall);
    near = near && below <= spec->depth && above <= spec->depth;
    exists = exists && (spec->periodic[d] || (at[d] >= 0 && at[d] < n[d] + faces));
    cell[d] = spec->periodic[d] ? (at[d] + n[d]) % n[d] : at[d];
  }
  const bool is_wanted = own ? spec->interior : near && !(spec->faces && n_beside > 1);
  return is_wanted && exists ? id_of(n, cell) : 0;
}

static void check_targets(const mg_copy_spec_t *spec, const rank_t *r) {
  for (int p = 0; p < r->n_dst; p++) {
    const target_t *t = &r->target[p];
    EACH_CELL(local, t->outer.n) {
      int32_t at[3];
      add_cells(at, t->outer.lo, local);
      CHECK_INT(t->value[dense(t->outer.n, local)], wanted(spec, &r->dst[p], at));
    }
  }
}

static void check_plan(const mg_copy_spec_t *spec) {
  static rank_t all[MOST_RANKS];
  const int n_ranks = (int)spec->src.layout->world_ranks, failures = test_n_failures;
  for (int r = 0; r < n_ranks; r++)
    rank_create(spec, r, &all[r]);
  for (int r = 0; r < n_ranks; r++) {
    run_copies(spec, &all[r], &all[r].plan.pack, all[r].send, NULL);
    run_copies(spec, &all[r], &all[r].plan.local, NULL, NULL);
  }
  deliver(all, n_ranks);
  for (int r = 0; r < n_ranks; r++) {
    run_copies(spec, &all[r], &all[r].plan.unpack, NULL, all[r].receive);
    check_targets(spec, &all[r]);
  }
  if (test_n_failures > failures && failures < TEST_MOST_SHOWN) {
    const mg_layout_t *s = spec->src.layout, *d = spec->dst.layout;
    fprintf(
        stderr,
        "  in %dx%dx%d boxes of %d (halved %d) on %d to boxes of %d (halved %d) on %d of %d ranks, "
        "depth %d, interior %d, faces %d, direction %d, periodic %d%d%d\n",
        s->boxes[0], s->boxes[1], s->boxes[2], s->box_dim, spec->src.halved, (int)s->n_ranks,
        d->box_dim, spec->dst.halved, (int)d->n_ranks, n_ranks, spec->depth, spec->interior,
        spec->faces, spec->face_dir, spec->periodic[0], spec->periodic[1], spec->periodic[2]);
  }
  for (int r = 0; r < n_ranks; r++)
    rank_free(&all[r]);
}

/* Whether boxes of w cells per side fill the grid, at most six in each direction. */
static bool fills(const int32_t n[3], int32_t w) {
  bool fill = true;
  for (int d = 0; d < 3; d++)
    fill = fill && n[d] % w == 0 && n[d] / w <= 6;
  return fill;
}

/* A grid in boxes of a random width that is a multiple of `unit` and divides all its sides. */
static mg_layout_t random_layout(random_t *r, const int32_t n[3], int32_t unit, int64_t world) {
  int32_t w;
  do
    w = unit * (int32_t)random_int(r, 1, n[0] / unit);
  while (!fills(n, w));
  mg_layout_t y = layout_of((const int32_t[3]){n[0] / w, n[1] / w, n[2] / w}, w, 1, world);
  const int64_t boxes = mg_layout_n_boxes(&y);
  y.n_ranks = random_int(r, 1, boxes < world ? boxes : world);
  if (random_int(r, 0, 1)) y.cuboids = mg_cuboids_are_even(&y);
  return y;
}

/* Two of three grids are cubes; the sides of the others are 1 to 6 times 2 or 3. */
static void random_grid(random_t *r, int round, int32_t most, int32_t n[3]) {
  const int32_t side = (int32_t)random_int(r, 2, most), unit = (int32_t)random_int(r, 2, 3);
  for (int d = 0; d < 3; d++)
    n[d] = round % 3 == 0 ? unit * (int32_t)random_int(r, 1, 6) : side;
}

static void random_directions(random_t *r, bool periodic[3]) {
  for (int d = 0; d < 3; d++)
    periodic[d] = random_int(r, 0, 1);
}

/* Ghosts of cells (all, or only across faces) and of the three face vectors. */
static void test_halos(void) {
  random_t r = {1};
  for (int round = 0; round < 400; round++) {
    const int64_t world = random_int(&r, 1, MOST_RANKS);
    int32_t n[3];
    random_grid(&r, round, 16, n);
    const mg_layout_t y = random_layout(&r, n, 1, world);
    const mg_distribution_t here = {.layout = &y};
    mg_copy_spec_t spec = {
        .src = here, .dst = here, .depth = (int)random_int(&r, 1, 2), .face_dir = round % 4 - 1};
    random_directions(&r, spec.periodic);
    spec.faces = spec.face_dir < 0 && random_int(&r, 0, 1);
    check_plan(&spec);
  }
}

/* Transfers between two layouts of the coarse grid: the coarsened fine patches and its own
 * patches. Gather moves cells or faces from the first to the second; scatter moves cells with
 * ghosts back. */
static void test_transfers(void) {
  random_t r = {2};
  for (int round = 0; round < 400; round++) {
    const int64_t world = random_int(&r, 1, MOST_RANKS);
    int32_t n[3];
    random_grid(&r, round, 12, n);
    const int32_t twice[3] = {2 * n[0], 2 * n[1], 2 * n[2]};
    const mg_layout_t fine = random_layout(&r, twice, 2, world);
    const mg_layout_t coarse = random_layout(&r, n, 1, world);
    const mg_distribution_t image = {.layout = &fine, .halved = true}, cells = {.layout = &coarse};
    const bool gather = round % 2 == 0;
    mg_copy_spec_t spec = {.src = gather ? image : cells,
                           .dst = gather ? cells : image,
                           .depth = gather ? 0 : (int)random_int(&r, 1, 2),
                           .interior = true,
                           .face_dir = gather ? round / 2 % 4 - 1 : -1};
    random_directions(&r, spec.periodic);
    check_plan(&spec);
  }
}

/* Between a layout and slabs of the same grid: two for each rank, some of them empty. */
static void test_cuboids(void) {
  random_t r = {4};
  for (int round = 0; round < 400; round++) {
    const int64_t world = random_int(&r, 1, MOST_RANKS);
    mg_cuboid_t slab[2 * MOST_RANKS] = {{{0, 0, 0}, {0, 0, 0}}};
    int first[MOST_RANKS + 1];
    int32_t n[3], k = 0;
    random_grid(&r, round, 12, n);
    const mg_layout_t y = random_layout(&r, n, 1, world);
    for (int rank = 0; rank <= world; rank++)
      first[rank] = 2 * rank;
    const int offset = (int)random_int(&r, 0, 2 * world - 1);
    for (int s = 0; s < 2 * world; s++) {
      const int32_t left = n[2] - k,
                    planes = s + 1 == 2 * world ? left : (int32_t)random_int(&r, 0, left);
      if (planes > 0)
        slab[(offset + s) % (2 * world)] = (mg_cuboid_t){{0, 0, k}, {n[0], n[1], planes}};
      k += planes;
    }
    const mg_distribution_t cells = {.layout = &y},
                            slabs = {.layout = &y, .cuboid = slab, .first = first};
    mg_copy_spec_t spec = {.src = round % 2 ? cells : slabs,
                           .dst = round % 2 ? slabs : cells,
                           .interior = true,
                           .face_dir = round / 2 % 4 - 1};
    random_directions(&r, spec.periodic);
    check_plan(&spec);
  }
}

/* None, all or two random ranges of the cells are single. */
static void random_singles(random_t *r, int32_t n, mg_singles_t *s) {
  const int kind = (int)random_int(r, 0, 3);
  int32_t at = 0;
  memset(s, 0, sizeof *s);
  for (int range = 0; kind > 0 && range < 2; range++) {
    s->begin[range] = kind == 1 ? at : at + 2 * (int32_t)random_int(r, 0, (n - at) / 2);
    if (s->begin[range] > n) s->begin[range] = n;
    at = kind == 1 ? n : s->begin[range] + 2 * (int32_t)random_int(r, 0, (n - s->begin[range]) / 2);
    s->end[range] = at;
  }
}

static mg_layout_t general_layout(const int32_t n[3], int64_t ranks, int64_t world) {
  MG_IF_DOMAINS(return mg_cuboids_layout(n, ranks, world));
  return (mg_layout_t){.n = {n[0], n[1], n[2]}, .n_ranks = ranks, .world_ranks = world};
}

/* Halos of general layouts, and transfers between two of them on different ranks. */
static void test_general(void) {
  random_t r = {3};
  if (MG_WING_DOMAINS) return;
  for (int round = 0; round < 400; round++) {
    const int64_t world = random_int(&r, 1, MOST_RANKS);
    int32_t n[3], half[3];
    for (int d = 0; d < 3; d++)
      n[d] = (int32_t)random_int(&r, 1, round % 2 ? 9 : 20);
    mg_layout_t fine = general_layout(n, random_int(&r, 1, world), world);
    for (int d = 0; d < 3; d++) {
      random_singles(&r, n[d], &fine.single[d]);
      half[d] = mg_layout_coarse_n(&fine, d);
    }
    const mg_layout_t coarse = general_layout(half, random_int(&r, 1, world), world);
    const mg_distribution_t here = {.layout = &fine}, image = {.layout = &fine, .halved = true},
                            cells = {.layout = &coarse};
    const bool halo = round % 3 == 0, gather = round % 3 == 1;
    mg_copy_spec_t spec = {.src = halo     ? here
                                  : gather ? image
                                           : cells,
                           .dst = halo     ? here
                                  : gather ? cells
                                           : image,
                           .depth = gather ? 0 : 1,
                           .interior = !halo,
                           .face_dir = round / 3 % 4 - 1};
    if (!halo && !gather) spec.face_dir = -1;
    random_directions(&r, spec.periodic);
    check_plan(&spec);
  }
}

/* A rank in the interior of a million has 26 neighbors; message counts are known in closed
 * form. */
static void test_one_of_a_million(void) {
  const mg_layout_t y = cube_of(100, 1024, 1000000, 1000000);
  const int32_t box[3] = {50, 49, 50};
  const int64_t rank = mg_layout_owner(&y, box);
  mg_copy_spec_t spec = {.src = {.layout = &y}, .dst = {.layout = &y}, .depth = 2, .face_dir = -1};
  mg_copy_plan_t plan;
  CHECK_INT(mg_copy_plan_build(&spec, rank, &plan), MG_OK);
  CHECK_INT(plan.n_send, 26);
  CHECK_INT(plan.n_receive, 26);
  CHECK_INT(plan.send_values, 1028LL * 1028 * 1028 - 1024LL * 1024 * 1024);
  CHECK_INT(plan.receive_values, plan.send_values);
  mg_copy_plan_free(&plan);
  spec.faces = true;
  CHECK_INT(mg_copy_plan_build(&spec, rank, &plan), MG_OK);
  CHECK_INT(plan.n_send, 6);
  CHECK_INT(plan.send_values, 6LL * 2 * 1024 * 1024);
  mg_copy_plan_free(&plan);
}

/* A message of more than 2^31 doubles: counts are 64-bit. */
static void test_longest_messages(void) {
  const int64_t w = 1 << 19;
  const mg_layout_t y = cube_of(2, (int32_t)w, 2, 2);
  mg_copy_spec_t spec = {.src = {.layout = &y}, .dst = {.layout = &y}, .depth = 2, .face_dir = -1};
  mg_copy_plan_t plan;
  CHECK_INT(mg_copy_plan_build(&spec, 1, &plan), MG_OK);
  CHECK_INT(plan.n_send, 1);
  CHECK_INT(plan.send[0].rank, 0);
  CHECK_INT(plan.send[0].count, 2 * (2 * w) * (2 * w));
  mg_copy_plan_free(&plan);
  /* both slabs, and the wrap-around in j and i, which stays on the rank */
  memset(spec.periodic, true, sizeof spec.periodic);
  CHECK_INT(mg_copy_plan_build(&spec, 1, &plan), MG_OK);
  CHECK_INT(plan.receive[0].count, 2 * 2 * (2 * w + 4) * (2 * w + 4));
  mg_copy_plan_free(&plan);
  spec.periodic[0] = spec.periodic[2] = false; /* walls in i and k, and the wrap-around in j */
  CHECK_INT(mg_copy_plan_build(&spec, 1, &plan), MG_OK);
  CHECK_INT(plan.receive[0].count, 2 * (2 * w) * (2 * w + 4));
  mg_copy_plan_free(&plan);
}

int main(void) {
  test_halos();
  test_transfers();
  test_cuboids();
  test_general();
  test_one_of_a_million();
  test_longest_messages();
  return TEST_RESULT();
}
