#include "base/real_path.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Resolve one link, relative to the working directory. The target need not exist. */
static bool follow(const char *path, char target[MG_REAL_PATH_MAX]) {
  char link[PATH_MAX];
  const char *slash = strrchr(path, '/');
  const ssize_t length = readlink(path, link, sizeof link - 1);
  if (length <= 0) return false;
  link[length] = '\0';
  const int folder = slash && link[0] != '/' ? (int)(slash + 1 - path) : 0;
  return snprintf(target, MG_REAL_PATH_MAX, "%.*s%s", folder, path, link) < MG_REAL_PATH_MAX;
}

void mg_path_resolve(const char *path, char real[MG_REAL_PATH_MAX]) {
  enum { MAX_LINKS = 40 }; /* the kernel's limit; links may be cyclic */
  char folder[PATH_MAX], found[PATH_MAX], at[MG_REAL_PATH_MAX], next[MG_REAL_PATH_MAX];
  real[0] = '\0';
  if (path[0] == '\0' || strcmp(path, "-") == 0) return;
  if (realpath(path, found)) {
    snprintf(real, MG_REAL_PATH_MAX, "%s", found);
    return;
  }
  snprintf(at, sizeof at, "%s", path);
  for (int link = 0; link < MAX_LINKS && follow(at, next); link++)
    strcpy(at, next);
  const char *slash = strrchr(at, '/'), *base = slash ? slash + 1 : at;
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(base - at) : 1, slash ? at : ".");
  if (realpath(folder, found)) {
    /* No system call accepts a longer path. A truncated one may name another file. */
    if (snprintf(real, MG_REAL_PATH_MAX, "%s/%s", found, base) >= MG_REAL_PATH_MAX) real[0] = '\0';
  } else
    snprintf(real, MG_REAL_PATH_MAX, "%s", at);
}

bool mg_path_is_same(const char *one, const char *other) {
  char left[MG_REAL_PATH_MAX], right[MG_REAL_PATH_MAX];
  mg_path_resolve(one, left);
  mg_path_resolve(other, right);
  return left[0] != '\0' && strcmp(left, right) == 0;
}

bool mg_path_is_stream(const char *path) {
  struct stat file, stream;
  if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return false;
  for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
    if (fstat(fd, &stream) == 0 && stream.st_dev == file.st_dev && stream.st_ino == file.st_ino)
      return true;
  return false;
}
