/* The choice of a transport for each pair of ranks. */
#ifdef HAVE_CONFIG_H
#include "backend/peer.h"
#include "comm/comm_wings.h"
#include "config.h"
#include "transport/transport_wings.h"
#endif
#include "base/alloc.h"
#include "base/log.h"
#include "device/device_select.h"
#include "transport/transport.h"
#include "transport/transport_impl.h"
#include "transport/windows.h"
#include "wings.h"
#include <stdlib.h>
#include <string.h>

/* To compare transports, auto sends messages of this many doubles: 64 KiB, a face of 90^2 cells. */
enum { PROBE_DOUBLES = 8192, PROBE_TIMES = 10 };

/* How long a rank whose NCCL failed to start waits for the others; same limit as a kernel's wait
 * for a message. */
enum { NCCL_LIMIT_S = 60 };

struct mg_transports {
  mg_transport_t *to; /* for each rank of the world */
  mg_windows_t *windows;
  struct mg_nccl *nccl;
  char name[64], text[384];
};

mg_transport_t mg_transports_to(const mg_transports_t *transports, int64_t rank) {
  return transports ? transports->to[rank] : MG_TRANSPORT_HOST;
}

const char *mg_transports_describe(const mg_transports_t *transports) {
  return transports->text;
}

const char *mg_transports_name(const mg_transports_t *transports) {
  return transports->name;
}

mg_windows_t *mg_transports_windows(const mg_transports_t *transports) {
  return transports->windows;
}

struct mg_nccl *mg_transports_nccl(const mg_transports_t *transports) {
  return transports->nccl;
}

static int world_size(void) {
  return mg_comm_size(mg_comm_world());
}

static int world_rank(void) {
  return mg_comm_rank(mg_comm_world());
}

/* @param[in] alone  some ranks have no communicator */
static void close_nccl(mg_transports_t *transports, bool alone) {
#ifdef HAVE_CUDA
  if (transports->nccl) mg_backend_cuda.device->nccl->close(transports->nccl, alone);
#else
  (void)alone;
#endif
  transports->nccl = NULL;
}

void mg_transports_free(mg_transports_t *transports) {
  if (!transports) return;
#ifdef HAVE_CUDA
  MG_IF_EXCHANGE(mg_windows_free(transports->windows));
#endif
  close_nccl(transports, false);
  free(transports->to);
  free(transports);
}

/* Rank 0 logs the reason; every rank returns the error. */
static mg_status_t fail_requested(mg_transport_t requested, const char *why) {
  return mg_root_error(MG_ERR_UNAVAILABLE, "--transport=%s: %s; use --transport=auto",
                       mg_transport_name(requested), why);
}

/* Agreed by all ranks, because their MPI libraries may be configured differently. */
static mg_status_t mpi_accepts_device_memory(bool *accepts) {
  double on_all = mg_comm_accepts_device_memory();
  MG_TRY(mg_comm_min(mg_comm_world(), &on_all, 1));
  *accepts = on_all > 0.0;
  return MG_OK;
}

#ifdef HAVE_CUDA
/* Diagnosis if windows open but stores do not arrive. */
#define LOST_STORES "stores do not arrive; check IOMMU and PCIe ACS settings"

/* What is known about the ranks before any transport is tried. */
typedef struct {
  const mg_device_location_t *at;
  bool none_share; /* no two ranks share a device */
} ranks_t;

static bool has_own_device(const ranks_t *ranks, int r) {
  return ranks->at[r].sharers == 1;
}

static bool none_share(const mg_device_location_t *at) {
  for (int r = 0; r < world_size(); r++)
    if (at[r].sharers > 1) return false;
  return true;
}

/* Whether windows opened between ranks but stores did not arrive. */
static bool lost_stores(const mg_transports_t *transports) {
  MG_IF_EXCHANGE(return mg_windows_lost_stores(transports->windows));
  (void)transports;
  return false;
}

/* Open windows within each host. Kernels that wait for each other on a shared device run
 * alternately, so ranks that share a device are skipped unless the user insists. */
