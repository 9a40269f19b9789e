/* Message passing. Two implementations: MPI (comm_mpi*.c) and a single process without MPI
 * (comm_serial*.c). No other file depends on which one is linked. */
#ifndef MG_COMM_H
#define MG_COMM_H

#include "base/log.h"
#include "base/sum.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A group of ranks. NULL on ranks that are not members. "Collective over the world" means over
 *  mg_comm_world. */
typedef struct mg_comm mg_comm_t;

/** How a launcher such as mpirun or srun started this process. */
typedef struct {
  const char *variable; /**< of the environment, which has the size; NULL: no launcher */
  long size, rank;      /**< processes, and which of them this one is */
} mg_launch_t;

/** Read the environment. A process may inherit the variables of several launchers; the smallest
 *  size counts. */
mg_launch_t mg_comm_launch(void);

/** Initialize the message-passing library. Call once, before any other function of this header.
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_MEMORY, MG_ERR_USAGE (a launcher started copies, which do not
 *          know each other; its first one reports the error) */
MG_MUST_CHECK mg_status_t mg_comm_init(int *argc, char ***argv);

/** Finalize the message-passing library. Collective over the world. */
void mg_comm_finalize(void);

/** Whether a failure may end the program (mg_comm_abort). Otherwise it returns its status on the
 * rank that fails, while others may wait for this one. */
bool mg_comm_ends(const mg_comm_t *comm);

/** Abort all ranks with this exit code. For failures that would leave other ranks waiting. */
void mg_comm_abort(int exit_code);

/** Register the function that this rank calls before it aborts, to remove unfinished files.
 *  @param[in] clean  replaces the earlier function; NULL: none */
void mg_comm_before_abort(void (*clean)(void));

/** The ranks that work together: all of the program, or those of mg_comm_enter (comm_wings.h). */
mg_comm_t *mg_comm_world(void);

int mg_comm_rank(const mg_comm_t *comm);
int mg_comm_size(const mg_comm_t *comm);

/** Is this rank 0 of the world? Only rank 0 reports results, and errors that all ranks detect. */
static inline bool mg_comm_is_root(void) {
  return mg_comm_rank(mg_comm_world()) == 0;
}

/** mg_error for what all ranks find: only rank 0 prints it.
 *  @return status */
#define mg_root_error(status, ...) (mg_comm_is_root() ? mg_error(status, __VA_ARGS__) : (status))

/** Name of this rank's host. Static storage. */
const char *mg_comm_host(void);

/** Create the group of the ranks of `parent` that pass member = true. Collective over parent.
 *  @param[out] out  NULL on ranks that are not members; free with mg_comm_free */
MG_MUST_CHECK mg_status_t mg_comm_split(mg_comm_t *parent, bool member, mg_comm_t **out);
void mg_comm_free(mg_comm_t *comm);

/** Return the worst status of all ranks, on all ranks. Collective over the world.
 *
 *  Call it before a collective that a failed rank would skip. */
MG_MUST_CHECK mg_status_t mg_comm_agree(mg_status_t mine);

/** mg_comm_agree after work in which ranks wait for each other. Collective over the world.
 *
 *  A failure of one rank (memory, device, message) would leave the others waiting forever. Such a
 *  rank aborts all ranks with the exit code of its status, or returns if it may not. */
MG_MUST_CHECK static inline mg_status_t mg_comm_agree_or_end(mg_status_t mine) {
  if (mine >= MG_ERR_MEMORY && mg_comm_size(mg_comm_world()) > 1) {
    if (!mg_comm_ends(mg_comm_world())) return mine;
    mg_comm_abort(mg_status_exit_code(mine));
  }
  return mg_comm_agree(mine);
}

/** Evaluate a fallible call on rank 0 only; all ranks get its status. Collective over the world. */
#define MG_ON_ROOT(call) mg_comm_agree(mg_comm_is_root() ? (call) : MG_OK)

