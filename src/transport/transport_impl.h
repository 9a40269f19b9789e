/* What the files of the transports share: one function a way, and what a run keeps for each. */
#ifndef MG_TRANSPORT_IMPL_H
#define MG_TRANSPORT_IMPL_H

#include "transport/transport.h"

/** Windows: device memory of this rank that others of its host write into, and theirs. */
typedef struct mg_windows mg_windows_t;

/** Whether to try to reach a rank. */
typedef struct {
  bool both;                 /**< try; the same for both of a pair */
  const unsigned char *uuid; /**< of its device */
} mg_pair_t;

/** Open windows between ranks of a host, as far as that works: they open both ways, and what either
 *  stores into the other's arrives.
 *
 *  Collective over the world.
 *  @param[in]  pairs    one for each rank of the world
 *  @param[in]  sharers  ranks on this rank's device, this one included
 *  @param[out] reached  one for each rank; the same for both of a pair
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_windows_create(const mg_pair_t *pairs, int sharers, bool *reached,
                                            mg_windows_t **out);

/** Whether a rank is not reached although its window opens: stores do not arrive. */
bool mg_windows_lost(const mg_windows_t *windows);

/** Collective over the world: nobody may write any more. */
void mg_windows_free(mg_windows_t *windows);

mg_windows_t *mg_transports_windows(const mg_transports_t *transports);
struct mg_nccl *mg_transports_nccl(const mg_transports_t *transports);

/** HOST, MPI and NCCL. */
MG_MUST_CHECK mg_status_t mg_channel_staged(mg_transport_t transport,
                                            const mg_message_list_t *message_list,
                                            mg_channel_t **out);

/** PEER; builds with CUDA have it. */
MG_MUST_CHECK mg_status_t mg_channel_peer(const mg_message_list_t *message_list,
                                          mg_channel_t **out);

/** Seconds of a message of so many doubles from each rank to the next in a ring, the mean of
 * `times` of the slowest rank. Collective over the world.
 *  @pre the way works between neighbours of the ring */
MG_MUST_CHECK mg_status_t mg_transport_measure(mg_transport_t transport,
                                               mg_transports_t *transports, int64_t doubles,
                                               int times, double *seconds);

#endif
