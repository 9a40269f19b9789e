/* Two ranks at mg_comm_meet: rank 1 has failed and waits one second, rank 0 comes after as many
 * milliseconds as the argument says. For tests/fault.sh. */
#include "comm.h"
#include "log.h"
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
  if (mg_comm_init(&argc, &argv) != MG_OK || argc != 2) return 2;
  mg_comm_t *world = mg_comm_world();
  const int rank = mg_comm_rank(world);
  const long milliseconds = rank == 0 ? strtol(argv[1], NULL, 10) : 0;
  const struct timespec nap = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  mg_log_setup(rank, mg_comm_size(world), MG_LOG_NORMAL);
  nanosleep(&nap, NULL);
  const mg_status_t status =
      mg_comm_meet(world, rank == 1 ? "others wait for this one" : NULL, 1.0);
  mg_comm_finalize();
  return mg_status_exit_code(status);
}
