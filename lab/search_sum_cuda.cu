/* Test data of the search for a sum: small integers, as doubles and as integers. Their sums are
 * exact in any order. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_NVRTC
#include "lab/search_cuda.h"
#include <algorithm>
#include <cmath>
#include <vector>

namespace {
const int64_t N_SMALL = (1 << 17) + 1;
enum { ONES, VALUES, ALTERNATING, ZEROS, N_PATTERNS };

long long pattern(int which, int64_t i) {
  if (which == ONES) return 1;
  if (which == ZEROS) return 0;
  const long long value = (long long)lab_value(i);
  return which == ALTERNATING && i % 2 ? -value : value;
}

struct sums_t : search_goal_t {
  lab_array_t large, small[2][N_PATTERNS];
  int64_t n_large;
  long long sum_large;
  std::vector<long long> sum[N_PATTERNS]; /* sum of the first n numbers */

  mg_status_t fill(int type, int which) {
    std::vector<long long> integers((size_t)N_SMALL);
    std::vector<double> doubles((size_t)N_SMALL);
    for (int64_t i = 0; i < N_SMALL; i++) {
      integers[(size_t)i] = pattern(which, i);
      doubles[(size_t)i] = (double)pattern(which, i);
    }
    MG_TRY(small[type][which].make(N_SMALL));
    MG_CUDA_TRY(cudaMemcpy(small[type][which].at,
                           type == 0 ? (const void *)doubles.data() : (const void *)integers.data(),
                           (size_t)N_SMALL * sizeof(double), cudaMemcpyHostToDevice));
    return MG_OK;
  }

  mg_status_t make(const lab_t *lab) override {
    n_large = lab->bytes / 8;
    MG_TRY(space.make());
    MG_TRY(large.make(n_large));
    MG_TRY(lab_cuda_fill(large.at, n_large));
    MG_CUDA_TRY(cudaDeviceSynchronize());
    sum_large = 0;
    for (int64_t i = 0; i < n_large; i++)
      sum_large += pattern(VALUES, i);
    for (int which = 0; which < N_PATTERNS; which++) {
      sum[which].assign(1, 0);
      for (int64_t i = 0; i < N_SMALL; i++)
        sum[which].push_back(sum[which].back() + pattern(which, i));
      MG_TRY(fill(0, which));
      MG_TRY(fill(1, which));
    }
    return MG_OK;
  }

  mg_status_t load(search_program_t *p) override {
    MG_CUDA_TRY(cudaLibraryGetKernel(&p->first[0], p->library, "sum_double"));
    MG_CUDA_TRY(cudaLibraryGetKernel(&p->first[1], p->library, "sum_integer"));
    MG_CUDA_TRY(cudaLibraryGetKernel(&p->joins, p->library, "joins_double"));
    if (p->plan->grid != GRID_TWO_LAUNCHES) return MG_OK;
    MG_CUDA_TRY(cudaLibraryGetKernel(&p->last[0], p->library, "last_double"));
    MG_CUDA_TRY(cudaLibraryGetKernel(&p->last[1], p->library, "last_integer"));
    return MG_OK;
  }

  /* One block per chunk of loads, at most as many as are resident. */
  mg_status_t prepare(const search_program_t &p, int type, const double *from, int64_t n,
                      search_run_t *r) {
    const plan_t *plan = p.plan;
    const int64_t block = (int64_t)plan->threads * plan->loads * (plan->width / 8),
                  wanted = (n + block - 1) / block;
    int64_t fit;
    *r = {};
    r->program = &p;
    r->space = &space;
    r->type = type;
    r->from = from;
    r->n = n;
    r->launch = {(const void *)p.first[type], 1, plan->threads, 0};
    MG_TRY(search_blocks(plan, r->launch, &fit));
    r->launch.blocks = std::min({wanted, fit, space.most_blocks});
    r->grid = dim3((unsigned)r->launch.blocks);
    return MG_OK;
  }

  static double number(int type, unsigned long long bits) {
    if (type == 1) return (double)(long long)bits;
    double got;
    memcpy(&got, &bits, sizeof got);
    return got;
  }

  mg_status_t is_right(const search_program_t &p, int type, int which, int64_t n,
                       long long expected, bool *right) {
    search_run_t r;
    unsigned long long bits;
    MG_TRY(prepare(p, type, small[type][which].at, n, &r));
    MG_TRY(r.result(&bits));
    *right = *right && number(type, bits) == (double)expected;
    return MG_OK;
  }

  mg_status_t try_sizes(const search_program_t &p, int type, bool *right) {
    const int64_t block = (int64_t)p.plan->threads * p.plan->loads * (p.plan->width / 8);
    const int64_t sizes[] = {1,     2,         31,   257,   p.plan->threads, block - 1,
                             block, block + 1, 4099, 65536, 100003,          N_SMALL};
    for (const int64_t n : sizes)
      for (int which = 0; which < N_PATTERNS; which++)
        MG_TRY(is_right(p, type, which, n, sum[which][(size_t)n], right));
    return MG_OK;
  }

  /* A single 1 among zeros, for some threads of the first two blocks, covering all warps. */
  mg_status_t try_units(const search_program_t &p, int type, bool *right) {
    const long long integer = 1, none = 0;
    const double one = 1.0;
    const int64_t threads = p.plan->threads, n = 4 * threads + 1;
    for (int64_t at = 0; at < n && *right; at += at % 32 == 0 ? 7 : 25) {
      double *place = small[type][ZEROS].at + at;
      const void *unit = type == 0 ? (const void *)&one : (const void *)&integer;
      MG_CUDA_TRY(cudaMemcpy(place, unit, sizeof one, cudaMemcpyHostToDevice));
      MG_TRY(is_right(p, type, ZEROS, n, 1, right));
      MG_CUDA_TRY(cudaMemcpy(place, &none, sizeof none, cudaMemcpyHostToDevice));
    }
    return MG_OK;
  }

  mg_status_t prove(const search_program_t &p, bool *right) override {
    *right = true;
    for (int type = 0; type < 2 && *right; type++) {
      MG_TRY(try_sizes(p, type, right));
      MG_TRY(try_units(p, type, right));
    }
    return MG_OK;
  }

  mg_status_t measure(const lab_t *lab, const search_program_t &p, int what,
                      lab_row_t *row) override {
    const bool much = what == SEARCH_LARGE;
    const int64_t n = much ? n_large : N_SMALL;
    search_run_t r;
    unsigned long long bits;
    MG_TRY(prepare(p, 0, much ? large.at : small[0][VALUES].at, n, &r));
    MG_TRY(r.time(lab, row));
    MG_TRY(r.fetch(&bits));
    row->error = fabs(number(0, bits) - (double)(much ? sum_large : sum[VALUES][(size_t)n]));
    row->elements = n;
    row->useful = 8.0;
    row->flops = 1.0;
    return MG_OK;
  }

  unsigned long long of_a_block(int threads) const override {
    const double expected = 0.5 * threads * (threads - 1);
    unsigned long long bits;
    memcpy(&bits, &expected, sizeof bits);
    return bits;
  }

  void title(int what, char text[LAB_TITLE]) const override {
    snprintf(text, LAB_TITLE, "sum of %lld doubles",
             (long long)(what == SEARCH_LARGE ? n_large : N_SMALL));
  }
};
} // namespace

std::unique_ptr<search_goal_t> search_for_sums() {
  return std::unique_ptr<search_goal_t>(new sums_t);
}
#endif
