/* A program as CUDA source: the reduction within a block, and the combination of blocks. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "lab/search_source.h"
#include <stdlib.h>

static int in_warps(int threads) {
  return (threads + PLAN_WARP - 1) / PLAN_WARP * PLAN_WARP;
}

void plan_write_joined(FILE *to, const char *format, int first, int n, int step) {
  if (n == 1) {
    fprintf(to, format, first * step);
    return;
  }
  fprintf(to, "joined(");
  plan_write_joined(to, format, first, n / 2, step);
  fprintf(to, ", ");
  plan_write_joined(to, format, first + n / 2, n - n / 2, step);
  fprintf(to, ")");
}

/* Write a guard that admits only the active warps. */
static void write_guard(FILE *to, const plan_t *p, int active) {
  if (in_warps(active) < p->threads)
    fprintf(to, "  if (me < %d) {\n", in_warps(active));
  else
    fprintf(to, "  {\n");
}

static void write_shuffle(FILE *to, const plan_step_t *s) {
  const char *name = s->kind == STEP_XOR ? "xor" : "down";
  for (int m = 1; m < s->radix; m++)
    fprintf(to, "    const T v%d = __shfl_%s_sync(0xffffffffu, value, %d);\n", m * s->by, name,
            m * s->by);
  fprintf(to, "    value = joined(value, ");
  plan_write_joined(to, "v%d", 1, s->radix - 1, s->by);
  fprintf(to, ");\n");
}

static void write_load(FILE *to, const plan_step_t *s) {
  const bool packed = s->kind == STEP_PACKED;
  fprintf(to, "    value = ");
  if (s->by % PLAN_WARP != 0) fprintf(to, "me >= %d ? T(0) : ", s->by);
  if (packed) fprintf(to, "packed<%d>(part + me * %d);\n", s->radix, s->radix);
  if (packed) return;
  plan_write_joined(to, "part[me + %d]", 0, s->radix, s->by);
  fprintf(to, ";\n");
}

static void write_step(FILE *to, const plan_t *p, const plan_step_t *s, int *active) {
  if (s->kind == STEP_BLOCK) {
    fprintf(to, "  __syncthreads();\n");
    return;
  }
  if (s->kind == STEP_LOAD || s->kind == STEP_PACKED) *active = s->by;
  write_guard(to, p, *active);
  if (s->kind == STEP_STORE)
    fprintf(to, "    if (me < %d && me %% %d == 0) part[me / %d] = value;\n", *active, s->by,
            s->by);
  else if (s->kind == STEP_WARP)
    fprintf(to, "    __syncwarp();\n");
  else if (s->kind == STEP_LOAD || s->kind == STEP_PACKED)
    write_load(to, s);
  else if (s->kind == STEP_MAX)
    fprintf(to, "    value = of_warp(value);\n");
  else
    write_shuffle(to, s);
  fprintf(to, "  }\n");
}

/* Number of elements of shared memory that are written. */
static int places_of(const plan_t *p) {
  int active = p->threads, most = 0;
  for (int i = 0; i < p->n_steps; i++) {
    const plan_step_t *s = &p->step[i];
    if (s->kind == STEP_LOAD || s->kind == STEP_PACKED) active = s->by;
    const int places = s->kind == STEP_STORE ? (active + s->by - 1) / s->by : 0;
    if (places > most) most = places;
  }
  return most;
}

static void write_join(FILE *to, const plan_t *p) {
  int active = p->threads;
  const int places = places_of(p);
  fprintf(to, "/* What a block joins is thread 0's value. */\n"
              "template <typename T> __device__ __forceinline__ T join(T value) {\n"
              "  const int me = (int)threadIdx.x;\n");
  if (places > 0) fprintf(to, "  __shared__ T part[%d];\n", places);
  for (int s = 0; s < p->n_steps; s++)
    write_step(to, p, &p->step[s], &active);
  fprintf(to, "  return value;\n}\n\n");
}

/* Combine the results of the blocks in one block. */
static void write_rest(FILE *to, const plan_t *p) {
  fprintf(to,
          "/* The blocks' results, by one block. */\n"
          "template <typename T> __device__ __forceinline__ T rest(const T *partial, int n) {\n"
          "  T all = T(0);\n"
          "  for (int i = (int)threadIdx.x; i < n; i += %d)\n"
          "    all = joined(all, T(((const volatile T *)partial)[i]));\n"
          "  return join(all);\n}\n\n",
          p->threads);
}

