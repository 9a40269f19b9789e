/* Two half sweeps of fv4's GSRB in one pass over memory (temporal blocking).
 *
 * A block owns a tile of columns and traverses its planes once. In stage q it performs the first
 * half sweep in plane q and the second one in plane q-1, which it writes:
 *
 *     plane  q+3   x in flight
 *            q     half sweep 0   from x of q-2 .. q+2, to y of q
 *            q-1   half sweep 1   from y of q-3 .. q and x of q+1, written
 *
 * x, y and the betas are rings of planes in shared memory, which TMA fills one stage ahead
 * (fv4/fused_rings.h). f and 1/diagonal are read once, into registers.
 *
 * Of the cells that the first half sweep has changed, the second one reads only the face neighbors:
 * the others have its own color. Hence
 *   - the first half sweep covers one cell more than the tile on each side, and reads x from three
 *     and betas from two cells outside the tile; the level has three ghost layers;
 *   - of plane q, the second one needs only the new value in its own column, which is in a
 *     register, so there is one barrier per stage;
 *   - both half sweeps of a stage change the same column, so 20 of the 55 values that the second
 *     one reads are already in registers.
 *
 * At walls, ghosts depend on cells of both colors. The second half sweep reads them also in plane
 * q, next to its cell: the warps that have the four cells next to a wall evaluate them between the
 * half sweeps. So tiles at walls need no other barrier of the block. Two steps on all cells
 * (Jacobi, Chebyshev) would need a fourth layer, a lag of two planes and twice the arithmetic.
 *
 * Budget in double, for a tile of 28 x 28 cells in a box of 36 x 34:
 *   - shared memory: 6 planes of x, 4 of y, 5, 5 and 4 of the betas, 225 kB of 232 kB. So an SM has
 *     one block, of 512 threads with 128 registers. A residual of the result would need 15 planes
 *     more (6 of the result, 9 of betas), hence tiles of 24 x 12 cells that overlap by two cells
 *     more on each side: 1.6 times the time of a separate residual.
 *   - bytes per cell and two half sweeps: 56 from and to memory instead of 112; requested from L2
 *     75 instead of about 130, since the boxes of x are 1.56, those of the betas 1.47, and f and
 *     1/diagonal 1.22 times the tile.
 *   - work: 1.18 times that of single half sweeps, and 3 planes more per block. A thread loads 55
 *     and 35 values from shared memory, which takes an SM about 2,750 cycles per plane and tile; 95
 *     operations in double per half sweep take half of that. docs/performance.md has the gain.
 *
 * In float, for a tile of 60 x 28 cells in a box of 68 x 34, whose rows are about as long in bytes:
 *   - shared memory: 213 kB. A residual does not fit either.
 *   - a thread has two pairs of cells, 32 columns apart, and processes one after the other. They
 *     have one color, and the same addresses but for a constant: 450 instructions per pair and
 *     stage. With a thread for each pair it would be 600, with 64 registers, some of them spilled.
 *   - bytes per cell and two half sweeps: 28 and, from L2, 34.
 *
 * A half-warp has eight cells of one color in each of two adjacent rows, in float a warp has 16.
 * They use all banks. Results are bit-identical to those of single half sweeps: same formulas, same
 * order. */
#include "cuda/fv4/fused_stencil.h"

using namespace mg_fv4_fused;

