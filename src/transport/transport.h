/* Transports: how messages travel between ranks.
 *
 * Between CPU levels, and between CPU and GPU levels, every message is staged in host memory.
 * Between two levels on CUDA devices there are several transports. The transport of each pair of
 * ranks is chosen once per run, and both ranks agree on it. */
#ifndef MG_TRANSPORT_H
#define MG_TRANSPORT_H

#include "backend/backend.h"
#include "comm/comm.h"
#include "params/params.h"
#include "plan/copy_plan.h"

/** Transports from this rank to every other rank. NULL means host staging only. */
typedef struct mg_transports mg_transports_t;

/** Choose transports according to --transport.
 *
 *  auto detects which transports work, measures them and uses the fastest for each pair of ranks. A
 *  transport requested by name must work for all pairs. Collective over the world; all ranks agree.
 *  @param[in]  on_device  whether any level lives on a CUDA device; if not, there is nothing to
 *      choose
 *  @param[out] out        free with mg_transports_free
 *  @return MG_OK, MG_ERR_UNAVAILABLE (the requested transport cannot work; logged once),
 *      MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_transports_create(const mg_params_t *params, bool on_device,
                                               mg_transports_t **out);

/** Free the transports, including the memory that peers write into.
 *  @pre collective over the world; all exchanges are freed */
void mg_transports_free(mg_transports_t *transports);

/** Transport to another rank's device: PEER, NCCL, MPI or HOST. */
mg_transport_t mg_transports_to(const mg_transports_t *transports, int64_t rank);

/** One line on the chosen transports and the reason; valid as long as `transports` exists. */
const char *mg_transports_describe(const mg_transports_t *transports);

/** Names of the transports in use, joined by "+"; "none" with one rank. */
const char *mg_transports_name(const mg_transports_t *transports);

/** Start n messages of a copy plan, to or from their places in a buffer. */
MG_MUST_CHECK mg_status_t mg_messages_receive(mg_requests_t *requests, const mg_message_t *message,
                                              int n, void *buffer, int value_bytes);
MG_MUST_CHECK mg_status_t mg_messages_send(mg_requests_t *requests, const mg_message_t *message,
                                           int n, const void *buffer, int value_bytes);

/** Input of a channel: this rank's messages of one exchange that use the same transport, with their
 *  copies. */
typedef struct {
  const mg_backend_t *src, *dst; /**< of equal value_bytes */
  const mg_view_t *src_view, *dst_view;
  mg_copy_list_t pack, unpack; /**< buffer offsets start at the first message */
  mg_copy_list_t local;        /**< copies within the rank, for transports that do them too: PEER */
  mg_message_t *send, *receive; /**< contiguous, in buffer order */
  int n_send, n_receive;
  int64_t send_values, receive_values;
  mg_transports_t *transports;
} mg_channel_job_t;

/** The messages of a job, with their buffers. Each transport's own struct begins with this one. */
typedef struct mg_channel mg_channel_t;
struct mg_channel {
  /** Pack vector src for sending. `dst` is for transports that also do the local copies.
   *  Asynchronous transports (PEER, NCCL) send here too. */
  mg_status_t (*start)(mg_channel_t *channel, mg_vector_t src, mg_vector_t dst);
  /** Start the transfer if the host does it; NULL otherwise. */
  mg_status_t (*post)(mg_channel_t *channel);
  /** Wait for the incoming messages and unpack them into vector dst. */
  mg_status_t (*unpack)(mg_channel_t *channel, mg_vector_t dst);
  /** Pack, send, receive and unpack n vectors in one call; NULL if that is no faster than the
   * parts.
   *  @param[in] beside  the next sweep starts at once (MG_REGION_INTERIOR_FIRST) */
  mg_status_t (*run)(mg_channel_t *channel, const mg_vector_t *src, const mg_vector_t *dst, int n,
                     bool beside);
  void (*destroy)(mg_channel_t *channel);
  int64_t bytes;                /**< of the buffers */
  int64_t messages, bytes_sent; /**< by this rank per run */
};

/** Create a channel of a transport. Collective over the ranks that use it; all must create their
 *  channels in the same order.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_channel_create(mg_transport_t transport, const mg_channel_job_t *job,
                                            mg_channel_t **out);

/** Prepare the pack or unpack copies of a job; no-op if there are none. */
MG_MUST_CHECK mg_status_t mg_channel_prepare_copies(const mg_channel_job_t *job, bool sending,
                                                    void *buffer, mg_copies_t **out);

#endif
