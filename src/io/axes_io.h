/* Positions of the faces of levels whose cells differ in width: /grid/x, y and z in a dump and in
 * users' files; of coarser levels beside their fields. */
#ifndef MG_AXES_IO_H
#define MG_AXES_IO_H

#include "io/dump.h"
#include "io/hdf5/h5.h"
#include "io/stored_sums.h"
#include "plan/axes.h"

/** Whether all cells of level l have the widths h. */
bool mg_plan_is_even(const mg_level_plan_t *level, const mg_params_t *params, int l);

/** Path of a level's positions in direction d. */
void mg_axis_path(int level, int d, char path[MG_DATA_PATH_MAX]);

/** Write the positions of all levels of a dump, or compare them with the file. Collective over the
 *  world.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_axes_dump(const mg_hierarchy_t *h, mg_h5_t *file, bool write);

/** Read the positions of faces that a user's file has, on the calling rank only.
 *  @param[in]  list          its datasets with checksums
 *  @param[in]  vtk           VTK's /VTKHDF/XCoordinates ... instead of /grid/x ...
 *  @param[in]  n             cells of its fields
 *  @param[out] axes          none if the file has no such positions; no cells of equal width
 *  @param[out] low           the first positions
 *  @param[out] length        of the domain in each direction; 0 if the file has no positions
 *  @return MG_OK, MG_ERR_IO (one of the three is missing, or is not as it must be),
 *          MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_axes_read(mg_h5_t *file, const mg_sums_list_t *list, bool vtk,
                                       const int32_t n[3], mg_axes_t *axes, double low[3],
                                       double length[3]);

/** Read the positions of points in VTK's /VTKHDF/XCoordinates ..., if the file has them.
 *  @param[out] center  n values; not changed if `there` is false */
MG_MUST_CHECK mg_status_t mg_axes_read_centers(mg_h5_t *file, const mg_sums_list_t *list, int d,
                                               int32_t n, double *center, bool *there);

/** Path of VTK's positions in direction d. */
void mg_axis_vtk_path(int d, char path[MG_DATA_PATH_MAX]);

#endif
