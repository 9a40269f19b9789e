/* Squares of one thread in the fused sweeps of float cells (temporal.cu): two rows of two columns.
 *
 * With float cells, pairs (temporal_columns.h) are limited by instruction issue. A square needs
 * fewer instructions per cell: half of a cell's neighbors in the plane are in registers, colors are
 * known at compile time, and all cells of a plane in one coarse cell belong to one thread. Double
 * cells would need twice the shared memory for tiles of 64 columns. Squares in tiles of 32 columns
 * leave only 8 warps per SM, which made F-cycles of 256^3 a fifth slower on an H100. */
#ifndef MG_CUDA_TEMPORAL_SQUARES_H
#define MG_CUDA_TEMPORAL_SQUARES_H

#include "cuda/temporal_columns.h"
#include <type_traits>

namespace mg_temporal {
template <int N> __device__ __forceinline__ void shift(mg_real_t (&v)[N][2][2]) {
#pragma unroll
  for (int n = N - 1; n > 0; n--)
#pragma unroll
    for (int r = 0; r < 2; r++)
      v[n][r][0] = v[n - 1][r][0], v[n][r][1] = v[n - 1][r][1];
}

/* What a step reads of a square in a plane, beside its own values. */
struct square_near_t {
  mg_real_t side[2][2];   /* neighbors of the rows in i: left, right */
  mg_real_t beside[2][2]; /* neighbors of the columns in j: below the first row, above the second */
  mg_real_t bi[2][3], bj[3][2], f[2][2], a[2][2];
};

/* Position of a thread's columns in its tile: two rows of two, [row][column]. */
template <typename S> struct square_position_t {
  int i, j;        /* cell of the first column */
  int at;          /* its index in a plane of shared memory */
  int left, right; /* offsets of the neighbors in i of the left and of the right columns; 0 at the
                      edge of the tile */
  int low, high;  /* offsets of the neighbors in j of the first and of the second row; 0 likewise */
  bool writes[2]; /* whether this thread writes its cells in each row */

  __device__ __forceinline__ void begin(const job_t &job, const tile_t &t, int) {
    const mg_patch_t &p = job.l.p;
    const int row = (int)threadIdx.x / LANES * 2, lane = (int)threadIdx.x % LANES;
    i = t.i0 + 2 * lane;
    j = t.j0 + row;
    at = row * WIDTH + 2 * lane;
    left = lane == 0 ? 0 : -1;
    right = lane == LANES - 1 ? 0 : 1;
    low = row > 0 ? -WIDTH : 0;
    high = row < S::ROWS - 2 ? WIDTH : 0;
    const lanes_t lanes = written_lanes(p, t);
    const bool column = lane >= lanes.from && lane < lanes.to && i >= 0 && i < p.n[0];
    for (int r = 0; r < 2; r++)
      writes[r] = column && row + r >= S::MARGIN && row + r < S::ROWS - S::MARGIN && j + r < p.n[1];
  }

  __device__ __forceinline__ void load(const mg_real_t *plane, mg_real_t v[2][2]) const {
    load_pair(plane + at, v[0]);
    load_pair(plane + at + WIDTH, v[1]);
  }
  __device__ __forceinline__ void store(mg_real_t *plane, const mg_real_t v[2][2]) const {
    store_pair(plane + at, v[0]);
    store_pair(plane + at + WIDTH, v[1]);
  }
  /* Store those cells of plane p that this block writes; `to`: address of cell (i, j, 0). */
  __device__ __forceinline__ void write(const job_t &job, int p, mg_real_t *to,
                                        const mg_real_t v[2][2]) const {
    to += p * job.l.p.kstride;
    if (writes[0]) store_pair(to, v[0]);
    if (writes[1]) store_pair(to + job.l.p.jstride, v[1]);
  }
  __device__ __forceinline__ void clear(mg_real_t *plane) const {
    const mg_real_t zero[2][2] = {};
    store(plane, zero);
  }

  /* x: plane of the iterate; long_at: ring offset of the other arrays. At the right edge of tiles
   * at a high wall, beta_i is in the box of shape_t::EDGE. */
  template <bool careful>
  __device__ __forceinline__ square_near_t load_near(const mg_real_t *shared, const mg_real_t *x,
                                                     int long_at) const {
    const mg_real_t *const bi = shared + S::BI + long_at + at, *const bj =
                                                                   shared + S::BJ + long_at + at;
    square_near_t near;
    x += at;
    load_pair(x + low, near.beside[0]);
    load_pair(x + WIDTH + high, near.beside[1]);
#pragma unroll
    for (int r = 0; r < 2; r++) {
      near.side[r][0] = x[r * WIDTH + left];
      near.side[r][1] = x[r * WIDTH + 1 + right];
      load_pair(bi + r * WIDTH, near.bi[r]);
      near.bi[r][2] = bi[r * WIDTH + 1 + right];
      if (careful && right == 0)
        near.bi[r][2] = bi[S::EDGE + (at / WIDTH + r - 1) * EDGE_WIDTH - at];
      load_pair(bj + r * WIDTH, near.bj[r]);
    }
    load_pair(bj + WIDTH + high, near.bj[2]);
    load(shared + S::F + long_at, near.f);
    if (S::VARIES) load(shared + S::ALPHA + long_at, near.a);
    return near;
  }

  /* Stencil of column [r][c] with its values in the planes below, at and above; bk: in the planes
   * at and above. */
  static __device__ __forceinline__ mg_stencil_values_t
  stencil(const job_t &job, const square_near_t &near, const mg_real_t below[2][2],
          const mg_real_t own[2][2], const mg_real_t above[2][2], const mg_real_t bk[2][2],
          const mg_real_t bk_above[2][2], int r, int c) {
    mg_stencil_values_t v;
    v.x.c = own[r][c];
    v.x.low[0] = c == 0 ? near.side[r][0] : own[r][0];
    v.x.high[0] = c == 0 ? own[r][1] : near.side[r][1];
    v.x.low[1] = r == 0 ? near.beside[0][c] : own[0][c];
    v.x.high[1] = r == 0 ? own[1][c] : near.beside[1][c];
    v.x.low[2] = below[r][c];
    v.x.high[2] = above[r][c];
    v.beta[0][0] = near.bi[r][c];
    v.beta[0][1] = near.bi[r][c + 1];
    v.beta[1][0] = near.bj[r][c];
    v.beta[1][1] = near.bj[r + 1][c];
    v.beta[2][0] = bk[r][c];
    v.beta[2][1] = bk_above[r][c];
    v.a = S::VARIES ? near.a[r][c] : job.l.v.a;
    v.f = near.f[r][c];
    return v;
  }
};

/* The residuals of squares. */
template <typename S> struct square_residual_t : reduction_t<S> {
  using reduction_t<S>::below, reduction_t<S>::largest;

  /* r: residuals in plane p. */
  __device__ __forceinline__ void add(const job_t &job, const square_position_t<S> &at, int p,
                                      const mg_real_t r[2][2]) {
    if constexpr (S::USE == RESIDUAL_NORM) {
      for (int row = 0; row < 2; row++)
        if (at.writes[row])
          largest = max(largest, max(mg_max_bits(r[row][0]), mg_max_bits(r[row][1])));
    } else {
      const mg_real_t sum = r[0][0] + r[0][1] + (r[1][0] + r[1][1]);
      if (p % 2 != 0 && at.writes[0])
        job.coarse[at.i / 2 + at.j / 2 * job.coarse_jstride + p / 2 * job.coarse_kstride] =
            mg_mean_of_planes(below, sum);
      below = sum;
    }
  }

  /* Add the residuals in plane p. stencil(r, c): that of column [r][c]. */
  template <bool careful, typename F>
  __device__ __forceinline__ void add_all(const job_t &job, const square_position_t<S> &at, int p,
                                          F stencil) {
    mg_real_t residual[2][2], unused;
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
      for (int c = 0; c < 2; c++) {
        const mg_stencil_values_t v = stencil(r, c);
        residual[r][c] = v.f - apply<careful, false>(job.l, at.i + c, at.j + r, p, v, &unused);
      }
    add(job, at, p, residual);
  }
};

/* Columns of a colored smoother. Half sweeps update x in place, in registers and in shared memory:
 * a half sweep reads only the other color. In stage q, x[d] and x_at[d] belong to plane q - d. */
template <typename S> struct colored_squares_t : square_position_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH;
  using P = square_position_t<S>;
  using P::at, P::i, P::j, P::left, P::right, P::low, P::high;
  mg_real_t x[DEPTH + 2][2][2], dinv[STEPS][2][2], bk[DEPTH + 1][2][2];
  int x_at[DEPTH + 1],
      long_at[DEPTH]; /* ring offsets: of x, and of the arrays of plane q - 1 - d */
  int parity;         /* stage q changes cells [r][c] with r + c + q + parity even */
  square_residual_t<S> residual;

