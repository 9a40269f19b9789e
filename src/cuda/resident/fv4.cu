/* Resident smooths of fv4: all steps in one launch, for levels that are too small to fill the GPU
 * for longer than a launch takes. As resident/sweeps.cu does for the 7-point operators.
 *
 * All blocks run at the same time, for the reasons in resident/sweeps.cu. Each owns a tile of the
 * level (resident_tiles.h). A thread has one cell, with its coefficients, f and u in registers
 * from the start to the end, and one column of the halo (resident/fv4_halo.h). The values of the
 * tile and its halo are in shared memory. A step:
 *
 *     read the 25 values, update the cell, write its value and the step's number to L2
 *     read the values of the halo from L2 until they have that number
 *     barrier, store both in shared memory, barrier
 *     at walls: fill the ghosts, barrier
 *
 * The values of cells two away have the color of the cell itself. Hence the first barrier: nobody
 * may store before all have read.
 *
 * A value has one word for all blocks that need it, in place of a mailbox for each, of which a
 * corner has six. Its next value is written two steps later, when the block has received the step
 * between from all its neighbors, and these have read the word before they sent it.
 *
 * The smooth is in place or from zero and reads no ghosts. The first iterate of the halo is read
 * from memory: a block stores its result only after its neighbors have sent their first step, and
 * so have read. Results are bit-identical to those of single steps. */
#include "cuda/reduction.h"
#include "cuda/resident/fv4_wide.h"
#include "cuda/runtime/dependent_launch.h"

using namespace mg_resident_fv4;

