/* Two ranks at mg_comm_barrier_with_timeout, where rank 1 has failed. "late_rank SECONDS comes":
 * rank 1 waits at most SECONDS for rank 0, which arrives a moment later. "late_rank SECONDS stays":
 * rank 0 never arrives. Used by tests/fault/fault.sh. */
#include "base/log.h"
#include "comm/comm_wings.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (mg_comm_init(&argc, &argv) != MG_OK || argc != 3) return 2;
  mg_comm_t *world = mg_comm_world();
  const int rank = mg_comm_rank(world);
  const struct timespec moment = {0, 100000000};
  mg_log_setup(rank, mg_comm_size(world), MG_LOG_NORMAL);
  while (rank == 0 && strcmp(argv[2], "stays") == 0)
    pause();
  if (rank == 0) nanosleep(&moment, NULL);
  const mg_status_t status = mg_comm_barrier_with_timeout(
      world, rank == 1 ? "others wait for this one" : NULL, strtod(argv[1], NULL));
  mg_comm_finalize();
  return mg_status_exit_code(status);
}
