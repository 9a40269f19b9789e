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
 * pass: GSRB and Jacobi 48, Chebyshev 56 or 64. The laboratory's smooth ladder shows the variants
 * from which this form was taken, docs/kernels.md why it won.
 *
 * Datta et al., Stencil computation optimization and auto-tuning on state-of-the-art multicore
 * architectures (2008): time skewing; Micikevicius, 3D finite difference computation on GPUs using
 * CUDA (2009): planes in shared memory, columns in registers. */
#include "boxes.h"
#include "near.h"

namespace {
enum { WIDTH = 32, ROWS = 32, LANES = WIDTH / 2, THREADS = LANES * ROWS, PLANE = WIDTH * ROWS };
/* Columns that count, of a tile, and where they and its box begin. */
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
  int low[3];           /* cells of the arrays below cell 0 */
  int tiles_i, tiles_j; /* of a plane */
  int planes;           /* that a block writes */
};

struct maps_t {
  CUtensorMap x, before, f, alpha, beta[3];
};

/* Planes of the rings, and where they begin, in doubles. GSRB: half sweeps; else steps that may
 * look at two iterates. */
template <bool GSRB, int STEPS, bool VARIES> struct shape_t {
  static constexpr int OUT_J = ROWS - 2 * STEPS;
  static constexpr int AHEAD = !GSRB && VARIES ? 1 : 2; /* bundles under way */
  static constexpr int X_SLOTS = 2 + AHEAD, OWN_SLOTS = 1 + AHEAD, IJ_SLOTS = STEPS + AHEAD;
  static constexpr int ARRIVALS = AHEAD + 1;
  static constexpr int X = 0, STEP = X + X_SLOTS * PLANE, BI = STEP + 2 * (STEPS - 1) * PLANE,
                       BJ = BI + IJ_SLOTS * PLANE, BK = BJ + IJ_SLOTS * PLANE,
                       F = BK + OWN_SLOTS * PLANE, BEFORE = F + OWN_SLOTS * PLANE,
                       ALPHA = BEFORE + (GSRB ? 0 : OWN_SLOTS * PLANE),
                       END = ALPHA + (VARIES ? OWN_SLOTS * PLANE : 0);
  static constexpr size_t BYTES = END * sizeof(double) + ARRIVALS * sizeof(uint64_t);
};

/* slot - back in a ring of n, where slot is in it and back is at most n. */
__device__ __forceinline__ int behind(int slot, int back, int n) {
  return slot >= back ? slot - back : slot - back + n;
}
__device__ __forceinline__ void next(int *slot, int n) {
  *slot = *slot + 1 == n ? 0 : *slot + 1;
}

/* A bundle is x and beta_k of plane q, and the others of plane q - 1. This is where it lies in the
 * rings, and who tells that it has arrived. */
struct slots_t {
  int x, own, ij, arrival;
  unsigned parity;
};
template <typename S> __device__ __forceinline__ void next(slots_t *at) {
  next(&at->x, S::X_SLOTS);
  next(&at->own, S::OWN_SLOTS);
  next(&at->ij, S::IJ_SLOTS);
  next(&at->arrival, S::ARRIVALS);
  if (at->arrival == 0) at->parity ^= 1;
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
  if (job.has_x) mg_box_copy(shared + S::X + to.x * PLANE, &maps.x, i, j, k, arrived);
  mg_box_copy(shared + S::BK + to.own * PLANE, &maps.beta[2], i, j, k, arrived);
  mg_box_copy(shared + S::BI + to.ij * PLANE, &maps.beta[0], i, j, k - 1, arrived);
  mg_box_copy(shared + S::BJ + to.ij * PLANE, &maps.beta[1], i, j, k - 1, arrived);
  mg_box_copy(shared + S::F + to.own * PLANE, &maps.f, i, j, k - 1, arrived);
  if (before) mg_box_copy(shared + S::BEFORE + to.own * PLANE, &maps.before, i, j, k - 1, arrived);
  if (VARIES) mg_box_copy(shared + S::ALPHA + to.own * PLANE, &maps.alpha, i, j, k - 1, arrived);
}

