/* Peer-to-peer exchange by stores into other GPUs' memory: one launch per exchange, one tile per
 * block.
 *
 * Each cell needs 8 bytes read and 8 written, or 16 written as words. Up to 64 KiB per message,
 * latency dominates: the launch, loading the tile's record, stores over NVLink, and detecting
 * arrival. Blocks of one launch do not wait for each other, but each waits for other ranks. So
 * all blocks of a launch must be resident. Otherwise waiting blocks could keep this rank from
 * sending data that a neighbor waits for.
 *
 * 64 KiB between two H200s, in us (docs/transports.md): 10.5 with one counter per message and
 * acknowledgements, 5.9 with one counter per tile and no acknowledgements, 4.2 as words. */
#include "cuda/exchange/p2p_tiles.h"
#include "cuda/runtime/dependent_launch.h"
#include "cuda/runtime/overlap.h"
#include "cuda/runtime/words.h"
#include <algorithm>

#ifndef MG_FLOAT
double mg_p2p_timeout_s = 60.0;
#endif

/* Tiles per block when other kernels should keep the other SMs: as many as the thread limit
 * allows. An SM that holds such a block has no room for a block of the fused sweeps anyway. */
enum { CONCURRENT_TILES = 1024 / MG_TILE_THREADS };

/* Reporting and time limit of waits. */
struct limit_t {
  volatile int *timed_out; /**< host memory: 1 + the rank that did not answer */
  unsigned long long timeout_ns;
};

/* What a launch does, with which vectors, as slots (mg_slot_of). */
struct vectors_t {
  int n, from[MG_P2P_MAX_VECTORS], to[MG_P2P_MAX_VECTORS];
  bool send, receive;
  bool beside; /* the next kernel starts at once */
};

/* Without an index, which would copy the parameter to local memory. */
static __device__ __forceinline__ int pick(const int slot[MG_P2P_MAX_VECTORS], int v) {
  static_assert(MG_P2P_MAX_VECTORS == 2, "one of two");
  return v == 0 ? slot[0] : slot[1];
}

/* Whether any wait has timed out. Thousands of threads poll this while they wait; polling host
 * memory over the bus would take longer than the message. */
static __device__ volatile int any_timed_out;

/* Wait until arrived() or a timeout. After a timeout, later waits return at once. */
template <typename F>
static __device__ __forceinline__ void wait_until(F arrived, int rank, const limit_t &limit) {
  for (int spin = 0; spin < 1000; spin++)
    if (arrived()) return;
  const unsigned long long start = mg_nanoseconds();
  while (!arrived()) {
#if __CUDA_ARCH__ >= 700
    __nanosleep(100);
#endif
    /* A clock that steps back, as between time slices, must not look like a timeout. */
    const long long waited = (long long)(mg_nanoseconds() - start);
    if (waited < (long long)limit.timeout_ns && !any_timed_out) continue;
    if (!any_timed_out) *limit.timed_out = 1 + rank;
    any_timed_out = 1;
    __threadfence_system();
    return;
  }
}

/* Barrier for the threads of one tile. A block works on one tile per row of threads. */
static __device__ __forceinline__ void sync_tile(void) {
  mg_barrier<MG_TILE_THREADS>((int)threadIdx.y);
}

/* Wait until the tile's watched counter reaches `target`; one thread of the tile polls. */
static __device__ __forceinline__ void wait_for_counter(const mg_p2p_tile_t &s, mg_counter_t target,
                                                        const limit_t &limit) {
  if (threadIdx.x == 0)
    wait_until([&] { return mg_system_acquire(s.wait_for) >= target; }, s.rank, limit);
  sync_tile();
}

/* A word has two halves, each written atomically. A float travels as a double. The slot's last
 * message had another number. */
static __device__ __forceinline__ void store_word(char *word, double value, mg_counter_t number) {
  const mg_counter_t bits = (mg_counter_t)__double_as_longlong(value), tag = number << 32;
  mg_system_store(word, tag | (bits & 0xffffffffu), tag | bits >> 32);
}

static __device__ __forceinline__ double wait_for_word(const char *word, mg_counter_t number,
                                                       int rank, const limit_t &limit) {
  mg_counter_t low = 0, high = 0;
  const mg_counter_t tag = number << 32 >> 32;
  wait_until(
      [&] {
        mg_system_load(word, &low, &high);
        return low >> 32 == tag && high >> 32 == tag;
      },
      rank, limit);
  return __longlong_as_double((long long)((low & 0xffffffffu) | high << 32));
}

