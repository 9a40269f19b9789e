/* Several steps of a 7-point smoother in one pass over memory.
 *
 * A block owns a tile of columns and goes through its planes once. At bundle q it makes the first
 * step in plane q - 1, the second in q - 2, the third in q - 3, and writes the last:
 *
 *     plane  q     x read
 *            q-1   step 0   from x of q-2 .. q
 *            q-2   step 1   from step 0's q-3 .. q-1
 *            q-3   step 2   from step 1's q-4 .. q-2, written
 *
 * What a step reads above and below a cell stays in the registers of the thread whose column it is;
 * what it reads beside it comes from planes in shared memory: two of each step's results, and rings
 * of x and of the betas, which the tensor copy engine fills while the block works (boxes.h). Each
 * step spoils one more cell of the tile's rim, so tiles overlap: 24 x 26 cells of 32 x 32 count
 * where there are three steps. Along i a box begins at a multiple of 64 bytes. Outside of walls
 * there is nothing to read, since their formulas are folded in; elsewhere tiles reach into the
 * ghosts, of which a level has a layer for each step.
 *
 * A thread has two cells of a row, one of each colour: a half sweep of GSRB changes one of them, in
 * all steps of a bundle the same, for the steps' colours alternate as their planes do.
 *
 * Digit for digit what single steps give: the same formulas in the same order. Bytes a cell of a
 * pass: 48, of Chebyshev's that read or write a second iterate 56, and 8 more where alpha varies.
 * The laboratory's smooth ladder shows the variants from which this form was taken, docs/kernels.md
 * why it won.
 *
 * Datta et al., Stencil computation optimization and auto-tuning on state-of-the-art multicore
 * architectures (2008): time skewing; Micikevicius, 3D finite difference computation on GPUs using
 * CUDA (2009): planes in shared memory, columns in registers. */
#include "boxes.h"
#include "near.h"
#include "parts.h"
#include <algorithm>
extern "C" {
#include "cuda/device.h"
}

