/* Exercises on a CUDA device: each thread has elements a grid apart. The blocks are resident all at
 * once; of exercise 4 one per SM, so that its threads depend on loads in flight. The host fills the
 * arrays and compares them, as on a CPU. */
#include "lab/lab_cuda.h"
extern "C" {
#include "lab/exercise.h"
}

#include "lab/access.h"

namespace {
namespace yours {
#include "lab/exercises/yours.h"
} // namespace yours

namespace answers {
#include "lab/exercises/answers.h"
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

struct work_t {
  int number;
  const exercise_form_t *form;
  exercise_memory_t host;
  exercise_data_t d; /* on the device */
  lab_array_t room[EXERCISE_ARRAYS], result;
  lab_launch_t launch;
  ~work_t() { exercise_free(&host); }
};

mg_status_t enqueue(void *arg, cudaStream_t stream) {
  work_t *w = (work_t *)arg;
  MG_CUDA_TRY(cudaMemsetAsync(w->result.at, 0, sizeof(double), stream));
  for (int pass = 0; pass < w->form->passes; pass++) {
    void *args[] = {&w->d, &pass, &w->result.at};
    MG_CUDA_TRY(cudaLaunchKernel(w->launch.kernel, dim3((unsigned)w->launch.blocks),
                                 dim3((unsigned)w->launch.threads), args, 0, stream));
  }
  return MG_OK;
}

/* Elements start at a multiple of 128 bytes. */
mg_status_t allocate(work_t *w) {
  MG_TRY(exercise_allocate(w->number, &w->host));
  w->d = w->host.d;
  for (int a = 0; a < EXERCISE_ARRAYS && w->host.room[a]; a++) {
    MG_TRY(w->room[a].make(w->host.length[a] + 16));
    w->d.at[a] = w->room[a].at + (w->host.d.at[a] - w->host.room[a] + 15) / 16 * 16;
  }
  return w->result.make(1);
}

mg_status_t copy(const work_t &w, bool to_device) {
  for (int a = 0; a < EXERCISE_ARRAYS && w.host.room[a]; a++) {
    double *host = w.host.room[a], *device = w.d.at[a] - (w.host.d.at[a] - host);
    MG_CUDA_TRY(cudaMemcpy(to_device ? device : host, to_device ? host : device,
                           (size_t)w.host.length[a] * sizeof *host, cudaMemcpyDefault));
  }
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
mg_status_t add_row(lab_t *lab, work_t *w, const exercise_form_t *form, const void *kernel,
                    const char *name, exercise_verdict_t *verdict) {
  int resident;
  double result;
  char how[64];
  lab_row_t row = {};
  w->form = form;
  w->launch = {kernel, 1, THREADS, 0};
  MG_TRY(lab_cuda_resident(w->launch, &resident));
  w->launch.blocks = (int64_t)lab_card().processors * (w->number == 4 ? 1 : resident);
  MG_TRY(lab_cuda_describe(w->launch, &row));
  exercise_fill(w->number, form, &w->host);
  MG_TRY(copy(*w, true));
  MG_TRY(enqueue(w, nullptr));
  MG_TRY(copy(*w, false));
  MG_CUDA_TRY(cudaMemcpy(&result, w->result.at, sizeof result, cudaMemcpyDeviceToHost));
  snprintf(how, sizeof how, "n = %lld, GPU", (long long)w->d.n);
  if (!exercise_compare(w->number, form, &w->host, result, how, verdict)) return MG_OK;
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
  const int e = lab->exercise.number - 1;
  work_t w = {};
  w.number = e + 1;
  w.host.d = exercise_shape(e + 1, lab->bytes);
  w.host.d.spike = w.host.d.n - 1;
  MG_TRY(allocate(&w));
  MG_TRY(add_row(lab, &w, &exercise_yours[e], kernel_of<true>(e + 1), "yours", verdict));
  if (!verdict->right) return MG_OK;
  return add_row(lab, &w, &exercise_answers[e], kernel_of<false>(e + 1), "answer", answer);
}