/* Offset of the tile's cell in its vector. */
static __device__ __forceinline__ int64_t offset_of(const mg_p2p_tile_t &s, unsigned cell) {
  const uint3 at = mg_tile_cell(s.tile, s.ni, s.nj, cell);
  return at.x + at.y * s.cells.jstride + at.z * s.cells.kstride;
}

/* Copy a tile without encoding. Loads are in flight before the first store, because the compiler
 * cannot assume that the two sides do not alias. Data written by other devices is read past L1,
 * which is not coherent with such writes. */
template <bool sends>
static __device__ __forceinline__ void copy_values(const mg_p2p_tile_t &s, mg_real_t *slot,
                                                   mg_real_t *vector) {
  for (int first = (int)threadIdx.x; first < s.tile.cells; first += MG_TILE_CELLS) {
    mg_real_t value[4];
    int64_t offset[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int cell = first + c * MG_TILE_THREADS;
      if (cell >= s.tile.cells) break;
      offset[c] = offset_of(s, (unsigned)cell);
      value[c] = sends ? vector[offset[c]] : __ldcg(slot + cell);
    }
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int cell = first + c * MG_TILE_THREADS;
      if (cell < s.tile.cells) (sends ? slot[cell] : vector[offset[c]]) = value[c];
    }
  }
}

/* Slot of the tile's message number `done`. */
static __device__ __forceinline__ char *slot_of(const mg_p2p_tile_t &s, mg_counter_t done) {
  return s.slot + (int64_t)(done % MG_P2P_SLOTS) * s.slot_stride;
}

/* Finish the tile of a message: its reads and writes are ordered before the counter. */
static __device__ __forceinline__ void finish_tile(mg_p2p_tile_t *own, const mg_p2p_tile_t &s,
                                                   mg_counter_t done) {
  sync_tile();
  if (threadIdx.x != 0) return;
  own->done = done + 1;
  if (!s.signal) return;
  __threadfence_system();
  *(volatile mg_counter_t *)s.signal = done + 1;
}

/* Send or receive a tile of each vector. */
template <bool sends>
static __device__ void move_tile(mg_p2p_tile_t *own, const vectors_t &vectors,
                                 const limit_t &limit) {
  const mg_p2p_tile_t s = *own;
#pragma unroll 1
  for (int v = 0; v < vectors.n; v++) {
    const mg_counter_t done = s.done + (unsigned)v,
                       target = sends ? done - (MG_P2P_SLOTS - 1) : done + 1;
    char *const slot = slot_of(s, done), *const word = slot + MG_WORD_BYTES * threadIdx.x;
    mg_real_t *const cells =
        s.cells.at + pick(sends ? vectors.from : vectors.to, v) * s.cells.vector;
    if (s.wait_for && (!sends || done >= MG_P2P_SLOTS)) wait_for_counter(s, target, limit);
    if (!s.words) {
      copy_values<sends>(s, (mg_real_t *)slot, cells);
    } else if ((int)threadIdx.x < s.tile.cells) {
      mg_real_t *const cell = cells + offset_of(s, threadIdx.x);
      if (sends)
        store_word(word, *cell, done + 1);
      else
        *cell = (mg_real_t)wait_for_word(word, done + 1, s.rank, limit);
    }
    finish_tile(own, s, done);
  }
}

static __device__ void copy_tile(const mg_copy_tiles_t &list, int index, const vectors_t &vectors) {
  const mg_tile_t t = list.tile[index];
#pragma unroll 1
  for (int v = 0; v < vectors.n; v++)
    mg_tile_copy(t, list.copy[t.copy], pick(vectors.from, v), pick(vectors.to, v));
}

static __global__ void __launch_bounds__(MG_TILE_THREADS *CONCURRENT_TILES)
    p2p_exchange_kernel(mg_p2p_t p2p, vectors_t vectors, limit_t limit) {
  const int first = (int)(blockIdx.x * blockDim.y + threadIdx.y),
            step = (int)(gridDim.x * blockDim.y);
  if (vectors.beside) mg_cuda_start_dependents();
  /* Prefetched while these threads send. */
  if (vectors.send && vectors.receive && first < p2p.in.n && threadIdx.x == 0)
    mg_prefetch(&p2p.in.tiles[first]);
  if (vectors.send) {
    for (int t = first; t < p2p.out.n; t += step)
      move_tile<true>(&p2p.out.tiles[t], vectors, limit);
    for (int t = first; t < p2p.local.n_tiles; t += step)
      copy_tile(p2p.local, t, vectors);
  }
  if (vectors.receive)
    for (int t = first; t < p2p.in.n; t += step)
      move_tile<false>(&p2p.in.tiles[t], vectors, limit);
}

