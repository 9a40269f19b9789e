/* Stores into other devices' memory. One launch an exchange, one block a tile.
 *
 * 8 bytes read and 8 written a cell, 16 written as words; up to 64 KiB a message latency is
 * everything: launch, the block's orders, stores over NVLink, and how the reader comes to know. No
 * block of a launch waits for another one of it, but each waits for other ranks: all blocks of a
 * launch are resident, or those that wait would keep others from sending what a neighbour waits
 * for.
 *
 * 64 KiB between two H200s, us (docs/transports.md): 10.5 with one counter a message and
 * answers, 5.9 with a counter a tile and none, 4.2 as words. */
#include "cuboids.h"
#include "parts.h"
#include <algorithm>
#include <cstdlib>
#include <new>
extern "C" {
#include "cuda/mail.h"
}

double mg_cuda_patience = 60.0;

typedef unsigned long long counter_t;

static const int64_t WORD_BYTES = 16;

/* Tiles that a block works on at a time where other kernels shall have the other processors: as
 * many as its threads allow, since a processor with a block of these has no room for one of a pass.
 */
enum { TILES_BESIDE = 1024 / MG_TILE_THREADS };

/** A tile of a message with all that a block must know, in one line of memory: a list may have left
 * the caches since the last exchange, and each look from one place of memory to the next would take
 * longer than the message itself: 64 KiB took 10.9 us with three places where 10.5 came of one. */
struct alignas(128) stretch_t {
  mg_tile_t tile;
  int rank;
  unsigned ni, nj; /**< of its cuboid */
  mg_place_in_t cells;
  char *slot;             /**< where the tile begins in the first slot */
  int64_t apart;          /**< bytes from there to the second */
  counter_t *raise;       /**< NULL where nobody watches */
  const counter_t *watch; /**< NULL where there is nothing to wait for, or words are */
  counter_t done;         /**< messages before this one */
  bool words;
};
static_assert(sizeof(stretch_t) == 128, "a line");

/** Tiles of one direction, on the device. */
struct direction_t {
  stretch_t *stretch;
  int n;
};

struct mg_cuda_mail {
  direction_t out, in;
  mg_cuboids_t local;
  unsigned src, dst; /**< vectors of either side */
  int most_blocks;
};

static bool as_words(int64_t doubles) {
  return doubles <= MG_CUDA_WORDS_DOUBLES;
}

/* Cells of a tile. Of words a thread has one; a tile of a large message has so many that a list is
 * a few thousand. */
static int64_t most_of(int64_t doubles) {
  return as_words(doubles) ? (int64_t)MG_TILE_THREADS : mg_tile_cells(doubles);
}

static int64_t cells_of(const mg_copy_t *c) {
  return (int64_t)c->n[0] * c->n[1] * c->n[2];
}

static int64_t tiles_of(const mg_copy_t *items, int n_items, int64_t first, int64_t doubles) {
  int64_t tiles = 0;
  for (const mg_copy_t *c = items; c < items + n_items; c++)
    if (c->buffer >= first && c->buffer < first + doubles)
      tiles += (cells_of(c) + most_of(doubles) - 1) / most_of(doubles);
  return tiles;
}

mg_cuda_mail_need_t mg_cuda_mail_need(const mg_copy_t *items, int n_items, int64_t first,
                                      int64_t doubles) {
  const int64_t counters = tiles_of(items, n_items, first, doubles) * (int64_t)sizeof(counter_t);
  const bool words = as_words(doubles);
  return {2 * doubles * (words ? WORD_BYTES : (int64_t)sizeof(double)), words ? 0 : counters,
          counters};
}

static mg_place_in_t patch_of(const mg_view_t *view, const mg_copy_t *c, bool source) {
  return mg_place_in(view, source ? c->src_patch : c->dst_patch, source ? c->src_lo : c->dst_lo,
                     c->n, nullptr);
}

/** The lists of one direction on the host. */
struct plan_t {
  const mg_view_t *view;
  const mg_copy_t *item;
  const mg_cuda_message_t *message;
  int n_items, n_messages;
  bool sending;
};

