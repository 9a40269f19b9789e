/* The search for a sum or a norm on a CUDA device. Programs proven on the host (search_plan.h) are
 * compiled, compared with known results, and timed on a large input, on a small input, and for the
 * block reduction alone. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "lab/lab_cuda.h"

#ifdef HAVE_NVRTC
#include "lab/search_cuda.h"
extern "C" {
#include "base/timers.h"
}
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace {
enum { BEST = 10, MAX_SECONDS = 45 };

/* A program that the device has loaded. */
struct program_t : search_program_t {
  cudaLibrary_t library;
  double seconds[N_SEARCH_MEASURES], score;
};

mg_status_t load(const char *code, program_t *p) {
  struct {
    const char *name;
    const void **kernel;
  } const kernels[] = {
      {"first_launch", &p->first}, {"last_launch", &p->last}, {"all_joins", &p->joins}};
  MG_CUDA_TRY(cudaLibraryLoadData(&p->library, code, nullptr, nullptr, 0, nullptr, nullptr, 0));
  for (const auto &k : kernels) {
    cudaKernel_t kernel;
    MG_CUDA_TRY(cudaLibraryGetKernel(&kernel, p->library, k.name));
    *k.kernel = (const void *)kernel;
  }
  return MG_OK;
}

/* First, coarse measurement of all three. */
mg_status_t time_program(const lab_t *lab, search_goal_t *goal, program_t *p, bool *right) {
  lab_t quick = *lab;
  quick.min_seconds = 0.0;
  for (int what = 0; what < N_SEARCH_MEASURES; what++) {
    lab_row_t row;
    MG_TRY(goal->measure(&quick, *p, what, &row));
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
  const double start = mg_now();
  for (int i = 0; i < search->set.n; i++) {
    if (mg_now() - start > MAX_SECONDS) {
      search->untried = search->set.n - i;
      break;
    }
    program_t p = {};
    bool right;
    p.plan = search->set.plan[i];
    plan_spell(&p.plan, p.name);
    if (i == 0) snprintf(p.name, sizeof p.name, "tree in shared memory");
    MG_TRY(load(search->cubin[(size_t)i], &p));
    search->found.push_back(p);
    MG_TRY(goal->prove(p, &right));
    if (right) MG_TRY(time_program(lab, goal, &p, &right));
    if (right) {
      search->found.back() = p;
      continue;
    }
    search->wrong++;
    MG_CUDA_TRY(cudaLibraryUnload(p.library));
    search->found.pop_back();
    if (i == 0)
      return mg_error(MG_ERR_INTERNAL, "search: the tree in shared memory gives a wrong result");
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
  fprintf(
      lab->text,
      "\nsearch: %s, seed %llu, %d known shapes and %d tries: %d correct, %d of them repeated\n",
      lab->search.norm ? "norm" : "sum", (unsigned long long)lab->search.seed, 1 + (int)PLAN_KNOWN,
      lab->search.tries, set->verdicts[PLAN_RIGHT], set->repeated);
  for (int v = PLAN_RIGHT + 1; v < N_VERDICTS; v++)
    if (set->verdicts[v])
      fprintf(lab->text, "  rejected: %d, %s\n", set->verdicts[v],
              plan_verdict_name((plan_verdict_t)v));
  fprintf(lab->text, "  wrong on the device: %d\n", search->wrong);
  if (search->untried)
    fprintf(lab->text, "  not tried because %d s had passed: %d\n", (int)MAX_SECONDS,
            search->untried);
}

/* Measure the best programs of the first round like every other row, and sort them again. */
mg_status_t tables(lab_t *lab, search_goal_t *goal, search_t *search) {
  const size_t n = std::min<size_t>(search->found.size(), 1 + BEST);
  lab->name_width = 56; /* fits spelt programs */
  for (int what = 0; what < N_SEARCH_MEASURES; what++) {
    char title[LAB_TITLE];
    goal->title(what, title);
    if (what == SEARCH_JOINS)
      lab_table(lab, "search", "%d successive block reductions, one block per SM",
                (int)SEARCH_TIMES);
    else
      lab_table(lab, "search", "the tree and the best programs, %s", title);
    for (size_t i = 0; i < n; i++) {
      lab_row_t row;
      MG_TRY(goal->measure(lab, search->found[i], what, &row));
      MG_TRY(lab_add(lab, &row, "%s", search->found[i].name));
      search->found[i].seconds[what] = row.seconds;
    }
  }
  rank(&search->found, n);
  return MG_OK;
}

mg_status_t finish(lab_t *lab, const search_t *search) {
  if (search->found.size() < 2)
    return mg_error(MG_ERR_USAGE, "search: only the tree is correct; increase --tries");
  const program_t &winner = search->found[1];
  if (lab->text)
    fprintf(lab->text, "\nwinner, %.2f times as fast as the tree on average: %s\n", winner.score,
            winner.name);
  free(lab->search.winner);
  lab->search.winner = plan_source(&winner.plan);
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
  return mg_error(MG_ERR_USAGE, "search needs a build with NVRTC of CUDA 12.8 or newer");
}
#endif