__device__ __forceinline__ void load(const double *p, double v[2]) {
  const double2 t = *reinterpret_cast<const double2 *>(p);
  v[0] = t.x, v[1] = t.y;
}
__device__ __forceinline__ void store(double *p, const double v[2]) {
  *reinterpret_cast<double2 *>(p) = make_double2(v[0], v[1]);
}

/* The walls' formulas in the place of neighbours beyond them. */
__device__ __forceinline__ void fold_walls(const mg_cuda_patch_t &l, const int at[3],
                                           mg_near_t *near) {
  for (int d = 0; d < 3; d++) {
    const double upward[2] = {near->x.c, near->x.high[d]},
                 downward[2] = {near->x.c, near->x.low[d]};
    if (l.p.wall[d][0] && at[d] == 0) near->x.low[d] = mg_beyond(upward, 1, l.order);
    if (l.p.wall[d][1] && at[d] == l.p.n[d] - 1) near->x.high[d] = mg_beyond(downward, 1, l.order);
  }
}

/* A x of a cell, and 1 / diagonal where it is wanted; at_wall: somebody of the block is at one. */
__device__ __forceinline__ double apply(const mg_cuda_patch_t &l, bool at_wall, int i, int j, int k,
                                        mg_near_t near, bool wants_dinv, double *dinv) {
  if (!at_wall) {
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

/* A thread's two columns, and for each step what it needs of the planes around its own. */
template <bool GSRB, int STEPS, bool VARIES> struct columns_t {
  using S = shape_t<GSRB, STEPS, VARIES>;
  double x[STEPS][3][2]; /* below, here, above */
  double f[STEPS][2], dinv[STEPS][2], bk[STEPS + 1][2], a[STEPS][2], before[2];
  int i, j;
  bool writes, at_wall;     /* cells that count; the block has columns at walls */
  int lane, own, low, high; /* places in a plane: its own, and in the rows beside it */
  int right;                /* from its own place to the cell after its two */

  __device__ __forceinline__ void begin(const job_t &job, const tile_t &t) {
    const mg_patch_t &p = job.l.p;
    const int row = (int)threadIdx.x / LANES;
    lane = (int)threadIdx.x % LANES;
    i = t.i0 + 2 * lane;
    j = t.j0 + row;
    writes = lane >= FIRST_LANE && lane < FIRST_LANE + OUT_I / 2 && i >= 0 && i < p.n[0] &&
             row >= STEPS && row < ROWS - STEPS && j < p.n[1];
    at_wall = (p.wall[0][0] && t.i0 <= 0) || (p.wall[0][1] && t.i0 + WIDTH >= p.n[0]) ||
              (p.wall[1][0] && t.j0 <= 0) || (p.wall[1][1] && t.j0 + ROWS >= p.n[1]);
    own = row * WIDTH + 2 * lane;
    low = row > 0 ? own - WIDTH : own;
    high = row < ROWS - 1 ? own + WIDTH : own;
    right = lane < LANES - 1 ? 2 : 1;
  }

  /* What a bundle has of these columns. */
  __device__ __forceinline__ void take(const double *shared, const slots_t &slot, bool has_before) {
    load(shared + S::X + slot.x * PLANE + own, x[0][2]);
    load(shared + S::BK + slot.own * PLANE + own, bk[0]);
    load(shared + S::F + slot.own * PLANE + own, f[0]);
    if (!GSRB && has_before) load(shared + S::BEFORE + slot.own * PLANE + own, before);
    if (VARIES) load(shared + S::ALPHA + slot.own * PLANE + own, a[0]);
  }

  /* The plane of step s's input, and the betas' beside it. */
  __device__ __forceinline__ const double *plane_of(const double *shared, const slots_t &slot,
                                                    int s, int p) const {
    return s == 0 ? shared + S::X + behind(slot.x, 1, S::X_SLOTS) * PLANE
                  : shared + S::STEP + (2 * (s - 1) + (p & 1)) * PLANE;
  }

  /* A half sweep in plane p: of the two cells, `second` says which. */
  __device__ __forceinline__ void half_sweep(const double *shared, const slots_t &slot,
                                             const job_t &job, bool wall, int s, int p, bool second,
                                             double value[2]) {
    const double *const plane = plane_of(shared, slot, s, p) + second;
    const int ij = behind(slot.ij, s, S::IJ_SLOTS) * PLANE;
    const double *const bi = shared + S::BI + ij + own, *const bj = shared + S::BJ + ij + second;
    mg_near_t near;
    near.x.low[1] = plane[low];
    near.x.high[1] = plane[high];
    near.beta[0][0] = bi[second];
    near.beta[0][1] = bi[second ? right : 1];
    near.beta[1][0] = bj[own];
    near.beta[1][1] = bj[high];
    /* The lane beside this one on the other side than its own other cell. */
    const double other = second ? x[s][1][0] : x[s][1][1];
    const double beyond = __shfl_sync(ALL, other, lane + (second ? 1 : -1), LANES);
    near.x.c = second ? x[s][1][1] : x[s][1][0];
    near.x.low[0] = second ? other : beyond;
    near.x.high[0] = second ? beyond : other;
    near.x.low[2] = second ? x[s][0][1] : x[s][0][0];
    near.x.high[2] = second ? x[s][2][1] : x[s][2][0];
    near.beta[2][0] = second ? bk[s + 1][1] : bk[s + 1][0];
    near.beta[2][1] = second ? bk[s][1] : bk[s][0];
    near.f = second ? f[s][1] : f[s][0];
    near.a = !VARIES ? job.l.v.a : second ? a[s][1] : a[s][0];
    /* The third half sweep changes the cells of the first one. */
    double d = dinv[s][0];
    const double ax = apply(job.l, wall, i + second, j, p, near, s < 2, &d);
    if (s == 0) dinv[0][0] = d;
    const double relaxed = mg_relax(near.x.c, ax, near.f, d);
    value[0] = second ? other : relaxed;
    value[1] = second ? relaxed : other;
  }

  /* A step that changes all cells. */
  __device__ __forceinline__ void whole_step(const double *shared, const slots_t &slot,
                                             const job_t &job, bool wall, int s, int p,
                                             double value[2]) {
    const double *const plane = plane_of(shared, slot, s, p);
    const int ij = behind(slot.ij, s, S::IJ_SLOTS) * PLANE;
    const double *const bi = shared + S::BI + ij, *const bj = shared + S::BJ + ij;
    double beside[2][2], bi0[2], bj0[2], bj1[2];
    load(plane + low, beside[0]);
    load(plane + high, beside[1]);
    load(bi + own, bi0);
    load(bj + own, bj0);
    load(bj + high, bj1);
    const double left = __shfl_up_sync(ALL, x[s][1][1], 1, LANES),
                 right_x = __shfl_down_sync(ALL, x[s][1][0], 1, LANES),
                 right_bi = __shfl_down_sync(ALL, bi0[0], 1, LANES);
#pragma unroll
    for (int v = 0; v < 2; v++) {
      mg_near_t near;
      near.x.c = x[s][1][v];
      near.x.low[0] = v ? x[s][1][0] : left;
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
      near.a = VARIES ? a[s][v] : job.l.v.a;
      const double ax = apply(job.l, wall, i + v, j, p, near, s == 0, &dinv[s][v]);
      /* Of the step before this one the same plane is the lowest. */
      const double last = s == 0 ? before[v] : x[s > 0 ? s - 1 : 0][0][v];
      const double previous = job.c1[s] == 0.0 ? near.x.c : last;
      value[v] = mg_polynomial(near.x.c, previous, ax, f[s][v], dinv[s][v], job.c1[s], job.c2[s]);
    }
  }

  /* The next plane. */
  __device__ __forceinline__ void turn() {
#pragma unroll
    for (int v = 0; v < 2; v++) {
#pragma unroll
      for (int s = 0; s < STEPS; s++) {
        x[s][0][v] = x[s][1][v];
        x[s][1][v] = x[s][2][v];
      }
#pragma unroll
      for (int s = STEPS - 1; s > 0; s--) {
        f[s][v] = f[s - 1][v];
        dinv[s][v] = dinv[s - 1][v];
        a[s][v] = a[s - 1][v];
      }
#pragma unroll
      for (int s = STEPS; s > 0; s--)
        bk[s][v] = bk[s - 1][v];
    }
  }
};

template <bool GSRB, int STEPS, bool VARIES>
__global__ void __launch_bounds__(THREADS, 1)
    pass(const __grid_constant__ job_t job, const __grid_constant__ maps_t maps) {
  using S = shape_t<GSRB, STEPS, VARIES>;
  extern __shared__ __align__(128) double shared[];
  uint64_t *const arrived = reinterpret_cast<uint64_t *>(shared + S::END);
  const mg_patch_t &patch = job.l.p;
  const int tile = (int)blockIdx.x, slab = tile / job.tiles_i / job.tiles_j * job.planes;
  const tile_t t = {tile % job.tiles_i * OUT_I - BOX_START,
                    tile / job.tiles_i % job.tiles_j * S::OUT_J - STEPS, slab,
                    min(slab + job.planes, patch.n[2])};
  columns_t<GSRB, STEPS, VARIES> c = {};
  c.begin(job, t);
  if (!job.has_x)
    for (int e = (int)threadIdx.x; e < S::X_SLOTS * PLANE; e += THREADS)
      shared[S::X + e] = 0.0;
  if (threadIdx.x == 0) mg_arrivals_create(arrived, S::ARRIVALS);
  __syncthreads();

  double *const to = patch.vec[job.dst] + c.i + c.j * patch.jstride,
                *const to_before =
                    job.before < 0 ? nullptr : patch.vec[job.before] + c.i + c.j * patch.jstride;
  const int parity = patch.lo[0] ^ (patch.lo[1] + c.j) ^ patch.lo[2] ^ job.color;
  slots_t slot = {}, asked = {};
  for (int q = t.first - STEPS - S::AHEAD; q < t.last + STEPS; q++) {
    /* Everybody has left the planes that bundle q + AHEAD overwrites. */
    if (q + S::AHEAD < t.last + STEPS) {
      if (threadIdx.x == 0)
        ask<GSRB, VARIES, S>(shared, job, maps, t, q + S::AHEAD, asked, arrived);
      next<S>(&asked);
    }
    if (q < t.first - STEPS) continue; /* the first ones are under way */
    mg_arrivals_wait(arrived + slot.arrival, slot.parity);
    c.take(shared, slot, job.has_before);
    const bool second = ((parity + q - 1) & 1) != 0;
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      /* The plane of this step. Not those that nobody needs, nor those of the first bundles, whose
       * lower planes are missing. */
      const int p = q - 1 - s, beyond = STEPS - 1 - s;
      if (p < t.first - beyond || p >= t.last + beyond) continue;
      const bool wall =
          c.at_wall || (p == 0 && patch.wall[2][0]) || (p == patch.n[2] - 1 && patch.wall[2][1]);
      double value[2];
      if constexpr (GSRB)
        c.half_sweep(shared, slot, job, wall, s, p, second, value);
      else
        c.whole_step(shared, slot, job, wall, s, p, value);
      if (s < STEPS - 1) {
        store(shared + S::STEP + (2 * s + (p & 1)) * PLANE + c.own, value);
        c.x[s + 1 < STEPS ? s + 1 : s][2][0] = value[0];
        c.x[s + 1 < STEPS ? s + 1 : s][2][1] = value[1];
      } else if (c.writes) {
        store(to + p * patch.kstride, value);
        if (!GSRB && to_before) store(to_before + p * patch.kstride, c.x[s][1]);
      }
    }
    __syncthreads();
    c.turn();
    next<S>(&slot);
  }
}

/* Blocks go through the tiles of so many planes, then through the next: the more planes, the fewer
 * are made twice; the more blocks, the fewer wait at the end. */
int planes_of(int n, int64_t tiles, int64_t at_a_time, int steps) {
  int best = n;
  double least = 1e300;
  for (int slabs = 1; slabs <= 64 && slabs <= n; slabs++) {
    const int planes = (n + slabs - 1) / slabs;
    const int64_t waves = (tiles * ((n + planes - 1) / planes) + at_a_time - 1) / at_a_time;
    /* Half of the planes beyond are made by half of the steps; the first two bundles come late. */
    const double cost = (double)waves * (planes + steps + 1);
    if (cost < least) least = cost, best = planes;
  }
  return best;
}

mg_status_t processors(int *n) {
  static int known = 0;
  int device;
  if (known == 0) {
    MG_CUDA_TRY(cudaGetDevice(&device));
    MG_CUDA_TRY(cudaDeviceGetAttribute(&known, cudaDevAttrMultiProcessorCount, device));
  }
  *n = known;
  return MG_OK;
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

template <bool GSRB, int STEPS, bool VARIES>
mg_status_t launch(const mg_view_t *v, job_t &job, int x, int previous) {
  using S = shape_t<GSRB, STEPS, VARIES>;
  static bool ready = false;
  const int *n = job.l.p.n;
  int blocks;
  maps_t maps = {};
  if (!ready)
    MG_CUDA_TRY(cudaFuncSetAttribute(pass<GSRB, STEPS, VARIES>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::BYTES));
  ready = true;
  MG_TRY(processors(&blocks));
  MG_TRY(make_maps(v, job, x, previous, &maps));
  job.tiles_i = (n[0] + OUT_START + OUT_I - 1) / OUT_I;
  job.tiles_j = (n[1] + S::OUT_J - 1) / S::OUT_J;
  job.planes = planes_of(n[2], (int64_t)job.tiles_i * job.tiles_j, blocks, STEPS);
  const unsigned grid =
      (unsigned)(job.tiles_i * job.tiles_j * ((n[2] + job.planes - 1) / job.planes));
  pass<GSRB, STEPS, VARIES><<<grid, THREADS, S::BYTES, mg_cuda.stream>>>(job, maps);
  return MG_OK;
}

template <bool GSRB, int STEPS>
mg_status_t launch_for(const mg_view_t *v, job_t &job, int x, int previous) {
  return v->varies ? launch<GSRB, STEPS, true>(v, job, x, previous)
                   : launch<GSRB, STEPS, false>(v, job, x, previous);
}

/* Do tiles find all that they read: nothing beyond walls, else a layer of ghosts for each step? */
bool fits(const mg_view_t *v, const mg_patch_t *p, int most) {
  bool fits = p->n[0] % 2 == 0;
  for (int d = 0; d < 3; d++)
    fits = fits && p->n[d] >= SHORTEST && ((p->wall[d][0] && p->wall[d][1]) || v->layers >= most);
  return fits;
}
} // namespace

bool mg_cuda_passes(const mg_view_t *v, const mg_step_t *steps, int n, int most) {
  bool fit = false;
  if (v->op == MG_OPERATOR_FV4 || most > MG_MOST_STEPS_PER_PASS || mg_cuda_has_boxes(&fit) != MG_OK)
    return false;
  for (int q = 0; q < v->n_patches; q++)
    fit = fit && fits(v, &v->patch[q], most);
  for (int s = 0; s < n; s++)
    fit = fit && !steps[s].l1 && steps[s].kind == steps[0].kind &&
          (steps[s].kind != MG_STEP_GSRB || steps[s].color == (steps[0].color ^ (s & 1)));
  return fit;
}

mg_status_t mg_cuda_smooth_pass(const mg_view_t *v, int x, int previous, int dst, int before,
                                const mg_step_t *steps, int n) {
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
      MG_TRY(gsrb ? (launch_for<true, 2>(v, job, x, previous))
                  : (launch_for<false, 2>(v, job, x, previous)));
    else
      MG_TRY(gsrb ? (launch_for<true, 3>(v, job, x, previous))
                  : (launch_for<false, 3>(v, job, x, previous)));
    MG_CUDA_LAUNCHED("smooth_pass");
  }
  return MG_OK;
}
