/* Sum, rung 5: loads batched. A thread loads four elements before it adds the first, so that four
 * loads are in flight. */
__global__ void RUNG(sum_5)(double *to, const double *from, int64_t n) {
  __shared__ double value[8];
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
  for (int apart = 16; apart > 0; apart /= 2)
    sum += __shfl_down_sync(~0u, sum, apart);
  if (t % 32 == 0) value[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = t < 8 ? value[t] : 0.0;
  for (int apart = 4; apart > 0; apart /= 2)
    sum += __shfl_down_sync(~0u, sum, apart);
  if (t == 0) STORE(to, blockIdx.x, sum);
}
