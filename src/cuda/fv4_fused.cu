/* Two half sweeps of fv4's GSRB in one pass over memory (temporal blocking).
 *
 * A block owns a tile of columns and traverses its planes once. In stage q it performs the first
 * half sweep in plane q and the second one in plane q-2, which it writes:
 *
 *     plane  q+3   x in flight
 *            q     half sweep 0   from x of q-2 .. q+2, to y of q
 *            q-2   half sweep 1   from y of q-4 .. q, written
 *
 * x, y and the betas are rings of planes in shared memory, which TMA fills one stage ahead
 * (fv4_fused_rings.h). f and 1/diagonal are read once, one stage ahead, into registers. One barrier
 * per stage suffices: of the plane just computed, the second half sweep reads only the thread's own
 * column. Tiles at walls need another one, before y's ghosts.
 *
 * Overlap. fv4 reads two cells on each side, but of the color that the first half sweep has changed
 * only the face neighbors. So that half sweep covers one cell more than the tile on each side,
 * reads x from three cells and betas from two cells outside the tile, and the level has three ghost
 * layers. (With values outside walls, y's other ghosts depend on changed cells too, but on none
 * that are further away.) Two Jacobi or Chebyshev steps would need four layers and both cells of
 * each pair.
 *
 * Budget, for a tile of 28 x 24 cells, whose box is 36 x 30:
 *   - shared memory: 6 planes of x, 5 of y, 6, 6 and 5 of the betas, 229 kB of 232 kB, so an SM has
 *     one block, of 448 threads and up to 144 registers. A residual of the result would need y's
 *     successor (5 planes more) and a tile smaller by two cells on each side; it does not fit.
 *   - bytes per cell and two half sweeps: 56 from and to memory instead of 112; requested from L2
 *     77 instead of about 130, because the boxes of x are 1.61, of the betas 1.50, and of f and
 *     1/diagonal 1.24 times the tile.
 *   - work: the half sweeps of 896 cells per plane for 672, 1.33 times, plus 6 planes per block.
 *     A changed cell loads 55 values from shared memory, 3.4 cycles of an SM, and has about 95
 *     operations in double, 1.5 cycles. So shared memory, not device memory, limits the pass: 2.75
 *     ms at 512^3 and 1.94 GHz, where device memory takes 2.6 ms on an H100 and 1.8 on an H200 for
 *     this pass, and 5.1 and 3.6 for two single half sweeps.
 *
 * A half-warp has eight cells of one color in each of two adjacent rows, which use all banks.
 * Results are bit-identical to those of single half sweeps: same formulas, same order. */
#include "cuda/fv4_fused_rings.h"

using namespace mg_fv4_fused;

