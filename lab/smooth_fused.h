/* Inputs of the fused kernels in smooth_fused.cu: rings of planes in shared memory, and the copies
 * that fill them, one bundle at a time. */
#ifndef MG_BENCH_SMOOTH_FUSED_H
#define MG_BENCH_SMOOTH_FUSED_H

#include "cuda/tma.h"
#include "lab/smooth_cuda.h"

namespace fused {
enum { COPIES, TENSOR, ALIGNED };
/* Launch parameters besides the level. */
struct plan_t {
  int tiles_i, tiles_j; /* per plane */
  int planes;           /* written by a block */
};

/* Tensor maps of the five arrays; the extents are cells for x and faces for the betas. */
struct maps_t {
  CUtensorMap x, f, beta[3];
};

/* T: type of arithmetic and arrays. STEPS: fused steps. LANES: threads per row. ROWS: rows per
 * block. AHEAD: bundles in flight. BLOCKS: blocks per cluster. KEEP: hold f and the betas normal to
 * k in registers instead of rereading them in each step. */
template <typename T, int STEPS, int LANES, int ROWS, int AHEAD, int BLOCKS, bool KEEP, int LOADS>
struct shape_t {
  static constexpr int MADE = STEPS, ROW_LANES = LANES, BLOCK_ROWS = ROWS, CLUSTER = BLOCKS;
  static constexpr bool KEEPS = KEEP;
  static constexpr int V = 16 / (int)sizeof(T), WIDTH = LANES * V, THREADS = LANES * ROWS;
  static constexpr bool BOXES = LOADS != COPIES;
  /* Valid output cells are whole vectors along i. The tensor copy engine reads at multiples of 16
   * bytes; if STEPS is not such a multiple, one more column is lost on the left. Aligned boxes
   * start at multiples of 64 bytes; their valid output is a multiple of 64 bytes wide. */
  static constexpr int LINE = 64 / (int)sizeof(T), ALIGNED_I = (WIDTH - 2 * STEPS) / LINE * LINE,
                       LEFT = LOADS == ALIGNED  ? (WIDTH - ALIGNED_I) / 2
                              : LOADS == TENSOR ? (STEPS + V - 1) / V * V
                                                : STEPS,
                       OUT_I = LOADS == ALIGNED ? ALIGNED_I : (WIDTH - LEFT - STEPS) / V * V,
                       OUT_J = BLOCKS * ROWS - 2 * STEPS;
  static constexpr int START = LOADS == ALIGNED ? LINE : LEFT; /* columns before the tile */
  /* Valid vectors start SHIFT cells after those of thread FIRST of a row. */
  static constexpr int SHIFT = LEFT % V, FIRST = LEFT / V;
  static constexpr int RIM = BLOCKS > 1 ? 1 : 0; /* rows from neighbouring blocks of the cluster */
  static constexpr int X_ROWS = ROWS + 2 * RIM, J_ROWS = ROWS + RIM;
  static constexpr int PLANE = ROWS * WIDTH, X_PLANE = X_ROWS * WIDTH, J_PLANE = J_ROWS * WIDTH;
  /* Planes per ring. */
  static constexpr int X_SLOTS = 2 + AHEAD, F_SLOTS = (KEEP ? 1 : STEPS) + AHEAD,
                       IJ_SLOTS = STEPS + AHEAD, K_SLOTS = (KEEP ? 1 : STEPS + 1) + AHEAD;
  static constexpr int ARRIVALS = AHEAD + 1;
  /* Offsets from the start of shared memory, in elements. */
  static constexpr int X = 0, STEP = X + X_SLOTS * X_PLANE, F = STEP + 2 * (STEPS - 1) * X_PLANE,
                       BI = F + F_SLOTS * PLANE, BJ = BI + IJ_SLOTS * PLANE,
                       BK = BJ + IJ_SLOTS * J_PLANE, END = BK + K_SLOTS * PLANE;
  static constexpr size_t BYTES = END * sizeof(T) + ARRIVALS * sizeof(uint64_t);
  /* Bytes per bundle. */
  static constexpr unsigned BUNDLE = (X_ROWS + J_ROWS + 3 * ROWS) * WIDTH * (unsigned)sizeof(T);
};

/* ---- 16-byte loads and stores ---- */

__device__ __forceinline__ void load(const double *p, double v[2]) {
  const double2 t = *reinterpret_cast<const double2 *>(p);
  v[0] = t.x, v[1] = t.y;
}
__device__ __forceinline__ void load(const float *p, float v[4]) {
  const float4 t = *reinterpret_cast<const float4 *>(p);
  v[0] = t.x, v[1] = t.y, v[2] = t.z, v[3] = t.w;
}
__device__ __forceinline__ void store(double *p, const double v[2]) {
  *reinterpret_cast<double2 *>(p) = make_double2(v[0], v[1]);
}
__device__ __forceinline__ void store(float *p, const float v[4]) {
  *reinterpret_cast<float4 *>(p) = make_float4(v[0], v[1], v[2], v[3]);
}

/* ---- asynchronous copies ---- */

/* Copy element `at`, or zero if `there` is false. */
template <typename T>
__device__ __forceinline__ void copy_one(T *to, const T *base, ptrdiff_t at, bool there) {
  const T *from = there ? base + at : base;
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(mg_shared_address(to)),
               "l"(from), "n"(sizeof(T)), "r"(there ? (int)sizeof(T) : 0)
               : "memory");
#else
  *to = there ? *from : T(0);
#endif
}
__device__ __forceinline__ void copies_end_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/* Wait for all groups except the last `left`. */
template <int left> __device__ __forceinline__ void copies_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

