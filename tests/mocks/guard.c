/* hpgmg-fv with --device=guard. */
#include "tests/guard/guard.h"

__attribute__((constructor)) static void provide(void) {
  guard_provide();
}
