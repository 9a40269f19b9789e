/* Smoother, rung 5: two cells per thread, one above the other. Each is a neighbor of the other, and
 * they share a beta, so that a thread has fewer loads per cell and more of them in flight. */
__global__ void __launch_bounds__(256, 5) RUNG(smooth_5)(smooth_level_t l) {
  const int i = (int)blockIdx.x * 32 + (int)threadIdx.x % 32;
  const int j = (int)blockIdx.y * 8 + (int)threadIdx.x / 32, k = (int)blockIdx.z * 2;
  if (i >= l.n || j >= l.n || k + 1 >= l.n) return;
  const ptrdiff_t first = i + j * l.js + k * l.ks;
  const double xk[] = {LOAD_ONCE(l.x, first - l.ks), LOAD(l.x, first), LOAD(l.x, first + l.ks),
                       LOAD(l.x, first + 2 * l.ks)};
  const double bk[] = {LOAD_ONCE(l.beta[2], first), LOAD(l.beta[2], first + l.ks),
                       LOAD(l.beta[2], first + 2 * l.ks)};
  double value[2];
#pragma unroll
  for (int q = 0; q < 2; q++) {
    const ptrdiff_t at = first + q * l.ks;
    const mg_values7_t x = {xk[q + 1],
                            {LOAD(l.x, at - 1), LOAD(l.x, at - l.js), xk[q]},
                            {LOAD(l.x, at + 1), LOAD(l.x, at + l.js), xk[q + 2]}};
    const double bi[] = {LOAD(l.beta[0], at), LOAD(l.beta[0], at + 1)};
    const double bj[] = {LOAD(l.beta[1], at), LOAD(l.beta[1], at + l.js)};
    const double ax = mg_apply_values7(x, bi, bj, &bk[q], 1, 1, l.a, l.b_h2);
    const mg_face_weights_t one = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
    const double dinv = 1.0 / mg_diagonal_7(bi, bj, &bk[q], 1, 1, one, l.a, l.b_h2);
    const double f = LOAD_ONCE(l.f, at), previous = LOAD_ONCE(l.previous, at);
    value[q] = mg_update(x.c, previous, ax, f, dinv, l.c1, l.c2);
  }
  STORE(l.to, first, value[0]);
  STORE(l.to, first + l.ks, value[1]);
}
