/* What launchers of parallel programs write into the environment. */
#include "comm/comm.h"
#include <stdlib.h>

static long number_of(const char *variable) {
  const char *text = getenv(variable);
  return text ? strtol(text, NULL, 10) : 0;
}

mg_launch_t mg_comm_launch(void) {
  /* Outside of a step, SLURM_NTASKS is the size of a job that may run one process. */
  const bool step = getenv("SLURM_STEP_ID") && !getenv("SLURM_STEP_NUM_TASKS");
  const char *const variables[][2] = {
      {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
      {"PMI_SIZE", "PMI_RANK"},
      {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
      {step ? "SLURM_NTASKS" : "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
      {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
      {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"}};
  mg_launch_t least = {NULL, 1, 0};
  for (size_t v = 0; v < sizeof variables / sizeof *variables; v++) {
    const long size = number_of(variables[v][0]);
    if (size < 1 || (least.variable && size >= least.size)) continue;
    least = (mg_launch_t){variables[v][0], size, number_of(variables[v][1])};
  }
  return least;
}
