/* comm_wings.h on MPI. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm_mpi.h"
#include "comm/comm_wings.h"
#include <errno.h>
#ifdef HAVE_MPI_EXT_H
#include <mpi-ext.h>
#endif
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* An application with another MPI library. Its functions may have been linked instead of those of
 * this one, or it has passed its communicator, which this one cannot use. */
static mg_status_t check_library(void) {
  char name[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  TRY_MPI(MPI_Get_library_version(name, &length));
#ifdef OPEN_MPI
  const bool same = strncmp(name, "Open MPI", 8) == 0;
#else
  const bool same = strncmp(name, "Open MPI", 8) != 0;
#endif
  if (same) return MG_OK;
  return mg_error(MG_ERR_USAGE,
                  "libhpgmg was built with " MG_BUILD_MPI ", but the process has %.*s; "
                  "build both with the same MPI library",
                  (int)strcspn(name, ",\n"), name);
}

static mg_status_t refuse_communicator(void) {
  return mg_error(MG_ERR_USAGE, "the communicator is not one of " MG_BUILD_MPI
                                ", the MPI library of libhpgmg; build the application (mpi4py) "
                                "with the same library");
}

/* Whether a handle that is a pointer, as in Open MPI, points to memory. */
static bool is_mapped(const MPI_Comm *handle) {
  if (sizeof *handle != sizeof(char *)) return true;
  char *address;
  memcpy(&address, handle, sizeof address);
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), in_page = (uintptr_t)address % page;
  return (uintptr_t)address % sizeof address == 0 &&
         (msync(address - in_page, (size_t)page, MS_ASYNC) == 0 || errno != ENOMEM);
}

static void finalize_at_exit(void) {
  int finalized = 1;
  if (MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized) mg_comm_finalize();
}

/* Before MPI is initialized, the library's own handles are the only ones. The solver calls MPI only
 * from the thread that calls it, so any level of thread support will do. */
static mg_status_t initialize_for_library(const MPI_Comm *given) {
  int initialized, finalized;
  MG_TRY(check_library());
  TRY_MPI(MPI_Initialized(&initialized));
  TRY_MPI(MPI_Finalized(&finalized));
  if (finalized) return mg_error(MG_ERR_COMM, "MPI is finalized");
  if (initialized) return MG_OK;
  if (given && *given != MPI_COMM_WORLD && *given != MPI_COMM_SELF) return refuse_communicator();
  MG_TRY(mg_comm_init(NULL, NULL));
  if (atexit(finalize_at_exit) == 0) return MG_OK;
  return mg_error(MG_ERR_MEMORY, "out of memory: cannot finalize MPI at exit");
}

/* MPI reports invalid handles to the error handler of MPI_COMM_WORLD, which usually aborts. */
static mg_status_t duplicate(MPI_Comm given, MPI_Comm *out) {
  MPI_Errhandler before;
  TRY_MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before));
  TRY_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  const int code = MPI_Comm_dup(given, out);
  TRY_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, before));
  TRY_MPI(MPI_Errhandler_free(&before));
  int kind = MPI_SUCCESS;
  if (code != MPI_SUCCESS) TRY_MPI(MPI_Error_class(code, &kind));
  if (kind == MPI_ERR_COMM) return refuse_communicator();
  TRY_MPI(code);
  return MG_OK;
}

