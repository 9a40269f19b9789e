/* Memory bandwidth that GPU runs are compared with: a device-to-device copy by the driver, counting
 * bytes read and bytes written.
 *
 *   device-copy BYTES [SECONDS]   BYTES for both arrays in total; prints the median GB/s */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static bool failed(cudaError_t error, const char *call) {
  if (error != cudaSuccess)
    fprintf(stderr, "device-copy: %s: %s\n", call, cudaGetErrorString(error));
  return error != cudaSuccess;
}
#define TRY(call)                                                                                  \
  do {                                                                                             \
    if (failed((call), #call)) return 4;                                                           \
  } while (0)

int main(int argc, char **argv) {
  const size_t bytes = argc > 1 ? (size_t)(strtod(argv[1], nullptr) / 2.0) / 512 * 512 : 0;
  const double limit = argc > 2 ? strtod(argv[2], nullptr) : 1.0;
  if (argc > 3 || bytes < 512 || !(limit > 0.0)) {
    fprintf(stderr, "usage: device-copy BYTES [SECONDS]; at least 1024 BYTES for both arrays\n");
    return 2;
  }
  void *from = nullptr, *to = nullptr;
  cudaEvent_t start, end;
  TRY(cudaMalloc(&from, bytes));
  TRY(cudaMalloc(&to, bytes));
  TRY(cudaMemset(from, 0x5a, bytes));
  TRY(cudaMemset(to, 0, bytes));
  TRY(cudaEventCreate(&start));
  TRY(cudaEventCreate(&end));
  std::vector<float> ms;
  for (double all = 0.0; ms.size() < 5 || (all < limit && ms.size() < 100000);) {
    float took = 0.0f;
    TRY(cudaEventRecord(start));
    TRY(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice));
    TRY(cudaEventRecord(end));
    TRY(cudaEventSynchronize(end));
    TRY(cudaEventElapsedTime(&took, start, end));
    ms.push_back(took);
    all += 1e-3 * took;
  }
  unsigned char last = 0;
  TRY(cudaMemcpy(&last, (char *)to + bytes - 1, 1, cudaMemcpyDeviceToHost));
  std::sort(ms.begin() + 1, ms.end()); /* the first one warms up */
  printf("%.1f\n", 2e-6 * (double)bytes / ms[1 + (ms.size() - 1) / 2]);
  TRY(cudaFree(from));
  TRY(cudaFree(to));
  return last == 0x5a ? 0 : 5;
}
