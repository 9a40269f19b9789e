/* The program as if its ranks ran on two hosts, for tests on one host. Messages between the two
 * halves of the ranks go through host memory, whichever transport is used within a half.
 * tests/mocks/hpgmg-fv-two-hosts is linked with --wrap. Two transports in one exchange occur on
 * clusters, but not on a single host. */
#include "comm/comm.h"
#include "transport/transport.h"

mg_transport_t __real_mg_transports_to(const mg_transports_t *transports, int64_t rank);
mg_transport_t __wrap_mg_transports_to(const mg_transports_t *transports, int64_t rank);

mg_transport_t __wrap_mg_transports_to(const mg_transports_t *transports, int64_t rank) {
  const int64_t half = mg_comm_size(mg_comm_world()) / 2, me = mg_comm_rank(mg_comm_world());
  return (rank < half) == (me < half) ? __real_mg_transports_to(transports, rank)
                                      : MG_TRANSPORT_HOST;
}
