/* Memory estimates of the plan: patch shapes, allocations per level, and the bound on message
 * buffers. */
#include "comm/comm.h"
#include "level/level.h"
#include "plan/copy_plan.h"
#include "plan/plan_stats.h"
#include "tests/guard/guard.h"
#include "tests/lib/plan_case.h"
#include "tests/lib/random.h"
#include <stdlib.h>

typedef struct {
  int log2_box_dim;
  int64_t boxes_per_rank, ranks;
} run_t;

static void build_for(mg_operator_t op, boundary_t boundary, run_t run) {
  set_size(run.log2_box_dim, run.boxes_per_rank);
  params.op = op;
  set_boundary(boundary);
  CHECK_INT(build(run.ranks), MG_OK);
}

/* Rows start on 128-byte lines. Every ghost has a distinct place within the vector. Addresses of
 * the same cell in different vectors of a level differ in their low 12 bits. */
static void test_shapes(void) {
  random_t r = {1};
  for (int round = 0; round < 3000; round++) {
    const int32_t most = round < 2000 ? 70 : MG_MAX_DIM;
    const int32_t n[3] = {(int32_t)random_int(&r, 1, most), (int32_t)random_int(&r, 1, most),
                          (int32_t)random_int(&r, 1, most)};
    const int g = (int)random_int(&r, 1, 2);
    const mg_patch_strides_t s = mg_patch_strides(n, g);
    CHECK_INT(s.jstride % 16, 0);
    CHECK_INT(s.kstride % 16, 0);
    CHECK_INT(s.origin % 16, 0);
    CHECK_INT(s.size % 16, 0);
    CHECK(s.jstride >= n[0] + 2 * g && s.kstride >= s.jstride * (n[1] + 2 * g));
    CHECK(s.origin >= g * (1 + s.jstride + s.kstride));
    const int64_t last =
        s.origin + (n[0] + g - 1) + (n[1] + g - 1) * s.jstride + (n[2] + g - 1) * s.kstride;
    CHECK(last < s.size && s.size - last < 600); /* padding is at most one page */
    for (int v = 1; s.size > 4096 && v < MG_N_VECTORS; v++)
      CHECK(v * (s.size % 512) % 512 != 0); /* 512 doubles are 4096 bytes */
  }
}

/* On one rank, the plan's bytes match the hierarchy's exactly, for images and vectors. */
static void test_against_allocation(void) {
  static const mg_device_t devices[] = {MG_DEVICE_CPU, MG_DEVICE_GUARD, MG_DEVICE_GUARD};
  static const mg_memory_t memories[] = {MG_MEMORY_AUTO, MG_MEMORY_AUTO, MG_MEMORY_UNIFIED};
  for (int op = MG_OPERATOR_FV2; op <= MG_OPERATOR_7PT; op++)
    for (int boxes = 1; boxes <= 27; boxes += 13)
      for (int d = 0; d < 3; d++) {
        build_for((mg_operator_t)op, PERIODIC, (run_t){4, boxes, 1});
        params.device = devices[d];
        params.memory = memories[d];
        params.krylov = d == 0 ? MG_KRYLOV_CG : MG_KRYLOV_NONE;
        params.cpu_below = 5000; /* on the guard backend: 48^3, 32^3 and 24^3, but not 16^3 */
        mg_hierarchy_t *h = NULL;
        CHECK_INT(build(1), MG_OK);
        CHECK_INT(mg_hierarchy_create(&params, &plan, NULL, &h), MG_OK);
        int n_images = 0;
        for (int l = 0; h && l < plan.n_levels; l++) {
          mg_level_bytes_t bytes;
          const mg_level_t *level = &h->level[l];
          CHECK_INT(mg_plan_bytes(&plan, l, 0, &bytes), MG_OK);
          CHECK_INT(bytes.vectors, level->store.bytes);
          CHECK_INT(bytes.images, level->image.bytes);
          CHECK(bytes.vectors + bytes.images + bytes.buffers >= mg_level_bytes(level));
          CHECK_INT(bytes.n_patches, level->store.view.n_patches);
          n_images += bytes.images > 0;
        }
        /* An image exists at the crossover, unless both sides can access the coarse level. */
        CHECK_INT(n_images, d == 1 && plan.level[0].layout.n[0] > 16);
        mg_hierarchy_free(h);
      }
}

