#include "device/memory_check.h"
#include "base/log.h"
#include "base/machine_checks.h"
#include "comm/comm.h"
#include "comm/comm_wings.h"
#include "device/device_select.h"
#include "params/params_table.h"
#include "plan/plan_stats.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The memories that can run out. */
enum { HOST, PROCESS, DEVICE, N_MEMORIES };

/* The transport of messages between devices is not chosen yet. Their buffers may be in host memory,
 * or in device memory with four slots per message; both are counted. */
mg_status_t mg_memory_planned(const mg_plan_t *plan, int64_t rank, int64_t *host, int64_t *device) {
  *host = *device = 0;
  for (int l = 0; l < plan->n_levels; l++) {
    mg_level_bytes_t bytes;
    MG_TRY(mg_plan_bytes(plan, l, rank, &bytes));
    const bool on_device = mg_place_is_cuda(plan->level[l].place);
    *(on_device ? device : host) += bytes.vectors + bytes.images;
    *host += bytes.buffers;
    if (on_device && plan->level[l].layout.world_ranks > 1) *device += 4 * bytes.buffers;
  }
  return MG_OK;
}

/* Bytes that this rank may allocate on its device: the free memory, divided evenly among the
 * ranks that share it. Collective over the world; call before any allocation. */
static mg_status_t device_room(int64_t *bytes) {
  mg_device_location_t *locations;
  MG_TRY(mg_device_locations(&locations));
  const int sharers = locations[mg_comm_rank(mg_comm_world())].sharers;
  free(locations);
  MG_TRY(mg_comm_agree(mg_device_gpus()->available(sharers, bytes)));
  /* No rank may allocate before all ranks have read the free memory. */
  return mg_comm_barrier(mg_comm_world());
}

/* Need and room of the tightest memory of all ranks: that with the highest need / room. */
static mg_status_t find_tightest(const mg_plan_t *plan, const mg_room_t *room,
                                 mg_memory_check_t *c) {
  const double available[N_MEMORIES] = {(double)room->host_bytes, (double)room->process_bytes,
                                        (double)room->device_bytes};
  int64_t host, device;
  MG_TRY(mg_comm_agree(mg_memory_planned(plan, mg_comm_rank(mg_comm_world()), &host, &device)));
  double need[N_MEMORIES] =
      {[HOST] = (double)host, [PROCESS] = (double)host, [DEVICE] = (double)device},
         worst = 0.0;
  MG_TRY(mg_comm_sum_on_host(&need[HOST], 1));
  int tightest = HOST;
  for (int p = 0; p < N_MEMORIES; p++)
    if (need[p] / available[p] > need[tightest] / available[tightest]) tightest = p;
  const double ratio = need[tightest] / available[tightest];
  worst = ratio;
  MG_TRY(mg_comm_max(mg_comm_world(), &worst, 1));
  /* Ranks that have the worst ratio contribute its need and room; the others contribute -1. */
  double result[3] = {-1.0, -1.0, -1.0};
  if (ratio == worst) {
    result[0] = need[tightest];
    result[1] = available[tightest];
    result[2] = tightest == DEVICE;
  }
  MG_TRY(mg_comm_max(mg_comm_world(), result, 3));
  c->need = result[0];
  c->room = result[1];
  c->on_device = result[2] > 0.0;
  c->fits = c->need <= c->room;
  return MG_OK;
}

/* Check whether another size fits: `size->n` becomes the cells per side of its grid, or 0. */
static mg_status_t try_size(const mg_params_t *params, const mg_room_t *room, mg_size_t *size) {
  mg_plan_t plan;
  mg_params_t other = *params;
  memset(other.boxes, 0, sizeof other.boxes); /* a cube */
  memset(other.cells, 0, sizeof other.cells);
  other.log2_box_dim = size->log2_box_dim;
  other.boxes_per_rank = size->boxes_per_rank;
  size->n = 0;
  const int64_t ranks = mg_comm_size(mg_comm_world());
  if (mg_plan_build(&other, ranks, &plan, NULL, 0) != MG_OK) return MG_OK;
  mg_memory_check_t c;
  MG_TRY(find_tightest(&plan, room, &c));
  if (c.fits) size->n = plan.level[0].layout.n[0];
  return MG_OK;
}

/* The largest grid that fits with boxes of one width, and the fewest boxes per rank that give
 * it. Sizes are tried in increasing order, because need grows with the grid and small grids are
 * cheap to plan. Few sizes are valid: six numbers of boxes per side from one power of two to
 * the next have a small enough odd part. */
