/* The program as if its ranks were on two hosts, for tests on one: messages between the two halves
 * of the ranks go through the host's memory, whatever carries those within a half.
 * tests/mocks/hpgmg-fv-two-hosts is linked with --wrap. Two ways in one exchange are what a cluster
 * has, and one host has not. */
#include "comm/comm.h"
#include "transport/transport.h"

mg_transport_t __real_mg_transports_to(const mg_transports_t *transports, int64_t rank);
mg_transport_t __wrap_mg_transports_to(const mg_transports_t *transports, int64_t rank);

mg_transport_t __wrap_mg_transports_to(const mg_transports_t *transports, int64_t rank) {
  const int64_t half = mg_comm_size(mg_comm_world()) / 2, me = mg_comm_rank(mg_comm_world());
  return (rank < half) == (me < half) ? __real_mg_transports_to(transports, rank)
                                      : MG_TRANSPORT_HOST;
}
