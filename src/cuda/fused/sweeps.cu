/* Fused sweeps of the 7-point smoothers: two or three steps per pass over memory (temporal
 * blocking).
 *
 * A block owns a tile of columns and traverses its planes once. At stage q it performs the first
 * step in plane q - 1, the second in q - 2, the third in q - 3, and writes the last step's result:
 *
 *     plane  q     x read
 *            q-1   step 0   from x of q-2 .. q
 *            q-2   step 1   from step 0's q-3 .. q-1
 *            q-3   step 2   from step 1's q-4 .. q-2, written
 *
 * With a residual there is one stage more: plane q-4 (after three steps) gets the residual of the
 * last step's result. It is restricted to the coarser level, or reduced to its maximum norm; it is
 * not stored.
 *
 * Blocks march through pieces of tile columns, which are cut so that all SMs end at about the same
 * time (plan/pieces.h).
 *
 * With an interpolated input, x of plane q is corrected from the coarser level, or replaced, before
 * the first step reads it (fused/input.h).
 *
 * Neighbors in k stay in the registers of the thread that owns the column. Neighbors in i and j
 * are read from planes in shared memory: rings of planes of x, f and the betas, which TMA fills
 * while the block computes (tma.h). Half sweeps update x in its ring. Other steps need two further
 * planes each for their results. Constant betas are arguments, without rings, so half sweeps have
 * room for wider tiles.
 *
 * Each step invalidates one more layer of cells around the tile, so tiles overlap. With three
 * steps, 24 x 26 of the 32 x 32 double cells are written, with a residual 24 x 24; of 64 x 32
 * cells, float or with constant betas, 56 x 26, with a residual 56 x 24. Nothing is read outside
 * walls, whose formulas are folded into the stencil, so at a wall in i a tile also writes the
 * columns next to the wall: up to 4 more. Elsewhere tiles read ghosts, of which a level has one
 * layer per step, and one for the residual.
 *
 * A thread has two cells of a row, one of each color, or two rows of two cells in the wider tiles
 * (fused/cells.h). A colored step changes half of them. They are the same ones in all steps of a
 * stage, because both colors and planes alternate from step to step. The steps are written once for
 * both (fused/columns.h).
 *
 * Results are bit-identical to those of single steps: same formulas, same order. Bytes per cell and
 * pass: 48, with constant betas 24; 8 more if Chebyshev reads or writes a second iterate, and if
 * alpha varies; 1 more for a restricted residual, which a separate kernel computes for 41; 1 more
 * for an interpolated input, for which a separate kernel moves 17, or 9 if it replaces x, which
 * then is not read. `hpgmg-bench smooth` times other shapes of this pipeline; docs/kernels.md
 * compares them.
 *
 * Datta et al., Stencil computation optimization and auto-tuning on state-of-the-art multicore
 * architectures (2008): time skewing; Micikevicius, 3D finite difference computation on GPUs using
 * CUDA (2009): planes in shared memory, columns in registers. */
#include "cuda/fused/launch.h"
#include <algorithm>

using namespace mg_fused;

namespace {
#ifndef MG_FLOAT
/* Shared memory per block; exceeds the limit of sm_120. */
template <bool COLORED, vary_t VARY = VARY_BETAS, residual_use_t USE = RESIDUAL_UNUSED,
          input_t INPUT = INPUT_STORED>
constexpr size_t BYTES = solver_shape_t<COLORED, MG_MAX_STEPS_PER_PASS, VARY, USE, INPUT>::BYTES;
constexpr int SHARED_BYTES =
    (int)std::max({BYTES<false>, BYTES<false, VARY_ALL>, BYTES<false, VARY_BETAS, RESIDUAL_NORM>,
                   BYTES<true>, BYTES<true, VARY_ALL>, BYTES<true, VARY_BETAS, RESIDUAL_NORM>,
                   BYTES<true, VARY_BETAS, RESIDUAL_UNUSED, INPUT_FROM_PARENTS>,
                   BYTES<true, VARY_ALL, RESIDUAL_UNUSED, INPUT_FROM_PARENTS>,
                   BYTES<false, VARY_NONE, RESIDUAL_NORM>, BYTES<true, VARY_NONE, RESIDUAL_NORM>,
                   BYTES<true, VARY_NONE, RESIDUAL_UNUSED, INPUT_FROM_PARENTS>});
#endif

} // namespace

#ifndef MG_FLOAT /* the kernels for float need less */
mg_status_t mg_cuda_has_fused(bool *has) {
  MG_TRY(mg_cuda_has_tma(has));
  *has = *has && mg_cuda.shared_bytes >= SHARED_BYTES;
  return MG_OK;
}
#endif

bool mg_cuda_fused_overlaps(const mg_view_t *v, int n, bool host) {
  bool pays = host || v->n_patches == 1;
  for (int q = 0; q < v->n_patches && pays; q++) {
    const mg_patch_t &p = v->patch[q];
    const mg_tiling_t tiling =
        n == 2 ? tiling_of<solver_shape_t<false, 2>>(p) : tiling_of<solver_shape_t<false, 3>>(p);
    pays = mg_overlap_pays(mg_columns_of(v, p, tiling, mg_no_costs(), true));
  }
  return pays;
}