  __device__ __forceinline__ void begin(const job_t &job, const tile_t &t, int) {
    const mg_patch_t &p = job.l.p;
    P::begin(job, t, 0);
    /* Both colors and planes alternate from step to step, so one parity serves all steps. */
    parity = p.lo[0] ^ (p.lo[1] + j) ^ p.lo[2] ^ job.color ^ 1;
  }

  /* Load the values of these columns from a stage. */
  __device__ __forceinline__ void load_stage(mg_real_t *shared, const job_t &job,
                                             const slots_t &slot) {
    if (!S::INTERPOLATED) {
      if (!job.has_x) this->clear(shared + S::X + slot.x);
      this->load(shared + S::X + slot.x, x[0]);
    }
    this->load(shared + S::BK + slot.short_ring, bk[0]);
    x_at[0] = slot.x;
    long_at[0] = slot.long_ring;
  }

  /* Set x of the stage's plane, whose values are in its ring too. */
  __device__ __forceinline__ void set_x(const mg_real_t v[2][2]) {
    for (int r = 0; r < 2; r++)
      x[0][r][0] = v[r][0], x[0][r][1] = v[r][1];
  }

  /* Stencil of column [r][c] in plane q - 1 - s. */
  template <int s>
  __device__ __forceinline__ mg_stencil_values_t stencil(const job_t &job,
                                                         const square_near_t &near, int r,
                                                         int c) const {
    return P::stencil(job, near, x[s + 2], x[s + 1], x[s], bk[s + 1], bk[s], r, c);
  }

