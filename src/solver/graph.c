#include "backend/cycles.h"
#include "backend/sweeps.h"
#include "solver/cycle.h"
#include "solver/cycle_wings.h"

/* True if an exchange of this level needs the host. */
static bool level_needs_host(const mg_level_t *level) {
  const unsigned by = mg_exchange_by(level->halo) | mg_exchange_by(level->halo_box) |
                      mg_exchange_by(level->halo_deep) | mg_exchange_by(level->gather) |
                      mg_exchange_by(level->scatter);
  return by & (MG_BY_HOST | MG_BY_STAGING);
}

/* True if the levels from `top` on are in one place and no exchange between them needs the host. */
static bool levels_can_enqueue(const mg_hierarchy_t *h, int top) {
  for (int l = top; l < h->n_levels; l++)
    if (h->level[l].plan->place != h->level[top].plan->place || level_needs_host(&h->level[l]))
      return false;
  return true;
}

static bool can_capture(const mg_hierarchy_t *h, int top) {
  const mg_hierarchy_t *cycles = mg_hierarchy_of_cycles(h);
  const mg_level_t *last = &cycles->level[cycles->n_levels - 1];
  if (!h->level[top].backend->graph || h->params.krylov == MG_KRYLOV_KCYCLE) return false;
  if (!levels_can_enqueue(h, top) || !levels_can_enqueue(cycles, top)) return false;
  return cycles->coarse_cycle || !last->comm ||
         (last->plan->bottom != &mg_path_bottom && last->backend->fused &&
          last->backend->fused->bottom);
}

/* True if a solve has cycles of this kind. */
static bool is_needed(const mg_hierarchy_t *h, mg_cycle_kind_t kind) {
  if (kind == MG_KIND_NEXT) return h->params.rtol > 0.0 && !mg_uses_krylov(h);
  if (kind == MG_KIND_PRECONDITION) return mg_uses_krylov(h);
  return !mg_uses_krylov(h) || h->params.cycle == MG_CYCLE_F;
}

mg_status_t mg_graph_capture(mg_hierarchy_t *h, int top) {
  const mg_backend_t *backend = h->level[top].backend;
  /* All ranks or none: a capturing rank would only enqueue messages that others wait for. A rank
   * without cells on the coarsest level cannot check its bottom solver. */
  double on_all = can_capture(h, top);
  MG_TRY(mg_comm_min(mg_comm_world(), &on_all, 1));
  if (on_all == 0.0) return MG_OK;
  for (int kind = 0; kind < MG_N_CYCLE_KINDS; kind++) {
    if (h->graph[top][kind] || !is_needed(h, (mg_cycle_kind_t)kind)) continue;
    MG_TRY(backend->graph->begin());
    const mg_status_t status = mg_cycle_by_operations(h, top, (mg_cycle_kind_t)kind, NULL);
    const mg_status_t ended = backend->graph->end(&h->graph[top][kind]);
    MG_TRY(status); /* which may be why the capture failed */
    MG_TRY(ended);
  }
  return MG_OK;
}

mg_status_t mg_graph_launch(const mg_hierarchy_t *h, int top, mg_cycle_kind_t kind) {
  return h->level[top].backend->graph->launch(h->graph[top][kind]);
}

void mg_graphs_free(mg_hierarchy_t *h) {
  for (int l = 0; l < h->n_levels; l++)
    for (int kind = 0; kind < MG_N_CYCLE_KINDS; kind++) {
      if (h->graph[l][kind]) h->level[l].backend->graph->free(h->graph[l][kind]);
      h->graph[l][kind] = NULL;
    }
}
