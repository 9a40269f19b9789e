/* Squares of one thread in the fused sweeps of float cells (fused/sweeps.cu): two rows of two
 * columns.
 *
 * With float cells, pairs (fused/columns.h) are limited by instruction issue. A square needs
 * fewer instructions per cell: half of a cell's neighbors in the plane are in registers, colors are
 * known at compile time, and all cells of a plane in one coarse cell belong to one thread. Double
 * cells would need twice the shared memory for tiles of 64 columns. Squares in tiles of 32 columns
 * leave only 8 warps per SM, which made F-cycles of 256^3 a fifth slower on an H100. */
#ifndef MG_CUDA_FUSED_SQUARES_H
#define MG_CUDA_FUSED_SQUARES_H

#include "cuda/fused/columns.h"
#include <type_traits>

namespace mg_fused {
/* What a step reads of a square in a plane, beside its own values. */
struct square_near_t {
  mg_real_t side[2][2];   /* neighbors of the rows in i: left, right */
  mg_real_t beside[2][2]; /* neighbors of the columns in j: below the first row, above the second */
  mg_real_t bi[2][3], bj[3][2], f[2][2], a[2][2];
};

/* Position of a thread's columns in its tile: two rows of two, [row][column]. Addresses are those
 * of plane 0 of shared memory. At the edge of the tile, a column is its own neighbor. */
template <typename S> struct square_position_t {
  int i, j;                /* cell of the first column */
  mg_real_t *at;           /* address of the first column */
  mg_real_t *left, *right; /* addresses of the neighbors in i of the first row */
  mg_real_t *low, *high;   /* addresses of the neighbors in j of the first column */
  mg_real_t *face;         /* address of beta_i right of the first row, and bytes to the second */
  int face_stride;
  int wall_i[2], wall_j[2]; /* walls of the columns and of the rows: see walls_t */
  bool writes[2];           /* whether this thread writes its cells in each row */
  float least[2];           /* argument of mg_reciprocals for each row */

  __device__ __forceinline__ void begin(mg_real_t *shared, const job_t &job, const tile_t &t, int) {
    const mg_patch_t &p = job.l.p;
    const int row = (int)threadIdx.x / LANES * 2, lane = (int)threadIdx.x % LANES;
    i = t.i0 + 2 * lane;
    j = t.j0 + row;
    at = shared + row * WIDTH + 2 * lane;
    left = lane == 0 ? at : at - 1;
    right = lane == LANES - 1 ? at + 1 : at + 2;
    low = row > 0 ? at - WIDTH : at;
    high = row < S::ROWS - 2 ? at + 2 * WIDTH : at + WIDTH;
    const bool edge = lane == LANES - 1 && ends_at_wall(p, t);
    face = edge ? shared + S::EDGE + (row - 1) * EDGE_WIDTH : right;
    face_stride = edge ? EDGE_WIDTH * VALUE : ROW;
    const lanes_t lanes = written_lanes(p, t);
    const bool column = lane >= lanes.from && lane < lanes.to && i >= 0 && i < p.n[0];
    for (int r = 0; r < 2; r++) {
      writes[r] = column && row + r >= S::MARGIN && row + r < S::ROWS - S::MARGIN && j + r < p.n[1];
      wall_i[r] = wall_side(p, 0, i + r);
      wall_j[r] = wall_side(p, 1, j + r);
      least[r] = mg_least_exponent(row + r > 0 && row + r < S::ROWS - 1 && may_use<S>(p, 0, i, 2) &&
                                   may_use<S>(p, 1, j + r, 1));
    }
  }

  /* Walls of column [r][c] in plane k. */
  template <care_t care>
  __device__ __forceinline__ walls_t walls(const mg_patch_t &p, int r, int c, int k) const {
    return {{wall_i[c], wall_j[r], care == CAREFUL ? wall_side(p, 2, k) : 0}};
  }

  /* Load from, or store to, the plane at a ring offset in one of the arrays of shape_t. */
  __device__ __forceinline__ void load(int plane, int array, mg_real_t v[2][2]) const {
    load_pair(at_byte(at, plane) + array, v[0]);
    load_pair(at_byte(at, plane) + array + WIDTH, v[1]);
  }
  __device__ __forceinline__ void store(int plane, int array, const mg_real_t v[2][2]) const {
    store_pair(at_byte(at, plane) + array, v[0]);
    store_pair(at_byte(at, plane) + array + WIDTH, v[1]);
  }
  /* Store those cells of plane p that this block writes; `to`: address of cell (i, j, 0). */
  __device__ __forceinline__ void write(const job_t &job, int p, mg_real_t *to,
                                        const mg_real_t v[2][2]) const {
    to += p * job.l.p.kstride;
    if (writes[0]) store_pair(to, v[0]);
    if (writes[1]) store_pair(to + job.l.p.jstride, v[1]);
  }
  __device__ __forceinline__ void clear(int plane) const {
    const mg_real_t zero[2][2] = {};
    store(plane, S::X, zero);
  }

  /* x: offset of the plane of the iterate; plane: ring offset of the other arrays. At the right
   * edge of tiles at a high wall, beta_i is in the box of shape_t::EDGE. */
  template <care_t care>
  __device__ __forceinline__ square_near_t load_near(int x, int plane) const {
    square_near_t near;
    load_pair(at_byte(low, x), near.beside[0]);
    load_pair(at_byte(high, x), near.beside[1]);
    const mg_real_t *const own = at_byte(at, plane);
#pragma unroll
    for (int r = 0; r < 2; r++) {
      near.side[r][0] = at_byte(left, x)[r * WIDTH];
      near.side[r][1] = at_byte(right, x)[r * WIDTH];
      load_pair(own + S::BI + r * WIDTH, near.bi[r]);
      near.bi[r][2] = care == PLAIN ? at_byte(right, plane)[S::BI + r * WIDTH]
                                    : at_byte(face, plane + r * face_stride)[S::BI];
      load_pair(own + S::BJ + r * WIDTH, near.bj[r]);
      load_pair(own + S::F + r * WIDTH, near.f[r]);
      if (S::VARIES) load_pair(own + S::ALPHA + r * WIDTH, near.a[r]);
    }
    load_pair(at_byte(high, plane) + S::BJ, near.bj[2]);
    return near;
  }

  /* x of column [r][c] and its neighbors; its values in the planes below, at and above it. */
  static __device__ __forceinline__ mg_values7_t x_of(const square_near_t &near,
                                                      const mg_real_t below[2][2],
                                                      const mg_real_t own[2][2],
                                                      const mg_real_t above[2][2], int r, int c) {
    mg_values7_t v;
    v.c = own[r][c];
    v.low[0] = c == 0 ? near.side[r][0] : own[r][0];
    v.high[0] = c == 0 ? own[r][1] : near.side[r][1];
    v.low[1] = r == 0 ? near.beside[0][c] : own[0][c];
    v.high[1] = r == 0 ? own[1][c] : near.beside[1][c];
    v.low[2] = below[r][c];
    v.high[2] = above[r][c];
    return v;
  }

  /* Coefficients of column [r][c]; bk: in its plane and in the plane above. */
  static __device__ __forceinline__ mg_row_t row_of(const job_t &job, const square_near_t &near,
                                                    const mg_real_t bk[2][2],
                                                    const mg_real_t bk_above[2][2], int r, int c) {
    return {{{near.bi[r][c], near.bi[r][c + 1]},
             {near.bj[r][c], near.bj[r + 1][c]},
             {bk[r][c], bk_above[r][c]}},
            S::VARIES ? near.a[r][c] : MG_REAL(job.a)};
  }
};

/* Columns of a colored smoother. Half sweeps update x in place, in registers and in shared memory:
 * a half sweep reads only the other color. In stage q, x[d] and x_at[d] belong to plane q - d. */
template <typename S> struct colored_squares_t : square_position_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH;
  using P = square_position_t<S>;
  using P::at, P::j;
  mg_real_t x[DEPTH + 2][2][2], dinv[STEPS][2][2], bk[DEPTH + 1][2][2];
  int x_at[DEPTH + 1],
      long_at[DEPTH]; /* ring offsets: of x, and of the arrays of plane q - 1 - d */
  int parity;         /* stage q changes cells [r][c] with r + c + q + parity even */
  square_residual_t<S> residual;

