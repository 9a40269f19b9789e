/* comm.h on MPI. The only file that calls MPI. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm.h"
#include <errno.h>
#include <math.h>
#include <mpi.h>
#ifdef HAVE_MPI_EXT_H
#include <mpi-ext.h>
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct mg_comm {
  MPI_Comm mpi; /* MPI_COMM_NULL: a process alone, which never calls MPI */
  int rank, size;
  bool attached;                     /* by mg_comm_attach, or a group of such a one */
  mg_status_t (*before)(void *data); /* mg_comm_before_collectives */
  void *data;
};

/* All ranks. A group of one rank calls MPI only to be created and freed, so that its thread need
 * not be the one that may call MPI. */
static struct mg_comm program;
static _Thread_local struct mg_comm *world = &program;

/* Maximum size of one MPI message: 1 GiB. */
static const int64_t piece_bytes = (int64_t)1 << 30;
enum { TAG = 1 };

/* Report a failed call. `call` is its source text "MPI_Barrier(...)"; the name is printed. */
static mg_status_t failed(const char *call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return mg_error(MG_ERR_COMM, "%.*s: %s", (int)strcspn(call, "("), call, text);
}

#define TRY_MPI(call)                                                                              \
  do {                                                                                             \
    const int code_ = (call);                                                                      \
    if (code_ != MPI_SUCCESS) return failed(#call, code_);                                         \
  } while (0)

/* An application may finalize MPI before it destroys its solvers. */
static mg_status_t check_not_finalized(void) {
  int finalized;
  TRY_MPI(MPI_Finalized(&finalized));
  return finalized ? mg_error(MG_ERR_COMM, "MPI is finalized; call MPI_Finalize after the last "
                                           "call of this solver")
                   : MG_OK;
}

/* A collective function of MPI over a group, or over a part of it. */
#define TRY_COLLECTIVE(comm, call)                                                                 \
  do {                                                                                             \
    MG_TRY(check_not_finalized());                                                                 \
    if ((comm)->before) MG_TRY((comm)->before((comm)->data));                                      \
    TRY_MPI(call);                                                                                 \
  } while (0)

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
/* Was this process started by a launcher such as mpirun, or did the user set the ess module? */
static bool leaves_daemon_alone(void) {
  static const char *const variables[] = {"OMPI_COMM_WORLD_SIZE",
                                          "PMIX_NAMESPACE",
                                          "PMIX_RANK",
                                          "PMI_RANK",
                                          "PMI_FD",
                                          "SLURM_STEP_ID",
                                          "OMPI_MCA_ess",
                                          "OMPI_MCA_ess_singleton_isolated"};
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    if (getenv(variables[i])) return true;
  return false;
}

/* Without a launcher, Open MPI 4 starts a daemon (orted), which only MPI_Comm_spawn needs. It may
 * run forever if the program is killed during MPI_Init. */
static mg_status_t avoid_daemon(void) {
  if (leaves_daemon_alone()) return MG_OK;
  /* All programs without a daemon share one session directory. The first to exit removes it. */
  if (setenv("OMPI_MCA_ess_singleton_isolated", "1", 0) != 0 ||
      setenv("OMPI_MCA_orte_create_session_dirs", "0", 0) != 0)
    return mg_error(MG_ERR_MEMORY, "out of memory: cannot set environment variables for MPI");
  return MG_OK;
}
#else
static mg_status_t avoid_daemon(void) {
  return MG_OK;
}
#endif

/* Under the launcher of another MPI library, or srun without the right --mpi, each process is
 * alone. All would solve the same problem and write the same files. */
static mg_status_t check_launch(void) {
  const mg_launch_t launch = mg_comm_launch();
  if (program.size > 1 || launch.size <= 1) return MG_OK;
  if (launch.rank > 0) return MG_ERR_USAGE;
  return mg_error(
      MG_ERR_USAGE,
      "launched as %ld processes, but each is alone in MPI_COMM_WORLD; use the launcher "
      "of " MG_BUILD_MPI " (with Slurm, srun --mpi), or unset %s to run one process",
      launch.size, launch.variable);
}

mg_status_t mg_comm_init(int *argc, char ***argv) {
  int provided;
  MG_TRY(avoid_daemon());
  /* Threads compute, the main thread communicates. */
  /* Threads may take turns in creating solvers of a library. */
  const int wanted = argc ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED;
  TRY_MPI(MPI_Init_thread(argc, argv, wanted, &provided));
  /* Return errors also from calls without a communicator, such as MPI_Info calls. */
  TRY_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  TRY_MPI(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  TRY_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &program.mpi));
  TRY_MPI(MPI_Comm_set_errhandler(program.mpi, MPI_ERRORS_RETURN));
  TRY_MPI(MPI_Comm_rank(program.mpi, &program.rank));
  TRY_MPI(MPI_Comm_size(program.mpi, &program.size));
  mg_status_t status = check_launch();
  if (status == MG_OK && provided < MPI_THREAD_FUNNELED)
    status = program.rank > 0
                 ? MG_ERR_COMM
                 : mg_error(MG_ERR_COMM, "this MPI library lacks MPI_THREAD_FUNNELED; use one that "
                                         "supports threads");
  /* Each rank exits normally: an abort could cut off the message of rank 0. */
  if (status != MG_OK) mg_comm_finalize();
  return status;
}