static mg_status_t open_windows(mg_transports_t *transports, const ranks_t *ranks, bool insist,
                                bool *reached) {
  const int n = world_size(), me = world_rank();
  bool *try_peer;
  (void)transports;
  (void)reached;
  mg_status_t status = mg_comm_agree(mg_new(&try_peer, n, "pairs of ranks"));
  for (int r = 0; r < n && status == MG_OK; r++)
    try_peer[r] = r != me && ranks->at[r].host == ranks->at[me].host &&
                  (insist || (has_own_device(ranks, r) && has_own_device(ranks, me)));
  MG_IF_EXCHANGE(if (status == MG_OK) status =
                     mg_windows_create(try_peer, &ranks->at[me], reached, &transports->windows));
  free(try_peer);
  return status;
}

/* Start NCCL. `code` is the worst NCCL error of all ranks, or 0 if all succeeded. */
static mg_status_t start_nccl(mg_transports_t *transports, int *code) {
  const mg_backend_nccl_t *nccl = mg_backend_cuda.device->nccl;
  unsigned char id[MG_NCCL_ID_BYTES] = {0};
  char failure[256];
  mg_comm_t *world = mg_comm_world();
  double worst = mg_comm_is_root() ? nccl->create_id(id) : 0;
  MG_TRY(mg_comm_max(world, &worst, 1));
  *code = (int)worst;
  if (*code != 0) return MG_OK;
  MG_TRY(mg_comm_broadcast(world, id, sizeof id));
  const int mine = nccl->open(id, world_size(), world_rank(), &transports->nccl);
  snprintf(failure, sizeof failure,
           "NCCL failed to start (%s), and other ranks still wait after %d s; set NCCL_DEBUG=INFO "
           "for details, or use --transport=host",
           nccl->text(mine), NCCL_LIMIT_S);
  /* A general failure occurs on all ranks. A rank that fails midway closes its sockets, which the
   * others usually detect. A rank that fails before opening sockets may go undetected: NCCL has no
   * timeout, so only the failed rank can end the job. */
  MG_TRY(mg_comm_barrier_with_timeout(world, mine != 0 ? failure : NULL, NCCL_LIMIT_S));
  worst = mine;
  MG_TRY(mg_comm_max(world, &worst, 1));
  *code = (int)worst;
  return MG_OK;
}

/* `why` is the reason for not starting, the same on all ranks; NULL on success. */
static mg_status_t open_nccl(mg_transports_t *transports, const char **why) {
  int code;
  *why = NULL;
  MG_TRY(start_nccl(transports, &code));
  if (code == 0) return MG_OK;
  close_nccl(transports, true);
  *why = mg_backend_cuda.device->nccl->text(code);
  return MG_OK;
}

static mg_status_t measure(mg_transport_t transport, mg_transports_t *transports, double *seconds) {
  return mg_transport_measure(transport, transports, PROBE_DOUBLES, PROBE_TIMES, seconds);
}

/* Use the transport that the user named for all pairs. */
static mg_status_t use_for_all(mg_transports_t *transports, mg_transport_t transport) {
  double seconds;
  for (int r = 0; r < world_size(); r++)
    transports->to[r] = transport;
  MG_TRY(measure(transport, transports, &seconds));
  snprintf(transports->text, sizeof transports->text,
           "%s, as requested (64 KiB to the next rank: %.1f us)", mg_transport_name(transport),
           1e6 * seconds);
  return MG_OK;
}

static mg_status_t use_peer(mg_transports_t *transports, const ranks_t *ranks, bool *reached) {
  const int n = world_size(), me = world_rank();
  int missing = -1, first;
  MG_TRY(open_windows(transports, ranks, true, reached));
  for (int r = 0; r < n; r++)
    if (r != me && !reached[r]) missing = r;
  MG_TRY(mg_comm_first(mg_comm_world(), missing >= 0, &first));
  if (first == n) return use_for_all(transports, MG_TRANSPORT_PEER);
  if (first != me) return MG_ERR_UNAVAILABLE;
  return mg_error(MG_ERR_UNAVAILABLE,
                  "--transport=peer: no peer access between the GPUs of ranks %d and %d (%s); use "
                  "--transport=auto",
                  me, missing,
                  ranks->at[me].host != ranks->at[missing].host ? "different hosts"
                  : lost_stores(transports)                     ? LOST_STORES
                                            : "unsupported, or hidden by CUDA_VISIBLE_DEVICES");
}

static mg_status_t use_nccl(mg_transports_t *transports, const ranks_t *ranks) {
  if (!ranks->none_share)
    return fail_requested(MG_TRANSPORT_NCCL, "NCCL requires one GPU per rank");
  char text[192];
  const char *why;
  MG_TRY(open_nccl(transports, &why));
  if (!why) return use_for_all(transports, MG_TRANSPORT_NCCL);
  snprintf(text, sizeof text, "NCCL failed to start: %s (set NCCL_DEBUG=INFO for details)", why);
  return fail_requested(MG_TRANSPORT_NCCL, text);
}

