#include "base/locale.h"
#include <pthread.h>

static locale_t c_locale;

static void create(void) {
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t mg_locale_set(locale_t locale) {
  return uselocale(locale);
}

/* Without memory for the locale, uselocale(0) leaves the thread as it is. */
locale_t mg_locale_set_c(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  return pthread_once(&once, create) == 0 ? uselocale(c_locale) : uselocale((locale_t)0);
}
