/* Sum, rung 6: loads of 16 bytes. Each brings two elements, so half as many instructions keep the
 * same number of bytes in flight. `from` is aligned to 16 bytes. */
__global__ void RUNG(sum_6)(double *to, const double *from, int64_t n) {
  __shared__ double value[8];
  const int t = (int)threadIdx.x;
  const int64_t all = (int64_t)gridDim.x * 256, pairs = n / 2;
  const double2 *pair = (const double2 *)from;
  double sum = 0.0;
  if (n % 2 == 1 && blockIdx.x == 0 && t == 0) sum = LOAD(from, n - 1);
#pragma unroll 1
  for (int64_t i = (int64_t)blockIdx.x * 256 + t; i < pairs; i += 4 * all) {
    double2 next[4];
#pragma unroll
    for (int u = 0; u < 4; u++)
      next[u] = i + u * all < pairs ? LOAD(pair, i + u * all) : double2{0.0, 0.0};
#pragma unroll
    for (int u = 0; u < 4; u++)
      sum += next[u].x + next[u].y;
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