/* All blocks of all ranks on the GPU must be resident, together with the kernels that precede
 * another rank's exchange. A block of the fused sweeps or the coarse cycle needs a whole SM, and
 * a single exchange block on that SM excludes it. So ranks that share a GPU leave one SM free. */
static mg_status_t find_max_blocks(int sharers, int tiles, int *max_blocks) {
  int per_sm;
  MG_TRY(mg_cuda_blocks_per_sm((const void *)p2p_exchange_kernel, MG_TILE_THREADS * tiles, 0,
                               &per_sm));
  *max_blocks = sharers > 1 ? std::max(1, (mg_cuda.sms - 1) / sharers) : mg_cuda.sms * per_sm;
  return MG_OK;
}

mg_status_t mg_p2p_max_blocks(int sharers, int *max_blocks, int *max_blocks_concurrent) {
  MG_TRY(find_max_blocks(sharers, 1, max_blocks));
  MG_TRY(find_max_blocks(sharers, CONCURRENT_TILES, max_blocks_concurrent));
  /* An SM can hold one such block. Six ranks on an H200 get fewer SMs each than this limit. */
  *max_blocks_concurrent = std::min(*max_blocks_concurrent, (int)MG_SMS_FOR_MESSAGES);
  return MG_OK;
}

/* Next to a launch of the other stream, or the next kernel, some blocks may start late, if compute
 * tiles occupy the SMs. That is safe: compute tiles of the other stream wait for nothing and end,
 * the next kernel starts after the last block of this one, and the peer rank runs tiles of the same
 * kind. */
static mg_status_t launch(const mg_p2p_t *m, const mg_vector_t *src, const mg_vector_t *dst, int n,
                          bool send, bool receive, bool beside) {
  int tiles = 0;
  if (send && m->out.n > tiles) tiles = m->out.n;
  if (send && m->local.n_tiles > tiles) tiles = m->local.n_tiles;
  if (receive && m->in.n > tiles) tiles = m->in.n;
  if (tiles == 0) return MG_OK;
  vectors_t vectors = {n, {}, {}, send, receive, beside};
  for (int v = 0; v < n; v++) {
    if (send) MG_TRY(mg_slot_of(m->src, src[v], &vectors.from[v]));
    MG_TRY(mg_slot_of(m->dst, dst[v], &vectors.to[v]));
  }
  const limit_t limit = {mg_cuda.timed_out, (unsigned long long)(1e9 * mg_p2p_timeout_s)};
  const bool concurrent = beside || mg_cuda.stream == mg_cuda.streams[1];
  const int per_block = concurrent ? (int)CONCURRENT_TILES : 1,
            blocks = std::min(concurrent ? m->max_blocks_concurrent : m->max_blocks,
                              (tiles + per_block - 1) / per_block);
  p2p_exchange_kernel<<<(unsigned)blocks, dim3(MG_TILE_THREADS, (unsigned)per_block), 0,
                        mg_cuda.stream>>>(*m, vectors, limit);
  MG_CUDA_LAUNCHED("p2p_exchange");
  if (beside) mg_cuda.exchange_beside = mg_cuda_may_launch_next_dependent();
  return MG_OK;
}

static mg_status_t send(mg_p2p_t *p2p, mg_vector_t src, mg_vector_t dst) {
  return launch(p2p, &src, &dst, 1, true, false, false);
}

static mg_status_t receive(mg_p2p_t *p2p, mg_vector_t dst) {
  return launch(p2p, &dst, &dst, 1, false, true, false);
}

static mg_status_t exchange(mg_p2p_t *p2p, const mg_vector_t *src, const mg_vector_t *dst, int n,
                            bool beside) {
  return launch(p2p, src, dst, n, true, true, beside);
}

const mg_backend_p2p_t mg_cuda_p2p = {mg_p2p_bytes, mg_p2p_create, mg_p2p_free,
                                      send,         receive,       exchange};
