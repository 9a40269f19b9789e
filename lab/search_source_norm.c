/* A program as CUDA source: maximum norm of a patch, as in the solver (src/cuda/reduce.h). */
#include "lab/search_source.h"

/* From sm_80 on an instruction returns the 32-bit maximum of a warp; 64 bits need two of them. */
static void write_instruction(FILE *to) {
  fprintf(to, "/* The largest of a warp, for all of its lanes. */\n"
              "__device__ __forceinline__ bits_t of_warp(bits_t bits) {\n"
              "#if __CUDA_ARCH__ >= 800\n"
              "  const unsigned high = (unsigned)(bits >> 32);\n"
              "  const unsigned top = __reduce_max_sync(0xffffffffu, high);\n"
              "  const unsigned low =\n"
              "      __reduce_max_sync(0xffffffffu, high == top ? (unsigned)bits : 0u);\n"
              "  return (bits_t)top << 32 | low;\n"
              "#else\n"
              "  for (int far = 16; far > 0; far /= 2)\n"
              "    bits = joined(bits, __shfl_xor_sync(0xffffffffu, bits, far));\n"
              "  return bits;\n"
              "#endif\n}\n\n");
}

void plan_write_norm_words(const plan_t *p, FILE *to) {
  bool instruction = false;
  for (int s = 0; s < p->n_steps; s++)
    instruction = instruction || p->step[s].kind == STEP_MAX;
  fprintf(to, "/* |x| as an integer: NaN is above everything. */\n"
              "typedef unsigned long long bits_t;\n\n"
              "__device__ __forceinline__ bits_t joined(bits_t a, bits_t b) {\n"
              "  return a > b ? a : b;\n}\n\n");
  if (instruction) write_instruction(to);
  if (p->grid == GRID_ATOMICS)
    fprintf(to, "/* A maximum only grows: there is nothing to say unless mine is above it. */\n"
                "__device__ __forceinline__ void join_to(bits_t *to, bits_t mine, bits_t known) "
                "{\n"
                "  if (mine > known && mine > *(volatile bits_t *)to) atomicMax(to, mine);\n"
                "}\n\n");
}

/* The cells of a thread, with `loads` rows of loads in flight. */
static void write_own(const plan_t *p, FILE *to) {
  const bool pairs = p->width == 16;
  const char *vector = pairs ? "double2" : "double";
  fprintf(to,
          "__device__ __forceinline__ bits_t of_cell(double x) {\n"
          "  return (bits_t)__double_as_longlong(fabs(x));\n}\n"
          "__device__ __forceinline__ bits_t of_cell(double2 x) {\n"
          "  return joined(of_cell(x.x), of_cell(x.y));\n}\n\n"
          "/* What a thread reads: one load of a row, and then rows. */\n"
          "__device__ __forceinline__ bits_t own(const double *from, int n0, int n1, int n2,\n"
          "                                      long long jstride, long long kstride) {\n"
          "  const int i = (int)(blockIdx.x * 32 + threadIdx.x %% 32) * %d;\n"
          "  const int row = (int)(blockIdx.y * %d + threadIdx.x / 32);\n"
          "  const int step = (int)gridDim.y * %d, step_j = step %% n1, step_k = step / n1;\n"
          "  int j = row %% n1, k = i < n0 ? row / n1 : n2;\n",
          p->width / 8, p->threads / PLAN_WARP, p->threads / PLAN_WARP);
  for (int s = 0; s < p->sums; s++)
    fprintf(to, "  bits_t largest%d = 0;\n", s);
  fprintf(to, "  while (k < n2) {\n");
  for (int l = 0; l < p->loads; l++)
    fprintf(to,
            "    %s v%d = %s;\n"
            "    if (k < n2) v%d = *(const %s *)(from + i + j * jstride + k * kstride);\n"
            "    j += step_j;\n    k += step_k;\n"
            "    if (j >= n1) {\n      j -= n1;\n      k++;\n    }\n",
            vector, l, pairs ? "make_double2(0.0, 0.0)" : "0.0", l, vector);
  for (int l = 0; l < p->loads; l++)
    if (p->sums > p->loads)
      for (int half = 0; half < 2; half++)
        fprintf(to, "    largest%d = joined(largest%d, of_cell(v%d.%c));\n", 2 * l + half,
                2 * l + half, l, half == 0 ? 'x' : 'y');
    else
      fprintf(to, "    largest%d = joined(largest%d, of_cell(v%d));\n", l % p->sums, l % p->sums,
              l);
  fprintf(to, "  }\n  return ");
  plan_write_joined(to, "largest%d", 0, p->sums, 1);
  fprintf(to, ";\n}\n\n");
}

void plan_write_norm_kernels(const plan_t *p, FILE *to) {
  write_own(p, to);
  plan_write_kernel(p, to);
  fprintf(
      to,
      "    norm_double(bits_t *partial, bits_t *result, unsigned int *ended, const double *from,\n"
      "                int n0, int n1, int n2, long long jstride, long long kstride) {\n"
      "  typedef bits_t T;\n");
  if (p->grid == GRID_ATOMICS)
    fprintf(to, "  const T known = threadIdx.x == 0 ? *(const volatile T *)result : 0;\n");
  fprintf(to, "  const T mine = join(own(from, n0, n1, n2, jstride, kstride));\n");
  plan_write_end(p, to);
  fprintf(to, "}\n\n");
  plan_write_others(p, to, "double", "bits_t");
  plan_write_joins(p, to, "double", "bits_t");
}
