/* Smoother, rung 5: blocks of rows. A thread marches through all planes of its slab with a few rows
 * at a time, so that the three planes of x that a cell needs stay in its cache. */
static void RUNG(smooth_5)(const pass_t *p) {
  const grid_t g = *p->g;
#pragma omp parallel num_threads(p->threads)
  {
    int64_t first, last;
    lab_share(g.n, 1, &first, &last);
    for (int64_t block = 0; block < g.n; block += p->rows)
      for (int64_t k = first; k < last; k++)
        for (int64_t j = block; j < min64(g.n, block + p->rows); j++) {
          const ptrdiff_t row = j * g.js + k * g.ks;
          SIMD()
          for (int64_t i = 0; i < g.n; i++)
            STORE(g.x[1], row + i, RUNG(stepped)(&g, g.x[0], g.x[1], row + i));
        }
  }
}
