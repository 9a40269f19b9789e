/* Fused sweeps of a 7-point smoother: several steps per traversal of memory (temporal blocking).
 *
 * A block owns a tile of columns and traverses its planes once. At bundle q it performs the first
 * step in plane q - 1, the second in q - 2, the third in q - 3, and writes the last step's result:
 *
 *     plane  q     x read
 *            q-1   step 0   from x of q-2 .. q
 *            q-2   step 1   from step 0's q-3 .. q-1
 *            q-3   step 2   from step 1's q-4 .. q-2, written
 *
 * Neighbours in k stay in the registers of the thread that owns the column. Neighbours in i and j
 * are read from planes in shared memory: two planes of each step's results, and rings of planes of
 * x and the betas. TMA fills these rings while the block computes (tma.h).
 *
 * Each step invalidates one more layer of cells around the tile, so tiles overlap. With three
 * steps, 24 x 26 of the 32 x 32 cells are written. Along i a box begins at a multiple of 64 bytes.
 * Nothing is read outside walls, whose formulas are folded into the stencil. Elsewhere tiles read
 * ghosts, of which a level has one layer per step.
 *
 * A thread has two cells of a row, one of each colour. A colored step changes one of them. It is
 * the same one in all steps of a bundle, because both colours and planes alternate from step to
 * step.
 *
 * Results are bit-identical to those of single steps: same formulas, same order. Bytes per cell of
 * the fused sweeps: 48; 56 if Chebyshev reads or writes a second iterate; 8 more if alpha varies.
 * The smooth ladder of the laboratory has the variants that led to this one; docs/kernels.md
 * explains why it won.
 *
 * Datta et al., Stencil computation optimization and auto-tuning on state-of-the-art multicore
 * architectures (2008): time skewing; Micikevicius, 3D finite difference computation on GPUs using
 * CUDA (2009): planes in shared memory, columns in registers. */
#include "cuda/temporal.h"
#include "cuda/temporal_columns.h"
#include <algorithm>
extern "C" {
#include "cuda/device.h"
}

using namespace mg_temporal;

