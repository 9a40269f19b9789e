/* Sum, rung 6: one launch. Blocks count themselves; the last one to end adds the sums of all
 * blocks, always in the same order. The second launch and its wait are saved. */
__device__ unsigned RUNG(sum_6_ended); /* 0 again after the last block */

__global__ void RUNG(sum_6)(double *to, const double *from, int64_t n) {
  __shared__ double value[8];
  __shared__ bool is_last;
  const int t = (int)threadIdx.x;
  const int64_t all = (int64_t)gridDim.x * 256;
  double sum = 0.0;
#pragma unroll 1
  for (int64_t i = (int64_t)blockIdx.x * 256 + t; i < n; i += 4 * all) {
    double next[4];
#pragma unroll
    for (int u = 0; u < 4; u++)
      next[u] = i + u * all < n ? LOAD(from, i + u * all) : 0.0;
#pragma unroll
    for (int u = 0; u < 4; u++)
      sum += next[u];
  }
  for (int turn = 0; turn < 2; turn++) {
    for (int apart = 16; apart > 0; apart /= 2)
      sum += __shfl_down_sync(~0u, sum, apart);
    if (t % 32 == 0) value[t / 32] = sum;
    __syncthreads();
    sum = t < 8 ? value[t] : 0.0;
    for (int apart = 4; apart > 0; apart /= 2)
      sum += __shfl_down_sync(~0u, sum, apart);
    if (turn == 1) break;
    if (t == 0) {
      STORE(to, blockIdx.x, sum);
      __threadfence();
      is_last = atomicInc(&RUNG(sum_6_ended), gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    sum = 0.0;
    for (int b = t; b < (int)gridDim.x; b += 256)
      sum += LOAD_FRESH(to, b);
  }
  if (t == 0) STORE(to, 0, sum);
}
