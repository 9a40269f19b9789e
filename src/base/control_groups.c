#include "base/control_groups.h"
#include "base/machine_checks.h"
#include "base/paths.h"
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

FILE *mg_groups_open(const char *folder, const char *name) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  return length < (int)sizeof path && !mg_path_why_unreadable(path) ? fopen(path, "r") : NULL;
}

/* Does a list like "cpu,memory" contain the controller? An empty list contains only "". */
static bool lists(const char *list, const char *controller) {
  const size_t length = strlen(controller);
  for (;;) {
    const size_t word = strcspn(list, ",");
    if (word == length && strncmp(list, controller, length) == 0) return true;
    if (list[word] == '\0') return false;
    list += word + 1;
  }
}

/* Path of this process's group; "" if it is the root or there is none. */
static void group_path(const char *root, const char *controller, char *path, size_t size) {
  char line[PATH_MAX];
  path[0] = '\0';
  FILE *file = mg_groups_open(root, "proc/self/cgroup");
  if (!file) return;
  while (fgets(line, sizeof line, file)) { /* "4:memory:/path", "0::/path" */
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    if (lists(controllers + 1, controller)) snprintf(path, size, "%s", group);
  }
  fclose(file);
  if (strcmp(path, "/") == 0) path[0] = '\0';
}

/* In a container, the outer part of the path may not exist. The container's group is then the root
 * of the mount. The inode of a group's folder is the same in all containers of a host. */
int64_t mg_groups_least(const char *root, const char *controller, const char *mount,
                        int64_t (*value)(const void *data, const char *folder), const void *data,
                        uint64_t *group) {
  char path[PATH_MAX], folder[PATH_MAX];
  int64_t least = INT64_MAX;
  struct stat of_folder;
  group_path(root, controller, path, sizeof path);
  for (;;) {
    const bool fits =
        snprintf(folder, sizeof folder, "%s%s%s", root, mount, path) < (int)sizeof folder;
    const int64_t one = fits ? value(data, folder) : -1;
    if (one >= 0 && one < least) {
      least = one;
      if (group && stat(folder, &of_folder) == 0) *group = of_folder.st_ino;
    }
    char *slash = strrchr(path, '/');
    if (!slash) return least;
    *slash = '\0';
  }
}

/* Thousandths of a CPU that one group may use. v2: "QUOTA PERIOD" or "max PERIOD"; v1: two files,
 * with the quota -1 for none. */
static int64_t quota_of(const void *is_v1, const char *folder) {
  static const char *const names[2][2] = {{"cpu.max", "cpu.max"},
                                          {"cpu.cfs_quota_us", "cpu.cfs_period_us"}};
  long long number[2] = {-1, -1};
  char line[64];
  for (int n = 0; n < 2; n++) {
    FILE *file = mg_groups_open(folder, names[is_v1 != NULL][n]);
    if (!file) return -1;
    char *at = fgets(line, sizeof line, file);
    fclose(file);
    if (at && n == 1 && !is_v1) at = strchr(at, ' ');
    if (at) number[n] = strtoll(at, NULL, 10);
  }
  return number[0] > 0 && number[1] > 0 ? number[0] * 1000 / number[1] : -1;
}

double mg_machine_cpu_quota_in(const char *root, uint64_t *group) {
  static const char v1;
  uint64_t of_unified = 0, of_old = 0;
  const int64_t unified = mg_groups_least(root, "", "/sys/fs/cgroup", quota_of, NULL, &of_unified),
                old = mg_groups_least(root, "cpu", "/sys/fs/cgroup/cpu", quota_of, &v1, &of_old);
  const int64_t least = unified < old ? unified : old;
  if (group) *group = unified < old ? of_unified : of_old;
  return least == INT64_MAX ? 0.0 : 1e-3 * (double)least;
}

double mg_machine_cpu_quota(uint64_t *group) {
  const char *root = getenv("HPGMG_CONTROL_GROUPS");
  return mg_machine_cpu_quota_in(root ? root : "", group);
}