/* In mixed precision a level has double cells, float cells or both. Large float levels on the CPU
 * store neither 1 / diagonal nor, if steps are in place, a work vector. */
static void test_mixed(void) {
  static const mg_device_t devices[] = {MG_DEVICE_CPU, MG_DEVICE_GUARD};
  const unsigned dinv = 1u << MG_DINV, tmp = 1u << MG_TMP;
  for (int op = MG_OPERATOR_FV2; op <= MG_OPERATOR_7PT; op++)
    for (int smoother = MG_SMOOTHER_GSRB; smoother <= MG_SMOOTHER_L1JACOBI; smoother++)
      for (int d = 0; d < 2; d++) {
        build_for((mg_operator_t)op, WALLS, (run_t){5, 8, 1});
        params.precision = MG_CLASS_MIXED;
        params.smoother = (mg_smoother_t)smoother;
        params.device = devices[d];
        params.cpu_below = 5000;
        mg_hierarchy_t *h = NULL;
        CHECK_INT(build(1), MG_OK);
        CHECK_INT(plan.n_outer, 3);
        CHECK_INT(mg_hierarchy_create(&params, &plan, NULL, &h), MG_OK);
        for (int l = 0; h && l < plan.n_levels; l++) {
          mg_level_bytes_t bytes;
          const mg_store_t *low = &h->low->level[l].store;
          const size_t outer = l < plan.n_outer ? h->level[l].store.bytes : 0;
          CHECK_INT(mg_plan_bytes(&plan, l, 0, &bytes), MG_OK);
          CHECK_INT(bytes.vectors, outer + low->bytes);
          CHECK(bytes.vectors + bytes.images + bytes.buffers >= mg_hierarchy_bytes(h, l));
          CHECK_INT(low->value_bytes, 4);
          CHECK_INT(h->low->level[l].backend->value_bytes, 4);
        }
        const unsigned finest = plan.level[0].vectors,
                       bottom = plan.level[plan.n_levels - 1].vectors;
        const bool on_cpu = d == 0 && op != MG_OPERATOR_FV4;
        CHECK_INT((finest & tmp) == 0, on_cpu && smoother == MG_SMOOTHER_GSRB);
        CHECK_INT((finest & dinv) == 0, on_cpu && smoother != MG_SMOOTHER_L1JACOBI);
        CHECK_INT(bottom & (dinv | tmp), dinv | tmp);
        CHECK_INT(plan.outer[1].vectors & ~tmp, MG_VECTORS_OF_OUTER | 1u << MG_RESTRICTED_U);
        CHECK_INT(plan.outer[0].value_bytes, 8);
        mg_hierarchy_free(h);
      }
  params.precision = MG_CLASS_DOUBLE;
}

/* A run on 64^3 cells in mixed precision. Omitted fields are the defaults. */
typedef struct {
  mg_device_t device;
  mg_operator_t op;
  boundary_t boundary;
  mg_cycle_t cycle;
  double rtol;
  int64_t ranks;
  bool restart, rhs, shares;
} sharing_t;

static void set_sharing(const sharing_t *c) {
  build_for(c->op, c->boundary, (run_t){5, 8, c->ranks});
  params.precision = MG_CLASS_MIXED;
  params.device = c->device;
  params.cycle = c->cycle;
  params.rtol = c->rtol;
  strcpy(params.restart, c->restart ? "grid.hdf" : "");
  strcpy(params.rhs, c->rhs ? "f.hdf" : "");
  CHECK_INT(build(c->ranks), MG_OK);
}

/* MG_U of the finest double cells holds two float vectors if, and only if, it is written once in a
 * solve: by the correction of a guess that is not stored. */
