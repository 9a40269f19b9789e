/* Ladder 5 on a CUDA device, part: latency of the reduction within a block.
 *
 * No input is read. A block performs many successive reductions. The input of thread 0 depends on
 * the previous result, so none can be skipped or started early. A barrier follows each one, because
 * its shared memory is reused. Reductions whose warps exit cannot be repeated, so early_exit_t has
 * no row here. */
#include "lab/lab_cuda.h"
#include "lab/reduce_joins.h"
#include <vector>

namespace {
enum { TIMES = 256 };

/** The sum of 0 .. THREADS-1, each time. The compiler cannot see the value of `expected`. */
template <typename T, typename Join> __global__ void join_alone(T *result, T expected, int times) {
  const int me = (int)threadIdx.x;
  T mine = (T)me, sum = T(0);
  for (int t = 0; t < times; t++) {
    sum = Join::join(mine);
    if (me == 0) mine += sum - expected;
    __syncthreads();
  }
  if (me == 0) result[blockIdx.x] = sum;
}

/* Count the blocks with a wrong sum. */
template <typename T>
mg_status_t wrong_sums(const T *result, int64_t blocks, T expected, double *wrong) {
  std::vector<T> got((size_t)blocks);
  MG_CUDA_TRY(cudaMemcpy(got.data(), result, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
  *wrong = 0.0;
  for (const T &sum : got)
    *wrong += sum != expected;
  return MG_OK;
}

template <typename T, typename Join> mg_status_t add(lab_t *lab, bool full, const char *name) {
  lab_launch_t launch = {(const void *)join_alone<T, Join>, 0, THREADS, 0};
  lab_row_t row = {};
  lab_array_t result;
  int resident, times = TIMES;
  T expected = (T)(THREADS * (THREADS - 1) / 2);
  MG_TRY(lab_cuda_resident(launch, &resident));
  launch.blocks = (int64_t)lab_card().processors * (full ? resident : 1);
  MG_TRY(result.make(launch.blocks));
  MG_CUDA_TRY(cudaMemset(result.at, 0xff, (size_t)launch.blocks * sizeof(double)));
  void *args[] = {&result.at, &expected, &times};
  MG_TRY(lab_cuda_measure(lab, launch, args, &row));
  MG_TRY(wrong_sums((const T *)result.at, launch.blocks, expected, &row.error));
  snprintf(row.variant, sizeof row.variant, "%s", name);
  row.elements = TIMES;
  row.flops = THREADS;
  return lab_add(lab, &row);
}

template <typename T> mg_status_t table(lab_t *lab, bool full, const char *type) {
  lab_table(lab, "reduce", "%d joins of %d threads' sums behind each other, %s, %s", (int)TIMES,
            (int)THREADS, type, full ? "blocks that fit" : "a block on a multiprocessor");
  MG_TRY((add<T, tree_t>(lab, full, "tree in shared memory")));
  MG_TRY((add<T, fourths_t>(lab, full, "fourths")));
  MG_TRY((add<T, shuffles_t>(lab, full, "shuffles")));
  MG_TRY((add<T, side_by_side_t>(lab, full, "shuffles side by side")));
  MG_TRY((add<T, searched_t>(lab, full, "in the search's order")));
  MG_TRY((add<T, one_warp_t>(lab, full, "one warp does the rest")));
  MG_TRY((add<T, wide_t<32, 8>>(lab, full, "one warp, steps of 32, 8")));
  MG_TRY((add<T, wide_t<8, 8, 4>>(lab, full, "one warp, steps of 8, 8, 4")));
  return add<T, wide_t<4, 4, 4, 4>>(lab, full, "one warp, steps of 4");
}
} // namespace

mg_status_t lab_reduce_joins(lab_t *lab) {
  MG_TRY(table<double>(lab, false, "double"));
  MG_TRY(table<double>(lab, true, "double"));
  MG_TRY(table<long long>(lab, false, "64-bit integer"));
  return table<long long>(lab, true, "64-bit integer");
}
