/* Guesses that are interpolated where they are read: a reference for the result, not a fast
 * implementation. It tests the layers above without a device. */
#include "base/alloc.h"
#include "tests/guard/guard.h"
#include <stdlib.h>

static mg_status_t store_guess(const mg_view_t *v, mg_vector_t dst, const mg_guess_t *guess) {
  return mg_cpu_interpolate(guess->coarse, guess->src, v, dst, guess->kind, false);
}

/* The guess is stored in a copy of MG_U. */
mg_status_t guard_guess_residual(const mg_view_t *v, const mg_guess_t *guess, mg_vector_t f,
                                 const mg_view_t *low, mg_vector_t dst, double scale) {
  mg_patch_t p = v->patch[0];
  mg_view_t copy = *v;
  double *memory;
  const int layers = v->ghost_layers;
  MG_TRY(mg_new(&memory, (p.n[2] + 2 * layers) * p.kstride, "a guess"));
  p.vec[MG_U] = memory + layers * (1 + p.jstride + p.kstride);
  copy.patch = &p;
  mg_status_t status = store_guess(&copy, MG_U, guess);
  if (status == MG_OK) status = mg_cpu_mixed.residual(&copy, MG_U, f, low, dst, scale, NULL);
  free(memory);
  return status;
}

mg_status_t guard_guess_correct(const mg_view_t *v, mg_vector_t dst, const mg_guess_t *guess,
                                const mg_view_t *low, mg_vector_t e, double scale) {
  MG_TRY(store_guess(v, dst, guess));
  return mg_cpu_mixed.raise(v, dst, low, e, scale, true);
}
