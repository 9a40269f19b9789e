/* fv4 on patches that fill the device: a block owns 32 x 16 columns and marches in k.
 *
 * A thread owns a pair of cells, 2m and 2m+1 of a row. GSRB updates one and copies the other, so
 * all lanes work. The other operations compute both and share their common loads. u and the betas
 * stream through rings of planes in shared memory, with ghosts outside walls (fv4/march_rings.h). f
 * and 1/diagonal are read once, one plane ahead, into registers.
 *
 * Bytes per cell: GSRB 56, Chebyshev 64, residual 48, as a norm 40, restricted 41. F-cycles on an
 * H200, GSRB then Chebyshev, in GDOF/s at 512^3, 256^3 and 128^3, by tile and blocks per SM:
 *
 *     32 x 16, 2   3.04 2.28 0.98   2.41 1.84 0.88     32 x 8, 4   2.20 1.79 0.90   2.01 1.63 0.83
 *     32 x 8, 3    2.80 2.04 0.91   2.30 1.70 0.81     64 x 8, 2   2.50 1.99 0.93   2.18 1.74 0.84
 *     one thread per cell   1.54 1.17 0.43
 *
 * A fourth block of 32 x 8 leaves 28 KB of L1 instead of 60, and copies in flight need lines
 * there; this probably explains its loss. Wider rows need a second, separately guarded copy per
 * row. Registers: 125 to 128. */
#include "cuda/fv4/loads.h"
#include "cuda/fv4/march_rings.h"
#include "cuda/runtime/overlap.h"

using namespace mg_fv4_rings;

enum {
  BLOCKS = 2, /* per SM, if it has shared memory for both */
  /* MG_FV4_RESTRICT: pair sums of the odd rows, for the current plane and the previous one. */
  SUMS = HEIGHT / 2 * PAIRS
};

/** A x of a cell; c and high are the offsets of its column and the next, in the cell's row. */
static __device__ __forceinline__ mg_real_t apply(const slots_t *s, int c, int high, mg_real_t a,
                                                  mg_real_t b_h2) {
  /* Planes of betas normal to i and k begin one row before the tile, those of u two. */
  constexpr int I_TO_J = (J_RING - I_RING) * COL;
  /* Even and odd columns are stored apart: next to c lie c - 2 and c + 2. */
  const offsets_t i = {high - COL, c, high, c - COL, c + COL}, j = offsets(ROW);
  const mg_values25_t x = load_values25(i, j, planes5(s->u, 0, 2 * ROW));
  const mg_betas30_t b = load_betas30(i, j, planes3(s->ij, 0, ROW), planes3(s->ij, 0, I_TO_J),
                                      s->k[0] + ROW, s->k[1] + ROW);
  return mg_apply_values25(&x, &b, a, b_h2);
}

/** Inputs that are read once: both cells, or with GSRB the cell of the current color (in x). */
struct inputs_t {
  mg_real2_t f, dinv, previous, a; /* a: only if alpha varies */
};

static __device__ __forceinline__ inputs_t read_inputs(const mg_fv4_job_t *job,
                                                       mg_fv4_operation_t op, bool varies,
                                                       ptrdiff_t at, int phase) {
  const mg_real2_t zero = mg_make_real2(0.0, 0.0);
  const mg_real_t *alpha = job->l.p.vec[MG_ALPHA];
  inputs_t in = {zero, zero, zero, zero};
  if (op == MG_FV4_COLORED) {
    in.f.x = job->f[at + phase];
    in.dinv.x = job->dinv[at + phase];
    if (varies) in.a.x = alpha[at + phase];
    return in;
  }
  /* Rows start on 128-byte lines, so a pair is 16-byte aligned. */
  if (varies) in.a = *(const mg_real2_t *)(alpha + at);
  if (job->f) in.f = *(const mg_real2_t *)(job->f + at);
  if (op == MG_FV4_ALL) {
    in.dinv = *(const mg_real2_t *)(job->dinv + at);
    if (job->previous) in.previous = *(const mg_real2_t *)(job->previous + at);
  }
  return in;
}

/** Compute a pair whose even cell is at `offset` in a plane, in bytes from the first row.
 *  Updates both cells; GSRB updates the cell of the color and copies the other. */
static __device__ __forceinline__ mg_real2_t pair_result(const mg_fv4_job_t *job,
                                                         mg_fv4_operation_t op, bool varies,
                                                         const slots_t *s, int offset, int phase,
                                                         const inputs_t *in) {
  const mg_real_t b_h2 = job->l.v.b_h2, first_a = varies ? in->a.x : job->l.v.a,
                  second_a = varies ? in->a.y : job->l.v.a;
  const int even = offset, odd = offset + HALF * COL, u = s->u[2] + 2 * ROW;
  if (op == MG_FV4_COLORED) {
    const int c = phase ? odd : even, high = phase ? even + COL : odd;
    const mg_real_t x = value_at(u + c), other = value_at(u + (phase ? even : odd));
    const mg_real_t ax = apply(s, c, high, first_a, b_h2);
    const mg_real_t new_x = mg_fv4_result(*job, op, x, ax, in->f.x, in->dinv.x, 0.0);
    return phase ? mg_make_real2(other, new_x) : mg_make_real2(new_x, other);
  }
  mg_real2_t r;
  r.x = mg_fv4_result(*job, op, value_at(u + even), apply(s, even, odd, first_a, b_h2), in->f.x,
                      in->dinv.x, in->previous.x);
  r.y = mg_fv4_result(*job, op, value_at(u + odd), apply(s, odd, even + COL, second_a, b_h2),
                      in->f.y, in->dinv.y, in->previous.y);
  return r;
}

