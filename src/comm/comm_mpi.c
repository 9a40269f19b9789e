/* comm.h on MPI. Only this file and comm_mpi_wings.c call MPI. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm_mpi.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mg_comm mg_comm_program;
_Thread_local struct mg_comm *mg_comm_current = &mg_comm_program;

/* Maximum size of one MPI message: 1 GiB. */
static const int64_t piece_bytes = (int64_t)1 << 30;
enum { TAG = 1 };

mg_status_t mg_comm_failed(const char *call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return mg_error(MG_ERR_COMM, "%.*s: %s", (int)strcspn(call, "("), call, text);
}

mg_status_t mg_comm_check_not_finalized(void) {
  int finalized;
  TRY_MPI(MPI_Finalized(&finalized));
  return finalized ? mg_error(MG_ERR_COMM, "MPI is finalized; call MPI_Finalize after the last "
                                           "call of this solver")
                   : MG_OK;
}

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
  if (mg_comm_program.size > 1 || launch.size <= 1) return MG_OK;
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
  TRY_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &mg_comm_program.mpi));
  TRY_MPI(MPI_Comm_set_errhandler(mg_comm_program.mpi, MPI_ERRORS_RETURN));
  TRY_MPI(MPI_Comm_rank(mg_comm_program.mpi, &mg_comm_program.rank));
  TRY_MPI(MPI_Comm_size(mg_comm_program.mpi, &mg_comm_program.size));
  mg_status_t status = check_launch();
  if (status == MG_OK && provided < MPI_THREAD_FUNNELED)
    status = mg_comm_program.rank > 0
                 ? MG_ERR_COMM
                 : mg_error(MG_ERR_COMM, "this MPI library lacks MPI_THREAD_FUNNELED; use one that "
                                         "supports threads");
  /* Each rank exits normally: an abort could cut off the message of rank 0. */
  if (status != MG_OK) mg_comm_finalize();
  return status;
}

void mg_comm_finalize(void) {
  if (mg_comm_program.size == 0) return;
  if (MPI_Comm_free(&mg_comm_program.mpi) == MPI_SUCCESS) (void)MPI_Finalize();
  mg_comm_program.size = 0;
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
  if (mg_comm_program.size > 0) MPI_Abort(MPI_COMM_WORLD, exit_code);
  exit(exit_code);
}

mg_comm_t *mg_comm_world(void) {
  return mg_comm_current;
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
  const bool known = mg_comm_current->mpi == MPI_COMM_NULL
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
  if (!comm || comm == &mg_comm_program) return;
  if (comm->mpi == MPI_COMM_NULL || MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) {
    free(comm);
    return;
  }
  const int code = MPI_Comm_free(&comm->mpi);
  if (code != MPI_SUCCESS) (void)mg_comm_failed("MPI_Comm_free", code);
  free(comm);
}

mg_status_t mg_comm_agree(mg_status_t mine) {
  int worst = mine;
  if (mg_comm_current->size == 1) return mine;
  TRY_COLLECTIVE(mg_comm_current,
                 MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, mg_comm_current->mpi));
  return (mg_status_t)worst;
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

mg_status_t mg_comm_rank_on_host(int *rank, int *size, int *lowest) {
  MPI_Comm host;
  int mine = 0, n = 1, least = mg_comm_current->rank;
  if (mg_comm_current->size > 1) {
    TRY_COLLECTIVE(mg_comm_current, MPI_Comm_split_type(mg_comm_current->mpi, MPI_COMM_TYPE_SHARED,
                                                        0, MPI_INFO_NULL, &host));
    TRY_MPI(MPI_Comm_rank(host, &mine));
    TRY_MPI(MPI_Comm_size(host, &n));
    if (lowest) TRY_MPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, host));
    TRY_MPI(MPI_Comm_free(&host));
  }
  if (rank) *rank = mine;
  if (size) *size = n;
  if (lowest) *lowest = least;
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

/* Send from `from`, or else receive. */
static mg_status_t start(mg_requests_t *requests, int64_t rank, const char *from, char *to,
                         int64_t bytes) {
  const MPI_Comm mpi = mg_comm_current->mpi;
  for (int64_t at = 0; at < bytes; at += piece_bytes) {
    const int n = (int)(bytes - at < piece_bytes ? bytes - at : piece_bytes);
    MPI_Request *request = NULL;
    MG_TRY(next_request(requests, &request));
    if (from)
      TRY_MPI(MPI_Isend(from + at, n, MPI_BYTE, (int)rank, TAG, mpi, request));
    else
      TRY_MPI(MPI_Irecv(to + at, n, MPI_BYTE, (int)rank, TAG, mpi, request));
  }
  return MG_OK;
}

mg_status_t mg_comm_receive(mg_requests_t *requests, int64_t rank, void *data, int64_t bytes) {
  return start(requests, rank, NULL, data, bytes);
}

mg_status_t mg_comm_send(mg_requests_t *requests, int64_t rank, const void *data, int64_t bytes) {
  return start(requests, rank, data, NULL, bytes);
}

mg_status_t mg_requests_wait(mg_requests_t *requests) {
  if (requests->n == 0) return MG_OK;
  TRY_MPI(MPI_Waitall(requests->n, requests->request, MPI_STATUSES_IGNORE));
  requests->n = 0;
  return MG_OK;
}