static void test_sharing(void) {
  static const sharing_t cases[] = {
      {MG_DEVICE_CUDA, .ranks = 1, .shares = true},
      {MG_DEVICE_CUDA, .ranks = 1, .op = MG_OPERATOR_7PT, .shares = true},
      {MG_DEVICE_GUARD, .ranks = 1, .shares = true},
      {MG_DEVICE_CPU, .ranks = 1},
      {MG_DEVICE_CUDA_SIMPLE, .ranks = 1},
      {MG_DEVICE_CUDA, .ranks = 1, .op = MG_OPERATOR_FV4},
      {MG_DEVICE_CUDA, .ranks = 1, .boundary = PERIODIC},
      {MG_DEVICE_CUDA, .ranks = 1, .cycle = MG_CYCLE_V},
      {MG_DEVICE_CUDA, .ranks = 1, .rtol = 1e-8},
      {MG_DEVICE_CUDA, .ranks = 2},
      {MG_DEVICE_CUDA, .ranks = 1, .restart = true},
      {MG_DEVICE_CUDA, .ranks = 1, .rhs = true},
  };
  const unsigned shared = 1u << MG_F | 1u << MG_TMP;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    set_sharing(&cases[i]);
    CHECK_INT(plan.outer[0].u_holds, cases[i].shares ? shared : 0);
    for (int l = 1; l < plan.n_outer; l++)
      CHECK_INT(plan.outer[l].u_holds, 0);
  }
}

/* Whether a float vector of the finest level lies within MG_U of the double cells. */
static bool is_in_u(const mg_hierarchy_t *h, mg_vector_t vector) {
  const mg_patch_t *p = &h->level[0].store.view.patch[0],
                   *low = &h->low->level[0].store.view.patch[0];
  const mg_patch_strides_t s = mg_patch_strides(p->n, h->level[0].store.view.ghost_layers);
  const char *u = (const char *)p->vec[MG_U] - s.origin * 8,
             *at = (const char *)low->vec[vector] - s.origin * 4;
  return at >= u && at + s.size * 4 <= u + s.size * 8;
}

/* The hierarchy allocates what the plan says: 8 bytes per value less. The two vectors do not
 * overlap each other, nor any other vector but MG_U. */
static void test_shared_memory(void) {
  sharing_t c = {MG_DEVICE_GUARD, .ranks = 1};
  int64_t values = 0, bytes[2];
  for (int own = 0; own < 2; own++) {
    mg_level_bytes_t planned;
    mg_hierarchy_t *h;
    c.rtol = own ? 1e-8 : 0.0;
    set_sharing(&c);
    CHECK_INT(mg_hierarchy_create(&params, &plan, NULL, &h), MG_OK);
    CHECK_INT(mg_plan_bytes(&plan, 0, 0, &planned), MG_OK);
    bytes[own] = (int64_t)(h->level[0].store.bytes + h->low->level[0].store.bytes);
    CHECK_INT(planned.vectors, bytes[own]);
    const mg_patch_t *low = &h->low->level[0].store.view.patch[0];
    values = mg_patch_strides(low->n, h->plan.level[0].ghost_layers).size;
    for (int v = 0; v < MG_N_VECTORS; v++)
      if (plan.level[0].vectors & 1u << v)
        CHECK_INT(is_in_u(h, (mg_vector_t)v), !own && (v == MG_F || v == MG_TMP));
    if (!own) CHECK_INT((const char *)low->vec[MG_TMP] - (const char *)low->vec[MG_F], values * 4);
    mg_hierarchy_free(h);
  }
  CHECK_INT(bytes[1] - bytes[0], values * 8);
}

/* On a GPU, large levels of the 7-point operators do not store 1 / diagonal, unless it is dumped.
 */
static void test_cuda(void) {
  const unsigned dinv = 1u << MG_DINV;
  for (int op = MG_OPERATOR_FV2; op <= MG_OPERATOR_7PT; op++)
    for (int mixed = 0; mixed < 2; mixed++)
      for (int dumped = 0; dumped < 2; dumped++) {
        build_for((mg_operator_t)op, WALLS, (run_t){7, 1, 1});
        params.device = MG_DEVICE_CUDA;
        params.precision = mixed ? MG_CLASS_MIXED : MG_CLASS_DOUBLE;
        params.dump_fields = dumped ? 1u << MG_FIELD_DINV : 0;
        strcpy(params.dump, dumped ? "dump.hdf" : "");
        CHECK_INT(build(1), MG_OK);
        const bool stored = op == MG_OPERATOR_FV4 || (dumped && !mixed);
        CHECK_INT((plan.level[0].vectors & dinv) != 0, stored);
        CHECK_INT((plan.level[3].vectors & dinv) != 0, true);
        if (mixed) CHECK_INT((plan.outer[0].vectors & dinv) != 0, dumped);
      }
  params.precision = MG_CLASS_DOUBLE;
  params.dump[0] = 0;
}

