/* Available host memory, as reported by the kernel and the control groups (cgroups). */
#include "base/control_groups.h"
#include "base/machine_checks.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* Read the number after `key` from a file of lines "key number". With key "", the file is a single
 * number. @return -1 if there is no number, such as "max" in a control group */
static int64_t read_number(const char *folder, const char *name, const char *key) {
  char line[256];
  long long value = -1;
  const size_t length = strlen(key);
  FILE *file = mg_groups_open(folder, name);
  if (!file) return -1;
  while (value < 0 && fgets(line, sizeof line, file))
    if (strncmp(line, key, length) == 0 && sscanf(line + length, "%lld", &value) != 1) value = -1;
  fclose(file);
  return value;
}

static int64_t min_known(int64_t a, int64_t b) {
  return b >= 0 && b < a ? b : a;
}

/* File names of one control group interface: v2 or v1. */
typedef struct {
  const char *controller; /* name in /proc/self/cgroup */
  const char *mount;
  const char *limit, *used, *cache;
} group_kind_t;

static const group_kind_t kinds[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
};

/* Bytes left below one group's limit. Cached files count as used, but the kernel evicts inactive
 * ones before an allocation fails. */
static int64_t group_room(const void *data, const char *folder) {
  const group_kind_t *kind = data;
  const int64_t limit = read_number(folder, kind->limit, "");
  int64_t used = read_number(folder, kind->used, "");
  if (limit < 0 || used < 0) return -1;
  const int64_t cache = read_number(folder, "memory.stat", kind->cache);
  if (cache > 0) used -= cache < used ? cache : used;
  return limit > used ? limit - used : 0;
}

int64_t mg_host_memory_available_in(const char *root) {
  const int64_t kib = read_number(root, "proc/meminfo", "MemAvailable:");
  int64_t room = min_known(INT64_MAX, kib < 0 ? -1 : kib * 1024);
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
    room = min_known(room, mg_groups_least(root, kinds[k].controller, kinds[k].mount, group_room,
                                           &kinds[k], NULL));
  return room;
}

int64_t mg_host_memory_available(void) {
  return mg_host_memory_available_in("");
}

/* Bytes left below a `ulimit` limit; `used` bytes are already taken. */
static int64_t limit_room(int resource, int64_t used) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return -1;
  const int64_t bytes = limit.rlim_cur > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_cur;
  return bytes > used ? bytes - used : 0;
}

int64_t mg_host_memory_process_limit(void) {
  const int64_t size = read_number("/proc/self", "status", "VmSize:");
  const int64_t data = read_number("/proc/self", "status", "VmData:");
  int64_t room = limit_room(RLIMIT_AS, size > 0 ? size * 1024 : 0);
  if (room < 0) room = INT64_MAX;
  return min_known(room, limit_room(RLIMIT_DATA, data > 0 ? data * 1024 : 0));
}
