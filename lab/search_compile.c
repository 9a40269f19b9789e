/* Compile CUDA source to machine code at run time, by NVRTC. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "lab/search_plan.h"
#include <stdlib.h>

#ifdef HAVE_NVRTC
#include <nvrtc.h>

bool plan_can_compile(void) {
  return true;
}

static mg_status_t refused(nvrtcProgram program, nvrtcResult why) {
  size_t bytes = 0;
  char *words = nvrtcGetProgramLogSize(program, &bytes) == NVRTC_SUCCESS ? malloc(bytes + 1) : NULL;
  if (words && nvrtcGetProgramLog(program, words) != NVRTC_SUCCESS) words[0] = '\0';
  const mg_status_t status = mg_error(MG_ERR_INTERNAL, "NVRTC: %s: %s", nvrtcGetErrorString(why),
                                      words ? words : "no memory for its log");
  free(words);
  return status;
}

static mg_status_t take_code(nvrtcProgram program, char **cubin, size_t *bytes) {
  nvrtcResult result = nvrtcGetCUBINSize(program, bytes);
  if (result != NVRTC_SUCCESS) return refused(program, result);
  *cubin = malloc(*bytes);
  if (!*cubin) return mg_error(MG_ERR_MEMORY, "no memory for code");
  result = nvrtcGetCUBIN(program, *cubin);
  return result == NVRTC_SUCCESS ? MG_OK : refused(program, result);
}

mg_status_t plan_compile(const char *source, int capability, char **cubin, size_t *bytes) {
  char target[48];
  snprintf(target, sizeof target, "--gpu-architecture=sm_%d", capability);
  /* Like the solver's kernels: contraction to fma would change the results. */
  const char *options[] = {target, "--std=c++17", "--fmad=false"};
  nvrtcProgram program;
  nvrtcResult result = nvrtcCreateProgram(&program, source, "plan.cu", 0, NULL, NULL);
  if (result != NVRTC_SUCCESS)
    return mg_error(MG_ERR_INTERNAL, "NVRTC: %s", nvrtcGetErrorString(result));
  *cubin = NULL;
  result = nvrtcCompileProgram(program, sizeof options / sizeof options[0], options);
  const mg_status_t status =
      result == NVRTC_SUCCESS ? take_code(program, cubin, bytes) : refused(program, result);
  (void)nvrtcDestroyProgram(&program);
  return status;
}

#else

bool plan_can_compile(void) {
  return false;
}

mg_status_t plan_compile(const char *source, int capability, char **cubin, size_t *bytes) {
  (void)source;
  (void)capability;
  *cubin = NULL;
  *bytes = 0;
  return mg_error(MG_ERR_USAGE, "search needs a build with NVRTC of CUDA 12.8 or newer");
}

#endif

static mg_status_t compile_one(const plan_t *plan, int capability, char **cubin, size_t *bytes) {
  char *source = plan_source(plan);
  if (!source) return mg_error(MG_ERR_MEMORY, "no memory for code");
  const mg_status_t status = plan_compile(source, capability, cubin, bytes);
  free(source);
  return status;
}

mg_status_t plan_compile_all(const plan_set_t *set, int capability, char **cubin, size_t *bytes) {
  mg_status_t worst = MG_OK;
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < set->n; i++) {
    const mg_status_t status =
        cubin[i] ? MG_OK : compile_one(&set->plan[i], capability, &cubin[i], &bytes[i]);
#pragma omp critical
    if (status > worst) worst = status;
  }
  return worst;
}
