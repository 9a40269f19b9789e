/* The search for a sum, on a CUDA device: what the host has proven (search_plan.h) is compiled,
 * compared with sums that are known, and timed: a large array, one of 1 MiB, and the join of a
 * block alone. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "lab_cuda.h"
extern "C" {
#include "search_plan.h"
}

#ifdef HAVE_NVRTC
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace {
enum { LARGE, SMALL, JOINS, N_MEASURES };
enum { BEST = 10, TIMES = 256, MOST_SECONDS = 45 };
const int64_t N_SMALL = (1 << 17) + 1;
/* What is summed in the proof set: every sum is one of small integers, exact in any order. */
enum { ONES, VALUES, ALTERNATING, ZEROS, N_PATTERNS };

long long pattern(int which, int64_t i) {
  if (which == ONES) return 1;
  if (which == ZEROS) return 0;
  const long long value = (long long)lab_value(i);
  return which == ALTERNATING && i % 2 ? -value : value;
}

/** What all programs share. An integer has the size of a double. */
struct space_t {
  lab_array_t large, small[2][N_PATTERNS], partial;
  double *result;
  unsigned int *ended;
  int64_t n_large, most_blocks;
  long long sum_large;
  std::vector<long long> sum[N_PATTERNS]; /* of the first n numbers */
};

struct program_t {
  const plan_t *plan;
  char name[PLAN_TEXT];
  cudaLibrary_t library;
  cudaKernel_t sum[2], last[2], joins; /* of doubles, of integers */
  double seconds[N_MEASURES], score;
};

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

mg_status_t fill(space_t *s, int type, int which) {
  std::vector<long long> integers((size_t)N_SMALL);
  std::vector<double> doubles((size_t)N_SMALL);
  for (int64_t i = 0; i < N_SMALL; i++) {
    integers[(size_t)i] = pattern(which, i);
    doubles[(size_t)i] = (double)pattern(which, i);
  }
  MG_TRY(s->small[type][which].make(N_SMALL));
  MG_CUDA_TRY(cudaMemcpy(s->small[type][which].at,
                         type == 0 ? (const void *)doubles.data() : (const void *)integers.data(),
                         (size_t)N_SMALL * sizeof(double), cudaMemcpyHostToDevice));
  return MG_OK;
}

mg_status_t make_space(const lab_t *lab, space_t *s) {
  s->n_large = lab->bytes / 8;
  s->most_blocks = 64ll * lab_card().processors;
  MG_TRY(s->large.make(s->n_large));
  MG_TRY(lab_cuda_fill(s->large.at, s->n_large));
  MG_CUDA_TRY(cudaDeviceSynchronize());
  s->sum_large = 0;
  for (int64_t i = 0; i < s->n_large; i++)
    s->sum_large += pattern(VALUES, i);
  MG_TRY(s->partial.make(s->most_blocks + 16));
  MG_CUDA_TRY(cudaMemset(s->partial.at, 0, 16 * sizeof(double)));
  s->result = s->partial.at;
  s->ended = (unsigned int *)(s->partial.at + 1);
  for (int which = 0; which < N_PATTERNS; which++) {
    s->sum[which].assign(1, 0);
    for (int64_t i = 0; i < N_SMALL; i++)
      s->sum[which].push_back(s->sum[which].back() + pattern(which, i));
    MG_TRY(fill(s, 0, which));
    MG_TRY(fill(s, 1, which));
  }
  return MG_OK;
}

mg_status_t load(program_t *p, const char *cubin) {
  MG_CUDA_TRY(cudaLibraryLoadData(&p->library, cubin, nullptr, nullptr, 0, nullptr, nullptr, 0));
  MG_CUDA_TRY(cudaLibraryGetKernel(&p->sum[0], p->library, "sum_double"));
  MG_CUDA_TRY(cudaLibraryGetKernel(&p->sum[1], p->library, "sum_integer"));
  MG_CUDA_TRY(cudaLibraryGetKernel(&p->joins, p->library, "joins_double"));
  if (p->plan->grid != GRID_TWO_LAUNCHES) return MG_OK;
  MG_CUDA_TRY(cudaLibraryGetKernel(&p->last[0], p->library, "last_double"));
  MG_CUDA_TRY(cudaLibraryGetKernel(&p->last[1], p->library, "last_integer"));
  return MG_OK;
}

/* --- one sum -----------------------------------------------------------------------------------
 */

struct run_t {
  const program_t *p;
  space_t *s;
  int type;
  lab_launch_t launch;
  const double *from;
  int64_t n;
};

