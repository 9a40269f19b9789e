/* Memory of the guard backend (guard.c), for cells of any type. */
#ifndef MG_GUARD_MEMORY_H
#define MG_GUARD_MEMORY_H

#include "backend/backend.h"

/** Entries of the backend table. Memory of a level gets an address that can be neither read nor
 *  written. */
mg_status_t mg_guard_alloc(size_t bytes, mg_space_t space, void **memory);
void mg_guard_release(void *memory, size_t bytes, mg_space_t space);
mg_status_t mg_guard_clear(void *memory, size_t bytes);

/** The accessible address of a value in level memory; any other address is returned unchanged. */
void *mg_guard_open(void *address);

#endif
