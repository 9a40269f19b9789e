/* Ladder 3 on a CUDA device: to[p] = max over k of big(p, k) + small(k), where a point's terms lie
 * one after the other, at p TERMS + k, and small stays in the caches. The loads of a warp lie a row
 * apart: each takes 8 bytes of 32 sectors, and the first cache must keep these until the next terms
 * are asked for. A wide load takes 16 bytes of each and asks half as often. Launch bounds say how
 * many registers a thread may have: with many the compiler asks for several terms at a time, and
 * fewer threads share the cache. A last table has the terms of a point an array apart, at k n + p:
 * the loads of a warp lie side by side, and a wide load of big is two points of a thread. */
#include "lab/lab_cuda.h"

namespace {
enum { TERMS = 32, AT_A_TIME = 4 };

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

template <int BIG, int SMALL>
__device__ __forceinline__ void max_plus(double *__restrict__ to, const double *__restrict__ big,
                                         const double *__restrict__ small, int64_t n) {
  const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  const double *row = &big[p * TERMS];
  double most = -1.0;
#pragma unroll
  for (int k = 0; k < TERMS; k += AT_A_TIME) {
    double a[AT_A_TIME], b[AT_A_TIME];
    load<BIG>(&row[k], a);
    load<SMALL>(&small[k], b);
#pragma unroll
    for (int t = 0; t < AT_A_TIME; t++)
      most = fmax(most, a[t] + b[t]);
  }
  to[p] = most;
}

template <int POINTS, int SMALL>
__device__ __forceinline__ void max_plus_apart(double *__restrict__ to,
                                               const double *__restrict__ big,
                                               const double *__restrict__ small, int64_t n) {
  const int64_t p = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * POINTS;
  if (p >= n) return;
  double most[POINTS];
#pragma unroll
  for (int q = 0; q < POINTS; q++)
    most[q] = -1.0;
#pragma unroll
  for (int k = 0; k < TERMS; k += AT_A_TIME) {
    double a[AT_A_TIME][POINTS], b[AT_A_TIME];
    load<SMALL>(&small[k], b);
#pragma unroll
    for (int t = 0; t < AT_A_TIME; t++) {
      const double *at = &big[(k + t) * n + p];
      if (POINTS == 2) {
        const double2 two = *reinterpret_cast<const double2 *>(at);
        a[t][0] = two.x;
        a[t][POINTS - 1] = two.y;
      } else {
        a[t][0] = *at;
      }
    }
#pragma unroll
    for (int t = 0; t < AT_A_TIME; t++)
#pragma unroll
      for (int q = 0; q < POINTS; q++)
        most[q] = fmax(most[q], a[t][q] + b[t]);
  }
#pragma unroll
  for (int q = 0; q < POINTS; q++)
    to[p + q] = most[q];
}

template <int BIG, int SMALL, bool APART>
__global__ void unbounded(double *to, const double *big, const double *small, int64_t n) {
  if (APART)
    max_plus_apart<BIG, SMALL>(to, big, small, n);
  else
    max_plus<BIG, SMALL>(to, big, small, n);
}
template <int BIG, int SMALL, bool APART, int THREADS, int BLOCKS>
__global__ __launch_bounds__(THREADS, MG_CUDA_MOST_BLOCKS(BLOCKS, THREADS)) void bounded(
    double *to, const double *big, const double *small, int64_t n) {
  if (APART)
    max_plus_apart<BIG, SMALL>(to, big, small, n);
  else
    max_plus<BIG, SMALL>(to, big, small, n);
}

__global__ void wrong_maxima(double *to, int64_t n, bool apart, double *wrong) {
  const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  double most = -1.0;
  for (int k = 0; k < TERMS; k++)
    most = fmax(most, lab_value(apart ? k * n + p : p * TERMS + k) + lab_small(k));
  if (to[p] != most) atomicAdd(wrong, 1.0);
  to[p] = -1.0;
}

struct work_t {
  double *to, *big, *small, *wrong;
  int64_t n; /* points, even */
  bool apart;
};

mg_status_t add(lab_t *lab, work_t *w, const void *kernel, int points, int threads,
                const char *name) {
  const lab_launch_t launch = {kernel, (w->n / points + threads - 1) / threads, threads, 0};
  void *args[] = {&w->to, &w->big, &w->small, &w->n};
  lab_row_t row = {};
  snprintf(row.variant, sizeof row.variant, "%s", name);
  row.elements = w->n;
  row.useful = 8.0 * (TERMS + 1);
  row.flops = 2.0 * TERMS;
  MG_TRY(lab_cuda_measure(lab, launch, args, &row));
  MG_CUDA_TRY(cudaMemset(w->wrong, 0, sizeof(double)));
  wrong_maxima<<<(unsigned)((w->n + 255) / 256), 256>>>(w->to, w->n, w->apart, w->wrong);
  MG_CUDA_LAUNCHED("wrong_maxima");
  MG_CUDA_TRY(cudaMemcpy(&row.error, w->wrong, sizeof(double), cudaMemcpyDeviceToHost));
  return lab_add(lab, &row);
}

/* One block size: three kernels, each without bounds and with some. */
template <int BIG, int SMALL, bool APART, int THREADS>
mg_status_t bounds(lab_t *lab, work_t *w, const char *loads) {
  char name[LAB_NAME];
  const int points = APART ? BIG : 1; /* of a thread */
  snprintf(name, sizeof name, "%s", loads);
  MG_TRY(add(lab, w, (const void *)unbounded<BIG, SMALL, APART>, points, THREADS, name));
  const struct {
    const void *kernel;
    int blocks;
  } bound[] = {
      {(const void *)bounded<BIG, SMALL, APART, THREADS, 1>, 1},
      {(const void *)bounded<BIG, SMALL, APART, THREADS, 1024 / THREADS>, 1024 / THREADS},
      {(const void *)bounded<BIG, SMALL, APART, THREADS, 2048 / THREADS>, 2048 / THREADS},
  };
  for (const auto &b : bound) {
    if (b.blocks * THREADS > lab_card().threads_per_processor)
      continue; /* the bound is another one there */
    snprintf(name, sizeof name, "%s, bounds (%d, %d)", loads, THREADS, b.blocks);
    MG_TRY(add(lab, w, b.kernel, points, THREADS, name));
  }
  return MG_OK;
}

template <bool APART, int THREADS> mg_status_t table(lab_t *lab, work_t *w) {
  w->apart = APART;
  lab_table(lab, "wide", "maximum of %d sums%s, blocks of %d threads", TERMS,
            APART ? ", terms an array apart" : "", THREADS);
  MG_TRY((bounds<1, 1, APART, THREADS>(lab, w, "plain")));
  MG_TRY((bounds<1, 2, APART, THREADS>(lab, w, "small wide")));
  return bounds<2, 2, APART, THREADS>(lab, w, "both wide");
}
} // namespace

extern "C" mg_status_t lab_wide_cuda(lab_t *lab) {
  work_t w = {};
  w.n = lab->bytes / 8 / TERMS * 4;
  lab_array_t big, to, small, wrong;
  MG_TRY(big.make(w.n * TERMS));
  MG_TRY(to.make(w.n));
  MG_TRY(small.make(TERMS));
  MG_TRY(wrong.make(1));
  MG_TRY(lab_cuda_fill(big.at, w.n * TERMS));
  /* Every term is decisive somewhere, and every small one that is not 0. */
  double terms[TERMS];
  for (int k = 0; k < TERMS; k++)
    terms[k] = lab_small(k);
  MG_CUDA_TRY(cudaMemcpy(small.at, terms, sizeof terms, cudaMemcpyHostToDevice));
  w.to = to.at;
  w.big = big.at;
  w.small = small.at;
  w.wrong = wrong.at;
  MG_TRY((table<false, 128>(lab, &w)));
  MG_TRY((table<false, 256>(lab, &w)));
  MG_TRY((table<false, 512>(lab, &w)));
  return table<true, 256>(lab, &w);
}