  /* Half sweep s of stage q, which changes columns [r][c] with r + c even or odd. */
  template <bool careful, int s, int odd>
  __device__ __forceinline__ void half_sweep(mg_real_t *shared, const job_t &job, const tile_t &t,
                                             int q, mg_real_t *to) {
    const int p = q - 1 - s, beyond = DEPTH - 1 - s;
    if (careful && (p < t.first - beyond || p >= t.end + beyond)) return;
    /* The third half sweep changes the same cells as the first, so it reuses their dinv. */
    constexpr bool needs_dinv = s < 2;
    const square_near_t near =
        this->template load_near<careful>(shared, shared + S::X + x_at[s + 1], long_at[s]);
#pragma unroll
    for (int r = 0; r < 2; r++) {
      const int c = r ^ odd;
      const mg_stencil_values_t v = stencil<s>(job, near, r, c);
      const mg_real_t ax = apply<careful, needs_dinv>(job.l, i + c, j + r, p, v, &dinv[s][r][c]);
      x[s + 1][r][c] =
          mg_relax(v.x.c, ax, v.f, dinv[s][r][c], S::WEIGHTED ? job.c2[s] : MG_REAL(1.0));
      if (s < DEPTH - 1) shared[S::X + x_at[s + 1] + at + r * WIDTH + c] = x[s + 1][r][c];
    }
    if (s == STEPS - 1 && writes_plane<careful, S>(t, p)) this->write(job, p, to, x[s + 1]);
  }

  template <bool careful>
  __device__ __forceinline__ void add_residual(const mg_real_t *shared, const job_t &job,
                                               const tile_t &t, int q) {
    const int p = q - 1 - STEPS;
    if (careful && (p < t.first || p >= t.end)) return;
    const square_near_t near =
        this->template load_near<careful>(shared, shared + S::X + x_at[DEPTH], long_at[DEPTH - 1]);
    residual.template add_all<careful>(
        job, *this, p, [&](int r, int c) { return stencil<DEPTH - 1>(job, near, r, c); });
  }

  template <bool careful, int odd>
  __device__ __forceinline__ void steps_of(mg_real_t *shared, const job_t &job, const tile_t &t,
                                           int q, mg_real_t *to) {
    half_sweep<careful, 0, odd>(shared, job, t, q, to);
    half_sweep<careful, 1, odd>(shared, job, t, q, to);
    if constexpr (STEPS > 2) half_sweep<careful, STEPS - 1, odd>(shared, job, t, q, to);
  }

