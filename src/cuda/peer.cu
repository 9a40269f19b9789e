/* Stores into other devices' memory. One launch an end of an exchange, one block a tile.
 *
 * 8 bytes read and 8 written a cell; at 64 KiB a message latency is everything: launch, stores over
 * NVLink, a fence and a flag. No block of a launch waits for another one of it, so that any number
 * of blocks may be resident; each waits for its own message alone. */
#include "cuboids.h"
#include <cstdlib>
#include <new>
extern "C" {
#include "cuda/peer.h"
}

static_assert(sizeof(cudaIpcMemHandle_t) == MG_CUDA_HANDLE_BYTES, "handles travel as bytes");

double mg_cuda_patience = 60.0;

typedef unsigned long long counter_t;

/** What changes from message to message. */
struct count_t {
  counter_t done;   /**< messages before this one */
  unsigned through; /**< tiles of this one */
};

/** A tile of a message with all that a block must know, in one piece: a list may have left the
 * caches since the last exchange, and each look from one place of memory to the next would take
 * longer than the message itself. */
struct stretch_t {
  mg_tile_t tile;
  unsigned ni, nj; /**< of its cuboid */
  mg_place_in_t cells;
  double *slot; /**< this cuboid's begin in the first slot; the second is `apart` further */
  int64_t apart;
  counter_t *raise;
  const counter_t *watch;
  count_t *count;
  unsigned tiles; /**< of the message */
  int rank;
};

/** Tiles of one direction, on the device. */
struct direction_t {
  stretch_t *stretch;
  count_t *count;
  int n;
};

struct mg_cuda_mail {
  direction_t out, in;
  mg_cuboids_t local;
  unsigned src, dst; /**< vectors of either side */
  int most_blocks;
};

mg_status_t mg_cuda_window_alloc(size_t bytes, void **memory,
                                 unsigned char handle[MG_CUDA_HANDLE_BYTES]) {
  cudaIpcMemHandle_t ipc;
  MG_CUDA_TRY(cudaMalloc(memory, bytes));
  MG_CUDA_TRY(cudaMemset(*memory, 0, bytes));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  MG_CUDA_TRY(cudaIpcGetMemHandle(&ipc, *memory));
  memcpy(handle, &ipc, sizeof ipc);
  return MG_OK;
}

void mg_cuda_window_release(void *memory) {
  (void)cudaFree(memory);
}

bool mg_cuda_reaches(const unsigned char uuid[16]) {
  int own = 0, n = 0, reaches = 0;
  if (cudaGetDevice(&own) != cudaSuccess || cudaGetDeviceCount(&n) != cudaSuccess) return false;
  for (int device = 0; device < n; device++) {
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    if (memcmp(&properties.uuid, uuid, 16) != 0) continue;
    if (device == own) return true;
    return cudaDeviceCanAccessPeer(&reaches, own, device) == cudaSuccess && reaches;
  }
  return false;
}

