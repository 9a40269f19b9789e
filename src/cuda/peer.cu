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

struct message_t {
  double *slots;
  int64_t doubles;
  counter_t *raise;
  const counter_t *watch;
  counter_t done; /**< messages before this one */
  unsigned through, tiles;
  int rank;
};

/** Tiles of one direction, and their messages, all on the device. */
struct direction_t {
  mg_cuboids_t cuboids;
  message_t *message;
};

struct mg_cuda_mail {
  direction_t out, in;
  mg_cuboids_t local;
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

/* Which slot it will be is known to the kernel: an offset in place of a vector's. */
static mg_place_in_t slot_of(const mg_copy_t *c, const mg_cuda_message_t *message) {
  return {nullptr, c->buffer - message->first, c->n[0], (int64_t)c->n[0] * c->n[1]};
}

static mg_status_t fill_direction(const mg_view_t *view, const mg_copy_t *items, int n_items,
                                  const mg_cuda_message_t *messages, int n_messages, bool sending,
                                  mg_cuboid_copy_t *copies, message_t *table, int *tiles,
                                  direction_t *out) {
  for (int l = 0, m = 0; l < n_items; l++) {
    const mg_copy_t *c = &items[l];
    while (m + 1 < n_messages && c->buffer >= messages[m + 1].first)
      m++;
    copies[l].from = sending ? patch_of(view, c, true) : slot_of(c, &messages[m]);
    copies[l].to = sending ? slot_of(c, &messages[m]) : patch_of(view, c, false);
    memcpy(copies[l].n, c->n, sizeof c->n);
    copies[l].message = m;
  }
  MG_TRY(mg_cuboids_create(copies, n_items, &out->cuboids, tiles));
  for (int m = 0; m < n_messages; m++)
    table[m] = {messages[m].slots,
                messages[m].doubles,
                (counter_t *)messages[m].raise,
                (const counter_t *)messages[m].watch,
                0,
                0,
                (unsigned)tiles[m],
                messages[m].rank};
  const size_t bytes = sizeof *table * (size_t)n_messages;
  if (n_messages == 0) return MG_OK;
  MG_CUDA_TRY(cudaMalloc((void **)&out->message, bytes));
  MG_CUDA_TRY(cudaMemcpy(out->message, table, bytes, cudaMemcpyHostToDevice));
  return MG_OK;
}

static mg_status_t create_direction(const mg_view_t *view, const mg_copy_t *items, int n_items,
                                    const mg_cuda_message_t *messages, int n_messages, bool sending,
                                    direction_t *out) {
  mg_cuboid_copy_t *copies = (mg_cuboid_copy_t *)calloc((size_t)n_items + 1, sizeof *copies);
  message_t *table = (message_t *)calloc((size_t)n_messages + 1, sizeof *table);
  int *tiles = (int *)calloc((size_t)n_messages + 1, sizeof *tiles);
  mg_status_t status = copies && table && tiles ? MG_OK : MG_ERR_MEMORY;
  if (status == MG_OK)
    status = fill_direction(view, items, n_items, messages, n_messages, sending, copies, table,
                            tiles, out);
  free(copies);
  free(table);
  free(tiles);
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
  const mg_status_t status = mg_cuboids_create(copies, job->n_local, out, nullptr);
  free(copies);
  return status;
}

static mg_status_t find_most_blocks(int *most);

mg_status_t mg_cuda_mail_create(const mg_cuda_mail_job_t *job, mg_cuda_mail_t **out) {
  *out = nullptr;
  mg_cuda_mail_t *mail = new (std::nothrow) mg_cuda_mail_t();
  if (!mail) return MG_ERR_MEMORY;
  mg_status_t status =
      create_direction(job->src, job->pack, job->n_pack, job->sent, job->n_sent, true, &mail->out);
  if (status == MG_OK)
    status = create_direction(job->dst, job->unpack, job->n_unpack, job->received, job->n_received,
                              false, &mail->in);
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
  mg_cuboids_free(&mail->out.cuboids);
  mg_cuboids_free(&mail->in.cuboids);
  mg_cuboids_free(&mail->local);
  (void)cudaFree(mail->out.message);
  (void)cudaFree(mail->in.message);
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
    if (nanoseconds() - start < patience && !*late) continue;
    if (!*late) *late = 1 + rank;
    __threadfence_system();
    return;
  }
}

