#include "run/placement.h"
#include "comm/comm.h"

static mg_status_t plan_again(const mg_params_t *params, mg_plan_t *plan) {
  return mg_plan_build(params, plan->level[0].layout.world_ranks, plan, NULL, 0);
}

mg_status_t mg_placement_choose(mg_params_t *params, mg_plan_t *plan, mg_placement_t *placement) {
  MG_TRY(mg_comm_agree_or_end(mg_gpu_cutoff_choose(params, plan, &placement->gpu_cutoff)));
  MG_TRY(plan_again(params, plan));
  MG_TRY(mg_comm_agree_or_end(mg_agglomeration_choose(params, plan, &placement->agglomeration)));
  return plan_again(params, plan);
}