namespace {
struct shared_t {
  mg_real_t x[TILE_SIZE];
  mg_real_t residual[MG_RESIDENT_MAX_THREADS];
  unsigned long long warp_max[MG_RESIDENT_MAX_THREADS / 32];
};

/* The block as seen by one thread. All threads call every function. */
template <bool COLORED> struct thread_t {
  static constexpr int JS = TILE_JS, KS = TILE_KS;
  static constexpr int WORDS = COLORED ? 1 : 2; /* that a thread receives in a step, at most */

  const job_t &job;
  shared_t &shared;
  mg_fv4_cell_t cell; /* i, j, k: in the level */
  int local;          /* of the cell in the tile */
  int phase;          /* 0: the first step updates the cell */
  int word;
  bool at_side; /* other blocks may need the cell */
  bool walls;   /* the tile is at a wall */
  column_t column;
  ptrdiff_t halo[2]; /* of the column in the level's vectors */
  mg_real_t f, u, previous;

  __device__ __forceinline__ thread_t(const job_t &job_, shared_t &shared_)
      : job(job_), shared(shared_), f(0.0), u(0.0), previous(0.0) {
    const tile_t tile = tile_of(job, (int)blockIdx.x);
    walls = tile.any_wall();
    place_cell(tile);
    column =
        column_of<COLORED, TILE_JS, TILE_KS>(job, tile, (int)(blockDim.x - 1 - threadIdx.x), halo);
  }

  /* Threads have the cells of the first step's color, then the others; and columns in the opposite
   * order. */
  __device__ __forceinline__ void place_cell(const tile_t &tile) {
    const int *side = job.tiles.side;
    const int of_color = mg_fv4_tile_color_threads(side), t = (int)threadIdx.x;
    phase = t >= of_color;
    const int c = t - phase * of_color, row = c / (side[0] / 2), k = row / side[1],
              j = row - k * side[1];
    cell.there = k < side[2] && t < 2 * of_color;
    cell.j = tile.first[1] + j;
    cell.k = tile.first[2] + k;
    const int i =
        2 * (c - row * (side[0] / 2)) + (phase_of(job, tile.first[0], cell.j, cell.k) ^ phase);
    cell.i = tile.first[0] + i;
    local = i + side[0] * (j + side[1] * k);
    word = word_of<COLORED>(job, cell.i, cell.j, cell.k);
    at_side = i < 2 || i >= side[0] - 2 || j < 2 || j >= side[1] - 2 || k < 2 || k >= side[2] - 2;
    cell.load(&job.l, KS);
    if (COLORED) cell.dinv *= job.c2[0]; /* here, off the path from step to step */
    cell.at = cell.there ? 2 * (1 + JS + KS) + i + JS * j + KS * k : 2 * (1 + JS + KS);
  }

  /* The first iterate and f. */
  __device__ __forceinline__ void begin(void) {
    const bool zero = job.x < 0;
    const mg_real_t *x = job.l.p.vec[zero ? job.dst : job.x];
    const ptrdiff_t from = cell.offset(&job.l);
    if (cell.there) {
      f = job.l.p.vec[MG_F][from];
      if (!zero) u = x[from];
    }
    if (column.there && !column.wall) {
      const mg_real_t y[2] = {zero ? MG_REAL(0.0) : x[halo[0]],
                              zero || !column.deep ? MG_REAL(0.0) : x[halo[1]]};
      shared.x[column.at(1)] = y[0];
      if (column.deep) shared.x[column.at(2)] = y[1];
    }
    if (cell.there) shared.x[cell.at] = u;
    __syncthreads();
    if (!zero) fill_ghosts();
  }

  __device__ __forceinline__ void fill_ghosts(void) {
    if (!walls) return;
    if (column.there && column.wall) mg_fv4_fill_walls<4>(shared.x, column.place);
    __syncthreads();
  }

  /* Of the words 0 and 1 of the column, that of word w of step q, and whether it is received. */
  __device__ __forceinline__ int depth_of(int w, int q) const {
    return COLORED ? column.phase ^ (q & 1) : w;
  }
  __device__ __forceinline__ bool receives(int depth) const {
    return column.there && !column.wall && (depth == 0 || column.deep);
  }

  __device__ __forceinline__ void receive(int q, unsigned number, mg_real_t value[WORDS]) const {
    mg_word_t words[WORDS];
    mg_words_receive(words, number, [&](int w, mg_word_t *to) {
      const int depth = depth_of(w, q);
      mg_word_load(word_at(job, depth == 0 ? column.from[0] : column.from[1], q & 1),
                   receives(depth), number, to);
    });
#pragma unroll
    for (int w = 0; w < WORDS; w++)
      value[w] = mg_word_value(words[w]);
  }

  __device__ __forceinline__ mg_real_t apply(void) const {
    const mg_values25_t v = mg_load_values25(shared.x + cell.at, JS, KS);
    return mg_apply_values25(&v, &cell.beta, cell.a, cell.b_h2);
  }

  __device__ __forceinline__ void update(int q) {
    const mg_real_t ax = q == 0 && job.x < 0 ? MG_REAL(0.0) : apply(), old = u;
    if (COLORED) {
      u = mg_relax(u, ax, f, cell.dinv, MG_REAL(1.0));
    } else {
      const mg_real_t c1 = job.c1[q], c2 = job.c2[q];
      u = mg_update(u, c1 == MG_REAL(0.0) ? u : previous, ax, f, cell.dinv, c1, c2);
      previous = old;
    }
  }

  /* Step q. Its values are sent with a number, unless nobody needs them. */
  __device__ __forceinline__ void step(int q, unsigned number, bool needed) {
    if (cell.there && (!COLORED || phase == (q & 1))) {
      update(q);
      mg_word_store(word_at(job, word, q & 1), needed && at_side, u, number);
    }
    if (!needed) return;
    mg_real_t value[WORDS];
    receive(q, number, value);
    __syncthreads();
    if (cell.there) shared.x[cell.at] = u;
#pragma unroll
    for (int w = 0; w < WORDS; w++)
      if (receives(depth_of(w, q))) shared.x[column.at(1 + depth_of(w, q))] = value[w];
    __syncthreads();
    fill_ghosts();
  }

  __device__ __forceinline__ void store(void) const {
    if (cell.there) job.l.p.vec[job.dst][cell.offset(&job.l)] = u;
  }

  __device__ __forceinline__ void restrict_residual(mg_real_t residual) const {
    if (cell.there) shared.residual[local] = residual;
    __syncthreads();
    if (!cell.there || (cell.i | cell.j | cell.k) % 2) return;
    const int js = job.tiles.side[0], ks = js * job.tiles.side[1];
    const mg_real_t *r = shared.residual + local;
    job.coarse[cell.i / 2 + cell.j / 2 * job.coarse_jstride + cell.k / 2 * job.coarse_kstride] =
        mg_mean8(r[0] + r[1], r[js] + r[js + 1], r[ks] + r[ks + 1], r[js + ks] + r[js + ks + 1]);
  }

  /* Use the residual of the last iterate. */
  __device__ __forceinline__ void use_residual(void) const {
    const mg_real_t residual = cell.there ? f - apply() : MG_REAL(0.0);
    if (job.use == RESIDUAL_RESTRICTED) {
      restrict_residual(residual);
      return;
    }
    const unsigned long long bits = mg_max_of_block(mg_max_bits(residual), (int)threadIdx.x,
                                                    (int)blockDim.x / 32, shared.warp_max);
    mg_max_raise(bits, (int)threadIdx.x, 0, job.maximum);
  }
};

/* All of a smooth.
 * @tparam T  thread_t or wide_t */
template <typename T> __device__ __forceinline__ void smooth_tile(T &thread, const job_t &job) {
  mg_cuda_wait_dependency();
  const unsigned first = first_number(job);
  thread.begin();
#pragma unroll 1
  for (int q = 0; q < job.n; q++)
    thread.step(q, first + (unsigned)q, q + 1 < job.n || job.use != RESIDUAL_UNUSED);
  thread.store();
  if (job.use != RESIDUAL_UNUSED) thread.use_residual();
  store_last_number(job, first);
}

template <bool COLORED>
__global__ void __launch_bounds__(MG_RESIDENT_MAX_THREADS, 1)
    resident_fv4(const MG_GRID_CONSTANT job_t job) {
  __shared__ shared_t shared;
  thread_t<COLORED> thread(job, shared);
  smooth_tile(thread, job);
}

__global__ void __launch_bounds__(WIDE_THREADS, 1)
    resident_fv4_wide(const MG_GRID_CONSTANT job_t job) {
  extern __shared__ double wide_memory[];
  wide_t thread(job, *(wide_shared_t *)wide_memory);
  smooth_tile(thread, job);
}

mg_status_t smooth(const mg_view_t *v, const mg_sweep_t *sweep, const mg_resident_use_t *use) {
  job_t job = {};
  (smooth_t &)job = smooth_of(v, sweep, use);
  /* Threads have several cells. Only colored steps are planned to be resident then. */
  const bool wide = mg_fv4_tiles_are_wide(v->n), colored = sweep->step->colored;
  const auto kernel = wide ? resident_fv4_wide : colored ? resident_fv4<true> : resident_fv4<false>;
  if (use->source || (wide && !colored) || !mg_fv4_choose_tiles(v->n, usable_sms(), &job.tiles))
    return mg_error(MG_ERR_INTERNAL, "no such resident smooth");
  return launch(kernel, mg_fv4_tile_blocks(&job.tiles), job.tiles.threads,
                wide ? sizeof(wide_shared_t) : 0, job);
}
} // namespace

mg_status_t mg_cuda_operator_smooth_resident(const mg_view_t *v, const mg_sweep_t *sweep,
                                             const mg_resident_use_t *use) {
  return mg_traits_of(v->op)->points == 25 ? smooth(v, sweep, use)
                                           : mg_cuda_smooth_resident(v, sweep, use);
}
