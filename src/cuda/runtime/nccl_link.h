/* NCCL transport: send and receive in the order of the device's stream. */
#ifndef MG_CUDA_RUNTIME_NCCL_LINK_H
#define MG_CUDA_RUNTIME_NCCL_LINK_H

#include "base/status.h"
#include <stdint.h>

enum { MG_CUDA_NCCL_ID_BYTES = 128 };

/** A communicator of all ranks of a run, each on its own GPU. */
typedef struct mg_nccl mg_nccl_t;

/** Create the unique id of the communicator. One rank creates it; all ranks open with it.
 *  @return 0 or an NCCL error code; not logged, since a run can continue without NCCL */
MG_MUST_CHECK int mg_cuda_nccl_create_id(unsigned char id[MG_CUDA_NCCL_ID_BYTES]);

/** Open the communicator. Collective over the ranks, which wait for each other, including for a
 *  rank that fails early.
 *  @return 0 or an NCCL error code; not logged */
MG_MUST_CHECK int mg_cuda_nccl_open(const unsigned char id[MG_CUDA_NCCL_ID_BYTES], int n_ranks,
                                    int rank, mg_nccl_t **out);

/** Text for an NCCL error code, in static storage. */
const char *mg_cuda_nccl_text(int code);

void mg_cuda_nccl_close(mg_nccl_t *nccl);

/** Close without the other ranks, when some of them have no communicator. */
void mg_cuda_nccl_abandon(mg_nccl_t *nccl);

/** Enqueue the messages of one exchange between begin and end. Both sides use device memory.
 *  @return MG_OK, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_cuda_nccl_begin(void);
MG_MUST_CHECK mg_status_t mg_cuda_nccl_send(mg_nccl_t *nccl, int rank, const void *data,
                                            int64_t bytes);
MG_MUST_CHECK mg_status_t mg_cuda_nccl_receive(mg_nccl_t *nccl, int rank, void *data,
                                               int64_t bytes);
MG_MUST_CHECK mg_status_t mg_cuda_nccl_end(mg_nccl_t *nccl);

/** NCCL version, for example 2.28.9, in static storage. */
const char *mg_cuda_nccl_version(void);

#endif
