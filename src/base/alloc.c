#include "base/alloc.h"
#include "base/log.h"
#include <stdlib.h>
#include <string.h>

static _Thread_local const mg_allocator_t *current;

const mg_allocator_t *mg_allocator_enter(const mg_allocator_t *allocator) {
  const mg_allocator_t *const before = current;
  current = allocator;
  return before;
}

const mg_allocator_t *mg_allocator(void) {
  return current;
}

mg_status_t mg_out_of_memory_at(double bytes, const char *what, const char *file, int line) {
  return mg_error_at(file, line, MG_ERR_MEMORY, "out of memory: cannot allocate %s for %s",
                     mg_bytes(bytes).text, what);
}

/* memcpy, because *out has any pointer type. */
static mg_status_t store(void *out, const void *memory, int64_t n, int64_t size, const char *what,
                         const char *file, int line) {
  if (!memory) return mg_out_of_memory_at((double)n * (double)size, what, file, line);
  memcpy(out, &memory, sizeof memory);
  return MG_OK;
}

mg_status_t mg_alloc_at(void *out, int64_t n, int64_t size, const char *what, const char *file,
                        int line) {
  memset(out, 0, sizeof(void *));
  const int64_t count = n == 0 ? 1 : n;
  void *memory = count <= PTRDIFF_MAX / size ? calloc((size_t)count, (size_t)size) : NULL;
  return store(out, memory, count, size, what, file, line);
}

mg_status_t mg_grow_at(void *out, int64_t n, int64_t size, const char *what, const char *file,
                       int line) {
  void *memory;
  memcpy(&memory, out, sizeof memory);
  memory = n <= PTRDIFF_MAX / size ? realloc(memory, (size_t)n * (size_t)size) : NULL;
  return store(out, memory, n, size, what, file, line);
}
