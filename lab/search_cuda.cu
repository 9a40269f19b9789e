/* The search for a sum or a norm on a CUDA device. Programs proven on the host (search_plan.h) are
 * compiled, compared with known results, and timed on a large input, on a small input, and for the
 * block reduction alone. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "lab/lab_cuda.h"

#ifdef HAVE_NVRTC
#include "lab/search_cuda.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace {
enum {
  BEST = 10,
  TIMES = 256,
  MOST_SECONDS = 45,
  BEFORE = 16 /* numbers before the partial results */
};
typedef unsigned long long bits_t;
typedef search_program_t program_t;

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

mg_status_t enqueue(void *arg, cudaStream_t stream) {
  return ((search_run_t *)arg)->enqueue(stream);
}
} // namespace

/* ---- one run ---- */

mg_status_t search_space_t::make() {
  most_blocks = 64ll * lab_card().processors;
  MG_TRY(memory.make(most_blocks + BEFORE));
  MG_CUDA_TRY(cudaMemset(memory.at, 0, BEFORE * sizeof(double)));
  result = memory.at;
  ended = (unsigned int *)(memory.at + 1);
  partial = memory.at + BEFORE;
  return MG_OK;
}

mg_status_t search_blocks(const plan_t *plan, const lab_launch_t &launch, int64_t *blocks) {
  int resident;
  MG_TRY(lab_cuda_resident(launch, &resident));
  if (plan->blocks > 0) resident = std::min(resident, plan->blocks);
  *blocks = (int64_t)resident * lab_card().processors;
  return MG_OK;
}

mg_status_t search_run_t::enqueue(cudaStream_t stream) {
  const plan_t *plan = program->plan;
  const dim3 block((unsigned)plan->threads);
  int blocks = (int)(grid.x * grid.y);
  void *of_sum[] = {&space->partial, &space->result, &space->ended, &from, &n},
       *of_norm[] = {&space->partial, &space->result, &space->ended, &from,   &extent[0],
                     &extent[1],      &extent[2],     &jstride,      &kstride};
  void *second[] = {&space->partial, &space->result, &blocks};
  if (plan->grid == GRID_ATOMICS)
    MG_CUDA_TRY(cudaMemsetAsync(space->result, 0, sizeof *space->result, stream));
  MG_CUDA_TRY(cudaLaunchKernel(launch.kernel, grid, block,
                               plan->goal == PLAN_SUM ? of_sum : of_norm, 0, stream));
  if (plan->grid == GRID_TWO_LAUNCHES)
    MG_CUDA_TRY(
        cudaLaunchKernel((const void *)program->last[type], dim3(1), block, second, 0, stream));
  return MG_OK;
}

mg_status_t search_run_t::time(const lab_t *lab, lab_row_t *row) {
  MG_TRY(lab_cuda_describe(launch, row));
  return lab_cuda_time(lab, ::enqueue, this, &row->seconds);
}

mg_status_t search_run_t::fetch(unsigned long long *bits) {
  MG_CUDA_TRY(cudaMemcpy(bits, space->result, sizeof *bits, cudaMemcpyDeviceToHost));
  MG_CUDA_TRY(cudaMemset(space->result, 0xa5, sizeof *bits));
  MG_CUDA_TRY(cudaDeviceSynchronize()); /* the next run may be on another stream */
  return MG_OK;
}

mg_status_t search_run_t::result(unsigned long long *bits) {
  MG_TRY(enqueue(nullptr));
  return fetch(bits);
}

