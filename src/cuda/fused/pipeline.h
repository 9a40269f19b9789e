/* Pipeline input of the fused sweeps in fused/sweeps.cu: rings of planes in shared memory and the
 * TMA loads that fill them (tma.h). Also the template parameters (shape_t). */
#ifndef MG_CUDA_FUSED_PIPELINE_H
#define MG_CUDA_FUSED_PIPELINE_H

#include "cuda/runtime/pieces.h"
#include "cuda/runtime/ring.h"
#include "formulas/transfer.h"

namespace mg_fused {
/* Three steps in `hpgmg-bench smooth` on one H100, 10^9 cell-steps per second, Jacobi steps with
 * one plane requested ahead / half sweeps with two: tiles of 32 x 32 116.0 / 119.1; 32 x 24 100.8 /
 * 114.0; 32 x 16 with two blocks per SM 102.8 / 107.2. Half sweeps in 32 x 32 with one plane ahead
 * reach 129.2; whole cycles with it have not been measured (docs/kernels.md). */
enum { MAX_ROWS = 32 };
/* Along i, a tile of width columns writes all but OUT_LEFT columns at each side of its box. The
 * first box starts at a low wall, or BOX_START columns below cell 0: double cells at multiples of
 * 64 bytes, which gained 0.6 to 9 % on H200s (docs/kernels.md), float cells at multiples of 32. At
 * walls a tile also writes the columns between those and the wall. */
enum { OUT_LEFT = 4, BOX_START = 8 };
/* Width of the box for the values of beta_i in the column right of a tile: 16 bytes. */
enum { EDGE_WIDTH = 16 / (int)sizeof(mg_real_t) };

/* How cells of the level become cells of the next coarser one, to which a residual is restricted or
 * from which an input is interpolated. */
struct parents_t {
  mg_singles_t single[3];
  int n[3];               /* cells of the level */
  int lo[3], n_coarse[3]; /* first cell of the coarse patch, and its cells */
  bool periodic[3];
  mg_real_t weight; /* mg_child_weight */
};

/* Coarse cells that a tile reads if its input is interpolated. */
struct source_shape_t {
  int columns, rows;
  int left, width;   /* columns of the box before the first one, and all columns of the box */
  int middle_stride; /* of rows of values that are interpolated along k */
};

/* Kernel arguments of a launch. */
struct job_t {
  mg_cuda_patch_t l;
  mg_real_t a, b_h2; /* those of l, converted once */
  /* Constant betas: inside and on the sides (mg_constant_betas_t), and 1 / diagonal of cells
   * without and with walls, at place_of(walls), times c2 for half sweeps. */
  mg_real_t beta[3], side_beta[3][2], inverse[MG_MAX_STEPS_PER_PASS][27];
  mg_vector_t dst, previous_out; /* outputs: the last iterate, and the one before it unless < 0 */
  bool has_x, has_previous;      /* the iterate, and the previous one, are read; otherwise zero */
  int color;                     /* color of the first step */
  mg_real_t c1[MG_MAX_STEPS_PER_PASS], c2[MG_MAX_STEPS_PER_PASS];
  int low[3];               /* cells below cell 0 that the tensor maps include */
  const mg_piece_t *pieces; /* planes that each block writes */
  int early;                /* blocks from this number on read halo ghosts */
  mg_real_t *coarse;        /* a restricted residual: coarse cell (0, 0, 0), and its strides */
  ptrdiff_t coarse_jstride, coarse_kstride;
  unsigned long long *maximum; /* RESIDUAL_NORM */
  parents_t parents;           /* RESIDUAL_TO_PARENTS, or an interpolated input */
  /* Interpolated input: the formula, the order of its wall formula, and cells below coarse cell 0
   * that the tensor map includes. */
  mg_interpolation_t interpolation;
  int source_order, source_low[3];
  bool wide[2]; /* single cells along i and j */
  source_shape_t source;
};

struct maps_t {
  CUtensorMap x, previous, f, alpha, beta[3], edge, source;
};

/* Use of the residual of the last step's result, which is a further stage of the pipeline, and
 * source of the first step's input. PARENTS: the next coarser level does not have half the cells in
 * each direction. If one kernel covered both, F-cycles of 512^3 would be 4 % slower on an H100. */
enum residual_use_t { RESIDUAL_UNUSED, RESIDUAL_RESTRICTED, RESIDUAL_TO_PARENTS, RESIDUAL_NORM };
enum input_t { INPUT_STORED, INPUT_FROM_HALVES, INPUT_FROM_PARENTS };

/* Coefficients that vary and are read from memory: betas, or betas and alpha. */
enum vary_t { VARY_NONE, VARY_BETAS, VARY_ALL };

/* Rows at each side of a tile that are read but not written: one per step and one for the residual.
 * Even with a residual, so that the written rows start at a coarse cell. */
constexpr int margin_of(int steps, residual_use_t use) {
  return use == RESIDUAL_UNUSED ? steps : (steps + 2) / 2 * 2;
}

/* Planes of coarse cells in the ring of a tile with an interpolated input. */
enum { SOURCE_SLOTS = 4 };

enum { LINE_CELLS = 16 / (int)sizeof(mg_real_t) };

/* Coarse cells of a tile of `width` columns and `rows` rows, which begins at an odd row if `margin`
 * is odd. `wide`: there are single cells along i and j; pairs have half as many coarse cells. Boxes
 * must start at a multiple of 16 bytes (first_source). Rows of values from pairs are spaced such
 * that two of them use all banks. */
constexpr source_shape_t source_shape_of(const bool wide[2], int width, int rows, int margin) {
  const int pad = 64 / (int)sizeof(mg_real_t);
  source_shape_t s = {};
  s.columns = wide[0] ? width + 2 * (int)LINE_CELLS : width / 2 + 2;
  s.rows = wide[1] ? rows + 2 : rows / 2 + 2 + margin % 2;
  s.left = wide[0] ? 0 : 3;
  s.width = wide[0] ? s.columns : width / 2 + 8;
  s.middle_stride = wide[0] ? s.columns : (width / 2 + pad) / (2 * pad) * (2 * pad) + pad;
  return s;
}

/* Compile-time parameters of a pipeline. IS_COLORED: half sweeps; otherwise steps on all cells,
 * which may read two iterates. N_ROWS: rows of a tile; N_AHEAD: stages requested ahead. The solver
 * uses the defaults; the laboratory also measures others. INPUT: see fused/input.h; colored steps
 * only. */
template <bool IS_COLORED, int N_STEPS, vary_t VARY, int N_ROWS = MAX_ROWS,
          int N_AHEAD = IS_COLORED &&VARY != VARY_ALL ? 2 : 1,
          residual_use_t RESIDUAL_USE = RESIDUAL_UNUSED, input_t INPUT = INPUT_STORED>
struct shape_t {
  static constexpr bool COLORED = IS_COLORED, VARIES = VARY == VARY_ALL,
                        CONSTANT = VARY == VARY_NONE, INTERPOLATED = INPUT != INPUT_STORED,
                        HAS_HALVES = INPUT == INPUT_FROM_HALVES, LOOKS_BACK = !COLORED;
  /* Beside planes of alpha there is no room for single cells along i and j. */
  static constexpr bool MAY_BE_WIDE = INPUT == INPUT_FROM_PARENTS && !VARIES;
  static constexpr residual_use_t USE = RESIDUAL_USE;
  static constexpr int STEPS = N_STEPS, ROWS = N_ROWS, AHEAD = N_AHEAD;
  /* Number of pipeline stages: in stage q the last of them computes plane q - DEPTH. MARGIN: rows
   * at each side that are not written. */
  static constexpr int DEPTH = STEPS + (USE != RESIDUAL_UNUSED), MARGIN = margin_of(STEPS, USE);
  /* Cells of a thread in a plane: a pair, or a square of two pairs (fused/cells.h). */
  static constexpr bool SQUARES =
      sizeof(mg_real_t) == sizeof(float) || (CONSTANT && COLORED && INPUT != INPUT_FROM_PARENTS);
  static constexpr int PAIRS = SQUARES ? 2 : 1, WIDTH = SQUARES ? 64 : 32, LANES = WIDTH / 2,
                       OUT_I = WIDTH - 2 * OUT_LEFT, ROW_BYTES = WIDTH * (int)sizeof(mg_real_t);
  static constexpr int PLANE = WIDTH * ROWS, THREADS = PLANE / (2 * PAIRS),
                       PLANE_BYTES = PLANE * (int)sizeof(mg_real_t);
  static constexpr int BLOCKS = MAX_ROWS / ROWS; /* per SM */
  static constexpr int OUT_J = ROWS - 2 * MARGIN;
  /* Number of planes in each ring, and start of each ring in doubles. */
  static constexpr int X_SLOTS = (COLORED ? DEPTH + 1 : 2) + AHEAD, SHORT_SLOTS = 1 + AHEAD,
                       LONG_SLOTS = DEPTH + AHEAD, STEP_SLOTS = COLORED ? 0 : 2 * (DEPTH - 1);
  static constexpr int ARRIVALS = AHEAD == 1 ? 2 : 4; /* at least AHEAD + 1 */
  static constexpr int X = 0, STEP = X + X_SLOTS * PLANE, BI = STEP + STEP_SLOTS * PLANE,
                       BETA_PLANE = CONSTANT ? 0 : PLANE, BJ = BI + LONG_SLOTS * BETA_PLANE,
                       F = BJ + LONG_SLOTS * BETA_PLANE, ALPHA = F + LONG_SLOTS * PLANE,
                       BK = ALPHA + (VARIES ? LONG_SLOTS * PLANE : 0),
                       PREVIOUS = BK + SHORT_SLOTS * BETA_PLANE,
                       SOURCE = PREVIOUS + (LOOKS_BACK ? SHORT_SLOTS * PLANE : 0);
  /* Offset in a plane of beta_i of the values in column WIDTH, rows 1 to ROWS - 2. They occupy the
   * last row of the plane and the first row of the next one, which are not used otherwise. */
  static constexpr int EDGE = (ROWS - 1) * WIDTH;
  static_assert((ROWS - 2) * EDGE_WIDTH <= 2 * WIDTH, "the edge exceeds two rows");
  /* A ring of boxes of coarse cells, then planes of values interpolated along k (MIDDLE): of
   * halves, two planes are interpolated at a time. */
  static constexpr int MIDDLE_SLOTS = HAS_HALVES ? 4 : 2;
  static constexpr bool WIDE[2] = {MAY_BE_WIDE, MAY_BE_WIDE}, NARROW[2] = {};
  static constexpr source_shape_t LARGEST = source_shape_of(WIDE, WIDTH, ROWS, MARGIN),
                                  HALVES = source_shape_of(NARROW, WIDTH, ROWS, MARGIN);
  static constexpr int LINE = 128 / (int)sizeof(mg_real_t),
                       SOURCE_PLANE = (LARGEST.width * LARGEST.rows + LINE - 1) / LINE * LINE,
                       MIDDLE_PLANE = LARGEST.middle_stride * LARGEST.rows,
                       MIDDLE = SOURCE + (INTERPOLATED ? SOURCE_SLOTS * SOURCE_PLANE : 0),
                       END = MIDDLE + (INTERPOLATED ? MIDDLE_SLOTS * MIDDLE_PLANE : 0);
  static constexpr size_t BYTES = END * sizeof(mg_real_t) + ARRIVALS * sizeof(uint64_t);
  static_assert(BYTES <= 227 * 1024, "more than a block may have");
};

/* The shapes that the solver uses. */
template <bool COLORED, int N_STEPS, vary_t VARY = VARY_BETAS, residual_use_t USE = RESIDUAL_UNUSED,
          input_t INPUT = INPUT_STORED>
using solver_shape_t =
    shape_t<COLORED, N_STEPS, VARY, MAX_ROWS,
            COLORED && VARY != VARY_ALL && INPUT != INPUT_FROM_PARENTS ? 2 : 1, USE, INPUT>;

/* Bytes between values in shared memory: offsets are in bytes, so that an address is the sum of two
 * registers and a constant. */
enum { VALUE = (int)sizeof(mg_real_t) };
__device__ __forceinline__ mg_real_t *at_byte(mg_real_t *p, int bytes) {
  return reinterpret_cast<mg_real_t *>(reinterpret_cast<char *>(p) + bytes);
}
__device__ __forceinline__ const mg_real_t *at_byte(const mg_real_t *p, int bytes) {
  return reinterpret_cast<const mg_real_t *>(reinterpret_cast<const char *>(p) + bytes);
}

/* Move values of one plane to the next one behind. */
template <int N, int ROWS> __device__ __forceinline__ void shift(mg_real_t (&v)[N][ROWS][2]) {
#pragma unroll
  for (int n = N - 1; n > 0; n--)
#pragma unroll
    for (int r = 0; r < ROWS; r++)
      v[n][r][0] = v[n - 1][r][0], v[n][r][1] = v[n - 1][r][1];
}
/* Pairs of cells in shared or global memory. */
__device__ __forceinline__ void load_pair(const mg_real_t *p, mg_real_t v[2]) {
  const mg_real2_t t = *reinterpret_cast<const mg_real2_t *>(p);
  v[0] = t.x, v[1] = t.y;
}
__device__ __forceinline__ void store_pair(mg_real_t *p, const mg_real_t v[2]) {
  *reinterpret_cast<mg_real2_t *>(p) = mg_make_real2(v[0], v[1]);
}

/* The rings. Stage q loads x and beta_k of plane q, and all other arrays of plane q - 1. `once`:
 * arrays read in one stage only (beta_k, previous); `often`: arrays that every step reads (f,
 * beta_i, beta_j, alpha). */
template <typename S> struct slots_t {
  mg_ring_t<S::X_SLOTS, S::PLANE_BYTES, S::X_SLOTS - S::AHEAD> x;
  mg_ring_t<S::SHORT_SLOTS, S::PLANE_BYTES, 1> once;
  mg_ring_t<S::LONG_SLOTS, S::PLANE_BYTES, S::DEPTH> often;

  __device__ __forceinline__ void begin(void) {
    x.begin(0);
    once.begin(0);
    often.begin(0);
  }
  __device__ __forceinline__ void next(void) {
    x.next();
    once.next();
    often.next();
  }
  /* Offsets of what stage q - d has loaded. */
  __device__ __forceinline__ int x_of(int d) const { return x[S::X_SLOTS - S::AHEAD - 1 - d]; }
  __device__ __forceinline__ int often_of(int d) const { return often[S::DEPTH - 1 - d]; }
};

/* First column and row of a block's box, and the planes that it writes: first <= k < end. */
struct tile_t {
  int i0, j0, first, end;
  int source[2]; /* first coarse column and row that it reads, in an interpolated input */
};

/* First plane that a block reads: DEPTH planes below those that it writes, but none below a wall.
 */
template <typename S>
__device__ __forceinline__ int first_plane(const mg_patch_t &p, const tile_t &t) {
  return p.wall[2][0] ? max(t.first - S::DEPTH, 0) : t.first - S::DEPTH;
}

/* Whether plane k is outside a wall. */
__device__ __forceinline__ bool is_outside(const mg_patch_t &p, int k) {
  return (p.wall[2][0] && k < 0) || (p.wall[2][1] && k >= p.n[2]);
}

/* Whether the box begins at a low wall of i, or ends at or beyond a high one. */
__device__ __forceinline__ bool begins_at_wall(const mg_patch_t &p, const tile_t &t) {
  return p.wall[0][0] && t.i0 <= 0;
}
template <typename S>
__device__ __forceinline__ bool ends_at_wall(const mg_patch_t &p, const tile_t &t) {
  return p.wall[0][1] && t.i0 + S::WIDTH >= p.n[0];
}

/* Lanes whose columns the tile writes: from <= lane < to. */
struct lanes_t {
  int from, to;
};
template <typename S>
__device__ __forceinline__ lanes_t written_lanes(const mg_patch_t &p, const tile_t &t) {
  return {begins_at_wall(p, t) ? 0 : OUT_LEFT / 2,
          ends_at_wall<S>(p, t) ? S::LANES : (OUT_LEFT + S::OUT_I) / 2};
}

/* Cell `at` of the patch in direction d as a child, in the coarse patch. */
template <typename S>
__device__ __forceinline__ mg_child_t child_of(const job_t &job, int d, int at) {
  const parents_t &c = job.parents;
  if (S::HAS_HALVES) return {at >> 1, at % 2 == 0 ? -1 : 1};
  mg_child_t child = mg_child(&c.single[d], c.n[d], c.periodic[d], job.l.p.lo[d] + at);
  child.parent -= c.lo[d];
  return child;
}

/* The same along i or j. Pairs only: the rule of halves also beyond walls, where it gives fewer
 * coarse cells than mg_child. */
template <typename S>
__device__ __forceinline__ mg_child_t child_in_row(const job_t &job, int d, int at) {
  if (S::MAY_BE_WIDE && job.wide[d]) return child_of<S>(job, d, at);
  const bool alone = !S::HAS_HALVES && at % 2 == 0 && job.l.p.lo[d] + at == job.parents.n[d] - 1;
  return {at >> 1, alone ? 0 : at % 2 == 0 ? -1 : 1};
}

/* First coarse column (d = 0) or row that a tile reads; `at`: its own first column or row. Columns
 * of single cells start at a multiple of 16 bytes: at up to LINE_CELLS - 1 columns that are not
 * used. */
template <typename S> __device__ __forceinline__ int first_source(const job_t &job, int d, int at) {
  const int first = child_in_row<S>(job, d, at).parent - 1;
  return S::MAY_BE_WIDE && d == 0 && job.wide[0] ? first & -(int)LINE_CELLS : first;
}

template <typename S> __device__ __forceinline__ source_shape_t source_shape(const job_t &job) {
  if constexpr (S::HAS_HALVES)
    return S::HALVES;
  else
    return job.source;
}

/* Coarse planes from .. to that stage q is the first to read, when it interpolates plane q + 1
 * along k. The block's first stage also interpolates its own plane. A plane without a side reads
 * its own coarse plane only. Such planes come in even numbers, except at a wall. So the planes that
 * one stage reads, and those requested two stages ahead, are at most SOURCE_SLOTS. */
struct source_planes_t {
  int from, to;
};
template <typename S>
__device__ __forceinline__ source_planes_t source_planes(const job_t &job, const tile_t &t, int q) {
  const bool first = q == first_plane<S>(job.l.p, t);
  const mg_child_t now = child_of<S>(job, 2, q), next = child_of<S>(job, 2, q + 1);
  const int reach = now.side != 0;
  return {now.parent + (first ? -reach : reach + 1), next.parent + (next.side != 0)};
}

template <typename S>
__device__ __forceinline__ void request_source(mg_real_t *shared, const job_t &job,
                                               const maps_t &maps, const tile_t &t,
                                               const source_planes_t &planes, uint64_t *arrived) {
  const int i = t.source[0] - source_shape<S>(job).left + job.source_low[0],
            j = t.source[1] + job.source_low[1];
  for (int k = planes.from; k <= planes.to; k++)
    mg_tma_load(shared + S::SOURCE + (k & (SOURCE_SLOTS - 1)) * S::SOURCE_PLANE, &maps.source, i, j,
                k + job.source_low[2], arrived);
}

/* Request stage q + ahead; called by one thread in stage q. Results in the first and the last row
 * are never valid, so these rows need only x and the previous iterate. Their other values in shared
 * memory are undefined; no written result depends on them. */
template <typename S>
__device__ __forceinline__ void request(mg_real_t *shared, const job_t &job, const maps_t &maps,
                                        const tile_t &t, int q, const slots_t<S> &slots, int ahead,
                                        uint64_t *arrived) {
  const bool previous = S::LOOKS_BACK && job.has_previous;
  q += ahead;
  const source_planes_t source = source_planes<S>(job, t, q);
  const int betas = S::CONSTANT ? 0 : 2 * (S::ROWS - 2) + S::ROWS - 1;
  const int rows = (job.has_x + previous) * S::ROWS + betas + (1 + S::VARIES) * (S::ROWS - 2);
  const int i = t.i0 + job.low[0], j = t.j0 + job.low[1], k = q + job.low[2];
  mg_real_t *const once = at_byte(shared, slots.once.after(ahead)), *const often = at_byte(
                                                                        shared,
                                                                        slots.often.after(ahead));
  int values = rows * S::WIDTH;
  const bool edge = !S::CONSTANT && ends_at_wall<S>(job.l.p, t);
  if (edge) values += (S::ROWS - 2) * EDGE_WIDTH;
  if constexpr (S::INTERPOLATED) {
    const source_shape_t s = source_shape<S>(job);
    values += (source.to + 1 - source.from) * s.width * s.rows;
  }
  mg_mbarrier_expect(arrived, (unsigned)(values * (int)sizeof(mg_real_t)));
  if (job.has_x)
    mg_tma_load(at_byte(shared, slots.x.after(ahead)) + S::X, &maps.x, i, j, k, arrived);
  if constexpr (!S::CONSTANT) {
    mg_tma_load(once + S::BK + S::WIDTH, &maps.beta[2], i, j + 1, k, arrived);
    mg_tma_load(often + S::BI + S::WIDTH, &maps.beta[0], i, j + 1, k - 1, arrived);
    if (edge) mg_tma_load(often + S::BI + S::EDGE, &maps.edge, i + S::WIDTH, j + 1, k - 1, arrived);
    mg_tma_load(often + S::BJ + S::WIDTH, &maps.beta[1], i, j + 1, k - 1, arrived);
  }
  mg_tma_load(often + S::F + S::WIDTH, &maps.f, i, j + 1, k - 1, arrived);
  if (previous) mg_tma_load(once + S::PREVIOUS, &maps.previous, i, j, k - 1, arrived);
  if (S::VARIES) mg_tma_load(often + S::ALPHA + S::WIDTH, &maps.alpha, i, j + 1, k - 1, arrived);
  if constexpr (S::INTERPOLATED) request_source<S>(shared, job, maps, t, source, arrived);
}
} // namespace mg_fused

#endif
