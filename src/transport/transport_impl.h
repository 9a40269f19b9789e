/* Internal interface of the transports: one constructor each, and the state they keep for a run. */
#ifndef MG_TRANSPORT_IMPL_H
#define MG_TRANSPORT_IMPL_H

#include "transport/transport.h"

/** Windows: device memory of this rank that peers on its host write into, and the peers' memory. */
typedef struct mg_windows mg_windows_t;

/** Whether to try peer access to a rank. */
typedef struct {
  bool both;                 /**< try it; the same on both ranks of a pair */
  const unsigned char *uuid; /**< of the rank's device */
} mg_pair_t;

/** Open windows between ranks of a host where possible. A pair is reached if both windows open and
 *  stores arrive in both directions.
 *
 *  Collective over the world.
 *  @param[in]  pairs    one for each rank of the world
 *  @param[in]  sharers  number of ranks on this rank's device, including this one
 *  @param[out] reached  one for each rank of the world; the same on both ranks of a pair
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_windows_create(const mg_pair_t *pairs, int sharers, bool *reached,
                                            mg_windows_t **out);

/** True if some rank's window opens but stores do not arrive, so that it is not reached. */
bool mg_windows_lost(const mg_windows_t *windows);

/** Free the windows.
 *  @pre collective over the world; no rank writes into windows any more */
void mg_windows_free(mg_windows_t *windows);

mg_windows_t *mg_transports_windows(const mg_transports_t *transports);
struct mg_nccl *mg_transports_nccl(const mg_transports_t *transports);

/** Channel for HOST, MPI and NCCL. */
MG_MUST_CHECK mg_status_t mg_channel_staged(mg_transport_t transport,
                                            const mg_message_list_t *message_list,
                                            mg_channel_t **out);

/** Channel for PEER; only in builds with CUDA. */
MG_MUST_CHECK mg_status_t mg_channel_peer(const mg_message_list_t *message_list,
                                          mg_channel_t **out);

/** Measure the time of a message of `doubles` doubles from each rank to the next in a ring.
 *  Collective over the world.
 *  @param[out] seconds  mean over `times` messages, on the slowest rank
 *  @pre the transport works between neighbors of the ring */
MG_MUST_CHECK mg_status_t mg_transport_measure(mg_transport_t transport,
                                               mg_transports_t *transports, int64_t doubles,
                                               int times, double *seconds);

#endif
