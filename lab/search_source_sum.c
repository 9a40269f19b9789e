/* A program as CUDA source: sums of an array. */
#include "lab/search_source.h"

void plan_write_sum_words(const plan_t *p, FILE *to) {
  fprintf(to, "template <typename T> __device__ __forceinline__ T joined(T a, T b) {\n"
              "  return a + b;\n}\n\n");
  if (p->grid == GRID_ATOMICS)
    fprintf(to, "__device__ __forceinline__ void join_to(double *to, double sum, double) {\n"
                "  atomicAdd(to, sum);\n}\n"
                "__device__ __forceinline__ void join_to(long long *to, long long sum, long long) "
                "{\n"
                "  atomicAdd((unsigned long long *)to, (unsigned long long)sum);\n}\n\n");
}

/* Add the numbers of a load to the thread's sums, alternating between the sums. */
static void write_additions(FILE *to, const plan_t *p, int load, const char *name) {
  const int numbers = p->width / 8;
  for (int i = 0; i < numbers; i++)
    fprintf(to, "    sum%d += %s%s;\n", (load * numbers + i) % p->sums, name,
            numbers == 1 ? ""
            : i == 0     ? ".x"
                         : ".y");
}

/* The sum of a thread, with `loads` loads of type V in flight. */
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
  plan_write_joined(to, "sum%d", 0, p->sums, 1);
  fprintf(to, ";\n}\n\n");
}

static void write_kernels(const plan_t *p, FILE *to, const char *name, const char *type,
                          const char *vector) {
  plan_write_kernel(p, to);
  fprintf(to,
          "    sum_%s(%s *partial, %s *result, unsigned int *ended, const %s *from,\n"
          "           long long n) {\n"
          "  sum_of<%s, %s>(partial, result, ended, from, n);\n}\n\n",
          name, type, type, type, type, vector);
  plan_write_others(p, to, name, type);
}

void plan_write_sum_kernels(const plan_t *p, FILE *to) {
  write_own(to, p);
  fprintf(to, "template <typename T, typename V>\n"
              "__device__ __forceinline__ void sum_of(T *partial, T *result, unsigned int *ended,\n"
              "                                       const T *from, long long n) {\n");
  if (p->grid == GRID_ATOMICS) fprintf(to, "  const T known = T(0); /* of no use */\n");
  fprintf(to, "  const T mine = join(own<T, V>(from, n));\n");
  plan_write_end(p, to);
  fprintf(to, "}\n\n");
  write_kernels(p, to, "double", "double", p->width == 8 ? "double" : "double2");
  write_kernels(p, to, "integer", "long long", p->width == 8 ? "long long" : "longlong2");
  plan_write_joins(p, to, "double", "double");
}
