/* How messages travel between ranks: which way for which pair, and what carries them there.
 *
 * Between levels on the CPU, and from one processor to another, every message is staged in host
 * memory. Between two levels on CUDA devices there are more ways; which one a pair of ranks uses is
 * settled once for a run, and both know it. */
#ifndef MG_TRANSPORT_H
#define MG_TRANSPORT_H

#include "backend/backend.h"
#include "comm/comm.h"
#include "params/params.h"
#include "plan/copyplan.h"

/** The ways that this rank has to every other. NULL knows staging alone. */
typedef struct mg_transports mg_transports_t;

/** Settle --transport.
 *
 *  auto finds out what works, measures it and takes the fastest for each pair. What was asked for
 *  by name must work for all pairs.
 *  Collective over the world; all ranks agree.
 *  @param[in]  on_device  whether a level lives on CUDA devices: elsewhere nothing is to be chosen
 *  @param[out] out        free with mg_transports_free
 *  @return MG_OK, MG_ERR_MEMORY (what was asked for cannot work: logged once), MG_ERR_DEVICE,
 *          MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_transports_create(const mg_params_t *params, bool on_device,
                                               mg_transports_t **out);

/** Collective over the world, once all exchanges are freed: memory that others write into goes. */
void mg_transports_free(mg_transports_t *transports);

/** The way to another rank's device: PEER, NCCL, MPI or HOST. */
mg_transport_t mg_transports_to(const mg_transports_t *transports, int64_t rank);

/** What was chosen and why, in a line; static as long as the links live. */
const char *mg_transports_describe(const mg_transports_t *transports);

/** The ways in use, as a word or as words with "+" between; "none" with one rank. */
const char *mg_transports_name(const mg_transports_t *transports);

/** The messages of one exchange that go one way: those of this rank. */
typedef struct {
  const mg_backend_t *src, *dst;
  const mg_view_t *src_view, *dst_view;
  mg_copy_list_t pack, unpack;  /**< their buffer counts from the first message's begin */
  mg_copy_list_t local;         /**< within the rank, for a way that carries them along: PEER */
  mg_message_t *send, *receive; /**< without gaps, in the order of the buffer */
  int n_send, n_receive;
  int64_t send_doubles, receive_doubles;
  mg_transports_t *transports;
} mg_message_list_t;

/** A message list with their buffers. Each way has its own struct that begins with one of these. */
typedef struct mg_channel mg_channel_t;
struct mg_channel {
  /** Collect vector src for sending; dst is for local copies that are carried along. What only
   *  enqueues sends it as well. */
  mg_status_t (*pack)(mg_channel_t *channel, int src, int dst);
  /** Begin to move, where the host does it; NULL where nothing is left to do. */
  mg_status_t (*post)(mg_channel_t *channel);
  /** Wait for what comes, and spread it into vector dst. */
  mg_status_t (*unpack)(mg_channel_t *channel, int dst);
  /** Everything in one go; NULL where it is no faster than its parts. */
  mg_status_t (*run)(mg_channel_t *channel, int src, int dst);
  void (*destroy)(mg_channel_t *channel);
  int64_t bytes;             /**< of the buffers */
  int64_t messages, doubles; /**< that leave this rank in one go */
};

/** Make the channel of a way. Every rank that takes part in one must come, in the same order.
 *  @param[in] message_list  only read
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_channel_create(mg_transport_t transport,
                                            const mg_message_list_t *message_list,
                                            mg_channel_t **out);

/** Prepare the copies of one side of message_list; nothing where the list is empty. */
MG_MUST_CHECK mg_status_t mg_message_list_prepare(const mg_message_list_t *message_list,
                                                  bool sending, double *buffer, mg_copies_t **out);

#endif