  /* Both colors and planes alternate from step to step, so one parity serves all steps. */
  static __device__ __forceinline__ int parity_of(const job_t &job, const tile_t &t) {
    return mg_parity(&job.l.p, 0, t.j0, 0) ^ job.color ^ 1;
  }
  __device__ __forceinline__ void begin(mg_real_t *shared, const job_t &job, const tile_t &t, int) {
    P::begin(shared, job, t, 0);
    parity = parity_of(job, t);
  }

  /* Load the values of these columns from a stage. */
  __device__ __forceinline__ void load_stage(const job_t &job, const slots_t &slot) {
    if (!S::INTERPOLATED) {
      if (!job.has_x) this->clear(slot.x);
      this->load(slot.x, S::X, x[0]);
    }
    this->load(slot.short_ring, S::BK, bk[0]);
    x_at[0] = slot.x;
    long_at[0] = slot.long_ring;
  }

  /* Set x of the stage's plane, whose values are in its ring too. */
  __device__ __forceinline__ void set_x(const mg_real_t v[2][2]) {
    for (int r = 0; r < 2; r++)
      x[0][r][0] = v[r][0], x[0][r][1] = v[r][1];
  }

  template <care_t care, int s> __device__ __forceinline__ square_near_t load_near() const {
    return P::template load_near<care>(x_at[s + 1], long_at[s]);
  }
  /* x and coefficients of column [r][c] in plane q - 1 - s. */
  template <int s>
  __device__ __forceinline__ mg_values7_t x_of(const square_near_t &near, int r, int c) const {
    return P::x_of(near, x[s + 2], x[s + 1], x[s], r, c);
  }
  template <int s>
  __device__ __forceinline__ mg_row_t row_of(const job_t &job, const square_near_t &near, int r,
                                             int c) const {
    return P::row_of(job, near, bk[s + 1], bk[s], r, c);
  }

