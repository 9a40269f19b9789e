/* Sizes of caches, from Linux's /sys, and of strips that fit. */
#include "base/machine_cache.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

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

enum { LAST = 9 }; /* level of a cache whose level is not stated */

/* Bytes of the last cache among levels `from` to `to` that CPU 0 shares with *n CPUs, itself
 * included; 0 if unknown. Caches are listed from the first level on. */
static int64_t find_cache(const char *root, int from, int to, int *n) {
  char line[1024];
  int64_t bytes = 0;
  *n = 1;
  for (int index = 0; read_line(root, index, "size", line, sizeof line); index++) {
    long long kib;
    char unit;
    int level = LAST;
    if (sscanf(line, "%lld%c", &kib, &unit) != 2 || unit != 'K' || kib <= 0) continue;
    const int cpus =
        read_line(root, index, "shared_cpu_list", line, sizeof line) ? count_cpus(line) : 0;
    if (read_line(root, index, "level", line, sizeof line)) (void)sscanf(line, "%d", &level);
    if (cpus <= 0 || level < from || level > to) continue;
    bytes = kib * 1024;
    *n = cpus;
  }
  return bytes;
}

static int64_t share_of(const char *root, int from, int to) {
  const int64_t most = 32 << 20;
  int n;
  const int64_t bytes = find_cache(root, from, to, &n), share = bytes / n;
  return share < most ? share : most;
}

int64_t mg_machine_cache(int threads) {
  int n;
  const int64_t one = find_cache("", 1, LAST, &n), all = threads * (one / n);
  return one > all ? one : all;
}

int64_t mg_machine_second_level_per_cpu_in(const char *root) {
  return share_of(root, 2, 2);
}

int64_t mg_machine_cache_per_cpu_in(const char *root) {
  return share_of(root, 1, LAST);
}

int64_t mg_machine_second_level_per_cpu(void) {
  return mg_machine_second_level_per_cpu_in("");
}

int64_t mg_machine_cache_per_cpu(void) {
  static _Atomic int64_t share = -1;
  if (share < 0) share = mg_machine_cache_per_cpu_in("");
  return share;
}

static _Atomic int64_t strip_bytes; /* 0: not set */

int64_t mg_machine_default_strip_bytes(void) {
  const int64_t unknown = 4 << 20, share = mg_machine_cache_per_cpu();
  return (share > 0 ? share : unknown) / 2;
}

int64_t mg_machine_strip_bytes(void) {
  const int64_t bytes = strip_bytes;
  return bytes > 0 ? bytes : mg_machine_default_strip_bytes();
}

void mg_machine_set_strip_bytes(int64_t bytes) {
  strip_bytes = bytes;
}
