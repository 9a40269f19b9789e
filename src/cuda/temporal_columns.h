/* Columns of one thread in the fused sweeps of temporal.cu: its register state and its steps. */
#ifndef MG_CUDA_TEMPORAL_COLUMNS_H
#define MG_CUDA_TEMPORAL_COLUMNS_H

#include "cuda/stencil_load.h"
#include "cuda/temporal_residual.h"

namespace mg_temporal {
/* Move values of one plane to the next one behind. */
template <int N> __device__ __forceinline__ void shift(mg_real_t (&v)[N][2]) {
#pragma unroll
  for (int n = N - 1; n > 0; n--) {
    v[n][0] = v[n - 1][0];
    v[n][1] = v[n - 1][1];
  }
}
template <int N> __device__ __forceinline__ void shift(int (&v)[N]) {
#pragma unroll
  for (int n = N - 1; n > 0; n--)
    v[n] = v[n - 1];
}

/* Replace neighbors outside walls by the Dirichlet formula, also at other walls: see walls.h. */
__device__ __forceinline__ void fold_walls(const mg_cuda_patch_t &l, const int at[3],
                                           mg_stencil_values_t *near) {
  for (int d = 0; d < 3; d++) {
    const mg_real_t c = near->x.c, low = near->x.low[d], high = near->x.high[d];
    if (l.p.wall[d][0] && at[d] == 0)
      near->x.low[d] = mg_ghost(MG_WALL_DIRICHLET, l.order, c, high);
    if (l.p.wall[d][1] && at[d] == l.p.n[d] - 1)
      near->x.high[d] = mg_ghost(MG_WALL_DIRICHLET, l.order, c, low);
  }
}

/* A x of a cell, and 1 / diagonal if wants_dinv. at_walls: check for walls. */
template <bool at_walls, bool wants_dinv>
__device__ __forceinline__ mg_real_t apply(const mg_cuda_patch_t &l, int i, int j, int k,
                                           mg_stencil_values_t near, mg_real_t *dinv) {
  if (!at_walls) {
    if (wants_dinv) *dinv = mg_stencil_dinv(&l, near);
    return mg_stencil_apply(&l, near);
  }
  const int at[3] = {i, j, k};
  fold_walls(l, at, &near);
  if (wants_dinv)
    *dinv = MG_REAL(1.0) / mg_diagonal_7(near.beta[0], near.beta[1], near.beta[2], 1, 1,
                                         mg_face_weights(&l.p, l.order, i, j, k), near.a, l.v.b_h2);
  return mg_stencil_apply(&l, near);
}

/* Position of a thread's two columns in its tile. Half sweeps update column 0 in even stages
 * (counted from the block's first) and column 1 in odd ones, so column 0 is the left column in one
 * row and the right one in the next. */
template <typename S> struct position_t {
  static constexpr bool COLORED = S::COLORED;
  static constexpr int PLANE = S::PLANE;
  int i, j, pair;        /* cell of the left column; its index in a plane of shared memory */
  int cell[2];           /* indices of the columns in a plane */
  int left[2], right[2]; /* offsets of their neighbors in i; 0 at the edge of the tile */
  int low, high;         /* offsets of both columns' neighbors in j; 0 at the edge of the tile */
  bool swapped, writes;  /* column 0 is the right one; this thread writes its cells */

  __device__ __forceinline__ void begin(const job_t &job, const tile_t &t, int first_stage) {
    const mg_patch_t &p = job.l.p;
    int row = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    if (COLORED) {
      /* A half-warp has eight columns of one color in each of two rows, which use all banks. */
      row = (int)threadIdx.x / 32 * 2 + (int)threadIdx.x / 8 % 2;
      lane = (int)threadIdx.x / 16 % 2 * 8 + (int)threadIdx.x % 8;
    }
    i = t.i0 + 2 * lane;
    j = t.j0 + row;
    const lanes_t lanes = written_lanes(p, t);
    writes = lane >= lanes.from && lane < lanes.to && i >= 0 && i < p.n[0] && row >= S::MARGIN &&
             row < S::ROWS - S::MARGIN && j < p.n[1];
    /* Both colors and planes alternate from step to step, so one parity serves all steps. */
    const int parity = p.lo[0] ^ (p.lo[1] + j) ^ p.lo[2] ^ job.color;
    swapped = COLORED && ((parity + first_stage - 1) & 1) != 0;
    pair = row * WIDTH + 2 * lane;
    for (int c = 0; c < 2; c++) {
      const int side = swapped ? 1 - c : c;
      cell[c] = pair + side;
      left[c] = lane == 0 && side == 0 ? 0 : -1;
      right[c] = lane == LANES - 1 && side == 1 ? 0 : 1;
    }
    low = row > 0 ? -WIDTH : 0;
    high = row < S::ROWS - 1 ? WIDTH : 0;
  }

  /* beta_i right of this thread's columns at the right edge of the tile. Only tiles at a high wall
   * use it: see shape_t::EDGE. `bi`: plane of beta_i. */
  __device__ __forceinline__ mg_real_t edge(const mg_real_t *bi) const {
    return bi[S::EDGE + (pair / WIDTH - 1) * EDGE_WIDTH];
  }

  /* Set both columns of a plane to zero. */
  __device__ __forceinline__ void clear(mg_real_t *plane) const {
    const mg_real_t zero[2] = {0.0, 0.0};
    store_pair(plane + pair, zero);
  }
};

/* Whether the block writes plane p of the last step. With a residual, that step is also computed in
 * one more plane on each side, which is not written. */
template <bool careful, typename S>
__device__ __forceinline__ bool writes_plane(const tile_t &t, int p) {
  return !careful || S::USE == RESIDUAL_UNUSED || (p >= t.first && p < t.end);
}

/* Columns of a colored smoother. Half sweeps update x in place, in registers and in shared memory:
 * a half sweep reads only the other color. In stage q, x[d] and x_at[d] belong to plane q - d. */
template <typename S> struct colored_columns_t : position_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH;
  using P = position_t<S>;
  using P::cell, P::edge, P::i, P::pair, P::left, P::right, P::low, P::high, P::swapped, P::writes;
  mg_real_t x[DEPTH + 2][2], dinv[STEPS][2], bk[DEPTH + 1][2];
  int x_at[DEPTH + 1],
      long_at[DEPTH]; /* ring offsets: of x, and of the arrays of plane q - 1 - d */
  residual_t<S> residual;

