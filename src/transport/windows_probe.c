/* Which ranks of the host can write into each other's windows. */
#include "base/alloc.h"
#include "comm/comm.h"
#include "transport/windows.h"
#include <stdlib.h>

/* Probes exchanged with the other ranks of the host. */
typedef struct {
  const int64_t *rank;
  int n;
  char **probe; /* in a window of this rank; the other rank stores into it */
  mg_window_address_t *address, *peer_address; /* of the probe here, and of the probe there */
  double *result, *peer_result;                /* of a test on this rank and on the other rank */
} probes_t;

static mg_status_t probes_create(const int64_t *ranks, int n, probes_t *p) {
  const char *what = "peer window addresses";
  *p = (probes_t){.rank = ranks, .n = n};
  MG_TRY(mg_new(&p->probe, n, what));
  MG_TRY(mg_new(&p->address, n, what));
  MG_TRY(mg_new(&p->peer_address, n, what));
  MG_TRY(mg_new(&p->result, n, what));
  return mg_new(&p->peer_result, n, what);
}

static void probes_free(probes_t *p) {
  free(p->probe);
  free(p->address);
  free(p->peer_address);
  free(p->result);
  free(p->peer_result);
}

/* Each pair exchanges the addresses of its probes. Each rank then opens the other's window and
 * stores the probe there. */
static mg_status_t store_probes(mg_windows_t *w, probes_t *p) {
  const int me = mg_comm_rank(mg_comm_world());
  for (int r = 0; r < p->n; r++)
    MG_TRY(mg_windows_alloc_block(w, MG_PROBE_BYTES, &p->address[r], &p->probe[r]));
  MG_TRY(mg_windows_exchange(p->rank, p->n, p->address[0].doubles, p->peer_address[0].doubles,
                             MG_WINDOW_ADDRESS_DOUBLES));
  for (int r = 0; r < p->n; r++) {
    char *memory = NULL;
    MG_TRY(mg_windows_open(w, p->rank[r], &p->peer_address[r], &memory));
    p->result[r] = memory ? 1.0 : 0.0;
    if (memory) MG_TRY(mg_backend_cuda.peer->store(memory, MG_PROBE_BYTES, (uint64_t)me));
  }
  return mg_backend_cuda.queue.wait();
}

/* Each pair exchanges whether the windows opened, then whether the probes arrived. */
static mg_status_t check_probes(probes_t *p, bool *reached, bool *lost) {
  MG_TRY(mg_windows_exchange(p->rank, p->n, p->result, p->peer_result, 1));
  for (int r = 0; r < p->n; r++) {
    const bool opened = p->result[r] > 0.0 && p->peer_result[r] > 0.0;
    mg_word_errors_t errors;
    reached[p->rank[r]] = opened;
    MG_TRY(mg_backend_cuda.peer->check(p->probe[r], MG_PROBE_BYTES, (uint64_t)p->rank[r], &errors));
    p->result[r] = errors.n == 0 ? 1.0 : 0.0;
  }
  MG_TRY(mg_windows_exchange(p->rank, p->n, p->result, p->peer_result, 1));
  for (int r = 0; r < p->n; r++)
    if (reached[p->rank[r]] && (p->result[r] == 0.0 || p->peer_result[r] == 0.0)) {
      reached[p->rank[r]] = false;
      *lost = true;
    }
  return MG_OK;
}

mg_status_t mg_windows_probe(mg_windows_t *w, const int64_t *ranks, int n_ranks, bool *reached,
                             bool *lost) {
  probes_t p;
  mg_status_t status = probes_create(ranks, n_ranks, &p);
  if (status == MG_OK) status = store_probes(w, &p);
  if (status == MG_OK) status = check_probes(&p, reached, lost);
  probes_free(&p);
  return status;
}
