/* What the parts of dump.h's implementation share. */
#ifndef MG_DUMP_PARTS_H
#define MG_DUMP_PARTS_H

#include "io/dump.h"
#include "io/hdf5/h5.h"

/** Is a level to be written? */
bool mg_dump_wants_level(const mg_params_t *params, int level);

/** Whether a dump has the faces at the upper walls of a field; MG_N_FIELDS: of any field. */
bool mg_dump_wants_wall(const mg_params_t *p, mg_field_t field);

/** Bytes of all fields, uncompressed; and those that a file will take at the least. */
int64_t mg_dump_bytes(const mg_params_t *params, const mg_plan_t *plan);
int64_t mg_dump_room(const mg_params_t *params, const mg_plan_t *plan);

/** Write all attributes, and the groups that fields are written into.
 *  Collective over the world.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_COMM; of this rank alone, not agreed on */
MG_MUST_CHECK mg_status_t mg_dump_put_head(mg_h5_t *file, const mg_hierarchy_t *h,
                                           const mg_dump_about_t *about);

/** Can the last part of a path stand in the XDMF file?
 *  @return MG_OK, MG_ERR_USAGE (logged) */
MG_MUST_CHECK mg_status_t mg_dump_check_xml(const char *path);

#endif