/** MG_FV4_RESTRICT: a thread of an even row keeps its pair sums of two planes. It reads those of
 * the next odd row one step after they were computed, and keeps the first. */
struct sums_t {
  mg_real_t even_row[2], odd_row;
};

static __device__ __forceinline__ void store_pair_sum(sums_t *sums, int m, int row, int k,
                                                      mg_real2_t r) {
  const mg_real_t sum = r.x + r.y;
  if (row % 2)
    rings[RINGS + k % 2 * SUMS + row / 2 * PAIRS + m] = sum;
  else if (k % 2)
    sums->even_row[1] = sum;
  else
    sums->even_row[0] = sum;
}

static __device__ __forceinline__ void restrict_pair(const mg_fv4_job_t *job, const tile_t *t,
                                                     sums_t *sums, int m, int row, int k) {
  if (row % 2) return;
  const mg_real_t odd_row = rings[RINGS + k % 2 * SUMS + row / 2 * PAIRS + m];
  if (k % 2)
    job->dst[t->i0 / 2 + m + (t->j0 + row) / 2 * job->coarse.jstride +
             k / 2 * job->coarse.kstride] =
        mg_mean8(sums->even_row[0], sums->odd_row, sums->even_row[1], odd_row);
  else
    sums->odd_row = odd_row;
}

/* Operations of default runs have kernels; MG_FV4_ANY is the others, and all with a varying alpha.
 */
template <mg_fv4_operation_t operation>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    march(const MG_GRID_CONSTANT mg_fv4_job_t job, const MG_GRID_CONSTANT mg_region_tiles_t tiles,
          int chunk) {
  const mg_fv4_operation_t op = operation == MG_FV4_ANY ? job.operation : operation;
  const bool varies = operation == MG_FV4_ANY && job.l.v.alpha_varies;
  const mg_patch_t *p = &job.l.p;
  int tile_index[3];
  mg_tile_of_block(tiles, tile_index);
  const tile_t t = tile_at(p, tile_index);
  const int m = (int)threadIdx.x % PAIRS, row = (int)threadIdx.x / PAIRS;
  const int i = t.i0 + 2 * m, j = t.j0 + row;
  const int k0 = tile_index[2] * chunk, k1 = min(k0 + chunk, p->n[2]);
  const bool inside = i < p->n[0] && j < p->n[1];
  ptrdiff_t at = i + j * p->jstride + k0 * p->kstride;
  int phase = (mg_parity(p, 0, j, k0) ^ job.color) & 1;
  const int offset = row * ROW + (m + 1) * COL;
  share_t share = share_of(&job, &t, k0);
  slots_t slots;
  unsigned long long largest = 0;
  sums_t sums = {{0.0, 0.0}, 0.0};
  inputs_t next = {};
  fill_rings(p, &t, &share, slots, k0);
  if (inside) next = read_inputs(&job, op, varies, at, phase);
  for (int k = k0; k < k1; k++, at += p->kstride, phase ^= 1) {
    mg_shared_fetch_wait();
    __syncthreads();
    const inputs_t in = next;
    if (k + 1 < k1) {
      prepare_next(p, &t, &share, &slots, k);
      if (inside) next = read_inputs(&job, op, varies, at + p->kstride, phase ^ 1);
    }
    if (inside) {
      if (op == MG_FV4_RESTRICT && k > k0) restrict_pair(&job, &t, &sums, m, row, k - 1);
      const mg_real2_t r = pair_result(&job, op, varies, &slots, offset, phase, &in);
      if (op == MG_FV4_NORM) {
        largest = max(largest, mg_max_bits(r.x));
        largest = max(largest, mg_max_bits(r.y));
      } else if (op == MG_FV4_RESTRICT) {
        store_pair_sum(&sums, m, row, k, r);
      } else {
        *(mg_real2_t *)(job.dst + at) = r;
      }
    }
    slots.next();
  }
  if (op == MG_FV4_RESTRICT) {
    __syncthreads();
    if (inside) restrict_pair(&job, &t, &sums, m, row, k1 - 1);
  }
  if (op == MG_FV4_NORM) {
    /* Blocks are few and long, so an early read of the known maximum gains nothing, and the cost
     * of the reduction is negligible. Shared memory does matter on GPUs with 96 KiB per block. */
    __shared__ unsigned long long warp_max[WARPS];
    const int me = (int)threadIdx.x;
    const unsigned long long known = mg_max_known(job.maximum);
    mg_max_raise(mg_max_of_block(largest, me, WARPS, warp_max), me, known, job.maximum);
  }
}