namespace {
/* Three steps of the laboratory's ladder, G cell-steps a second on an H200 (docs/kernels.md has a
 * later run): tiles of 32 x 32 had 169.3, 32 x 24 143.8, 32 x 16 with two blocks a multiprocessor
 * 143.1, a cluster of two 116.7; two planes ahead made 175.7 of the first. */
enum { WIDTH = 32, ROWS = 32, LANES = WIDTH / 2, THREADS = LANES * ROWS, PLANE = WIDTH * ROWS };
/* Columns that count, of a tile, and where they and its box begin: at multiples of 64 bytes,
 * which made 166.9 of 158.4 (two planes ahead, a slower card). */
enum { OUT_I = 24, OUT_START = 4, BOX_START = 8, FIRST_LANE = (BOX_START - OUT_START) / 2 };
enum { SHORTEST = 32 }; /* cells of a patch, each way */
constexpr unsigned ALL = 0xffffffffu;

/* What a launch is told. */
struct job_t {
  mg_cuda_patch_t l;
  int dst, before;        /* vectors; before < 0 for none */
  bool has_x, has_before; /* else zero: the iterate, and the one before it */
  int color;              /* of the first step */
  double c1[MG_MOST_STEPS_PER_PASS], c2[MG_MOST_STEPS_PER_PASS];
  int low[3]; /* cells of the arrays below cell 0 */
  int planes; /* that a block writes */
  mg_part_tiles_t tiles;
};

struct maps_t {
  CUtensorMap x, before, f, alpha, beta[3];
};

/* Planes of the rings, and where they begin, in doubles. GSRB: half sweeps; else steps that may
 * look at two iterates. */
template <bool GSRB, int STEPS, bool VARIES> struct shape_t {
  static constexpr int OUT_J = ROWS - 2 * STEPS;
  static constexpr int AHEAD = GSRB && !VARIES ? 2 : 1; /* bundles under way */
  static constexpr int X_SLOTS = 2 + AHEAD, OWN_SLOTS = 1 + AHEAD, STEP_SLOTS = STEPS + AHEAD;
  static constexpr int ARRIVALS = AHEAD + 1;
  static constexpr int X = 0, STEP = X + X_SLOTS * PLANE, BI = STEP + 2 * (STEPS - 1) * PLANE,
                       BJ = BI + STEP_SLOTS * PLANE, F = BJ + STEP_SLOTS * PLANE,
                       ALPHA = F + STEP_SLOTS * PLANE,
                       BK = ALPHA + (VARIES ? STEP_SLOTS * PLANE : 0),
                       BEFORE = BK + OWN_SLOTS * PLANE,
                       END = BEFORE + (GSRB ? 0 : OWN_SLOTS * PLANE);
  static constexpr size_t BYTES = END * sizeof(double) + ARRIVALS * sizeof(uint64_t);
  static_assert(BYTES <= 227 * 1024, "more than a block may have");
};

/* More than a block may have on cards of sm_120. */
template <bool GSRB, bool VARIES>
constexpr size_t MOST_BYTES = shape_t<GSRB, MG_MOST_STEPS_PER_PASS, VARIES>::BYTES;
constexpr int SHARED_BYTES = (int)std::max({MOST_BYTES<true, false>, MOST_BYTES<true, true>,
                                            MOST_BYTES<false, false>, MOST_BYTES<false, true>});

/* To the next of n planes of a ring. */
__device__ __forceinline__ void next(int *plane, int n) {
  *plane = *plane == (n - 1) * PLANE ? 0 : *plane + PLANE;
}

/* A bundle is x and beta_k of plane q, and the others of plane q - 1. This is where it lies in the
 * rings, in doubles, and who tells that it has arrived. */
struct slots_t {
  int x, own, all, arrival;
};
template <typename S> __device__ __forceinline__ void next(slots_t *at) {
  next(&at->x, S::X_SLOTS);
  next(&at->own, S::OWN_SLOTS);
  next(&at->all, S::STEP_SLOTS);
  at->arrival = at->arrival + 1 == S::ARRIVALS ? 0 : at->arrival + 1;
}

/* A block's box and the planes that it writes, the last excluded. */
struct tile_t {
  int i0, j0, first, last;
};

/* Ask for bundle q; by one thread. */
template <bool GSRB, bool VARIES, typename S>
__device__ __forceinline__ void ask(double *shared, const job_t &job, const maps_t &maps,
                                    const tile_t &t, int q, const slots_t &to, uint64_t *arrived) {
  const bool before = !GSRB && job.has_before;
  const int boxes = 4 + job.has_x + before + VARIES;
  const int i = t.i0 + job.low[0], j = t.j0 + job.low[1], k = q + job.low[2];
  arrived += to.arrival;
  mg_arrivals_expect(arrived, (unsigned)(boxes * PLANE * (int)sizeof(double)));
  if (job.has_x) mg_box_copy(shared + S::X + to.x, &maps.x, i, j, k, arrived);
  mg_box_copy(shared + S::BK + to.own, &maps.beta[2], i, j, k, arrived);
  mg_box_copy(shared + S::BI + to.all, &maps.beta[0], i, j, k - 1, arrived);
  mg_box_copy(shared + S::BJ + to.all, &maps.beta[1], i, j, k - 1, arrived);
  mg_box_copy(shared + S::F + to.all, &maps.f, i, j, k - 1, arrived);
  if (before) mg_box_copy(shared + S::BEFORE + to.own, &maps.before, i, j, k - 1, arrived);
  if (VARIES) mg_box_copy(shared + S::ALPHA + to.all, &maps.alpha, i, j, k - 1, arrived);
}

__device__ __forceinline__ void load_pair(const double *p, double v[2]) {
  const double2 t = *reinterpret_cast<const double2 *>(p);
  v[0] = t.x, v[1] = t.y;
}
__device__ __forceinline__ void store_pair(double *p, const double v[2]) {
  *reinterpret_cast<double2 *>(p) = make_double2(v[0], v[1]);
}

/* The walls' formulas in the place of neighbours beyond them. */
__device__ __forceinline__ void fold_walls(const mg_cuda_patch_t &l, const int at[3],
                                           mg_near_t *near) {
  for (int d = 0; d < 3; d++) {
    const double c = near->x.c, low = near->x.low[d], high = near->x.high[d];
    if (l.p.wall[d][0] && at[d] == 0) near->x.low[d] = mg_beyond(c, high, l.order);
    if (l.p.wall[d][1] && at[d] == l.p.n[d] - 1) near->x.high[d] = mg_beyond(c, low, l.order);
  }
}

/* A x of a cell, and 1 / diagonal where it is wanted; at_walls: the cell may be at one. */
template <bool at_walls, bool wants_dinv>
__device__ __forceinline__ double apply(const mg_cuda_patch_t &l, int i, int j, int k,
                                        mg_near_t near, double *dinv) {
  if (!at_walls) {
    if (wants_dinv) *dinv = mg_near_dinv(&l, near);
    return mg_near_apply(&l, near);
  }
  const int at[3] = {i, j, k};
  fold_walls(l, at, &near);
  if (wants_dinv)
    *dinv = 1.0 / mg_diagonal_7(near.beta[0], near.beta[1], near.beta[2], 1, 1,
                                mg_face_weights(&l.p, l.order, i, j, k), near.a, l.v.b_h2);
  return mg_near_apply(&l, near);
}

/* A thread's two columns, and for each step what it needs of the planes around its own. A half
 * sweep takes column 0 in bundles of even number and column 1 in the others: column 0 is the left
 * one in every other row. */
template <bool GSRB, int STEPS, bool VARIES> struct columns_t {
  using S = shape_t<GSRB, STEPS, VARIES>;
  double x[STEPS][3][2]; /* below, here, above */
  double dinv[STEPS][2], bk[STEPS + 1][2], before[2];
  int i, j, own;
  int cell[2];     /* places of the columns in a plane */
  int left, right; /* from there to the cells beside it, which for the rim may be itself */
  int low, high;
  int x_here, all[STEPS]; /* where the planes of x and of the other arrays are that steps read */
  bool swapped, writes;   /* column 0 is the right one; cells that count */

  __device__ __forceinline__ void begin(const job_t &job, const tile_t &t, int first_bundle) {
    const mg_patch_t &p = job.l.p;
    int row = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    if (GSRB) {
      /* Half of a warp has eight columns of one colour in one row and in the next: all banks. */
      row = (int)threadIdx.x / 32 * 2 + (int)threadIdx.x / 8 % 2;
      lane = (int)threadIdx.x / 16 % 2 * 8 + (int)threadIdx.x % 8;
    }
    i = t.i0 + 2 * lane;
    j = t.j0 + row;
    writes = lane >= FIRST_LANE && lane < FIRST_LANE + OUT_I / 2 && i >= 0 && i < p.n[0] &&
             row >= STEPS && row < ROWS - STEPS && j < p.n[1];
    /* The steps' colours alternate as their planes do. */
    const int parity = p.lo[0] ^ (p.lo[1] + j) ^ p.lo[2] ^ job.color;
    swapped = GSRB && ((parity + first_bundle - 1) & 1) != 0;
    own = row * WIDTH + 2 * lane;
    cell[0] = own + swapped;
    cell[1] = own + !swapped;
    left = own > 0 ? -1 : 0;
    right = own < PLANE - 2 ? 1 : 0;
    low = row > 0 ? -WIDTH : 0;
    high = row < ROWS - 1 ? WIDTH : 0;
  }

  /* Both columns of a plane, in their order. */
  __device__ __forceinline__ void load(const double *plane, double v[2]) const {
    if constexpr (GSRB) {
      v[0] = plane[cell[0]];
      v[1] = plane[cell[1]];
    } else {
      load_pair(plane + own, v);
    }
  }

  /* What a bundle has of these columns. */
  __device__ __forceinline__ void take(const double *shared, const slots_t &slot, bool has_before) {
    load(shared + S::X + slot.x, x[0][2]);
    load(shared + S::BK + slot.own, bk[0]);
    if (!GSRB && has_before) load(shared + S::BEFORE + slot.own, before);
    all[0] = slot.all;
  }

  /* The plane in which step s looks beside a cell of plane p. */
  __device__ __forceinline__ const double *input_of(const double *shared, int s, int p) const {
    return s == 0 ? shared + S::X + x_here : shared + S::STEP + (2 * (s - 1) + (p & 1)) * PLANE;
  }

  /* A half sweep in plane p: column c changes. */
  template <bool at_walls, int s, int c>
  __device__ __forceinline__ double half_sweep(const double *shared, const job_t &job, int p) {
    const double *const plane = input_of(shared, s, p) + cell[c];
    const double *const bi = shared + S::BI + all[s] + cell[c], *const bj = shared + S::BJ +
                                                                            all[s] + cell[c];
    mg_near_t near;
    near.x.c = x[s][1][c];
    near.x.low[0] = plane[left];
    near.x.high[0] = plane[right];
    near.x.low[1] = plane[low];
    near.x.high[1] = plane[high];
    near.x.low[2] = x[s][0][c];
    near.x.high[2] = x[s][2][c];
    near.beta[0][0] = bi[0];
    near.beta[0][1] = bi[right];
    near.beta[1][0] = bj[0];
    near.beta[1][1] = bj[high];
    near.beta[2][0] = bk[s + 1][c];
    near.beta[2][1] = bk[s][c];
    near.a = VARIES ? shared[S::ALPHA + all[s] + cell[c]] : job.l.v.a;
    near.f = shared[S::F + all[s] + cell[c]];
    /* The third half sweep changes the cells of the first one. */
    constexpr bool is_new = s < 2;
    const double ax = apply<at_walls, is_new>(job.l, i + cell[c] - own, j, p, near, &dinv[s][c]);
    return mg_relax(near.x.c, ax, near.f, dinv[s][c]);
  }

  /* A step that changes all cells. */
  template <bool at_walls, int s>
  __device__ __forceinline__ void whole_step(const double *shared, const job_t &job, int p,
                                             double value[2]) {
    constexpr bool is_new = s == 0;
    const double *const plane = input_of(shared, s, p) + own;
    const double *const bi = shared + S::BI + all[s] + own, *const bj =
                                                                shared + S::BJ + all[s] + own;
    double beside[2][2], bi0[2], bj0[2], bj1[2], f[2], a[2];
    load_pair(plane + low, beside[0]);
    load_pair(plane + high, beside[1]);
    load_pair(bi, bi0);
    load_pair(bj, bj0);
    load_pair(bj + high, bj1);
    load_pair(shared + S::F + all[s] + own, f);
    if (VARIES) load_pair(shared + S::ALPHA + all[s] + own, a);
    const double left_x = __shfl_up_sync(ALL, x[s][1][1], 1, LANES),
                 right_x = __shfl_down_sync(ALL, x[s][1][0], 1, LANES),
                 right_bi = __shfl_down_sync(ALL, bi0[0], 1, LANES);
#pragma unroll
    for (int v = 0; v < 2; v++) {
      mg_near_t near;
      near.x.c = x[s][1][v];
      near.x.low[0] = v ? x[s][1][0] : left_x;
      near.x.high[0] = v ? right_x : x[s][1][1];
      near.x.low[1] = beside[0][v];
      near.x.high[1] = beside[1][v];
      near.x.low[2] = x[s][0][v];
      near.x.high[2] = x[s][2][v];
      near.beta[0][0] = bi0[v];
      near.beta[0][1] = v ? right_bi : bi0[1];
      near.beta[1][0] = bj0[v];
      near.beta[1][1] = bj1[v];
      near.beta[2][0] = bk[s + 1][v];
      near.beta[2][1] = bk[s][v];
      near.a = VARIES ? a[v] : job.l.v.a;
      const double ax = apply<at_walls, is_new>(job.l, i + v, j, p, near, &dinv[s][v]);
      /* Of the step before this one the same plane is the lowest. */
      const double last = s == 0 ? before[v] : x[s > 0 ? s - 1 : 0][0][v];
      const double previous = job.c1[s] == 0.0 ? near.x.c : last;
      value[v] = mg_polynomial(near.x.c, previous, ax, f[v], dinv[s][v], job.c1[s], job.c2[s]);
    }
  }

  /* Step s of bundle q, and what is beyond it: into shared memory or, from the last one, into the
   * level. `careful`: cells may be at walls, and the plane one that nobody needs, or for which
   * lower planes are missing, as in the first bundles. `odd`: the bundle's number is. */
  template <bool careful, int s, int odd>
  __device__ __forceinline__ void step(double *shared, const job_t &job, const tile_t &t, int q,
                                       double *to, double *to_before) {
    const int p = q - 1 - s, beyond = STEPS - 1 - s;
    if (careful && (p < t.first - beyond || p >= t.last + beyond)) return;
    double value[2];
    if constexpr (GSRB) {
      value[odd] = half_sweep<careful, s, odd>(shared, job, p);
      value[1 - odd] = x[s][1][1 - odd];
    } else {
      whole_step<careful, s>(shared, job, p, value);
    }
    if constexpr (s < STEPS - 1) {
      double *const result = shared + S::STEP + (2 * s + (p & 1)) * PLANE;
      if constexpr (GSRB) {
        result[cell[0]] = value[0];
        result[cell[1]] = value[1];
      } else {
        store_pair(result + own, value);
      }
      x[s + 1][2][0] = value[0];
      x[s + 1][2][1] = value[1];
    } else if (writes) {
      const double pair[2] = {GSRB && swapped ? value[1] : value[0],
                              GSRB && swapped ? value[0] : value[1]};
      store_pair(to + p * job.l.p.kstride, pair);
      if (!GSRB && to_before) store_pair(to_before + p * job.l.p.kstride, x[s][1]);
    }
  }

  template <bool careful, int odd>
  __device__ __forceinline__ void steps(double *shared, const job_t &job, const tile_t &t, int q,
                                        double *to, double *to_before) {
    step<careful, 0, odd>(shared, job, t, q, to, to_before);
    step<careful, 1, odd>(shared, job, t, q, to, to_before);
    if constexpr (STEPS > 2) step<careful, STEPS - 1, odd>(shared, job, t, q, to, to_before);
  }

  /* The next plane. */
  __device__ __forceinline__ void turn(const slots_t &slot) {
#pragma unroll
    for (int v = 0; v < 2; v++) {
#pragma unroll
      for (int s = 0; s < STEPS; s++) {
        x[s][0][v] = x[s][1][v];
        x[s][1][v] = x[s][2][v];
      }
#pragma unroll
      for (int s = STEPS - 1; s > 0; s--) {
        dinv[s][v] = dinv[s - 1][v];
      }
#pragma unroll
      for (int s = STEPS; s > 0; s--)
        bk[s][v] = bk[s - 1][v];
    }
#pragma unroll
    for (int s = STEPS - 1; s > 0; s--)
      all[s] = all[s - 1];
    x_here = slot.x;
  }
};

/* What goes on from bundle to bundle. */
struct stream_t {
  slots_t slot, asked;
  unsigned parity;
  int plain_first, plain_end; /* bundles that need no care */
};

template <bool GSRB, int STEPS, bool VARIES, int odd>
__device__ __forceinline__ void
bundle(columns_t<GSRB, STEPS, VARIES> &c, double *shared, uint64_t *arrived, const job_t &job,
       const maps_t &maps, const tile_t &t, int q, double *to, double *to_before, stream_t *s) {
  using S = shape_t<GSRB, STEPS, VARIES>;
  /* Everybody has left the planes that bundle q + AHEAD overwrites. */
  if (threadIdx.x == 0 && q + S::AHEAD < t.last + STEPS) {
    ask<GSRB, VARIES, S>(shared, job, maps, t, q + S::AHEAD, s->asked, arrived);
    next<S>(&s->asked);
  }
  mg_arrivals_wait(arrived + s->slot.arrival, s->parity);
  c.take(shared, s->slot, job.has_before);
  if (q >= s->plain_first && q < s->plain_end)
    c.template steps<false, odd>(shared, job, t, q, to, to_before);
  else
    c.template steps<true, odd>(shared, job, t, q, to, to_before);
  __syncthreads();
  c.turn(s->slot);
  next<S>(&s->slot);
  if (s->slot.arrival == 0) s->parity ^= 1;
}

template <bool GSRB, int STEPS, bool VARIES>
__global__ void __launch_bounds__(THREADS, 1)
    pass(const MG_GRID_CONSTANT job_t job, const MG_GRID_CONSTANT maps_t maps) {
  using S = shape_t<GSRB, STEPS, VARIES>;
  extern __shared__ __align__(128) double shared[];
  uint64_t *const arrived = reinterpret_cast<uint64_t *>(shared + S::END);
  const mg_patch_t &p = job.l.p;
  int at[3];
  mg_tile_of_block(job.tiles, at);
  const tile_t t = {at[0] * OUT_I - BOX_START, at[1] * S::OUT_J - STEPS, at[2] * job.planes,
                    min((at[2] + 1) * job.planes, p.n[2])};
  const int first = t.first - STEPS, end = t.last + STEPS;
  columns_t<GSRB, STEPS, VARIES> c = {};
  c.begin(job, t, first);
  stream_t stream = {};
  /* All steps' planes are wanted, and none is at a wall. */
  const bool at_wall = (p.wall[0][0] && t.i0 <= 0) || (p.wall[0][1] && t.i0 + WIDTH >= p.n[0]) ||
                       (p.wall[1][0] && t.j0 <= 0) || (p.wall[1][1] && t.j0 + ROWS >= p.n[1]);
  stream.plain_first = max(t.first + STEPS, p.wall[2][0] ? STEPS + 1 : 0);
  stream.plain_end = at_wall ? stream.plain_first : p.wall[2][1] ? min(end, p.n[2]) : end;
  if (!job.has_x)
    for (int e = (int)threadIdx.x; e < S::X_SLOTS * PLANE; e += THREADS)
      shared[S::X + e] = 0.0;
  if (threadIdx.x == 0) {
    mg_arrivals_create(arrived, S::ARRIVALS);
    for (int q = first; q < first + S::AHEAD; q++) {
      ask<GSRB, VARIES, S>(shared, job, maps, t, q, stream.asked, arrived);
      next<S>(&stream.asked);
    }
  }
  __syncthreads();
  double *const to = p.vec[job.dst] + c.i + c.j * p.jstride, *const to_before =
                                                                 job.before < 0
                                                                     ? nullptr
                                                                     : p.vec[job.before] + c.i +
                                                                           c.j * p.jstride;
  for (int q = first; q < end; q++) {
    bundle<GSRB, STEPS, VARIES, 0>(c, shared, arrived, job, maps, t, q, to, to_before, &stream);
    if (GSRB && ++q < end)
      bundle<GSRB, STEPS, VARIES, 1>(c, shared, arrived, job, maps, t, q, to, to_before, &stream);
  }
}

/* Vector x with the ghosts that the job's tiles reach into; `far`: with the faces that close it. */
mg_status_t make_map(const mg_view_t *v, const job_t &job, int x, bool far, CUtensorMap *map) {
  const mg_patch_t &p = job.l.p;
  mg_box_array_t array = {mg_cell(&p, x, -job.low[0], -job.low[1], -job.low[2]),
                          sizeof(double),
                          {},
                          p.jstride,
                          p.kstride};
  for (int d = 0; d < 3; d++)
    array.extent[d] = job.low[d] + p.n[d] + (p.wall[d][1] ? (int)far : v->layers);
  return mg_cuda_box_map(&array, WIDTH, ROWS, map);
}

mg_status_t make_maps(const mg_view_t *v, const job_t &job, int x, int previous, maps_t *m) {
  if (job.has_x) MG_TRY(make_map(v, job, x, false, &m->x));
  if (job.has_before) MG_TRY(make_map(v, job, previous, false, &m->before));
  if (v->varies) MG_TRY(make_map(v, job, MG_ALPHA, false, &m->alpha));
  for (int d = 0; d < 3; d++)
    MG_TRY(make_map(v, job, MG_BETA_I + d, true, &m->beta[d]));
  return make_map(v, job, MG_F, false, &m->f);
}

/* How a patch is cut; `beside`: so that messages can have some of the processors.
 *  @return cost, to be compared */
double cut_of(const mg_patch_t &p, int steps, int beside, mg_cut_t *c) {
  double cost;
  *c = {{OUT_I, ROWS - 2 * steps, 0}, {BOX_START, steps, steps}, {WIDTH, ROWS, 0}, {}};
  c->n[0] = (p.n[0] + OUT_START + OUT_I - 1) / OUT_I;
  c->n[1] = (p.n[1] + c->cells[1] - 1) / c->cells[1];
  c->cells[2] = mg_planes_of_blocks(p.n[2], (int64_t)c->n[0] * c->n[1], mg_cuda.processors, beside,
                                    steps, &cost);
  c->box[2] = c->cells[2] + 2 * steps;
  c->n[2] = (p.n[2] + c->cells[2] - 1) / c->cells[2];
  return cost;
}

template <bool GSRB, int STEPS, bool VARIES>
mg_status_t launch(const mg_view_t *v, job_t &job, int x, int previous, mg_part_t part) {
  using S = shape_t<GSRB, STEPS, VARIES>;
  static bool ready = false;
  maps_t maps = {};
  if (!ready)
    MG_CUDA_TRY(cudaFuncSetAttribute(pass<GSRB, STEPS, VARIES>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::BYTES));
  ready = true;
  MG_TRY(make_maps(v, job, x, previous, &maps));
  static_assert(S::OUT_J == ROWS - 2 * STEPS, "as cut_of has it");
  const mg_cut_t cut =
      mg_cut_for(part, [&](int beside, mg_cut_t *c) { return cut_of(job.l.p, STEPS, beside, c); });
  job.planes = cut.cells[2];
  const int grid = mg_tiles_of_part(job.l.p, cut, part, &job.tiles);
  if (grid > 0)
    pass<GSRB, STEPS, VARIES><<<(unsigned)grid, THREADS, S::BYTES, mg_cuda.stream>>>(job, maps);
  return MG_OK;
}

template <bool GSRB, int STEPS>
mg_status_t launch_for(const mg_view_t *v, job_t &job, int x, int previous, mg_part_t part) {
  return v->varies ? launch<GSRB, STEPS, true>(v, job, x, previous, part)
                   : launch<GSRB, STEPS, false>(v, job, x, previous, part);
}

/* Do tiles find all that they read: nothing beyond walls, else a layer of ghosts for each step? */
bool fits(const mg_view_t *v, const mg_patch_t *p, int most) {
  bool fits = p->n[0] % 2 == 0;
  for (int d = 0; d < 3; d++)
    fits = fits && p->n[d] >= SHORTEST && ((p->wall[d][0] && p->wall[d][1]) || v->layers >= most);
  return fits;
}
} // namespace

