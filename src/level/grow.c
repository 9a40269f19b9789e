#include "level/grow.h"
#include "base/alloc.h"
#include <string.h>

mg_status_t mg_view_grow(const mg_view_t *v, int layers, int value_bytes, mg_view_t *out) {
  const int along_rows = mg_row_layers_of_growth(layers, value_bytes);
  *out = *v;
  const int grown[3] = {along_rows, layers, layers};
  out->ghost_layers -= along_rows;
  out->cells = 0;
  MG_TRY(mg_new(&out->patch, v->n_patches, "patch lists"));
  memcpy(out->grown, grown, sizeof grown);
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t p = mg_patch_grown(&v->patch[q], grown, value_bytes);
    out->patch[q] = p;
    out->cells += (int64_t)p.n[0] * p.n[1] * p.n[2];
  }
  return MG_OK;
}
