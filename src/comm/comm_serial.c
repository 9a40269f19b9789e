/* comm.h and comm_wings.h for a single process without MPI. */
#include "base/log.h"
#include "comm/comm_wings.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

struct mg_comm {
  int size;
};
struct mg_requests {
  int none;
};

static struct mg_comm program = {1}, attached = {1};
static _Thread_local struct mg_comm *world = &program;

mg_status_t mg_comm_init(int *argc, char ***argv) {
  const mg_launch_t launch = mg_comm_launch();
  if (launch.size <= 1) return MG_OK;
  /* All copies would solve the same problem and write the same files. Only rank 0 reports it. */
  if (launch.rank > 0) return MG_ERR_USAGE;
  return mg_error(
      MG_ERR_USAGE,
      "built without MPI, but launched as %ld processes; launch one, or configure --with-mpi",
      launch.size);
}

void mg_comm_finalize(void) {}

mg_status_t mg_comm_attach(const void *mpi_comm, const int32_t *fortran, mg_comm_t **out) {
  *out = &attached;
  if (!mpi_comm && !fortran) return MG_OK;
  return mg_error(MG_ERR_USAGE,
                  "built without MPI, but given a communicator; use NULL, or configure "
                  "--with-mpi");
}

bool mg_comm_ends(const mg_comm_t *comm) {
  return comm != &attached;
}

static void (*before_abort)(void);

void mg_comm_before_abort(void (*clean)(void)) {
  before_abort = clean;
}

void mg_comm_abort(int exit_code) {
  if (before_abort) before_abort();
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
  return 0;
}

int mg_comm_size(const mg_comm_t *comm) {
  return comm->size;
}

const char *mg_comm_host(void) {
  static char name[256];
  if (gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

mg_status_t mg_comm_split(mg_comm_t *parent, bool member, mg_comm_t **out) {
  *out = member ? parent : NULL;
  return MG_OK;
}

void mg_comm_free(mg_comm_t *comm) {}

mg_status_t mg_comm_agree(mg_status_t mine) {
  return mine;
}

mg_status_t mg_comm_rank_on_host(int *rank, int *size, int *lowest) {
  if (rank) *rank = 0;
  if (size) *size = 1;
  if (lowest) *lowest = 0;
  return MG_OK;
}

mg_status_t mg_comm_gather(mg_comm_t *comm, const void *mine, size_t bytes, void *all) {
  memcpy(all, mine, bytes);
  return MG_OK;
}

void mg_comm_before_collectives(mg_comm_t *comm, mg_status_t (*before)(void *data), void *data) {}

bool mg_comm_accepts_device_memory(void) {
  return false;
}

mg_status_t mg_requests_create(int n_messages, mg_requests_t **out) {
  static mg_requests_t none;
  *out = &none;
  return MG_OK;
}

void mg_requests_free(mg_requests_t *requests) {}

mg_status_t mg_comm_receive(mg_requests_t *requests, int64_t rank, void *data, int64_t bytes) {
  return mg_error(MG_ERR_INTERNAL, "receive of %lld bytes from rank %lld in a build without MPI",
                  (long long)bytes, (long long)rank);
}

mg_status_t mg_comm_send(mg_requests_t *requests, int64_t rank, const void *data, int64_t bytes) {
  return mg_error(MG_ERR_INTERNAL, "send of %lld bytes to rank %lld in a build without MPI",
                  (long long)bytes, (long long)rank);
}

#define NOTHING(function, ...)                                                                     \
  mg_status_t function(__VA_ARGS__) {                                                              \
    return MG_OK;                                                                                  \
  }

NOTHING(mg_comm_max, mg_comm_t *comm, double *values, int n)
NOTHING(mg_comm_min, mg_comm_t *comm, double *values, int n)
NOTHING(mg_comm_sum, mg_comm_t *comm, double *values, int n)
NOTHING(mg_comm_sum_on_host, double *values, int n)
NOTHING(mg_comm_sum_exact, mg_comm_t *comm, mg_sum_t *sum)
NOTHING(mg_comm_broadcast_from, mg_comm_t *comm, int rank, void *data, size_t bytes)
NOTHING(mg_comm_barrier, mg_comm_t *comm)
NOTHING(mg_comm_barrier_with_timeout, mg_comm_t *comm, const char *failure, double seconds)
NOTHING(mg_requests_wait, mg_requests_t *requests)
NOTHING(mg_requests_wait_at_most, mg_requests_t *requests, double seconds, bool *arrived)
