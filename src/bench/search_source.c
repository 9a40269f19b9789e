/* A program as CUDA source. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "search_plan.h"
#include <stdlib.h>

static int in_warps(int threads) {
  return (threads + PLAN_WARP - 1) / PLAN_WARP * PLAN_WARP;
}

/* first + ... + last terms, by halves, so that few additions wait for each other. */
static void write_sum(FILE *to, const char *format, int first, int n, int step) {
  if (n == 1) {
    fprintf(to, format, first * step);
    return;
  }
  fprintf(to, "(");
  write_sum(to, format, first, n / 2, step);
  fprintf(to, " + ");
  write_sum(to, format, first + n / 2, n - n / 2, step);
  fprintf(to, ")");
}

/* All warps that are active, and no others. */
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
  fprintf(to, "    value += ");
  write_sum(to, "v%d", 1, s->radix - 1, s->by);
  fprintf(to, ";\n");
}

static void write_load(FILE *to, const plan_step_t *s) {
  const bool packed = s->kind == STEP_PACKED;
  fprintf(to, "    value = ");
  if (s->by % PLAN_WARP != 0) fprintf(to, "me >= %d ? T(0) : ", s->by);
  if (packed) fprintf(to, "packed<%d>(part + me * %d);\n", s->radix, s->radix);
  if (packed) return;
  write_sum(to, "part[me + %d]", 0, s->radix, s->by);
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
  else
    write_shuffle(to, s);
  fprintf(to, "  }\n");
}

/* Places of shared memory that are written. */
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
  fprintf(to, "/* The sum of a block is thread 0's value. */\n"
              "template <typename T> __device__ __forceinline__ T join(T value) {\n"
              "  const int me = (int)threadIdx.x;\n");
  if (places > 0) fprintf(to, "  __shared__ T part[%d];\n", places);
  for (int s = 0; s < p->n_steps; s++)
    write_step(to, p, &p->step[s], &active);
  fprintf(to, "  return value;\n}\n\n");
}

/* Additions of a load into the sums of a thread, in turn. */
static void write_additions(FILE *to, const plan_t *p, int load, const char *name) {
  const int numbers = p->width / 8;
  for (int i = 0; i < numbers; i++)
    fprintf(to, "    sum%d += %s%s;\n", (load * numbers + i) % p->sums, name,
            numbers == 1 ? ""
            : i == 0     ? ".x"
                         : ".y");
}

/* The sum of a thread: loads of V, `loads` of them before the first is looked at. */
static void write_own(FILE *to, const plan_t *p) {
  const int numbers = p->width / 8;
  fprintf(to,
          "/* What a thread reads. */\n"
          "template <typename T, typename V>\n"
          "__device__ __forceinline__ T own(const T *from, long long n) {\n"
          "  const V *at = (const V *)from;\n"
          "  const long long me = (long long)blockIdx.x * %d + threadIdx.x;\n"
          "  const long long all = (long long)gridDim.x * %d, loads = n / %d;\n",
          p->threads, p->threads, numbers);
  for (int s = 0; s < p->sums; s++)
    fprintf(to, "  T sum%d = T(0);\n", s);
  fprintf(to, "  long long i = me;\n  for (; i + %d * all < loads; i += %d * all) {\n",
          p->loads - 1, p->loads);
  for (int l = 0; l < p->loads; l++)
    fprintf(to, "    const V v%d = at[i + %d * all];\n", l, l);
  for (int l = 0; l < p->loads; l++) {
    char name[16];
    snprintf(name, sizeof name, "v%d", l);
    write_additions(to, p, l, name);
  }
  fprintf(to, "  }\n  for (; i < loads; i += all) {\n    const V v = at[i];\n");
  write_additions(to, p, 0, "v");
  fprintf(to, "  }\n");
  if (numbers > 1) fprintf(to, "  if (me == 0 && n %% %d) sum0 += from[n - 1];\n", numbers);
  fprintf(to, "  return ");
  write_sum(to, "sum%d", 0, p->sums, 1);
  fprintf(to, ";\n}\n\n");
}

/* The blocks' sums by one block. */
static void write_rest(FILE *to, const plan_t *p) {
  fprintf(to,
          "/* The blocks' sums, by one block. */\n"
          "template <typename T> __device__ __forceinline__ T rest(const T *partial, int n) {\n"
          "  T sum = T(0);\n"
          "  for (int i = (int)threadIdx.x; i < n; i += %d)\n"
          "    sum += ((const volatile T *)partial)[i];\n"
          "  return join(sum);\n}\n\n",
          p->threads);
}