typedef void (*kernel_t)(mg_fv4_job_t job, mg_region_tiles_t tiles, int chunk);
static const kernel_t kernels[] = {march<MG_FV4_COLORED>, march<MG_FV4_ALL>, march<MG_FV4_ANY>,
                                   march<MG_FV4_NORM>, march<MG_FV4_RESTRICT>};
static const size_t shared_bytes = (RINGS + 2 * SUMS) * sizeof(mg_real_t);

/* Blocks per SM on the open device. One with 96 to 164 KiB of shared memory (sm_80 to sm_89 and
 * sm_120), none with 64 KiB. */
static int blocks_per_sm;

mg_status_t mg_cuda_fv4_open(void) {
  blocks_per_sm = 0;
  if ((size_t)mg_cuda.shared_bytes < shared_bytes + WARPS * sizeof(unsigned long long))
    return MG_OK;
  for (const kernel_t kernel : kernels)
    MG_TRY(mg_cuda_allow_shared((const void *)kernel, shared_bytes));
  return mg_cuda_blocks_per_sm((const void *)kernels[MG_FV4_COLORED], THREADS, shared_bytes,
                               &blocks_per_sm);
}

/* A wall formula needs 4 cells within one tile and its halo, and planes within a ring. At 32^3
 * fv4/small.cu is faster, at 64^3 slower: F-cycles reach 0.247 and 0.220 GDOF/s there. With 132
 * SMs, the limit is 64 x 64 x 32: 64 blocks of four planes. */
bool mg_cuda_fv4_marches(const mg_cuda_patch_t *l) {
  const int64_t min_cells = (int64_t)992 * mg_cuda.sms;
  const int32_t *n = l->p.n;
  return blocks_per_sm > 0 && l->order == 4 && n[0] % 2 == 0 && n[1] % 2 == 0 && n[2] % 4 == 0 &&
         (int64_t)n[0] * n[1] * n[2] >= min_cells;
}

/* Choose the planes per block: few planes if there are few columns, and such that the last wave
 * of blocks is as full as possible. idle_sms SMs are left free for messages. Each block fetches
 * about 4 planes more than it computes.
 * @return relative cost */
static double tiling_of(const mg_patch_t *p, int idle_sms, mg_tiling_t *c) {
  const int64_t concurrent_blocks = (int64_t)mg_cuda.sms * blocks_per_sm;
  int64_t best_time = INT64_MAX;
  int best_chunk = 0;
  *c = {{WIDTH, HEIGHT, 0}, {2, 2, 2}, {WIDTH + 4, HEIGHT + 4, 0}, {}};
  c->n[0] = (p->n[0] + WIDTH - 1) / WIDTH;
  c->n[1] = (p->n[1] + HEIGHT - 1) / HEIGHT;
  for (int chunk = 4; chunk <= 128; chunk *= 2) {
    const int64_t blocks = (int64_t)c->n[0] * c->n[1] * ((p->n[2] + chunk - 1) / chunk) +
                           (int64_t)idle_sms * blocks_per_sm;
    const int64_t time = (blocks + concurrent_blocks - 1) / concurrent_blocks * (chunk + 4);
    if (time > best_time) continue;
    best_time = time;
    best_chunk = chunk;
  }
  c->cells[2] = best_chunk;
  c->box[2] = best_chunk + 4;
  c->n[2] = (p->n[2] + best_chunk - 1) / best_chunk;
  return (double)best_time;
}

bool mg_cuda_fv4_march_pays(const mg_patch_t *p, bool host) {
  mg_tiling_t tiling;
  const bool leaves_sms = mg_tiling_for_overlap(
      [&](int idle_sms, mg_tiling_t *c) { return tiling_of(p, idle_sms, c); }, &tiling);
  return (leaves_sms || host) && mg_overlap_pays(*p, tiling, mg_cuda.sms * blocks_per_sm);
}

mg_status_t mg_cuda_fv4_march(const mg_fv4_job_t *job, mg_region_t part) {
  mg_region_tiles_t tiles;
  const mg_tiling_t tiling = mg_tiling_for(
      part, [&](int idle_sms, mg_tiling_t *c) { return tiling_of(&job->l.p, idle_sms, c); });
  const int blocks = mg_region_tiles(job->l.p, tiling, part, &tiles);
  const kernel_t kernel = job->l.v.alpha_varies ? march<MG_FV4_ANY> : kernels[job->operation];
  if (blocks > 0)
    kernel<<<(unsigned)blocks, THREADS, shared_bytes, mg_cuda.stream>>>(*job, tiles,
                                                                        tiling.cells[2]);
  MG_CUDA_LAUNCHED("fv4 march");
  return MG_OK;
}
