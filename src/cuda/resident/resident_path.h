/* The path of resident sweeps on a GPU. The guard of the tests has the same path for small levels.
 */
#ifndef MG_RESIDENT_PATH_H
#define MG_RESIDENT_PATH_H

#include "plan/path.h"

/** Whether the steps and ranks of a level allow resident sweeps. */
bool mg_resident_steps_fit(const mg_level_facts_t *level);
void mg_resident_needs(const mg_level_facts_t *level, mg_path_needs_t *needs);

#endif
