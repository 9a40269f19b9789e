/* Makes one of the program's own allocations fail. tests/mocks/hpgmg-fv-failing-malloc is linked
 * with a library whose allocations use these names. Environment:
 *
 *   FAIL_AT     number of the call that fails, from 1; if unset, none fails
 *   FAIL_RANK   rank on which it fails (0)
 *   FAIL_COUNT  file that receives the number of calls when that rank ends */
#undef malloc
#undef calloc
#undef realloc
#undef posix_memalign
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *failing_malloc(size_t size);
void *failing_calloc(size_t n, size_t size);
void *failing_realloc(void *memory, size_t size);
int failing_posix_memalign(void **memory, size_t alignment, size_t size);

static atomic_long calls;
static long fails_at = -1; /* not read yet */

static long number_of(const char *name) {
  const char *text = getenv(name);
  return text ? strtol(text, NULL, 10) : 0;
}

static void write_count(void) {
  FILE *file = fopen(getenv("FAIL_COUNT"), "w");
  if (!file) return;
  fprintf(file, "%ld\n", atomic_load(&calls));
  fclose(file);
}

/* The first call happens before threads exist. */
static bool fails(void) {
  if (fails_at < 0) {
    const char *rank = getenv("PMI_RANK") ? "PMI_RANK" : "OMPI_COMM_WORLD_RANK";
    const bool here = number_of(rank) == number_of("FAIL_RANK");
    fails_at = here ? number_of("FAIL_AT") : 0;
    if (here && getenv("FAIL_COUNT")) (void)atexit(write_count);
  }
  return atomic_fetch_add(&calls, 1) + 1 == fails_at;
}

void *failing_malloc(size_t size) {
  return fails() ? NULL : malloc(size);
}

void *failing_calloc(size_t n, size_t size) {
  return fails() ? NULL : calloc(n, size);
}

void *failing_realloc(void *memory, size_t size) {
  return fails() ? NULL : realloc(memory, size);
}

int failing_posix_memalign(void **memory, size_t alignment, size_t size) {
  return fails() ? ENOMEM : posix_memalign(memory, alignment, size);
}
