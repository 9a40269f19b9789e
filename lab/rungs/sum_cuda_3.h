/* Sum, rung 3: shuffles. Threads of a warp add each other's registers, without shared memory and
 * barriers. One barrier is left, before the first warp adds the sums of the eight warps. */
__global__ void RUNG(sum_3)(double *to, const double *from, int64_t n) {
  __shared__ double value[8];
  const int t = (int)threadIdx.x;
  const int64_t i = (int64_t)blockIdx.x * 256 + t;
  double sum = i < n ? LOAD(from, i) : 0.0;
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