  __device__ __forceinline__ void load(const mg_real_t *plane, mg_real_t v[2]) const {
    v[0] = plane[cell[0]];
    v[1] = plane[cell[1]];
  }

  /* Load the values of these columns from a stage. */
  __device__ __forceinline__ void load_stage(mg_real_t *shared, const job_t &job,
                                             const slots_t &slot) {
    if (!S::INTERPOLATED) {
      if (!job.has_x) this->clear(shared + S::X + slot.x);
      load(shared + S::X + slot.x, x[0]);
    }
    load(shared + S::BK + slot.short_ring, bk[0]);
    x_at[0] = slot.x;
    long_at[0] = slot.long_ring;
  }

  /* Set x of the stage's plane to the left and the right value, which are in its ring too. */
  __device__ __forceinline__ void set_x(const mg_real_t v[1][2]) {
    x[0][0] = swapped ? v[0][1] : v[0][0];
    x[0][1] = swapped ? v[0][0] : v[0][1];
  }

  /* Stencil of column c in plane q - 1 - s. */
  template <bool careful, int s>
  __device__ __forceinline__ mg_stencil_values_t near(const mg_real_t *shared, const job_t &job,
                                                      int c) const {
    const mg_real_t *const plane = shared + S::X + x_at[s + 1] + cell[c],
                           *const bi = shared + S::BI + long_at[s] + cell[c],
                           *const bj = shared + S::BJ + long_at[s] + cell[c];
    mg_stencil_values_t near;
    near.x.c = x[s + 1][c];
    near.x.low[0] = plane[left[c]];
    near.x.high[0] = plane[right[c]];
    near.x.low[1] = plane[low];
    near.x.high[1] = plane[high];
    near.x.low[2] = x[s + 2][c];
    near.x.high[2] = x[s][c];
    near.beta[0][0] = bi[0];
    near.beta[0][1] = bi[right[c]];
    if (careful && right[c] == 0) near.beta[0][1] = edge(bi - cell[c]);
    near.beta[1][0] = bj[0];
    near.beta[1][1] = bj[high];
    near.beta[2][0] = bk[s + 1][c];
    near.beta[2][1] = bk[s][c];
    near.a = S::VARIES ? shared[S::ALPHA + long_at[s] + cell[c]] : job.l.v.a;
    near.f = shared[S::F + long_at[s] + cell[c]];
    return near;
  }

