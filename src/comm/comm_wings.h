/* Message passing that only wings need: groups of ranks of an application, and waits with a limit.
 */
#ifndef MG_COMM_WINGS_H
#define MG_COMM_WINGS_H

#include "comm/comm.h"

/** The ranks of an application's communicator, for a library. Groups made of it do not end the
 *  program either: see mg_comm_ends. Collective over the communicator. Initializes MPI if the
 *  application has not, and then finalizes it when the program exits.
 *  @param[in]  mpi_comm  const MPI_Comm *, duplicated
 *  @param[in]  fortran   the same as an MPI_Fint; both NULL: this process alone, without any call
 *                        of MPI
 *  @param[out] out       free with mg_comm_free
 *  @return MG_OK, MG_ERR_COMM, MG_ERR_MEMORY, MG_ERR_USAGE (a communicator without MPI, of another
 *          MPI library, both, or MPI_COMM_NULL) */
MG_MUST_CHECK mg_status_t mg_comm_attach(const void *mpi_comm, const int32_t *fortran,
                                         mg_comm_t **out);

/** Make a group the world of the calling thread: of all functions that this thread calls from here
 *  on. So groups of ranks can solve different problems at the same time. Not collective.
 *  @param[in] comm  of which this rank is a member; NULL: all ranks of the program
 *  @return the world before */
mg_comm_t *mg_comm_enter(mg_comm_t *comm);

/** Have every rank of a group call a function at the start of each collective function over that
 *  group, where it can detect ranks that would never arrive. It may send messages.
 *  @param[in] before  its failure is that of the collective function, which then does nothing;
 *                     NULL: none
 *  @param[in] data    argument of `before` */
void mg_comm_before_collectives(mg_comm_t *comm, mg_status_t (*before)(void *data), void *data);

/** Barrier after optional work in which ranks wait for each other. Collective.
 *
 *  A failed rank waits at most `seconds`, since the other ranks may fail soon, too. A rank missing
 *  after that would wait for the failed rank forever. The failed rank then reports `failure` and
 *  aborts all ranks.
 *  @param[in] failure  error message if this rank failed; NULL: it did not
 *  @return MG_OK, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_comm_barrier_with_timeout(mg_comm_t *comm, const char *failure,
                                                       double seconds);

/** Wait for all messages in flight, but at most `seconds`. If some have not arrived by then, they
 *  stay in flight: their memory must stay valid, and the program can only abort.
 *  @pre   no message is empty or exceeds 1 GiB
 *  @param[out] arrived  for each message, in the order in which they were started
 *  @return MG_OK, also if some have not arrived; MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_requests_wait_at_most(mg_requests_t *requests, double seconds,
                                                   bool *arrived);

/** Element-wise sum over the ranks that share this host's memory, in place. All ranks call it. */
MG_MUST_CHECK mg_status_t mg_comm_sum_on_host(double *values, int n);

/** Does the MPI library accept CUDA device memory, as it reports at run time? */
bool mg_comm_accepts_device_memory(void);

#endif
