/* A thread that writes planes of a dataset while its owner does something else. */
#ifndef MG_WRITE_THREAD_H
#define MG_WRITE_THREAD_H

#include "io/hdf5/h5.h"

/** One thread, with one piece of work at a time. */
typedef struct mg_write_thread mg_write_thread_t;

/** Start it. On a rank that takes no part in the file (NULL) there is no thread, and nothing to do.
 *  OpenMP's regions have one thread less until its end, so that it finds a core.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_write_thread_begin(mg_h5_t *file, mg_write_thread_t **out);

/** Begin to write, as mg_h5_write_planes does. Until mg_write_thread_wait the values stay as they
 * are, and nobody calls anything of h5.h.
 *  @pre what was begun before has been waited for */
void mg_write_thread_write(mg_write_thread_t *writer, const mg_h5_data_t *data, int32_t first,
                           int32_t count, const void *values);

/** Wait until that is done.
 *  @return MG_OK (also when there was nothing to do), MG_ERR_IO */
MG_MUST_CHECK mg_status_t mg_write_thread_wait(mg_write_thread_t *writer);

/** Wait, and end the thread.
 *  @param[in] writer  may be NULL */
void mg_write_thread_end(mg_write_thread_t *writer);

#endif