/* A tile of item c, the message's number `index`. */
static stretch_t stretch_of(const plan_t *p, const mg_cuda_message_t *m, const mg_copy_t *c,
                            const mg_tile_t &tile, int index) {
  stretch_t s = {};
  const int64_t ni = c->n[0], nj = c->n[1];
  const int64_t width = as_words(m->doubles) ? WORD_BYTES : (int64_t)sizeof(double);
  const int64_t before = c->buffer - m->first + tile.i + ni * (tile.j + nj * tile.k);
  counter_t *const arrivals = as_words(m->doubles) ? nullptr : (counter_t *)m->arrivals + index;
  counter_t *const answers = m->answers ? (counter_t *)m->answers + index : nullptr;
  s.tile = tile;
  s.rank = m->rank;
  s.ni = (unsigned)ni;
  s.nj = (unsigned)nj;
  s.cells = patch_of(p->view, c, p->sending);
  s.slot = (char *)m->slots + before * width;
  s.apart = m->doubles * width;
  s.raise = p->sending ? arrivals : answers;
  s.watch = p->sending ? answers : arrivals;
  s.words = as_words(m->doubles);
  return s;
}

/* The tiles of a message behind those that are in `out`. */
static mg_status_t add_message(const plan_t *p, const mg_cuda_message_t *m, stretch_t *out,
                               int *n) {
  int first = 0, n_items = 0, n_tiles = 0;
  while (first < p->n_items && p->item[first].buffer < m->first)
    first++;
  while (first + n_items < p->n_items && p->item[first + n_items].buffer < m->first + m->doubles)
    n_items++;
  const mg_copy_t *const item = p->item + first;
  mg_cuboid_copy_t *sizes = (mg_cuboid_copy_t *)calloc((size_t)n_items + 1, sizeof *sizes);
  if (!sizes) return mg_error(MG_ERR_MEMORY, "no memory for a message's copies");
  for (int c = 0; c < n_items; c++)
    memcpy(sizes[c].n, item[c].n, sizeof sizes[c].n);
  mg_tile_t *tile = nullptr;
  const mg_status_t status = mg_cuboids_cut(sizes, n_items, most_of(m->doubles), &tile, &n_tiles);
  for (int t = 0; t < n_tiles && status == MG_OK; t++)
    out[(*n)++] = stretch_of(p, m, &item[tile[t].copy], tile[t], t);
  free(sizes);
  free(tile);
  return status;
}

static mg_status_t create_direction(const plan_t *p, direction_t *out) {
  int64_t most = 0;
  for (const mg_cuda_message_t *m = p->message; m < p->message + p->n_messages; m++)
    most += tiles_of(p->item, p->n_items, m->first, m->doubles);
  if (most == 0) return MG_OK;
  stretch_t *stretch =
      (stretch_t *)aligned_alloc(alignof(stretch_t), sizeof *stretch * (size_t)most);
  mg_status_t status = stretch ? MG_OK : mg_error(MG_ERR_MEMORY, "no memory for a message's tiles");
  for (int m = 0; m < p->n_messages && status == MG_OK; m++)
    status = add_message(p, &p->message[m], stretch, &out->n);
  if (status == MG_OK)
    status = mg_cuda_to_device(stretch, sizeof *stretch * (size_t)out->n, (void **)&out->stretch);
  free(stretch);
  return status;
}

static mg_status_t create_local(const mg_cuda_mail_job_t *job, mg_cuboids_t *out) {
  mg_cuboid_copy_t *copies = (mg_cuboid_copy_t *)calloc((size_t)job->n_local + 1, sizeof *copies);
  if (!copies) return mg_error(MG_ERR_MEMORY, "no memory for a list of copies");
  for (int l = 0; l < job->n_local; l++) {
    const mg_copy_t *c = &job->local[l];
    copies[l].from = patch_of(job->src, c, true);
    copies[l].to = patch_of(job->dst, c, false);
    memcpy(copies[l].n, c->n, sizeof c->n);
  }
  const mg_status_t status = mg_cuboids_create(copies, job->n_local, out);
  free(copies);
  return status;
}

