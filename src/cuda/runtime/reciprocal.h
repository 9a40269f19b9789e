/* Reciprocals of several values with one branch. */
#ifndef MG_CUDA_RUNTIME_RECIPROCAL_H
#define MG_CUDA_RUNTIME_RECIPROCAL_H

#include "cuda/cuda.h"

/* Numbers compared with exponents (below): that of a thread whose results are used, or not used. */
static __device__ __forceinline__ float mg_least_exponent(bool used) {
  const float least = sizeof(mg_real_t) == sizeof(float) ? 0x1p-123f : 0x1p-127f;
  return used ? least : 0.0f;
}

/* 1 / d by Newton's method, correctly rounded if `usual` stays true: if the exponent of d is far
 * from both limits, or `least` is 0. These are the instructions that the compiler emits for 1 / d,
 * with its check of the exponent. */
static __device__ __forceinline__ double mg_usual_reciprocal(double d, float least, bool *usual) {
#ifdef __CUDA_ARCH__
  const int low = __double2hiint(d) + 0x300402;
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
  *usual = *usual && !(fabsf(__int_as_float(low)) < least);
  r = __hiloint2double(__double2hiint(r), low);
  double e = fma(-d, r, 1.0);
  e = fma(e, e, e);
  r = fma(r, e, r);
  e = fma(-d, r, 1.0);
  return fma(r, e, r);
#else
  (void)least, (void)usual;
  return 1.0 / d;
#endif
}
static __device__ __forceinline__ float mg_usual_reciprocal(float d, float least, bool *usual) {
#ifdef __CUDA_ARCH__
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
  *usual = *usual && !(fabsf(__int_as_float(__float_as_int(d) + 0x1800000)) < least);
  return fmaf(r, fmaf(-d, r, 1.0f), r);
#else
  (void)least, (void)usual;
  return 1.0f / d;
#endif
}

/** r = 1 / d of n values, correctly rounded. A division has a branch for exponents near the limits,
 *  and the compiler moves no instruction across it; here one branch serves all values.
 *  @param least  mg_least_exponent(used); if not used, the results may be wrong */
template <int n>
static __device__ __forceinline__ void mg_reciprocals(const mg_real_t (&d)[n],
                                                      const float (&least)[n], mg_real_t (&r)[n]) {
  bool usual = true;
#pragma unroll
  for (int m = 0; m < n; m++)
    r[m] = mg_usual_reciprocal(d[m], least[m], &usual);
  if (!usual) {
#pragma unroll
    for (int m = 0; m < n; m++)
      r[m] = MG_REAL(1.0) / d[m];
  }
}

#endif
