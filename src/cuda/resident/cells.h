/* The cells of one thread of a resident smooth (resident/sweeps.cu): their coefficients, values,
 * and steps.
 *
 * A thread has a pair of cells of one row, or of two or four rows that are adjacent in j. In a
 * pair, cell 0 is the one that colored steps update first; in other steps it is the lower one.
 * Shared memory has the values of all cells 0 of the tile, then of all cells 1. So the neighbors
 * that a warp reads are contiguous. Values of other tiles are in registers: across a face, only one
 * thread needs them.
 *
 * All loads of a step are issued together: of the tile, of other tiles and at walls. The neighbors
 * are then selected from them. Values are sent as soon as they are computed.
 *
 * Four rows (wide tiles): a thread does not have the registers for that. Its inner rows need no
 * values of tiles beside it in j, so their update hides the latency of these. */
#ifndef MG_CUDA_RESIDENT_CELLS_H
#define MG_CUDA_RESIDENT_CELLS_H

#include "cuda/cells/stencil_load.h"
#include "cuda/resident/job.h"
#include "cuda/resident/mailboxes.h"
#include "cuda/runtime/dependent_launch.h"

namespace mg_resident {
/** @tparam VARIES  false: alpha does not vary, which saves registers
 *  @tparam ROWS    rows per thread */
template <bool COLORED_, bool VARIES, int ROWS_> struct cells_t {
  static constexpr bool COLORED = COLORED_;
  static constexpr int ROWS = ROWS_;
  static constexpr bool WIDE = ROWS == MG_RESIDENT_WIDE_ROWS; /* coefficients in shared memory */
  static constexpr int WIDTH = COLORED ? 1 : 2;    /* words per pair and face in a step */
  static constexpr int WORDS = (ROWS + 1) * WIDTH; /* that a thread receives in a step, at most: */
  static constexpr int WORDS_OF_K = ROWS * WIDTH;  /* first those of other tiles in k */
  static constexpr int LINE = WIDE ? MG_RESIDENT_WIDE_PAIRS : MG_RESIDENT_MAX_PAIRS;
  typedef shared_t<COLORED, ROWS> block_t;
  typedef rows_t<0, 1, ROWS> all_t;
  static constexpr int PITCH = block_t::PITCH;

  const job_t &job;
  block_t &shared;
  place_t here;
  int place, low_k, high_k; /* of the first pair and of the ones beside it, in shared memory */
  int outer[2];             /* place of the pair beside cell 0 or 1 of the first row */
  int phase;                /* cell 0 of the first row is the upper one of its pair */
  unsigned flags;           /* side_t, of the thread's rows */
  unsigned in_j, out_j;     /* index of a word in the mailboxes; */
  unsigned in_k, out_k;     /* of the first row */
  mg_row_t row[ROWS][2];    /* of a pair: cells 0 and 1; not of wide tiles */
  mg_real_t dinv[ROWS][2];  /* colored: c2 / diagonal */
  mg_real_t f[ROWS][2], x[ROWS][2];
  mg_real_t across_j[WIDTH], across_k[ROWS][WIDTH]; /* values of other tiles */

  /** Whether cell c of row r is the upper one of its pair. */
  __device__ __forceinline__ int upper(int r, int c) const {
    return COLORED ? phase ^ ((r ^ c) & 1) : c;
  }
  /** The cells, 0 or 1, that are neighbors of cells c in j and k. */
  static __device__ __forceinline__ constexpr int beside(int c) { return COLORED ? 1 - c : c; }
  __device__ __forceinline__ bool has(unsigned sides) const { return (flags & sides) != 0; }
  /** Whether the outer neighbor of cell c of row r is outside a wall. */
  __device__ __forceinline__ bool outer_is_wall(int r, int c) const {
    return has((COLORED ? (r ^ c) & 1 : c) ? WALL_OF_1 : WALL_OF_0);
  }
  /** Offset of the pair of row r in the vectors. */
  __device__ __forceinline__ int offset(int r) const {
    return (int)(here.i + (here.j + r) * job.l.p.jstride + here.k * job.l.p.kstride);
  }

  __device__ __forceinline__ cells_t(const job_t &job_, block_t &shared_)
      : job(job_), shared(shared_), here(place_of(job_.tiles, ROWS_)), across_j(), across_k() {
    const mg_resident_tiles_t &t = job.tiles;
    const mg_patch_t &p = job.l.p;
    const int plane = block_t::plane(t.rows[0]);
    place = PITCH + here.pair + here.row[0] * PITCH + here.row[1] * plane;
    phase = COLORED ? (mg_parity(&p, 0, here.j, here.k) ^ job.color) & 1 : 0;
    const bool first = here.pair == 0, last = here.pair == t.pairs - 1;
    const int beside_low = place + (!first ? -1 : t.pairs - 1),
              beside_high = place + (!last ? 1 : 1 - t.pairs);
    outer[0] = phase ? beside_high : beside_low;
    outer[1] = phase ? beside_low : beside_high;
    const bool wall_low = first && p.wall[0][0], wall_high = last && p.wall[0][1];
    flags = ((phase ? wall_high : wall_low) ? WALL_OF_0 : 0u) |
            ((phase ? wall_low : wall_high) ? WALL_OF_1 : 0u);
    in_j = out_j = in_k = out_k = 0;
    add_side(0, false);
    add_side(0, true);
    add_side(1, false);
    add_side(1, true);
    low_k = has(K_LOW_TILE | K_LOW_WALL) ? place : place - plane;
    high_k = has(K_HIGH_TILE | K_HIGH_WALL) ? place : place + plane;
    if constexpr (WIDE)
      share_coefficients();
    else
      load_coefficients();
  }

  /** Set the flags and words of one side in direction d, 0: j, 1: k. */
  __device__ __forceinline__ void add_side(int d, bool high) {
    const side_t side = side_of(job, here, d, high, d == 0 ? here.row[0] + ROWS - 1 : here.row[1]);
    if (side.beyond == TILE) return;
    flags |= (side.beyond == WALL ? J_LOW_WALL : J_LOW_TILE) << (2 * d + (high ? 1 : 0));
    if (side.beyond == WALL) return;
    (d == 0 ? in_j : in_k) = index_of(here.block, side.in);
    (d == 0 ? out_j : out_k) = index_of(side.other, side.out);
  }

  /** Index of the word of a line that belongs to this thread's pair. */
  __device__ __forceinline__ unsigned index_of(int block, int line) const {
    return (unsigned)(block * 4 * MG_RESIDENT_MAX_WORDS +
                      (line * WIDTH * LINE + here.pair) * MG_WORD_HALVES);
  }

  __device__ __forceinline__ void load_coefficients() {
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int c = 0; c < 2; c++) {
        const int i = here.i + upper(r, c), j = here.j + r;
        row[r][c] = mg_row<VARIES>(&job.l, i, j, here.k);
        dinv[r][c] = mg_row_dinv<false>(&job.l, row[r][c], i, j, here.k);
        if (COLORED) dinv[r][c] *= job.c2[0]; /* off the path from step to step */
        mg_cuda_force(dinv[r][c]);
      }
#pragma unroll
    for (int c = 0; c < 2; c++) {
      /* The same faces, in the same registers. */
      if (ROWS == 2) row[ROWS - 1][beside(c)].beta[1][0] = row[0][c].beta[1][1];
      if (!COLORED && c == 0)
#pragma unroll
        for (int r = 0; r < ROWS; r++)
          row[r][1].beta[0][0] = row[r][0].beta[0][1];
    }
  }

