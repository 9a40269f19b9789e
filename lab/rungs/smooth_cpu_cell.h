/* New value of the cell at `at`; x is the current iterate, previous the one before. */
MG_INLINE double RUNG(stepped)(const grid_t *g, const double *x, const double *previous,
                               ptrdiff_t at) {
  const ptrdiff_t js = g->js, ks = g->ks;
  const mg_values7_t v = {LOAD(x, at),
                          {LOAD(x, at - 1), LOAD(x, at - js), LOAD(x, at - ks)},
                          {LOAD(x, at + 1), LOAD(x, at + js), LOAD(x, at + ks)}};
  const double bi[] = {LOAD(g->bi, at), LOAD(g->bi, at + 1)};
  const double bj[] = {LOAD(g->bj, at), LOAD(g->bj, at + js)};
  const double bk[] = {LOAD(g->bk, at), LOAD(g->bk, at + ks)};
  const mg_face_weights_t one = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  const double ax = mg_apply_values7(v, bi, bj, bk, 1, 1, A, B_H2);
  const double dinv = 1.0 / mg_diagonal_7(bi, bj, bk, 1, 1, one, A, B_H2);
  return mg_update(v.c, LOAD(previous, at), ax, LOAD(g->f, at), dinv, C1, C2);
}
