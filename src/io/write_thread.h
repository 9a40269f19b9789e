/* A thread that writes planes of a dataset while its owner continues. */
#ifndef MG_WRITE_THREAD_H
#define MG_WRITE_THREAD_H

#include "io/hdf5/h5.h"

/** Writes in a thread of their own, one at a time. */
typedef struct mg_write_thread mg_write_thread_t;

/** Prepare to write. If file is NULL (a rank that does not access the file), no thread is ever
 *  started and all calls do nothing. Until mg_write_thread_end, OpenMP regions use one thread
 *  fewer, so that the thread has a core.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_write_thread_begin(mg_h5_t *file, mg_write_thread_t **out);

/** Start a write like that of mg_h5_write_planes. Until mg_write_thread_wait returns, the values
 *  must not change and no function of h5.h may be called.
 *  @pre the previous write has been waited for */
void mg_write_thread_write(mg_write_thread_t *writer, const mg_h5_data_t *data, int32_t first,
                           int32_t count, const void *values);

/** Wait for the write to finish.
 *  @return MG_OK (also if there was nothing to do), MG_ERR_IO, MG_ERR_MEMORY (no thread) */
MG_MUST_CHECK mg_status_t mg_write_thread_wait(mg_write_thread_t *writer);

/** Wait for the write to finish, then free the writer.
 *  @param[in] writer  may be NULL */
void mg_write_thread_end(mg_write_thread_t *writer);

#endif
