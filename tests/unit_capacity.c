/* A size that does not fit: what is needed, and the largest sizes that do. On one rank; cli tests
 * see it on two. */
#include "capacity.h"
#include "comm.h"
#include "test.h"
#include <stdlib.h>

static mg_capacity_t find(const char *what, int log2_box_dim, int64_t boxes, int64_t host_bytes,
                          int64_t process_bytes) {
  mg_params_t params;
  mg_capacity_t c;
  const mg_room_t room = {host_bytes, process_bytes, INT64_MAX};
  mg_params_defaults(&params);
  params.log2_box_dim = log2_box_dim;
  params.boxes_per_rank = boxes;
  fprintf(stderr, "%s: %d %lld\n", what, log2_box_dim, (long long)boxes);
  CHECK_INT(mg_capacity_find(&params, &room, &c), MG_OK);
  return c;
}

/* Bytes that the plan of a size adds up to. */
static int64_t planned(int log2_box_dim, int64_t boxes) {
  mg_params_t params;
  mg_plan_t plan;
  char message[1024];
  int64_t sum = 0;
  mg_params_defaults(&params);
  params.log2_box_dim = log2_box_dim;
  params.boxes_per_rank = boxes;
  CHECK_INT(mg_plan_build(&params, 1, &plan, message, (int)sizeof message), MG_OK);
  for (int l = 0; l < plan.n_levels; l++) {
    mg_level_bytes_t bytes;
    CHECK_INT(mg_plan_bytes(&plan, l, 0, &bytes), MG_OK);
    sum += bytes.vectors + bytes.images + bytes.buffers;
  }
  return sum;
}

/* The last byte decides, on the host and in the process. */
static void test_limit_is_exact(void) {
  const int64_t need = planned(5, 27);
  mg_capacity_t c = find("all of it", 5, 27, need, INT64_MAX);
  CHECK(c.fits);
  CHECK_INT(c.need, need);
  c = find("all of it for the process", 5, 27, INT64_MAX, need);
  CHECK(c.fits);
  c = find("a byte less", 5, 27, need - 1, INT64_MAX);
  CHECK(!c.fits);
  CHECK_INT(c.need, need);
  CHECK_INT(c.room, need - 1);
  c = find("a byte less for the process", 5, 27, need + 1000, need - 1);
  CHECK(!c.fits);
  CHECK_INT(c.room, need - 1);
}

/* 96^3 does not fit: 64^3 = '5 8' has the most boxes of that width, and of the next width 27
 * give 48^3; 26 boxes would give the grid of 8. */
static void test_largest_that_fits(void) {
  mg_capacity_t c = find("8 of 27 boxes", 5, 27, planned(5, 27) - 1, INT64_MAX);
  CHECK_INT(c.fewer.log2_box_dim, 5);
  CHECK_INT(c.fewer.boxes_per_rank, 8);
  CHECK_INT(c.fewer.n, 64);
  CHECK_INT(c.narrower.log2_box_dim, 4);
  CHECK_INT(c.narrower.boxes_per_rank, 27);
  CHECK_INT(c.narrower.n, 48);

  c = find("exactly 8 of 1000 boxes", 5, 1000, planned(5, 8), INT64_MAX);
  CHECK_INT(c.fewer.boxes_per_rank, 8);
  CHECK_INT(c.narrower.n, 0); /* 1000 boxes of 16^3 are 160^3 */
  c = find("a byte too little for 8", 5, 1000, planned(5, 8) - 1, INT64_MAX);
  CHECK_INT(c.fewer.boxes_per_rank, 1);

  c = find("not one of these boxes", 10, 1000, planned(7, 64), INT64_MAX);
  CHECK_INT(c.fewer.log2_box_dim, 9); /* 512^3 in one box needs less than in 64 */
  CHECK_INT(c.fewer.boxes_per_rank, 1);
  CHECK_INT(c.fewer.n, 512);
  CHECK_INT(c.narrower.log2_box_dim, 5);
  CHECK_INT(c.narrower.n, 320);

  c = find("nothing", 10, 1000, 1000, INT64_MAX);
  CHECK(!c.fits && c.fewer.n == 0 && c.narrower.n == 0);
}

/* Far too large, in few boxes and in more than could be looked at one by one. */
static void test_absurd_sizes(void) {
  const int64_t room = (int64_t)64 << 30;
  const mg_capacity_t c = find("wide boxes", 10, 1000, room, INT64_MAX);
  CHECK(!c.fits && c.need > (double)room);
  CHECK_INT(c.fewer.n, 512);
  const mg_capacity_t d = find("many boxes", 4, 200000000, room, INT64_MAX);
  CHECK(!d.fits);
  CHECK_INT(d.fewer.log2_box_dim, 4);
  CHECK(planned(4, d.fewer.boxes_per_rank) <= room);
}

/* A run on a device: its levels count there in either kind of memory, the host's there. */
static void test_device(void) {
  static const mg_memory_t kinds[] = {MG_MEMORY_DEVICE, MG_MEMORY_UNIFIED};
  for (int k = 0; k < 2; k++) {
    mg_params_t params;
    mg_plan_t plan;
    mg_capacity_t c;
    char message[1024];
    int64_t need = 0;
    mg_params_defaults(&params);
    params.log2_box_dim = 5;
    params.boxes_per_rank = 27;
    params.device = MG_DEVICE_CUDA;
    params.memory = kinds[k];
    params.cpu_below = 5000; /* 96^3, 48^3 and 24^3 on the device */
    CHECK_INT(mg_plan_build(&params, 1, &plan, message, (int)sizeof message), MG_OK);
    for (int l = 0; l < 3; l++) {
      mg_level_bytes_t bytes;
      CHECK_INT(mg_plan_bytes(&plan, l, 0, &bytes), MG_OK);
      need += bytes.vectors + bytes.images;
    }
    CHECK_INT(plan.level[2].place, MG_PLACE_CUDA);
    CHECK_INT(plan.level[3].place, MG_PLACE_CPU);
    mg_room_t room = {INT64_MAX, INT64_MAX, need};
    CHECK_INT(mg_capacity_find(&params, &room, &c), MG_OK);
    CHECK(c.fits);
    room.device_bytes = need - 1;
    CHECK_INT(mg_capacity_find(&params, &room, &c), MG_OK);
    CHECK(!c.fits && c.on_device);
    CHECK_INT(c.need, need);
    CHECK_INT(c.room, need - 1);
    CHECK_INT(c.fewer.n, 64);
    CHECK_INT(c.narrower.n, 48);
  }
}

static void test_messages(void) {
  char text[512];
  mg_capacity_t c = {.need = 2.5e9, .room = 1e9, .fewer = {7, 1, 128}, .narrower = {6, 8, 128}};
  mg_capacity_describe(&c, text, (int)sizeof text);
  CHECK_STRING(text, "this size needs at least 2.500 GB where 1.000 GB are free; what fits is "
                     "'7 1' (128^3 cells) or '6 8' (128^3 cells)");
  c.fewer.n = 0;
  mg_capacity_describe(&c, text, (int)sizeof text);
  CHECK_CONTAINS(text, "are free; what fits is '6 8' (128^3 cells)");
  c.narrower.n = 0;
  mg_capacity_describe(&c, text, (int)sizeof text);
  CHECK_CONTAINS(text, "are free; no size fits");
}

int main(int argc, char **argv) {
  if (mg_comm_init(&argc, &argv) != MG_OK) return 1;
  test_limit_is_exact();
  test_largest_that_fits();
  test_absurd_sizes();
  test_device();
  test_messages();
  mg_comm_finalize();
  return TEST_RESULT();
}
