/* Smoother, rung 6: several steps in one pass. Step s follows step s - 1, one plane and one row
 * behind, and overwrites the iterate of step s - 2. Each vector crosses memory once for all steps.
 *
 *       rows j ->   block b-1 | block b  |          step 1 is at plane w of the pass,
 *       step 1  . . . . . . . | o o o o o|          step 2 at w - 1, one row to the left,
 *       step 2  . . . . . . | o o o o o|            step 3 at w - 2, two rows to the left
 *
 * A block needs only its own results and those of its left neighbor up to the same w. Each thread
 * has one block, and is some planes behind the thread of the block to its left. */
static void RUNG(smooth_6)(const pass_t *p) {
  const grid_t g = *p->g;
  const int64_t deep = g.n + p->steps - 1; /* planes and rows, with the steps behind */
  const int64_t blocks = (deep + p->rows - 1) / p->rows;
  const int64_t turns = (deep + PLANES_AT_A_TIME - 1) / PLANES_AT_A_TIME;
#pragma omp parallel num_threads(p->threads)
  {
    int64_t me, threads;
    lab_thread(&me, &threads);
    for (int64_t block = me; block - me < blocks; block += threads)
      for (int64_t turn = -me; turn < turns + threads - 1 - me; turn++) {
        const bool is_mine = block < blocks && turn >= 0 && turn < turns;
        const int64_t w0 = turn * PLANES_AT_A_TIME, w1 = min64(deep, w0 + PLANES_AT_A_TIME);
        for (int64_t w = w0; is_mine && w < w1; w++)
          for (int s = 1; s <= p->steps; s++) {
            const int64_t k = w - (s - 1), begin = block * p->rows - (s - 1);
            if (k < 0 || k >= g.n) continue;
            for (int64_t j = max64(0, begin); j < min64(g.n, begin + p->rows); j++) {
              const ptrdiff_t row = j * g.js + k * g.ks;
              double *const x = g.x[(s + 1) % 2], *const next = g.x[s % 2];
              SIMD()
              for (int64_t i = 0; i < g.n; i++)
                STORE(next, row + i, RUNG(stepped)(&g, x, next, row + i));
            }
          }
#pragma omp barrier
      }
  }
}
