/* Problem sizes that do not fit: the bytes needed and the largest sizes that fit. On one rank;
 * the CLI tests cover two. */
#include "base/log.h"
#include "comm/comm.h"
#include "device/memory_check.h"
#include "plan/plan_stats.h"
#include "tests/lib/plan_case.h"
#include <stdlib.h>
#include <string.h>

static mg_memory_check_t find(const char *what, int log2_box_dim, int64_t boxes, int64_t host_bytes,
                              int64_t process_bytes) {
  mg_memory_check_t c;
  const mg_room_t room = {host_bytes, process_bytes, INT64_MAX};
  set_size(log2_box_dim, boxes);
  fprintf(stderr, "%s: %d %lld\n", what, log2_box_dim, (long long)boxes);
  CHECK_INT(mg_memory_check_measure(&params, &room, &c), MG_OK);
  return c;
}

/* Total bytes of the plan for a size. */
static int64_t planned(int log2_box_dim, int64_t boxes) {
  int64_t sum = 0;
  set_size(log2_box_dim, boxes);
  CHECK_INT(build(1), MG_OK);
  for (int l = 0; l < plan.n_levels; l++)
    sum += bytes_of(l, 0);
  return sum;
}

/* The limit is exact to one byte, for the host and for the process. */
static void test_limit_is_exact(void) {
  const int64_t need = planned(5, 27);
  mg_memory_check_t c = find("all of it", 5, 27, need, INT64_MAX);
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

/* The largest grid of boxes of one width that fits into `bytes`, up to 1024^3, by exhaustive
 * search. */
static int32_t largest_of(int log2_box_dim, int64_t bytes) {
  int32_t largest = 0;
  for (int64_t side = 1; side <= 1024 >> log2_box_dim; side++) {
    int64_t odd = side;
    while (odd % 2 == 0)
      odd /= 2;
    if (odd <= 11 && planned(log2_box_dim, side * side * side) <= bytes)
      largest = (int32_t)(side << log2_box_dim);
  }
  return largest;
}

/* The reported sizes are the largest over all widths and the largest for the requested width. */
static void check_sizes(const mg_memory_check_t *c, int log2_box_dim, int64_t bytes) {
  int32_t largest = 0;
  CHECK(!c->fits);
  for (int w = 4; w <= 10; w++) {
    const int32_t n = largest_of(w, bytes);
    if (n > largest) largest = n;
  }
  CHECK_INT(c->largest.n, largest);
  CHECK_INT(c->same_width.n, largest_of(log2_box_dim, bytes));
  CHECK_INT(c->same_width.log2_box_dim, log2_box_dim);
  const mg_size_t sizes[] = {c->largest, c->same_width};
  for (int i = 0; i < 2; i++) {
    const int64_t side = sizes[i].n >> sizes[i].log2_box_dim;
    CHECK_INT(sizes[i].boxes_per_rank, side * side * side);
    if (sizes[i].n > 0) CHECK(planned(sizes[i].log2_box_dim, sizes[i].boxes_per_rank) <= bytes);
  }
}

/* The suggestion covers all widths, wider and narrower than requested, for any number of boxes. */
static void test_largest_that_fits(void) {
  static const struct {
    int log2_box_dim;
    int64_t boxes;
  } asked[] = {{5, 1000}, {10, 8}, {10, 1000}, {7, 1000}, {4, 1000000}, {9, 8}, {9, 27}};
  const int64_t rooms[] = {planned(4, 1),  planned(5, 8),    planned(5, 8) - 1, planned(5, 27) - 1,
                           planned(6, 27), planned(8, 1),    planned(7, 64),    22000000000,
                           planned(9, 1),  planned(9, 1) - 1};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
    for (size_t j = 0; j < sizeof rooms / sizeof *rooms; j++) {
      if (planned(asked[i].log2_box_dim, asked[i].boxes) <= rooms[j]) continue;
      const mg_memory_check_t c =
          find("largest", asked[i].log2_box_dim, asked[i].boxes, rooms[j], INT64_MAX);
      check_sizes(&c, asked[i].log2_box_dim, rooms[j]);
    }

  mg_memory_check_t c = find("too wide by far", 10, 8, 22000000000, INT64_MAX);
  CHECK_INT(c.largest.n, 704);
  CHECK_INT(c.largest.log2_box_dim, 6);
  CHECK_INT(c.largest.boxes_per_rank, 1331);
  c = find("of the requested width", 9, 8, 22000000000, INT64_MAX);
  CHECK_INT(c.largest.n, 704);
  CHECK_INT(c.same_width.n, 512);
  CHECK_INT(c.same_width.boxes_per_rank, 1);
  c = find("the requested width is as good as any", 4, 1000000, 22000000000, INT64_MAX);
  CHECK_INT(c.largest.n, 704);
  CHECK_INT(c.largest.log2_box_dim, 4);

  c = find("nothing", 10, 1000, 1000, INT64_MAX);
  CHECK(!c.fits && c.largest.n == 0 && c.same_width.n == 0);
}

/* Far too large, in few boxes and in more boxes than could be searched one by one. */
static void test_absurd_sizes(void) {
  const int64_t room = (int64_t)64 << 30;
  const mg_memory_check_t c = find("wide boxes", 10, 1000, room, INT64_MAX);
  CHECK(!c.fits && c.need > (double)room);
  CHECK(c.largest.n >= 512 && planned(c.largest.log2_box_dim, c.largest.boxes_per_rank) <= room);
  const mg_memory_check_t d = find("many boxes", 4, 200000000, room, INT64_MAX);
  CHECK(!d.fits);
  CHECK_INT(d.same_width.log2_box_dim, 4);
  CHECK(d.same_width.n > 0 && planned(4, d.same_width.boxes_per_rank) <= room);
}

/* Levels on the device count against device memory, with either kind of memory. Levels on the host
 * count against host memory. */
static void test_device(void) {
  static const mg_memory_t kinds[] = {MG_MEMORY_DEVICE, MG_MEMORY_UNIFIED};
  for (int k = 0; k < 2; k++) {
    mg_memory_check_t c;
    int64_t need = 0;
    set_size(5, 27);
    params.device = MG_DEVICE_CUDA;
    params.memory = kinds[k];
    params.cpu_below = 5000; /* 96^3, 48^3 and 24^3 on the device */
    CHECK_INT(build(1), MG_OK);
    for (int l = 0; l < 3; l++) {
      mg_level_bytes_t bytes;
      CHECK_INT(mg_plan_bytes(&plan, l, 0, &bytes), MG_OK);
      need += bytes.vectors + bytes.images;
    }
    CHECK_INT(plan.level[2].place, MG_PLACE_CUDA);
    CHECK_INT(plan.level[3].place, MG_PLACE_CPU);
    mg_room_t room = {INT64_MAX, INT64_MAX, need};
    CHECK_INT(mg_memory_check_measure(&params, &room, &c), MG_OK);
    CHECK(c.fits);
    room.device_bytes = need - 1;
    CHECK_INT(mg_memory_check_measure(&params, &room, &c), MG_OK);
    CHECK(!c.fits && c.on_device);
    CHECK_INT(c.need, need);
    CHECK_INT(c.room, need - 1);
    CHECK_INT(c.largest.n, 80); /* '4 125' */
    CHECK_INT(c.largest.boxes_per_rank, 125);
    CHECK_INT(c.same_width.n, 64);
  }
}

static void test_messages(void) {
  char text[512];
  mg_memory_check_t c = {.need = 2.5e9, .room = 1e9, .largest = {5, 125, 160}};
  c.same_width = (mg_size_t){7, 1, 128};
  mg_memory_check_describe(&c, text, (int)sizeof text);
  CHECK_STRING(text, "this size needs at least 2.500 GB, but only 1.000 GB are free; largest size "
                     "that fits: '5 125' (160^3 cells) or '7 1' (128^3 cells)");
  c.same_width.n = 0;
  mg_memory_check_describe(&c, text, (int)sizeof text);
  CHECK_CONTAINS(text, "are free; largest size that fits: '5 125' (160^3 cells)");
  CHECK(!strstr(text, " or "));
  c.same_width = c.largest;
  mg_memory_check_describe(&c, text, (int)sizeof text);
  CHECK(!strstr(text, " or "));
  c.largest.log2_box_dim = c.same_width.log2_box_dim = 0; /* of --cells */
  mg_memory_check_describe(&c, text, (int)sizeof text);
  CHECK_CONTAINS(text, "largest size that fits: 160^3 cells");
  c.largest.n = 0;
  mg_memory_check_describe(&c, text, (int)sizeof text);
  CHECK_CONTAINS(text, "are free; no size fits");
}

static void test_units(void) {
  CHECK_STRING(mg_grid((int32_t[]){64, 64, 64}).text, "64^3");
  CHECK_STRING(mg_grid((int32_t[]){24, 16, 40}).text, "24x16x40");
  CHECK_STRING(mg_bytes(0.0).text, "0 B");
  CHECK_STRING(mg_bytes(999.0).text, "999 B");
  CHECK_STRING(mg_bytes(1000.0).text, "1.000 kB");
  CHECK_STRING(mg_bytes(16640.0).text, "16.640 kB");
  CHECK_STRING(mg_bytes(999999.4).text, "999.999 kB");
  CHECK_STRING(mg_bytes(999999.9).text, "1.000 MB");
  CHECK_STRING(mg_bytes(19534000.0).text, "19.534 MB");
  CHECK_STRING(mg_bytes(61.308e9).text, "61.308 GB");
  CHECK_STRING(mg_bytes(70089.348e9).text, "70.089 TB");
  CHECK_STRING(mg_bytes(1.2e15).text, "1.200 PB");
  CHECK_STRING(mg_bytes(6.1e22).text, "61000.000 EB");
}

int main(int argc, char **argv) {
  if (mg_comm_init(&argc, &argv) != MG_OK) return 1;
  test_limit_is_exact();
  test_largest_that_fits();
  test_absurd_sizes();
  test_device();
  test_messages();
  test_units();
  mg_comm_finalize();
  return TEST_RESULT();
}
