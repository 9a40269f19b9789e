/* Size of the last-level cache, from Linux's /sys. */
#include "base/machine.h"
#include <stdio.h>
#include <string.h>

/* First line of a file about cache `index` of CPU 0. @return false if there is none */
static bool read_line(int index, const char *name, char *line, int size) {
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  const bool ok = fgets(line, size, file) != NULL;
  fclose(file);
  return ok;
}

/* Number of CPUs in a list such as "0-3,8-11". */
static int count_cpus(const char *list) {
  int count = 0, first, last, read;
  while (sscanf(list, "%d%n", &first, &read) == 1) {
    list += read;
    last = first;
    if (sscanf(list, "-%d%n", &last, &read) == 1) list += read;
    count += last - first + 1;
    list += *list == ',';
  }
  return count;
}

static int64_t find_cache_per_cpu(void) {
  char line[1024];
  int64_t share = 0;
  for (int index = 0; read_line(index, "size", line, sizeof line); index++) {
    long long kib;
    if (sscanf(line, "%lldK", &kib) != 1) continue;
    const int cpus = read_line(index, "shared_cpu_list", line, sizeof line) ? count_cpus(line) : 0;
    if (cpus > 0) share = kib * 1024 / cpus; /* caches are listed from the first level on */
  }
  return share;
}

int64_t mg_machine_cache_per_cpu(void) {
  static int64_t share = -1;
  if (share < 0) share = find_cache_per_cpu();
  return share;
}
