/* What the parts of dump.h's implementation share. */
#ifndef MG_DUMP_PARTS_H
#define MG_DUMP_PARTS_H

#include "dump.h"
#include "h5.h"

/** The group of all that VTK does not ask for. */
#define MG_DUMP_OURS "/HPGMG"

/** Is a level to be written? */
bool mg_dump_wants_level(const mg_params_t *params, int level);

/** Are there faces that no field of cells has room for? */
bool mg_dump_wants_walls(const mg_params_t *p);

/** Bytes of all fields, uncompressed; and those that a file will take at the least. */
int64_t mg_dump_bytes(const mg_params_t *params, const mg_plan_t *plan);
int64_t mg_dump_room(const mg_params_t *params, const mg_plan_t *plan);

/** Write all attributes, and the groups that fields are written into.
 *  Collective over the world.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_COMM; of this rank alone, not agreed on */
MG_MUST_CHECK mg_status_t mg_dump_put_head(mg_h5_t *file, const mg_hierarchy_t *h,
                                           const mg_dump_about_t *about);

#endif
