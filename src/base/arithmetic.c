#include "base/arithmetic.h"
#include "base/log.h"
#include "base/machine_checks.h"
#include <fenv.h>
#include <string.h>

mg_status_t mg_machine_check_arithmetic(void) {
  static const volatile double one = 1.0, nan = NAN;
  fenv_t caller; /* whose exceptions may trap */
  (void)feholdexcept(&caller);
  const char *const fault = mg_arithmetic_fault(one, nan);
  (void)fesetenv(&caller);
  if (!fault) return MG_OK;
  if (strncmp(fault, "flush", 5) != 0)
    return mg_error(MG_ERR_UNAVAILABLE,
                    "this build's compiler flags %s, which changes results; build without them",
                    fault);
  mg_warning(
      "this process flushes small values to zero, so results may differ from those of others; "
      "a part of it was built with -ffast-math");
  return MG_OK;
}