namespace {
enum { SHORTEST = 32 }; /* fewest cells of a patch along each direction */

/* Shared memory per block; exceeds the limit of sm_120. */
template <bool COLORED, bool VARIES>
constexpr size_t MOST_BYTES = shape_t<COLORED, MG_MAX_FUSED_SWEEPS, VARIES>::BYTES;
constexpr int SHARED_BYTES = (int)std::max({MOST_BYTES<true, false>, MOST_BYTES<true, true>,
                                            MOST_BYTES<false, false>, MOST_BYTES<false, true>});

/* Pipeline state that is carried from bundle to bundle. */
struct stream_t {
  slots_t slot, asked;
  unsigned parity;
  int plain_first, plain_end; /* bundles that need no checks for walls or unused planes */
};

template <bool COLORED, int STEPS, bool VARIES, int odd>
__device__ __forceinline__ void
bundle(columns_t<COLORED, STEPS, VARIES> &c, double *shared, uint64_t *arrived, const job_t &job,
       const maps_t &maps, const tile_t &t, int q, double *to, double *to_before, stream_t *s) {
  using S = shape_t<COLORED, STEPS, VARIES>;
  /* No thread still reads the planes that bundle q + AHEAD overwrites. */
  if (threadIdx.x == 0 && q + S::AHEAD < t.last + STEPS) {
    ask<COLORED, VARIES, S>(shared, job, maps, t, q + S::AHEAD, s->asked, arrived);
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

template <bool COLORED, int STEPS, bool VARIES>
__global__ void __launch_bounds__(THREADS, 1)
    fused_sweeps(const MG_GRID_CONSTANT job_t job, const MG_GRID_CONSTANT maps_t maps) {
  using S = shape_t<COLORED, STEPS, VARIES>;
  extern __shared__ __align__(128) double shared[];
  uint64_t *const arrived = reinterpret_cast<uint64_t *>(shared + S::END);
  const mg_patch_t &p = job.l.p;
  int at[3];
  mg_tile_of_block(job.tiles, at);
  const tile_t t = {at[0] * OUT_I - BOX_START, at[1] * S::OUT_J - STEPS, at[2] * job.planes,
                    min((at[2] + 1) * job.planes, p.n[2])};
  const int first = t.first - STEPS, end = t.last + STEPS;
  columns_t<COLORED, STEPS, VARIES> c = {};
  c.begin(job, t, first);
  stream_t stream = {};
  /* Plain bundles: the planes of all steps are needed, and no cell is at a wall. */
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
      ask<COLORED, VARIES, S>(shared, job, maps, t, q, stream.asked, arrived);
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
    bundle<COLORED, STEPS, VARIES, 0>(c, shared, arrived, job, maps, t, q, to, to_before, &stream);
    if (COLORED && ++q < end)
      bundle<COLORED, STEPS, VARIES, 1>(c, shared, arrived, job, maps, t, q, to, to_before,
                                        &stream);
  }
}

/* Tensor map of vector x, with the ghosts that tiles read. `far`: x is a face vector, which has one
 * more layer at a high wall. */
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

/* Tiling of a patch. `beside`: number of SMs to leave free for messages.
 *  @return relative cost */
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

template <bool COLORED, int STEPS, bool VARIES>
mg_status_t launch(const mg_view_t *v, job_t &job, const mg_sweep_t *sweep, mg_region_t region) {
  using S = shape_t<COLORED, STEPS, VARIES>;
  static bool ready = false;
  maps_t maps = {};
  if (!ready)
    MG_CUDA_TRY(cudaFuncSetAttribute(fused_sweeps<COLORED, STEPS, VARIES>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::BYTES));
  ready = true;
  MG_TRY(make_maps(v, job, sweep->x, sweep->previous, &maps));
  static_assert(S::OUT_J == ROWS - 2 * STEPS, "cut_of uses the same width");
  const mg_cut_t cut = mg_cut_for(
      region, [&](int beside, mg_cut_t *c) { return cut_of(job.l.p, STEPS, beside, c); });
  job.planes = cut.cells[2];
  const int grid = mg_region_tiles(job.l.p, cut, region, &job.tiles);
  if (grid > 0)
    fused_sweeps<COLORED, STEPS, VARIES>
        <<<(unsigned)grid, THREADS, S::BYTES, mg_cuda.stream>>>(job, maps);
  return MG_OK;
}

/* Whether the patch provides all that tiles read: along each direction walls on both sides, or one
 * ghost layer per step. */
bool fits(const mg_view_t *v, const mg_patch_t *p, int most) {
  bool fits = p->n[0] % 2 == 0;
  for (int d = 0; d < 3; d++)
    fits = fits && p->n[d] >= SHORTEST && ((p->wall[d][0] && p->wall[d][1]) || v->layers >= most);
  return fits;
}
} // namespace

mg_status_t mg_cuda_has_temporal(bool *has) {
  int device, most;
  MG_TRY(mg_cuda_has_tma(has));
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  *has = *has && most >= SHARED_BYTES;
  return MG_OK;
}

bool mg_cuda_can_fuse(const mg_view_t *v, int most) {
  bool can = false;
  if (v->op == MG_OPERATOR_FV4 || most > MG_MAX_FUSED_SWEEPS || mg_cuda_has_temporal(&can) != MG_OK)
    return false;
  for (int q = 0; q < v->n_patches; q++)
    can = can && fits(v, &v->patch[q], most);
  return can;
}

bool mg_cuda_fused_overlaps(const mg_view_t *v, int n, bool host) {
  bool pays = host || v->n_patches == 1;
  for (int q = 0; q < v->n_patches && pays; q++) {
    const mg_patch_t &p = v->patch[q];
    mg_cut_t cut;
    const bool room =
        mg_cut_for_overlap([&](int beside, mg_cut_t *c) { return cut_of(p, n, beside, c); }, &cut);
    pays = (room || host) && mg_overlap_pays(p, cut, mg_cuda.processors);
  }
  return pays;
}

static job_t job_of(const mg_view_t *v, int q, const mg_sweep_t *sweep) {
  job_t job = {};
  job.l = mg_cuda_patch(v, q);
  job.dst = sweep->dst;
  job.before = sweep->before;
  job.has_x = sweep->x >= 0;
  job.has_before = sweep->previous >= 0 && !sweep->step[0].colored;
  job.color = sweep->step[0].color;
  for (int s = 0; s < sweep->n; s++) {
    job.c1[s] = sweep->step[s].c1;
    job.c2[s] = sweep->step[s].c2;
  }
  /* Even along i, for 16-byte alignment. An extra cell is at the end of the previous row. */
  for (int d = 0; d < 3; d++)
    job.low[d] = job.l.p.wall[d][0] ? 0 : d == 0 ? (v->layers + 1) / 2 * 2 : v->layers;
  return job;
}

mg_status_t mg_cuda_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  typedef mg_status_t launch_t(const mg_view_t *, job_t &, const mg_sweep_t *, mg_region_t);
  /* [colored][3 steps instead of 2][alpha varies] */
  static launch_t *const launches[2][2][2] = {{{launch<false, 2, false>, launch<false, 2, true>},
                                               {launch<false, 3, false>, launch<false, 3, true>}},
                                              {{launch<true, 2, false>, launch<true, 2, true>},
                                               {launch<true, 3, false>, launch<true, 3, true>}}};
  if (sweep->n < 2 || sweep->n > MG_MAX_FUSED_SWEEPS)
    return mg_error(MG_ERR_INTERNAL, "%d fused sweeps, limits 2 and %d", sweep->n,
                    MG_MAX_FUSED_SWEEPS);
  launch_t *const launch = launches[sweep->step[0].colored][sweep->n - 2][v->varies];
  for (int q = 0; q < v->n_patches; q++) {
    job_t job = job_of(v, q, sweep);
    MG_TRY(launch(v, job, sweep, region));
    MG_CUDA_LAUNCHED("smooth_fused");
  }
  return MG_OK;
}
