/* Execution of a copy plan: pack, send, do local copies meanwhile, receive, unpack. */
#ifndef MG_EXCHANGE_H
#define MG_EXCHANGE_H

#include "backend/backend.h"
#include "base/timers.h"
#include "comm/comm.h"
#include "plan/copy_plan.h"
#include "transport/transport.h"

/** One end of an exchange: patches and the backend that may access them. */
typedef struct {
  const mg_backend_t *backend;
  const mg_view_t *view;
  mg_traffic_t *sent; /**< counts the messages sent from this end; NULL to count none */
} mg_end_t;

/** A copy plan and its buffers. */
typedef struct mg_exchange mg_exchange_t;

/** Plan an exchange and allocate its buffers.
 *
 *  With transports: collective over the world, because ranks exchange the addresses to write to.
 *  All ranks return the worst status. Without: every rank that has cells on either side must build
 *  the same spec.
 *  @param[in] src, dst    kept; must outlive the exchange
 *  @param[in] transports  between the ranks; must outlive the exchange; NULL stages every message
 *      in host memory
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_exchange_create(const mg_copy_spec_t *spec, mg_end_t src, mg_end_t dst,
                                             mg_transports_t *transports, mg_exchange_t **out);
void mg_exchange_free(mg_exchange_t *exchange);

/** Copy vector src of the source patches to vector dst of the destination patches.
 *
 *  One message per pair of ranks. Ranks with nothing to send or receive return at once. Messages
 *  are counted at the source.
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_exchange_run(mg_exchange_t *exchange, mg_vector_t src,
                                          mg_vector_t dst);

/** mg_exchange_run of n vectors of one view.
 *  @param[in] beside  if it is done by one kernel: the next operation of the backend is a sweep of
 *      region MG_REGION_INTERIOR_FIRST
 *  @return as mg_exchange_run */
MG_MUST_CHECK mg_status_t mg_exchange_halo(mg_exchange_t *exchange, const mg_vector_t *vec, int n,
                                           bool beside);

/** mg_exchange_run in two halves, so that other cells can be processed in between. Until finish
 *  returns, the sent cells must not change and the ghosts are not valid.
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_exchange_begin(mg_exchange_t *exchange, mg_vector_t src,
                                            mg_vector_t dst);
MG_MUST_CHECK mg_status_t mg_exchange_finish(mg_exchange_t *exchange, mg_vector_t src,
                                             mg_vector_t dst);

/** How an exchange is done, as a set; empty for NULL: messages that the host carries, others, one
 *  kernel that does all, local copies between two backends. */
enum { MG_BY_HOST = 1, MG_BY_DEVICE = 2, MG_BY_ONE_KERNEL = 4, MG_BY_STAGING = 8 };
unsigned mg_exchange_by(const mg_exchange_t *e);

/** Bytes of the buffers; 0 for NULL. */
int64_t mg_exchange_bytes(const mg_exchange_t *exchange);

#endif
