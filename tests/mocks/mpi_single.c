/* The program as with an MPI library without thread support: MPI_Init_thread of the program is
 * wrapped. */
#include <mpi.h>

int __real_MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int __wrap_MPI_Init_thread(int *argc, char ***argv, int required, int *provided);

int __wrap_MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  const int code = __real_MPI_Init_thread(argc, argv, required, provided);
  *provided = MPI_THREAD_SINGLE;
  return code;
}
