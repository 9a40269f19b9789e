/* What the stencil of fv4 reads of rings of planes (fv4/planes.h): the counterparts of
 * mg_load_axis4 to mg_load_betas30. */
#ifndef MG_CUDA_FV4_LOADS_H
#define MG_CUDA_FV4_LOADS_H

#include "cuda/fv4/planes.h"

namespace mg_fv4_planes {
/* Offsets in bytes in one direction: of a cell's column, row or plane and of its neighbors. The
 * offset of a value is the sum of its column, row and plane. Betas have no low2 and high2. */
struct offsets_t {
  int low, c, high, low2, high2;
};

/* At equal distances. */
static __device__ __forceinline__ offsets_t offsets(int step) {
  return {-step, 0, step, -2 * step, 2 * step};
}
/* The planes of a ring from number `first` on: those below, at and above the cell, which is at `at`
 * in each. */
template <typename ring>
static __device__ __forceinline__ offsets_t planes5(const ring &r, int first, int at) {
  return {r[first + 1] + at, r[first + 2] + at, r[first + 3] + at, r[first] + at,
          r[first + 4] + at};
}
template <typename ring>
static __device__ __forceinline__ offsets_t planes3(const ring &r, int first, int at) {
  return {r[first] + at, r[first + 1] + at, r[first + 2] + at};
}

/* `base`, `low` and `high` are offsets in the remaining directions. */
static __device__ __forceinline__ mg_axis4_t load_axis4(int base, const offsets_t &d) {
  return {value_at(base + d.low2), value_at(base + d.low), value_at(base + d.high),
          value_at(base + d.high2)};
}

static __device__ __forceinline__ mg_edges4_t load_edges4(int base, const offsets_t &d,
                                                          const offsets_t &t) {
  return {value_at(base + d.low + t.low), value_at(base + d.low + t.high),
          value_at(base + d.high + t.low), value_at(base + d.high + t.high)};
}

static __device__ __forceinline__ mg_values25_t load_values25(const offsets_t &i,
                                                              const offsets_t &j,
                                                              const offsets_t &k) {
  return {value_at(i.c + j.c + k.c), load_axis4(j.c + k.c, i), load_axis4(i.c + k.c, j),
          load_axis4(i.c + j.c, k),  load_edges4(k.c, i, j),   load_edges4(j.c, i, k),
          load_edges4(i.c, j, k)};
}

static __device__ __forceinline__ mg_neighbors2_t load_neighbors2(int base, const offsets_t &t) {
  return {value_at(base + t.low), value_at(base + t.high)};
}

static __device__ __forceinline__ mg_face5_t load_face5(int at, const offsets_t &t1,
                                                        const offsets_t &t2) {
  return {value_at(at + t1.c + t2.c), load_neighbors2(at + t2.c, t1),
          load_neighbors2(at + t1.c, t2)};
}

static __device__ __forceinline__ mg_faces10_t load_faces10(int low, int high, const offsets_t &t1,
                                                            const offsets_t &t2) {
  return {load_face5(low, t1, t2), load_face5(high, t1, t2)};
}

/* k_i, k_j: planes of the betas normal to i and j; low_k, high_k: of the faces normal to k. */
static __device__ __forceinline__ mg_betas30_t load_betas30(const offsets_t &i, const offsets_t &j,
                                                            const offsets_t &k_i,
                                                            const offsets_t &k_j, int low_k,
                                                            int high_k) {
  return {load_faces10(i.c, i.high, j, k_i), load_faces10(j.c, j.high, i, k_j),
          load_faces10(low_k, high_k, i, j)};
}
} // namespace mg_fv4_planes

#endif
