/* The program as with an MPI library without thread support. tests/mocks/hpgmg-fv-mpi-single
 * overrides MPI_Init_thread of the library. */
#include <mpi.h>

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  *provided = MPI_THREAD_SINGLE;
  return code;
}
