/* Send and receive through NCCL, in the order of the device's stream. */
#ifndef MG_CUDA_NCCL_LINK_H
#define MG_CUDA_NCCL_LINK_H

#include "base/status.h"
#include <stdint.h>

enum { MG_CUDA_NCCL_ID_BYTES = 128 };

/** All ranks of a run, each on a device of its own. */
typedef struct mg_nccl mg_nccl_t;

/** A name for the group of ranks; one of them makes it, all open with it.
 *  @return 0, or NCCL's code of what is wrong: not logged, since a run may do without NCCL */
MG_MUST_CHECK int mg_cuda_nccl_name(unsigned char id[MG_CUDA_NCCL_ID_BYTES]);

/** Collective over the ranks, which wait for each other: one that fails early is waited for.
 *  @return 0, or NCCL's code of what is wrong: not logged */
MG_MUST_CHECK int mg_cuda_nccl_open(const unsigned char id[MG_CUDA_NCCL_ID_BYTES], int n_ranks,
                                    int rank, mg_nccl_t **out);

/** What a code means. Static storage. */
const char *mg_cuda_nccl_text(int code);

void mg_cuda_nccl_close(mg_nccl_t *nccl);

/** The same without the other ranks, some of which have none. */
void mg_cuda_nccl_abandon(mg_nccl_t *nccl);

/** Between begin and end: enqueue the messages of one exchange, device memory on both sides.
 *  @return MG_OK, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_cuda_nccl_begin(void);
MG_MUST_CHECK mg_status_t mg_cuda_nccl_send(mg_nccl_t *nccl, int rank, const double *data,
                                            int64_t n_doubles);
MG_MUST_CHECK mg_status_t mg_cuda_nccl_receive(mg_nccl_t *nccl, int rank, double *data,
                                               int64_t n_doubles);
MG_MUST_CHECK mg_status_t mg_cuda_nccl_end(mg_nccl_t *nccl);

/** The library's version, as 2.28.9. Static storage. */
const char *mg_cuda_nccl_version(void);

#endif