static mg_status_t find_most_blocks(int sharers, int *most);

mg_status_t mg_cuda_mail_create(const mg_cuda_mail_job_t *job, mg_cuda_mail_t **out) {
  *out = nullptr;
  mg_cuda_mail_t *mail = new (std::nothrow) mg_cuda_mail_t();
  if (!mail) return mg_error(MG_ERR_MEMORY, "no memory for peer stores");
  const plan_t out_plan = {job->src, job->pack, job->sent, job->n_pack, job->n_sent, true};
  const plan_t in_plan = {job->dst,      job->unpack,     job->received,
                          job->n_unpack, job->n_received, false};
  mail->src = mg_vectors_in(job->src);
  mail->dst = mg_vectors_in(job->dst);
  mg_status_t status = create_direction(&out_plan, &mail->out);
  if (status == MG_OK) status = create_direction(&in_plan, &mail->in);
  if (status == MG_OK) status = create_local(job, &mail->local);
  if (status == MG_OK) status = find_most_blocks(job->sharers, &mail->most_blocks);
  if (status != MG_OK) {
    mg_cuda_mail_free(mail);
    return status;
  }
  *out = mail;
  return MG_OK;
}

void mg_cuda_mail_free(mg_cuda_mail_t *mail) {
  if (!mail) return;
  (void)cudaFree(mail->out.stretch);
  (void)cudaFree(mail->in.stretch);
  mg_cuboids_free(&mail->local);
  delete mail;
}

static __device__ __forceinline__ unsigned long long nanoseconds(void) {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/* Orders of memory have names from sm_70 on. Before, a volatile access goes to memory as well, and
 * what follows it waits for a fence. */
#if __CUDA_ARCH__ >= 700
#define RELAXED          ".relaxed.sys"
#define LOAD_AND_ACQUIRE "ld.acquire.sys.global.u64 "
enum { MUST_FENCE = 0 };
#else
#define RELAXED          ".volatile"
#define LOAD_AND_ACQUIRE "ld.volatile.global.u64 "
enum { MUST_FENCE = 1 };
#endif

/* What a wait in vain does. */
struct limit_t {
  volatile int *late; /**< the host's memory: 1 + the rank that did not answer */
  unsigned long long patience;
};

/* Whether somebody has waited in vain. Thousands of threads look at it while they wait, which over
 * the bus to the host's memory would take longer than what they wait for. */
static __device__ volatile int gave_up;

/* Wait until `come` holds, but not for ever; once one kernel has waited in vain, the others do not
 * wait. */
template <typename F>
static __device__ __forceinline__ void wait_until(F come, int rank, const limit_t &limit) {
  for (int spin = 0; spin < 1000; spin++)
    if (come()) return;
  const unsigned long long start = nanoseconds();
  while (!come()) {
#if __CUDA_ARCH__ >= 700
    __nanosleep(100);
#endif
    /* A clock that steps back, as between time slices, must not look like an age. */
    const long long waited = (long long)(nanoseconds() - start);
    if (waited < (long long)limit.patience && !gave_up) continue;
    if (!gave_up) *limit.late = 1 + rank;
    gave_up = 1;
    __threadfence_system();
    return;
  }
}

/* Threads of one tile wait for each other. A block works on TILES, one a row of threads. */
template <int TILES> static __device__ __forceinline__ void meet(void) {
  if (TILES == 1)
    __syncthreads();
  else
    asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y), "n"((int)MG_TILE_THREADS) : "memory");
}

/* By one thread, for its tile. */
template <int TILES>
static __device__ __forceinline__ void wait_for_counter(const stretch_t &s, counter_t least,
                                                        const limit_t &limit) {
  if (threadIdx.x == 0)
    wait_until(
        [&] {
          counter_t value;
          asm volatile(LOAD_AND_ACQUIRE "%0, [%1];" : "=l"(value) : "l"(s.watch) : "memory");
          if (MUST_FENCE) __threadfence_system();
          return value >= least;
        },
        s.rank, limit);
  meet<TILES>();
}

