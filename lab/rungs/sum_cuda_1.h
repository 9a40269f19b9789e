/* Sum, rung 1: one element per thread. A tree in shared memory adds the values of a block: in each
 * step every second of the remaining threads adds its neighbor's value, so that the working threads
 * are spread over all warps. The sums of the blocks are summed by the next launch. */
__global__ void RUNG(sum_1)(double *to, const double *from, int64_t n) {
  __shared__ double value[256];
  const int t = (int)threadIdx.x;
  const int64_t i = (int64_t)blockIdx.x * 256 + t;
  value[t] = i < n ? LOAD(from, i) : 0.0;
  for (int apart = 1; apart < 256; apart *= 2) {
    __syncthreads();
    if (t % (2 * apart) == 0) value[t] += value[t + apart];
  }
  if (t == 0) STORE(to, blockIdx.x, value[0]);
}
