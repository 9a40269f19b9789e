/* Sum, rung 4: a loop in each thread. The grid has only as many blocks as run at the same time, and
 * each thread adds many elements, one grid apart, before the block joins its sums. (The compiler
 * must not unroll the loop, which would batch its loads, as the next rung does.) */
__global__ void RUNG(sum_4)(double *to, const double *from, int64_t n) {
  __shared__ double value[8];
  const int t = (int)threadIdx.x;
  const int64_t all = (int64_t)gridDim.x * 256;
  double sum = 0.0;
#pragma unroll 1
  for (int64_t i = (int64_t)blockIdx.x * 256 + t; i < n; i += all)
    sum += LOAD(from, i);
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