  /* Half sweep s of stage q, which changes column c. */
  template <bool careful, int s, int c>
  __device__ __forceinline__ void half_sweep(mg_real_t *shared, const job_t &job, const tile_t &t,
                                             int q, mg_real_t *to) {
    const int p = q - 1 - s, beyond = DEPTH - 1 - s;
    if (careful && (p < t.first - beyond || p >= t.end + beyond)) return;
    const mg_stencil_values_t v = near<careful, s>(shared, job, c);
    /* The third half sweep changes the same cells as the first, so it reuses their dinv. */
    constexpr bool needs_dinv = s < 2;
    const mg_real_t ax =
        apply<careful, needs_dinv>(job.l, i + cell[c] - pair, this->j, p, v, &dinv[s][c]);
    x[s + 1][c] = mg_relax(v.x.c, ax, v.f, dinv[s][c], S::WEIGHTED ? job.c2[s] : MG_REAL(1.0));
    if (s < DEPTH - 1) shared[S::X + x_at[s + 1] + cell[c]] = x[s + 1][c];
    if (s == STEPS - 1 && writes && writes_plane<careful, S>(t, p)) {
      const mg_real_t values[2] = {swapped ? x[s + 1][1] : x[s + 1][0],
                                   swapped ? x[s + 1][0] : x[s + 1][1]};
      store_pair(to + p * job.l.p.kstride, values);
    }
  }

  template <bool careful>
  __device__ __forceinline__ void add_residual(const mg_real_t *shared, const job_t &job,
                                               const tile_t &t, int q) {
    const int p = q - 1 - STEPS;
    if (careful && (p < t.first || p >= t.end)) return;
    mg_real_t r[2], unused;
#pragma unroll
    for (int c = 0; c < 2; c++) {
      const mg_stencil_values_t v = near<careful, DEPTH - 1>(shared, job, c);
      r[c] = v.f - apply<careful, false>(job.l, i + cell[c] - pair, this->j, p, v, &unused);
    }
    residual.add(job, *this, p, r);
  }

  template <bool careful, int odd>
  __device__ __forceinline__ void steps(mg_real_t *shared, const job_t &job, const tile_t &t, int q,
                                        mg_real_t *to, mg_real_t *) {
    half_sweep<careful, 0, odd>(shared, job, t, q, to);
    half_sweep<careful, 1, odd>(shared, job, t, q, to);
    if constexpr (STEPS > 2) half_sweep<careful, STEPS - 1, odd>(shared, job, t, q, to);
    if constexpr (S::USE != RESIDUAL_UNUSED) add_residual<careful>(shared, job, t, q);
  }

  /* Advance to the next plane. */
  __device__ __forceinline__ void advance(const slots_t &) {
    shift(x);
    shift(dinv);
    shift(bk);
    shift(x_at);
    shift(long_at);
  }
};

/* Columns of a smoother whose steps change all cells. Two planes of each step's results are in
 * shared memory. */