  /** With coefficients in shared memory. All threads of the block call it. */
  __device__ __forceinline__ void share_coefficients() {
    shared.load_betas(job.l.p, here, place, phase, here.pair == job.tiles.pairs - 1);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int c = 0; c < 2; c++)
        dinv[r][c] =
            mg_row_dinv<false>(&job.l, row_of(r, c), here.i + upper(r, c), here.j + r, here.k) *
            job.c2[0];
  }

  /** Coefficients of cell c of row r. */
  __device__ __forceinline__ mg_row_t row_of(int r, int c) const {
    if constexpr (WIDE)
      return shared.row(place + r * PITCH, c, upper(r, c),
                        VARIES ? job.l.p.vec[MG_ALPHA][offset(r) + upper(r, c)] : job.l.v.a);
    else
      return row[r][c];
  }

  /* ---- first iterate ---- */

  /** Whether the first iterate is zero. */
  __device__ __forceinline__ bool is_zero() const {
    return job.x < 0 && !job.u;
  }

  /** Load f and x. */
  __device__ __forceinline__ void load_values() {
    const bool has_x = job.x >= 0;
    const mg_real_t *const from = job.l.p.vec[has_x ? job.x : MG_F]; /* no branch at the loads */
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      load_pair(job.l.p.vec[MG_F] + offset(r), upper(r, 0), f[r]);
      load_pair(from + offset(r), upper(r, 0), x[r]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int c = 0; c < 2; c++)
        x[r][c] = has_x ? x[r][c] : MG_REAL(0.0);
  }

  /** Add to x of the lower and the upper cell of a pair; without x, replace it. */
  __device__ __forceinline__ void add_to_x(int r, mg_real_t low, mg_real_t high) {
    const bool swapped = upper(r, 0);
    const mg_real_t y[2] = {swapped ? high : low, swapped ? low : high};
#pragma unroll
    for (int c = 0; c < 2; c++)
      x[r][c] = job.x >= 0 ? x[r][c] + y[c] : y[c];
  }

  __device__ __forceinline__ void store_shared(int r, int c, int buffer) {
    shared.x[buffer][c][place + r * PITCH] = x[r][c];
  }
  __device__ __forceinline__ void share_values() {
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      store_shared(r, 0, 0);
      store_shared(r, 1, 0);
    }
  }

  /* ---- messages ---- */

  __device__ __forceinline__ uint64_t *word_at(unsigned index, int parity, int shift) const {
    return job.mail->half[0][0] + index + 2 * MG_RESIDENT_MAX_WORDS * parity +
           MG_WORD_HALVES * LINE * shift;
  }
  /** Whether row r, the first or the last, is next to another tile in j. */
  __device__ __forceinline__ bool is_at_j(int r) const {
    return ROWS == 1 ? has(J_LOW_TILE | J_HIGH_TILE) : has(r == 0 ? J_LOW_TILE : J_HIGH_TILE);
  }
  __device__ __forceinline__ bool is_at_k() const {
    return has(K_LOW_TILE | K_HIGH_TILE);
  }

  /** Send x of cell c of row r; w: its word. */
  __device__ __forceinline__ void send(int r, int c, int w, unsigned number, int parity) const {
    if (!WIDE || is_at_k())
      mg_word_store(word_at(out_k, parity, r * WIDTH + w), is_at_k(), x[r][c], number);
    if (r == 0 || r == ROWS - 1)
      mg_word_store(word_at(out_j, parity, w), is_at_j(r), x[r][c], number);
  }

  /** Receive the values of other tiles. All words are requested until all have arrived; none
   * changes before the thread has sent its next ones.
   * @tparam FIRST, END  words */
  template <int FIRST = 0, int END = WORDS>
  __device__ __forceinline__ void receive(unsigned number, int parity) {
    mg_word_t word[END - FIRST];
    mg_words_receive(word, number, [&](int at, mg_word_t *to) {
      const int w = FIRST + at;
      const bool of_j = w / WIDTH == ROWS;
      mg_word_load(word_at(of_j ? in_j : in_k, parity, of_j ? w % WIDTH : w),
                   of_j ? has(J_LOW_TILE | J_HIGH_TILE) : is_at_k(), number, to);
    });
#pragma unroll
    for (int w = FIRST; w < END; w++)
      (w / WIDTH == ROWS ? across_j[w % WIDTH] : across_k[w / WIDTH % ROWS][w % WIDTH]) =
          mg_word_value(word[w - FIRST]);
  }

  /* ---- steps ---- */

  /** Values in shared memory next to a cell. Those beyond the tile have no meaning. */
  struct beside_t {
    mg_real_t outer, j[2], k[2];
  };
  __device__ __forceinline__ beside_t load_beside(int r, int c, int buffer) const {
    const int at = r * PITCH;
    const mg_real_t *const rows = shared.x[buffer][beside(c)] + at;
    beside_t b;
    b.outer = shared.x[buffer][1 - c][outer[COLORED ? (r ^ c) & 1 : c] + at];
    b.j[0] = r == 0 ? rows[place - PITCH] : MG_REAL(0.0);
    b.j[1] = r == ROWS - 1 ? rows[place + PITCH] : MG_REAL(0.0);
    b.k[0] = rows[low_k];
    b.k[1] = rows[high_k];
    return b;
  }

  __device__ __forceinline__ mg_real_t ghost(mg_real_t x1, mg_real_t x2) const {
    return mg_ghost(MG_WALL_DIRICHLET, job.l.order, x1, x2);
  }

  /** Values of the stencil of cell c of row r, except outside walls of j and k. */
  __device__ __forceinline__ mg_values7_t gather(int r, int c, const beside_t &b) const {
    const int w = COLORED ? 0 : c, other = beside(c);
    const bool up = upper(r, c);
    const mg_real_t partner = x[r][1 - c], wall = ghost(x[r][c], partner),
                    out = outer_is_wall(r, c) ? wall : b.outer;
    mg_values7_t v;
    v.c = x[r][c];
    v.low[0] = up ? partner : out;
    v.high[0] = up ? out : partner;
    v.low[1] = r > 0 ? x[r > 0 ? r - 1 : 0][other] : has(J_LOW_TILE) ? across_j[w] : b.j[0];
    v.high[1] = r < ROWS - 1       ? x[r < ROWS - 1 ? r + 1 : r][other]
                : has(J_HIGH_TILE) ? across_j[w]
                                   : b.j[1];
    v.low[2] = b.k[0];
    v.high[2] = b.k[1];
    if (!WIDE) select_k(r, c, &v);
    return v;
  }
  /** Set the values of other tiles in k. Wide tiles, most of whose warps have none, branch. */
  __device__ __forceinline__ void select_k(int r, int c, mg_values7_t *v) const {
    const mg_real_t across = across_k[r][COLORED ? 0 : c];
    v->low[2] = has(K_LOW_TILE) ? across : v->low[2];
    v->high[2] = has(K_HIGH_TILE) ? across : v->high[2];
  }

  /** Set the ghosts outside walls of j and k of row r; a tile has at least two rows. */
  __device__ __forceinline__ void add_ghosts(int r, mg_values7_t *v) const {
    const bool low_j = r == 0 && has(J_LOW_WALL), high_j = r == ROWS - 1 && has(J_HIGH_WALL);
    const mg_real_t j = ghost(v->c, low_j ? v->high[1] : v->low[1]),
                    k = ghost(v->c, has(K_LOW_WALL) ? v->high[2] : v->low[2]);
    v->low[1] = low_j ? j : v->low[1];
    v->high[1] = high_j ? j : v->high[1];
    v->low[2] = has(K_LOW_WALL) ? k : v->low[2];
    v->high[2] = has(K_HIGH_WALL) ? k : v->high[2];
  }

  /** A x of cells c of some rows. */
  template <typename R>
  __device__ __forceinline__ void apply(int c, const beside_t b[R::N], mg_real_t ax[R::N]) const {
    mg_values7_t v[R::N];
#pragma unroll
    for (int n = 0; n < R::N; n++)
      v[n] = gather(R::row(n), c, b[n]);
    if (WIDE && is_at_k())
#pragma unroll
      for (int n = 0; n < R::N; n++)
        select_k(R::row(n), c, &v[n]);
    if (has(J_LOW_WALL | J_HIGH_WALL | K_LOW_WALL | K_HIGH_WALL))
#pragma unroll
      for (int n = 0; n < R::N; n++)
        add_ghosts(R::row(n), &v[n]);
#pragma unroll
    for (int n = 0; n < R::N; n++)
      ax[n] = mg_row_apply(&job.l, row_of(R::row(n), c), v[n]);
  }

  /** Residual of cells c. */
  __device__ __forceinline__ void residual(int c, int buffer, mg_real_t value[ROWS]) const {
    beside_t b[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      b[r] = load_beside(r, c, buffer);
    apply<all_t>(c, b, value);
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      value[r] = f[r][c] - value[r];
  }

  /** Update cells C of some rows, for which words FIRST to END are needed. */
  template <int C, typename R, int FIRST, int END>
  __device__ __forceinline__ void relax_rows(unsigned number, bool receives, bool sends) {
    beside_t b[R::N];
    mg_real_t ax[R::N];
#pragma unroll
    for (int n = 0; n < R::N; n++)
      b[n] = load_beside(R::row(n), C, 0);
    if (receives) receive<FIRST, END>(number, C);
    apply<R>(C, b, ax);
#pragma unroll
    for (int n = 0; n < R::N; n++) {
      const int r = R::row(n);
      x[r][C] = mg_relax(x[r][C], ax[n], f[r][C], dinv[r][C], MG_REAL(1.0));
    }
#pragma unroll
    for (int n = 0; n < R::N && sends; n++)
      send(R::row(n), C, 0, number + 1, 1 - C);
#pragma unroll
    for (int n = 0; n < R::N; n++)
      store_shared(R::row(n), C, 0);
  }

  /** Step q of a colored smooth. Its cells are C = q & 1, and so are the parities of messages.
   *  @param[in] number  of the messages that it receives
   *  @param[in] receives  whether there are any: not in the first step from zero
   *  @param[in] sends  whether a step or a residual follows */
  template <int C>
  __device__ __forceinline__ void relax(unsigned number, bool receives, bool sends) {
    if constexpr (WIDE) {
      relax_rows<C, rows_t<1, 1, ROWS - 2>, 0, WORDS_OF_K>(number, receives && is_at_k(), sends);
      relax_rows<C, rows_t<0, ROWS - 1, 2>, WORDS_OF_K, WORDS>(number, receives, sends);
    } else {
      relax_rows<C, all_t, 0, WORDS>(number, receives, sends);
    }
    __syncthreads();
  }

  /** Step q of another smooth, from buffer B = q & 1 to the other. */
  template <int B>
  __device__ __forceinline__ void update(int q, unsigned number, bool receives, bool sends) {
    const mg_real_t c1 = job.c1[q], c2 = job.c2[q];
    mg_real_t next[ROWS][2];
#pragma unroll
    for (int c = 0; c < 2; c++) {
      beside_t b[ROWS];
      mg_real_t ax[ROWS], previous[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; r++) {
        b[r] = load_beside(r, c, COLORED ? 0 : B);
        /* It is not set before the first step, which has c1 = 0. */
        previous[r] = shared.x[COLORED ? 0 : 1 - B][c][place + r * PITCH];
      }
      if (c == 0 && receives) receive(number, B);
      apply<all_t>(c, b, ax);
#pragma unroll
      for (int r = 0; r < ROWS; r++)
        next[r][c] = mg_update(x[r][c], c1 == MG_REAL(0.0) ? x[r][c] : previous[r], ax[r], f[r][c],
                               dinv[r][c], c1, c2);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
      for (int c = 0; c < 2; c++) {
        x[r][c] = next[r][c];
        if (sends) send(r, c, c, number + 1, 1 - B);
        store_shared(r, c, COLORED ? 0 : 1 - B);
      }
    __syncthreads();
  }

  __device__ __forceinline__ void store() const {
    mg_real_t *const to = job.l.p.vec[job.dst];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      *(mg_real2_t *)(to + offset(r)) =
          mg_make_real2(upper(r, 0) ? x[r][1] : x[r][0], upper(r, 0) ? x[r][0] : x[r][1]);
  }
};
} // namespace mg_resident

#endif
