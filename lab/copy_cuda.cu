/* Ladder 1 on a CUDA device: bytes in flight hide memory latency. They come from many threads, or
 * from many loads per thread. Little's law for a copy on an H200: reading 2.1 TB/s at a latency of
 * some 0.8 us needs 1.7 MB in flight, 13 KB per SM. */
#include "lab/lab_cuda.h"

namespace {
/* Each thread copies N elements, one block width apart. The compiler may not move a load past a
 * store that could alias it, so the loads are serialized. */
template <int N> __global__ void interleaved(double *to, const double *from, int64_t n) {
  const int64_t base = (int64_t)blockIdx.x * blockDim.x * N + threadIdx.x;
  for (int u = 0; u < N; u++) {
    const int64_t i = base + (int64_t)u * blockDim.x;
    if (i < n) to[i] = from[i];
  }
}

/* Same with all loads first: N loads in flight per thread. */
template <int N> __global__ void batched(double *to, const double *from, int64_t n) {
  const int64_t base = (int64_t)blockIdx.x * blockDim.x * N + threadIdx.x;
  double value[N];
#pragma unroll
  for (int u = 0; u < N; u++) {
    const int64_t i = base + (int64_t)u * blockDim.x;
    if (i < n) value[u] = from[i];
  }
#pragma unroll
  for (int u = 0; u < N; u++) {
    const int64_t i = base + (int64_t)u * blockDim.x;
    if (i < n) to[i] = value[u];
  }
}

const struct {
  const char *name;
  const void *kernel;
  int each;
} variants[] = {
    {"one element per thread", (const void *)interleaved<1>, 1},
    {"4 in turn", (const void *)interleaved<4>, 4},
    {"8 in turn", (const void *)interleaved<8>, 8},
    {"4 loads batched", (const void *)batched<4>, 4},
    {"8 loads batched", (const void *)batched<8>, 8},
};

struct work_t {
  double *to, *from;
  int64_t n;
};

mg_status_t add(lab_t *lab, work_t *w, int variant, int threads) {
  const int64_t each = (int64_t)threads * variants[variant].each;
  const lab_launch_t launch = {variants[variant].kernel, (w->n + each - 1) / each, threads, 0};
  void *args[] = {&w->to, &w->from, &w->n};
  lab_row_t row = {};
  row.elements = w->n;
  row.useful = 16.0;
  MG_TRY(lab_cuda_measure(lab, launch, args, &row));
  MG_TRY(lab_cuda_wrong(w->to, w->n, lab_values_t{0, 1}, &row.error));
  return lab_add(lab, &row, "%s, %d threads", variants[variant].name, threads);
}

mg_status_t tables(lab_t *lab, work_t *w) {
  for (int v = 0; v < (int)(sizeof variants / sizeof variants[0]); v++) {
    lab_table(lab, "copy", "%s", variants[v].name);
    for (int threads = 32; threads <= 1024; threads *= 2)
      MG_TRY(add(lab, w, v, threads));
  }
  return MG_OK;
}
} // namespace

extern "C" mg_status_t lab_copy_cuda(lab_t *lab) {
  const int64_t n = lab->bytes / 8;
  lab_array_t from, to;
  MG_TRY(from.make(n));
  MG_TRY(to.make(n));
  MG_TRY(lab_cuda_fill(from.at, n));
  work_t w = {to.at, from.at, n};
  return tables(lab, &w);
}