mg_status_t enqueue(void *arg, cudaStream_t stream) {
  run_t *r = (run_t *)arg;
  double *partial = r->s->partial.at + 16, *result = r->s->result;
  const dim3 grid((unsigned)r->launch.blocks), block((unsigned)r->launch.threads);
  long long n = r->n;
  int blocks = (int)r->launch.blocks;
  void *first[] = {&partial, &result, &r->s->ended, &r->from, &n};
  void *second[] = {&partial, &result, &blocks};
  if (r->p->plan->grid == GRID_ATOMICS)
    MG_CUDA_TRY(cudaMemsetAsync(result, 0, sizeof *result, stream));
  MG_CUDA_TRY(cudaLaunchKernel(r->launch.kernel, grid, block, first, 0, stream));
  if (r->p->plan->grid == GRID_TWO_LAUNCHES)
    MG_CUDA_TRY(
        cudaLaunchKernel((const void *)r->p->last[r->type], dim3(1), block, second, 0, stream));
  return MG_OK;
}

/* As many blocks as have something to load, if they fit at a time. */
mg_status_t prepare(run_t *r) {
  const plan_t *plan = r->p->plan;
  const int64_t block = (int64_t)plan->threads * plan->loads * (plan->width / 8),
                wanted = (r->n + block - 1) / block;
  int resident;
  r->launch = {(const void *)r->p->sum[r->type], 1, plan->threads, 0};
  MG_TRY(lab_cuda_resident(r->launch, &resident));
  r->launch.blocks =
      std::min({wanted, (int64_t)resident * lab_card().processors, r->s->most_blocks});
  return MG_OK;
}

/* What came out; the result is spoilt for the next. */
mg_status_t fetch(const run_t *r, double *got) {
  long long bits;
  MG_CUDA_TRY(cudaMemcpy(&bits, r->s->result, sizeof bits, cudaMemcpyDeviceToHost));
  MG_CUDA_TRY(cudaMemset(r->s->result, 0xff, sizeof bits));
  MG_CUDA_TRY(cudaDeviceSynchronize()); /* the next sum may be on another stream */
  if (r->type == 1)
    *got = (double)bits;
  else
    memcpy(got, &bits, sizeof bits);
  return MG_OK;
}

mg_status_t is_right(space_t *s, const program_t *p, int type, int which, int64_t n,
                     long long expected, bool *right) {
  run_t r = {p, s, type, {}, s->small[type][which].at, n};
  double got;
  MG_TRY(prepare(&r));
  MG_TRY(enqueue(&r, nullptr));
  MG_TRY(fetch(&r, &got));
  *right = *right && got == (double)expected;
  return MG_OK;
}

/* --- the proof set -----------------------------------------------------------------------------
 */

mg_status_t try_sizes(space_t *s, const program_t *p, int type, bool *right) {
  const int64_t block = (int64_t)p->plan->threads * p->plan->loads * (p->plan->width / 8);
  const int64_t sizes[] = {1,     2,         31,   257,   p->plan->threads, block - 1,
                           block, block + 1, 4099, 65536, 100003,           N_SMALL};
  for (const int64_t n : sizes)
    for (int which = 0; which < N_PATTERNS; which++)
      MG_TRY(is_right(s, p, type, which, n, s->sum[which][(size_t)n], right));
  return MG_OK;
}

/* A one among zeros, for some threads of the first two blocks and all warps. */
mg_status_t try_units(space_t *s, const program_t *p, int type, bool *right) {
  const long long integer = 1, none = 0;
  const double one = 1.0;
  const int64_t threads = p->plan->threads, n = 4 * threads + 1;
  for (int64_t at = 0; at < n && *right; at += at % 32 == 0 ? 7 : 25) {
    double *place = s->small[type][ZEROS].at + at;
    const void *unit = type == 0 ? (const void *)&one : (const void *)&integer;
    MG_CUDA_TRY(cudaMemcpy(place, unit, sizeof one, cudaMemcpyHostToDevice));
    MG_TRY(is_right(s, p, type, ZEROS, n, 1, right));
    MG_CUDA_TRY(cudaMemcpy(place, &none, sizeof none, cudaMemcpyHostToDevice));
  }
  return MG_OK;
}

mg_status_t prove_there(space_t *s, const program_t *p, bool *right) {
  *right = true;
  for (int type = 0; type < 2 && *right; type++) {
    MG_TRY(try_sizes(s, p, type, right));
    MG_TRY(try_units(s, p, type, right));
  }
  return MG_OK;
}

/* --- rows --------------------------------------------------------------------------------------
 */

mg_status_t measure_sum(const lab_t *lab, space_t *s, const program_t *p, bool large,
                        lab_row_t *row) {
  const int64_t n = large ? s->n_large : N_SMALL;
  run_t r = {p, s, 0, {}, large ? s->large.at : s->small[0][VALUES].at, n};
  double got;
  MG_TRY(prepare(&r));
  MG_TRY(lab_cuda_describe(r.launch, row));
  MG_TRY(lab_cuda_time(lab, enqueue, &r, &row->seconds));
  MG_TRY(fetch(&r, &got));
  row->error = fabs(got - (double)(large ? s->sum_large : s->sum[VALUES][(size_t)n]));
  row->elements = n;
  row->useful = 8.0;
  row->flops = 1.0;
  return MG_OK;
}

