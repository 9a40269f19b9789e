/* Smoother, rung 3: vectors. One instruction computes several cells of a row. */
static void RUNG(smooth_3)(const pass_t *p) {
  const grid_t g = *p->g;
  for (int64_t k = 0; k < g.n; k++)
    for (int64_t j = 0; j < g.n; j++) {
      const ptrdiff_t row = j * g.js + k * g.ks;
      SIMD()
      for (int64_t i = 0; i < g.n; i++)
        STORE(g.x[1], row + i, RUNG(stepped)(&g, g.x[0], g.x[1], row + i));
    }
}
