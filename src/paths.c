#include "paths.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mg_path_resolve(const char *path, char real[MG_REAL_PATH_MAX]) {
  char folder[PATH_MAX], found[PATH_MAX];
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
  real[0] = '\0';
  if (path[0] == '\0' || strcmp(path, "-") == 0) return;
  if (realpath(path, found)) {
    snprintf(real, MG_REAL_PATH_MAX, "%s", found);
    return;
  }
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(base - path) : 1, slash ? path : ".");
  if (realpath(folder, found))
    snprintf(real, MG_REAL_PATH_MAX, "%s/%s", found, base);
  else
    snprintf(real, MG_REAL_PATH_MAX, "%s", path);
}

bool mg_path_is_same(const char *one, const char *other) {
  char left[MG_REAL_PATH_MAX], right[MG_REAL_PATH_MAX];
  mg_path_resolve(one, left);
  mg_path_resolve(other, right);
  return left[0] != '\0' && strcmp(left, right) == 0;
}