namespace {
/* What the half sweeps read once of a pair. The values are selected when used, so that no thread
 * waits for them before. */
struct inputs_t {
  mg_real2_t f, dinv, a; /* a: only if alpha varies */
};

template <bool varies>
__device__ __forceinline__ inputs_t read_inputs(const job_t &job, const pair_t &c, int k) {
  const ptrdiff_t at = c.column + k * job.sweep.l.p.kstride;
  inputs_t in = {};
  in.f = *(const mg_real2_t *)(job.sweep.f + at);
  in.dinv = *(const mg_real2_t *)(job.sweep.dinv + at);
  if (varies) in.a = *(const mg_real2_t *)(job.sweep.l.p.vec[MG_ALPHA] + at);
  return in;
}

__device__ __forceinline__ input_t input_of(const inputs_t &in, bool right) {
  return {right ? in.f.y : in.f.x, right ? in.dinv.y : in.dinv.x, right ? in.a.y : in.a.x};
}

/* Position of the block in the rings. */
struct march_t {
  slots_t s;
  mg_arrivals_t<ARRIVALS> arrived;
};

/* Fill the rings for the first stage q; no thread uses them. */
__device__ __forceinline__ void begin(const job_t &job, const maps_t &maps, const tile_t &t,
                                      const march_t *m, int q) {
  if (threadIdx.x == 0) {
    request<0, true>(job, maps, t, m->s, q, m->arrived.at());
    request<1, false>(job, maps, t, m->s, q, m->arrived.at(1));
  }
  const bool low = q == t.x_first;
  if (!t.walls && !low) return;
  m->arrived.wait();
  if (low) m->arrived.wait(1);
  fill_first_ghosts(m->s, t, low);
}

/* Write plane k; y[2] is the first half sweep's result, x the new value of the cell whose column is
 * `right` or left. */
__device__ __forceinline__ void write(const job_t &job, const pair_t &c, const slots_t &s, int k,
                                      bool right, mg_real_t x) {
  const mg_real_t other = value_at(s.y[2] + c.cell + (right ? 0 : COL));
  *(mg_real2_t *)(job.sweep.dst + c.column + k * job.sweep.l.p.kstride) =
      right ? mg_make_real2(other, x) : mg_make_real2(x, other);
}

/* Stage q: the first half sweep in plane q, and the second one in plane q - 1 of the same column.
 * Of the plane just computed, the second one reads that column, and ghosts next to it. Reads the
 * next inputs. Parity: as for fill_ghosts_of_y. */
template <bool varies>
__device__ __forceinline__ void march(const job_t &job, const tile_t &t, const pair_t &c,
                                      const slots_t &s, int q, inputs_t *in, input_t *second,
                                      bool writes, unsigned parity) {
  const bool right = (c.parity + q) & 1, changes = c.computes && q >= t.read && q < t.read_end,
             reads = c.computes && q + 1 >= t.read && q + 1 < t.read_end;
  const input_t below = *second;
  *second = input_of(*in, !right);
  const int cell = c.cell + (right ? COL : 0), other = c.cell + (right ? 0 : COL);
  stencil_t v;
  mg_real_t x;
  if (c.inside) put(s.y[3] + other, value_at(s.x[2] + other));
  if (changes) {
    v = load_first(s, cell);
    x = relax<varies>(job, v, input_of(*in, right));
    put(s.y[3] + cell, x);
  } else if (c.inside) {
    put(s.y[3] + cell, value_at(s.x[2] + cell));
  }
  if (reads) *in = read_inputs<varies>(job, c, q + 1);
  if (t.walls) fill_ghosts_of_y(t, c, s.y[3], parity);
  if (!writes || !c.writes) return;
  if (t.walls) load_ghosts_of_y(t, c, s.y[3] + cell, &v.x);
  /* Next to the high wall in k, plane q + 1 is outside. */
  if (q + 1 == t.x_end)
    v.x.k.high =
        mg_ghost_4(1, x, value_at(s.y[2] + cell), value_at(s.y[1] + cell), value_at(s.y[0] + cell));
  write(job, c, s, q - 1, right, relax<varies>(job, load_second_below(s, cell, v, x), below));
}

/* Stage x_end: the second half sweep in the plane next to the high wall in k. y[3] still has the
 * fourth plane from the wall; the first ghost plane replaces it. */
template <bool varies>
__device__ __forceinline__ void march_last(const job_t &job, const tile_t &t,
                                           const pair_t (&c)[PAIRS], const slots_t &s, int q,
                                           const input_t (&second)[PAIRS], bool writes) {
  const bool right = (c[0].parity + q) & 1;
  const int side = right ? COL : 0;
  mg_real_t high2[PAIRS];
#pragma unroll
  for (int n = 0; n < PAIRS; n++) {
    const int cell = c[n].cell + side;
    high2[n] = mg_ghost_4(2, value_at(s.y[2] + cell), value_at(s.y[1] + cell),
                          value_at(s.y[0] + cell), value_at(s.y[3] + cell));
  }
  __syncthreads();
  box_t::fill_plane<Y_RIM>(s.y[3], {s.y[2], s.y[1], s.y[0], s.y[3]}, t, 1, true, true);
  __syncthreads();
#pragma unroll
  for (int n = 0; n < PAIRS; n++)
    if (writes && c[n].writes) {
      const stencil_t v = load_second(s, c[n].cell + side, high2[n]);
      write(job, c[n], s, q - 1, right, relax<varies>(job, v, second[n]));
    }
}

/* Stages first <= q < end. Writes planes from k0 to write_end - 1. */
template <bool varies>
__device__ __forceinline__ void run(const job_t &job, const maps_t &maps, const tile_t &t,
                                    const pair_t (&c)[PAIRS], march_t *m, int first, int end,
                                    int write_end) {
  inputs_t in[PAIRS] = {};
  input_t second[PAIRS] = {};
  begin(job, maps, t, m, first);
#pragma unroll
  for (int n = 0; n < PAIRS; n++)
    if (c[n].computes && first >= t.read) in[n] = read_inputs<varies>(job, c[n], first);
#pragma unroll 1
  for (int q = first; q < end; q++) {
    const bool writes = q - 1 >= t.k0 && q - 1 < write_end;
    m->arrived.wait();
    if (q < t.x_end) {
#pragma unroll
      for (int n = 0; n < PAIRS; n++)
        march<varies>(job, t, c[n], m->s, q, &in[n], &second[n], writes,
                      (unsigned)(m->arrived.stage * PAIRS + n) & 1);
      fill_next_ghosts(m->s, t, q);
    } else {
      march_last<varies>(job, t, c, m->s, q, second, writes);
    }
    __syncthreads();
    m->s.next();
    if (threadIdx.x == 0 && q + 2 < end)
      request<1, false>(job, maps, t, m->s, q + 1, m->arrived.at());
    m->arrived.stage++;
  }
}

template <bool varies>
__global__ void __launch_bounds__(THREADS, 1)
    two_half_sweeps(const MG_GRID_CONSTANT job_t job, const MG_GRID_CONSTANT maps_t maps) {
  __shared__ tile_t t; /* shared: no registers are left */
  march_t m = {{}, {reinterpret_cast<uint64_t *>(rings + END), 0}};
  if (threadIdx.x == 0) {
    t = tile_at(job);
    mg_mbarrier_create(m.arrived.first, ARRIVALS, 1);
    mg_mbarrier_create(m.arrived.first + ARRIVALS, 1, WALL_THREADS);
  }
  if (!job.sweep.x)
    for (int n = (int)threadIdx.x; n < X_SLOTS * X_PLANE; n += THREADS)
      rings[X_RING + n] = MG_REAL(0.0);
  __syncthreads();
  pair_t c[PAIRS];
#pragma unroll
  for (int n = 0; n < PAIRS; n++)
    c[n] = pair_of_thread(job, t, n);
  /* Outside the low wall in k, y follows from its first four planes, which are computed twice. */
  const bool low = t.k0 == t.x_first;
#pragma unroll 1
  for (int prepares = low; prepares >= 0; prepares--) {
    run<varies>(job, maps, t, c, &m, low ? 0 : t.k0 - 2, prepares ? 4 : t.k1 + 1,
                prepares ? 0 : t.k1);
    if (!prepares) break;
    fill_low_ghosts(t, {m.s.y[3], m.s.y[0], m.s.y[1], m.s.y[2]});
    __syncthreads();
  }
}

/* ---- launch ---- */

/* Costs of blocks, from their times on an H100. Warps whose rows are outside the level have little
 * to do. Above a wall in k, four planes are computed twice. */
mg_columns_t costs_for(const mg_patch_t &p, const mg_tiling_t &tiling) {
  const double outside = (double)(tiling.n[1] * OUT_J - p.n[1]) / OUT_J;
  mg_columns_t costs = mg_no_costs();
  costs.cost[0][0] = 1.0;
  costs.cost[0][1] = 1.09;
  costs.cost[1][0] = 1.11;
  costs.cost[1][1] = 1.2;
  costs.last_j = 1.0 - 0.42 * outside;
  costs.overhead = 5;
  costs.first = p.wall[2][0] ? 5 : 0;
  costs.step = 1;
  costs.slots = mg_cuda.sms;
  costs.share = 1.0;
  return costs;
}

/* Tensor map of x or of betas, with the ghosts that tiles read. */
mg_status_t make_map(const mg_view_t *v, const job_t &job, const mg_real_t *vec, int rows,
                     CUtensorMap *map) {
  const mg_patch_t &p = job.sweep.l.p;
  mg_box_array_t array = {vec - job.low[0] - job.low[1] * p.jstride - job.low[2] * p.kstride,
                          sizeof(mg_real_t),
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

mg_tiling_t tiling_of(const mg_patch_t &p) {
  return {{OUT_I, OUT_J, 0},
          {COL0, ROW0, ROW0},
          {BOX_I, X_ROWS, 0},
          {(p.n[0] + OUT_I - 1) / OUT_I, (p.n[1] + OUT_J - 1) / OUT_J, 0}};
}

} // namespace

/* Not with messages between devices: pieces of the whole patch gain more than overlap (320^3 on two
 * H100s 6.76 instead of 7.30 ms). */
bool mg_cuda_fv4_fused_overlaps(const mg_view_t *v, bool host) {
  bool pays = host;
  for (int q = 0; q < v->n_patches && pays; q++) {
    const mg_patch_t &p = v->patch[q];
    pays = mg_overlap_pays(mg_columns_of(v, p, tiling_of(p), mg_no_costs(), true));
  }
  return pays;
}

mg_status_t mg_cuda_fv4_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep,
                                     mg_region_t region) {
  const auto kernel = v->alpha_varies ? two_half_sweeps<true> : two_half_sweeps<false>;
  const mg_step_t *step = sweep->step;
  const int aligned = 16 / (int)sizeof(mg_real_t); /* box starts, in cells along i */
  if (sweep->n != MG_MAX_STEPS_PER_PASS_FV4 || !step[0].colored || step[1].color == step[0].color ||
      step[1].c2 != step[0].c2)
    return mg_error(MG_ERR_INTERNAL, "%d fused steps of fv4, not two half sweeps of both colors",
                    sweep->n);
  MG_TRY(mg_cuda_allow_shared((const void *)kernel, BYTES));
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
    job.a = v->a;
    job.b_h2 = v->b_h2;
    for (int d = 0; d < 3; d++)
      job.low[d] = v->ghost_layers;
    job.low[0] = (v->ghost_layers + aligned - 1) / aligned * aligned;
    MG_TRY(make_maps(v, job, &maps));
    const mg_tiling_t tiling = tiling_of(p);
    mg_pieces_t pieces;
    MG_TRY(
        mg_cuda_pieces(mg_columns_of(v, p, tiling, costs_for(p, tiling), region != MG_REGION_ALL),
                       region, &pieces));
    job.pieces = pieces.piece;
    if (pieces.n > 0) kernel<<<(unsigned)pieces.n, THREADS, BYTES, mg_cuda.stream>>>(job, maps);
    MG_CUDA_LAUNCHED("fv4_fused");
  }
  return MG_OK;
}
