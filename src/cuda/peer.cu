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

struct mg_cuda_mail {
  mg_cuboids_t cuboids;
  message_t *message; /**< on the device */
  bool sending;
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

static mg_status_t fill_mail(mg_cuda_mail_t *mail, const mg_view_t *view, const mg_copy_t *items,
                             int n_items, const mg_cuda_message_t *messages, int n_messages,
                             mg_cuboid_copy_t *copies, message_t *table, int *tiles) {
  for (int l = 0, m = 0; l < n_items; l++) {
    const mg_copy_t *c = &items[l];
    while (m + 1 < n_messages && c->buffer >= messages[m + 1].first)
      m++;
    /* Which slot it will be is known to the kernel: an offset in place of a vector's. */
    const mg_place_in_t slot = {nullptr, c->buffer - messages[m].first, c->n[0],
                                (int64_t)c->n[0] * c->n[1]};
    copies[l].from =
        mail->sending ? mg_place_in(view, c->src_patch, c->src_lo, c->n, nullptr) : slot;
    copies[l].to = mail->sending ? slot : mg_place_in(view, c->dst_patch, c->dst_lo, c->n, nullptr);
    memcpy(copies[l].n, c->n, sizeof c->n);
    copies[l].message = m;
  }
  MG_TRY(mg_cuboids_create(copies, n_items, &mail->cuboids, tiles));
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
  MG_CUDA_TRY(cudaMalloc((void **)&mail->message, bytes));
  MG_CUDA_TRY(cudaMemcpy(mail->message, table, bytes, cudaMemcpyHostToDevice));
  return MG_OK;
}

mg_status_t mg_cuda_mail_create(const mg_view_t *view, const mg_copy_t *items, int n_items,
                                const mg_cuda_message_t *messages, int n_messages, bool sending,
                                mg_cuda_mail_t **out) {
  *out = nullptr;
  mg_cuda_mail_t *mail = new (std::nothrow) mg_cuda_mail_t();
  mg_cuboid_copy_t *copies = (mg_cuboid_copy_t *)calloc((size_t)n_items + 1, sizeof *copies);
  message_t *table = (message_t *)calloc((size_t)n_messages + 1, sizeof *table);
  int *tiles = (int *)calloc((size_t)n_messages + 1, sizeof *tiles);
  mg_status_t status = mail && copies && table && tiles ? MG_OK : MG_ERR_MEMORY;
  if (status == MG_OK) {
    mail->sending = sending;
    status = fill_mail(mail, view, items, n_items, messages, n_messages, copies, table, tiles);
  }
  free(copies);
  free(table);
  free(tiles);
  if (status != MG_OK) {
    mg_cuda_mail_free(mail);
    return status;
  }
  *out = mail;
  return MG_OK;
}

void mg_cuda_mail_free(mg_cuda_mail_t *mail) {
  if (!mail) return;
  mg_cuboids_free(&mail->cuboids);
  (void)cudaFree(mail->message);
  delete mail;
}

static __device__ __forceinline__ counter_t load_acquire(const counter_t *counter) {
  counter_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(counter) : "memory");
  return value;
}

static __device__ __forceinline__ void store_release(counter_t *counter, counter_t value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(counter), "l"(value) : "memory");
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

template <bool sending>
static __global__ void __launch_bounds__(MG_TILE_THREADS)
    mail(const mg_cuboid_copy_t *copies, const mg_tile_t *tile, message_t *message, int vec,
         volatile int *late, unsigned long long patience) {
  __shared__ counter_t number;
  const mg_tile_t t = tile[blockIdx.x];
  const mg_cuboid_copy_t *c = &copies[t.copy];
  message_t *m = &message[c->message];
  if (threadIdx.x == 0) {
    const counter_t n = number = m->done;
    if (!sending)
      wait_until(m->watch, n + 1, m->rank, late, patience);
    else if (n >= 2)
      wait_until(m->watch, n - 1, m->rank, late, patience);
  }
  __syncthreads();
  const counter_t n = number;
  double *slot = m->slots + (int64_t)(n & 1) * m->doubles;
  const int64_t vector = vec * (sending ? c->from.vector : c->to.vector);
  if (sending)
    mg_tile_move<false>(t, c->n, c->from.at + vector, c->from.jstride, c->from.kstride,
                        slot + c->to.vector, c->to.jstride, c->to.kstride);
  else
    mg_tile_move<true>(t, c->n, slot + c->from.vector, c->from.jstride, c->from.kstride,
                       c->to.at + vector, c->to.jstride, c->to.kstride);
  __syncthreads();
  if (threadIdx.x != 0) return;
  /* The block's accesses before the count, all blocks' accesses before the flag. */
  __threadfence_system();
  if (atomicAdd(&m->through, 1u) != m->tiles - 1) return;
  m->through = 0;
  m->done = n + 1;
  __threadfence_system();
  store_release(m->raise, n + 1);
}

mg_status_t mg_cuda_mail_run(mg_cuda_mail_t *m, int vec) {
  const mg_cuboids_t *c = &m->cuboids;
  if (c->n_tiles == 0) return MG_OK;
  const unsigned blocks = (unsigned)c->n_tiles;
  const unsigned long long patience = (unsigned long long)(1e9 * mg_cuda_patience);
  if (m->sending)
    mail<true><<<blocks, MG_TILE_THREADS, 0, mg_cuda.stream>>>(c->copy, c->tile, m->message, vec,
                                                               mg_cuda.late, patience);
  else
    mail<false><<<blocks, MG_TILE_THREADS, 0, mg_cuda.stream>>>(c->copy, c->tile, m->message, vec,
                                                                mg_cuda.late, patience);
  MG_CUDA_LAUNCHED("mail");
  return MG_OK;
}
