/* Host memory: allocation that reports failures. Release with free(). */
#ifndef MG_ALLOC_H
#define MG_ALLOC_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

/** Allocate n zeroed elements of type T.
 *
 *  On failure logs "out of memory: cannot allocate 1.024 kB for message buffers".
 *  @param[out] out   address of a T *; NULL on error
 *  @param[in]  n     0 allocates one element
 *  @param[in]  what  the purpose, for this message
 *  @return MG_OK, MG_ERR_MEMORY */
#define mg_new(out, n, what)                                                                       \
  mg_alloc_at((out), (n), (int64_t)sizeof **(out), (what), __FILE__, __LINE__)

/** Grow an array of type T to n elements, as realloc does.
 *
 *  @param[in,out] out  address of a T *; unchanged on error
 *  @param[in]     n    > 0
 *  @return as mg_new */
#define mg_grow(out, n, what)                                                                      \
  mg_grow_at((out), (n), (int64_t)sizeof **(out), (what), __FILE__, __LINE__)

/** Log that an allocation of `bytes` failed.
 *  @return MG_ERR_MEMORY */
#define mg_out_of_memory(bytes, what)                                                              \
  mg_out_of_memory_at((double)(bytes), (what), __FILE__, __LINE__)

/** An application's memory for the cells of levels: on the host, or on the current device. */
typedef struct {
  void *(*allocate)(void *data, size_t bytes, int on_device); /**< NULL: there is none */
  void (*release)(void *data, void *memory, size_t bytes, int on_device);
  void *data;
} mg_allocator_t;

/** Make an allocator that of the calling thread; NULL: backends allocate. Memory goes back to the
 *  allocator that it is from.
 *  @return that before */
const mg_allocator_t *mg_allocator_enter(const mg_allocator_t *allocator);
/** Allocator of the calling thread, or NULL. */
const mg_allocator_t *mg_allocator(void);

/** The functions behind these macros. `out` is the address of a pointer to any type. */
MG_MUST_CHECK mg_status_t mg_alloc_at(void *out, int64_t n, int64_t size, const char *what,
                                      const char *file, int line);
MG_MUST_CHECK mg_status_t mg_grow_at(void *out, int64_t n, int64_t size, const char *what,
                                     const char *file, int line);
mg_status_t mg_out_of_memory_at(double bytes, const char *what, const char *file, int line);

#endif
