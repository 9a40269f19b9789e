/* Columns of one thread in the fused sweeps of fused/sweeps.cu: its register state and its steps.
 */
#ifndef MG_CUDA_FUSED_COLUMNS_H
#define MG_CUDA_FUSED_COLUMNS_H

#include "cuda/fused/residual.h"
#include "cuda/runtime/reciprocal.h"

namespace mg_fused {
/* Position of a thread's two columns in its tile. Half sweeps update column 0 in even stages
 * (counted from the block's first) and column 1 in odd ones, so column 0 is the left column in one
 * row and the right one in the next.
 *
 * Offsets are in bytes from the start of a plane of shared memory. Results in the first and the
 * last row are never valid, and neither are those next to the left and the right edge except at
 * walls. So these cells read what others read, which no other thread changes at the same time. */
template <typename S> struct position_t {
  static constexpr bool COLORED = S::COLORED;
  int i, j;           /* cell of the left column */
  mg_real_t *pair;    /* address of the left column */
  mg_real_t *cell[2]; /* offsets of the columns */
  mg_real_t *near[2]; /* the same, but two rows inward in the first and in the last row */
  mg_real_t *left[2], *right[2]; /* offsets of the neighbors of `near` in i */
  mg_real_t *edge; /* address of beta_i right of the tile; elsewhere than at a wall any beta_i */
  int wall_i[2], wall_j; /* walls of the columns: see walls_t */
  bool swapped, writes;  /* column 0 is the right one; this thread writes its cells */
  float least[2];        /* argument of mg_reciprocals */

  __device__ __forceinline__ void begin(mg_real_t *shared, const job_t &job, const tile_t &t,
                                        int first_stage) {
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
    least[0] = least[1] = mg_least_exponent(row > 0 && row < S::ROWS - 1 &&
                                            may_use<S>(p, 0, i, 2) && may_use<S>(p, 1, j, 1));
    /* Both colors and planes alternate from step to step, so one parity serves all steps. */
    const int parity = mg_parity(&p, 0, j, 0) ^ job.color;
    swapped = COLORED && ((parity + first_stage - 1) & 1) != 0;
    pair = shared + row * WIDTH + 2 * lane;
    const int inward = row == 0 ? 2 * WIDTH : row == S::ROWS - 1 ? -2 * WIDTH : 0;
    edge = ends_at_wall(p, t) ? shared + S::EDGE + (row + inward / WIDTH - 1) * EDGE_WIDTH
                              : pair + inward;
    wall_j = wall_side(p, 1, j);
#pragma unroll
    for (int c = 0; c < 2; c++) {
      const int side = swapped ? 1 - c : c;
      cell[c] = pair + side;
      near[c] = cell[c] + inward;
      left[c] = near[c] + (lane == 0 && side == 0 ? 1 : -1);
      right[c] = near[c] + (lane == LANES - 1 && side == 1 ? -1 : 1);
      wall_i[c] = wall_side(p, 0, i + side);
    }
  }

  /* Offset of beta_i right of column c. Right of the tile it is in the box of shape_t::EDGE, which
   * only tiles at a high wall use. */
  template <care_t care> __device__ __forceinline__ mg_real_t *right_face(int c) const {
    return care == PLAIN || right[c] > near[c] ? right[c] : edge;
  }

  /* Walls of column c in plane k. */
  template <care_t care>
  __device__ __forceinline__ walls_t walls(const mg_patch_t &p, int c, int k) const {
    return {{wall_i[c], wall_j, care == CAREFUL ? wall_side(p, 2, k) : 0}};
  }

  /* Set both columns of a plane to zero. */
  __device__ __forceinline__ void clear(int plane) const {
    const mg_real_t zero[2] = {0.0, 0.0};
    store_pair(at_byte(pair, plane) + S::X, zero);
  }
};

/* Whether the block writes plane p of the last step. With a residual, that step is also computed in
 * one more plane on each side, which is not written. */
template <care_t care, typename S>
__device__ __forceinline__ bool writes_plane(const tile_t &t, int p) {
  return care != CAREFUL || S::USE == RESIDUAL_UNUSED || (p >= t.first && p < t.end);
}

/* Columns of a colored smoother. Half sweeps update x in place, in registers and in shared memory:
 * a half sweep reads only the other color. In stage q, x[d] and x_at[d] belong to plane q - d. */
template <typename S> struct colored_columns_t : position_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH;
  using P = position_t<S>;
  using P::cell, P::near, P::left, P::right, P::swapped, P::writes;
  mg_real_t x[DEPTH + 2][2], dinv[STEPS][2], bk[DEPTH + 1][2];
  int x_at[DEPTH + 1],
      long_at[DEPTH]; /* ring offsets: of x, and of the arrays of plane q - 1 - d */
  residual_t<S> residual;

