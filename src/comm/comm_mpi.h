/* The parts of comm_mpi.c that comm_mpi_wings.c shares. */
#ifndef MG_COMM_MPI_H
#define MG_COMM_MPI_H

#include "comm/comm.h"
#include <mpi.h>

struct mg_comm {
  MPI_Comm mpi; /* MPI_COMM_NULL: a process alone, which never calls MPI */
  int rank, size;
  bool attached;                     /* by mg_comm_attach, or a group of such a one */
  mg_status_t (*before)(void *data); /* mg_comm_before_collectives */
  void *data;
};

/** All ranks. A group of one rank calls MPI only to be created and freed, so that its thread need
 *  not be the one that may call MPI. */
extern struct mg_comm mg_comm_program;
extern _Thread_local struct mg_comm *mg_comm_current;

struct mg_requests {
  int n, capacity;
  MPI_Request *request;
};

/** Report a failed call. `call` is its source text "MPI_Barrier(...)"; the name is printed. */
mg_status_t mg_comm_failed(const char *call, int code);

/** An application may finalize MPI before it destroys its solvers. */
mg_status_t mg_comm_check_not_finalized(void);

#define TRY_MPI(call)                                                                              \
  do {                                                                                             \
    const int code_ = (call);                                                                      \
    if (code_ != MPI_SUCCESS) return mg_comm_failed(#call, code_);                                 \
  } while (0)

/* A collective function of MPI over a group, or over a part of it. */
#define TRY_COLLECTIVE(comm, call)                                                                 \
  do {                                                                                             \
    MG_TRY(mg_comm_check_not_finalized());                                                         \
    if ((comm)->before) MG_TRY((comm)->before((comm)->data));                                      \
    TRY_MPI(call);                                                                                 \
  } while (0)

#endif
