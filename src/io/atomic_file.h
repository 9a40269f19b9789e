/* Atomic replacement of a file: written to a temporary name, synced to disk, then renamed.
 * Called by one rank; errors are logged. */
#ifndef MG_ATOMIC_FILE_H
#define MG_ATOMIC_FILE_H

#include "base/real_path.h"
#include "base/status.h"
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

enum { MG_WHOLE_FILE_MAX = MG_REAL_PATH_MAX + 32 };

/** Final and temporary name of a file. Symbolic links are resolved, so that they survive the
 *  rename. */
typedef struct {
  const char *option; /**< option that names the file, for messages */
  char final[MG_REAL_PATH_MAX];
  char temporary[MG_WHOLE_FILE_MAX]; /**< final + six unique characters + .tmp */
} mg_atomic_file_t;

/** Check that a file of the given size can be written at `path`.
 *
 *  The folder must exist and be writable, `path` must not be a folder, and the disk must have
 *  room. An existing file is not changed.
 *  @param[in] bytes  file size; 0 if unknown
 *  @return MG_OK, MG_ERR_IO (cause logged) */
MG_MUST_CHECK mg_status_t mg_atomic_file_prepare(const char *option, const char *path,
                                                 int64_t bytes, mg_atomic_file_t *file);

/** Sync the temporary file to disk and rename it to its final name.
 *  @return MG_OK, MG_ERR_IO; on error the temporary file is removed and any earlier file is kept */
MG_MUST_CHECK mg_status_t mg_atomic_file_finish(const mg_atomic_file_t *file);

/** Writes the text of a file. */
typedef mg_status_t (*mg_writer_t)(FILE *out, const void *data);

/** All steps for a text file.
 *  @return as the writer; MG_ERR_IO, MG_ERR_USAGE as the functions above */
MG_MUST_CHECK mg_status_t mg_atomic_file_write(const char *option, const char *path,
                                               mg_writer_t writer, const void *data);

/** Remove the temporary file if it exists. */
void mg_atomic_file_drop(const mg_atomic_file_t *file);

#endif
