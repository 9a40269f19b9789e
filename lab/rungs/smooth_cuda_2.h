/* Smoother, rung 2: blocks of 8 x 4 cells along i and j. Eight threads read 64 bytes of a row: two
 * whole sectors, and one more at each end for the neighbors in i. */
__global__ void __launch_bounds__(32) RUNG(smooth_2)(smooth_level_t l) {
  const int i = (int)blockIdx.x * 8 + (int)threadIdx.x % 8;
  const int j = (int)blockIdx.y * 4 + (int)threadIdx.x / 8, k = (int)blockIdx.z;
  if (i >= l.n || j >= l.n) return;
  const ptrdiff_t at = i + j * l.js + k * l.ks;
  const mg_values7_t x = {LOAD(l.x, at),
                          {LOAD(l.x, at - 1), LOAD(l.x, at - l.js), LOAD(l.x, at - l.ks)},
                          {LOAD(l.x, at + 1), LOAD(l.x, at + l.js), LOAD(l.x, at + l.ks)}};
  const double bi[] = {LOAD(l.beta[0], at), LOAD(l.beta[0], at + 1)};
  const double bj[] = {LOAD(l.beta[1], at), LOAD(l.beta[1], at + l.js)};
  const double bk[] = {LOAD(l.beta[2], at), LOAD(l.beta[2], at + l.ks)};
  const double ax = mg_apply_values7(x, bi, bj, bk, 1, 1, l.a, l.b_h2);
  const double dinv = LOAD(l.dinv, at);
  const double f = LOAD(l.f, at), previous = LOAD(l.previous, at);
  STORE(l.to, at, mg_update(x.c, previous, ax, f, dinv, l.c1, l.c2));
}