/* A word: two halves, each of which arrives whole. A slot's last message had another number. */
static __device__ __forceinline__ void store_word(char *word, double value, counter_t number) {
  const counter_t bits = (counter_t)__double_as_longlong(value), mark = number << 32;
  asm volatile("st" RELAXED ".global.v2.u64 [%0], {%1, %2};" ::"l"(word),
               "l"(mark | (bits & 0xffffffffu)), "l"(mark | bits >> 32)
               : "memory");
}

static __device__ __forceinline__ double wait_for_word(const char *word, counter_t number, int rank,
                                                       const limit_t &limit) {
  counter_t low = 0, high = 0;
  const counter_t mark = number << 32 >> 32;
  wait_until(
      [&] {
        asm volatile("ld" RELAXED ".global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(low), "=l"(high)
                     : "l"(word)
                     : "memory");
        return low >> 32 == mark && high >> 32 == mark;
      },
      rank, limit);
  return __longlong_as_double((long long)((low & 0xffffffffu) | high << 32));
}

/* Where the tile's cell lies in its vector. */
static __device__ __forceinline__ int64_t place_of(const stretch_t &s, unsigned cell) {
  const uint3 at = mg_tile_cell(s.tile, s.ni, s.nj, cell);
  return at.x + at.y * s.cells.jstride + at.z * s.cells.kstride;
}

/* Move a tile as it is: loads are under way before the first store, since the compiler may not
 * assume that the two sides are distinct. What other devices wrote is read past the first-level
 * cache, which does not see it. */
template <bool sends>
static __device__ __forceinline__ void move(const stretch_t &s, double *slot, double *vector) {
  for (int first = (int)threadIdx.x; first < s.tile.cells; first += MG_TILE_CELLS) {
    double value[4];
    int64_t place[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int cell = first + c * MG_TILE_THREADS;
      if (cell >= s.tile.cells) break;
      place[c] = place_of(s, (unsigned)cell);
      value[c] = sends ? vector[place[c]] : __ldcg(slot + cell);
    }
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int cell = first + c * MG_TILE_THREADS;
      if (cell < s.tile.cells) (sends ? slot[cell] : vector[place[c]]) = value[c];
    }
  }
}

/* A tile has been moved. What its threads have read and written comes before the counter. */
template <int TILES>
static __device__ __forceinline__ void finish_tile(stretch_t *own, const stretch_t &s) {
  meet<TILES>();
  if (threadIdx.x != 0) return;
  own->done = s.done + 1;
  if (!s.raise) return;
  __threadfence_system();
  *(volatile counter_t *)s.raise = s.done + 1;
}

template <int TILES>
static __device__ void send_tile(stretch_t *own, int vector, const limit_t &limit) {
  const stretch_t s = *own;
  char *const slot = s.slot + (int64_t)(s.done & 1) * s.apart;
  double *const from = s.cells.at + vector * s.cells.vector;
  if (s.watch && s.done >= 2) wait_for_counter<TILES>(s, s.done - 1, limit);
  if (!s.words)
    move<true>(s, (double *)slot, from);
  else if ((int)threadIdx.x < s.tile.cells)
    store_word(slot + WORD_BYTES * threadIdx.x, from[place_of(s, threadIdx.x)], s.done + 1);
  finish_tile<TILES>(own, s);
}

template <int TILES>
static __device__ void receive_tile(stretch_t *own, int vector, const limit_t &limit) {
  const stretch_t s = *own;
  char *const slot = s.slot + (int64_t)(s.done & 1) * s.apart;
  double *const to = s.cells.at + vector * s.cells.vector;
  if (s.watch) wait_for_counter<TILES>(s, s.done + 1, limit);
  if (!s.words)
    move<false>(s, (double *)slot, to);
  else if ((int)threadIdx.x < s.tile.cells)
    to[place_of(s, threadIdx.x)] =
        wait_for_word(slot + WORD_BYTES * threadIdx.x, s.done + 1, s.rank, limit);
  finish_tile<TILES>(own, s);
}

