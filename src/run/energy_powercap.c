/* RAPL's counters, which Linux shows as files (Documentation/power/powercap). A folder
 * intel-rapl:N, also of AMD's CPUs, is a domain: name is package-N (with several dies
 * package-N-die-M) or psys, energy_uj the counter, and max_energy_range_uj its largest value.
 * Folders intel-rapl:N:M are parts of a package. intel-rapl-mmio:N has the same counter as
 * intel-rapl:N. */
#include "base/log.h"
#include "base/paths.h"
#include "run/energy_counter.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Packages of CPUs draw at most about 500 W. The node's counter includes all of them. */
static const double package_watts = 1000.0, node_watts = 4000.0;

/* RAPL's counters are updated every millisecond. */
static const double shortest_window = 0.01;

static const char *root_folder(void) {
  const char *root = getenv("HPGMG_POWERCAP");
  return root && root[0] ? root : "/sys/class/powercap";
}

/* The first line of a file, without its end. */
static bool read_line(const char *path, char *line, int size, char why[MG_ENERGY_WHY]) {
  const char *const unreadable = mg_path_why_unreadable(path);
  errno = 0;
  FILE *file = unreadable ? NULL : fopen(path, "r");
  const bool read = file && fgets(line, size, file);
  const int error = errno;
  if (file) fclose(file);
  if (read) {
    line[strcspn(line, "\n")] = '\0';
    return true;
  }
  snprintf(why, MG_ENERGY_WHY, "%s cannot be read: %s", path,
           unreadable ? unreadable
           : error    ? strerror(error)
                      : "empty");
  if (error == EACCES)
    mg_append(why, MG_ENERGY_WHY, "; as root, run chmod a+r %.200s/intel-rapl:*/energy_uj",
              root_folder());
  return false;
}

bool mg_powercap_read(const char *path, uint64_t *value, char why[MG_ENERGY_WHY]) {
  char line[64], *end;
  if (!read_line(path, line, (int)sizeof line, why)) return false;
  errno = 0;
  *value = strtoull(line, &end, 10);
  if (errno == 0 && line[0] >= '0' && line[0] <= '9' && *end == '\0') return true;
  snprintf(why, MG_ENERGY_WHY, "%s contains '%s', not a number", path, line);
  return false;
}

/* "intel-rapl:N" */
static bool is_domain(const char *folder) {
  static const char prefix[] = "intel-rapl:";
  const size_t length = sizeof prefix - 1;
  return strncmp(folder, prefix, length) == 0 && folder[length] != '\0' &&
         folder[length + strspn(folder + length, "0123456789")] == '\0';
}

static void add_domain(const char *folder, mg_energy_part_t part, mg_counters_t *counters) {
  char path[300], why[MG_ENERGY_WHY];
  mg_counter_t counter = {.part = part,
                          .joules = 1e-6,
                          .max_watts = part == MG_ENERGY_CPU ? package_watts : node_watts,
                          .min_seconds = shortest_window};
  snprintf(counter.name, sizeof counter.name, "%.200s/%.30s/energy_uj", root_folder(), folder);
  snprintf(path, sizeof path, "%.200s/%.30s/max_energy_range_uj", root_folder(), folder);
  if (!mg_powercap_read(path, &counter.range, why))
    mg_counters_fail(counters, part, MG_ENERGY_FAILED, "%s", why);
  else if (counters->n == MG_MAX_COUNTERS)
    mg_counters_fail(counters, part, MG_ENERGY_FAILED, "%s has more than %d counters",
                     root_folder(), MG_MAX_COUNTERS);
  if (counters->state[part] >= MG_ENERGY_ABSENT) return;
  counters->counter[counters->n++] = counter;
  counters->state[part] = MG_ENERGY_OK;
}

void mg_powercap_find(mg_counters_t *counters) {
  char path[300], name[64], why[MG_ENERGY_WHY];
  DIR *root = opendir(root_folder());
  for (const struct dirent *entry; root && (entry = readdir(root));) {
    if (!is_domain(entry->d_name)) continue;
    snprintf(path, sizeof path, "%.200s/%.30s/name", root_folder(), entry->d_name);
    if (!read_line(path, name, (int)sizeof name, why)) continue;
    if (strncmp(name, "package-", 8) == 0) add_domain(entry->d_name, MG_ENERGY_CPU, counters);
    if (strcmp(name, "psys") == 0) add_domain(entry->d_name, MG_ENERGY_NODE, counters);
  }
  if (root) closedir(root);
  if (counters->state[MG_ENERGY_CPU] == MG_ENERGY_NONE)
    mg_counters_fail(counters, MG_ENERGY_CPU, MG_ENERGY_ABSENT,
                     "%s has no RAPL counter of a package (no driver, or a container hides it)",
                     root_folder());
  if (counters->state[MG_ENERGY_NODE] == MG_ENERGY_NONE)
    mg_counters_fail(counters, MG_ENERGY_NODE, MG_ENERGY_ABSENT, "%s has no RAPL counter psys",
                     root_folder());
}