static mg_status_t largest_of_width(const mg_params_t *params, const mg_room_t *room,
                                    int log2_box_dim, mg_size_t *best) {
  const int64_t ranks = mg_comm_size(mg_comm_world());
  int64_t side = mg_plan_boxes_a_side(log2_box_dim, 1, ranks);
  *best = (mg_size_t){log2_box_dim, 0, 0};
  for (; side <= MG_MAX_DIM >> log2_box_dim; side++) {
    mg_size_t size = {log2_box_dim, (side * side * side + ranks - 1) / ranks, 0};
    /* No valid grid has this size, or with this many ranks only a larger one exists. */
    if (mg_plan_boxes_a_side(log2_box_dim, size.boxes_per_rank, ranks) != side) continue;
    MG_TRY(try_size(params, room, &size));
    if (size.n == 0) return MG_OK;
    *best = size;
  }
  return MG_OK;
}

/* Among grids of equal size, prefer boxes of the requested width, then the widest boxes. */
static mg_status_t largest_sizes(const mg_params_t *params, const mg_room_t *room,
                                 mg_size_t *largest, mg_size_t *same_width) {
  const mg_option_t *width = &mg_options[MG_OPT_LOG2_BOX_DIM];
  const int own = mg_params_has_cells(params) ? (int)width->max : params->log2_box_dim;
  MG_TRY(largest_of_width(params, room, own, same_width));
  *largest = *same_width;
  for (int w = (int)width->max; w >= (int)width->min; w--) {
    mg_size_t size;
    if (w == own) continue;
    MG_TRY(largest_of_width(params, room, w, &size));
    if (size.n > largest->n) *largest = size;
  }
  if (mg_params_has_cells(params)) largest->log2_box_dim = same_width->log2_box_dim = 0;
  return MG_OK;
}

mg_status_t mg_memory_need(const mg_params_t *params, const mg_room_t *room,
                           mg_memory_check_t *capacity) {
  mg_plan_t plan;
  memset(capacity, 0, sizeof *capacity);
  MG_TRY(mg_plan_build(params, mg_comm_size(mg_comm_world()), &plan, NULL, 0));
  return find_tightest(&plan, room, capacity);
}

mg_status_t mg_memory_check_measure(const mg_params_t *params, const mg_room_t *room,
                                    mg_memory_check_t *capacity) {
  MG_TRY(mg_memory_need(params, room, capacity));
  if (capacity->fits) return MG_OK;
  return largest_sizes(params, room, &capacity->largest, &capacity->same_width);
}

static void append_size(const mg_size_t *size, const char *before, char *text, int text_size) {
  if (size->n > 0 && size->log2_box_dim == 0) /* of a grid given in cells */
    mg_append(text, text_size, "%s%d^3 cells", before, size->n);
  else if (size->n > 0)
    mg_append(text, text_size, "%s'%d %lld' (%d^3 cells)", before, size->log2_box_dim,
              (long long)size->boxes_per_rank, size->n);
}

void mg_memory_check_describe(const mg_memory_check_t *c, char *text, int text_size) {
  snprintf(text, (size_t)text_size, "this size needs at least %s, but only %s are free%s; ",
           mg_bytes(c->need).text, mg_bytes(c->room).text, c->on_device ? " on the device" : "");
  if (c->largest.n == 0) mg_append(text, text_size, "no size fits; use fewer ranks per host");
  append_size(&c->largest, "largest size that fits: ", text, text_size);
  if (c->same_width.log2_box_dim != c->largest.log2_box_dim)
    append_size(&c->same_width, " or ", text, text_size);
}

mg_status_t mg_memory_room(const mg_params_t *params, mg_room_t *room) {
  *room = (mg_room_t){mg_host_memory_available(), mg_host_memory_process_limit(), INT64_MAX};
  if (!mg_params_uses_gpu(params)) return MG_OK;
  return mg_comm_agree(device_room(&room->device_bytes));
}

mg_status_t mg_memory_need_now(const mg_params_t *params, mg_memory_check_t *capacity) {
  mg_room_t room;
  MG_TRY(mg_memory_room(params, &room));
  return mg_memory_need(params, &room, capacity);
}

mg_status_t mg_memory_check(const mg_params_t *params) {
  mg_room_t room;
  mg_memory_check_t capacity;
  char text[512];
  MG_TRY(mg_memory_room(params, &room));
  MG_TRY(mg_memory_check_measure(params, &room, &capacity));
  mg_verbose("memory: %s needed, %s free", mg_bytes(capacity.need).text,
             mg_bytes(capacity.room).text);
  if (capacity.fits) return MG_OK;
  mg_memory_check_describe(&capacity, text, (int)sizeof text);
  return mg_root_error(MG_ERR_MEMORY, "%s", text);
}