void mg_comm_finalize(void) {
  if (program.size == 0) return;
  if (MPI_Comm_free(&program.mpi) == MPI_SUCCESS) (void)MPI_Finalize();
  program.size = 0;
}

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

bool mg_comm_ends(const mg_comm_t *comm) {
  return !comm->attached;
}

static void (*before_abort)(void);

void mg_comm_before_abort(void (*clean)(void)) {
  before_abort = clean;
}

void mg_comm_abort(int exit_code) {
  if (before_abort) before_abort();
  if (program.size > 0) MPI_Abort(MPI_COMM_WORLD, exit_code);
  exit(exit_code);
}

mg_comm_t *mg_comm_world(void) {
  return world;
}

mg_comm_t *mg_comm_enter(mg_comm_t *comm) {
  mg_comm_t *before = world;
  world = comm ? comm : &program;
  return before;
}

int mg_comm_rank(const mg_comm_t *comm) {
  return comm->rank;
}

int mg_comm_size(const mg_comm_t *comm) {
  return comm->size;
}

const char *mg_comm_host(void) {
  static char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  const bool known = world->mpi == MPI_COMM_NULL
                         ? gethostname(name, sizeof name - 1) == 0
                         : MPI_Get_processor_name(name, &length) == MPI_SUCCESS;
  return known ? name : "unknown";
}

mg_status_t mg_comm_split(mg_comm_t *parent, bool member, mg_comm_t **out) {
  *out = NULL;
  MPI_Comm mpi = MPI_COMM_NULL;
  const bool alone = parent->mpi == MPI_COMM_NULL;
  if (!alone)
    TRY_COLLECTIVE(parent,
                   MPI_Comm_split(parent->mpi, member ? 0 : MPI_UNDEFINED, parent->rank, &mpi));
  if (!member) return MG_OK;
  mg_comm_t *comm;
  MG_TRY(mg_new(&comm, 1, "communicators"));
  *comm = (mg_comm_t){.mpi = mpi, .size = 1, .attached = parent->attached};
  *out = comm;
  if (alone) return MG_OK;
  TRY_MPI(MPI_Comm_rank(mpi, &comm->rank));
  TRY_MPI(MPI_Comm_size(mpi, &comm->size));
  return MG_OK;
}

void mg_comm_free(mg_comm_t *comm) {
  int finalized = 0;
  if (!comm || comm == &program) return;
  if (comm->mpi == MPI_COMM_NULL || MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) {
    free(comm);
    return;
  }
  const int code = MPI_Comm_free(&comm->mpi);
  if (code != MPI_SUCCESS) (void)failed("MPI_Comm_free", code);
  free(comm);
}

void mg_comm_before_collectives(mg_comm_t *comm, mg_status_t (*before)(void *data), void *data) {
  comm->before = before;
  comm->data = data;
}

mg_status_t mg_comm_agree(mg_status_t mine) {
  int worst = mine;
  if (world->size == 1) return mine;
  TRY_COLLECTIVE(world, MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, world->mpi));
  return (mg_status_t)worst;
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

mg_status_t mg_comm_max(mg_comm_t *comm, double *values, int n) {
  enum { MAX_DOUBLES = 64 };
  if (comm->size == 1) return MG_OK;
  if (n > MAX_DOUBLES / 2)
    return mg_error(MG_ERR_INTERNAL, "mg_comm_max: %d values, limit %d", n, MAX_DOUBLES / 2);
  /* MPI_MAX may drop a NaN, so reduce a NaN flag along with each value. */
  double both[MAX_DOUBLES];
  for (int i = 0; i < n; i++) {
    both[2 * i] = isnan(values[i]) ? 0.0 : values[i];
    both[2 * i + 1] = isnan(values[i]) ? 1.0 : 0.0;
  }
  TRY_COLLECTIVE(comm, MPI_Allreduce(MPI_IN_PLACE, both, 2 * n, MPI_DOUBLE, MPI_MAX, comm->mpi));
  for (int i = 0; i < n; i++)
    values[i] = both[2 * i + 1] > 0.0 ? NAN : both[2 * i];
  return MG_OK;
}

mg_status_t mg_comm_min(mg_comm_t *comm, double *values, int n) {
  if (comm->size == 1) return MG_OK;
  TRY_COLLECTIVE(comm, MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_MIN, comm->mpi));
  return MG_OK;
}

mg_status_t mg_comm_sum(mg_comm_t *comm, double *values, int n) {
  if (comm->size == 1) return MG_OK;
  TRY_COLLECTIVE(comm, MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, comm->mpi));
  return MG_OK;
}

