/* Which ranks of the host can write into each other's windows. */
#include "base/alloc.h"
#include "comm/comm.h"
#include "transport/windows.h"
#include <stdlib.h>

/* Probes exchanged with the other ranks of the host. */
typedef struct {
  const int64_t *rank;
  int n;
  char **probe;                    /* of the other rank, in a window of this one */
  mg_window_address_t *give, *get; /* addresses of the probes, for the other rank and from it */
  double *here, *there;            /* result of a test on this rank and on the other */
} exchange_t;

static mg_status_t exchange_create(const int64_t *ranks, int n, exchange_t *m) {
  const char *what = "peer window addresses";
  *m = (exchange_t){.rank = ranks, .n = n};
  MG_TRY(mg_new(&m->probe, n, what));
  MG_TRY(mg_new(&m->give, n, what));
  MG_TRY(mg_new(&m->get, n, what));
  MG_TRY(mg_new(&m->here, n, what));
  return mg_new(&m->there, n, what);
}

static void exchange_free(exchange_t *m) {
  free(m->probe);
  free(m->give);
  free(m->get);
  free(m->here);
  free(m->there);
}

/* Each pair exchanges the addresses of its probes. Each rank then opens the other's window and
 * stores the probe there. */
static mg_status_t store_probes(mg_windows_t *w, const mg_pair_t *pairs, exchange_t *m) {
  const int me = mg_comm_rank(mg_comm_world());
  for (int r = 0; r < m->n; r++)
    MG_TRY(mg_windows_allot(w, MG_CUDA_PROBE_BYTES, &m->give[r], &m->probe[r]));
  MG_TRY(mg_windows_swap(m->rank, m->n, m->give[0].doubles, m->get[0].doubles,
                         MG_WINDOW_ADDRESS_DOUBLES));
  for (int r = 0; r < m->n; r++) {
    char *memory = NULL;
    if (mg_cuda_reaches(pairs[m->rank[r]].uuid))
      MG_TRY(mg_windows_open(w, m->rank[r], &m->get[r], &memory));
    m->here[r] = memory ? 1.0 : 0.0;
    if (memory) MG_TRY(mg_cuda_window_probe(memory, me));
  }
  return MG_OK;
}

/* Each pair exchanges whether the windows opened, then whether the probes arrived. */
static mg_status_t check_probes(exchange_t *m, bool *reached, bool *lost) {
  MG_TRY(mg_windows_swap(m->rank, m->n, m->here, m->there, 1));
  for (int r = 0; r < m->n; r++) {
    const bool opened = m->here[r] > 0.0 && m->there[r] > 0.0;
    bool arrived;
    reached[m->rank[r]] = opened;
    MG_TRY(mg_cuda_window_probed(m->probe[r], (int)m->rank[r], &arrived));
    m->here[r] = arrived ? 1.0 : 0.0;
  }
  MG_TRY(mg_windows_swap(m->rank, m->n, m->here, m->there, 1));
  for (int r = 0; r < m->n; r++)
    if (reached[m->rank[r]] && (m->here[r] == 0.0 || m->there[r] == 0.0)) {
      reached[m->rank[r]] = false;
      *lost = true;
    }
  return MG_OK;
}

mg_status_t mg_windows_probe(mg_windows_t *w, const mg_pair_t *pairs, const int64_t *ranks,
                             int n_ranks, bool *reached, bool *lost) {
  exchange_t m;
  mg_status_t status = exchange_create(ranks, n_ranks, &m);
  if (status == MG_OK) status = store_probes(w, pairs, &m);
  if (status == MG_OK) status = check_probes(&m, reached, lost);
  exchange_free(&m);
  return status;
}
