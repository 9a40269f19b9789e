/* Ranks create or open a shared file under rank-specific paths: private_paths create|open PATH...,
 * where the last path applies to all remaining ranks. Used by tests/fault/fault_dump.sh. */
#include "base/log.h"
#include "comm/comm.h"
#include "io/hdf5/h5.h"
#include <string.h>

int main(int argc, char **argv) {
  if (mg_comm_init(&argc, &argv) != MG_OK || argc < 3) return 2;
  mg_comm_t *world = mg_comm_world();
  const int rank = mg_comm_rank(world);
  const char *path = argv[rank + 2 < argc ? rank + 2 : argc - 1];
  mg_h5_t *file;
  mg_log_setup(rank, mg_comm_size(world), MG_LOG_NORMAL);
  mg_status_t status = strcmp(argv[1], "create") == 0 ? mg_h5_create(path, "", &file)
                                                      : mg_h5_open("", path, false, &file);
  const mg_status_t closed = mg_h5_close(file);
  status = mg_comm_agree(status != MG_OK ? status : closed);
  mg_comm_finalize();
  return mg_status_exit_code(status);
}
