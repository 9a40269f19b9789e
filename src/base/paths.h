/* Where paths lead. */
#ifndef MG_PATHS_H
#define MG_PATHS_H

#include <limits.h>
#include <stdbool.h>

enum { MG_REAL_PATH_MAX = 2 * PATH_MAX };

/** The file of a path: links followed, those to a file that is yet to be among them.
 *  @param[out] real  "" for no path, and for "-", which is stdout */
void mg_path_resolve(const char *path, char real[MG_REAL_PATH_MAX]);

/** Does a path lead to the plain file that stdout or stderr is? */
bool mg_path_is_stream(const char *path);

/** Why a path is no file to read from: nothing is there, or something that may never begin or end,
 *  such as a pipe. NULL: it is a plain file. */
const char *mg_path_why_unreadable(const char *path);

/** Do two paths lead to one file, as far as one can see? Not where one of them is "" or "-". */
bool mg_path_is_same(const char *one, const char *other);

#endif
