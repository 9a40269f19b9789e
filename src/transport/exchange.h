/* Carrying out a copy plan: pack, send, copy locally meanwhile, receive, unpack. */
#ifndef MG_EXCHANGE_H
#define MG_EXCHANGE_H

#include "backend/backend.h"
#include "base/timers.h"
#include "comm/comm.h"
#include "plan/copyplan.h"
#include "transport/transport.h"

/** One end of an exchange: patches and the backend that may touch them. */
typedef struct {
  const mg_backend_t *backend;
  const mg_view_t *view;
  mg_traffic_t *sent; /**< account of the messages that leave from here; NULL for none */
} mg_end_t;

/** A copy plan with its buffers. */
typedef struct mg_exchange mg_exchange_t;

/** Plan an exchange and allocate its buffers.
 *
 *  With links collective over the world, since ranks tell each other where to write; all get the
 *  worst status. Without, every rank that has cells on either side must build the same spec.
 *  @param[in] src, dst  kept; must outlive the exchange
 *  @param[in] links     between the ranks; must outlive the exchange; NULL stages every message in
 *                       host memory
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_exchange_create(const mg_copy_spec_t *spec, mg_end_t src, mg_end_t dst,
                                             mg_transports_t *transports, mg_exchange_t **out);
void mg_exchange_free(mg_exchange_t *exchange);

/** Move vector src of the source patches to vector dst of the destination patches.
 *
 *  One message per pair of ranks. Ranks with nothing to send or receive return at once. What
 *  leaves is on the source's account.
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_exchange_run(mg_exchange_t *exchange, int src, int dst);

/** The same in two halves. In between, the source's cells that are to be moved must stay as they
 * are, and the ghosts are not valid yet: time for work on other cells.
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_exchange_begin(mg_exchange_t *exchange, int src, int dst);
MG_MUST_CHECK mg_status_t mg_exchange_finish(mg_exchange_t *exchange, int src, int dst);

/** Does this rank send or receive any? NULL has none. */
bool mg_exchange_has_messages(const mg_exchange_t *e);

/** Does the host carry all of them, so that they keep no device busy? */
bool mg_exchange_is_hosts(const mg_exchange_t *e);

/** Whether a run needs the host in its midst: for messages that MPI carries, or between two
 *  backends. */
bool mg_exchange_waits(const mg_exchange_t *exchange);

/** Bytes of the buffers. */
int64_t mg_exchange_bytes(const mg_exchange_t *exchange);

#endif
