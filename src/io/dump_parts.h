/* Declarations shared by the source files that implement dump.h. */
#ifndef MG_DUMP_PARTS_H
#define MG_DUMP_PARTS_H

#include "io/dump.h"
#include "io/field_io.h"
#include "io/hdf5/h5.h"
#include "params/params_table.h"

/** Whether a level is selected. */
bool mg_dump_wants_level(const mg_params_t *params, int level);

/** Whether a dump has a field on a level. */
bool mg_dump_wants_at(const mg_params_t *params, int level, mg_field_t field);

/** Whether a dump includes the upper-wall faces of a field, or of any field for MG_N_FIELDS. */
bool mg_dump_wants_wall(const mg_params_t *p, mg_field_t field);

/** Whether a dump includes /boundary: values of conditions that differ from face to face. */
bool mg_dump_wants_sides(const mg_params_t *p);

/** Whether all cells of level l have the widths h. */
bool mg_plan_is_even(const mg_level_plan_t *level, const mg_params_t *params, int l);

/** Path of the positions of faces of a level whose cells differ in width: /grid/x of the finest
 *  level, beside the fields of others; of MG_AXIS_VTK: VTK's /VTKHDF/XCoordinates ... */
enum { MG_AXIS_VTK = -1 };
void mg_axis_path(int level, int d, char path[MG_DATA_PATH_MAX]);

/** Uncompressed bytes of all fields, and the least bytes that a file needs. */
int64_t mg_dump_bytes(const mg_params_t *params, const mg_plan_t *plan);
int64_t mg_dump_room(const mg_params_t *params, const mg_plan_t *plan);

/** Write all attributes, and create the groups that hold the fields. Collective over the world.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_COMM; local to this rank, not agreed on */
MG_MUST_CHECK mg_status_t mg_dump_put_head(mg_h5_t *file, const mg_hierarchy_t *h,
                                           const mg_dump_about_t *about);

/** Read the value of an option that dumps store, as text. A file without a later option's value
 *  does not change the text.
 *  @return MG_OK, MG_ERR_IO */
enum { MG_DUMP_WORD = 16 /**< bytes of a word */ };
MG_MUST_CHECK mg_status_t mg_dump_get_setting(mg_h5_t *file, const mg_option_t *option, char *text,
                                              int size);

/** Check that the file name of a path can be written in the XDMF file.
 *  @return MG_OK, MG_ERR_USAGE (logged) */
MG_MUST_CHECK mg_status_t mg_dump_check_xml(const char *path);

/** Make MG_F, MG_ALPHA or a beta of the finest level the one that was given, with the factors of
 *  level/metric.h: f and alpha without the shares of conditions and given cells, beta also on
 * Robin's sides and faces of given cells; MG_U its values outside, or for MG_FIELD_MASK the mask.
 * For dumps, which can then be read as the files of a problem. Overwrites MG_TMP, which must not
 * change until mg_dump_restore_conditions. Other vectors are not changed.
 *  @pre   the run has --dump
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_dump_remove_conditions(mg_hierarchy_t *h, mg_field_t field,
                                                    mg_vector_t vec);
MG_MUST_CHECK mg_status_t mg_dump_restore_conditions(mg_hierarchy_t *h, mg_vector_t vec);

/* What only dumps of general grids have (dump_walls.c): */

/** Remove the factors of the faces on the high side in direction d. */
MG_MUST_CHECK mg_status_t mg_dump_unscale_wall(const mg_hierarchy_t *h, int d, const int32_t n[2],
                                               double *faces);
/** Write or compare values of conditions, and the positions of faces. */
MG_MUST_CHECK mg_status_t mg_dump_run_sides(mg_hierarchy_t *h, mg_h5_t *file, int d, bool write,
                                            const mg_rows_t *wall);
MG_MUST_CHECK mg_status_t mg_dump_run_axes(const mg_hierarchy_t *h, mg_h5_t *file, bool write);

#endif