static const char *const at_the_end[N_GRIDS] = {
    [GRID_ATOMICS] = "  if (threadIdx.x == 0) add_to(result, sum);\n",
    [GRID_TWO_LAUNCHES] = "  if (threadIdx.x == 0) partial[blockIdx.x] = sum;\n",
    [GRID_LAST_BLOCK] = "  __shared__ bool last;\n"
                        "  if (threadIdx.x == 0) {\n"
                        "    partial[blockIdx.x] = sum;\n"
                        "    __threadfence();\n"
                        "    last = atomicInc(ended, gridDim.x - 1) == gridDim.x - 1;\n"
                        "  }\n"
                        "  __syncthreads();\n"
                        "  if (!last) return;\n"
                        "  const T all = rest(partial, (int)gridDim.x);\n"
                        "  if (threadIdx.x == 0) *result = all;\n"};

static void write_grid(FILE *to, const plan_t *p) {
  if (p->grid == GRID_ATOMICS)
    fprintf(to, "__device__ __forceinline__ void add_to(double *to, double sum) {\n"
                "  atomicAdd(to, sum);\n}\n"
                "__device__ __forceinline__ void add_to(long long *to, long long sum) {\n"
                "  atomicAdd((unsigned long long *)to, (unsigned long long)sum);\n}\n\n");
  else
    write_rest(to, p);
  fprintf(to,
          "template <typename T, typename V>\n"
          "__device__ __forceinline__ void sum_of(T *partial, T *result, unsigned int *ended,\n"
          "                                       const T *from, long long n) {\n"
          "  const T sum = join(own<T, V>(from, n));\n%s}\n\n",
          at_the_end[p->grid]);
}

static void write_kernels(FILE *to, const plan_t *p, const char *name, const char *type,
                          const char *vector) {
  fprintf(to,
          "extern \"C\" __global__ void __launch_bounds__(%d)\n"
          "    sum_%s(%s *partial, %s *result, unsigned int *ended, const %s *from,\n"
          "           long long n) {\n"
          "  sum_of<%s, %s>(partial, result, ended, from, n);\n}\n",
          p->threads, name, type, type, type, type, vector);
  if (p->grid == GRID_TWO_LAUNCHES)
    fprintf(to,
            "extern \"C\" __global__ void __launch_bounds__(%d)\n"
            "    last_%s(%s *partial, %s *result, int n) {\n"
            "  const %s sum = rest(partial, n);\n"
            "  if (threadIdx.x == 0) *result = sum;\n}\n",
            p->threads, name, type, type, type);
}

void plan_write_source(const plan_t *p, FILE *to) {
  char text[PLAN_TEXT];
  plan_spell(p, text);
  fprintf(to, "/* hpgmg-bench search: a sum, as %s\n *\n", text);
  plan_explain(p, to);
  fprintf(to, " */\n");
  for (int s = 0; s < p->n_steps; s++)
    if (p->step[s].kind == STEP_PACKED) {
      fprintf(to, "/* So many that lie side by side, by halves. */\n"
                  "template <int n, typename T> __device__ __forceinline__ T "
                  "packed(const T *from) {\n"
                  "  if constexpr (n == 1)\n    return *from;\n  else\n"
                  "    return packed<n / 2>(from) + packed<n / 2>(from + n / 2);\n}\n\n");
      break;
    }
  write_join(to, p);
  write_own(to, p);
  write_grid(to, p);
  write_kernels(to, p, "double", "double", p->width == 8 ? "double" : "double2");
  write_kernels(to, p, "integer", "long long", p->width == 8 ? "long long" : "longlong2");
  fprintf(to,
          "/* Joins behind each other, each waiting for what the one before it gave. */\n"
          "extern \"C\" __global__ void __launch_bounds__(%d)\n"
          "    joins_double(double *result, double expected, int times) {\n"
          "  double mine = threadIdx.x, sum = 0.0;\n"
          "  for (int t = 0; t < times; t++) {\n"
          "    sum = join(mine);\n"
          "    if (threadIdx.x == 0) mine += sum - expected;\n"
          "    __syncthreads();\n  }\n"
          "  if (threadIdx.x == 0) result[blockIdx.x] = sum;\n}\n",
          p->threads);
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
