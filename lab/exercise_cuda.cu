/* Exercises on a CUDA device: each thread has elements a grid apart. The blocks are resident all at
 * once; of exercise 4 one per SM, so that its threads depend on loads in flight. */
#include "lab/lab_cuda.h"
extern "C" {
#include "lab/exercise.h"
}

#include "lab/access.h"

namespace {
namespace yours {
#include "lab/exercises/exercise_1.h"
#include "lab/exercises/exercise_2.h"
#include "lab/exercises/exercise_3.h"
#include "lab/exercises/exercise_4.h"
#include "lab/exercises/exercise_5.h"

#include "lab/exercises/calls.h"

enum { N_PASSES = PASSES };
} // namespace yours

namespace answers {
#include "lab/exercises/answer_1.h"
#include "lab/exercises/answer_2.h"
#include "lab/exercises/answer_3.h"
#include "lab/exercises/answer_4.h"
#include "lab/exercises/answer_5.h"

#include "lab/exercises/calls.h"

enum { N_PASSES = PASSES };
} // namespace answers

enum { THREADS = 256, WARP = 32 };

/* The kernel of an exercise in one form. */
template <int NUMBER, bool IS_YOURS>
__device__ double call(const exercise_data_t *d, int pass, int64_t first, int64_t step) {
#define CALL(number)                                                                               \
  if constexpr (NUMBER == number && IS_YOURS)                                                      \
    return yours::run_##number(d, pass, first, d->n, step);                                        \
  else if constexpr (NUMBER == number)                                                             \
  return answers::run_##number(d, pass, first, d->n, step)
  CALL(1);
  CALL(2);
  CALL(3);
  CALL(4);
  CALL(5);
#undef CALL
}

/* Joins of maxima use the bits as an integer: they have the order of numbers that are not negative,
 * and NaN is the largest. */
template <int NUMBER, bool IS_YOURS>
__global__ void __launch_bounds__(THREADS)
    run_exercise(exercise_data_t d, int pass, double *result) {
  const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  double mine = call<NUMBER, IS_YOURS>(&d, pass, first, (int64_t)gridDim.x * THREADS);
  if constexpr (NUMBER == 1 || NUMBER == 4) {
    constexpr exercise_result_t kind = NUMBER == 4 ? EXERCISE_SUM : EXERCISE_MAXIMUM;
    for (int other = WARP / 2; other > 0; other /= 2)
      mine = exercise_join(kind, mine, __shfl_down_sync(~0u, mine, other));
    if (threadIdx.x % WARP != 0) return;
    if constexpr (kind == EXERCISE_SUM)
      atomicAdd(result, mine);
    else
      atomicMax((unsigned long long *)result, (unsigned long long)__double_as_longlong(mine));
  }
}

template <bool IS_YOURS>
__device__ double *element(const exercise_data_t &d, int number, int a, int64_t i) {
  if (number != 2) return &d.at[a][i];
  return &d.at[0][IS_YOURS ? yours::place(i, a, d.n) : answers::place(i, a, d.n)];
}

/* Elements -around <= i < n + around of array a. */
template <bool IS_YOURS>
__global__ void fill_elements(exercise_data_t d, int number, int a, int64_t around,
                              int64_t ghosts) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x - around;
  if (i < d.n + around)
    *element<IS_YOURS>(d, number, a, i) =
        i < -ghosts || i >= d.n + ghosts ? NAN : exercise_start(number, &d, a, i);
}

/* The first wrong element, counted from -around, and its value. */
template <bool IS_YOURS>
__global__ void find_wrong(exercise_data_t d, int number, int a, int64_t around, int64_t ghosts,
                           bool is_scratch, unsigned long long *wrong) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x - around;
  if (i >= d.n + around || (is_scratch && i >= 0 && i < d.n)) return;
  const double is = *element<IS_YOURS>(d, number, a, i);
  if (exercise_differs(is, exercise_expected(number, &d, a, ghosts, i)))
    atomicMin(wrong, (unsigned long long)(i + around));
}

template <bool IS_YOURS>
__global__ void read_element(exercise_data_t d, int number, int a, int64_t i, double *value) {
  *value = *element<IS_YOURS>(d, number, a, i);
}

struct work_t {
  int number, passes;
  exercise_data_t d;
  lab_array_t room[EXERCISE_ARRAYS], result;
  lab_launch_t launch;
};

mg_status_t enqueue(void *arg, cudaStream_t stream) {
  work_t *w = (work_t *)arg;
  MG_CUDA_TRY(cudaMemsetAsync(w->result.at, 0, sizeof(double), stream));
  for (int pass = 0; pass < w->passes; pass++) {
    void *args[] = {&w->d, &pass, &w->result.at};
    MG_CUDA_TRY(cudaLaunchKernel(w->launch.kernel, dim3((unsigned)w->launch.blocks),
                                 dim3((unsigned)w->launch.threads), args, 0, stream));
  }
  return MG_OK;
}

int64_t around(const work_t &w, int a) {
  return w.number == 2 ? 0 : exercise_ghosts(w.number, &w.d, a) + EXERCISE_GUARDS;
}

unsigned blocks_of(int64_t n) {
  return (unsigned)((n + THREADS - 1) / THREADS);
}

/* Elements start at a multiple of 128 bytes. */
mg_status_t allocate(work_t *w) {
  const int arrays = w->number == 2 ? 1 : exercise_info[w->number - 1].arrays;
  for (int a = 0; a < arrays; a++) {
    const int64_t before = (around(*w, a) + 15) / 16 * 16;
    MG_TRY(w->room[a].make(exercise_elements(w->number, &w->d) + 2 * before));
    w->d.at[a] = w->room[a].at + before;
  }
  return w->result.make(2);
}

