/* fv4 reads face betas one layer outward in the tangential directions. Outside the walls they are
 * extrapolated from the faces inside, also beside the ghosts of other patches: fused sweeps change
 * cells there. */
#include "cpu/cpu.h"
#include "formulas/stencil.h"

/* Faces normal to d, outside the wall normal to t. */
static void extend_wall(const mg_view_t *v, const mg_patch_t *p, int d, int t, int side) {
  const ptrdiff_t stride[3] = {1, p->jstride, p->kstride};
  const int u = 3 - d - t;
  const ptrdiff_t in = side == 0 ? stride[t] : -stride[t];
  mg_real_t *wall = p->vec[MG_BETA_I + d] + (side == 0 ? 0 : (p->n[t] - 1) * stride[t]);
  int along_u[2], along_d[2];
  mg_extended_range(v, p, u, false, along_u);
  mg_extended_range(v, p, d, true, along_d);
  for (int y = along_u[0]; y < along_u[1]; y++)
    for (int x = along_d[0]; x < along_d[1]; x++) {
      mg_real_t *b = wall + x * stride[d] + y * stride[u];
      b[-in] = mg_extrapolate_face(b, in, v->box_dim);
    }
}

mg_status_t mg_cpu_extend_faces(const mg_view_t *v) {
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    for (int d = 0; d < 3; d++)
      for (int t = 0; t < 3; t++)
        for (int side = 0; side < 2; side++)
          if (t != d && p->wall[t][side]) extend_wall(v, p, d, t, side);
  }
  return MG_OK;
}
