/* Transports of wings: between GPUs of one host, and measured. */
#ifndef MG_TRANSPORT_WINGS_H
#define MG_TRANSPORT_WINGS_H

#include "transport/transport.h"

struct mg_windows *mg_transports_windows(const mg_transports_t *transports);

/** Channel for PEER; only in builds with CUDA. */
MG_MUST_CHECK mg_status_t mg_channel_peer(const mg_channel_job_t *job, mg_channel_t **out);

/** Measure the time of a message of `doubles` doubles from each rank to the next in a ring.
 *  Collective over the world.
 *  @param[out] seconds  mean over `times` messages, on the slowest rank
 *  @pre the transport works between neighbors of the ring */
MG_MUST_CHECK mg_status_t mg_transport_measure(mg_transport_t transport,
                                               mg_transports_t *transports, int64_t doubles,
                                               int times, double *seconds);

#endif
