/* Inputs of sums: small integers, whose sums are exact in any order. */
#include "lab/search_cuda.h"
#include <algorithm>
#include <cstring>
#include <vector>

namespace {
typedef unsigned long long bits_t;
const int64_t N_SMALL = (1 << 17) + 1;
enum { ONES, VALUES, ALTERNATING, ZEROS, N_PATTERNS };

double pattern(int which, int64_t i) {
  if (which == ONES || which == ZEROS) return which == ONES ? 1.0 : 0.0;
  return which == ALTERNATING && i % 2 ? -lab_value(i) : lab_value(i);
}

bits_t bits_of(double value) {
  bits_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

candidate::input_t input_of(const lab_array_t &array, int64_t n) {
  return {array.at, n, {}, 0, 0};
}

struct sums_t : search_goal_t {
  lab_array_t large, small[N_PATTERNS];
  int64_t n_large;
  double sum_large;
  std::vector<double> sum[N_PATTERNS]; /* sum of the first n numbers */

  mg_status_t make_pattern(int which) {
    std::vector<double> numbers((size_t)N_SMALL);
    sum[which].assign(1, 0.0);
    for (int64_t i = 0; i < N_SMALL; i++) {
      numbers[(size_t)i] = pattern(which, i);
      sum[which].push_back(sum[which].back() + numbers[(size_t)i]);
    }
    MG_TRY(small[which].make(N_SMALL));
    MG_CUDA_TRY(cudaMemcpy(small[which].at, numbers.data(), numbers.size() * sizeof(double),
                           cudaMemcpyHostToDevice));
    return MG_OK;
  }

  mg_status_t make(const lab_t *lab) override {
    n_large = lab->bytes / 8;
    sum_large = 0.0;
    for (int64_t i = 0; i < n_large; i++)
      sum_large += lab_value(i);
    MG_TRY(make_space());
    MG_TRY(large.make(n_large));
    MG_TRY(lab_cuda_fill(large.at, n_large));
    for (int which = 0; which < N_PATTERNS; which++)
      MG_TRY(make_pattern(which));
    MG_CUDA_TRY(cudaDeviceSynchronize());
    return MG_OK;
  }

  candidate::input_t input(int what, bits_t *want) const override {
    *want = bits_of(what == SEARCH_LARGE ? sum_large : sum[VALUES].back());
    return what == SEARCH_LARGE ? input_of(large, n_large) : input_of(small[VALUES], N_SMALL);
  }

  static int64_t block_numbers(const plan_t &plan) {
    return (int64_t)plan.threads * plan.loads * (plan.width / 8);
  }

  /* One block per chunk of loads, at most as many as are resident. */
  dim3 grid(const plan_t &plan, const candidate::input_t &in, int64_t resident) const override {
    const int64_t block = block_numbers(plan);
    return dim3((unsigned)std::min<int64_t>((in.length + block - 1) / block, resident));
  }

  mg_status_t is_right(const search_program_t &p, int which, int64_t n, double want, bool *right) {
    bits_t got;
    MG_TRY(result(p, input_of(small[which], n), false, &got));
    *right = *right && got == bits_of(want);
    return MG_OK;
  }

  mg_status_t try_sizes(const search_program_t &p, bool *right) {
    const int64_t block = block_numbers(p.plan);
    const int64_t sizes[] = {1,     2,         31,   257,   p.plan.threads, block - 1,
                             block, block + 1, 4099, 65536, 100003,         N_SMALL};
    for (const int64_t n : sizes)
      for (int which = 0; which < N_PATTERNS; which++)
        MG_TRY(is_right(p, which, n, sum[which][(size_t)n], right));
    return MG_OK;
  }

  /* A single 1 among zeros, for some threads of the first two blocks, covering all warps. */
  mg_status_t try_units(const search_program_t &p, bool *right) {
    const double one = 1.0, none = 0.0;
    const int64_t n = 4 * (int64_t)p.plan.threads + 1;
    for (int64_t at = 0; at < n && *right; at += at % 32 == 0 ? 7 : 25) {
      double *place = small[ZEROS].at + at;
      MG_CUDA_TRY(cudaMemcpy(place, &one, sizeof one, cudaMemcpyHostToDevice));
      MG_TRY(is_right(p, ZEROS, n, 1.0, right));
      MG_CUDA_TRY(cudaMemcpy(place, &none, sizeof none, cudaMemcpyHostToDevice));
    }
    return MG_OK;
  }

  mg_status_t prove(const search_program_t &p, bool *right) override {
    *right = true;
    MG_TRY(try_sizes(p, right));
    return try_units(p, right);
  }

  bits_t of_a_block(int threads) const override { return bits_of(0.5 * threads * (threads - 1)); }

  void title(int what, char text[LAB_TITLE]) const override {
    snprintf(text, LAB_TITLE, "sum of %lld doubles",
             (long long)(what == SEARCH_LARGE ? n_large : N_SMALL));
  }
};
} // namespace

std::unique_ptr<search_goal_t> search_for_sums() {
  return std::unique_ptr<search_goal_t>(new sums_t);
}