template <int BLOCKS> __device__ __forceinline__ void wait_for_all() {
  if (BLOCKS == 1) {
    __syncthreads();
    return;
  }
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ int block_of_cluster() {
  unsigned r = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
#endif
  return (int)r;
}
/* Store 16 bytes at the same address in another block's shared memory. */
template <typename T> __device__ __forceinline__ void store_beyond(T *p, const T *v, int other) {
#if __CUDA_ARCH__ >= 900
  unsigned there;
  const unsigned *w = reinterpret_cast<const unsigned *>(v);
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(mg_shared_address(p)), "r"(other));
  asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(there), "r"(w[0]),
               "r"(w[1]), "r"(w[2]), "r"(w[3])
               : "memory");
#else
  (void)p, (void)v, (void)other;
#endif
}

/* ---- bundles ---- */

/* slot - back in a ring of n; slot is in the ring and back is at most n. */
__device__ __forceinline__ int behind(int slot, int back, int n) {
  return slot >= back ? slot - back : slot - back + n;
}
__device__ __forceinline__ void next(int *slot, int n) {
  *slot = *slot + 1 == n ? 0 : *slot + 1;
}

/* A bundle is x and beta_k of plane q, and f, beta_i and beta_j of plane q - 1. This holds its
 * slots in the rings and the barrier that signals its arrival. */
struct slots_t {
  int x, f, ij, k, arrival;
  unsigned parity;
};
template <typename S> __device__ __forceinline__ void next(slots_t *at) {
  next(&at->x, S::X_SLOTS);
  next(&at->f, S::F_SLOTS);
  next(&at->ij, S::IJ_SLOTS);
  next(&at->k, S::K_SLOTS);
  next(&at->arrival, S::ARRIVALS);
  if (at->arrival == 0) at->parity ^= 1;
}

/* First column and row of a block, and the position of a thread within the block. */
struct place_t {
  int i0, j0, lane, row;
};

/* Request bundle q: one thread copies boxes, or each thread copies its own elements. */
template <typename S, typename T>
__device__ __forceinline__ void ask_boxes(T *shared, const maps_t &maps, const place_t &at, int q,
                                          const slots_t &to, uint64_t *arrived) {
  if (threadIdx.x != 0) return;
  arrived += to.arrival;
  mg_arrivals_expect(arrived, S::BUNDLE);
  mg_box_copy(shared + S::X + to.x * S::X_PLANE, &maps.x, at.i0, at.j0 - S::RIM, q, arrived);
  mg_box_copy(shared + S::BK + to.k * S::PLANE, &maps.beta[2], at.i0, at.j0, q, arrived);
  mg_box_copy(shared + S::BI + to.ij * S::PLANE, &maps.beta[0], at.i0, at.j0, q - 1, arrived);
  mg_box_copy(shared + S::BJ + to.ij * S::J_PLANE, &maps.beta[1], at.i0, at.j0, q - 1, arrived);
  mg_box_copy(shared + S::F + to.f * S::PLANE, &maps.f, at.i0, at.j0, q - 1, arrived);
}
template <typename S, typename T>
__device__ __forceinline__ void ask_elements(T *shared, const smooth_level_t<T> &l,
                                             const place_t &at, int q, const slots_t &to) {
  const int i = at.i0 + at.lane * S::V, j = at.j0 + at.row,
            own = at.row * S::WIDTH + at.lane * S::V;
  const bool upper = q >= 0 && q <= l.n, lower = q >= 1 && q <= l.n;
#pragma unroll
  for (int v = 0; v < S::V; v++) {
    /* Faces at the far walls are needed too. */
    const bool column = i + v >= 0 && i + v <= l.n && j >= 0 && j <= l.n,
               cell = column && i + v < l.n && j < l.n;
    const ptrdiff_t from = i + v + j * l.js + q * l.ks;
    T *const here = shared + own + v;
    copy_one(here + S::X + to.x * S::X_PLANE, l.x, from, cell && upper && q < l.n);
    copy_one(here + S::BK + to.k * S::PLANE, l.beta[2], from, column && upper);
    copy_one(here + S::BI + to.ij * S::PLANE, l.beta[0], from - l.ks, column && lower);
    copy_one(here + S::BJ + to.ij * S::J_PLANE, l.beta[1], from - l.ks, column && lower);
    copy_one(here + S::F + to.f * S::PLANE, l.f, from - l.ks, cell && lower);
  }
  copies_end_group();
}
} // namespace fused

#endif
