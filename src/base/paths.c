#include "base/paths.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

const char *mg_path_why_unreadable(const char *path) {
  struct stat file;
  if (stat(path, &file) != 0) return strerror(errno);
  if (S_ISREG(file.st_mode)) return NULL;
  if (S_ISDIR(file.st_mode)) return "it is a directory, not a regular file";
  if (S_ISFIFO(file.st_mode)) return "it is a pipe, not a regular file";
  if (S_ISSOCK(file.st_mode)) return "it is a socket, not a regular file";
  return "it is a device, not a regular file";
}
