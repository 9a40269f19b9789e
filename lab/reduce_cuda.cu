/* Ladder 5 on a CUDA device: a sum. For a large array any kernel with enough bytes in flight
 * reaches the memory bandwidth. The cost of a small sum is its chain of dependent steps: launches,
 * barriers, shuffles. All numbers are small integers, whose sums are exact in any order. The rungs
 * are candidates of the search (search_candidate.h). */
#include "lab/search_cuda.h"
#include <cub/cub.cuh>

using namespace candidate;

namespace {
enum { THREADS = 256 };

template <typename C>
__global__ void __launch_bounds__(C::THREADS)
    first_launch(double *partial, double *result, unsigned *ended, input_t in) {
  first<C>(partial, result, ended, in);
}
template <typename C>
__global__ void __launch_bounds__(C::THREADS) last_launch(double *partial, double *result, int n) {
  last<C>(partial, result, n);
}
template <typename C>
__global__ void __launch_bounds__(C::THREADS)
    all_joins(double *result, double expected, int times) {
  joins<C>(result, expected, times);
}

template <typename C> search_program_t program(const char *name) {
  search_program_t p = {};
  p.plan.threads = C::THREADS;
  p.plan.loads = C::LOADS;
  p.plan.width = 8 * C::NUMBERS;
  p.plan.grid = (plan_grid_t)C::GRID;
  p.first = (const void *)first_launch<C>;
  p.last = (const void *)last_launch<C>;
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
#define ONE_WARP store<1>, block_barrier, load<8, 32>, shuffle_xor<4, 1>, shuffle_xor<8, 4>
#define RUNG(name, loads, width, grid, ...)                                                        \
  program<shape_t<double, THREADS, 0, loads, width, 1, grid, __VA_ARGS__>>(name)

/* Each rung differs from the one before in one property. The block reductions of the first and the
 * third to ninth differ. */
const search_program_t rungs[] = {
    RUNG("binary tree in shared memory", 1, 8, TWO_LAUNCHES, BINARY_TREE),
    RUNG("four 16-byte loads in flight", 4, 16, TWO_LAUNCHES, BINARY_TREE),
    RUNG("radix-4 tree", 4, 16, TWO_LAUNCHES, LEVEL(4, 64), LEVEL(4, 16), LEVEL(4, 4), LEVEL(4, 1)),
    RUNG("dependent shuffles", 4, 16, TWO_LAUNCHES, SHUFFLES),
    RUNG("independent shuffles", 4, 16, TWO_LAUNCHES, shuffle_xor<4, 1>, shuffle_xor<8, 4>,
         store<32>, block_barrier, load<8, 1>),
    RUNG("the best sum of the search", 4, 16, TWO_LAUNCHES, shuffle_xor<2, 1>, shuffle_xor<2, 2>,
         shuffle_xor<2, 4>, store<8>, block_barrier, load_packed<8, 4>, shuffle_xor<4, 1>),
    RUNG("one warp finishes, radix 32, 8", 4, 16, TWO_LAUNCHES, LEVEL(32, 8), store<1>,
         warp_barrier, load<8, 1>),
    RUNG("one warp finishes, radix 4", 4, 16, TWO_LAUNCHES, LEVEL(4, 64), LEVEL(4, 16), store<1>,
         warp_barrier, load<4, 4>, store<1>, warp_barrier, load<4, 1>),
    RUNG("one warp finishes by shuffles", 4, 16, TWO_LAUNCHES, ONE_WARP),
    RUNG("one launch, atomics", 4, 16, ATOMICS, ONE_WARP),
    RUNG("one launch, last block sums", 4, 16, LAST_BLOCK, ONE_WARP),
};
enum { N_RUNGS = sizeof rungs / sizeof rungs[0], N_JOINS = 9 };

/* A sum by several launches or a library. */
struct work_t {
  const double *from;
  double *to, *tree[2];
  int64_t n;
  void *temporary; /* workspace of CUB */
  size_t temporary_bytes;
};

/* The naive tree: to[i] = from[2 i] + from[2 i + 1], one launch per level. */
__global__ void halve(double *to, const double *from, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (n + 1) / 2) return;
  to[i] = 2 * i + 1 < n ? from[2 * i] + from[2 * i + 1] : from[2 * i];
}

mg_status_t enqueue_tree(void *arg, cudaStream_t stream) {
  work_t *w = (work_t *)arg;
  const double *from = w->from;
  int turn = 0;
  for (int64_t n = w->n; n > 1; n = (n + 1) / 2) {
    double *to = n == 2 ? w->to : w->tree[turn];
    halve<<<(unsigned)(((n + 1) / 2 + THREADS - 1) / THREADS), THREADS, 0, stream>>>(to, from, n);
    MG_CUDA_LAUNCHED("halve");
    from = to;
    turn = 1 - turn;
  }
  return MG_OK;
}

mg_status_t enqueue_cub(void *arg, cudaStream_t stream) {
  work_t *w = (work_t *)arg;
  MG_CUDA_TRY(
      cub::DeviceReduce::Sum(w->temporary, w->temporary_bytes, w->from, w->to, w->n, stream));
  return MG_OK;
}

mg_status_t add(lab_t *lab, work_t *w, lab_enqueue_t enqueue, unsigned long long expected,
                double moved, const char *name) {
  lab_row_t row = {};
  unsigned long long got;
  row.elements = w->n;
  row.useful = 8.0;
  row.moved = moved;
  row.flops = 1.0;
  MG_TRY(lab_cuda_time(lab, enqueue, w, &row.seconds));
  MG_TRY(lab_cuda_launched(&row));
  MG_CUDA_TRY(cudaMemcpy(&got, w->to, sizeof got, cudaMemcpyDeviceToHost));
  row.error = got == expected ? 0.0 : 1.0;
  return lab_add(lab, &row, "%s", name);
}

mg_status_t sums(lab_t *lab, search_goal_t *goal, int what) {
  char title[LAB_TITLE];
  unsigned long long expected;
  const input_t in = goal->input(what, &expected);
  lab_array_t tree, other;
  work_t w = {in.from, nullptr, {}, in.length, nullptr, 0};
  MG_TRY(enqueue_cub(&w, nullptr)); /* a call without workspace returns the required size */
  MG_TRY(tree.make(w.n + 3));
  MG_TRY(other.make((int64_t)w.temporary_bytes / 8 + 2));
  w.tree[0] = tree.at;
  w.tree[1] = tree.at + (w.n + 1) / 2;
  w.to = other.at;
  w.temporary = other.at + 1;
  goal->title(what, title);
  lab_table(lab, "reduce", "%s", title);
  /* Reads n and writes n / 2, then half as many, and so on. */
  MG_TRY(add(lab, &w, enqueue_tree, expected, 3.0 * sizeof(double), "tree in global memory"));
  for (const search_program_t &p : rungs) {
    lab_row_t row;
    MG_TRY(goal->measure(lab, p, what, &row));
    MG_TRY(lab_add(lab, &row, "%s", p.name));
  }
  return add(lab, &w, enqueue_cub, expected, 0.0, "CUB");
}

/* No input is read: a block performs many successive reductions. */
mg_status_t block_reductions(lab_t *lab, search_goal_t *goal) {
  lab_table(lab, "reduce", "%d successive reductions of a block of %d threads, one block per SM",
            (int)SEARCH_TIMES, (int)THREADS);
  for (int r = 0; r < N_JOINS; r++) {
    lab_row_t row;
    if (r == 1) continue; /* as the first */
    MG_TRY(goal->measure(lab, rungs[r], SEARCH_JOINS, &row));
    MG_TRY(lab_add(lab, &row, "%s", rungs[r].name));
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