/* The block has moved a tile of a message; the last one of all says so. What the block's threads
 * have read and written comes before its count, and all counts come before the flag. */
static __device__ __forceinline__ void finish_tile(message_t *m, counter_t n) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  if (m->tiles > 1) {
    if (atomicAdd(&m->through, 1u) != m->tiles - 1) return;
    m->through = 0;
    __threadfence_system();
  }
  m->done = n + 1;
  *(volatile counter_t *)m->raise = n + 1;
}

static __device__ void send_tile(const direction_t &d, int index, int vec, volatile int *late,
                                 unsigned long long patience, counter_t *number) {
  const mg_tile_t t = d.cuboids.tile[index];
  const mg_cuboid_copy_t *c = &d.cuboids.copy[t.copy];
  message_t *m = &d.message[c->message];
  if (threadIdx.x == 0) {
    const counter_t n = *number = m->done;
    if (n >= 2) wait_until(m->watch, n - 1, m->rank, late, patience);
  }
  __syncthreads();
  const counter_t n = *number;
  double *slot = m->slots + (int64_t)(n & 1) * m->doubles + c->to.vector;
  mg_tile_move<false>(t, c->n, c->from.at + vec * c->from.vector, c->from.jstride, c->from.kstride,
                      slot, c->to.jstride, c->to.kstride);
  finish_tile(m, n);
}

static __device__ void receive_tile(const direction_t &d, int index, int vec, volatile int *late,
                                    unsigned long long patience, counter_t *number) {
  const mg_tile_t t = d.cuboids.tile[index];
  const mg_cuboid_copy_t *c = &d.cuboids.copy[t.copy];
  message_t *m = &d.message[c->message];
  if (threadIdx.x == 0) {
    const counter_t n = *number = m->done;
    wait_until(m->watch, n + 1, m->rank, late, patience);
  }
  __syncthreads();
  const counter_t n = *number;
  const double *slot = m->slots + (int64_t)(n & 1) * m->doubles + c->from.vector;
  mg_tile_move<true>(t, c->n, slot, c->from.jstride, c->from.kstride, c->to.at + vec * c->to.vector,
                     c->to.jstride, c->to.kstride);
  finish_tile(m, n);
}

static __device__ void copy_tile(const mg_cuboids_t &list, int index, int src, int dst) {
  const mg_tile_t t = list.tile[index];
  const mg_cuboid_copy_t *c = &list.copy[t.copy];
  mg_tile_move<false>(t, c->n, c->from.at + src * c->from.vector, c->from.jstride, c->from.kstride,
                      c->to.at + dst * c->to.vector, c->to.jstride, c->to.kstride);
}

template <bool send, bool receive>
static __global__ void __launch_bounds__(MG_TILE_THREADS)
    mail(mg_cuda_mail_t mail, int src, int dst, volatile int *late, unsigned long long patience) {
  __shared__ counter_t number;
  const int first = (int)blockIdx.x, step = (int)gridDim.x;
  if (send) {
    for (int t = first; t < mail.out.cuboids.n_tiles; t += step)
      send_tile(mail.out, t, src, late, patience, &number);
    for (int t = first; t < mail.local.n_tiles; t += step)
      copy_tile(mail.local, t, src, dst);
  }
  if (receive)
    for (int t = first; t < mail.in.cuboids.n_tiles; t += step)
      receive_tile(mail.in, t, dst, late, patience, &number);
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
  if (send && m->out.cuboids.n_tiles > blocks) blocks = m->out.cuboids.n_tiles;
  if (send && m->local.n_tiles > blocks) blocks = m->local.n_tiles;
  if (receive && m->in.cuboids.n_tiles > blocks) blocks = m->in.cuboids.n_tiles;
  if (blocks == 0) return MG_OK;
  if (blocks > m->most_blocks) blocks = m->most_blocks;
  const unsigned long long patience = (unsigned long long)(1e9 * mg_cuda_patience);
  mail<send, receive><<<(unsigned)blocks, MG_TILE_THREADS, 0, mg_cuda.stream>>>(
      *m, src, dst, mg_cuda.late, patience);
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
