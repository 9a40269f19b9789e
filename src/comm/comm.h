/* Message passing. One implementation on MPI (comm_mpi.c), one for a single process without it
 * (comm_serial.c); nothing else in the program knows which is there. */
#ifndef MG_COMM_H
#define MG_COMM_H

#include "base/status.h"
#include "base/sum.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A group of ranks. NULL is the empty group of a rank that is not a member. */
typedef struct mg_comm mg_comm_t;

/** Start the library. Call once, before anything else here. */
MG_MUST_CHECK mg_status_t mg_comm_init(int *argc, char ***argv);

/** End the library; every rank must come. */
void mg_comm_finalize(void);

/** End every rank at once with this exit code: for failures that others would wait for. */
void mg_comm_abort(int exit_code);

/** What this rank does before it ends all: remove what it was writing. One at a time; NULL:
 * nothing. */
void mg_comm_before_abort(void (*clean)(void));

/** All ranks. Owned by the library. */
mg_comm_t *mg_comm_world(void);
int mg_comm_rank(const mg_comm_t *comm);
int mg_comm_size(const mg_comm_t *comm);

/** The library's name and version, for reports. Static storage. */
const char *mg_comm_version(void);

/** Name of this rank's host. Static storage. */
const char *mg_comm_host(void);

/** A group of those ranks of `parent` that say `member`; collective over parent.
 *  @param[out] out  NULL on ranks that are not members; free with mg_comm_free */
MG_MUST_CHECK mg_status_t mg_comm_split(mg_comm_t *parent, bool member, mg_comm_t **out);
void mg_comm_free(mg_comm_t *comm);

/** The worst status of all ranks, on all ranks: call before a collective that a failed rank would
 *  miss. Collective. */
MG_MUST_CHECK mg_status_t mg_comm_agree(mg_comm_t *comm, mg_status_t mine);

/** The same after work in which ranks waited for each other. One that failed there alone, for want
 * of memory, by its device or in a message, would be waited for for ever: it ends all, with the
 * exit code of its status. */
MG_MUST_CHECK static inline mg_status_t mg_comm_agree_or_end(mg_comm_t *comm, mg_status_t mine) {
  if (mine >= MG_ERR_MEMORY && mg_comm_size(comm) > 1) mg_comm_abort(mg_status_exit_code(mine));
  return mg_comm_agree(comm, mine);
}

/** Meet all ranks after work in which they waited for each other, and which the run can do without.
 *
 *  Collective. A rank that failed waits only so many seconds: the others may be about to fail too,
 *  but one that has not come by then waits for this one, for ever. Then it says what failed and
 *  ends all.
 *  @param[in] failure  of this rank, for people; NULL: none
 *  @return MG_OK, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_comm_meet(mg_comm_t *comm, const char *failure, double seconds);

/** Element-wise maximum over ranks, in place; a NaN anywhere stays NaN. Collective.
 *  @pre n <= 32 */
MG_MUST_CHECK mg_status_t mg_comm_max(mg_comm_t *comm, double *values, int n);

/** Element-wise minimum, sum over ranks, in place; for reports (the sum's order is the library's).
 *  Collective. */
MG_MUST_CHECK mg_status_t mg_comm_min(mg_comm_t *comm, double *values, int n);
MG_MUST_CHECK mg_status_t mg_comm_sum(mg_comm_t *comm, double *values, int n);

/** Sum over the ranks of this host (those that share its memory), in place. Collective over the
 *  world. */
MG_MUST_CHECK mg_status_t mg_comm_sum_on_host(double *values, int n);

/** This rank's place among those that share its host's memory, and their number. Collective over
 *  the world. */
MG_MUST_CHECK mg_status_t mg_comm_place_on_host(int *rank, int *size);

/** A number of this host that no other host has: the lowest rank on it. Collective over the world.
 */
MG_MUST_CHECK mg_status_t mg_comm_host_number(int *number);

/** The first rank of the group that says so, or the number of its ranks, on all ranks: of those
 * that meet the same error one tells. Collective. */
MG_MUST_CHECK static inline mg_status_t mg_comm_first(mg_comm_t *comm, bool says, int *rank) {
  double first = says ? mg_comm_rank(comm) : mg_comm_size(comm);
  MG_TRY(mg_comm_min(comm, &first, 1));
  *rank = (int)first;
  return MG_OK;
}

/** Bytes of every rank of the group, in their order, on all ranks.
 *  @param[out] all  size * bytes; Collective. */
MG_MUST_CHECK mg_status_t mg_comm_gather(mg_comm_t *comm, const void *mine, size_t bytes,
                                         void *all);

/** Exact sum over ranks, in place. Collective. */
MG_MUST_CHECK mg_status_t mg_comm_sum_exact(mg_comm_t *comm, mg_sum_t *sum);

/** Copy bytes from rank 0 of the group to all. Collective. */
MG_MUST_CHECK mg_status_t mg_comm_broadcast(mg_comm_t *comm, void *data, size_t bytes);

MG_MUST_CHECK mg_status_t mg_comm_barrier(mg_comm_t *comm);

/** Whether messages may lie in the memory of CUDA devices, as the library says at run time. */
bool mg_comm_takes_device_memory(void);

/** Messages under way. */
typedef struct mg_requests mg_requests_t;
MG_MUST_CHECK mg_status_t mg_requests_create(int n_messages, mg_requests_t **out);
void mg_requests_free(mg_requests_t *requests);

/** Start to receive from, or send to, a rank of the world; `data` must stay until the wait. Long
 *  messages travel in pieces, so that no call counts past 2^31.
 *  @pre the sender and the receiver name the same number of doubles; messages of a pair of ranks
 *       arrive in the order in which they were sent */
MG_MUST_CHECK mg_status_t mg_comm_receive(mg_requests_t *requests, int64_t rank, double *data,
                                          int64_t n_doubles);
MG_MUST_CHECK mg_status_t mg_comm_send(mg_requests_t *requests, int64_t rank, const double *data,
                                       int64_t n_doubles);

/** Wait for all that was started, and forget it. */
MG_MUST_CHECK mg_status_t mg_requests_wait(mg_requests_t *requests);

#endif
