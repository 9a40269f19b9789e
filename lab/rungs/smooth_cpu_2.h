/* Smoother, rung 2: i innermost. Successive cells are neighbors in memory. */
static void RUNG(smooth_2)(const pass_t *p) {
  const grid_t g = *p->g;
  for (int64_t k = 0; k < g.n; k++)
    for (int64_t j = 0; j < g.n; j++)
      for (int64_t i = 0; i < g.n; i++) {
        LAB_OPAQUE(i);
        const ptrdiff_t at = i + j * g.js + k * g.ks;
        STORE(g.x[1], at, RUNG(stepped)(&g, g.x[0], g.x[1], at));
      }
}
