/* Sum, rung 2: working threads are neighbors. The first half of the remaining threads adds the
 * values of the second half, so that whole warps finish early. */
__global__ void RUNG(sum_2)(double *to, const double *from, int64_t n) {
  __shared__ double value[256];
  const int t = (int)threadIdx.x;
  const int64_t i = (int64_t)blockIdx.x * 256 + t;
  value[t] = i < n ? LOAD(from, i) : 0.0;
  for (int apart = 128; apart > 0; apart /= 2) {
    __syncthreads();
    if (t < apart) value[t] += value[t + apart];
  }
  if (t == 0) STORE(to, blockIdx.x, value[0]);
}