mg_status_t mg_comm_attach(const void *mpi_comm, const int32_t *fortran, mg_comm_t **out) {
  mg_comm_t *comm;
  *out = NULL;
  if (mpi_comm && fortran)
    return mg_error(MG_ERR_USAGE, "comm and comm_f are given; give one of them");
  MPI_Comm given = MPI_COMM_NULL;
  const bool alone = !mpi_comm && !fortran;
  if (!alone) {
    MG_TRY(initialize_for_library(mpi_comm));
    given = mpi_comm ? *(const MPI_Comm *)mpi_comm : MPI_Comm_f2c(*fortran);
    if (given == MPI_COMM_NULL) return mg_error(MG_ERR_USAGE, "the communicator is MPI_COMM_NULL");
    /* Another copy of the same library has other handles for the same numbers. */
    if (!is_mapped(&given) || MPI_Comm_f2c(MPI_Comm_c2f(given)) != given)
      return refuse_communicator();
  }
  MG_TRY(mg_new(&comm, 1, "communicators"));
  *comm = (mg_comm_t){.mpi = MPI_COMM_NULL, .size = 1, .attached = true};
  *out = comm;
  if (alone) return MG_OK;
  MG_TRY(duplicate(given, &comm->mpi));
  TRY_MPI(MPI_Comm_set_errhandler(comm->mpi, MPI_ERRORS_RETURN));
  TRY_MPI(MPI_Comm_rank(comm->mpi, &comm->rank));
  TRY_MPI(MPI_Comm_size(comm->mpi, &comm->size));
  return MG_OK;
}

mg_comm_t *mg_comm_enter(mg_comm_t *comm) {
  mg_comm_t *before = mg_comm_current;
  mg_comm_current = comm ? comm : &mg_comm_program;
  return before;
}

void mg_comm_before_collectives(mg_comm_t *comm, mg_status_t (*before)(void *data), void *data) {
  comm->before = before;
  comm->data = data;
}

mg_status_t mg_comm_barrier_with_timeout(mg_comm_t *comm, const char *failure, double seconds) {
  const struct timespec nap = {0, 1000000};
  if (comm->size == 1) return MG_OK;
  const double start = MPI_Wtime();
  MPI_Request request;
  TRY_COLLECTIVE(comm, MPI_Ibarrier(comm->mpi, &request));
  for (int met = 0;;) {
    TRY_MPI(MPI_Test(&request, &met, MPI_STATUS_IGNORE));
    if (met) return MG_OK;
    if (failure && MPI_Wtime() - start > seconds) {
      const mg_status_t status = mg_error(MG_ERR_DEVICE, "%s", failure);
      if (!mg_comm_ends(comm)) return status;
      mg_comm_abort(mg_status_exit_code(status));
    }
    nanosleep(&nap, NULL);
  }
}

mg_status_t mg_requests_wait_at_most(mg_requests_t *requests, double seconds, bool *arrived) {
  const double start = MPI_Wtime(), busy_seconds = 0.1;
  const struct timespec nap = {0, 1000000};
  for (;;) {
    int left = 0;
    for (int r = 0; r < requests->n; r++) {
      int done = 0; /* also 1 for a message that arrived before */
      TRY_MPI(MPI_Test(&requests->request[r], &done, MPI_STATUS_IGNORE));
      arrived[r] = done != 0;
      left += !arrived[r];
    }
    if (left == 0) requests->n = 0;
    const double waited = MPI_Wtime() - start;
    if (left == 0 || waited > seconds) return MG_OK;
    if (waited < busy_seconds)
      sched_yield();
    else
      nanosleep(&nap, NULL);
  }
}

mg_status_t mg_comm_sum_on_host(double *values, int n) {
  MPI_Comm host;
  if (mg_comm_current->size == 1) return MG_OK;
  TRY_COLLECTIVE(mg_comm_current, MPI_Comm_split_type(mg_comm_current->mpi, MPI_COMM_TYPE_SHARED, 0,
                                                      MPI_INFO_NULL, &host));
  TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, host));
  TRY_MPI(MPI_Comm_free(&host));
  return MG_OK;
}

bool mg_comm_accepts_device_memory(void) {
  if (mg_comm_current->mpi == MPI_COMM_NULL) return false;
#if defined(MPIX_GPU_SUPPORT_CUDA)
  /* MPICH 4.0 and later, and its derivatives */
  int takes = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &takes) == MPI_SUCCESS && takes != 0;
#elif defined(HAVE_MPI_EXT_H) && defined(MPIX_CUDA_AWARE_SUPPORT)
  /* Open MPI */
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}
