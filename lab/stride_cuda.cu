/* Ladder 2 on a CUDA device: memory is read in sectors of 32 bytes, and shared memory has 32 banks
 * of 4 bytes. A warp waits for all sectors and banks that it touches, used in full or not. */
#include "lab/lab_cuda.h"

namespace {
enum { THREADS = 256, WARP = 32, SECTOR = 32 };
const int strides[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32};

__global__ void gather(double *__restrict__ to, const double *__restrict__ from, int64_t n,
                       int stride) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i * stride];
}

/* Sums of structures of `size` doubles, read directly. The loads of a warp are one structure apart,
 * and the caches must keep the sectors until the next member is requested. */
__global__ void sums_direct(double *__restrict__ to, const double *__restrict__ from, int64_t n,
                            int size) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0.0;
  for (int m = 0; m < size; m++)
    sum += from[i * size + m];
  to[i] = sum;
}

/* The block copies its structures densely to shared memory. `pad` doubles after every 16 change the
 * banks of a thread's members. */
__global__ void sums_shared(double *__restrict__ to, const double *__restrict__ from, int64_t n,
                            int size, int pad) {
  extern __shared__ double tile[];
  const int64_t first = (int64_t)blockIdx.x * blockDim.x;
  const int here = (int)(n - first < blockDim.x ? n - first : blockDim.x);
  for (int e = (int)threadIdx.x; e < here * size; e += (int)blockDim.x)
    tile[e + e / 16 * pad] = from[first * size + e];
  __syncthreads();
  if ((int)threadIdx.x >= here) return;
  double sum = 0.0;
  for (int m = 0; m < size; m++) {
    const int e = (int)threadIdx.x * size + m;
    sum += tile[e + e / 16 * pad];
  }
  to[first + threadIdx.x] = sum;
}

/* The sum of structure i. */
struct sums_t {
  int size;
  __device__ double operator()(int64_t i) const {
    double sum = 0.0;
    for (int m = 0; m < size; m++)
      sum += lab_value(i * size + m);
    return sum;
  }
};

/* Bytes per element in the sectors that a warp's 32 loads touch. */
double touched(int stride) {
  int64_t sectors = 0, last = -1;
  for (int lane = 0; lane < WARP; lane++) {
    const int64_t sector = (int64_t)lane * stride * 8 / SECTOR;
    sectors += sector != last;
    last = sector;
  }
  return (double)(sectors * SECTOR) / WARP;
}

struct work_t {
  double *to, *from;
  int64_t n; /* elements that are read a stride apart */
};

mg_status_t gathers(lab_t *lab, work_t *w) {
  const lab_launch_t launch = {(const void *)gather, (w->n + THREADS - 1) / THREADS, THREADS, 0};
  lab_table(lab, "stride", "one double of each stride, written densely");
  for (int stride : strides) {
    void *args[] = {&w->to, &w->from, &w->n, &stride};
    lab_row_t row = {};
    row.elements = w->n;
    row.useful = 16.0;
    row.moved = 8.0 + touched(stride);
    MG_TRY(lab_cuda_measure(lab, launch, args, &row));
    MG_TRY(lab_cuda_wrong(w->to, w->n, lab_values_t{0, stride}, &row.error));
    MG_TRY(lab_add(lab, &row, "stride %d", stride));
  }
  return MG_OK;
}

mg_status_t add_sums(lab_t *lab, work_t *w, int size, int pad, bool staged, const char *name) {
  int64_t n = w->n * 2 / size; /* structures of an array of 32 w->n doubles are more than enough */
  const size_t tile = sizeof(double) * (size_t)(THREADS * size + THREADS * size / 16 * pad);
  if (staged && tile + lab_card().reserved_per_block > lab_card().shared_per_block) return MG_OK;
  lab_launch_t launch = {staged ? (const void *)sums_shared : (const void *)sums_direct,
                         (n + THREADS - 1) / THREADS, THREADS, staged ? tile : 0};
  void *args[] = {&w->to, &w->from, &n, &size, &pad};
  lab_row_t row = {};
  row.elements = n;
  row.useful = 8.0 * (size + 1);
  row.flops = size;
  MG_TRY(lab_cuda_measure(lab, launch, args, &row));
  MG_TRY(lab_cuda_wrong(w->to, n, sums_t{size}, &row.error));
  return lab_add(lab, &row, "%s", name);
}

/* Largest number of a half-warp's 16 doubles in one pair of banks; these are serialized. */
int in_a_bank(int size, int pad) {
  int lanes[16] = {}, max_lanes = 0;
  for (int lane = 0; lane < 16; lane++) {
    const int first = lane * size, bank = (first + first / 16 * pad) % 16;
    lanes[bank]++;
    if (lanes[bank] > max_lanes) max_lanes = lanes[bank];
  }
  return max_lanes;
}

mg_status_t structures(lab_t *lab, work_t *w) {
  char name[LAB_NAME];
  for (int size : strides) {
    if (size == 1) continue;
    lab_table(lab, "stride", "sums of structures of %d doubles", size);
    MG_TRY(add_sums(lab, w, size, 0, false, "read directly"));
    for (int pad = 0; pad < 2; pad++) {
      snprintf(name, sizeof name, "shared%s, %d per bank", pad ? ", padded" : " memory",
               in_a_bank(size, pad));
      MG_TRY(add_sums(lab, w, size, pad, true, name));
    }
  }
  return MG_OK;
}
} // namespace

extern "C" mg_status_t lab_stride_cuda(lab_t *lab) {
  /* At every stride the data are several times larger than L2. */
  work_t w = {};
  w.n = lab->bytes / 8 / 2;
  lab_array_t from, to;
  MG_TRY(from.make(32 * w.n + 64));
  MG_TRY(to.make(w.n));
  MG_TRY(lab_cuda_fill(from.at, 32 * w.n + 64));
  w.to = to.at;
  w.from = from.at;
  MG_TRY(gathers(lab, &w));
  return structures(lab, &w);
}