bool mg_cuda_window_open(const unsigned char handle[MG_CUDA_HANDLE_BYTES], void **memory) {
  cudaIpcMemHandle_t ipc;
  memcpy(&ipc, handle, sizeof ipc);
  if (cudaIpcOpenMemHandle(memory, ipc, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess) return true;
  (void)cudaGetLastError();
  *memory = nullptr;
  return false;
}

void mg_cuda_window_close(void *memory) {
  (void)cudaIpcCloseMemHandle(memory);
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

static int message_of(const plan_t *p, const mg_copy_t *item) {
  int m = 0;
  while (m + 1 < p->n_messages && item->buffer >= p->message[m + 1].first)
    m++;
  return m;
}

static void fill_stretches(const plan_t *p, const mg_tile_t *tile, int n_tiles, count_t *count,
                           unsigned *tiles_of, stretch_t *out) {
  for (int t = 0; t < n_tiles; t++)
    tiles_of[message_of(p, &p->item[tile[t].copy])]++;
  for (int t = 0; t < n_tiles; t++) {
    const mg_copy_t *c = &p->item[tile[t].copy];
    const int number = message_of(p, c);
    const mg_cuda_message_t *m = &p->message[number];
    out[t] = {tile[t],
              (unsigned)c->n[0],
              (unsigned)c->n[1],
              patch_of(p->view, c, p->sending),
              m->slots + (c->buffer - m->first),
              m->doubles,
              (counter_t *)m->raise,
              (const counter_t *)m->watch,
              count + number,
              tiles_of[number],
              m->rank};
  }
}

static mg_status_t place_stretches(const plan_t *p, const mg_tile_t *tile, int n_tiles,
                                   direction_t *out) {
  if (n_tiles == 0) return MG_OK;
  const size_t bytes = sizeof(count_t) * (size_t)p->n_messages;
  MG_CUDA_TRY(cudaMalloc((void **)&out->count, bytes));
  MG_CUDA_TRY(cudaMemsetAsync(out->count, 0, bytes, mg_cuda.stream));
  stretch_t *stretch = (stretch_t *)malloc(sizeof *stretch * (size_t)n_tiles);
  unsigned *tiles_of = (unsigned *)calloc((size_t)p->n_messages, sizeof *tiles_of);
  mg_status_t status = stretch && tiles_of ? MG_OK : MG_ERR_MEMORY;
  if (status == MG_OK) {
    fill_stretches(p, tile, n_tiles, out->count, tiles_of, stretch);
    status = mg_cuda_to_device(stretch, sizeof *stretch * (size_t)n_tiles, (void **)&out->stretch);
  }
  out->n = n_tiles;
  free(stretch);
  free(tiles_of);
  return status;
}

static mg_status_t create_direction(const plan_t *p, direction_t *out) {
  mg_cuboid_copy_t *sizes = (mg_cuboid_copy_t *)calloc((size_t)p->n_items + 1, sizeof *sizes);
  if (!sizes) return MG_ERR_MEMORY;
  for (int l = 0; l < p->n_items; l++)
    memcpy(sizes[l].n, p->item[l].n, sizeof sizes[l].n);
  mg_tile_t *tile = nullptr;
  int n_tiles = 0;
  mg_status_t status = mg_cuboids_cut(sizes, p->n_items, &tile, &n_tiles);
  if (status == MG_OK) status = place_stretches(p, tile, n_tiles, out);
  free(sizes);
  free(tile);
  return status;
}

static mg_status_t create_local(const mg_cuda_mail_job_t *job, mg_cuboids_t *out) {
  mg_cuboid_copy_t *copies = (mg_cuboid_copy_t *)calloc((size_t)job->n_local + 1, sizeof *copies);
  if (!copies) return MG_ERR_MEMORY;
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

static mg_status_t find_most_blocks(int *most);

mg_status_t mg_cuda_mail_create(const mg_cuda_mail_job_t *job, mg_cuda_mail_t **out) {
  *out = nullptr;
  mg_cuda_mail_t *mail = new (std::nothrow) mg_cuda_mail_t();
  if (!mail) return MG_ERR_MEMORY;
  const plan_t out_plan = {job->src, job->pack, job->sent, job->n_pack, job->n_sent, true};
  const plan_t in_plan = {job->dst,      job->unpack,     job->received,
                          job->n_unpack, job->n_received, false};
  mail->src = mg_vectors_in(job->src);
  mail->dst = mg_vectors_in(job->dst);
  mg_status_t status = create_direction(&out_plan, &mail->out);
  if (status == MG_OK) status = create_direction(&in_plan, &mail->in);
  if (status == MG_OK) status = create_local(job, &mail->local);
  if (status == MG_OK) status = find_most_blocks(&mail->most_blocks);
  if (status != MG_OK) {
    mg_cuda_mail_free(mail);
    return status;
  }
  *out = mail;
  return MG_OK;
}

void mg_cuda_mail_free(mg_cuda_mail_t *mail) {
  if (!mail) return;
  const direction_t both[2] = {mail->out, mail->in};
  for (const direction_t &d : both) {
    (void)cudaFree(d.stretch);
    (void)cudaFree(d.count);
  }
  mg_cuboids_free(&mail->local);
  delete mail;
}

static __device__ __forceinline__ counter_t load_acquire(const counter_t *counter) {
  counter_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(counter) : "memory");
  return value;
}

static __device__ __forceinline__ unsigned long long nanoseconds(void) {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

/* Wait until a counter has come to `least`, but not for ever; once one kernel has waited in vain,
 * the others do not wait. `late` is the host's memory: 1 + the rank that did not answer. */
static __device__ void wait_until(const counter_t *counter, counter_t least, int rank,
                                  volatile int *late, unsigned long long patience) {
  for (int spin = 0; spin < 1000; spin++)
    if (load_acquire(counter) >= least) return;
  const unsigned long long start = nanoseconds();
  while (load_acquire(counter) < least) {
    __nanosleep(100);
    /* A clock that steps back, as between time slices, must not look like an age. */
    const long long waited = (long long)(nanoseconds() - start);
    if (waited < (long long)patience && !*late) continue;
    if (!*late) *late = 1 + rank;
    __threadfence_system();
    return;
  }
}

/* The block has moved a tile of a message; the last one of all says so. What the block's threads
 * have read and written comes before its count, and all counts come before the flag. */
static __device__ __forceinline__ void finish_tile(const stretch_t &s, counter_t n) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  if (s.tiles > 1) {
    if (atomicAdd(&s.count->through, 1u) != s.tiles - 1) return;
    s.count->through = 0;
    __threadfence_system();
  }
  s.count->done = n + 1;
  *(volatile counter_t *)s.raise = n + 1;
}

static __device__ void send_tile(const stretch_t &s, int slot, volatile int *late,
                                 unsigned long long patience, counter_t *number) {
  if (threadIdx.x == 0) {
    const counter_t n = *number = s.count->done;
    if (n >= 2) wait_until(s.watch, n - 1, s.rank, late, patience);
  }
  __syncthreads();
  const counter_t n = *number;
  const int64_t ni = s.ni;
  mg_tile_move<false>(s.tile, s.ni, s.nj, s.cells.at + slot * s.cells.vector, s.cells.jstride,
                      s.cells.kstride, s.slot + (int64_t)(n & 1) * s.apart, ni, ni * s.nj);
  finish_tile(s, n);
}

static __device__ void receive_tile(const stretch_t &s, int slot, volatile int *late,
                                    unsigned long long patience, counter_t *number) {
  if (threadIdx.x == 0) {
    const counter_t n = *number = s.count->done;
    wait_until(s.watch, n + 1, s.rank, late, patience);
  }
  __syncthreads();
  const counter_t n = *number;
  const int64_t ni = s.ni;
  mg_tile_move<true>(s.tile, s.ni, s.nj, s.slot + (int64_t)(n & 1) * s.apart, ni, ni * s.nj,
                     s.cells.at + slot * s.cells.vector, s.cells.jstride, s.cells.kstride);
  finish_tile(s, n);
}

static __device__ void copy_tile(const mg_cuboids_t &list, int index, int from_slot, int to_slot) {
  const mg_tile_t t = list.tile[index];
  const mg_cuboid_copy_t *c = &list.copy[t.copy];
  mg_tile_move<false>(t, (unsigned)c->n[0], (unsigned)c->n[1],
                      c->from.at + from_slot * c->from.vector, c->from.jstride, c->from.kstride,
                      c->to.at + to_slot * c->to.vector, c->to.jstride, c->to.kstride);
}

template <bool send, bool receive>
static __global__ void __launch_bounds__(MG_TILE_THREADS)
    mail(mg_cuda_mail_t mail, int from_slot, int to_slot, volatile int *late,
         unsigned long long patience) {
  __shared__ counter_t number;
  const int first = (int)blockIdx.x, step = (int)gridDim.x;
  /* On its way while this block sends. */
  if (send && receive && first < mail.in.n && threadIdx.x == 0)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(&mail.in.stretch[first]));
  if (send) {
    for (int t = first; t < mail.out.n; t += step)
      send_tile(mail.out.stretch[t], from_slot, late, patience, &number);
    for (int t = first; t < mail.local.n_tiles; t += step)
      copy_tile(mail.local, t, from_slot, to_slot);
  }
  if (receive)
    for (int t = first; t < mail.in.n; t += step)
      receive_tile(mail.in.stretch[t], to_slot, late, patience, &number);
}

static mg_status_t find_most_blocks(int *most) {
  int device, processors, each;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  MG_CUDA_TRY(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, mail<true, true>, MG_TILE_THREADS, 0));
  *most = processors * each;
  return MG_OK;
}

template <bool send, bool receive>
static mg_status_t launch(const mg_cuda_mail_t *m, int src, int dst) {
  int blocks = 0;
  if (send && m->out.n > blocks) blocks = m->out.n;
  if (send && m->local.n_tiles > blocks) blocks = m->local.n_tiles;
  if (receive && m->in.n > blocks) blocks = m->in.n;
  if (blocks == 0) return MG_OK;
  if (blocks > m->most_blocks) blocks = m->most_blocks;
  int from_slot = 0, to_slot;
  if (send) MG_TRY(mg_slot_of(m->src, src, &from_slot));
  MG_TRY(mg_slot_of(m->dst, dst, &to_slot));
  const unsigned long long patience = (unsigned long long)(1e9 * mg_cuda_patience);
  mail<send, receive><<<(unsigned)blocks, MG_TILE_THREADS, 0, mg_cuda.stream>>>(
      *m, from_slot, to_slot, mg_cuda.late, patience);
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
