/* What resident smooths of the 7-point operators (resident/sweeps.cu) and of fv4 (resident/fv4.cu)
 * share: the part of the kernel argument that does not depend on the tiles, and the
 * numbers of the messages of a launch. */
#ifndef MG_CUDA_RESIDENT_SMOOTH_H
#define MG_CUDA_RESIDENT_SMOOTH_H

#include "cuda/cuda.h"
#include "cuda/resident/mailboxes.h"
#include "cuda/runtime/dependent_launch.h"

namespace mg_resident {
/** What becomes of the residual of the result. */
enum use_t { RESIDUAL_UNUSED, RESIDUAL_RESTRICTED, RESIDUAL_NORM };

/** Steps of a smooth and use of its residual. */
struct smooth_t {
  mg_cuda_patch_t l;
  mg_mailboxes_t *mail;
  mg_vector_t x, dst; /**< x < 0: zero; may be the same */
  int n;              /**< steps, at least two */
  int color;          /**< of the first step, if colored */
  use_t use;
  mg_real_t *coarse; /**< gets the restricted residual */
  int64_t coarse_jstride, coarse_kstride;
  unsigned long long *maximum;         /**< is raised to the norm of the residual */
  mg_real_t c1[MG_RESIDENT_MAX_STEPS]; /**< of each step */
  mg_real_t c2[MG_RESIDENT_MAX_STEPS]; /**< the same for all colored steps */
};

inline smooth_t smooth_of(const mg_view_t *v, const mg_sweep_t *sweep,
                          const mg_resident_use_t *use) {
  smooth_t s = {};
  s.l = mg_cuda_patch(v, 0);
  s.mail = mg_cuda.mailboxes;
  s.x = sweep->x;
  s.dst = sweep->dst;
  s.n = sweep->n;
  s.color = sweep->step->color;
  for (int q = 0; q < sweep->n; q++) {
    s.c1[q] = MG_REAL(sweep->step[q].c1);
    s.c2[q] = MG_REAL(sweep->step[q].c2);
  }
  if (!use->has_residual) return s;
  s.use = use->coarse ? RESIDUAL_RESTRICTED : RESIDUAL_NORM;
  s.maximum = mg_cuda.smooth_norm;
  if (!use->coarse) return s;
  const mg_patch_t &p = use->coarse->patch[0];
  s.coarse = p.vec[use->dst];
  s.coarse_jstride = p.jstride;
  s.coarse_kstride = p.kstride;
  return s;
}

/** SMs for the blocks of a launch, all of which run at the same time. */
inline int usable_sms(void) {
  return mg_cuda.shared ? 0 : mg_cuda.sms;
}

/** Launch a smooth with all its blocks. */
template <typename J>
mg_status_t launch(void (*kernel)(J), int blocks, int threads, size_t shared_bytes, const J &job) {
  if (shared_bytes > 0) MG_TRY(mg_cuda_allow_shared((const void *)kernel, shared_bytes));
  mg_cuda_launch_dependent_shared(kernel, (unsigned)blocks, (unsigned)threads, shared_bytes, job);
  MG_CUDA_LAUNCHED("smooth_resident");
  return MG_OK;
}

/** Number of the first message of this launch. */
static __device__ __forceinline__ unsigned first_number(const smooth_t &s) {
  return *(volatile unsigned *)&s.mail->number[blockIdx.x] + 2;
}

/** End the launch: store the last number. Blocks that this launch lacks keep up too: the next one
 *  may have them. All threads call it. */
static __device__ __forceinline__ void store_last_number(const smooth_t &s, unsigned first) {
  const unsigned last = first + (unsigned)(s.n + (s.n & 1));
  for (int b = (int)(blockIdx.x + threadIdx.x * gridDim.x); b < MG_RESIDENT_MAX_BLOCKS;
       b += (int)(blockDim.x * gridDim.x))
    s.mail->number[b] = last;
}
} // namespace mg_resident

/** The entry smooth_resident of the table, for the 7-point operators. */
mg_status_t mg_cuda_smooth_resident(const mg_view_t *v, const mg_sweep_t *sweep,
                                    const mg_resident_use_t *use);

#endif
