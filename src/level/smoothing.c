#include "level/smoothing.h"
#include "backend/sweeps.h"
#include "level/smooth.h"
#include "level/transfer.h"
#include "plan/path_facts.h"

static const char *way_of(bool with_smooth, bool in_one_pass) {
  return with_smooth ? "smooth" : in_one_pass ? "one pass" : "two passes";
}

mg_smoothing_t mg_smoothing_of(const mg_level_t *level) {
  if (!level->comm) return (mg_smoothing_t){.steps = 0};
  const mg_schedule_t *s = &level->schedule[MG_FROM_GUESS];
  const mg_backend_fused_t *fused = level->backend->fused;
  const bool has_strips = s->sweep->resident && fused && fused->strip_rows,
             smooths = mg_level_path(level->plan) == level->plan->path;
  return (mg_smoothing_t){
      .steps = level->n_steps,
      .sweeps = s->n,
      .strip_rows =
          has_strips ? fused->strip_rows(mg_level_view(level), level->steps, level->n_steps) : 0,
      .path = smooths && level->steps_per_pass == 1 ? &mg_path_steps : mg_level_path(level->plan),
      .interpolation = way_of(mg_smooth_interpolates(level), true),
      .restriction =
          way_of(mg_smooth_has_residual(level, MG_FROM_GUESS), mg_level_restricts_residual(level)),
      .norm =
          way_of(mg_smooth_has_residual(level, MG_FROM_CORRECTION), fused && fused->residual_norm)};
}
