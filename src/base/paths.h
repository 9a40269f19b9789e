/* Checks of files. */
#ifndef MG_PATHS_H
#define MG_PATHS_H

/** Why a path cannot be read: it does not exist or is not a regular file (a pipe may never end).
 *  @return NULL if it is a regular file */
const char *mg_path_why_unreadable(const char *path);

#endif
