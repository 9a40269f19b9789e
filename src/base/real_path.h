/* Files behind paths. */
#ifndef MG_REAL_PATH_H
#define MG_REAL_PATH_H

#include <limits.h>
#include <stdbool.h>

enum { MG_REAL_PATH_MAX = 2 * PATH_MAX };

/** Resolve a path, following links even if their target does not exist yet.
 *  @param[out] real  "" if path is "" or "-" (stdout) */
void mg_path_resolve(const char *path, char real[MG_REAL_PATH_MAX]);

/** Does the path resolve to the regular file that stdout or stderr is redirected to? */
bool mg_path_is_stream(const char *path);

/** Do two paths resolve to the same file? False if either is "" or "-". */
bool mg_path_is_same(const char *one, const char *other);

#endif
