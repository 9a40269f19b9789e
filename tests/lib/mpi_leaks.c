/* Linked into the library of builds with sanitizers. MPI never frees much of what it allocates at
 * its start. LeakSanitizer ignores that memory here: to find its suppressions, it would have to
 * resolve the symbols of each block at the end of every process, and record whole stacks, which
 * takes 0.6 s per process. */
#include <sanitizer/lsan_interface.h>

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  __lsan_disable();
  const int rc = PMPI_Init_thread(argc, argv, required, provided);
  __lsan_enable();
  return rc;
}