  /* Half sweep s of stage q, which changes columns [r][c] with r + c even or odd. */
  template <care_t care, int s, int odd>
  __device__ __forceinline__ void half_sweep(const job_t &job, const tile_t &t, int q,
                                             mg_real_t *to) {
    const int p = q - 1 - s, beyond = DEPTH - 1 - s;
    if (care == CAREFUL && (p < t.first - beyond || p >= t.end + beyond)) return;
    const square_near_t near = load_near<care, s>();
    const mg_row_t row[2] = {row_of<s>(job, near, 0, odd), row_of<s>(job, near, 1, 1 - odd)};
    const walls_t walls[2] = {this->template walls<care>(job.l.p, 0, odd, p),
                              this->template walls<care>(job.l.p, 1, 1 - odd, p)};
    /* The third half sweep changes the same cells as the first, so it reuses their dinv. */
    if constexpr (s < 2) {
      const mg_real_t d[2] = {diagonal<care>(job, walls[0], row[0]),
                              diagonal<care>(job, walls[1], row[1])};
      mg_real_t inverse[2];
      mg_reciprocals(d, this->least, inverse);
      dinv[s][0][odd] = inverse[0];
      dinv[s][1][1 - odd] = inverse[1];
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
      const int c = r ^ odd;
      const mg_values7_t v = x_of<s>(near, r, c);
      const mg_real_t ax = apply<care>(job, walls[r], row[r], v);
      x[s + 1][r][c] =
          mg_relax(v.c, ax, near.f[r][c], dinv[s][r][c], S::WEIGHTED ? job.c2[s] : MG_REAL(1.0));
      if (s < DEPTH - 1) at_byte(at, x_at[s + 1])[S::X + r * WIDTH + c] = x[s + 1][r][c];
    }
    if (s == STEPS - 1 && writes_plane<care, S>(t, p)) this->write(job, p, to, x[s + 1]);
  }

  template <care_t care>
  __device__ __forceinline__ void add_residual(const job_t &job, const tile_t &t, int q) {
    const int p = q - 1 - STEPS;
    if (care == CAREFUL && (p < t.first || p >= t.end)) return;
    const square_near_t near = load_near<care, DEPTH - 1>();
    residual.template add_all<care>(
        job, *this, p, near.f, [&](int r, int c) { return row_of<DEPTH - 1>(job, near, r, c); },
        [&](int r, int c) { return x_of<DEPTH - 1>(near, r, c); });
  }

  template <care_t care, int odd>
  __device__ __forceinline__ void steps_of(const job_t &job, const tile_t &t, int q,
                                           mg_real_t *to) {
    half_sweep<care, 0, odd>(job, t, q, to);
    half_sweep<care, 1, odd>(job, t, q, to);
    if constexpr (STEPS > 2) half_sweep<care, STEPS - 1, odd>(job, t, q, to);
  }

