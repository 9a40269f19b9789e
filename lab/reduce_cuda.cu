/* Ladder 5 on a CUDA device: a sum (lab/rungs/sum_cuda_*.h). For a large array any kernel with
 * enough bytes in flight reaches the memory bandwidth. The cost of a small sum is its chain of
 * dependent steps: launches, barriers, shuffles. All numbers are small integers, whose sums are
 * exact in any order. The ways to join the threads of a block are candidates of the search
 * (search_candidate.h). */
#include "lab/count_cuda.h"
#include "lab/search_cuda.h"
#include <cub/device/device_reduce.cuh>

using namespace candidate;

namespace {
enum { THREADS = 256 };

template <typename C>
__global__ void __launch_bounds__(C::THREADS)
    all_joins(double *result, double expected, int times) {
  joins<C>(result, expected, times);
}

/* For its block reduction alone. */
template <typename C> search_program_t program(const char *name) {
  search_program_t p = {};
  p.plan.threads = C::THREADS;
  p.plan.loads = C::LOADS;
  p.plan.width = 8 * C::NUMBERS;
  p.plan.grid = (plan_grid_t)C::GRID;
  p.joins = (const void *)all_joins<C>;
  snprintf(p.name, sizeof p.name, "%s", name);
  return p;
}

/* One level of a tree in shared memory: N threads load RADIX values each. */
#define LEVEL(RADIX, N) store<1>, block_barrier, load<RADIX, N>
#define BINARY_TREE                                                                                \
  LEVEL(2, 128), LEVEL(2, 64), LEVEL(2, 32), LEVEL(2, 16), LEVEL(2, 8), LEVEL(2, 4), LEVEL(2, 2),  \
      LEVEL(2, 1)
#define SHUFFLES                                                                                   \
  shuffle_down<2, 16>, shuffle_down<2, 8>, shuffle_down<2, 4>, shuffle_down<2, 2>,                 \
      shuffle_down<2, 1>, store<32>, block_barrier, load<1, 8>, shuffle_down<2, 4>,                \
      shuffle_down<2, 2>, shuffle_down<2, 1>

#define JOIN(name, loads, width, ...)                                                              \
  program<shape_t<double, THREADS, 0, loads, width, 1, TWO_LAUNCHES, __VA_ARGS__>>(name)

const search_program_t block_joins[] = {
    JOIN("binary tree in shared memory", 1, 8, BINARY_TREE),
    JOIN("radix-4 tree", 4, 16, LEVEL(4, 64), LEVEL(4, 16), LEVEL(4, 4), LEVEL(4, 1)),
    JOIN("dependent shuffles", 4, 16, SHUFFLES),
    JOIN("independent shuffles", 4, 16, shuffle_xor<4, 1>, shuffle_xor<8, 4>, store<32>,
         block_barrier, load<8, 1>),
    JOIN("the best sum of the search", 4, 16, shuffle_xor<2, 1>, shuffle_xor<2, 2>,
         shuffle_xor<2, 4>, store<8>, block_barrier, load_packed<8, 4>, shuffle_xor<4, 1>),
    JOIN("one warp finishes, radix 32, 8", 4, 16, LEVEL(32, 8), store<1>, warp_barrier, load<8, 1>),
    JOIN("one warp finishes, radix 4", 4, 16, LEVEL(4, 64), LEVEL(4, 16), store<1>, warp_barrier,
         load<4, 4>, store<1>, warp_barrier, load<4, 1>),
    JOIN("one warp finishes by shuffles", 4, 16, store<1>, block_barrier, load<8, 32>,
         shuffle_xor<4, 1>, shuffle_xor<8, 4>),
};

#include "lab/access.h"
#include "lab/rungs/sum_cuda.h"
#define LAB_COUNTED
#include "lab/access.h"
#include "lab/rungs/sum_cuda.h"

typedef void (*sum_kernel_t)(double *to, const double *from, int64_t n);

struct rung_t {
  const char *name;
  sum_kernel_t kernel, counted;
  int per_thread;  /* elements that a thread loads before it adds them */
  bool is_looping; /* as many blocks as run at the same time; otherwise one load per thread */
  bool is_whole;   /* one launch gives the sum */
};

const rung_t rungs[] = {
    {"one element per thread", sum_1, sum_1_counted, 1, false, false},
    {"working threads are neighbors", sum_2, sum_2_counted, 1, false, false},
    {"shuffles within warps", sum_3, sum_3_counted, 1, false, false},
    {"a loop in each thread", sum_4, sum_4_counted, 1, true, false},
    {"loads batched", sum_5, sum_5_counted, 4, true, false},
    {"one launch", sum_6, sum_6_counted, 4, true, true},
};

/* A sum by a rung or by a library. */
struct work_t {
  const double *from;
  double *partial[2]; /* sums of blocks */
  int64_t n;
  const rung_t *rung;
  sum_kernel_t kernel;  /* of the rung: plain or counted */
  int64_t resident;     /* blocks that run at the same time */
  const double *result; /* where the sum is after a run */
  void *temporary;      /* workspace of CUB */
  size_t temporary_bytes;
};

int64_t blocks_of(const work_t *w, int64_t n) {
  const int64_t each = (int64_t)THREADS * w->rung->per_thread, all = (n + each - 1) / each;
  return w->rung->is_looping && all > w->resident ? w->resident : all;
}

/* Launches until one sum is left. A looping kernel adds the sums of its blocks in one block. */
mg_status_t enqueue_rung(void *arg, cudaStream_t stream) {
  work_t *w = (work_t *)arg;
  const double *from = w->from;
  int64_t n = w->n;
  for (int turn = 0;; turn = 1 - turn) {
    const int64_t blocks = from != w->from && w->rung->is_looping ? 1 : blocks_of(w, n);
    double *const to = w->partial[turn];
    w->kernel<<<(unsigned)blocks, THREADS, 0, stream>>>(to, from, n);
    MG_CUDA_LAUNCHED("a rung of the sum");
    w->result = from = to;
    if (blocks == 1 || w->rung->is_whole) return MG_OK;
    n = blocks;
  }
}

mg_status_t enqueue_cub(void *arg, cudaStream_t stream) {
  work_t *w = (work_t *)arg;
  w->result = w->partial[0];
  MG_CUDA_TRY(cub::DeviceReduce::Sum(w->temporary, w->temporary_bytes, w->from, w->partial[0], w->n,
                                     stream));
  return MG_OK;
}

/* Time it, check its result and add a row. */
mg_status_t add(lab_t *lab, work_t *w, lab_enqueue_t enqueue, unsigned long long expected,
                double requested, const char *name) {
  lab_row_t row = {};
  unsigned long long got;
  row.elements = w->n;
  row.useful = 8.0;
  row.requested = requested;
  row.flops = 1.0;
  MG_TRY(lab_cuda_time(lab, enqueue, w, &row.seconds));
  MG_TRY(lab_cuda_launched(&row));
  MG_CUDA_TRY(cudaMemcpy(&got, w->result, sizeof got, cudaMemcpyDeviceToHost));
  row.error = got == expected ? 0.0 : 1.0;
  return lab_add(lab, &row, "%s", name);
}

mg_status_t add_rung(lab_t *lab, work_t *w, const rung_t *rung, unsigned long long expected) {
  double requested = 0.0;
  int blocks;
  MG_TRY(lab_cuda_resident({(const void *)rung->kernel, 0, THREADS, 0}, &blocks));
  w->resident = (int64_t)blocks * lab_card().processors;
  w->rung = rung;
  w->kernel = rung->counted;
  MG_TRY(lab_cuda_requested(enqueue_rung, w, w->n, &requested));
  w->kernel = rung->kernel;
  return add(lab, w, enqueue_rung, expected, requested, rung->name);
}

mg_status_t sums(lab_t *lab, search_goal_t *goal, int what) {
  char title[LAB_TITLE];
  unsigned long long expected;
  const input_t in = goal->input(what, &expected);
  const int64_t n_partial = in.length / THREADS + lab_card().threads_per_processor;
  lab_array_t partial, temporary;
  work_t w = {};
  w.from = in.from;
  w.n = in.length;
  MG_TRY(partial.make(2 * n_partial));
  w.partial[0] = partial.at;
  w.partial[1] = partial.at + n_partial;
  MG_TRY(enqueue_cub(&w, nullptr)); /* a call without workspace returns the required size */
  MG_TRY(temporary.make((int64_t)w.temporary_bytes / 8 + 1));
  w.temporary = temporary.at;
  goal->title(what, title);
  lab_table(lab, "reduce", "%s", title);
  for (const rung_t &rung : rungs)
    MG_TRY(add_rung(lab, &w, &rung, expected));
  return add(lab, &w, enqueue_cub, expected, 0.0, "CUB");
}

/* No input is read: a block performs many successive reductions. */
mg_status_t block_reductions(lab_t *lab, search_goal_t *goal) {
  lab_table(lab, "reduce", "%d successive reductions of a block of %d threads, one block per SM",
            (int)SEARCH_TIMES, (int)THREADS);
  for (const search_program_t &join : block_joins) {
    lab_row_t row;
    MG_TRY(goal->measure(lab, join, SEARCH_JOINS, &row));
    MG_TRY(lab_add(lab, &row, "%s", join.name));
  }
  return MG_OK;
}
} // namespace

extern "C" mg_status_t lab_reduce_cuda(lab_t *lab) {
  {
    const std::unique_ptr<search_goal_t> goal = search_for_sums();
    MG_TRY(goal->make(lab));
    MG_TRY(sums(lab, goal.get(), SEARCH_LARGE));
    MG_TRY(sums(lab, goal.get(), SEARCH_SMALL));
    MG_TRY(block_reductions(lab, goal.get()));
  }
  return lab_reduce_solver(lab);
}
