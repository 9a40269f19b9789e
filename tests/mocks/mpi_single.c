/* The program as with an MPI library that is for programs without threads.
 * tests/mocks/hpgmg-fv-mpi-single has its own MPI_Init_thread before the library's. */
#include <mpi.h>

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  *provided = MPI_THREAD_SINGLE;
  return code;
}
