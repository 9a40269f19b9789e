/* NCCL transport: point-to-point messages. */
#include "cuda/runtime/dependent_launch.h"
#include <cstdlib>
#include <cstring>
#include <nccl.h>
#include <new>

static_assert(sizeof(ncclUniqueId) == MG_NCCL_ID_BYTES, "IDs are sent as bytes");

struct mg_nccl {
  ncclComm_t comm;
};

static mg_status_t failed(ncclResult_t result, const char *call, int line) {
  return mg_error_at(__FILE__, line, MG_ERR_COMM, "%.*s: %s", (int)std::strcspn(call, "("), call,
                     ncclGetErrorString(result));
}

#define TRY_NCCL(call)                                                                             \
  do {                                                                                             \
    const ncclResult_t result_ = (call);                                                           \
    if (result_ != ncclSuccess) return failed(result_, #call, __LINE__);                           \
  } while (0)

/* Clear the CUDA error. If the run continues without NCCL, the next kernel must not report it. */
static int not_started(ncclResult_t result) {
  (void)cudaGetLastError();
  return (int)result;
}

static int create_id(unsigned char id[MG_NCCL_ID_BYTES]) {
  ncclUniqueId unique;
  const ncclResult_t result = ncclGetUniqueId(&unique);
  if (result != ncclSuccess) return not_started(result);
  memcpy(id, &unique, sizeof unique);
  return 0;
}

/* The communicator that mg_cuda_finish polls for errors. Messages in a replayed graph involve no
 * host call that could return one. */
static ncclComm_t watched;

static mg_status_t watch(double waited) {
  const double limit_s =
      60.0; /* as the default mg_p2p_timeout_s of kernels that wait for a message */
  ncclResult_t result;
  TRY_NCCL(ncclCommGetAsyncError(watched, &result));
  if (result != ncclSuccess) return failed(result, "NCCL communication", __LINE__);
  if (waited < limit_s) return MG_OK;
  return mg_error(
      MG_ERR_COMM,
      "the GPU is still busy after %.0f s, probably waiting for an NCCL message; a rank may have "
      "died; --transport=host avoids NCCL",
      waited);
}

static int open(const unsigned char id[MG_NCCL_ID_BYTES], int n_ranks, int rank, mg_nccl_t **out) {
  ncclUniqueId unique;
  memcpy(&unique, id, sizeof unique);
  *out = nullptr;
  mg_nccl_t *nccl = new (std::nothrow) mg_nccl_t();
  if (!nccl) return (int)ncclSystemError;
  const ncclResult_t result = ncclCommInitRank(&nccl->comm, n_ranks, unique, rank);
  if (result != ncclSuccess) {
    delete nccl;
    return not_started(result);
  }
  watched = nccl->comm;
  mg_cuda.watch = watch;
  *out = nccl;
  return 0;
}

static const char *text(int code) {
  return ncclGetErrorString((ncclResult_t)code);
}

static void close(mg_nccl_t *nccl, bool alone) {
  if (!nccl) return;
  mg_cuda.watch = nullptr;
  (void)(alone ? ncclCommAbort(nccl->comm) : ncclCommDestroy(nccl->comm));
  delete nccl;
}

static mg_status_t exchange(mg_nccl_t *nccl, const mg_message_t *receive, int n_receive,
                            char *incoming, const mg_message_t *send, int n_send,
                            const char *outgoing, int value_bytes) {
  ncclResult_t later;
  TRY_NCCL(ncclGroupStart());
  for (const mg_message_t *m = receive; m < receive + n_receive; m++)
    TRY_NCCL(ncclRecv(incoming + m->offset * value_bytes, (size_t)(m->count * value_bytes),
                      ncclChar, (int)m->rank, nccl->comm, mg_cuda.stream));
  for (const mg_message_t *m = send; m < send + n_send; m++)
    TRY_NCCL(ncclSend(outgoing + m->offset * value_bytes, (size_t)(m->count * value_bytes),
                      ncclChar, (int)m->rank, nccl->comm, mg_cuda.stream));
  TRY_NCCL(ncclGroupEnd());
  mg_cuda_break_dependence();
  /* Errors of earlier messages are reported here. */
  TRY_NCCL(ncclCommGetAsyncError(nccl->comm, &later));
  TRY_NCCL(later);
  return MG_OK;
}

const mg_backend_nccl_t mg_cuda_nccl = {create_id, open, text, close, exchange};
