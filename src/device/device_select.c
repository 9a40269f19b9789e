#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "backend/backend.h"
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm.h"
#include "device/device_select.h"
#include "device/fused_steps.h"
#include "wings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHY = 256 };

const mg_backend_device_t *mg_device_gpus(void) {
#ifdef HAVE_CUDA
  return mg_backend_cuda.device;
#else
  return mg_backend_cpu.device;
#endif
}

/* Number of devices visible to this process; if zero, `why` receives the reason. */
static int count_devices(char why[WHY]) {
  if (mg_device_gpus()) return mg_device_gpus()->count(why, WHY);
  snprintf(why, WHY, "built without CUDA");
  return 0;
}

int mg_device_count(void) {
  char why[WHY];
  return count_devices(why);
}

/* Collective; the first rank whose device number is too large logs the error. */
static mg_status_t check_device_id(const mg_params_t *params, int n) {
  const int rank = mg_comm_rank(mg_comm_world()), size = mg_comm_size(mg_comm_world());
  int first;
  MG_TRY(mg_comm_first(mg_comm_world(), params->device_id >= n, &first));
  if (first == rank && n == 0)
    return mg_error(MG_ERR_UNAVAILABLE,
                    "--device-id=%d: no CUDA device is visible; omit --device-id to run on the CPU",
                    params->device_id);
  if (first == rank)
    return mg_error(MG_ERR_UNAVAILABLE,
                    "--device-id=%d: %d CUDA device%s visible; the largest valid number is %d",
                    params->device_id, n, n == 1 ? "" : "s", n - 1);
  return first < size ? MG_ERR_UNAVAILABLE : MG_OK;
}

static mg_device_facts_t facts = {.text = "none"}; /* of this rank's device */

const char *mg_device_text(void) {
  return facts.text;
}

/* Number of this rank's device. */
static mg_status_t device_number(const mg_params_t *params, int n, int *number) {
  int rank;
  MG_TRY(mg_comm_rank_on_host(&rank, NULL, NULL));
  *number = params->device_id >= 0 ? params->device_id : rank % n;
  return MG_OK;
}

/* Collective: find the first rank that cannot use its device, and its reason. */
static mg_status_t find_unusable(const mg_params_t *params, int n, char why[WHY], int *first) {
  int number = 0;
  memset(why, 0, WHY);
  MG_TRY(mg_comm_agree(device_number(params, n, &number)));
  const bool usable = mg_device_gpus()->usable(number, why, WHY);
  return mg_comm_first_text(mg_comm_world(), !usable, why, WHY, first);
}

static mg_status_t open_device(const mg_params_t *params, int n) {
  int number;
  MG_TRY(device_number(params, n, &number));
  return mg_device_gpus()->open(number, &facts);
}

mg_status_t mg_device_locations(mg_device_location_t **locations) {
  mg_comm_t *world = mg_comm_world();
  const int n = mg_comm_size(world);
  int host;
  mg_device_location_t mine;
  memset(&mine, 0, sizeof mine);
  MG_TRY(mg_comm_rank_on_host(NULL, NULL, &host));
  mine.host = host;
  memcpy(mine.uuid, facts.uuid, sizeof mine.uuid);
  mg_status_t status = mg_comm_agree(mg_new(locations, n, "device locations of all ranks"));
  if (status == MG_OK) status = mg_comm_gather(world, &mine, sizeof mine, *locations);
  for (int r = 0; r < n && status == MG_OK; r++)
    mine.sharers += (*locations)[r].host == mine.host &&
                    memcmp((*locations)[r].uuid, mine.uuid, sizeof mine.uuid) == 0;
  if (status == MG_OK) status = mg_comm_gather(world, &mine, sizeof mine, *locations);
  if (status == MG_OK) return MG_OK;
  free(*locations);
  *locations = NULL;
  return status;
}

void mg_device_uuid(const mg_params_t *params, unsigned char uuid[16]) {
  memset(uuid, 0, 16);
  if (mg_params_uses_gpu(params)) memcpy(uuid, facts.uuid, 16);
}

static mg_status_t note_sharers(void) {
  mg_device_location_t *locations;
  int max_sharers = 1;
  MG_TRY(mg_device_locations(&locations));
  for (int r = 0; r < mg_comm_size(mg_comm_world()); r++)
    if (locations[r].sharers > max_sharers) max_sharers = locations[r].sharers;
  mg_device_gpus()->set_shared(locations[mg_comm_rank(mg_comm_world())].sharers > 1);
  free(locations);
  if (max_sharers > 1)
    mg_warning("%d ranks share a CUDA device; one rank per device is faster", max_sharers);
  return MG_OK;
}