static int64_t message_bytes(const mg_copy_spec_t *spec, int64_t rank) {
  mg_copy_plan_t copies;
  CHECK_INT(mg_copy_plan_build(spec, rank, &copies), MG_OK);
  const int64_t doubles = copies.send_values + copies.receive_values;
  mg_copy_plan_free(&copies);
  return doubles * (int64_t)sizeof(double);
}

/* Bytes of the messages of the exchanges that level.c creates for level l. */
static int64_t exchange_bytes(int l, int64_t rank) {
  const mg_distribution_t here = {.layout = &plan.level[l].layout},
                          image = {.layout = &plan.level[l].layout, .halved = true};
  mg_copy_spec_t spec = {.src = here,
                         .dst = here,
                         .depth = plan.radius,
                         .face_dir = -1,
                         .periodic = {mg_params_is_periodic(&params, 0),
                                      mg_params_is_periodic(&params, 1),
                                      mg_params_is_periodic(&params, 2)}};
  int64_t bytes = message_bytes(&spec, rank);
  if (params.op != MG_OPERATOR_FV4) {
    spec.faces = true;
    bytes += message_bytes(&spec, rank);
  }
  if (l + 1 == plan.n_levels || plan.level[l].nests_coarse) return bytes;
  const mg_distribution_t coarse = {.layout = &plan.level[l + 1].layout};
  spec.faces = false;
  spec.interior = true;
  spec.src = coarse;
  spec.dst = image;
  bytes += message_bytes(&spec, rank); /* scatter */
  spec.src = image;
  spec.dst = coarse;
  spec.depth = 0;
  return bytes + message_bytes(&spec, rank); /* gather */
}

/* Over all ranks: box counts add up, vectors hold every cell with bounded padding, and buffers
 * match the messages in size.
 * @return the largest fraction of the bound in use */
static double check_level(int l, int64_t ranks) {
  const mg_level_plan_t *level = &plan.level[l];
  int64_t boxes = 0;
  double fullest = 0.0;
  for (int64_t rank = 0; rank < ranks; rank++) {
    mg_level_bytes_t bytes;
    mg_cuboid_t *patch;
    int n_patches;
    int64_t lines = 0;
    CHECK_INT(mg_plan_bytes(&plan, l, rank, &bytes), MG_OK);
    CHECK_INT(mg_layout_patches(&level->layout, rank, &patch, &n_patches), MG_OK);
    CHECK_INT(bytes.n_patches, n_patches);
    for (int p = 0; p < n_patches; p++) {
      int64_t length[3];
      for (int d = 0; d < 3; d++) {
        const int32_t n = patch[p].n[d], lo = patch[p].lo[d];
        length[d] = n + (lo == 0 ? level->wall_layers : level->ghost_layers) +
                    (lo + n == level->layout.n[d] ? level->wall_layers : level->ghost_layers);
      }
      lines += (length[0] + 15) / 16 * length[1] * length[2];
    }
    free(patch);
    boxes += bytes.boxes;
    CHECK(bytes.vectors >= lines * 128 * mg_n_vectors(level->vectors));
    CHECK(bytes.vectors <= (lines * 128 + 5000 * n_patches) * mg_n_vectors(level->vectors));
    const int64_t messages = exchange_bytes(l, rank);
    CHECK(messages <= bytes.buffers);
    if (bytes.buffers > 0 && (double)messages / (double)bytes.buffers > fullest)
      fullest = (double)messages / (double)bytes.buffers;
  }
  CHECK_INT(boxes, mg_layout_n_boxes(&level->layout));
  return fullest;
}

