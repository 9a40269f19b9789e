/* What sweeps of several steps read: ghost layers, which may become cells. */
#ifndef MG_SWEEP_FORMULAS_H
#define MG_SWEEP_FORMULAS_H

#include "formulas/smoother.h"
#include "formulas/view.h"

/** Ghost layers that n fused steps read; `radius` is that of the operator. Each further step adds
 *  one layer. That holds for fv4 because its fused steps are colored: of the cells that the
 * previous step has changed, which have the other color, fv4 reads only the face neighbors. */
MG_INLINE int mg_layers_of_steps(int radius, int n) {
  return radius + n - 1;
}

/** Ghost layers that n steps in a pass of a CPU read if they leave `radius` valid ones: for what
 *  reads the result. */
MG_INLINE int mg_layers_of_pass(int radius, int n) {
  return radius * (n + 1);
}

/** The same for a 7-point operator, if the pass also interpolates its input to ghosts, in pairs. */
MG_INLINE int mg_layers_of_interpolating_pass(int n) {
  return (mg_layers_of_pass(1, n) + 1) / 2 * 2;
}

/** Coarse ghost layers that the input of n fused steps of a 7-point operator reads, if it is
 *  interpolated from the next coarser level: to n <= 3 ghost layers, by a formula of radius 1, or
 *  from cells that are the fine ones. */
MG_INLINE int mg_coarse_layers_of_steps(int n) {
  return (mg_layers_of_steps(1, n) + 1) / 2 + 1;
}

/** The same for a pass with ghosts. */
MG_INLINE int mg_coarse_layers_of_pass(int n) {
  return mg_layers_of_interpolating_pass(n) / 2 + 1;
}

/** Whether every patch has walls on all sides: then it is the whole level, and has no halo. */
MG_INLINE bool mg_walls_enclose(const mg_view_t *v) {
  bool enclosed = true;
  for (int q = 0; q < v->n_patches; q++)
    for (int d = 0; d < 3; d++)
      enclosed = enclosed && v->patch[q].wall[d][0] && v->patch[q].wall[d][1];
  return enclosed;
}

/** Ghost layers along rows that become cells if a patch grows by `layers`: rows begin at multiples
 *  of 16 bytes then, as TMA requires. */
MG_INLINE int mg_row_layers_of_growth(int layers, int value_bytes) {
  const int line = 16 / value_bytes;
  return (layers + line - 1) / line * line;
}

/** The patch with layers[d] ghost layers turned into cells on each side of direction d that is not
 *  a wall.
 *  @param[in] value_bytes  of a cell, which may differ from sizeof(mg_real_t) */
MG_INLINE mg_patch_t mg_patch_grown(const mg_patch_t *patch, const int layers[3], int value_bytes) {
  mg_patch_t p = *patch;
  const int64_t stride[3] = {1, p.jstride, p.kstride};
  int64_t shift = 0;
  for (int d = 0; d < 3; d++) {
    const int low = p.wall[d][0] ? 0 : layers[d], high = p.wall[d][1] ? 0 : layers[d];
    p.lo[d] -= low;
    p.n[d] += low + high;
    shift += low * stride[d];
  }
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    if (p.vec[vec]) p.vec[vec] = (mg_real_t *)(void *)((char *)p.vec[vec] - shift * value_bytes);
  return p;
}

#endif
