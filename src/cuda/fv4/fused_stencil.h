/* The stencil of fv4 in the fused half sweeps (fv4/fused.cu): loads from the rings of planes. */
#ifndef MG_CUDA_FV4_FUSED_STENCIL_H
#define MG_CUDA_FV4_FUSED_STENCIL_H

#include "cuda/fv4/fused_rings.h"

namespace mg_fv4_fused {
/* Values of x or y: offsets of values along a direction, in an edge's plane, of the cell in a
 * plane. `plane` has the offsets of the planes two below to one above the cell; high2 is above
 * them. */
static __device__ __forceinline__ mg_axis4_t load_axis4(int at, int step) {
  mg_axis4_t v;
  v.low2 = value_at(at - 2 * step);
  v.low = value_at(at - step);
  v.high = value_at(at + step);
  v.high2 = value_at(at + 2 * step);
  return v;
}

static __device__ __forceinline__ mg_edges4_t load_edges4(int at_low, int at_high, int step) {
  mg_edges4_t v; /* the sides in the second direction are at_low and at_high */
  v.low_low = value_at(at_low - step);
  v.low_high = value_at(at_high - step);
  v.high_low = value_at(at_low + step);
  v.high_high = value_at(at_high + step);
  return v;
}

static __device__ __forceinline__ mg_values25_t load_values25(const int (&plane)[4], int cell,
                                                              mg_real_t high2) {
  const int at = plane[2] + cell, low = plane[1] + cell, high = plane[3] + cell;
  mg_values25_t v;
  v.c = value_at(at);
  v.i = load_axis4(at, COL);
  v.j = load_axis4(at, ROW);
  v.k.low2 = value_at(plane[0] + cell);
  v.k.low = value_at(low);
  v.k.high = value_at(high);
  v.k.high2 = high2;
  v.ij = load_edges4(at - ROW, at + ROW, COL);
  v.ik = load_edges4(low, high, COL);
  v.jk = load_edges4(low, high, ROW);
  return v;
}

static __device__ __forceinline__ mg_neighbors2_t load_neighbors2(int low, int high) {
  mg_neighbors2_t v;
  v.low = value_at(low);
  v.high = value_at(high);
  return v;
}

/* Betas of the two faces at `step` from each other that are normal to i or j. `t` is the step in
 * the other one of these directions; below and above are the neighbors in k. */
static __device__ __forceinline__ mg_faces10_t load_faces_ij(int below, int at, int above, int step,
                                                             int t) {
  mg_faces10_t v;
  v.low.c = value_at(at);
  v.high.c = value_at(at + step);
  v.low.t1 = load_neighbors2(at - t, at + t);
  v.high.t1 = load_neighbors2(at + step - t, at + step + t);
  v.low.t2 = load_neighbors2(below, above);
  v.high.t2 = load_neighbors2(below + step, above + step);
  return v;
}

/* The same, one plane below faces that are known. */
static __device__ __forceinline__ mg_faces10_t load_faces_below(const mg_faces10_t &up, int below,
                                                                int at, int step, int t) {
  mg_faces10_t v;
  v.low.c = up.low.t2.low;
  v.high.c = up.high.t2.low;
  v.low.t1 = load_neighbors2(at - t, at + t);
  v.high.t1 = load_neighbors2(at + step - t, at + step + t);
  v.low.t2 = {value_at(below), up.low.c};
  v.high.t2 = {value_at(below + step), up.high.c};
  return v;
}

static __device__ __forceinline__ mg_face5_t load_face_k(int at) {
  mg_face5_t v;
  v.c = value_at(at);
  v.t1 = load_neighbors2(at - COL, at + COL);
  v.t2 = load_neighbors2(at - ROW, at + ROW);
  return v;
}

/* `ij`: planes below, at and above the cell; `k`: its low and high faces. */
static __device__ __forceinline__ mg_betas30_t load_betas30(const int (&ij)[3], const int (&k)[2],
                                                            int cell) {
  const int below = ij[0] + cell, at = ij[1] + cell, above = ij[2] + cell;
  mg_betas30_t b;
  b.i = load_faces_ij(below, at, above, COL, ROW);
  b.j = load_faces_ij(below + I_TO_J, at + I_TO_J, above + I_TO_J, ROW, COL);
  b.k.low = load_face_k(k[0] + cell);
  b.k.high = load_face_k(k[1] + cell);
  return b;
}

/* What a half sweep reads of a cell's neighborhood. */
struct stencil_t {
  mg_values25_t x;
  mg_betas30_t beta;
};

/* For the first half sweep in plane q. */
static __device__ __forceinline__ stencil_t load_first(const slots_t &s, int cell) {
  stencil_t v;
  v.x = load_values25({s.x[0], s.x[1], s.x[2], s.x[3]}, cell, value_at(s.x[4] + cell));
  v.beta = load_betas30({s.ij[1], s.ij[2], s.ij[3]}, {s.k[1], s.k[2]}, cell);
  return v;
}

/* For the second half sweep in plane q - 1; high2: y two planes above the cell. */
static __device__ __forceinline__ stencil_t load_second(const slots_t &s, int cell,
                                                        mg_real_t high2) {
  stencil_t v;
  v.x = load_values25({s.y[0], s.y[1], s.y[2], s.y[3]}, cell, high2);
  v.beta = load_betas30({s.ij[0], s.ij[1], s.ij[2]}, {s.k[0], s.k[1]}, cell);
  return v;
}

/* The same, in the column for which the first half sweep has loaded `up` and computed `above`: 20
 * of the 55 values are known. */
static __device__ __forceinline__ stencil_t load_second_below(const slots_t &s, int cell,
                                                              const stencil_t &up,
                                                              mg_real_t above) {
  const int at = s.y[2] + cell, low = s.y[1] + cell;
  stencil_t v;
  v.x.c = up.x.k.low;
  v.x.i = load_axis4(at, COL);
  v.x.j = load_axis4(at, ROW);
  v.x.k.low2 = value_at(s.y[0] + cell);
  v.x.k.low = value_at(low);
  v.x.k.high = above;
  v.x.k.high2 = up.x.k.high;
  v.x.ij = load_edges4(at - ROW, at + ROW, COL);
  v.x.ik = {value_at(low - COL), up.x.i.low, value_at(low + COL), up.x.i.high};
  v.x.jk = {value_at(low - ROW), up.x.j.low, value_at(low + ROW), up.x.j.high};
  v.beta.i = load_faces_below(up.beta.i, s.ij[0] + cell, s.ij[1] + cell, COL, ROW);
  v.beta.j =
      load_faces_below(up.beta.j, s.ij[0] + I_TO_J + cell, s.ij[1] + I_TO_J + cell, ROW, COL);
  v.beta.k.low = load_face_k(s.k[0] + cell);
  v.beta.k.high = up.beta.k.low;
  return v;
}

/* What a half sweep reads once of a cell. */
struct input_t {
  mg_real_t f, dinv, a; /* a: only if alpha varies */
};

/* New value of a cell. */
template <bool varies>
static __device__ __forceinline__ mg_real_t relax(const job_t &job, const stencil_t &v,
                                                  const input_t &in) {
  const mg_real_t a = varies ? in.a : job.a;
  const mg_real_t ax = mg_apply_values25(&v.x, &v.beta, a, job.b_h2);
  return mg_relax(v.x.c, ax, in.f, in.dinv, job.sweep.c2);
}
} // namespace mg_fv4_fused

#endif