static void test_all_ranks(void) {
  static const run_t runs[] = {{4, 1, 8}, {4, 8, 1},  {4, 8, 2}, {4, 27, 2}, {4, 8, 3}, {4, 64, 8},
                               {5, 8, 8}, {4, 13, 5}, {6, 1, 8}, {5, 27, 3}, {7, 8, 2}, {4, 6, 20}};
  double fullest = 0.0;
  for (int op = MG_OPERATOR_FV2; op <= MG_OPERATOR_7PT; op++)
    for (int boundary = 0; boundary < 2; boundary++)
      for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        build_for((mg_operator_t)op, (boundary_t)boundary, runs[i]);
        for (int l = 0; l < plan.n_levels; l++) {
          const double share = check_level(l, runs[i].ranks);
          fullest = share > fullest ? share : fullest;
        }
      }
  CHECK(fullest == 1.0); /* if all neighbors are alike, the bound is attained */
}

/* Documented limit: at most 80 bytes per cell of the finest level for fv2 Poisson. */
static void test_bytes_a_cell(void) {
  static const run_t runs[] = {{8, 1, 1}, {7, 8, 1}, {7, 4, 2}, {7, 1, 8}, {6, 32, 2}, {5, 512, 1}};
  for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
    int64_t sum = 0;
    build_for(MG_OPERATOR_FV2, WALLS, runs[i]);
    CHECK_INT(plan.level[0].layout.n[0], 256);
    for (int64_t rank = 0; rank < runs[i].ranks; rank++)
      for (int l = 0; l < plan.n_levels; l++)
        sum += bytes_of(l, rank);
    CHECK((double)sum <= 80.0 * (double)cube(256));
  }
}

/* Documented limit of mixed precision on a GPU: 72 bytes per cell at 512^3 for one F-cycle. */
static void test_mixed_bytes_a_cell(void) {
  int64_t sum = 0;
  set_size(8, 8);
  params.device = MG_DEVICE_CUDA;
  params.precision = MG_CLASS_MIXED;
  CHECK_INT(build(1), MG_OK);
  for (int l = 0; l < plan.n_levels; l++)
    sum += bytes_of(l, 0);
  CHECK((double)sum <= 72.0 * (double)cube(512));
}

/* The largest shares per rank that a plan allows: no count exceeds 2^63. */
static void test_largest_shares(void) {
  static const run_t runs[] = {
      {10, 11239423, 1}, {8, 671088640, 1}, {4, 1000000000000, 1}, {10, 1, 1073741824}};
  for (int op = MG_OPERATOR_FV2; op <= MG_OPERATOR_7PT; op++)
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
      double all = 0.0;
      build_for((mg_operator_t)op, PERIODIC, runs[i]);
      for (int l = 0; l < plan.n_levels; l++) {
        const mg_layout_t *y = &plan.level[l].layout;
        mg_level_bytes_t bytes;
        CHECK_INT(mg_plan_bytes(&plan, l, 0, &bytes), MG_OK);
        const double cells = (double)bytes.boxes * (double)cube(y->box_dim);
        CHECK((double)bytes.vectors >= cells * 8.0 * mg_n_vectors(plan.level[l].vectors));
        CHECK(bytes.images >= 0 && bytes.buffers >= 0);
        all += (double)bytes.vectors + (double)bytes.images + (double)bytes.buffers;
      }
      CHECK(all < 0x1p63);
    }
  /* A face of more than 2^31 cells: 64 x 1024 per side. */
  mg_level_bytes_t bytes;
  build_for(MG_OPERATOR_FV2, PERIODIC, (run_t){10, 262144, 8});
  CHECK_INT(mg_plan_bytes(&plan, 0, 7, &bytes), MG_OK);
  CHECK_INT(bytes.n_patches, 1);
  CHECK(bytes.buffers >= 6 * 4 * 8LL * 65536 * 65536); /* 4 messages through each face */
}

int main(int argc, char **argv) {
  if (mg_comm_init(&argc, &argv) != MG_OK) return 1;
  guard_provide();
  test_shapes();
  test_against_allocation();
  test_mixed();
  test_sharing();
  test_shared_memory();
  test_cuda();
  test_all_ranks();
  test_bytes_a_cell();
  test_mixed_bytes_a_cell();
  test_largest_shares();
  mg_comm_finalize();
  return TEST_RESULT();
}
