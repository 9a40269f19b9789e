#include "api/array_memory.h"
#include <dlfcn.h>
#include <stdint.h>

/* Values of CUpointer_attribute and CUmemorytype, from the CUDA driver API's reference. */
enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_ORDINAL = 9, TYPE_DEVICE = 2 };

/* cuPointerGetAttributes: of memory that is not the driver's, all attributes are 0. */
typedef int (*get_attributes_t)(unsigned n, const int *attributes, void **data, uint64_t address);

mg_array_memory_t mg_array_memory(const void *address, int *device) {
  void *const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!driver) return MG_ARRAY_ON_HOST; /* no memory of a GPU exists in this process */
  void *const symbol = dlsym(driver, "cuPointerGetAttributes");
  unsigned type = 0, managed = 0;
  const int attributes[] = {MEMORY_TYPE, IS_MANAGED, DEVICE_ORDINAL};
  void *data[] = {&type, &managed, device};
  if (symbol) {
    const get_attributes_t get = *(const get_attributes_t *)(const void *)&symbol;
    if (get(3, attributes, data, (uint64_t)(uintptr_t)address) != 0) type = 0;
  }
  (void)dlclose(driver);
  return type != TYPE_DEVICE     ? MG_ARRAY_ON_HOST
         : (managed & 0xff) != 0 ? MG_ARRAY_MANAGED
                                 : MG_ARRAY_ON_DEVICE;
}