/* Find what launches can use on any rank's GPU. If `opened`, 0 SMs are those of a shared one. */
static mg_status_t find_limits(mg_params_t *params, int n, bool opened) {
  double least[3] = {0.0};
  int number = 0;
  MG_TRY(mg_comm_agree(device_number(params, n, &number)));
  mg_device_gpus()->limits(number, least);
  MG_TRY(mg_comm_min(mg_comm_world(), least, 3));
  if (opened || least[0] > 0.0)
    params->gpu = (mg_gpu_t){(int)least[0], (int)least[1], (int)least[2]};
  return MG_OK;
}

/* Without a device that this run opens. */
static mg_status_t resolve(mg_params_t *params) {
  if (params->device != MG_DEVICE_AUTO && params->device != MG_DEVICE_CUDA) return MG_OK;
  const int here = mg_device_count();
  double min_devices = here;
  MG_TRY(mg_comm_min(mg_comm_world(), &min_devices, 1));
  if (params->device == MG_DEVICE_AUTO)
    params->device = min_devices < 1.0 ? MG_DEVICE_CPU : MG_DEVICE_CUDA;
  return min_devices < 1.0 ? MG_OK : find_limits(params, here, false);
}

mg_status_t mg_device_resolve(mg_params_t *params) {
  MG_TRY(resolve(params));
  MG_IF_SWEEPS(mg_fused_steps_settle(params, true));
  return MG_OK;
}

/* --memory=unified requires managed memory that not every device supports; one rank says so. */
static mg_status_t check_memory(const mg_params_t *params) {
  if (params->memory != MG_MEMORY_UNIFIED) return MG_OK;
  const int rank = mg_comm_rank(mg_comm_world()), size = mg_comm_size(mg_comm_world());
  int first;
  MG_TRY(mg_comm_first(mg_comm_world(), !facts.has_managed, &first));
  if (first == rank)
    return mg_error(MG_ERR_UNAVAILABLE, "--memory=unified: this device lacks concurrent managed "
                                        "access; use --memory=device");
  return first < size ? MG_ERR_UNAVAILABLE : MG_OK;
}

/* Not all ranks have a device. If one was requested by name, one rank logs an error. */
static mg_status_t continue_without_device(mg_params_t *params, bool named, int first,
                                           const char *why) {
  const int rank = mg_comm_rank(mg_comm_world());
  if (named) {
    /* All ranks return an error and exit by themselves, so none needs to abort. */
    if (rank != first) return MG_ERR_UNAVAILABLE;
    return mg_error(MG_ERR_UNAVAILABLE, "--device=%s: %s; use --device=cpu",
                    mg_device_name(params->device), why);
  }
  params->device = MG_DEVICE_CPU;
  snprintf(facts.text, sizeof facts.text, "none: %.*s", WHY - 32, why);
  if (mg_device_gpus() && mg_comm_size(mg_comm_world()) > 1)
    mg_append(facts.text, sizeof facts.text, " (rank %d)", first);
  return MG_OK;
}

/* Either all ranks open their devices, or none does. */
static mg_status_t open_devices(mg_params_t *params, int here, bool named) {
  char why[WHY];
  int first;
  MG_TRY(find_unusable(params, here, why, &first));
  if (first < mg_comm_size(mg_comm_world()))
    return continue_without_device(params, named, first, why);
  MG_TRY(mg_comm_agree(open_device(params, here)));
  MG_TRY(check_memory(params));
  MG_TRY(note_sharers());
  return find_limits(params, here, true);
}

static mg_status_t choose(mg_params_t *params) {
  const bool named = mg_params_uses_gpu(params);
  snprintf(facts.text, sizeof facts.text, "none: --device=%s", mg_device_name(params->device));
  if (params->device != MG_DEVICE_AUTO && !named) return MG_OK;
  if (!mg_device_gpus() && named)
    return mg_root_error(
        MG_ERR_UNAVAILABLE,
        "--device=%s: built without CUDA; configure --with-cuda, or use --device=cpu",
        mg_device_name(params->device));
  char why[WHY] = "";
  int first;
  const int here = count_devices(why);
  MG_TRY(mg_comm_first_text(mg_comm_world(), here == 0, why, WHY, &first));
  const bool all = first == mg_comm_size(mg_comm_world());
  if (all || !named) MG_TRY(check_device_id(params, here));
  if (!all) return continue_without_device(params, named, first, why);
  if (!named) params->device = MG_DEVICE_CUDA;
  return open_devices(params, here, named);
}

/* Levels reserve memory for fused sweeps only if the devices of all ranks support them. */
mg_status_t mg_device_choose(mg_params_t *params) {
  MG_TRY(choose(params));
  double lacking = !facts.can_fuse;
  MG_TRY(mg_comm_max(mg_comm_world(), &lacking, 1));
  MG_IF_SWEEPS(mg_fused_steps_settle(params, lacking == 0.0));
  return MG_OK;
}

void mg_device_close(void) {
  if (mg_device_gpus()) mg_device_gpus()->close();
}