namespace {
enum { MIN_CELLS = 32 }; /* of a patch along each direction */

/* Values of x or y; `plane` has the offsets of five planes, `cell` that of the cell in a plane. */
__device__ __forceinline__ mg_axis4_t load_axis4(int at, int step) {
  mg_axis4_t v;
  v.low2 = value_at(at - 2 * step);
  v.low = value_at(at - step);
  v.high = value_at(at + step);
  v.high2 = value_at(at + 2 * step);
  return v;
}

__device__ __forceinline__ mg_edges4_t load_edges4(int at_low, int at_high, int step) {
  mg_edges4_t v; /* the sides in the second direction are at_low and at_high */
  v.low_low = value_at(at_low - step);
  v.low_high = value_at(at_high - step);
  v.high_low = value_at(at_low + step);
  v.high_high = value_at(at_high + step);
  return v;
}

__device__ __forceinline__ mg_values25_t load_values25(const int (&plane)[5], int cell) {
  const int at = plane[2] + cell, low = plane[1] + cell, high = plane[3] + cell;
  mg_values25_t v;
  v.c = value_at(at);
  v.i = load_axis4(at, COL);
  v.j = load_axis4(at, ROW);
  v.k.low2 = value_at(plane[0] + cell);
  v.k.low = value_at(low);
  v.k.high = value_at(high);
  v.k.high2 = value_at(plane[4] + cell);
  v.ij = load_edges4(at - ROW, at + ROW, COL);
  v.ik = load_edges4(low, high, COL);
  v.jk = load_edges4(low, high, ROW);
  return v;
}

__device__ __forceinline__ mg_neighbors2_t load_neighbors2(int low, int high) {
  mg_neighbors2_t v;
  v.low = value_at(low);
  v.high = value_at(high);
  return v;
}

/* Betas of the two faces at `step` from each other that are normal to i or j. `t` is the step in
 * the other one of these directions; below and above are the neighbors in k. */
__device__ __forceinline__ mg_faces10_t load_faces_ij(int below, int at, int above, int step,
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

__device__ __forceinline__ mg_face5_t load_face_k(int at) {
  mg_face5_t v;
  v.c = value_at(at);
  v.t1 = load_neighbors2(at - COL, at + COL);
  v.t2 = load_neighbors2(at - ROW, at + ROW);
  return v;
}

/* `ij`: planes below, at and above the cell; `k`: its low and high faces. */
__device__ __forceinline__ mg_betas30_t load_betas30(const int (&ij)[3], const int (&k)[2],
                                                     int cell) {
  const int below = ij[0] + cell, at = ij[1] + cell, above = ij[2] + cell;
  mg_betas30_t b;
  b.i = load_faces_ij(below, at, above, COL, ROW);
  b.j = load_faces_ij(below + I_TO_J, at + I_TO_J, above + I_TO_J, ROW, COL);
  b.k.low = load_face_k(k[0] + cell);
  b.k.high = load_face_k(k[1] + cell);
  return b;
}

/* What a half sweep reads once of a cell. */
struct inputs_t {
  double f, dinv, a; /* a: only if alpha varies */
};

/* New value of a cell. */
template <bool varies>
__device__ __forceinline__ double relax(const job_t &job, const int (&x)[5], const int (&ij)[3],
                                        const int (&k)[2], int cell, const inputs_t &in) {
  const mg_values25_t v = load_values25(x, cell);
  const mg_betas30_t b = load_betas30(ij, k, cell);
  const double a = varies ? in.a : job.sweep.l.v.a;
  const double ax = mg_apply_values25(&v, &b, a, job.sweep.l.v.b_h2);
  return mg_relax(v.c, ax, in.f, in.dinv, job.sweep.c2);
}

/* A thread's pair of cells. */
struct pair_t {
  int cell;         /* offset of the left cell in a plane */
  int parity;       /* of the left cell in plane 0, with the color of the first half sweep */
  ptrdiff_t column; /* of the left cell, in the patch's vectors */
  bool inside;      /* not outside walls, nor beyond the ghosts */
  bool computes;    /* the first half sweep changes the pair; otherwise it copies x */
  bool writes;
};

__device__ __forceinline__ pair_t pair_of_thread(const job_t &job, const tile_t &t) {
  const mg_patch_t &p = job.sweep.l.p;
  const int thread = (int)threadIdx.x, lane = thread / 16 % 2 * 8 + thread % 8;
  int row = thread / 32 * 2 + thread / 8 % 2;
  /* The first warp has the first and the last row that compute, the last warp those that copy. */
  if (row < 2)
    row = row == 0 ? 1 : ROWS - 2;
  else if (row >= ROWS - 2)
    row = row == ROWS - 2 ? 0 : ROWS - 1;
  const int i = t.i0 + 2 * (lane - 1), j = t.j0 + row - 2;
  pair_t c;
  c.cell = (row + FIRST_ROW) * ROW + (COL0 - 2 + 2 * lane) * COL;
  c.parity = p.lo[0] ^ (p.lo[1] + j) ^ p.lo[2] ^ job.sweep.color;
  c.column = i + j * p.jstride;
  c.inside = (i >= 0 || !p.wall[0][0]) && i < p.n[0] + (p.wall[0][1] ? 0 : 2) &&
             (j >= 0 || !p.wall[1][0]) && j < p.n[1] + (p.wall[1][1] ? 0 : 2);
  c.computes = c.inside && row > 0 && row < ROWS - 1;
  c.writes = lane > 0 && lane < LANES - 1 && i < p.n[0] && row > 1 && row < ROWS - 2 && j < p.n[1];
  return c;
}

/* What both half sweeps read of a plane: [0] of the cell that the first one changes, [1] of the
 * other one. */
struct both_t {
  inputs_t of[2];
};

template <bool varies>
__device__ __forceinline__ both_t read_inputs(const job_t &job, const pair_t &c, int k) {
  const ptrdiff_t at = c.column + k * job.sweep.l.p.kstride;
  const double2 f = *(const double2 *)(job.sweep.f + at),
                dinv = *(const double2 *)(job.sweep.dinv + at);
  double2 a = make_double2(0.0, 0.0);
  if (varies) a = *(const double2 *)(job.sweep.l.p.vec[MG_ALPHA] + at);
  const bool right = (c.parity + k) & 1;
  both_t in;
  in.of[0] = {right ? f.y : f.x, right ? dinv.y : dinv.x, right ? a.y : a.x};
  in.of[1] = {right ? f.x : f.y, right ? dinv.x : dinv.y, right ? a.x : a.y};
  return in;
}

/* The state of a block that marches. */
struct march_t {
  slots_t s;
  uint64_t *arrived;
  int stages; /* so far */
};

__device__ __forceinline__ void wait_for_stage(const march_t &m, int stage) {
  mg_mbarrier_wait(m.arrived + stage % ARRIVALS, (unsigned)(stage / ARRIVALS % 2));
}

/* Fill the rings for the first stage q; no thread uses them. */
__device__ __forceinline__ void begin(const job_t &job, const maps_t &maps, const tile_t &t,
                                      march_t *m, int q) {
  if (threadIdx.x == 0) {
    request<0, true>(job, maps, t, m->s, q, m->arrived + m->stages % ARRIVALS);
    request<1, false>(job, maps, t, m->s, q, m->arrived + (m->stages + 1) % ARRIVALS);
  }
  const bool low = q == t.x_first;
  if (!t.walls && !low) return;
  wait_for_stage(*m, m->stages);
  if (low) wait_for_stage(*m, m->stages + 1);
  fill_first_ghosts(m->s, t, low);
}

/* The first half sweep in plane q, or outside the wall the ghosts of its result. */
template <bool varies>
__device__ __forceinline__ void first_half(const job_t &job, const tile_t &t, const pair_t &c,
                                           const slots_t &s, int q, const inputs_t &in) {
  if (q >= t.x_end) {
    if (q == t.x_end)
      fill_ghost_plane(s.y[4], s.y[3], s.y[2], s.y[1], s.y[0], t, part_of_y(), 1, true, true);
    else
      fill_ghost_plane(s.y[4], s.y[2], s.y[1], s.y[0], s.y[4], t, part_of_y(), 2, true, true);
    __syncthreads();
    return;
  }
  if (c.inside) {
    const int right = (c.parity + q) & 1 ? (int)COL : 0, cell = c.cell + right,
              other = c.cell + COL - right;
    double x = value_at(s.x[2] + cell);
    if (c.computes && q >= t.k0 - 1 && q <= t.k1) {
      const int planes[5] = {s.x[0], s.x[1], s.x[2], s.x[3], s.x[4]};
      x = relax<varies>(job, planes, {s.ij[2], s.ij[3], s.ij[4]}, {s.k[2], s.k[3]}, cell, in);
    }
    put(s.y[4] + cell, x);
    put(s.y[4] + other, value_at(s.x[2] + other));
  }
  fill_next_ghosts(s, t, q);
  if (!t.walls) return;
  __syncthreads();
  fill_ghosts_ij(s.y[4], t, part_of_y());
}

/* The second half sweep in plane k, of which y[2] is the first one's result. */
template <bool varies>
__device__ __forceinline__ void second_half(const job_t &job, const pair_t &c, const slots_t &s,
                                            int k, const inputs_t &in) {
  const bool left = (c.parity + k) & 1;
  const int cell = c.cell + (left ? 0 : (int)COL), other = c.cell + (left ? (int)COL : 0);
  const double x = relax<varies>(job, s.y, {s.ij[0], s.ij[1], s.ij[2]}, {s.k[0], s.k[1]}, cell, in),
               y = value_at(s.y[2] + other);
  *(double2 *)(job.sweep.dst + c.column + k * job.sweep.l.p.kstride) =
      left ? make_double2(x, y) : make_double2(y, x);
}

/* Stages first <= q < end. Writes planes from k0 to write_end - 1. */
template <bool varies>
__device__ __forceinline__ void run(const job_t &job, const maps_t &maps, const tile_t &t,
                                    const pair_t &c, march_t *m, int first, int end,
                                    int write_end) {
  const int read = max(t.k0 - 1, t.x_first), read_end = min(t.k1 + 1, t.x_end);
  both_t next = {};
  inputs_t second[3] = {};
  begin(job, maps, t, m, first);
  if (c.computes && first >= read) next = read_inputs<varies>(job, c, first);
#pragma unroll 1
  for (int q = first; q < end; q++) {
    wait_for_stage(*m, m->stages);
    second[0] = second[1];
    second[1] = second[2];
    second[2] = next.of[1];
    const inputs_t in = next.of[0];
    if (c.computes && q + 1 >= read && q + 1 < read_end) next = read_inputs<varies>(job, c, q + 1);
    first_half<varies>(job, t, c, m->s, q, in);
    if (c.writes && q - 2 >= t.k0 && q - 2 < write_end)
      second_half<varies>(job, c, m->s, q - 2, second[0]);
    /* Ghosts were stored where the next loads go. */
    mg_tma_fence();
    __syncthreads();
    next_plane(&m->s);
    if (threadIdx.x == 0 && q + 2 < end)
      request<1, false>(job, maps, t, m->s, q + 1, m->arrived + m->stages % ARRIVALS);
    m->stages++;
  }
}

/* Fill the planes of y outside the low wall in k, after stages 0 to 3 have computed those inside.
 * The block then starts again with stage 0. */
__device__ __forceinline__ void fill_low_ghosts(const tile_t &t, march_t *m) {
  int(&y)[Y_SLOTS] = m->s.y;
  const part_t part = part_of_y();
  fill_ghost_plane(y[4], y[0], y[1], y[2], y[3], t, part, 1, true, true);
  fill_ghost_plane(y[3], y[0], y[1], y[2], y[3], t, part, 2, true, true);
  __syncthreads();
  /* For stage 0: planes -2 and -1, and room for plane 0. */
  const int room = y[2];
  y[2] = y[3];
  y[3] = y[4];
  y[4] = room;
}

template <bool varies>
__global__ void __launch_bounds__(THREADS, 1)
    two_half_sweeps(const MG_GRID_CONSTANT job_t job, const MG_GRID_CONSTANT maps_t maps) {
  const tile_t t = tile_at(job);
  const pair_t c = pair_of_thread(job, t);
  march_t m = {first_slots(), reinterpret_cast<uint64_t *>(rings + END), 0};
  if (threadIdx.x == 0) mg_mbarrier_create(m.arrived, ARRIVALS);
  if (!job.sweep.x)
    for (int n = (int)threadIdx.x; n < X_SLOTS * X_PLANE; n += THREADS)
      rings[X_RING + n] = 0.0;
  __syncthreads();
  const bool low = t.k0 == t.x_first;
#pragma unroll 1
  for (int prepares = low; prepares >= 0; prepares--) {
    run<varies>(job, maps, t, c, &m, low ? 0 : t.k0 - 2, prepares ? 4 : t.k1 + 2,
                prepares ? 0 : t.k1);
    if (prepares) fill_low_ghosts(t, &m);
  }
}

/* ---- launch ---- */

/* Tensor map of x or of betas, with the ghosts that tiles read. */
mg_status_t make_map(const mg_view_t *v, const job_t &job, const double *vec, int rows,
                     CUtensorMap *map) {
  const mg_patch_t &p = job.sweep.l.p;
  mg_box_array_t array = {vec - job.low[0] - job.low[1] * p.jstride - job.low[2] * p.kstride,
                          sizeof(double),
                          {},
                          p.jstride,
                          p.kstride};
  for (int d = 0; d < 3; d++)
    array.extent[d] = job.low[d] + p.n[d] + v->ghost_layers;
  return mg_cuda_tma_map(&array, BOX_I, rows, map);
}

mg_status_t make_maps(const mg_view_t *v, const job_t &job, maps_t *maps) {
  if (job.sweep.x) MG_TRY(make_map(v, job, job.sweep.x, X_ROWS, &maps->x));
  for (int d = 0; d < 3; d++)
    MG_TRY(make_map(v, job, job.sweep.l.p.vec[MG_BETA_I + d], ROWS, &maps->beta[d]));
  return MG_OK;
}

/* @return relative cost */
double tiling_of(const mg_patch_t &p, int idle_sms, mg_tiling_t *c) {
  const int extra_planes = 5;
  double cost;
  *c = {{OUT_I, OUT_J, 0}, {COL0, ROW0, ROW0}, {BOX_I, X_ROWS, 0}, {}};
  c->n[0] = (p.n[0] + OUT_I - 1) / OUT_I;
  c->n[1] = (p.n[1] + OUT_J - 1) / OUT_J;
  const int planes = mg_planes_of_blocks(p.n[2], (int64_t)c->n[0] * c->n[1], mg_cuda.sms, idle_sms,
                                         extra_planes, &cost);
  /* The formulas of a wall need 4 planes in the last block. */
  c->cells[2] = (planes + 3) / 4 * 4;
  c->box[2] = c->cells[2] + 2 * ROW0;
  c->n[2] = (p.n[2] + c->cells[2] - 1) / c->cells[2];
  return cost;
}

/* Whether every patch is large enough, its last tiles and blocks have the cells that the formulas
 * of a wall need, and in each direction it has walls on both sides or enough ghost layers. */
bool patches_fit(const mg_view_t *v) {
  const int layers = mg_layers_of_steps(v->radius, MG_MAX_FUSED_SWEEPS_FV4);
  bool fit = mg_operator_order(v) == 4;
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++) {
      const mg_patch_t &p = v->patch[q];
      fit = fit && p.n[d] % 4 == 0 && p.n[d] >= MIN_CELLS &&
            ((p.wall[d][0] && p.wall[d][1]) || v->ghost_layers >= layers);
    }
  return fit;
}
} // namespace