/* Blocks that wait for another rank must not occupy SMs that a rank on the same GPU needs. */
bool mg_cuda_interior_first(const mg_view_t *v, int n) {
  return n > 1 && mg_has_path(v->op, MG_PATH_INTERIOR_FIRST) && mg_cuda.dependent_launches &&
         !mg_cuda.shared && mg_cuda_fused_overlaps(v, n, false);
}

bool mg_cuda_can_interpolate_smooth(const mg_view_t *v, const mg_view_t *coarse,
                                    const mg_sweep_t *sweep) {
  /* Steps on all cells would not gain (fused/fused_path.c). Coarse ghosts outside all walls have
   * formulas of the same order. Single cells along i and j need memory that planes of alpha have.
   */
  bool fits = sweep->step->colored && coarse->n[0] > 1 && coarse->n[1] > 1 && coarse->n[2] > 1;
  for (int d = 0; d < 2; d++)
    fits = fits && (!v->alpha_varies || coarse->n[d] == (v->n[d] + 1) / 2);
  return fits && mg_has_path(v->op, MG_PATH_INTERPOLATION) &&
         mg_path_cuda_fused.suits(v, sweep->n) &&
         (coarse->ghost_layers >= mg_coarse_layers_of_steps(sweep->n) || mg_walls_enclose(v));
}

static launch_t *launch_of(const mg_view_t *v, const mg_sweep_t *sweep, residual_use_t use) {
  const bool colored = sweep->step->colored;
  const int n = sweep->n;
  if (v->alpha_varies)
    return colored ? launch_of_steps<true, VARY_ALL>(n) : launch_of_steps<false, VARY_ALL>(n);
  return v->constant.is ? launch_constant(colored, n, use)
                        : launch_of_use<VARY_BETAS>(colored, n, use);
}

/* can: there are kernels for what else the sweep does. */
static mg_status_t check_sweep(const mg_sweep_t *sweep, bool can) {
  if (can && sweep->n >= 2 && sweep->n <= MG_MAX_STEPS_PER_PASS) return MG_OK;
  return mg_error(MG_ERR_INTERNAL, "%d fused steps %s a kernel, limits 2 and %d", sweep->n,
                  can ? "with" : "without", MG_MAX_STEPS_PER_PASS);
}

mg_status_t mg_cuda_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                                 bool residual, const mg_view_t *coarse, mg_vector_t dst) {
  MG_TRY(check_sweep(sweep, !residual || !v->alpha_varies));
  const residual_use_t use = !residual                     ? RESIDUAL_UNUSED
                             : !coarse                     ? RESIDUAL_NORM
                             : mg_doubles(v->n, coarse->n) ? RESIDUAL_RESTRICTED
                                                           : RESIDUAL_TO_PARENTS;
  launch_t *const launch_patch = launch_of(v, sweep, use);
  for (int q = 0; q < v->n_patches; q++) {
    job_t job = job_of(v, q, sweep);
    job.maximum = mg_cuda.smooth_norm;
    if (coarse) {
      job.parents = parents_of(v, q, coarse);
      job.coarse = mg_cell(&coarse->patch[q], dst, 0, 0, 0);
      job.coarse_jstride = coarse->patch[q].jstride;
      job.coarse_kstride = coarse->patch[q].kstride;
    }
    MG_TRY(launch_patch(v, job, sweep, region, nullptr));
    MG_CUDA_LAUNCHED("smooth_fused");
  }
  return MG_OK;
}

mg_status_t mg_cuda_smooth_residual(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                                    const mg_view_t *coarse, mg_vector_t dst) {
  return mg_cuda_smooth_fused(v, sweep, region, true, coarse, dst);
}

mg_status_t mg_cuda_interpolate_smooth(const mg_view_t *v, const mg_sweep_t *sweep,
                                       mg_region_t region, const mg_view_t *coarse, mg_vector_t src,
                                       mg_interpolation_t kind) {
  MG_TRY(check_sweep(sweep, sweep->step->colored));
  const input_t input = mg_doubles(v->n, coarse->n) ? INPUT_FROM_HALVES : INPUT_FROM_PARENTS;
  launch_t *const launch_patch = v->constant.is && !v->alpha_varies
                                     ? launch_constant_interpolated(sweep->n, input)
                                     : launch_interpolated(sweep->n, v->alpha_varies, input);
  for (int q = 0; q < v->n_patches; q++) {
    job_t job = job_of(v, q, sweep);
    const source_t source = {coarse, coarse->patch[q], src, kind};
    job.parents = parents_of(v, q, coarse);
    MG_TRY(launch_patch(v, job, sweep, region, &source));
    MG_CUDA_LAUNCHED("interpolate_smooth");
  }
  return MG_OK;
}