template <typename S> struct whole_columns_t : position_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH, PLANE = S::PLANE;
  using P = position_t<S>;
  using P::edge, P::i, P::pair, P::right, P::low, P::high, P::writes;
  /* x[s]: input of step s (s = STEPS: of the residual) in the planes below, at and above it. */
  mg_real_t x[DEPTH][3][2];
  mg_real_t dinv[STEPS][2], bk[DEPTH + 1][2], previous_in[2];
  int x_at,
      long_at[DEPTH]; /* ring offsets: x of plane q - 1; the other arrays of plane q - 1 - d */
  residual_t<S> residual;

  /* Load the values of these columns from a stage. */
  __device__ __forceinline__ void load_stage(mg_real_t *shared, const job_t &job,
                                             const slots_t &slot) {
    if (!S::INTERPOLATED) {
      if (!job.has_x) this->clear(shared + S::X + slot.x);
      load_pair(shared + S::X + slot.x + pair, x[0][2]);
    }
    load_pair(shared + S::BK + slot.short_ring + pair, bk[0]);
    if (S::LOOKS_BACK && job.has_previous)
      load_pair(shared + S::PREVIOUS + slot.short_ring + pair, previous_in);
    long_at[0] = slot.long_ring;
  }

  __device__ __forceinline__ void set_x(const mg_real_t v[1][2]) {
    x[0][2][0] = v[0][0];
    x[0][2][1] = v[0][1];
  }

  /* Plane in shared memory with the neighbors in i and j that step s reads in plane p. */
  __device__ __forceinline__ const mg_real_t *input_of(const mg_real_t *shared, int s,
                                                       int p) const {
    return s == 0 ? shared + S::X + x_at : shared + S::STEP + (2 * (s - 1) + (p & 1)) * PLANE;
  }

  /* What step s reads of both cells in plane p. */
  struct both_t {
    mg_real_t beside[2][2], bi[2], bj[2], bj_high[2], f[2], a[2], left_x, right_x, right_bi;
  };

  template <bool careful, int s>
  __device__ __forceinline__ both_t load_both(const mg_real_t *shared, const job_t &job,
                                              int p) const {
    const mg_real_t *const plane = input_of(shared, s, p) + pair;
    const mg_real_t *const bi = shared + S::BI + long_at[s] + pair, *const bj = shared + S::BJ +
                                                                                long_at[s] + pair;
    both_t b;
    load_pair(plane + low, b.beside[0]);
    load_pair(plane + high, b.beside[1]);
    load_pair(bi, b.bi);
    load_pair(bj, b.bj);
    load_pair(bj + high, b.bj_high);
    load_pair(shared + S::F + long_at[s] + pair, b.f);
    if (S::VARIES) load_pair(shared + S::ALPHA + long_at[s] + pair, b.a);
    b.left_x = __shfl_up_sync(FULL_WARP, x[s][1][1], 1, LANES);
    b.right_x = __shfl_down_sync(FULL_WARP, x[s][1][0], 1, LANES);
    b.right_bi = __shfl_down_sync(FULL_WARP, b.bi[0], 1, LANES);
    if (careful && right[1] == 0) b.right_bi = edge(bi - pair);
    return b;
  }

  /* Stencil of column c. */
  template <int s>
  __device__ __forceinline__ mg_stencil_values_t near(const both_t &b, const job_t &job,
                                                      int c) const {
    mg_stencil_values_t v;
    v.x.c = x[s][1][c];
    v.x.low[0] = c ? x[s][1][0] : b.left_x;
    v.x.high[0] = c ? b.right_x : x[s][1][1];
    v.x.low[1] = b.beside[0][c];
    v.x.high[1] = b.beside[1][c];
    v.x.low[2] = x[s][0][c];
    v.x.high[2] = x[s][2][c];
    v.beta[0][0] = b.bi[c];
    v.beta[0][1] = c ? b.right_bi : b.bi[1];
    v.beta[1][0] = b.bj[c];
    v.beta[1][1] = b.bj_high[c];
    v.beta[2][0] = bk[s + 1][c];
    v.beta[2][1] = bk[s][c];
    v.a = S::VARIES ? b.a[c] : job.l.v.a;
    v.f = b.f[c];
    return v;
  }

  /* Step s of stage q. The result goes to shared memory, or to the level after the last step.
   * `careful`: cells may be at walls, and the plane may be unused or lack planes below it, as in
   * the first stages. */
  template <bool careful, int s>
  __device__ __forceinline__ void step(mg_real_t *shared, const job_t &job, const tile_t &t, int q,
                                       mg_real_t *to, mg_real_t *to_previous) {
    const int p = q - 1 - s, beyond = DEPTH - 1 - s;
    if (careful && (p < t.first - beyond || p >= t.end + beyond)) return;
    constexpr bool needs_dinv = s == 0;
    const both_t both = load_both<careful, s>(shared, job, p);
    mg_real_t value[2];
#pragma unroll
    for (int c = 0; c < 2; c++) {
      const mg_stencil_values_t v = near<s>(both, job, c);
      const mg_real_t ax = apply<careful, needs_dinv>(job.l, i + c, this->j, p, v, &dinv[s][c]);
      /* In the registers of the previous step this plane is the lowest one. */
      const mg_real_t before = s == 0 ? previous_in[c] : x[s > 0 ? s - 1 : 0][0][c];
      const mg_real_t previous = job.c1[s] == MG_REAL(0.0) ? v.x.c : before;
      value[c] = mg_update(v.x.c, previous, ax, v.f, dinv[s][c], job.c1[s], job.c2[s]);
    }
    if constexpr (s < DEPTH - 1) {
      store_pair(shared + S::STEP + (2 * s + (p & 1)) * PLANE + pair, value);
      x[s + 1][2][0] = value[0];
      x[s + 1][2][1] = value[1];
    }
    if (s == STEPS - 1 && writes && writes_plane<careful, S>(t, p)) {
      store_pair(to + p * job.l.p.kstride, value);
      if (to_previous) store_pair(to_previous + p * job.l.p.kstride, x[s][1]);
    }
  }

  template <bool careful>
  __device__ __forceinline__ void add_residual(const mg_real_t *shared, const job_t &job,
                                               const tile_t &t, int q) {
    const int p = q - 1 - STEPS;
    if (careful && (p < t.first || p >= t.end)) return;
    const both_t both = load_both<careful, DEPTH - 1>(shared, job, p);
    mg_real_t r[2], unused;
#pragma unroll
    for (int c = 0; c < 2; c++) {
      const mg_stencil_values_t v = near<DEPTH - 1>(both, job, c);
      r[c] = v.f - apply<careful, false>(job.l, i + c, this->j, p, v, &unused);
    }
    residual.add(job, *this, p, r);
  }

  template <bool careful, int odd>
  __device__ __forceinline__ void steps(mg_real_t *shared, const job_t &job, const tile_t &t, int q,
                                        mg_real_t *to, mg_real_t *to_previous) {
    step<careful, 0>(shared, job, t, q, to, to_previous);
    step<careful, 1>(shared, job, t, q, to, to_previous);
    if constexpr (STEPS > 2) step<careful, STEPS - 1>(shared, job, t, q, to, to_previous);
    if constexpr (S::USE != RESIDUAL_UNUSED) add_residual<careful>(shared, job, t, q);
  }

  /* Advance to the next plane. */
  __device__ __forceinline__ void advance(const slots_t &slot) {
#pragma unroll
    for (int s = 0; s < DEPTH; s++)
#pragma unroll
      for (int c = 0; c < 2; c++) {
        x[s][0][c] = x[s][1][c];
        x[s][1][c] = x[s][2][c];
      }
    shift(dinv);
    shift(bk);
    shift(long_at);
    x_at = slot.x;
  }
};

} // namespace mg_temporal

#endif