mg_status_t mg_comm_sum_on_host(double *values, int n) {
  MPI_Comm host;
  if (world->size == 1) return MG_OK;
  TRY_COLLECTIVE(world,
                 MPI_Comm_split_type(world->mpi, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_DOUBLE, MPI_SUM, host));
  TRY_MPI(MPI_Comm_free(&host));
  return MG_OK;
}

mg_status_t mg_comm_rank_on_host(int *rank, int *size) {
  MPI_Comm host;
  *rank = 0;
  *size = 1;
  if (world->size == 1) return MG_OK;
  TRY_COLLECTIVE(world,
                 MPI_Comm_split_type(world->mpi, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  TRY_MPI(MPI_Comm_rank(host, rank));
  TRY_MPI(MPI_Comm_size(host, size));
  TRY_MPI(MPI_Comm_free(&host));
  return MG_OK;
}

mg_status_t mg_comm_host_number(int *number) {
  MPI_Comm host;
  *number = world->rank;
  if (world->size == 1) return MG_OK;
  TRY_COLLECTIVE(world,
                 MPI_Comm_split_type(world->mpi, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, number, 1, MPI_INT, MPI_MIN, host));
  TRY_MPI(MPI_Comm_free(&host));
  return MG_OK;
}

mg_status_t mg_comm_gather(mg_comm_t *comm, const void *mine, size_t bytes, void *all) {
  if (comm->size == 1) {
    memcpy(all, mine, bytes);
    return MG_OK;
  }
  TRY_COLLECTIVE(comm,
                 MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm->mpi));
  return MG_OK;
}

mg_status_t mg_comm_sum_exact(mg_comm_t *comm, mg_sum_t *sum) {
  if (comm->size == 1) return MG_OK;
  mg_sum_normalize(sum);
  TRY_COLLECTIVE(
      comm, MPI_Allreduce(MPI_IN_PLACE, sum->digit, MG_SUM_LIMBS, MPI_INT64_T, MPI_SUM, comm->mpi));
  return MG_OK;
}

mg_status_t mg_comm_broadcast_from(mg_comm_t *comm, int rank, void *data, size_t bytes) {
  if (comm->size == 1) return MG_OK;
  TRY_COLLECTIVE(comm, MPI_Bcast(data, (int)bytes, MPI_BYTE, rank, comm->mpi));
  return MG_OK;
}

mg_status_t mg_comm_barrier(mg_comm_t *comm) {
  if (comm->size == 1) return MG_OK;
  TRY_COLLECTIVE(comm, MPI_Barrier(comm->mpi));
  return MG_OK;
}

bool mg_comm_accepts_device_memory(void) {
  if (world->mpi == MPI_COMM_NULL) return false;
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

struct mg_requests {
  int n, capacity;
  MPI_Request *request;
};

mg_status_t mg_requests_create(int n_messages, mg_requests_t **out) {
  mg_requests_t *r;
  *out = NULL;
  MG_TRY(mg_new(&r, 1, "MPI requests"));
  r->capacity = n_messages > 0 ? n_messages : 1;
  const mg_status_t status = mg_new(&r->request, r->capacity, "MPI requests");
  if (status != MG_OK) {
    free(r);
    return status;
  }
  *out = r;
  return MG_OK;
}

void mg_requests_free(mg_requests_t *requests) {
  if (!requests) return;
  free(requests->request);
  free(requests);
}

static mg_status_t next_request(mg_requests_t *r, MPI_Request **request) {
  if (r->n == r->capacity) {
    MG_TRY(mg_grow(&r->request, 2 * (int64_t)r->capacity, "MPI requests"));
    r->capacity *= 2;
  }
  *request = &r->request[r->n++];
  return MG_OK;
}

mg_status_t mg_comm_receive(mg_requests_t *requests, int64_t rank, void *data, int64_t bytes) {
  for (char *at = data; bytes > 0;) {
    const int64_t n = bytes < piece_bytes ? bytes : piece_bytes;
    MPI_Request *request = NULL;
    MG_TRY(next_request(requests, &request));
    TRY_MPI(MPI_Irecv(at, (int)n, MPI_BYTE, (int)rank, TAG, world->mpi, request));
    at += n;
    bytes -= n;
  }
  return MG_OK;
}

mg_status_t mg_comm_send(mg_requests_t *requests, int64_t rank, const void *data, int64_t bytes) {
  for (const char *at = data; bytes > 0;) {
    const int64_t n = bytes < piece_bytes ? bytes : piece_bytes;
    MPI_Request *request = NULL;
    MG_TRY(next_request(requests, &request));
    TRY_MPI(MPI_Isend(at, (int)n, MPI_BYTE, (int)rank, TAG, world->mpi, request));
    at += n;
    bytes -= n;
  }
  return MG_OK;
}

mg_status_t mg_requests_wait(mg_requests_t *requests) {
  if (requests->n == 0) return MG_OK;
  TRY_MPI(MPI_Waitall(requests->n, requests->request, MPI_STATUSES_IGNORE));
  requests->n = 0;
  return MG_OK;
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
