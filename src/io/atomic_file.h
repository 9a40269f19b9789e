/* A file that is there as a whole or not at all: written under another name, made lasting, renamed.
 * For one rank; errors are logged. */
#ifndef MG_ATOMIC_FILE_H
#define MG_ATOMIC_FILE_H

#include "base/paths.h"
#include "base/status.h"
#include <limits.h>
#include <stdint.h>

enum { MG_WHOLE_FILE_MAX = MG_REAL_PATH_MAX + 32 };

/** The names of a file, with links followed so that they stay links. */
typedef struct {
  const char *option; /**< that asked for it, for messages */
  char final[MG_REAL_PATH_MAX];
  char temporary[MG_WHOLE_FILE_MAX]; /**< final, six characters that nobody else has, .tmp */
} mg_atomic_file_t;

/** Find out whether a file of so many bytes can be written at `path`: a folder that is there and
 *  open to us, no folder of this name, room on the disk. What is there stays as it is.
 *  @param[in] bytes  0: unknown
 *  @return MG_OK, MG_ERR_IO with what is wrong */
MG_MUST_CHECK mg_status_t mg_atomic_file_prepare(const char *option, const char *path,
                                                 int64_t bytes, mg_atomic_file_t *file);

/** Make the temporary file lasting and give it its name.
 *  @return MG_OK, MG_ERR_IO; the temporary file is gone then, and the earlier one still there */
MG_MUST_CHECK mg_status_t mg_atomic_file_finish(const mg_atomic_file_t *file);

/** Remove the temporary file, if there is one. */
void mg_atomic_file_drop(const mg_atomic_file_t *file);

#endif