mg_status_t mg_cuda_has_passes(bool *has) {
  int device, most;
  MG_TRY(mg_cuda_has_boxes(has));
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  *has = *has && most >= SHARED_BYTES;
  return MG_OK;
}

bool mg_cuda_passes(const mg_view_t *v, const mg_step_t *steps, int n, int most) {
  bool fit = false;
  if (v->op == MG_OPERATOR_FV4 || most > MG_MOST_STEPS_PER_PASS ||
      mg_cuda_has_passes(&fit) != MG_OK)
    return false;
  for (int q = 0; q < v->n_patches; q++)
    fit = fit && fits(v, &v->patch[q], most);
  for (int s = 0; s < n; s++)
    fit = fit && !steps[s].l1 && steps[s].kind == steps[0].kind &&
          (steps[s].kind != MG_STEP_GSRB || steps[s].color == (steps[0].color ^ (s & 1)));
  return fit;
}

bool mg_cuda_pass_has_parts(const mg_view_t *v, int n, bool host) {
  bool pays = host || v->n_patches == 1;
  for (int q = 0; q < v->n_patches && pays; q++) {
    const mg_patch_t &p = v->patch[q];
    mg_cut_t cut;
    const bool room =
        mg_cut_for_parts([&](int beside, mg_cut_t *c) { return cut_of(p, n, beside, c); }, &cut);
    pays = (room || host) && mg_inner_pays(p, cut, mg_cuda.processors);
  }
  return pays;
}

