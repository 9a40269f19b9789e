/* Views whose patches include ghost layers as cells: for sweeps that also compute ghosts. */
#ifndef MG_LEVEL_GROW_H
#define MG_LEVEL_GROW_H

#include "base/status.h"
#include "formulas/view.h"

/** A view of the same memory in which ghost layers are cells, on every side that is not a wall.
 *
 *  Along rows more layers may become cells, so that rows keep their alignment
 *  (mg_row_layers_of_growth). Cells of these layers hold values that are not meaningful.
 *  @param[in]  layers       number of ghost layers that become cells
 *  @param[in]  value_bytes  of a cell: 8 or 4
 *  @param[out] out          free with mg_view_grown_free
 *  @pre v->ghost_layers exceeds the layers that become cells
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_view_grow(const mg_view_t *v, int layers, int value_bytes,
                                       mg_view_t *out);
void mg_view_grown_free(mg_view_t *grown);

#endif
