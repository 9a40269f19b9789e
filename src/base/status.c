#include "base/status.h"

static const struct {
  const char *name;
  int exit_code;
} table[] = {
    [MG_OK] = {"ok", 0},
    [MG_ERR_INTERRUPTED] = {"interrupted", 1},
    [MG_ERR_DIVERGED] = {"diverged", 1},
    [MG_ERR_USAGE] = {"usage error", 2},
    [MG_ERR_IO] = {"input/output error", 3},
    [MG_ERR_UNAVAILABLE] = {"not available", 4},
    [MG_ERR_MEMORY] = {"not enough memory", 4},
    [MG_ERR_DEVICE] = {"device error", 4},
    [MG_ERR_COMM] = {"communication error", 5},
    [MG_ERR_INTERNAL] = {"internal error", 5},
};

int mg_status_exit_code(mg_status_t status) {
  return table[status].exit_code;
}

const char *mg_status_name(mg_status_t status) {
  return table[status].name;
}
