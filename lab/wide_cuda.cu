/* Ladder 3 on a CUDA device: to[p] = max over k of big(p, k) + small(k), where a point's terms are
 * contiguous, at p TERMS + k, and small stays in the caches. The loads of a warp are a row apart:
 * each takes 8 bytes of 32 sectors, and L1 must keep these until the next terms are requested. A
 * wide load takes 16 bytes of each and requests half as often. Launch bounds limit the registers of
 * a thread: with many, the compiler issues several loads at a time, and fewer threads share L1. */
#include "lab/lab_cuda.h"

namespace {
enum { THREADS = 128, TERMS = 32, AT_A_TIME = 4 };

/* AT_A_TIME terms from consecutive places, by loads of WIDE doubles. */
template <int WIDE> __device__ __forceinline__ void load(const double *from, double term[]) {
#pragma unroll
  for (int t = 0; t < AT_A_TIME; t += WIDE) {
    if (WIDE == 2) {
      const double2 two = *reinterpret_cast<const double2 *>(&from[t]);
      term[t] = two.x;
      term[t + WIDE - 1] = two.y;
    } else {
      term[t] = from[t];
    }
  }
}

template <int WIDE>
__device__ __forceinline__ void max_plus(double *__restrict__ to, const double *__restrict__ big,
                                         const double *__restrict__ small, int64_t n) {
  const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  double maximum = -1.0;
#pragma unroll
  for (int k = 0; k < TERMS; k += AT_A_TIME) {
    double a[AT_A_TIME], b[AT_A_TIME];
    load<WIDE>(&big[p * TERMS + k], a);
    load<WIDE>(&small[k], b);
#pragma unroll
    for (int t = 0; t < AT_A_TIME; t++)
      maximum = fmax(maximum, a[t] + b[t]);
  }
  to[p] = maximum;
}

template <int WIDE>
__global__ void unbounded(double *to, const double *big, const double *small, int64_t n) {
  max_plus<WIDE>(to, big, small, n);
}
template <int WIDE, int BLOCKS>
__global__ __launch_bounds__(THREADS, MG_CUDA_MIN_BLOCKS(BLOCKS, THREADS)) void bounded(
    double *to, const double *big, const double *small, int64_t n) {
  max_plus<WIDE>(to, big, small, n);
}

struct maximum_t {
  __device__ double operator()(int64_t p) const {
    double maximum = -1.0;
    for (int k = 0; k < TERMS; k++)
      maximum = fmax(maximum, lab_value(p * TERMS + k) + lab_small(k));
    return maximum;
  }
};

struct work_t {
  lab_array_t to, big, small;
  int64_t n; /* points */
};

mg_status_t add(lab_t *lab, work_t *w, const void *kernel, const char *loads, int blocks) {
  const lab_launch_t launch = {kernel, (w->n + THREADS - 1) / THREADS, THREADS, 0};
  void *args[] = {&w->to.at, &w->big.at, &w->small.at, &w->n};
  char bounds[32] = "";
  lab_row_t row = {};
  if (blocks * THREADS > lab_card().threads_per_processor) return MG_OK; /* not reachable here */
  if (blocks > 0) snprintf(bounds, sizeof bounds, ", bounds (%d, %d)", (int)THREADS, blocks);
  row.elements = w->n;
  row.useful = 8.0 * (TERMS + 1);
  row.flops = 2.0 * TERMS;
  MG_TRY(lab_cuda_measure(lab, launch, args, &row));
  MG_TRY(lab_cuda_wrong(w->to.at, w->n, maximum_t{}, &row.error));
  return lab_add(lab, &row, "%s%s", loads, bounds);
}

/* Without bounds, for one block per SM, and for half and all of the threads. */
template <int WIDE> mg_status_t bounds(lab_t *lab, work_t *w, const char *loads) {
  MG_TRY(add(lab, w, (const void *)unbounded<WIDE>, loads, 0));
  MG_TRY(add(lab, w, (const void *)bounded<WIDE, 1>, loads, 1));
  MG_TRY(add(lab, w, (const void *)bounded<WIDE, 8>, loads, 8));
  return add(lab, w, (const void *)bounded<WIDE, 16>, loads, 16);
}
} // namespace

extern "C" mg_status_t lab_wide_cuda(lab_t *lab) {
  work_t w = {};
  double terms[TERMS];
  w.n = lab->bytes / 8 / TERMS * 4;
  MG_TRY(w.big.make(w.n * TERMS));
  MG_TRY(w.to.make(w.n));
  MG_TRY(w.small.make(TERMS));
  MG_TRY(lab_cuda_fill(w.big.at, w.n * TERMS));
  for (int k = 0; k < TERMS; k++)
    terms[k] = lab_small(k);
  MG_CUDA_TRY(cudaMemcpy(w.small.at, terms, sizeof terms, cudaMemcpyHostToDevice));
  lab_table(lab, "wide", "maximum of %d sums, blocks of %d threads", (int)TERMS, (int)THREADS);
  MG_TRY(bounds<1>(lab, &w, "8-byte loads"));
  return bounds<2>(lab, &w, "16-byte loads of both");
}
