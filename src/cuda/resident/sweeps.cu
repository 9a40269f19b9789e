/* Resident smooths of the 7-point operators: all steps in one launch, for levels that are too small
 * to fill the GPU for longer than a launch takes.
 *
 * All blocks run at the same time, one per SM. Each owns a tile of the level
 * (resident_tiles.h), loads its coefficients, f and x once, and performs all steps.
 * Coefficients, f and the thread's values are in registers (resident/cells.h), the values of the
 * tile in shared memory; betas of wide tiles too (resident/job.h). After each step a block sends
 * its new values next to other tiles to their mailboxes in L2 and waits for theirs
 * (resident/mailboxes.h). A block barrier orders the steps within the tile. The launch also
 * interpolates its first iterate and restricts the residual of its last one, or reduces it to a
 * norm (resident/transfer.h), so a visit to a level is two launches.
 *
 * The smooth reads no ghosts and is in place or from zero. A block reads x of no other tile: the
 * first iterate is sent like the result of a step. Levels reside only on GPUs with fused sweeps
 * (device/fused_steps.c).
 *
 * All blocks must run at the same time, and they do: there are at most as many as SMs, and
 * - what runs before them ends without waiting for them, and leaves its SMs to them;
 * - the next launch starts no block until each of them has called mg_cuda_wait_dependency, and so
 *   occupies its SM;
 * - nothing is on the second stream meanwhile: levels of one rank send no messages;
 * - no other rank uses the device, and it does not run under MPS (mg_cuda_set_shared). Other
 *   processes take turns with this one.
 * A cooperative launch would also guarantee it, but takes 1 us longer.
 *
 * Results are bit-identical to those of single steps: same formulas, same order. Bytes per cell and
 * smooth: 48; 1 more for an interpolated first iterate, and 1 for a restricted residual. */
#include "cuda/resident/transfer.h"

using namespace mg_resident;

namespace {
/* The first iterate. Its cells that other tiles read in the first step are message number `first`.
 */
template <typename C>
__device__ __forceinline__ void begin(C &cells, coarse_tile_t<C> &tile, unsigned first) {
  const job_t &job = cells.job;
  load_first(cells, tile);
#pragma unroll
  for (int r = 0; r < C::ROWS && !cells.is_zero(); r++)
#pragma unroll
    for (int w = 0; w < C::WIDTH; w++)
      cells.send(r, C::COLORED ? 1 : w, w, first, 0);
  cells.share_values();
  __syncthreads();
}

/* All steps; message number `first` is what the first step receives. */
template <typename C> __device__ __forceinline__ void perform(C &cells, unsigned first) {
  const job_t &job = cells.job;
  const bool sends_last = job.use != RESIDUAL_UNUSED;
  if constexpr (C::COLORED) { /* their number is even */
    for (int q = 0; q < job.n; q += 2) {
      cells.template relax<0>(first + (unsigned)q, q > 0 || !cells.is_zero(), true);
      cells.template relax<1>(first + (unsigned)q + 1, true, q + 2 < job.n || sends_last);
    }
  } else {
    for (int q = 0; q < job.n; q += 2) {
      cells.template update<0>(q, first + (unsigned)q, q > 0 || !cells.is_zero(),
                               q + 1 < job.n || sends_last);
      if (q + 1 < job.n)
        cells.template update<1>(q + 1, first + (unsigned)q + 1, true, q + 2 < job.n || sends_last);
    }
  }
}

/* All of a smooth. */
template <typename C>
__device__ __forceinline__ void smooth_tile(const job_t &job, typename C::block_t &shared) {
  C cells(job, shared);
  coarse_tile_t<C> coarse(cells);
  mg_cuda_wait_dependency();
  const unsigned first = first_number(job);
  begin(cells, coarse, first);
  perform(cells, first);
  cells.store();
  if (job.use != RESIDUAL_UNUSED) use_residual(cells, first + (unsigned)job.n);
  store_last_number(job, first);
}

template <bool COLORED, bool VARIES, int ROWS>
__global__ void __launch_bounds__(MG_RESIDENT_MAX_THREADS, 1)
    resident_smooth(const MG_GRID_CONSTANT job_t job) {
  __shared__ shared_t<COLORED, ROWS> shared;
  smooth_tile<cells_t<COLORED, VARIES, ROWS>>(job, shared);
}

template <bool VARIES>
__global__ void __launch_bounds__(MG_RESIDENT_WIDE_THREADS, 1)
    resident_wide(const MG_GRID_CONSTANT job_t job) {
  extern __shared__ double wide_memory[];
  smooth_tile<cells_t<true, VARIES, MG_RESIDENT_WIDE_ROWS>>(
      job, *(shared_t<true, MG_RESIDENT_WIDE_ROWS> *)wide_memory);
}

typedef void kernel_t(job_t);

/* With one row per thread, there are registers for an alpha that may vary. */
template <bool VARIES> kernel_t *kernel_of(bool colored, int rows) {
  if (rows == MG_RESIDENT_WIDE_ROWS) return resident_wide<VARIES>;
  if (rows == 1) return colored ? resident_smooth<true, true, 1> : resident_smooth<false, true, 1>;
  return colored ? resident_smooth<true, VARIES, 2> : resident_smooth<false, VARIES, 2>;
}

job_t job_of(const mg_view_t *v, const mg_sweep_t *sweep, const mg_resident_use_t *use) {
  job_t job = {};
  (smooth_t &)job = smooth_of(v, sweep, use);
  if (!use->source) return job;
  const mg_patch_t &p = use->source->patch[0];
  job.u = p.vec[use->src];
  job.u_jstride = p.jstride;
  job.u_kstride = p.kstride;
  job.kind = use->kind;
  job.u_order = mg_wall_orders(use->source, use->kind == MG_INTERPOLATE_V2 ? 2 : 1).along[0];
  return job;
}
} // namespace

#ifndef MG_FLOAT /* both types of cells share the mailboxes */
mg_status_t mg_cuda_resident_open(void) {
  return mg_cuda_alloc(sizeof *mg_cuda.mailboxes, MG_SPACE_LEVEL, (void **)&mg_cuda.mailboxes);
}

void mg_cuda_resident_close(void) {
  mg_cuda_release(mg_cuda.mailboxes, sizeof *mg_cuda.mailboxes, MG_SPACE_LEVEL);
}
#endif

mg_status_t mg_cuda_smooth_resident(const mg_view_t *v, const mg_sweep_t *sweep,
                                    const mg_resident_use_t *use) {
  job_t job = job_of(v, sweep, use);
  const bool colored = sweep->step->colored;
  if (!mg_resident_choose_tiles(v->n, usable_sms(), &job.tiles) ||
      (mg_resident_tiles_are_wide(&job.tiles) && !colored))
    return mg_error(MG_ERR_INTERNAL, "no tiles for a resident smooth");
  const size_t bytes =
      mg_resident_tiles_are_wide(&job.tiles) ? sizeof(shared_t<true, MG_RESIDENT_WIDE_ROWS>) : 0;
  const int rows = job.tiles.rows_per_thread;
  return launch(v->alpha_varies ? kernel_of<true>(colored, rows) : kernel_of<false>(colored, rows),
                mg_resident_blocks(&job.tiles), mg_resident_threads(&job.tiles), bytes, job);
}