/* Results of the survey for auto. */
typedef struct {
  bool peer_everywhere; /* every rank reaches every other */
  bool peer_in_ring;    /* every rank reaches the next one, so that peer stores can be measured */
  bool lost;            /* between some ranks peer stores do not arrive */
  bool works[MG_N_TRANSPORTS];
  double seconds[MG_N_TRANSPORTS];
  const char *nccl_failed; /* why NCCL did not start; NULL if it started or was not tried */
} survey_t;

static mg_status_t survey(mg_transports_t *transports, const ranks_t *ranks, const bool *reached,
                          survey_t *s) {
  const int n = world_size(), me = world_rank();
  double everywhere = 1.0, any[2] = {0.0, lost_stores(transports) ? 1.0 : 0.0};
  for (int r = 0; r < n; r++) {
    if (r != me && !reached[r]) everywhere = 0.0;
    if (reached[r]) any[0] = 1.0;
  }
  double ring = reached[(me + 1) % n] && reached[(me + n - 1) % n] ? 1.0 : 0.0,
         all[2] = {everywhere, ring};
  MG_TRY(mg_comm_min(mg_comm_world(), all, 2));
  MG_TRY(mg_comm_max(mg_comm_world(), any, 2));
  s->peer_everywhere = all[0] > 0.0;
  s->peer_in_ring = all[1] > 0.0;
  s->works[MG_TRANSPORT_HOST] = true;
  MG_TRY(mpi_accepts_device_memory(&s->works[MG_TRANSPORT_MPI]));
  s->works[MG_TRANSPORT_PEER] = any[0] > 0.0;
  s->lost = any[1] > 0.0;
  if (s->lost) mg_warning("no peer stores between some GPUs: " LOST_STORES);
  /* NCCL is slow to start, so try it only if some pair has no peer stores. */
  s->works[MG_TRANSPORT_NCCL] =
      mg_backend_cuda.device->nccl && ranks->none_share && !s->peer_everywhere;
  if (s->works[MG_TRANSPORT_NCCL]) MG_TRY(open_nccl(transports, &s->nccl_failed));
  if (s->nccl_failed) {
    s->works[MG_TRANSPORT_NCCL] = false;
    mg_warning("not using NCCL, which failed to start: %s (set NCCL_DEBUG=INFO for details)",
               s->nccl_failed);
  }
  for (int t = MG_TRANSPORT_PEER; t < MG_N_TRANSPORTS; t++)
    if (s->works[t] && (t != MG_TRANSPORT_PEER || s->peer_in_ring))
      MG_TRY(measure((mg_transport_t)t, transports, &s->seconds[t]));
  return MG_OK;
}

static void describe(const survey_t *s, const ranks_t *ranks, char *text, int size) {
  snprintf(text, (size_t)size, "64 KiB to the next rank:");
  const char *separator = "";
  for (int t = MG_TRANSPORT_PEER; t < MG_N_TRANSPORTS; t++)
    if (s->seconds[t] > 0.0) {
      mg_append(text, size, "%s %s %.1f us", separator, mg_transport_name((mg_transport_t)t),
                1e6 * s->seconds[t]);
      separator = ",";
    }
  if (!ranks->none_share) mg_append(text, size, "; no peer stores between ranks that share a GPU");
  if (s->lost) mg_append(text, size, "; some peer stores do not arrive");
  if (s->nccl_failed) mg_append(text, size, "; nccl failed to start: %s", s->nccl_failed);
}

static mg_status_t use_fastest(mg_transports_t *transports, const ranks_t *ranks, bool *reached) {
  survey_t s;
  memset(&s, 0, sizeof s);
  MG_TRY(open_windows(transports, ranks, false, reached));
  MG_TRY(survey(transports, ranks, reached, &s));
  /* The slowest rank's times count, so all ranks compare the same numbers. */
  mg_transport_t other = MG_TRANSPORT_HOST;
  for (int t = MG_TRANSPORT_NCCL; t < MG_N_TRANSPORTS; t++)
    if (s.works[t] && s.seconds[t] < s.seconds[other]) other = (mg_transport_t)t;
  /* An unused NCCL must not hold device memory, nor abort the job with its timeout. */
  if (other != MG_TRANSPORT_NCCL) close_nccl(transports, false);
  const bool use_peer_stores =
      s.works[MG_TRANSPORT_PEER] &&
      (!s.peer_in_ring || s.seconds[MG_TRANSPORT_PEER] <= s.seconds[other]);
  for (int r = 0; r < world_size(); r++)
    transports->to[r] = use_peer_stores && reached[r] ? MG_TRANSPORT_PEER : other;
  describe(&s, ranks, transports->text, sizeof transports->text);
  return MG_OK;
}

