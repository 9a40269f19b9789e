/* Fused sweeps of a 7-point smoother: several steps per traversal of memory (temporal blocking).
 *
 * A block owns a tile of columns and traverses its planes once. At stage q it performs the first
 * step in plane q - 1, the second in q - 2, the third in q - 3, and writes the last step's result:
 *
 *     plane  q     x read
 *            q-1   step 0   from x of q-2 .. q
 *            q-2   step 1   from step 0's q-3 .. q-1
 *            q-3   step 2   from step 1's q-4 .. q-2, written
 *
 * Neighbors in k stay in the registers of the thread that owns the column. Neighbors in i and j
 * are read from planes in shared memory: two planes of each step's results, and rings of planes of
 * x and the betas. TMA fills these rings while the block computes (tma.h).
 *
 * Each step invalidates one more layer of cells around the tile, so tiles overlap. With three
 * steps, 24 x 26 of the 32 x 32 cells are written. Along i a box begins at a multiple of 64 bytes.
 * Nothing is read outside walls, whose formulas are folded into the stencil. Elsewhere tiles read
 * ghosts, of which a level has one layer per step.
 *
 * A thread has two cells of a row, one of each color. A colored step changes one of them. It is
 * the same one in all steps of a stage, because both colors and planes alternate from step to
 * step.
 *
 * Results are bit-identical to those of single steps: same formulas, same order. Bytes per cell of
 * the fused sweeps: 48; 56 if Chebyshev reads or writes a second iterate; 8 more if alpha varies.
 * The ladder `hpgmg-bench smooth` has the variants that led to this one; docs/kernels.md
 * explains why it won.
 *
 * Datta et al., Stencil computation optimization and auto-tuning on state-of-the-art multicore
 * architectures (2008): time skewing; Micikevicius, 3D finite difference computation on GPUs using
 * CUDA (2009): planes in shared memory, columns in registers. */
#include "cuda/temporal.h"
#include "cuda/temporal_launch.h"
#include <algorithm>

using namespace mg_temporal;

namespace {
enum { SHORTEST = 32 }; /* fewest cells of a patch along each direction */

/* Shared memory per block; exceeds the limit of sm_120. */
template <bool COLORED, bool VARIES>
constexpr size_t MOST_BYTES = shape_t<COLORED, MG_MAX_FUSED_SWEEPS, VARIES>::BYTES;
constexpr int SHARED_BYTES = (int)std::max({MOST_BYTES<true, false>, MOST_BYTES<true, true>,
                                            MOST_BYTES<false, false>, MOST_BYTES<false, true>});

/* Whether the patch provides all that tiles read: along each direction walls on both sides, or one
 * ghost layer per step. */
bool fits(const mg_view_t *v, const mg_patch_t *p, int most) {
  bool fits = p->n[0] % 2 == 0;
  for (int d = 0; d < 3; d++)
    fits = fits && p->n[d] >= SHORTEST &&
           ((p->wall[d][0] && p->wall[d][1]) || v->ghost_layers >= most);
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
    mg_tiling_t tiling;
    const bool room = mg_tiling_for_overlap(
        [&](int idle_sms, mg_tiling_t *c) { return tiling_of(p, MOST_ROWS, n, idle_sms, c); },
        &tiling);
    pays = (room || host) && mg_overlap_pays(p, tiling, mg_cuda.sms);
  }
  return pays;
}

mg_status_t mg_cuda_smooth_fused(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  typedef mg_status_t launch_t(const mg_view_t *, job_t &, const mg_sweep_t *, mg_region_t);
  /* [all cells, colored, colored with a weight][3 steps instead of 2][alpha varies] */
  static launch_t *const launches[3][2][2] = {
      {{launch<shape_t<false, 2, false>>, launch<shape_t<false, 2, true>>},
       {launch<shape_t<false, 3, false>>, launch<shape_t<false, 3, true>>}},
      {{launch<shape_t<true, 2, false>>, launch<shape_t<true, 2, true>>},
       {launch<shape_t<true, 3, false>>, launch<shape_t<true, 3, true>>}},
      {{launch<weighted_shape_t<2, false>>, launch<weighted_shape_t<2, true>>},
       {launch<weighted_shape_t<3, false>>, launch<weighted_shape_t<3, true>>}}};
  if (sweep->n < 2 || sweep->n > MG_MAX_FUSED_SWEEPS)
    return mg_error(MG_ERR_INTERNAL, "%d fused sweeps, limits 2 and %d", sweep->n,
                    MG_MAX_FUSED_SWEEPS);
  const mg_step_t *step = sweep->step;
  const int form = !step->colored ? 0 : step->c2 == 1.0 ? 1 : 2;
  launch_t *const launch = launches[form][sweep->n - 2][v->alpha_varies];
  for (int q = 0; q < v->n_patches; q++) {
    job_t job = job_of(v, q, sweep);
    MG_TRY(launch(v, job, sweep, region));
    MG_CUDA_LAUNCHED("smooth_fused");
  }
  return MG_OK;
}
