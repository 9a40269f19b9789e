#include "api/array_memory.h"
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

/* Values of CUpointer_attribute and CUmemorytype, from the CUDA driver API's reference. */
enum { ATTRIBUTE_MEMORY_TYPE = 2, ATTRIBUTE_IS_MANAGED = 8, ATTRIBUTE_DEVICE = 9, TYPE_DEVICE = 2 };

typedef int (*get_attribute_t)(void *data, int attribute, uint64_t address);

mg_array_memory_t mg_array_memory(const void *address, int *device) {
  mg_array_memory_t place = MG_ARRAY_ON_HOST;
  void *const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!driver) return place; /* no memory of a GPU exists in this process */
  void *const symbol = dlsym(driver, "cuPointerGetAttribute");
  unsigned type = 0, managed = 0;
  if (symbol) {
    const get_attribute_t get = *(const get_attribute_t *)(const void *)&symbol;
    const uint64_t at = (uint64_t)(uintptr_t)address;
    /* The driver knows no other memory than its own: an error means the host's. */
    if (get(&type, ATTRIBUTE_MEMORY_TYPE, at) == 0 && type == TYPE_DEVICE &&
        get(device, ATTRIBUTE_DEVICE, at) == 0) {
      (void)get(&managed, ATTRIBUTE_IS_MANAGED, at);
      place = (managed & 0xff) ? MG_ARRAY_MANAGED : MG_ARRAY_ON_DEVICE;
    }
  }
  (void)dlclose(driver);
  return place;
}
