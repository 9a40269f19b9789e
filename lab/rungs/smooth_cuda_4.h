/* Smoother, rung 4: loads that are not cached. f, 1/diagonal, the previous iterate and the plane
 * below are not read again by a neighbor, and leave the caches to the other vectors. */
__global__ void __launch_bounds__(256) RUNG(smooth_4)(smooth_level_t l) {
  const int i = (int)blockIdx.x * 32 + (int)threadIdx.x % 32;
  const int j = (int)blockIdx.y * 8 + (int)threadIdx.x / 32, k = (int)blockIdx.z;
  if (i >= l.n || j >= l.n) return;
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  const mg_values7_t x = {LOAD(l.x, at),
                          {LOAD(l.x, at - 1), LOAD(l.x, at - l.js), LOAD_ONCE(l.x, at - l.ks)},
                          {LOAD(l.x, at + 1), LOAD(l.x, at + l.js), LOAD(l.x, at + l.ks)}};
  const double bi[] = {LOAD(l.beta[0], at), LOAD(l.beta[0], at + 1)};
  const double bj[] = {LOAD(l.beta[1], at), LOAD(l.beta[1], at + l.js)};
  const double bk[] = {LOAD_ONCE(l.beta[2], at), LOAD(l.beta[2], at + l.ks)};
  const double ax = mg_apply_values7(x, bi, bj, bk, 1, 1, l.a, l.b_h2);
  const double dinv = LOAD_ONCE(l.dinv, at);
  const double f = LOAD_ONCE(l.f, at), previous = LOAD_ONCE(l.previous, at);
  STORE(l.to, at, mg_update(x.c, previous, ax, f, dinv, l.c1, l.c2));
}