bool mg_cuda_fv4_can_fuse(const mg_view_t *v, int max_steps) {
  bool has = false;
  int device, max_bytes;
  return max_steps <= MG_MAX_FUSED_SWEEPS_FV4 && mg_cuda_has_tma(&has) == MG_OK && has &&
         cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&max_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
             cudaSuccess &&
         max_bytes >= (int)BYTES && patches_fit(v);
}

bool mg_cuda_fv4_fused_overlaps(const mg_view_t *v, bool host) {
  bool pays = host || v->n_patches == 1;
  for (int q = 0; q < v->n_patches && pays; q++) {
    const mg_patch_t &p = v->patch[q];
    mg_tiling_t tiling;
    const bool room = mg_tiling_for_overlap(
        [&](int idle_sms, mg_tiling_t *c) { return tiling_of(p, idle_sms, c); }, &tiling);
    pays = (room || host) && mg_overlap_pays(p, tiling, mg_cuda.sms);
  }
  return pays;
}

mg_status_t mg_cuda_fv4_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep,
                                     mg_region_t region) {
  const auto kernel = v->alpha_varies ? two_half_sweeps<true> : two_half_sweeps<false>;
  if (sweep->n != MG_MAX_FUSED_SWEEPS_FV4 || !sweep->step->colored)
    return mg_error(MG_ERR_INTERNAL, "%d fused steps of fv4", sweep->n);
  MG_CUDA_TRY(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)BYTES));
  for (int q = 0; q < v->n_patches; q++) {
    job_t job = {};
    maps_t maps = {};
    job.sweep.l = mg_cuda_patch(v, q);
    const mg_patch_t &p = job.sweep.l.p;
    job.sweep.x = sweep->x < 0 ? nullptr : p.vec[sweep->x];
    job.sweep.f = p.vec[MG_F];
    job.sweep.dinv = p.vec[MG_DINV];
    job.sweep.dst = p.vec[sweep->dst];
    job.sweep.color = sweep->step->color;
    job.sweep.c2 = sweep->step->c2;
    for (int d = 0; d < 3; d++) /* even along i: boxes begin at multiples of 16 bytes */
      job.low[d] = d == 0 ? (v->ghost_layers + 1) / 2 * 2 : v->ghost_layers;
    MG_TRY(make_maps(v, job, &maps));
    const mg_tiling_t tiling = mg_tiling_for(
        region, [&](int idle_sms, mg_tiling_t *c) { return tiling_of(p, idle_sms, c); });
    job.planes = tiling.cells[2];
    const int blocks = mg_region_tiles(p, tiling, region, &job.tiles);
    if (blocks > 0) kernel<<<(unsigned)blocks, THREADS, BYTES, mg_cuda.stream>>>(job, maps);
    MG_CUDA_LAUNCHED("fv4_fused");
  }
  return MG_OK;
}
