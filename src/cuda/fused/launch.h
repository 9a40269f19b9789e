/* Fused sweeps: the kernel of fused/sweeps.cu and its launch, for any shape of the pipeline. Shared
 * by the solver and hpgmg-bench. */
#ifndef MG_CUDA_FUSED_LAUNCH_H
#define MG_CUDA_FUSED_LAUNCH_H

#include "cuda/fused/input.h"
#include "cuda/runtime/dependent_launch.h"
#include <algorithm>

namespace mg_fused {
/* State carried from stage to stage. */
template <typename S> struct pipeline_t {
  mg_arrivals_t<S::ARRIVALS> arrived;
  int q, end;                  /* this stage, and the end of all stages */
  int request_end;             /* this thread requests further stages before stage request_end */
  mg_real_t *to, *to_previous; /* outputs: the cells of this thread's columns in plane 0 */
  children_t<S> children;      /* with an interpolated input: this thread's cells */
};

template <care_t care, typename S, int odd>
__device__ __forceinline__ void stage(columns_t<S> &c, mg_real_t *shared, const job_t &job,
                                      const maps_t &maps, const tile_t &t, pipeline_t<S> *s) {
  const int q = s->q;
  /* No thread still reads the planes that stage q + AHEAD overwrites. */
  if (q < s->request_end) {
    request<S>(shared, job, maps, t, q, c.slots, S::AHEAD, s->arrived.at(S::AHEAD));
    /* Order stores to the ring of x before the next stage's TMA load into the same plane. */
    if (S::COLORED) mg_tma_fence();
  }
  s->arrived.wait();
  if constexpr (S::INTERPOLATED)
    interpolate_cells<S>(shared, job, s->children, c, q, c.slots.x_of(0));
  c.load_stage(job);
  if constexpr (S::INTERPOLATED) interpolate_k<S>(shared, job, t, q + 1);
  c.template steps<care, odd>(job, t, q, s->to, s->to_previous);
  __syncthreads();
  c.advance();
  s->arrived.stage++;
  s->q++;
}

/* Stages up to `end`. The first one is an even stage of the block (pairs). If they are not careful,
 * it changes cells [r][c] with r + c even (squares), and their number is even. */
template <care_t care, typename S>
__device__ __forceinline__ void stages(columns_t<S> &c, mg_real_t *shared, const job_t &job,
                                       const maps_t &maps, const tile_t &t, int end,
                                       pipeline_t<S> *s) {
  constexpr bool by_two = S::COLORED && (care != CAREFUL || !S::SQUARES);
  while (s->q < end) {
    stage<care, S, 0>(c, shared, job, maps, t, s);
    if (by_two && (care != CAREFUL || s->q < end)) stage<care, S, 1>(c, shared, job, maps, t, s);
  }
}

/* Whether cells of the tile may be at walls in i and j. */
template <typename S>
__device__ __forceinline__ bool at_wall(const mg_patch_t &p, const tile_t &t) {
  return begins_at_wall(p, t) || ends_at_wall<S>(p, t) || (p.wall[1][0] && t.j0 <= 0) ||
         (p.wall[1][1] && t.j0 + S::ROWS >= p.n[1]);
}

template <typename S>
static __global__ void __launch_bounds__(S::THREADS, S::BLOCKS)
    fused_sweeps(const MG_GRID_CONSTANT job_t job, const MG_GRID_CONSTANT maps_t maps) {
#if MG_CUDA_BOX_CODE /* other architectures have no TMA */
  constexpr int DEPTH = S::DEPTH;
  extern __shared__ __align__(128) mg_real_t shared[];
  const mg_patch_t &p = job.l.p;
  const mg_piece_t piece = job.pieces[blockIdx.x];
  tile_t t = {piece.i * S::OUT_I - (p.wall[0][0] ? 0 : BOX_START),
              piece.j * S::OUT_J - S::MARGIN,
              piece.first,
              piece.end,
              {}};
  if constexpr (S::INTERPOLATED) {
    t.source[0] = first_source<S>(job, 0, t.i0);
    t.source[1] = first_source<S>(job, 1, t.j0);
  }
  const int first = first_plane<S>(p, t), end = t.end + DEPTH;
  columns_t<S> c = {};
  const unsigned long long known = S::USE == RESIDUAL_NORM ? mg_max_known(job.maximum) : 0;
  c.begin(shared, job, t, first);
  c.slots.begin();
  const ptrdiff_t column = c.i + c.j * p.jstride;
  pipeline_t<S> pipeline = {{reinterpret_cast<uint64_t *>(shared + S::END), 0},
                            first,
                            end,
                            threadIdx.x == 0 ? end - S::AHEAD : first,
                            p.vec[job.dst] + column,
                            job.previous_out < 0 ? nullptr : p.vec[job.previous_out] + column,
                            {}};
  if constexpr (S::INTERPOLATED) pipeline.children.begin(job, t, c.i, c.j);
  if (threadIdx.x == 0) {
    /* Only this thread's requests read ghosts. */
    if ((int)blockIdx.x >= job.early) mg_cuda_wait_exchange();
    mg_mbarrier_create(pipeline.arrived.first, S::ARRIVALS, 1);
#pragma unroll 1
    for (int d = 0; d < S::AHEAD; d++)
      request<S>(shared, job, maps, t, first, c.slots, d, pipeline.arrived.at((unsigned)d));
  }
  __syncthreads();
  if constexpr (S::INTERPOLATED) {
    pipeline.arrived.wait();
    interpolate_k<S>(shared, job, t, first, true);
    __syncthreads();
  }
  /* In stages plain <= q < plain_end the planes of all steps are used and not at walls. An even
   * number of stages, after an even number of careful ones. Tiles at walls in i and j have code of
   * their own, except with a varying alpha, where they are careful in all stages. */
  constexpr bool own_code = !S::VARIES;
  int plain = max(t.first, p.wall[2][0] ? 1 : first) + DEPTH;
  plain += (plain - first) & 1;
  if constexpr (S::COLORED && S::SQUARES) plain += (plain + columns_t<S>::parity_of(job, t)) & 1;
  plain = min(plain, end);
  const int last = p.wall[2][1] ? min(t.end + S::STEPS, p.n[2]) : t.end + S::STEPS,
            plain_end = !own_code && at_wall<S>(p, t) ? plain : plain + (last - plain) / 2 * 2;
  for (int careful_end = plain; pipeline.q < end; careful_end = end) {
    stages<CAREFUL, S>(c, shared, job, maps, t, careful_end, &pipeline);
    if (own_code && at_wall<S>(p, t))
      stages<own_code ? WALLS_IN_IJ : PLAIN, S>(c, shared, job, maps, t, plain_end, &pipeline);
    else
      stages<PLAIN, S>(c, shared, job, maps, t, plain_end, &pipeline);
  }
  c.residual.end(job, known);
#endif
}

/* Cells below cell 0 that a tensor map includes. Along i a multiple of 16 bytes; extra cells, if
 * any, are the end of the previous row and are not used. */
inline int cells_below(const mg_view_t *v, const mg_patch_t &p, int d) {
  const int line = 16 / (int)sizeof(mg_real_t),
            aligned = (v->ghost_layers + line - 1) / line * line;
  return p.wall[d][0] ? 0 : d == 0 ? aligned : v->ghost_layers;
}

/* Constant betas of a level with a constant alpha. */
inline void set_constants(const mg_view_t *v, const mg_sweep_t *sweep, job_t &job) {
  for (int d = 0; d < 3; d++) {
    job.beta[d] = MG_REAL(v->constant.inside[d]);
    for (int s = 0; s < 2; s++)
      job.side_beta[d][s] = MG_REAL(v->constant.side[d][s]);
  }
  for (int n = 0; n < 27; n++) {
    const walls_t walls = {{n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1}};
    mg_row_t row = constant_row(job);
    set_side_betas<CAREFUL>(job, walls, &row);
    const mg_real_t inverse = MG_REAL(1.0) / diagonal<CAREFUL>(job, walls, row);
    for (int s = 0; s < sweep->n; s++)
      job.inverse[s][place_of(walls.side)] =
          sweep->step[s].colored ? MG_REAL(sweep->step[s].c2) * inverse : inverse;
  }
}

/* Kernel arguments of a sweep over patch q. */
inline job_t job_of(const mg_view_t *v, int q, const mg_sweep_t *sweep) {
  job_t job = {};
  job.l = mg_cuda_patch(v, q);
  job.a = (mg_real_t)v->a;
  job.b_h2 = (mg_real_t)v->b_h2;
  if (v->constant.is && !v->alpha_varies) set_constants(v, sweep, job);
  job.dst = sweep->dst;
  job.previous_out = sweep->previous_out;
  job.has_x = sweep->x >= 0;
  job.has_previous = sweep->previous >= 0 && !sweep->step[0].colored;
  job.color = sweep->step[0].color;
  for (int s = 0; s < sweep->n; s++) {
    job.c1[s] = sweep->step[s].c1;
    job.c2[s] = sweep->step[s].c2;
  }
  for (int d = 0; d < 3; d++)
    job.low[d] = cells_below(v, job.l.p, d);
  return job;
}

/* Tensor map of vector `vec` of patch p, with the ghosts that tiles read, for boxes of width x rows
 * cells. `is_face`: a vector of face values, which has one more layer at a high wall. */
inline mg_status_t make_map(const mg_view_t *v, const mg_patch_t &p, mg_vector_t vec, bool is_face,
                            int width, int rows, CUtensorMap *map) {
  const int low[3] = {cells_below(v, p, 0), cells_below(v, p, 1), cells_below(v, p, 2)};
  mg_box_array_t array = {
      mg_cell(&p, vec, -low[0], -low[1], -low[2]), sizeof(mg_real_t), {}, p.jstride, p.kstride};
  for (int d = 0; d < 3; d++)
    array.extent[d] = low[d] + p.n[d] + (p.wall[d][1] ? (int)is_face : v->ghost_layers);
  return mg_cuda_tma_map(&array, width, rows, map);
}

/* Tensor maps for the tiles of a shape. f, alpha and beta_i, beta_k need two rows fewer, beta_j
 * one. */
template <typename S>
mg_status_t make_maps(const mg_view_t *v, const job_t &job, const mg_sweep_t *sweep, maps_t *m) {
  constexpr int width = S::WIDTH, rows = S::ROWS;
  const mg_patch_t &p = job.l.p;
  if (job.has_x) MG_TRY(make_map(v, p, sweep->x, false, width, rows, &m->x));
  if (job.has_previous) MG_TRY(make_map(v, p, sweep->previous, false, width, rows, &m->previous));
  if (S::VARIES) MG_TRY(make_map(v, p, MG_ALPHA, false, width, rows - 2, &m->alpha));
  for (int d = 0; d < 3 && !S::CONSTANT; d++)
    MG_TRY(make_map(v, p, (mg_vector_t)(MG_BETA_I + d), true, width, d == 1 ? rows - 1 : rows - 2,
                    &m->beta[d]));
  if (!S::CONSTANT && p.wall[0][1])
    MG_TRY(make_map(v, p, MG_BETA_I, true, EDGE_WIDTH, rows - 2, &m->edge));
  return make_map(v, p, MG_F, false, width, rows - 2, &m->f);
}

/* Tiling of a patch into columns of a shape. */
template <typename S> mg_tiling_t tiling_of(const mg_patch_t &p) {
  const int left = p.wall[0][0] ? 0 : BOX_START;
  /* Columns of a patch with one tile. */
  const int reach = (p.wall[0][1] ? S::WIDTH : OUT_LEFT + S::OUT_I) - left;
  mg_tiling_t c = {
      {S::OUT_I, S::OUT_J, 0}, {left, S::MARGIN, S::DEPTH}, {S::WIDTH, S::ROWS, 0}, {}};
  c.n[0] = 1 + (std::max(p.n[0] - reach, 0) + S::OUT_I - 1) / S::OUT_I;
  c.n[1] = (p.n[1] + c.cells[1] - 1) / c.cells[1];
  return c;
}

/* The level of patch q and the next coarser one. */
inline parents_t parents_of(const mg_view_t *v, int q, const mg_view_t *coarse) {
  parents_t c = {};
  const mg_patch_t &half = coarse->patch[q];
  c.weight = mg_child_weight(v->n, coarse->n);
  for (int d = 0; d < 3; d++) {
    c.single[d] = v->single[d];
    c.n[d] = v->n[d];
    c.n_coarse[d] = half.n[d];
    c.lo[d] = half.lo[d];
    c.periodic[d] = mg_is_periodic(v, d);
  }
  return c;
}

/* Interpolated input of a sweep: vector `vec` of the coarse patch p. */
struct source_t {
  const mg_view_t *v;
  mg_patch_t p;
  mg_vector_t vec;
  mg_interpolation_t kind;
};

template <typename S> mg_status_t set_source(const source_t &source, job_t &job, maps_t *m) {
  for (int d = 0; d < 2; d++)
    job.wide[d] = source.v->n[d] != (job.parents.n[d] + 1) / 2;
  job.source = source_shape_of(job.wide, S::WIDTH, S::ROWS, S::MARGIN);
  job.interpolation = source.kind;
  job.source_order = mg_wall_orders(source.v, source.kind == MG_INTERPOLATE_V2 ? 2 : 1).along[0];
  for (int d = 0; d < 3; d++)
    job.source_low[d] = cells_below(source.v, source.p, d);
  return make_map(source.v, source.p, source.vec, false, job.source.width, job.source.rows,
                  &m->source);
}

/* Costs of blocks, from their times on an H200. A piece computes DEPTH planes more on each side
 * than it writes, except below a low wall; filling its pipeline takes about as long as DEPTH
 * planes. Blocks that stay
 * together read less from memory, so short pieces pay on GPUs that are short of bandwidth
 * (docs/performance.md, "GPU: fused sweeps"). */
template <typename S> mg_columns_t costs(const mg_patch_t &p) {
  const double in_i = S::INTERPOLATED             ? 1.65
                      : S::USE == RESIDUAL_UNUSED ? 1.1
                                                  : 1.2,
               in_j = S::INTERPOLATED ? 1.35 : in_i;
  mg_columns_t costs = mg_no_costs();
  costs.cost[0][0] = 1.0;
  costs.cost[0][1] = in_j;
  costs.cost[1][0] = costs.cost[1][1] = in_i;
  costs.last_j = 1.0;
  costs.overhead = 3 * S::DEPTH;
  costs.first = p.wall[2][0] ? -S::DEPTH : 0;
  costs.step = S::USE == RESIDUAL_RESTRICTED || S::USE == RESIDUAL_TO_PARENTS ? 2 : 1;
  costs.slots = S::BLOCKS * mg_cuda.sms;
  costs.most = S::SQUARES || !mg_cuda.short_of_bandwidth ? 0 : S::COLORED ? 64 : 128;
  costs.share = 0.65;
  return costs;
}

template <typename S>
static mg_status_t launch(const mg_view_t *v, job_t &job, const mg_sweep_t *sweep,
                          mg_region_t region, const source_t *source = nullptr) {
  static bool ready = false;
  maps_t maps = {};
  if (!ready) MG_TRY(mg_cuda_allow_shared((const void *)fused_sweeps<S>, S::BYTES));
  ready = true;
  MG_TRY(make_maps<S>(v, job, sweep, &maps));
  if (S::INTERPOLATED) MG_TRY(set_source<S>(*source, job, &maps));
  mg_pieces_t pieces;
  MG_TRY(mg_cuda_pieces(
      mg_columns_of(v, job.l.p, tiling_of<S>(job.l.p), costs<S>(job.l.p), region != MG_REGION_ALL),
      region, &pieces));
  job.pieces = pieces.piece;
  job.early = pieces.early;
  const bool beside = region == MG_REGION_INTERIOR_FIRST && mg_cuda.exchange_beside;
  mg_cuda.exchange_beside = false;
  if (beside && pieces.early < pieces.n)
    mg_cuda_launch_dependent_shared(fused_sweeps<S>, (unsigned)pieces.n, S::THREADS, S::BYTES, job,
                                    maps);
  else if (pieces.n > 0)
    fused_sweeps<S><<<(unsigned)pieces.n, S::THREADS, S::BYTES, mg_cuda.stream>>>(job, maps);
  return MG_OK;
}
typedef mg_status_t launch_t(const mg_view_t *, job_t &, const mg_sweep_t *, mg_region_t,
                             const source_t *);

/* Launch function of 2 or 3 steps. */
template <bool COLORED, vary_t VARY = VARY_BETAS, residual_use_t USE = RESIDUAL_UNUSED,
          input_t INPUT = INPUT_STORED>
launch_t *launch_of_steps(int n) {
  return n == 2 ? launch<solver_shape_t<COLORED, 2, VARY, USE, INPUT>>
                : launch<solver_shape_t<COLORED, 3, VARY, USE, INPUT>>;
}

/* Launch function of n steps with an alpha that does not vary. Steps on all cells share a kernel:
 * TO_PARENTS also restricts to half the cells. */
template <vary_t VARY> launch_t *launch_of_use(bool colored, int n, residual_use_t use) {
  if (use == RESIDUAL_UNUSED)
    return colored ? launch_of_steps<true, VARY>(n) : launch_of_steps<false, VARY>(n);
  if (use == RESIDUAL_NORM)
    return colored ? launch_of_steps<true, VARY, RESIDUAL_NORM>(n)
                   : launch_of_steps<false, VARY, RESIDUAL_NORM>(n);
  if (!colored) return launch_of_steps<false, VARY, RESIDUAL_TO_PARENTS>(n);
  return use == RESIDUAL_RESTRICTED ? launch_of_steps<true, VARY, RESIDUAL_RESTRICTED>(n)
                                    : launch_of_steps<true, VARY, RESIDUAL_TO_PARENTS>(n);
}

/* Launch function of n half sweeps with an interpolated input. */
template <vary_t VARY> launch_t *launch_of_input(int n, input_t input) {
  return input == INPUT_FROM_HALVES
             ? launch_of_steps<true, VARY, RESIDUAL_UNUSED, INPUT_FROM_HALVES>(n)
             : launch_of_steps<true, VARY, RESIDUAL_UNUSED, INPUT_FROM_PARENTS>(n);
}

/* Launch functions of n steps with constant coefficients (fused/constant.cu), and of n colored
 * steps with an interpolated input (fused/interpolated.cu). */
launch_t *launch_constant(bool colored, int n, residual_use_t use);
launch_t *launch_constant_interpolated(int n, input_t input);
launch_t *launch_interpolated(int n, bool varies, input_t input);
} // namespace mg_fused

#endif
