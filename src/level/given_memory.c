/* Memory of an application for the cells of levels (base/alloc.h). */
#include "base/alloc.h"
#include "base/log.h"
#include "level/level.h"

/* Memory of the application is used as it is, so its alignment must be that of the owner's. */
mg_status_t mg_given_take(mg_store_t *store) {
  const mg_allocator_t *const from = mg_allocator();
  const int on_device = store->owner->queue.wait != NULL;
  const size_t multiple = on_device ? 256 : 128;
  store->memory = from->allocate(from->data, store->bytes, on_device);
  if (!store->memory)
    return mg_out_of_memory(store->bytes, "cells of a level, by options.allocate");
  store->allocator = from;
  if ((uintptr_t)store->memory % multiple != 0)
    return mg_error(MG_ERR_USAGE, "options.allocate returned %p; it must be a multiple of %zu",
                    store->memory, multiple);
  return store->owner->clear(store->memory, store->bytes);
}

/* Operations may still use it. */
void mg_given_release(const mg_store_t *store) {
  const mg_backend_t *owner = store->owner;
  const mg_allocator_t *const from = store->allocator;
  if (owner->queue.wait) (void)owner->queue.wait();
  from->release(from->data, store->memory, store->bytes, owner->queue.wait != NULL);
}
