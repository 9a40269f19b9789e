/* Cells of one thread in a plane, in the fused sweeps of fused/sweeps.cu: a pair of a row, or a
 * square, which are two pairs. Also what a step reads at and around them.
 *
 * With float cells, pairs are limited by instruction issue. A square needs fewer instructions per
 * cell: half of a cell's neighbors in the plane are in registers, colors are known at compile time,
 * and all cells of a plane in one coarse cell belong to one thread. For tiles of 64 columns, double
 * cells need twice the shared memory: there is room without rings of betas. Squares in tiles of 32
 * columns leave only 8 warps per SM, which made F-cycles of 256^3 a fifth slower on an H100.
 *
 * Cells are [row][column]. Results in the first and the last row of a tile are never valid, and
 * neither are those next to the left and the right edge except at walls. */
#ifndef MG_CUDA_FUSED_CELLS_H
#define MG_CUDA_FUSED_CELLS_H

#include "cuda/fused/walls.h"
#include "cuda/runtime/reciprocal.h"
#include <type_traits>

namespace mg_fused {
constexpr unsigned FULL_WARP = 0xffffffffu;

/* Position in the tile. Addresses are in plane 0 of shared memory; offsets of planes are in bytes.
 */
template <typename S> struct position_t {
  static constexpr int PAIRS = S::PAIRS;
  int i, j;                     /* first cell */
  mg_real_t *at;                /* its address */
  int wall_i[2], wall_j[PAIRS]; /* walls of the columns and of the rows: see walls_t */
  bool writes[PAIRS];           /* whether this thread writes its cells in each row */
  bool swapped;                 /* column 0 is the right one */
  float least[PAIRS];           /* argument of mg_reciprocals for each row */

  __device__ __forceinline__ void begin(mg_real_t *shared, const mg_patch_t &p, const tile_t &t,
                                        int row, int lane) {
    i = t.i0 + 2 * lane;
    j = t.j0 + row;
    at = shared + row * S::WIDTH + 2 * lane;
    swapped = false;
    const lanes_t lanes = written_lanes<S>(p, t);
    const bool column = lane >= lanes.from && lane < lanes.to && i >= 0 && i < p.n[0];
#pragma unroll
    for (int c = 0; c < 2; c++)
      wall_i[c] = wall_side(p, 0, i + c);
#pragma unroll
    for (int r = 0; r < PAIRS; r++) {
      writes[r] = column && row + r >= S::MARGIN && row + r < S::ROWS - S::MARGIN && j + r < p.n[1];
      wall_j[r] = wall_side(p, 1, j + r);
      least[r] = mg_least_exponent(row + r > 0 && row + r < S::ROWS - 1 && may_use<S>(p, 0, i, 2) &&
                                   may_use<S>(p, 1, j + r, 1));
    }
  }

  /* Walls of cell [r][c] in plane k. */
  template <care_t care>
  __device__ __forceinline__ walls_t walls(const mg_patch_t &p, int r, int c, int k) const {
    return {{wall_i[c], wall_j[r], care == CAREFUL ? wall_side(p, 2, k) : 0}};
  }

  /* Load from, or store to, the plane at a ring offset in one of the arrays of shape_t. */
  __device__ __forceinline__ void load(int plane, int array, mg_real_t v[PAIRS][2]) const {
#pragma unroll
    for (int r = 0; r < PAIRS; r++)
      load_pair(at_byte(at, plane) + array + r * S::WIDTH, v[r]);
  }
  __device__ __forceinline__ void store(int plane, int array, const mg_real_t v[PAIRS][2]) const {
#pragma unroll
    for (int r = 0; r < PAIRS; r++)
      store_pair(at_byte(at, plane) + array + r * S::WIDTH, v[r]);
  }
  __device__ __forceinline__ void clear(int plane) const {
    const mg_real_t zero[PAIRS][2] = {};
    store(plane, S::X, zero);
  }

  /* Store those cells of plane p that this block writes; `to`: address of cell (i, j, 0). */
  __device__ __forceinline__ void write(const job_t &job, int p, mg_real_t *to,
                                        const mg_real_t v[PAIRS][2]) const {
    to += p * job.l.p.kstride;
#pragma unroll
    for (int r = 0; r < PAIRS; r++) {
      if (!writes[r]) continue;
      const mg_real_t values[2] = {swapped ? v[r][1] : v[r][0], swapped ? v[r][0] : v[r][1]};
      store_pair(to + r * job.l.p.jstride, values);
    }
  }
};

/* Constant coefficients of a cell without walls (walls.h). */
MG_INLINE mg_row_t constant_row(const job_t &job) {
  return {{{job.beta[0], job.beta[0]}, {job.beta[1], job.beta[1]}, {job.beta[2], job.beta[2]}},
          job.a};
}

/* What a step reads of a thread's cells in a plane, in addition to their values. */
template <typename S> struct near_t {
  static constexpr int PAIRS = S::PAIRS;
  mg_real_t side[PAIRS][2]; /* neighbors of the rows in i: left, right */
  mg_real_t beside[2][2];   /* neighbors of the columns in j: below the first row, above the last */
  mg_real_t bi[PAIRS][3], bj[PAIRS + 1][2], f[PAIRS][2], a[PAIRS][2];

  /* x of cell [r][c] and its neighbors; the cells' values in the planes below, at and above it. */
  __device__ __forceinline__ mg_values7_t x_of(const mg_real_t below[PAIRS][2],
                                               const mg_real_t own[PAIRS][2],
                                               const mg_real_t above[PAIRS][2], int r,
                                               int c) const {
    mg_values7_t v;
    v.c = own[r][c];
    v.low[0] = c == 0 ? side[r][0] : own[r][0];
    v.high[0] = c == 0 ? own[r][1] : side[r][1];
    v.low[1] = r == 0 ? beside[0][c] : own[0][c];
    v.high[1] = r == PAIRS - 1 ? beside[1][c] : own[PAIRS - 1][c];
    v.low[2] = below[r][c];
    v.high[2] = above[r][c];
    return v;
  }

  /* Coefficients of cell [r][c]; bk: in its plane and in the plane above. */
  __device__ __forceinline__ mg_row_t row_of(const job_t &job, const mg_real_t bk[PAIRS][2],
                                             const mg_real_t bk_above[PAIRS][2], int r,
                                             int c) const {
    if (S::CONSTANT) return constant_row(job);
    return {{{bi[r][c], bi[r][c + 1]}, {bj[r][c], bj[r + 1][c]}, {bk[r][c], bk_above[r][c]}},
            S::VARIES ? a[r][c] : MG_REAL(job.a)};
  }
  __device__ __forceinline__ mg_real_t f_of(int r, int c) const { return f[r][c]; }
};

/* A square; a warp has those of two rows. At the edge of the tile, neighbors are cells of the
 * square. */
template <typename S> struct square_t : position_t<S> {
  using P = position_t<S>;
  using P::at;
  mg_real_t *low, *high; /* addresses of the neighbors in j of the first column */
  mg_real_t *right;      /* address of the neighbor in i of the first row */
  mg_real_t *face;       /* address of beta_i right of the first row, and bytes to the second */
  int face_stride;

  __device__ __forceinline__ void begin(mg_real_t *shared, const job_t &job, const tile_t &t, int) {
    const int row = (int)threadIdx.x / S::LANES * 2, lane = (int)threadIdx.x % S::LANES;
    P::begin(shared, job.l.p, t, row, lane);
    right = lane == S::LANES - 1 ? at + 1 : at + 2;
    low = row > 0 ? at - S::WIDTH : at;
    high = row < S::ROWS - 2 ? at + 2 * S::WIDTH : at + S::WIDTH;
    const bool edge = lane == S::LANES - 1 && ends_at_wall<S>(job.l.p, t);
    face = edge ? shared + S::EDGE + (row - 1) * EDGE_WIDTH : right;
    face_stride = edge ? EDGE_WIDTH * VALUE : S::ROW_BYTES;
  }

  __device__ __forceinline__ void load_beta(int plane, int array, mg_real_t v[2][2]) const {
    this->load(plane, array, v);
  }
  __device__ __forceinline__ void put(int plane, int r, int c, mg_real_t value) const {
    at_byte(at, plane)[S::X + r * S::WIDTH + c] = value;
  }

  /* x: offset of the plane of the iterate; plane: ring offset of the other arrays. At the right
   * edge of tiles at a high wall, beta_i is in the box of shape_t::EDGE. */
  template <care_t care>
  __device__ __forceinline__ near_t<S> load_near(int x, int plane,
                                                 const mg_real_t x_own[2][2]) const {
    near_t<S> near;
    load_pair(at_byte(low, x), near.beside[0]);
    load_pair(at_byte(high, x), near.beside[1]);
    const mg_real_t *const own = at_byte(at, plane);
#pragma unroll
    for (int r = 0; r < 2; r++) {
      near.side[r][0] = __shfl_up_sync(FULL_WARP, x_own[r][1], 1);
      near.side[r][1] = __shfl_down_sync(FULL_WARP, x_own[r][0], 1);
      if (!S::CONSTANT) {
        load_pair(own + S::BI + r * S::WIDTH, near.bi[r]);
        near.bi[r][2] = care == PLAIN ? at_byte(right, plane)[S::BI + r * S::WIDTH]
                                      : at_byte(face, plane + r * face_stride)[S::BI];
        load_pair(own + S::BJ + r * S::WIDTH, near.bj[r]);
      }
      load_pair(own + S::F + r * S::WIDTH, near.f[r]);
      if (S::VARIES) load_pair(own + S::ALPHA + r * S::WIDTH, near.a[r]);
    }
    if (!S::CONSTANT) load_pair(at_byte(high, plane) + S::BJ, near.bj[2]);
    return near;
  }
};

/* A pair. In the first and in the last row it reads what others read two rows inward, which no
 * other thread changes at the same time. */
template <typename S> struct pair_t : position_t<S> {
  using P = position_t<S>;
  using P::at;
  mg_real_t *near;  /* `at`, or two rows inward */
  mg_real_t *edge;  /* address of beta_i right of the tile; elsewhere than at a wall any beta_i */
  bool first, last; /* in its row */

  __device__ __forceinline__ void begin(mg_real_t *shared, const mg_patch_t &p, const tile_t &t,
                                        int row, int lane) {
    P::begin(shared, p, t, row, lane);
    const int inward = row == 0 ? 2 * S::WIDTH : row == S::ROWS - 1 ? -2 * S::WIDTH : 0;
    near = at + inward;
    edge = ends_at_wall<S>(p, t) ? shared + S::EDGE + (row + inward / S::WIDTH - 1) * EDGE_WIDTH
                                 : near;
    first = lane == 0;
    last = lane == S::LANES - 1;
  }
};

/* A pair of which steps change both cells. */
template <typename S> struct whole_pair_t : pair_t<S> {
  using P = pair_t<S>;
  using P::edge, P::last;

  __device__ __forceinline__ void begin(mg_real_t *shared, const job_t &job, const tile_t &t, int) {
    P::begin(shared, job.l.p, t, (int)threadIdx.x / S::LANES, (int)threadIdx.x % S::LANES);
  }

  __device__ __forceinline__ void load_beta(int plane, int array, mg_real_t v[1][2]) const {
    load_pair(at_byte(P::near, plane) + array, v[0]);
  }

  /* As square_t's; x_own: the values of the cells. */
  template <care_t care>
  __device__ __forceinline__ near_t<S> load_near(int x, int plane,
                                                 const mg_real_t x_own[1][2]) const {
    const mg_real_t *const in = at_byte(P::near, x), *const own = at_byte(P::near, plane);
    near_t<S> b;
    load_pair(in - S::WIDTH, b.beside[0]);
    load_pair(in + S::WIDTH, b.beside[1]);
    load_pair(own + S::F, b.f[0]);
    if (S::VARIES) load_pair(own + S::ALPHA, b.a[0]);
    b.side[0][0] = __shfl_up_sync(FULL_WARP, x_own[0][1], 1, S::LANES);
    b.side[0][1] = __shfl_down_sync(FULL_WARP, x_own[0][0], 1, S::LANES);
    if (S::CONSTANT) return b;
    load_pair(own + S::BI, b.bi[0]);
    load_pair(own + S::BJ, b.bj[0]);
    load_pair(own + S::BJ + S::WIDTH, b.bj[1]);
    b.bi[0][2] = __shfl_down_sync(FULL_WARP, b.bi[0][0], 1, S::LANES);
    if (care != PLAIN && last) b.bi[0][2] = at_byte(edge, plane)[S::BI];
    return b;
  }
};

/* A pair of a colored smoother. Half sweeps update column 0 in even stages (counted from the
 * block's first) and column 1 in odd ones, so column 0 is the left column in one row and the right
 * one in the next. Only values of the updated cell are loaded, when they are used. */
template <typename S> struct colored_pair_t : pair_t<S> {
  using P = pair_t<S>;
  using P::at, P::edge, P::swapped;
  /* Addresses of the columns, the same as pair_t::near, and of the neighbors of those in i. */
  mg_real_t *cell[2], *near[2], *left[2], *right[2];

  __device__ __forceinline__ void begin(mg_real_t *shared, const job_t &job, const tile_t &t,
                                        int first_stage) {
    /* A half-warp has eight columns of one color in each of two rows, which use all banks. */
    const int row = (int)threadIdx.x / 32 * 2 + (int)threadIdx.x / 8 % 2,
              lane = (int)threadIdx.x / 16 % 2 * 8 + (int)threadIdx.x % 8;
    const mg_patch_t &p = job.l.p;
    P::begin(shared, p, t, row, lane);
    /* Both colors and planes alternate from step to step, so one parity serves all steps. */
    const int parity = mg_parity(&p, 0, this->j, 0) ^ job.color;
    swapped = ((parity + first_stage - 1) & 1) != 0;
#pragma unroll
    for (int c = 0; c < 2; c++) {
      const int side = swapped ? 1 - c : c;
      cell[c] = at + side;
      near[c] = P::near + side;
      left[c] = near[c] + (P::first && side == 0 ? 1 : -1);
      right[c] = near[c] + (P::last && side == 1 ? -1 : 1);
      this->wall_i[c] = wall_side(p, 0, this->i + side);
    }
  }

  __device__ __forceinline__ void load(int plane, int array, mg_real_t v[1][2]) const {
    v[0][0] = at_byte(cell[0], plane)[array];
    v[0][1] = at_byte(cell[1], plane)[array];
  }
  __device__ __forceinline__ void load_beta(int plane, int array, mg_real_t v[1][2]) const {
    v[0][0] = at_byte(near[0], plane)[array];
    v[0][1] = at_byte(near[1], plane)[array];
  }
  __device__ __forceinline__ void put(int plane, int, int c, mg_real_t value) const {
    at_byte(cell[c], plane)[S::X] = value;
  }

  /* The same as near_t, loaded on use. */
  struct lazy_t {
    const colored_pair_t &at;
    int x, plane;
    bool plain;

    __device__ __forceinline__ mg_values7_t x_of(const mg_real_t below[1][2],
                                                 const mg_real_t own[1][2],
                                                 const mg_real_t above[1][2], int, int c) const {
      mg_values7_t v;
      v.c = own[0][c];
      v.low[0] = at_byte(at.left[c], x)[S::X];
      v.high[0] = at_byte(at.right[c], x)[S::X];
      v.low[1] = at_byte(at.near[c], x)[S::X - S::WIDTH];
      v.high[1] = at_byte(at.near[c], x)[S::X + S::WIDTH];
      v.low[2] = below[0][c];
      v.high[2] = above[0][c];
      return v;
    }
    /* Right of the tile beta_i is in the box of shape_t::EDGE, which only tiles at a high wall use.
     */
    __device__ __forceinline__ mg_row_t row_of(const job_t &job, const mg_real_t bk[1][2],
                                               const mg_real_t bk_above[1][2], int, int c) const {
      if (S::CONSTANT) return constant_row(job);
      const mg_real_t *const own = at_byte(at.near[c], plane);
      const mg_real_t *const face = plain || at.right[c] > at.near[c] ? at.right[c] : at.edge;
      const mg_real_t bi = at_byte(face, plane)[S::BI];
      return {{{own[S::BI], bi}, {own[S::BJ], own[S::BJ + S::WIDTH]}, {bk[0][c], bk_above[0][c]}},
              S::VARIES ? own[S::ALPHA] : job.a};
    }
    __device__ __forceinline__ mg_real_t f_of(int, int c) const {
      return at_byte(at.near[c], plane)[S::F];
    }
  };
  template <care_t care>
  __device__ __forceinline__ lazy_t load_near(int x, int plane, const mg_real_t[1][2]) const {
    return {*this, x, plane, care == PLAIN};
  }
};

template <typename S>
using cells_t = typename std::conditional<
    S::SQUARES, square_t<S>,
    typename std::conditional<S::COLORED, colored_pair_t<S>, whole_pair_t<S>>::type>::type;
} // namespace mg_fused

#endif