/* A block on each multiprocessor, so that a join takes its latency. */
mg_status_t measure_joins(const lab_t *lab, space_t *s, const program_t *p, lab_row_t *row) {
  const int threads = p->plan->threads, processors = lab_card().processors;
  const lab_launch_t launch = {(const void *)p->joins, processors, threads, 0};
  double *result = s->partial.at + 16, expected = 0.5 * threads * (threads - 1);
  int times = TIMES;
  void *args[] = {&result, &expected, &times};
  std::vector<double> got((size_t)processors);
  MG_TRY(lab_cuda_measure(lab, launch, args, row));
  MG_CUDA_TRY(cudaMemcpy(got.data(), result, got.size() * sizeof(double), cudaMemcpyDeviceToHost));
  for (const double sum : got)
    row->error += fabs(sum - expected);
  row->elements = TIMES;
  row->flops = threads;
  return MG_OK;
}

mg_status_t measure(const lab_t *lab, space_t *s, const program_t *p, int what, lab_row_t *row) {
  *row = {};
  snprintf(row->variant, sizeof row->variant, "%.*s", (int)sizeof row->variant - 1, p->name);
  return what == JOINS ? measure_joins(lab, s, p, row) : measure_sum(lab, s, p, what == LARGE, row);
}

/* A first look at all three. */
mg_status_t time_program(const lab_t *lab, space_t *s, program_t *p, bool *right) {
  lab_t quick = *lab;
  quick.least_seconds = 0.0;
  for (int what = 0; what < N_MEASURES; what++) {
    lab_row_t row;
    MG_TRY(measure(&quick, s, p, what, &row));
    *right = *right && row.error == 0.0;
    p->seconds[what] = row.seconds;
  }
  return MG_OK;
}

/* --- the search --------------------------------------------------------------------------------
 */

struct search_t {
  plan_set_t set;
  std::vector<char *> cubin;
  std::vector<size_t> bytes;
  std::vector<program_t> found; /* right and timed; the first is the tree */
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

mg_status_t try_all(const lab_t *lab, space_t *s, search_t *search) {
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
    MG_TRY(load(&p, search->cubin[(size_t)i]));
    search->found.push_back(p);
    MG_TRY(prove_there(s, &p, &right));
    if (right) MG_TRY(time_program(lab, s, &p, &right));
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

/* By the mean of the three speed-ups over the tree, as factors are averaged: the first n of them.
 */
void rank(std::vector<program_t> *found, size_t n) {
  const program_t tree = found->front();
  for (size_t i = 0; i < n; i++) {
    program_t &p = (*found)[i];
    double product = 1.0;
    for (int what = 0; what < N_MEASURES; what++)
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
          "\nsearch: seed %llu, %d known shapes and %d tries: %d right, %d of them repeated\n",
          (unsigned long long)lab->search.seed, 1 + (int)PLAN_KNOWN, lab->search.tries,
          set->verdicts[PLAN_RIGHT], set->repeated);
  for (int v = PLAN_RIGHT + 1; v < N_VERDICTS; v++)
    if (set->verdicts[v])
      fprintf(lab->text, "  rejected: %d %s\n", set->verdicts[v],
              plan_verdict_name((plan_verdict_t)v));
  fprintf(lab->text, "  wrong on the device: %d\n", search->wrong);
  if (search->untried)
    fprintf(lab->text, "  not tried after %d s: %d\n", (int)MOST_SECONDS, search->untried);
}

/* Those that the first look has found best, measured as every row is, and put in order again. */
mg_status_t tables(lab_t *lab, space_t *s, search_t *search) {
  const size_t n = std::min<size_t>(search->found.size(), 1 + BEST);
  lab->name_width = 52; /* of spelt programs */
  for (int what = 0; what < N_MEASURES; what++) {
    if (what == JOINS)
      lab_table(lab, "search", "%d joins behind each other, a block on a multiprocessor",
                (int)TIMES);
    else
      lab_table(lab, "search", "the tree and the best, sum of %lld doubles",
                (long long)(what == LARGE ? s->n_large : N_SMALL));
    for (size_t i = 0; i < n; i++) {
      lab_row_t row;
      MG_TRY(measure(lab, s, &search->found[i], what, &row));
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
  space_t space;
  search_t search = {};
  MG_TRY(plan_collect(lab->search.seed, lab->search.tries, &search.set));
  MG_TRY(compile(&search));
  MG_TRY(make_space(lab, &space));
  MG_TRY(try_all(lab, &space, &search));
  rank(&search.found, search.found.size());
  report(lab, &search);
  const mg_status_t status = tables(lab, &space, &search);
  lab->name_width = 0;
  return status == MG_OK ? finish(lab, &search) : status;
}

#else
extern "C" mg_status_t lab_search_cuda(lab_t *lab) {
  (void)lab;
  return mg_error(MG_ERR_USAGE, "search needs NVRTC of CUDA 12.8 or newer, which this build lacks");
}
#endif