  template <bool careful, int>
  __device__ __forceinline__ void steps(mg_real_t *shared, const job_t &job, const tile_t &t, int q,
                                        mg_real_t *to, mg_real_t *) {
    if ((q + parity) & 1)
      steps_of<careful, 1>(shared, job, t, q, to);
    else
      steps_of<careful, 0>(shared, job, t, q, to);
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
template <typename S> struct whole_squares_t : square_position_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH, PLANE = S::PLANE;
  using P = square_position_t<S>;
  using P::at, P::i, P::j, P::left, P::right, P::low, P::high;
  /* x[s]: input of step s (s = STEPS: of the residual) in the planes below, at and above it. */
  mg_real_t x[DEPTH][3][2][2];
  mg_real_t dinv[STEPS][2][2], bk[DEPTH + 1][2][2], previous_in[2][2];
  int x_at,
      long_at[DEPTH]; /* ring offsets: x of plane q - 1; the other arrays of plane q - 1 - d */
  square_residual_t<S> residual;

  /* Load the values of these columns from a stage. */
  __device__ __forceinline__ void load_stage(mg_real_t *shared, const job_t &job,
                                             const slots_t &slot) {
    if (!S::INTERPOLATED) {
      if (!job.has_x) this->clear(shared + S::X + slot.x);
      this->load(shared + S::X + slot.x, x[0][2]);
    }
    this->load(shared + S::BK + slot.short_ring, bk[0]);
    if (S::LOOKS_BACK && job.has_previous)
      this->load(shared + S::PREVIOUS + slot.short_ring, previous_in);
    long_at[0] = slot.long_ring;
  }

  __device__ __forceinline__ void set_x(const mg_real_t v[2][2]) {
    for (int r = 0; r < 2; r++)
      x[0][2][r][0] = v[r][0], x[0][2][r][1] = v[r][1];
  }

  /* Plane in shared memory with the neighbors in i and j that step s reads in plane p. */
  __device__ __forceinline__ const mg_real_t *input_of(const mg_real_t *shared, int s,
                                                       int p) const {
    return s == 0 ? shared + S::X + x_at : shared + S::STEP + (2 * (s - 1) + (p & 1)) * PLANE;
  }

  /* Stencil of column [r][c] for step s. */
  template <int s>
  __device__ __forceinline__ mg_stencil_values_t stencil(const job_t &job,
                                                         const square_near_t &near, int r,
                                                         int c) const {
    return P::stencil(job, near, x[s][0], x[s][1], x[s][2], bk[s + 1], bk[s], r, c);
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
    const square_near_t near =
        this->template load_near<careful>(shared, input_of(shared, s, p), long_at[s]);
    mg_real_t value[2][2];
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
      for (int c = 0; c < 2; c++) {
        const mg_stencil_values_t v = stencil<s>(job, near, r, c);
        const mg_real_t ax = apply<careful, needs_dinv>(job.l, i + c, j + r, p, v, &dinv[s][r][c]);
        /* In the registers of the previous step this plane is the lowest one. */
        const mg_real_t before = s == 0 ? previous_in[r][c] : x[s > 0 ? s - 1 : 0][0][r][c];
        const mg_real_t previous = job.c1[s] == MG_REAL(0.0) ? v.x.c : before;
        value[r][c] = mg_update(v.x.c, previous, ax, v.f, dinv[s][r][c], job.c1[s], job.c2[s]);
      }
    if constexpr (s < DEPTH - 1) {
      this->store(shared + S::STEP + (2 * s + (p & 1)) * PLANE, value);
#pragma unroll
      for (int r = 0; r < 2; r++)
        x[s + 1][2][r][0] = value[r][0], x[s + 1][2][r][1] = value[r][1];
    }
    if (s == STEPS - 1 && writes_plane<careful, S>(t, p)) {
      this->write(job, p, to, value);
      if (to_previous) this->write(job, p, to_previous, x[s][1]);
    }
  }

  template <bool careful>
  __device__ __forceinline__ void add_residual(const mg_real_t *shared, const job_t &job,
                                               const tile_t &t, int q) {
    const int p = q - 1 - STEPS;
    if (careful && (p < t.first || p >= t.end)) return;
    const square_near_t near = this->template load_near<careful>(
        shared, input_of(shared, DEPTH - 1, p), long_at[DEPTH - 1]);
    residual.template add_all<careful>(
        job, *this, p, [&](int r, int c) { return stencil<DEPTH - 1>(job, near, r, c); });
  }

  template <bool careful, int>
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
      for (int r = 0; r < 2; r++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
          x[s][0][r][c] = x[s][1][r][c];
          x[s][1][r][c] = x[s][2][r][c];
        }
    shift(dinv);
    shift(bk);
    shift(long_at);
    x_at = slot.x;
  }
};

template <typename S, typename pairs, typename squares>
using by_cells_t = typename std::conditional<S::SQUARES, squares, pairs>::type;
template <typename S>
using columns_t =
    typename std::conditional<S::COLORED, by_cells_t<S, colored_columns_t<S>, colored_squares_t<S>>,
                              by_cells_t<S, whole_columns_t<S>, whole_squares_t<S>>>::type;
} // namespace mg_temporal

#endif