/** Element-wise maximum over ranks, in place. A NaN on any rank gives NaN. Collective.
 *  @pre n <= 32 */
MG_MUST_CHECK mg_status_t mg_comm_max(mg_comm_t *comm, double *values, int n);

/** Element-wise minimum and sum over ranks, in place. Collective.
 *
 *  For reports only: the MPI library chooses the order of the sum. */
MG_MUST_CHECK mg_status_t mg_comm_min(mg_comm_t *comm, double *values, int n);
MG_MUST_CHECK mg_status_t mg_comm_sum(mg_comm_t *comm, double *values, int n);

/** This rank's index among the ranks that share its host's memory, the number of those ranks, and
 *  the lowest of them: a unique number of the host. NULL: not wanted. Collective over the world. */
MG_MUST_CHECK mg_status_t mg_comm_rank_on_host(int *rank, int *size, int *lowest);

/** Find the first rank of the group that passes says = true, on all ranks. Collective.
 *
 *  Lets one rank report an error that several ranks detect.
 *  @param[out] rank  the size of the group if no rank passes true */
MG_MUST_CHECK static inline mg_status_t mg_comm_first(mg_comm_t *comm, bool says, int *rank) {
  double first = says ? mg_comm_rank(comm) : mg_comm_size(comm);
  MG_TRY(mg_comm_min(comm, &first, 1));
  *rank = (int)first;
  return MG_OK;
}

/** Gather bytes from every rank of the group, in rank order, on all ranks. Collective.
 *  @param[out] all  size * bytes */
MG_MUST_CHECK mg_status_t mg_comm_gather(mg_comm_t *comm, const void *mine, size_t bytes,
                                         void *all);

/** Exact sum over ranks, in place. Collective. */
MG_MUST_CHECK mg_status_t mg_comm_sum_exact(mg_comm_t *comm, mg_sum_t *sum);

/** Copy bytes from a rank of the group to all its ranks. Collective. */
MG_MUST_CHECK mg_status_t mg_comm_broadcast_from(mg_comm_t *comm, int rank, void *data,
                                                 size_t bytes);

/** The same from rank 0. */
MG_MUST_CHECK static inline mg_status_t mg_comm_broadcast(mg_comm_t *comm, void *data,
                                                          size_t bytes) {
  return mg_comm_broadcast_from(comm, 0, data, bytes);
}

/** mg_comm_first, and copy that rank's text to all ranks. Collective. */
MG_MUST_CHECK static inline mg_status_t mg_comm_first_text(mg_comm_t *comm, bool says, char *text,
                                                           size_t size, int *rank) {
  MG_TRY(mg_comm_first(comm, says, rank));
  return *rank < mg_comm_size(comm) ? mg_comm_broadcast_from(comm, *rank, text, size) : MG_OK;
}

MG_MUST_CHECK mg_status_t mg_comm_barrier(mg_comm_t *comm);

/** Messages in flight. */
typedef struct mg_requests mg_requests_t;
MG_MUST_CHECK mg_status_t mg_requests_create(int n_messages, mg_requests_t **out);
void mg_requests_free(mg_requests_t *requests);

/** Start a nonblocking receive from, or send to, a rank of the world.
 *
 *  `data` must stay valid until mg_requests_wait. Long messages are split, so that no MPI count
 *  exceeds 2^31. Messages between two ranks arrive in the order sent.
 *  @pre sender and receiver pass the same number of bytes */
MG_MUST_CHECK mg_status_t mg_comm_receive(mg_requests_t *requests, int64_t rank, void *data,
                                          int64_t bytes);
MG_MUST_CHECK mg_status_t mg_comm_send(mg_requests_t *requests, int64_t rank, const void *data,
                                       int64_t bytes);

/** Wait for all messages in flight, then reset the list for reuse. */
MG_MUST_CHECK mg_status_t mg_requests_wait(mg_requests_t *requests);

#endif