  __device__ __forceinline__ void load(mg_real_t *const at[2], int offset, int array,
                                       mg_real_t v[2]) const {
    v[0] = at_byte(at[0], offset)[array];
    v[1] = at_byte(at[1], offset)[array];
  }

  /* Load the values of these columns from a stage. */
  __device__ __forceinline__ void load_stage(const job_t &job, const slots_t &slot) {
    if (!S::INTERPOLATED) {
      if (!job.has_x) this->clear(slot.x);
      load(cell, slot.x, S::X, x[0]);
    }
    load(near, slot.short_ring, S::BK, bk[0]);
    x_at[0] = slot.x;
    long_at[0] = slot.long_ring;
  }

  /* Set x of the stage's plane to the left and the right value, which are in its ring too. */
  __device__ __forceinline__ void set_x(const mg_real_t v[1][2]) {
    x[0][0] = swapped ? v[0][1] : v[0][0];
    x[0][1] = swapped ? v[0][0] : v[0][1];
  }

  /* x of column c in plane q - 1 - s, and its neighbors. */
  template <int s> __device__ __forceinline__ mg_values7_t load_x(int c) const {
    const int at = x_at[s + 1];
    mg_values7_t v;
    v.c = x[s + 1][c];
    v.low[0] = at_byte(left[c], at)[S::X];
    v.high[0] = at_byte(right[c], at)[S::X];
    v.low[1] = at_byte(near[c], at)[S::X - WIDTH];
    v.high[1] = at_byte(near[c], at)[S::X + WIDTH];
    v.low[2] = x[s + 2][c];
    v.high[2] = x[s][c];
    return v;
  }

  /* Coefficients of column c in plane q - 1 - s. */
  template <care_t care, int s>
  __device__ __forceinline__ mg_row_t load_row(const job_t &job, int c) const {
    const mg_real_t *const own = at_byte(near[c], long_at[s]);
    const mg_real_t bi = at_byte(this->template right_face<care>(c), long_at[s])[S::BI];
    return {{{own[S::BI], bi}, {own[S::BJ], own[S::BJ + WIDTH]}, {bk[s + 1][c], bk[s][c]}},
            S::VARIES ? own[S::ALPHA] : job.a};
  }

  /* Half sweep s of stage q, which changes column c. */
  template <care_t care, int s, int c>
  __device__ __forceinline__ void half_sweep(const job_t &job, const tile_t &t, int q,
                                             const mg_row_t &row, mg_real_t *to) {
    const int p = q - 1 - s, beyond = DEPTH - 1 - s;
    if (care == CAREFUL && (p < t.first - beyond || p >= t.end + beyond)) return;
    const mg_values7_t v = load_x<s>(c);
    const mg_real_t ax = apply<care>(job, this->template walls<care>(job.l.p, c, p), row, v),
                    f = at_byte(near[c], long_at[s])[S::F];
    x[s + 1][c] = mg_relax(v.c, ax, f, dinv[s][c], S::WEIGHTED ? job.c2[s] : MG_REAL(1.0));
    if (s < DEPTH - 1) at_byte(cell[c], x_at[s + 1])[S::X] = x[s + 1][c];
    if (s == STEPS - 1 && writes && writes_plane<care, S>(t, p)) {
      const mg_real_t values[2] = {swapped ? x[s + 1][1] : x[s + 1][0],
                                   swapped ? x[s + 1][0] : x[s + 1][1]};
      store_pair(to + p * job.l.p.kstride, values);
    }
  }

  template <care_t care>
  __device__ __forceinline__ void add_residual(const job_t &job, const tile_t &t, int q) {
    const int p = q - 1 - STEPS;
    if (care == CAREFUL && (p < t.first || p >= t.end)) return;
    mg_real_t r[2];
#pragma unroll
    for (int c = 0; c < 2; c++) {
      const mg_row_t row = load_row<care, DEPTH - 1>(job, c);
      const mg_values7_t v = load_x<DEPTH - 1>(c);
      const mg_real_t f = at_byte(near[c], long_at[DEPTH - 1])[S::F];
      r[c] = f - apply<care>(job, this->template walls<care>(job.l.p, c, p), row, v);
    }
    residual.add(job, *this, p, r);
  }