namespace {
/* ---- rows ---- */

/* One block per SM, so that the latency of a reduction is measured. */
mg_status_t measure_joins(const lab_t *lab, search_goal_t *goal, const program_t &p,
                          lab_row_t *row) {
  const int threads = p.plan->threads, processors = lab_card().processors;
  const lab_launch_t launch = {(const void *)p.joins, processors, threads, 0};
  bits_t expected = goal->of_a_block(threads);
  int times = TIMES;
  void *args[] = {&goal->space.partial, &expected, &times};
  std::vector<bits_t> got((size_t)processors);
  MG_TRY(lab_cuda_measure(lab, launch, args, row));
  MG_CUDA_TRY(cudaMemcpy(got.data(), goal->space.partial, got.size() * sizeof(bits_t),
                         cudaMemcpyDeviceToHost));
  for (const bits_t all : got)
    row->error += all != expected;
  row->elements = TIMES;
  row->flops = threads;
  return MG_OK;
}

mg_status_t measure(const lab_t *lab, search_goal_t *goal, const program_t &p, int what,
                    lab_row_t *row) {
  *row = {};
  snprintf(row->variant, sizeof row->variant, "%.*s", (int)sizeof row->variant - 1, p.name);
  return what == SEARCH_JOINS ? measure_joins(lab, goal, p, row) : goal->measure(lab, p, what, row);
}

/* First, coarse measurement of all three. */
mg_status_t time_program(const lab_t *lab, search_goal_t *goal, program_t *p, bool *right) {
  lab_t quick = *lab;
  quick.least_seconds = 0.0;
  for (int what = 0; what < N_SEARCH_MEASURES; what++) {
    lab_row_t row;
    MG_TRY(measure(&quick, goal, *p, what, &row));
    *right = *right && row.error == 0.0;
    p->seconds[what] = row.seconds;
  }
  return MG_OK;
}

/* ---- the search ---- */

struct search_t {
  plan_set_t set;
  std::vector<char *> cubin;
  std::vector<size_t> bytes;
  std::vector<program_t> found; /* correct and timed; the first is the tree */
  int wrong, untried;
  ~search_t() {
    for (char *code : cubin)
      free(code);
    for (program_t &p : found)
      (void)cudaLibraryUnload(p.library);
    plan_set_free(&set);
  }
};

mg_status_t compile(search_t *search) {
  int device, major, minor;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  search->cubin.assign((size_t)search->set.n, nullptr);
  search->bytes.assign((size_t)search->set.n, 0);
  return plan_compile_all(&search->set, 10 * major + minor, search->cubin.data(),
                          search->bytes.data());
}

mg_status_t try_all(const lab_t *lab, search_goal_t *goal, search_t *search) {
  const double start = now();
  for (int i = 0; i < search->set.n; i++) {
    if (now() - start > MOST_SECONDS) {
      search->untried = search->set.n - i;
      break;
    }
    program_t p = {};
    bool right;
    p.plan = &search->set.plan[i];
    plan_spell(p.plan, p.name);
    if (i == 0) snprintf(p.name, sizeof p.name, "tree in shared memory");
    MG_CUDA_TRY(cudaLibraryLoadData(&p.library, search->cubin[(size_t)i], nullptr, nullptr, 0,
                                    nullptr, nullptr, 0));
    search->found.push_back(p);
    MG_TRY(goal->load(&p));
    MG_TRY(goal->prove(p, &right));
    if (right) MG_TRY(time_program(lab, goal, &p, &right));
    if (right) {
      search->found.back() = p;
      continue;
    }
    search->wrong++;
    MG_CUDA_TRY(cudaLibraryUnload(p.library));
    search->found.pop_back();
    if (i == 0) return mg_error(MG_ERR_INTERNAL, "search: the tree in shared memory is wrong");
  }
  return MG_OK;
}

/* Sort the first n by the geometric mean of the three speed-ups over the tree. */
void rank(std::vector<program_t> *found, size_t n) {
  const program_t tree = found->front();
  for (size_t i = 0; i < n; i++) {
    program_t &p = (*found)[i];
    double product = 1.0;
    for (int what = 0; what < N_SEARCH_MEASURES; what++)
      product *= tree.seconds[what] / p.seconds[what];
    p.score = cbrt(product);
  }
  std::stable_sort(found->begin() + 1, found->begin() + (ptrdiff_t)n,
                   [](const program_t &a, const program_t &b) { return a.score > b.score; });
}

void report(const lab_t *lab, const search_t *search) {
  if (!lab->text) return;
  const plan_set_t *set = &search->set;
  fprintf(lab->text,
          "\nsearch: %s, seed %llu, %d known shapes and %d tries: %d right, %d of them repeated\n",
          lab->search.norm ? "norm" : "sum", (unsigned long long)lab->search.seed,
          1 + (int)PLAN_KNOWN, lab->search.tries, set->verdicts[PLAN_RIGHT], set->repeated);
  for (int v = PLAN_RIGHT + 1; v < N_VERDICTS; v++)
    if (set->verdicts[v])
      fprintf(lab->text, "  rejected: %d %s\n", set->verdicts[v],
              plan_verdict_name((plan_verdict_t)v));
  fprintf(lab->text, "  wrong on the device: %d\n", search->wrong);
  if (search->untried)
    fprintf(lab->text, "  not tried after %d s: %d\n", (int)MOST_SECONDS, search->untried);
}

/* Measure the best programs of the first round like every other row, and sort them again. */
mg_status_t tables(lab_t *lab, search_goal_t *goal, search_t *search) {
  const size_t n = std::min<size_t>(search->found.size(), 1 + BEST);
  lab->name_width = 56; /* fits spelt programs */
  for (int what = 0; what < N_SEARCH_MEASURES; what++) {
    char title[LAB_TITLE];
    goal->title(what, title);
    if (what == SEARCH_JOINS)
      lab_table(lab, "search", "%d joins behind each other, a block on a multiprocessor",
                (int)TIMES);
    else
      lab_table(lab, "search", "the tree and the best, %s", title);
    for (size_t i = 0; i < n; i++) {
      lab_row_t row;
      MG_TRY(measure(lab, goal, search->found[i], what, &row));
      MG_TRY(lab_add(lab, &row));
      search->found[i].seconds[what] = row.seconds;
    }
  }
  rank(&search->found, n);
  return MG_OK;
}

mg_status_t finish(lab_t *lab, const search_t *search) {
  if (search->found.size() < 2)
    return mg_error(MG_ERR_USAGE, "search: nothing but the tree is right; take more --tries");
  const program_t &winner = search->found[1];
  if (lab->text) {
    fprintf(lab->text, "\nwinner, %.2f times as fast as the tree in the mean: %s\n", winner.score,
            winner.name);
    plan_explain(winner.plan, lab->text);
  }
  free(lab->search.winner);
  lab->search.winner = plan_source(winner.plan);
  return lab->search.winner ? MG_OK : mg_error(MG_ERR_MEMORY, "no memory for the winner's source");
}
} // namespace

extern "C" mg_status_t lab_search_cuda(lab_t *lab) {
  const std::unique_ptr<search_goal_t> goal =
      lab->search.norm ? search_for_norms() : search_for_sums();
  search_t search = {};
  MG_TRY(plan_collect(lab->search.norm ? PLAN_NORM : PLAN_SUM, lab->search.seed, lab->search.tries,
                      &search.set));
  MG_TRY(compile(&search));
  MG_TRY(goal->make(lab));
  MG_TRY(try_all(lab, goal.get(), &search));
  rank(&search.found, search.found.size());
  report(lab, &search);
  const mg_status_t status = tables(lab, goal.get(), &search);
  lab->name_width = 0;
  return status == MG_OK ? finish(lab, &search) : status;
}

#else
extern "C" mg_status_t lab_search_cuda(lab_t *lab) {
  (void)lab;
  return mg_error(MG_ERR_USAGE, "search needs NVRTC of CUDA 12.8 or newer, which this build lacks");
}
#endif