mg_status_t mg_cuda_smooth_pass(const mg_view_t *v, int x, int previous, int dst, int before,
                                const mg_step_t *steps, int n, mg_part_t part) {
  const bool gsrb = steps[0].kind == MG_STEP_GSRB;
  if (n < 2 || n > MG_MOST_STEPS_PER_PASS)
    return mg_error(MG_ERR_INTERNAL, "a pass of %d steps", n);
  for (int q = 0; q < v->n_patches; q++) {
    job_t job = {};
    job.l = mg_cuda_patch(v, q);
    job.dst = dst;
    job.before = before;
    job.has_x = x >= 0;
    job.has_before = previous >= 0 && !gsrb;
    job.color = steps[0].color;
    for (int s = 0; s < n; s++) {
      job.c1[s] = steps[s].kind == MG_STEP_CHEBYSHEV ? steps[s].c1 : 0.0;
      job.c2[s] = steps[s].c2;
    }
    /* An even number along i: 16 bytes. What is one too many lies at the end of the row before. */
    for (int d = 0; d < 3; d++)
      job.low[d] = job.l.p.wall[d][0] ? 0 : d == 0 ? (v->layers + 1) / 2 * 2 : v->layers;
    if (n == 2)
      MG_TRY(gsrb ? (launch_for<true, 2>(v, job, x, previous, part))
                  : (launch_for<false, 2>(v, job, x, previous, part)));
    else
      MG_TRY(gsrb ? (launch_for<true, 3>(v, job, x, previous, part))
                  : (launch_for<false, 3>(v, job, x, previous, part)));
    MG_CUDA_LAUNCHED("smooth_pass");
  }
  return MG_OK;
}
