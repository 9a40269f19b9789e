/* Memory of the guard backend: level memory has two addresses, at a fixed distance. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "tests/guard/guard.h"
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two address ranges without memory, and the offset of the next allocation in them. */
static const size_t RANGE_BYTES = (size_t)1 << 36;
static char *closed, *twin;
static size_t used;
static int n_live;

static size_t whole_pages(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/* Map addresses that cannot be accessed, at `at`, or anywhere if it is NULL. */
static void *reserve(void *at, size_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0);
  void *memory = mmap(at, bytes, PROT_NONE, flags, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

mg_status_t guard_alloc(size_t bytes, mg_space_t space, void **memory) {
  if (space == MG_SPACE_SHARED) return mg_backend_cpu.alloc(bytes, space, memory);
  *memory = NULL;
  if (!closed) closed = reserve(NULL, RANGE_BYTES);
  if (!twin) twin = reserve(NULL, RANGE_BYTES);
  /* Leave an inaccessible page between two allocations. */
  const size_t size = whole_pages(bytes), page = whole_pages(1);
  if (!closed || !twin || RANGE_BYTES - used < size + page ||
      mprotect(twin + used, size, PROT_READ | PROT_WRITE) != 0)
    return mg_out_of_memory(bytes, "guarded level data");
  *memory = closed + used; /* zeroed by the kernel */
  used += size + page;
  n_live++;
  return MG_OK;
}

void guard_release(void *memory, size_t bytes, mg_space_t space) {
  if (space == MG_SPACE_SHARED) {
    mg_backend_cpu.release(memory, bytes, space);
    return;
  }
  if (!memory) return;
  /* Replace the old pages by fresh ones. */
  (void)reserve(twin + ((char *)memory - closed), whole_pages(bytes));
  if (--n_live == 0) used = 0;
}

mg_status_t guard_clear(void *memory, size_t bytes) {
  return mg_backend_cpu.clear(guard_open(memory), bytes);
}

void *guard_open(void *address) {
  /* Compare as integers: most vectors of a patch do not lie in the range. */
  const uintptr_t at = (uintptr_t)address;
  return closed && at - (uintptr_t)closed < RANGE_BYTES ? twin + (at - (uintptr_t)closed) : address;
}