static const char *const at_the_end[N_GRIDS] = {
    [GRID_ATOMICS] = "  if (threadIdx.x == 0) join_to(result, mine, known);\n",
    [GRID_TWO_LAUNCHES] = "  if (threadIdx.x == 0) partial[block] = mine;\n",
    [GRID_LAST_BLOCK] = "  __shared__ bool last;\n"
                        "  if (threadIdx.x == 0) {\n"
                        "    partial[block] = mine;\n"
                        "    __threadfence();\n"
                        "    last = atomicInc(ended, blocks - 1) == blocks - 1;\n"
                        "  }\n"
                        "  __syncthreads();\n"
                        "  if (!last) return;\n"
                        "  const T all = rest(partial, (int)blocks);\n"
                        "  if (threadIdx.x == 0) *result = all;\n"};

void plan_write_end(const plan_t *p, FILE *to) {
  if (p->grid == GRID_LAST_BLOCK) fprintf(to, "  const unsigned blocks = gridDim.x * gridDim.y;\n");
  if (p->grid != GRID_ATOMICS)
    fprintf(to, "  const unsigned block = blockIdx.x + gridDim.x * blockIdx.y;\n");
  fprintf(to, "%s", at_the_end[p->grid]);
}

void plan_write_kernel(const plan_t *p, FILE *to) {
  fprintf(to, "extern \"C\" __global__ void __launch_bounds__(%d", p->threads);
  if (p->blocks > 0) fprintf(to, ", %d", p->blocks);
  fprintf(to, ")\n");
}

void plan_write_others(const plan_t *p, FILE *to, const char *name, const char *type) {
  if (p->grid != GRID_TWO_LAUNCHES) return;
  plan_write_kernel(p, to);
  fprintf(to,
          "    last_%s(%s *partial, %s *result, int n) {\n"
          "  const %s all = rest(partial, n);\n"
          "  if (threadIdx.x == 0) *result = all;\n}\n\n",
          name, type, type, type);
}

void plan_write_joins(const plan_t *p, FILE *to, const char *name, const char *type) {
  fprintf(to, "/* Joins behind each other, each waiting for what the one before it gave; a wrong "
              "one stays. */\n");
  plan_write_kernel(p, to);
  fprintf(to,
          "    joins_%s(%s *result, %s expected, int times) {\n"
          "  %s mine = %s(threadIdx.x), all = %s(0);\n"
          "  for (int t = 0; t < times; t++) {\n"
          "    all = join(mine);\n"
          "    if (threadIdx.x == 0) mine = joined(mine, %s(all - expected));\n"
          "    __syncthreads();\n  }\n"
          "  if (threadIdx.x == 0) result[blockIdx.x] = all;\n}\n",
          name, type, type, type, type, type, type);
}

static void write_packed(const plan_t *p, FILE *to) {
  bool packs = false;
  for (int s = 0; s < p->n_steps; s++)
    packs = packs || p->step[s].kind == STEP_PACKED;
  if (packs)
    fprintf(to, "/* So many that lie side by side, by halves. */\n"
                "template <int n, typename T> __device__ __forceinline__ T "
                "packed(const T *from) {\n"
                "  if constexpr (n == 1)\n    return *from;\n  else\n"
                "    return joined(packed<n / 2>(from), packed<n / 2>(from + n / 2));\n}\n\n");
}

void plan_write_source(const plan_t *p, FILE *to) {
  char text[PLAN_TEXT];
  plan_spell(p, text);
  fprintf(to, "/* hpgmg-bench search: a %s, as %s\n *\n", p->goal == PLAN_SUM ? "sum" : "norm",
          text);
  plan_explain(p, to);
  fprintf(to, " */\n");
  if (p->goal == PLAN_SUM)
    plan_write_sum_words(p, to);
  else
    plan_write_norm_words(p, to);
  write_packed(p, to);
  write_join(to, p);
  if (p->grid != GRID_ATOMICS) write_rest(to, p);
  if (p->goal == PLAN_SUM)
    plan_write_sum_kernels(p, to);
  else
    plan_write_norm_kernels(p, to);
}

char *plan_source(const plan_t *plan) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  if (!to) return NULL;
  plan_write_source(plan, to);
  const bool whole = !ferror(to);
  if (fclose(to) == 0 && whole) return text;
  free(text);
  return NULL;
}