static mg_status_t choose_for_devices(mg_transports_t *transports, mg_transport_t requested) {
  const int n = world_size();
  mg_device_location_t *at = NULL;
  MG_TRY(mg_device_locations(&at));
  const ranks_t ranks = {at, none_share(at)};
  bool *reached;
  mg_status_t status = mg_comm_agree(mg_new(&reached, n, "peer access flags"));
  if (status == MG_OK) {
    status = requested == MG_TRANSPORT_AUTO   ? use_fastest(transports, &ranks, reached)
             : requested == MG_TRANSPORT_PEER ? use_peer(transports, &ranks, reached)
             : requested == MG_TRANSPORT_NCCL ? use_nccl(transports, &ranks)
                                              : use_for_all(transports, requested);
  }
  free(at);
  free(reached);
  return status;
}
#endif

/* Set `name`: the transports that any rank uses. */
static mg_status_t set_name(mg_transports_t *transports) {
  double used[MG_N_TRANSPORTS] = {0.0};
  for (int r = 0; r < world_size(); r++)
    if (r != world_rank()) used[transports->to[r]] = 1.0;
  MG_TRY(mg_comm_max(mg_comm_world(), used, MG_N_TRANSPORTS));
  char *const name = transports->name;
  for (int t = 0; t < MG_N_TRANSPORTS; t++)
    if (used[t] > 0.0)
      mg_append(name, sizeof transports->name, "%s%s", name[0] ? "+" : "",
                mg_transport_name((mg_transport_t)t));
  if (!name[0]) mg_append(name, sizeof transports->name, "none");
  return MG_OK;
}

/* Reject what cannot work before trying anything. Collective. */
static mg_status_t check_requested(mg_transport_t requested, bool on_device) {
  if (requested == MG_TRANSPORT_AUTO || requested == MG_TRANSPORT_HOST) return MG_OK;
  if (!on_device) return fail_requested(requested, "no level is on a GPU");
#ifndef HAVE_NCCL
  if (requested == MG_TRANSPORT_NCCL)
    return fail_requested(requested, "built without NCCL; configure --with-nccl=DIR");
#endif
  if (requested != MG_TRANSPORT_MPI) return MG_OK;
  bool accepts;
  MG_TRY(mpi_accepts_device_memory(&accepts));
  return accepts ? MG_OK : fail_requested(requested, "the MPI library is not CUDA-aware");
}

static mg_status_t choose(mg_transports_t *transports, mg_transport_t requested, bool on_device) {
  for (int r = 0; r < world_size(); r++)
    transports->to[r] = MG_TRANSPORT_HOST;
  snprintf(transports->text, sizeof transports->text, "%s",
           world_size() == 1 ? "one rank, no messages" : "all levels on the CPU");
#ifdef HAVE_CUDA
  if (on_device && world_size() > 1) MG_TRY(choose_for_devices(transports, requested));
#else
  (void)requested;
  (void)on_device;
#endif
  return set_name(transports);
}

mg_status_t mg_transports_create(const mg_params_t *params, bool on_device, mg_transports_t **out) {
  *out = NULL;
  MG_TRY(check_requested(params->transport, on_device));
  mg_transports_t *transports;
  mg_status_t status = mg_new(&transports, 1, "transports");
  if (status == MG_OK) status = mg_new(&transports->to, world_size(), "transports");
  status = mg_comm_agree(status);
  if (status == MG_OK) status = choose(transports, params->transport, on_device);
  if (status != MG_OK) {
    /* Errors below MG_ERR_DEVICE occur on all ranks alike. After worse ones, do not wait for
     * others. */
    if (status < MG_ERR_DEVICE) mg_transports_free(transports);
    return status;
  }
  if (on_device) mg_verbose("transport: %s; %s", transports->name, transports->text);
  *out = transports;
  return MG_OK;
}
