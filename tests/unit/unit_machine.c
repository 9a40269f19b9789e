/* Free memory, CPU quota, cache per CPU and model of the CPU of simulated machines: files of /proc
 * and /sys below a folder. */
#include "base/machine.h"
#include "base/machine_cache.h"
#include "base/machine_checks.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <sys/stat.h>

static char root[] = "/tmp/unit_machine.XXXXXX";

enum { MOST_FILES = 8 };
typedef struct {
  const char *name, *text;
} file_t;

/* Create every folder of the path, then the file. */
static void put(const file_t *file) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", root, file->name);
  for (char *c = path + strlen(root) + 1; *c; c++)
    if (*c == '/') {
      *c = '\0';
      (void)mkdir(path, 0777); /* may exist */
      *c = '/';
    }
  FILE *out = fopen(path, "w");
  CHECK(out != NULL);
  if (!out) return;
  fputs(file->text, out);
  fclose(out);
}

static void clear(void) {
  CHECK_INT(system(textf("rm -rf '%s'/proc '%s'/sys", root, root)), 0);
}

#define MEMINFO                                                                                    \
  { "proc/meminfo", "MemTotal:       9000000 kB\nMemFree: 1 kB\nMemAvailable:    1000 kB\n" }

static const struct {
  const char *what;
  file_t files[MOST_FILES];
  int64_t free;
} machines[] = {
    {"nothing is known", {{NULL, NULL}}, INT64_MAX},
    {"no groups: what the kernel says", {MEMINFO}, 1024000},
    {"a kernel without MemAvailable", {{"proc/meminfo", "MemFree: 5 kB\n"}}, INT64_MAX},
    {"v2, no limit",
     {MEMINFO,
      {"proc/self/cgroup", "0::/\n"},
      {"sys/fs/cgroup/memory.max", "max\n"},
      {"sys/fs/cgroup/memory.current", "1000\n"}},
     1024000},
    {"v2, the container's own limit",
     {MEMINFO,
      {"proc/self/cgroup", "0::/\n"},
      {"sys/fs/cgroup/memory.max", "9000\n"},
      {"sys/fs/cgroup/memory.current", "1000\n"}},
     8000},
    {"v2, a cache that can be dropped counts as free",
     {MEMINFO,
      {"proc/self/cgroup", "0::/\n"},
      {"sys/fs/cgroup/memory.max", "9000\n"},
      {"sys/fs/cgroup/memory.stat", "anon 600\ninactive_file 300\nactive_file 100\n"},
      {"sys/fs/cgroup/memory.current", "1000\n"}},
     8300},
    {"v2, more used than allowed",
     {{"sys/fs/cgroup/memory.max", "9000\n"}, {"sys/fs/cgroup/memory.current", "9001\n"}},
     0},
    {"v2, a job's group has no limit, the one around it has",
     {MEMINFO,
      {"proc/self/cgroup", "0::/slurm/job_7/step\n"},
      {"sys/fs/cgroup/slurm/job_7/step/memory.max", "max\n"},
      {"sys/fs/cgroup/slurm/job_7/step/memory.current", "10\n"},
      {"sys/fs/cgroup/slurm/job_7/memory.max", "500\n"},
      {"sys/fs/cgroup/slurm/job_7/memory.current", "20\n"}},
     480},
    {"v1, beside other controllers",
     {MEMINFO,
      {"proc/self/cgroup", "5:cpu,cpuacct:/wrong\n4:memory,hugetlb:/docker/abc\n0::/wrong\n"},
      {"sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "7000\n"},
      {"sys/fs/cgroup/memory/docker/abc/memory.stat", "inactive_file 9\ntotal_inactive_file 40\n"},
      {"sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes", "100\n"},
      {"sys/fs/cgroup/memory/wrong/memory.limit_in_bytes", "1\n"},
      {"sys/fs/cgroup/memory/wrong/memory.usage_in_bytes", "1\n"}},
     6940},
    {"v1 in a container: the path is the host's, the mount is the container's",
     {MEMINFO,
      {"proc/self/cgroup", "4:memory:/docker/abc\n"},
      {"sys/fs/cgroup/memory/memory.limit_in_bytes", "7000\n"},
      {"sys/fs/cgroup/memory/memory.usage_in_bytes", "100\n"}},
     6900},
    {"v1 says \"no limit\" with a number near 2^63",
     {MEMINFO,
      {"proc/self/cgroup", "4:memory:/\n"},
      {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"sys/fs/cgroup/memory/memory.usage_in_bytes", "100\n"}},
     1024000},
};

static const struct {
  const char *what;
  file_t files[MOST_FILES];
  double cpus;
} quotas[] = {
    {"nothing is known", {{NULL, NULL}}, 0.0},
    {"v2, no quota",
     {{"proc/self/cgroup", "0::/\n"}, {"sys/fs/cgroup/cpu.max", "max 100000\n"}},
     0.0},
    {"v2, half a CPU of a container", {{"sys/fs/cgroup/cpu.max", "50000 100000\n"}}, 0.5},
    {"v2, a job's step has no quota, the groups around it have",
     {{"proc/self/cgroup", "0::/slurm/job_7/step\n"},
      {"sys/fs/cgroup/slurm/job_7/step/cpu.max", "max 100000\n"},
      {"sys/fs/cgroup/slurm/job_7/cpu.max", "400000 100000\n"},
      {"sys/fs/cgroup/slurm/cpu.max", "1600000 200000\n"}},
     4.0},
    {"v1, beside other controllers",
     {{"proc/self/cgroup", "4:memory:/wrong\n3:cpu,cpuacct:/docker/abc\n"},
      {"sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "250000\n"},
      {"sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000\n"}},
     2.5},
    {"v1, no quota",
     {{"proc/self/cgroup", "3:cpu:/\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
      {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
     0.0},
    {"no numbers", {{"sys/fs/cgroup/cpu.max", "\n"}}, 0.0},
    {"no period", {{"sys/fs/cgroup/cpu.max", "100000\n"}}, 0.0},
};

#define CACHE(index, size, cpus)                                                                   \
  {"sys/devices/system/cpu/cpu0/cache/index" #index "/size", size}, {                              \
    "sys/devices/system/cpu/cpu0/cache/index" #index "/shared_cpu_list", cpus                      \
  }
#define LEVEL(index, level)                                                                        \
  { "sys/devices/system/cpu/cpu0/cache/index" #index "/level", level }

static const struct {
  const char *what;
  file_t files[MOST_FILES];
  int64_t share, second_level; /* 0: unknown */
} caches[] = {
    {"no caches are listed", {{NULL, NULL}}, 0, 0},
    {"three levels",
     {CACHE(0, "32K\n", "0\n"), CACHE(1, "32K\n", "0\n"), CACHE(2, "1024K\n", "0\n"),
      CACHE(3, "32768K\n", "0-7\n")},
     4096 * 1024,
     0},
    {"SMT: two ranges of CPUs",
     {CACHE(0, "32K\n", "0,64\n"), CACHE(1, "32768K\n", "0-3,64-67\n")},
     4096 * 1024,
     0},
    {"no end of line", {CACHE(0, "48K", "0-1,4,6-7")}, 48 * 1024 / 5, 0},
    {"a list ends before a word that is no CPU", {CACHE(0, "48K\n", "0-1,x\n")}, 24 * 1024, 0},
    {"a virtual machine names no sharers of the last level",
     {CACHE(0, "1024K\n", "0-1\n"), {"sys/devices/system/cpu/cpu0/cache/index1/size", "8192K\n"}},
     512 * 1024,
     0},
    {"an empty list, a reversed range",
     {CACHE(0, "1024K\n", "0\n"), CACHE(1, "8192K\n", "\n"), CACHE(2, "8192K\n", "7-0\n")},
     1024 * 1024,
     0},
    {"sizes that are no KiB",
     {CACHE(0, "64K\n", "0\n"), CACHE(1, "8M\n", "0\n"), CACHE(2, "0K\n", "0\n"),
      CACHE(3, "unknown\n", "0\n")},
     64 * 1024,
     0},
    {"an empty file ends the list", {CACHE(0, "", "0\n"), CACHE(1, "64K\n", "0\n")}, 0, 0},
    {"a virtual machine lists the host's last level",
     {LEVEL(0, "2"), CACHE(0, "2048K\n", "0\n"), LEVEL(1, "3"), CACHE(1, "491520K\n", "0-1\n")},
     32 << 20,
     2 << 20},
    {"two threads per core; the second level is the last one",
     {LEVEL(0, "1"), CACHE(0, "32K\n", "0,4\n"), LEVEL(1, "2\n"), CACHE(1, "512K\n", "0,4\n")},
     256 << 10,
     256 << 10},
};

static const struct {
  const char *what, *cpuinfo, *model;
} cpus[] = {
    {"x86",
     "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9754 128-Core Processor  "
     "\n\nprocessor\t: 1\n",
     "AMD EPYC 9754 128-Core Processor"},
    {"blanks, controls and other bytes", "model name : \t A\t  B\033[2J \303\251\r\n",
     "A B?[2J ??"},
    {"POWER", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"},
    {"a name longer than the buffer",
     "model name : 0123456789012345678901234567890123456789012345678901234567890123456789\n",
     "012345678901234567890123456789012345678901234567890123456789012"},
};

static void test_cpus(void) {
  char model[64];
  for (size_t c = 0; c < sizeof cpus / sizeof cpus[0]; c++) {
    clear();
    put(&(file_t){"proc/cpuinfo", cpus[c].cpuinfo});
    mg_machine_cpu_in(root, model, sizeof model);
    if (strcmp(model, cpus[c].model) != 0) fprintf(stderr, "%s:\n", cpus[c].what);
    CHECK_STRING(model, cpus[c].model);
  }
  /* ARM; then no file: the kind of the machine. */
  clear();
  put(&(file_t){"proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"});
  mg_machine_cpu_in(root, model, sizeof model);
  CHECK_CONTAINS(model, ", implementer 0x41, part 0xd4f");
  clear();
  mg_machine_cpu_in(root, model, sizeof model);
  CHECK(model[0] != '\0' && strchr(model, ',') == NULL);
}

/* Leave these files only. */
static void put_files(const file_t files[MOST_FILES]) {
  clear();
  for (int f = 0; f < MOST_FILES && files[f].name; f++)
    put(&files[f]);
}

static void test_caches(void) {
  for (size_t c = 0; c < sizeof caches / sizeof caches[0]; c++) {
    put_files(caches[c].files);
    const int64_t got = mg_machine_cache_per_cpu_in(root);
    if (got != caches[c].share) fprintf(stderr, "%s:\n", caches[c].what);
    CHECK_INT(got, caches[c].share);
    CHECK_INT(mg_machine_second_level_per_cpu_in(root), caches[c].second_level);
  }
  CHECK(mg_machine_cache_per_cpu() >= 0);
}

static void test_quotas(void) {
  for (size_t q = 0; q < sizeof quotas / sizeof quotas[0]; q++) {
    put_files(quotas[q].files);
    const double got = mg_machine_cpu_quota_in(root, NULL);
    if (got != quotas[q].cpus) fprintf(stderr, "%s:\n", quotas[q].what);
    CHECK_NEAR(got, quotas[q].cpus, 1e-12);
  }
}

int main(void) {
  if (!mkdtemp(root)) return TEST_SKIP;
  test_caches();
  test_quotas();
  test_cpus();
  for (size_t m = 0; m < sizeof machines / sizeof machines[0]; m++) {
    put_files(machines[m].files);
    const int64_t got = mg_host_memory_available_in(root);
    if (got != machines[m].free) fprintf(stderr, "%s:\n", machines[m].what);
    CHECK_INT(got, machines[m].free);
  }
  clear();
  remove(root);
  /* The real machine: it has some memory, and less than an exabyte. */
  CHECK(mg_host_memory_available() > 0 && mg_host_memory_available() < INT64_MAX);
  CHECK(mg_host_memory_process_limit() > 0);
  return TEST_RESULT();
}
