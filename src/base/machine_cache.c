/* Size of the last-level cache, from Linux's /sys. */
#include "base/machine.h"
#include <stdio.h>
#include <string.h>

/* First line of a file about cache `index` of CPU 0. @return false if there is none */
static bool read_line(const char *root, int index, const char *name, char *line, int size) {
  char path[512];
  snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu0/cache/index%d/%s", root, index, name);
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

/* Bytes of the last cache that CPU 0 shares with *n CPUs, itself included; 0 if unknown. */
static int64_t last_cache(const char *root, int *n) {
  char line[1024];
  int64_t bytes = 0;
  *n = 1;
  for (int index = 0; read_line(root, index, "size", line, sizeof line); index++) {
    long long kib;
    char unit;
    if (sscanf(line, "%lld%c", &kib, &unit) != 2 || unit != 'K' || kib <= 0) continue;
    const int cpus =
        read_line(root, index, "shared_cpu_list", line, sizeof line) ? count_cpus(line) : 0;
    if (cpus <= 0) continue;
    bytes = kib * 1024; /* caches are listed from the first level on */
    *n = cpus;
  }
  return bytes;
}

int64_t mg_machine_cache_per_cpu_in(const char *root) {
  int n;
  const int64_t bytes = last_cache(root, &n);
  return bytes / n;
}

int64_t mg_machine_cache(int threads) {
  int n;
  const int64_t one = last_cache("", &n), all = threads * (one / n);
  return one > all ? one : all;
}

int64_t mg_machine_cache_per_cpu(void) {
  static int64_t share = -1;
  if (share < 0) share = mg_machine_cache_per_cpu_in("");
  return share;
}