static __device__ void copy_tile(const mg_cuboids_t &list, int index, int from_slot, int to_slot) {
  const mg_tile_t t = list.tile[index];
  mg_tile_copy(t, list.copy[t.copy], from_slot, to_slot);
}

template <bool send, bool receive, int TILES>
static __global__ void __launch_bounds__(MG_TILE_THREADS *TILES)
    mail(mg_cuda_mail_t mail, int from_slot, int to_slot, limit_t limit) {
  const int first = (int)(blockIdx.x * blockDim.y + threadIdx.y),
            step = (int)(gridDim.x * blockDim.y);
  /* On its way while these threads send. */
  if (send && receive && first < mail.in.n && threadIdx.x == 0)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(&mail.in.stretch[first]));
  if (send) {
    for (int t = first; t < mail.out.n; t += step)
      send_tile<TILES>(&mail.out.stretch[t], from_slot, limit);
    for (int t = first; t < mail.local.n_tiles; t += step)
      copy_tile(mail.local, t, from_slot, to_slot);
  }
  if (receive)
    for (int t = first; t < mail.in.n; t += step)
      receive_tile<TILES>(&mail.in.stretch[t], to_slot, limit);
}

/* All blocks of all ranks on the device must find a place. */
static mg_status_t find_most_blocks(int sharers, int *most) {
  int each;
  MG_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, mail<true, true, 1>,
                                                            MG_TILE_THREADS, 0));
  *most = std::max(1, mg_cuda.processors * each / sharers);
  return MG_OK;
}

template <bool send, bool receive>
static mg_status_t launch(const mg_cuda_mail_t *m, int src, int dst) {
  int tiles = 0;
  if (send && m->out.n > tiles) tiles = m->out.n;
  if (send && m->local.n_tiles > tiles) tiles = m->local.n_tiles;
  if (receive && m->in.n > tiles) tiles = m->in.n;
  if (tiles == 0) return MG_OK;
  int from_slot = 0, to_slot;
  if (send) MG_TRY(mg_slot_of(m->src, src, &from_slot));
  MG_TRY(mg_slot_of(m->dst, dst, &to_slot));
  const limit_t limit = {mg_cuda.late, (unsigned long long)(1e9 * mg_cuda_patience)};
  const bool beside = mg_cuda.stream == mg_cuda.queue[1];
  /* Here not all blocks may start at once, where tiles have the processors: but these wait for
   * nobody and end, and the rank that is waited for has tiles of the same kind. */
  if (beside) {
    const int blocks =
        std::min((int)MG_PROCESSORS_BESIDE, (tiles + TILES_BESIDE - 1) / TILES_BESIDE);
    mail<send, receive, TILES_BESIDE>
        <<<(unsigned)blocks, dim3(MG_TILE_THREADS, TILES_BESIDE), 0, mg_cuda.stream>>>(
            *m, from_slot, to_slot, limit);
  } else {
    const int blocks = std::min(tiles, m->most_blocks);
    mail<send, receive, 1>
        <<<(unsigned)blocks, MG_TILE_THREADS, 0, mg_cuda.stream>>>(*m, from_slot, to_slot, limit);
  }
  MG_CUDA_LAUNCHED("mail");
  return MG_OK;
}

mg_status_t mg_cuda_mail_send(mg_cuda_mail_t *mail, int src, int dst) {
  return launch<true, false>(mail, src, dst);
}

mg_status_t mg_cuda_mail_receive(mg_cuda_mail_t *mail, int dst) {
  return launch<false, true>(mail, dst, dst);
}

mg_status_t mg_cuda_mail_exchange(mg_cuda_mail_t *mail, int src, int dst) {
  return launch<true, true>(mail, src, dst);
}
