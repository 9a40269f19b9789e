/* Internal interface of the transports: one constructor each, and the state they keep for a run. */
#ifndef MG_TRANSPORT_IMPL_H
#define MG_TRANSPORT_IMPL_H

#include "transport/transport.h"

struct mg_nccl *mg_transports_nccl(const mg_transports_t *transports);

/** Channel for HOST, MPI and NCCL. */
MG_MUST_CHECK mg_status_t mg_channel_buffered(mg_transport_t transport, const mg_channel_job_t *job,
                                              mg_channel_t **out);

#endif