  /* The third half sweep changes the same cells as the first, so it reuses their dinv. */
  template <care_t care, int c>
  __device__ __forceinline__ void steps(const job_t &job, const tile_t &t, int q, mg_real_t *to,
                                        mg_real_t *) {
    const mg_row_t row[2] = {load_row<care, 0>(job, c), load_row<care, 1>(job, c)};
    mg_real_t d[2], inverse[2];
#pragma unroll
    for (int s = 0; s < 2; s++)
      d[s] = diagonal<care>(job, this->template walls<care>(job.l.p, c, q - 1 - s), row[s]);
    mg_reciprocals(d, this->least, inverse);
    dinv[0][c] = inverse[0];
    dinv[1][c] = inverse[1];
    half_sweep<care, 0, c>(job, t, q, row[0], to);
    half_sweep<care, 1, c>(job, t, q, row[1], to);
    if constexpr (STEPS > 2)
      half_sweep<care, STEPS - 1, c>(job, t, q, load_row<care, STEPS - 1>(job, c), to);
    if constexpr (S::USE != RESIDUAL_UNUSED) add_residual<care>(job, t, q);
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
  using P::pair, P::near, P::writes;
  /* x[s]: input of step s (s = STEPS: of the residual) in the planes below, at and above it. */
  mg_real_t x[DEPTH][3][2];
  mg_real_t dinv[STEPS][2], bk[DEPTH + 1][2], previous_in[2];
  int x_at,
      long_at[DEPTH]; /* ring offsets: x of plane q - 1; the other arrays of plane q - 1 - d */
  residual_t<S> residual;

  /* Load the values of these columns from a stage. */
  __device__ __forceinline__ void load_stage(const job_t &job, const slots_t &slot) {
    if (!S::INTERPOLATED) {
      if (!job.has_x) this->clear(slot.x);
      load_pair(at_byte(pair, slot.x) + S::X, x[0][2]);
    }
    load_pair(at_byte(near[0], slot.short_ring) + S::BK, bk[0]);
    if (S::LOOKS_BACK && job.has_previous)
      load_pair(at_byte(pair, slot.short_ring) + S::PREVIOUS, previous_in);
    long_at[0] = slot.long_ring;
  }

  __device__ __forceinline__ void set_x(const mg_real_t v[1][2]) {
    x[0][2][0] = v[0][0];
    x[0][2][1] = v[0][1];
  }

  /* Plane in shared memory with the neighbors in i and j that step s reads in plane p. */
  __device__ __forceinline__ const mg_real_t *input_of(int s, int p) const {
    return s == 0 ? at_byte(near[0], x_at) + S::X
                  : near[0] + S::STEP + (2 * (s - 1) + (p & 1)) * PLANE;
  }

  /* What step s reads of both cells in plane p. */
  struct both_t {
    mg_real_t beside[2][2], bi[2], bj[2], bj_high[2], f[2], a[2], left_x, right_x, right_bi;
  };

  template <care_t care, int s> __device__ __forceinline__ both_t load_both(int p) const {
    const mg_real_t *const in = input_of(s, p), *const own = at_byte(near[0], long_at[s]);
    both_t b;
    load_pair(in - WIDTH, b.beside[0]);
    load_pair(in + WIDTH, b.beside[1]);
    load_pair(own + S::BI, b.bi);
    load_pair(own + S::BJ, b.bj);
    load_pair(own + S::BJ + WIDTH, b.bj_high);
    load_pair(own + S::F, b.f);
    if (S::VARIES) load_pair(own + S::ALPHA, b.a);
    b.left_x = __shfl_up_sync(FULL_WARP, x[s][1][1], 1, LANES);
    b.right_x = __shfl_down_sync(FULL_WARP, x[s][1][0], 1, LANES);
    b.right_bi = __shfl_down_sync(FULL_WARP, b.bi[0], 1, LANES);
    if (care != PLAIN && this->right[1] < near[1])
      b.right_bi = at_byte(this->edge, long_at[s])[S::BI];
    return b;
  }

  /* x of column c and its neighbors. */
  template <int s> __device__ __forceinline__ mg_values7_t x_of(const both_t &b, int c) const {
    mg_values7_t v;
    v.c = x[s][1][c];
    v.low[0] = c ? x[s][1][0] : b.left_x;
    v.high[0] = c ? b.right_x : x[s][1][1];
    v.low[1] = b.beside[0][c];
    v.high[1] = b.beside[1][c];
    v.low[2] = x[s][0][c];
    v.high[2] = x[s][2][c];
    return v;
  }

  /* Coefficients of column c. */
  template <int s>
  __device__ __forceinline__ mg_row_t row_of(const both_t &b, const job_t &job, int c) const {
    return {
        {{b.bi[c], c ? b.right_bi : b.bi[1]}, {b.bj[c], b.bj_high[c]}, {bk[s + 1][c], bk[s][c]}},
        S::VARIES ? b.a[c] : job.a};
  }

  /* Step s of stage q. The result goes to shared memory, or to the level after the last step.
   * In careful stages the plane may be unused or lack planes below it, as in the first ones. */
  template <care_t care, int s>
  __device__ __forceinline__ void step(const job_t &job, const tile_t &t, int q, mg_real_t *to,
                                       mg_real_t *to_previous) {
    const int p = q - 1 - s, beyond = DEPTH - 1 - s;
    if (care == CAREFUL && (p < t.first - beyond || p >= t.end + beyond)) return;
    const both_t both = load_both<care, s>(p);
    const mg_row_t row[2] = {row_of<s>(both, job, 0), row_of<s>(both, job, 1)};
    const walls_t walls[2] = {this->template walls<care>(job.l.p, 0, p),
                              this->template walls<care>(job.l.p, 1, p)};
    if constexpr (s == 0) {
      const mg_real_t d[2] = {diagonal<care>(job, walls[0], row[0]),
                              diagonal<care>(job, walls[1], row[1])};
      mg_reciprocals(d, this->least, dinv[0]);
    }
    mg_real_t value[2];
#pragma unroll
    for (int c = 0; c < 2; c++) {
      const mg_values7_t v = x_of<s>(both, c);
      const mg_real_t ax = apply<care>(job, walls[c], row[c], v);
      /* In the registers of the previous step this plane is the lowest one. */
      const mg_real_t before = s == 0 ? previous_in[c] : x[s > 0 ? s - 1 : 0][0][c];
      const mg_real_t previous = job.c1[s] == MG_REAL(0.0) ? v.c : before;
      value[c] = mg_update(v.c, previous, ax, both.f[c], dinv[s][c], job.c1[s], job.c2[s]);
    }
    if constexpr (s < DEPTH - 1) {
      store_pair(pair + S::STEP + (2 * s + (p & 1)) * PLANE, value);
      x[s + 1][2][0] = value[0];
      x[s + 1][2][1] = value[1];
    }
    if (s == STEPS - 1 && writes && writes_plane<care, S>(t, p)) {
      store_pair(to + p * job.l.p.kstride, value);
      if (to_previous) store_pair(to_previous + p * job.l.p.kstride, x[s][1]);
    }
  }

  template <care_t care>
  __device__ __forceinline__ void add_residual(const job_t &job, const tile_t &t, int q) {
    const int p = q - 1 - STEPS;
    if (care == CAREFUL && (p < t.first || p >= t.end)) return;
    const both_t both = load_both<care, DEPTH - 1>(p);
    mg_real_t r[2];
#pragma unroll
    for (int c = 0; c < 2; c++) {
      r[c] = both.f[c] - apply<care>(job, this->template walls<care>(job.l.p, c, p),
                                     row_of<DEPTH - 1>(both, job, c), x_of<DEPTH - 1>(both, c));
    }
    residual.add(job, *this, p, r);
  }

  template <care_t care, int odd>
  __device__ __forceinline__ void steps(const job_t &job, const tile_t &t, int q, mg_real_t *to,
                                        mg_real_t *to_previous) {
    step<care, 0>(job, t, q, to, to_previous);
    step<care, 1>(job, t, q, to, to_previous);
    if constexpr (STEPS > 2) step<care, STEPS - 1>(job, t, q, to, to_previous);
    if constexpr (S::USE != RESIDUAL_UNUSED) add_residual<care>(job, t, q);
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

} // namespace mg_fused

#endif