template <bool IS_YOURS> mg_status_t fill(const work_t &w) {
  for (int a = 0; a < exercise_info[w.number - 1].arrays; a++) {
    const int64_t ends = around(w, a);
    fill_elements<IS_YOURS><<<blocks_of(w.d.n + 2 * ends), THREADS>>>(
        w.d, w.number, a, ends, exercise_ghosts(w.number, &w.d, a));
    MG_CUDA_LAUNCHED("fill_elements");
  }
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

/* Compare array a; false in *is_right with the verdict if it is wrong. */
template <bool IS_YOURS>
mg_status_t compare_array(const work_t &w, int a, exercise_verdict_t *verdict) {
  const int64_t ends = around(w, a), ghosts = exercise_ghosts(w.number, &w.d, a);
  const auto &array = exercise_info[w.number - 1].array[a];
  unsigned long long *at = (unsigned long long *)(w.result.at + 1), wrong = ~0ull;
  double is;
  MG_CUDA_TRY(cudaMemcpy(at, &wrong, sizeof wrong, cudaMemcpyHostToDevice));
  find_wrong<IS_YOURS><<<blocks_of(w.d.n + 2 * ends), THREADS>>>(
      w.d, w.number, a, ends, ghosts, array.role == EXERCISE_SCRATCH, at);
  MG_CUDA_LAUNCHED("find_wrong");
  MG_CUDA_TRY(cudaMemcpy(&wrong, at, sizeof wrong, cudaMemcpyDeviceToHost));
  if (wrong == ~0ull) return MG_OK;
  const int64_t i = (int64_t)wrong - ends;
  read_element<IS_YOURS><<<1, 1>>>(w.d, w.number, a, i, w.result.at + 1);
  MG_CUDA_LAUNCHED("read_element");
  MG_CUDA_TRY(cudaMemcpy(&is, w.result.at + 1, sizeof is, cudaMemcpyDeviceToHost));
  exercise_wrong(w.number, verdict, "%s[%lld] is %.17g, should be %.17g (n = %lld, GPU)",
                 array.name, (long long)i, is, exercise_expected(w.number, &w.d, a, ghosts, i),
                 (long long)w.d.n);
  return MG_OK;
}

template <bool IS_YOURS> mg_status_t compare(const work_t &w, exercise_verdict_t *verdict) {
  const exercise_info_t &info = exercise_info[w.number - 1];
  double result;
  MG_CUDA_TRY(cudaMemcpy(&result, w.result.at, sizeof result, cudaMemcpyDeviceToHost));
  for (int a = 0; a < info.arrays && verdict->right; a++)
    MG_TRY(compare_array<IS_YOURS>(w, a, verdict));
  const double wanted = exercise_wanted_result(w.number, &w.d);
  if (verdict->right && info.result != EXERCISE_NO_RESULT && result != wanted)
    exercise_wrong(w.number, verdict, "the %s is %.17g, should be %.17g (n = %lld, GPU)",
                   info.result == EXERCISE_SUM ? "sum" : "norm", result, wanted, (long long)w.d.n);
  return MG_OK;
}

template <bool IS_YOURS> const void *kernel_of(int number) {
  static const void *const kernels[EXERCISES] = {
      (const void *)run_exercise<1, IS_YOURS>, (const void *)run_exercise<2, IS_YOURS>,
      (const void *)run_exercise<3, IS_YOURS>, (const void *)run_exercise<4, IS_YOURS>,
      (const void *)run_exercise<5, IS_YOURS>};
  return kernels[number - 1];
}

/* A row; none if the result is wrong. */
template <bool IS_YOURS>
mg_status_t add_row(lab_t *lab, work_t *w, const char *name, exercise_verdict_t *verdict) {
  int resident;
  lab_row_t row = {};
  w->passes = w->number != 5 ? 1 : IS_YOURS ? (int)yours::N_PASSES : (int)answers::N_PASSES;
  w->launch = {kernel_of<IS_YOURS>(w->number), 1, THREADS, 0};
  MG_TRY(lab_cuda_resident(w->launch, &resident));
  w->launch.blocks = (int64_t)lab_card().processors * (w->number == 4 ? 1 : resident);
  MG_TRY(lab_cuda_describe(w->launch, &row));
  MG_TRY(fill<IS_YOURS>(*w));
  MG_TRY(enqueue(w, nullptr));
  MG_TRY(compare<IS_YOURS>(*w, verdict));
  if (!verdict->right) return MG_OK;
  MG_TRY(lab_cuda_time(lab, enqueue, w, &row.seconds));
  row.elements = w->d.n;
  row.useful = exercise_info[w->number - 1].bytes;
  row.requested = verdict->requested;
  row.moved = verdict->moved;
  return lab_add(lab, &row, "%s", name);
}
} // namespace

extern "C" mg_status_t exercise_measure_cuda(lab_t *lab, exercise_verdict_t *verdict,
                                             exercise_verdict_t *answer) {
  work_t w = {};
  w.number = lab->exercise.number;
  w.d = exercise_shape(w.number, lab->bytes);
  w.d.spike = w.d.n - 1;
  MG_TRY(allocate(&w));
  MG_TRY(add_row<true>(lab, &w, "yours", verdict));
  return verdict->right ? add_row<false>(lab, &w, "answer", answer) : MG_OK;
}