  template <care_t care, int odd>
  __device__ __forceinline__ void steps(const job_t &job, const tile_t &t, int q, mg_real_t *to,
                                        mg_real_t *) {
    if (care == CAREFUL ? (q + parity) & 1 : odd)
      steps_of<care, 1>(job, t, q, to);
    else
      steps_of<care, 0>(job, t, q, to);
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
template <typename S> struct whole_squares_t : square_position_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH, PLANE = S::PLANE;
  using P = square_position_t<S>;
  /* x[s]: input of step s (s = STEPS: of the residual) in the planes below, at and above it. */
  mg_real_t x[DEPTH][3][2][2];
  mg_real_t dinv[STEPS][2][2], bk[DEPTH + 1][2][2], previous_in[2][2];
  int x_at,
      long_at[DEPTH]; /* ring offsets: x of plane q - 1; the other arrays of plane q - 1 - d */
  square_residual_t<S> residual;

  /* Load the values of these columns from a stage. */
  __device__ __forceinline__ void load_stage(const job_t &job, const slots_t &slot) {
    if (!S::INTERPOLATED) {
      if (!job.has_x) this->clear(slot.x);
      this->load(slot.x, S::X, x[0][2]);
    }
    this->load(slot.short_ring, S::BK, bk[0]);
    if (S::LOOKS_BACK && job.has_previous) this->load(slot.short_ring, S::PREVIOUS, previous_in);
    long_at[0] = slot.long_ring;
  }

  __device__ __forceinline__ void set_x(const mg_real_t v[2][2]) {
    for (int r = 0; r < 2; r++)
      x[0][2][r][0] = v[r][0], x[0][2][r][1] = v[r][1];
  }

  /* Plane in shared memory with the neighbors in i and j that step s reads in plane p. */
  __device__ __forceinline__ int input_of(int s, int p) const {
    return s == 0 ? x_at : (S::STEP + (2 * (s - 1) + (p & 1)) * PLANE) * VALUE;
  }

  /* x and coefficients of column [r][c] for step s. */
  template <int s>
  __device__ __forceinline__ mg_values7_t x_of(const square_near_t &near, int r, int c) const {
    return P::x_of(near, x[s][0], x[s][1], x[s][2], r, c);
  }
  template <int s>
  __device__ __forceinline__ mg_row_t row_of(const job_t &job, const square_near_t &near, int r,
                                             int c) const {
    return P::row_of(job, near, bk[s + 1], bk[s], r, c);
  }

  /* Inverse diagonals of a plane. */
  template <care_t care, int s>
  __device__ __forceinline__ void invert(const job_t &job, const square_near_t &near, int p) {
    const float least[4] = {this->least[0], this->least[0], this->least[1], this->least[1]};
    mg_real_t d[4], inverse[4];
#pragma unroll
    for (int m = 0; m < 4; m++)
      d[m] = diagonal<care>(job, this->template walls<care>(job.l.p, m / 2, m % 2, p),
                            row_of<s>(job, near, m / 2, m % 2));
    mg_reciprocals(d, least, inverse);
#pragma unroll
    for (int m = 0; m < 4; m++)
      dinv[s][m / 2][m % 2] = inverse[m];
  }

  /* Step s of stage q. The result goes to shared memory, or to the level after the last step.
   * In careful stages the plane may be unused or lack planes below it, as in the first ones. */
  template <care_t care, int s>
  __device__ __forceinline__ void step(const job_t &job, const tile_t &t, int q, mg_real_t *to,
                                       mg_real_t *to_previous) {
    const int p = q - 1 - s, beyond = DEPTH - 1 - s;
    if (care == CAREFUL && (p < t.first - beyond || p >= t.end + beyond)) return;
    const square_near_t near = this->template load_near<care>(input_of(s, p), long_at[s]);
    if constexpr (s == 0) invert<care, s>(job, near, p);
    mg_real_t value[2][2];
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
      for (int c = 0; c < 2; c++) {
        const mg_values7_t v = x_of<s>(near, r, c);
        const mg_real_t ax = apply<care>(job, this->template walls<care>(job.l.p, r, c, p),
                                         row_of<s>(job, near, r, c), v);
        /* In the registers of the previous step this plane is the lowest one. */
        const mg_real_t before = s == 0 ? previous_in[r][c] : x[s > 0 ? s - 1 : 0][0][r][c];
        const mg_real_t previous = job.c1[s] == MG_REAL(0.0) ? v.c : before;
        value[r][c] =
            mg_update(v.c, previous, ax, near.f[r][c], dinv[s][r][c], job.c1[s], job.c2[s]);
      }
    if constexpr (s < DEPTH - 1) {
      this->store((p & 1) * S::PLANE_BYTES, S::STEP + 2 * s * PLANE, value);
#pragma unroll
      for (int r = 0; r < 2; r++)
        x[s + 1][2][r][0] = value[r][0], x[s + 1][2][r][1] = value[r][1];
    }
    if (s == STEPS - 1 && writes_plane<care, S>(t, p)) {
      this->write(job, p, to, value);
      if (to_previous) this->write(job, p, to_previous, x[s][1]);
    }
  }

  template <care_t care>
  __device__ __forceinline__ void add_residual(const job_t &job, const tile_t &t, int q) {
    const int p = q - 1 - STEPS;
    if (care == CAREFUL && (p < t.first || p >= t.end)) return;
    const square_near_t near =
        this->template load_near<care>(input_of(DEPTH - 1, p), long_at[DEPTH - 1]);
    residual.template add_all<care>(
        job, *this, p, near.f, [&](int r, int c) { return row_of<DEPTH - 1>(job, near, r, c); },
        [&](int r, int c) { return x_of<DEPTH - 1>(near, r, c); });
  }

  template <care_t care, int>
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
} // namespace mg_fused

#endif
