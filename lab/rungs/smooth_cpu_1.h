/* Smoother, rung 1: k innermost. Successive cells are a plane apart: each access takes 8 bytes of
 * another line. LAB_OPAQUE keeps the compiler from changing the loop. */
static void RUNG(smooth_1)(const pass_t *p) {
  const grid_t g = *p->g;
  for (int64_t i = 0; i < g.n; i++)
    for (int64_t j = 0; j < g.n; j++)
      for (int64_t k = 0; k < g.n; k++) {
        LAB_OPAQUE(k);
        const ptrdiff_t at = i + j * g.js + k * g.ks;
        STORE(g.x[1], at, RUNG(stepped)(&g, g.x[0], g.x[1], at));
      }
}
