/* Where an application's array is. */
#ifndef MG_ARRAY_MEMORY_H
#define MG_ARRAY_MEMORY_H

/** Memory of an address: of the host, of a GPU, or managed, which both access. */
typedef enum { MG_ARRAY_ON_HOST, MG_ARRAY_ON_DEVICE, MG_ARRAY_MANAGED } mg_array_memory_t;

/** Ask the CUDA driver, if this process has loaded it; no build needs CUDA for it.
 *  @param[out] device  number of the GPU, if the memory is not the host's */
mg_array_memory_t mg_array_memory(const void *address, int *device);

#endif
