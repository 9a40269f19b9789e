/* Norms and dot products.
 *
 * Non-negative doubles order like their bit patterns, with NaN last, so atomicMax finds the
 * maximum in any order. A dot product sums each brick in the order given in sum.h, with eight
 * threads per 8^3 brick. The brick sums, or single cells, are added exactly, as integers, in any
 * order. */
#include "cuda/steps/reduce.h"

#ifndef MG_FLOAT /* the same for both types */
mg_status_t mg_cuda_fetch(const void *from, size_t bytes) {
  MG_TRY(mg_cuda_download(mg_cuda.reduction_host, from, bytes));
  return mg_cuda_finish();
}

mg_status_t mg_cuda_max_begin(void) {
  return mg_cuda_clear(mg_cuda.reduction, sizeof(double));
}

static mg_status_t fetch_max(const unsigned long long *maximum, double *value) {
  MG_TRY(mg_cuda_fetch(maximum, sizeof *value));
  memcpy(value, mg_cuda.reduction_host, sizeof *value);
  if (!std::isfinite(*value)) *value = NAN;
  return MG_OK;
}

mg_status_t mg_cuda_max_end(double *value) {
  return fetch_max(mg_cuda.reduction, value);
}

mg_status_t mg_cuda_norm_begin(void) {
  return mg_cuda_clear(mg_cuda.smooth_norm, sizeof(double));
}

mg_status_t mg_cuda_norm_end(double *norm) {
  return fetch_max(mg_cuda.smooth_norm, norm);
}

mg_status_t mg_cuda_sum_begin(void) {
  return mg_cuda_clear(mg_cuda.reduction, sizeof(mg_sum_t));
}

mg_status_t mg_cuda_sum_end(mg_sum_t *sum) {
  MG_TRY(mg_cuda_fetch(mg_cuda.reduction, sizeof *sum));
  /* Each digit is a signed number in two's complement. */
  for (int d = 0; d < MG_SUM_LIMBS; d++)
    sum->digit[d] += (int64_t)mg_cuda.reduction_host[d];
  return MG_OK;
}

/* Replace a sum by what must be added to n cells, so that their mean is `mean`. */
static __global__ void find_shift(unsigned long long *sum, double mean, double n) {
  mg_sum_t s;
  for (int d = 0; d < MG_SUM_LIMBS; d++)
    s.digit[d] = (int64_t)sum[d];
  *(double *)sum = mean - mg_sum_value(&s) / n;
}

void mg_cuda_find_shift(double mean, double n) {
  find_shift<<<1, 1, 0, mg_cuda.stream>>>(mg_cuda.reduction, mean, n);
}
#endif

/** Whether cells can be loaded in pairs. In a level's own arrays this holds if rows are even. */
static bool in_pairs(const mg_patch_t &p, mg_vector_t x, mg_vector_t y) {
  const uintptr_t at = (uintptr_t)p.vec[x] | (y < 0 ? 0 : (uintptr_t)p.vec[y]);
  return p.n[0] % 2 == 0 && p.jstride % 2 == 0 && p.kstride % 2 == 0 &&
         at % sizeof(mg_real2_t) == 0;
}

mg_status_t mg_cuda_max_norm(const mg_view_t *v, mg_vector_t x, mg_vector_t y, double *norm) {
  constexpr int R = MG_NORM_ROWS;
  MG_TRY(mg_cuda_max_begin());
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const bool pairs = in_pairs(p, x, y);
    const auto kernel = pairs ? mg_max_norm_kernel<R, true> : mg_max_norm_kernel<R, false>;
    kernel<<<mg_max_norm_grid(p, pairs, mg_cuda.sms), dim3(32, 8), 0, mg_cuda.stream>>>(
        p, x, y, mg_cuda.reduction);
    MG_CUDA_LAUNCHED("max_norm");
  }
  return mg_cuda_max_end(norm);
}

/* Sum into mg_cuda.reduction. */
static mg_status_t launch_dot(const mg_view_t *v, mg_vector_t x, mg_vector_t y) {
  constexpr int R = MG_SUM_ROWS;
  const int u = mg_brick_width(v);
  MG_TRY(mg_cuda_sum_begin());
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t &p = v->patch[q];
    const int64_t lanes = (int64_t)p.n[0] * p.n[1] * p.n[2] / (8 * 8);
    const int threads = mg_dot_threads(lanes, mg_cuda.sms);
    if (u == 1)
      mg_sum_cells_kernel<R>
          <<<mg_sum_cells_grid(p, R, mg_cuda.sms), dim3(32, 8), 0, mg_cuda.stream>>>(
              p, x, y, mg_cuda.reduction);
    else if (u == 8)
      mg_dot_kernel<MG_DOT_PLANES>
          <<<(unsigned)((lanes + threads - 1) / threads), threads, 0, mg_cuda.stream>>>(
              p, x, y, mg_cuda.reduction);
    else
      MG_TRY(mg_cuda_add_bricks(p, x, y, u));
    MG_CUDA_LAUNCHED("dot");
  }
  return MG_OK;
}

mg_status_t mg_cuda_dot(const mg_view_t *v, mg_vector_t x, mg_vector_t y, mg_sum_t *sum) {
  MG_TRY(launch_dot(v, x, y));
  return mg_cuda_sum_end(sum);
}

mg_status_t mg_cuda_set_mean(const mg_view_t *v, mg_vector_t x, mg_vector_t weight,
                             mg_vector_t scale, double mean) {
  MG_TRY(launch_dot(v, x, weight));
  mg_cuda_find_shift(mean, (double)v->n[0] * v->n[1] * v->n[2]);
  MG_CUDA_LAUNCHED("find_shift");
  return mg_cuda_add_times(v, x, (const double *)mg_cuda.reduction, scale);
}
