/* Numbers in text. A library must read and write them with a point, whatever locale the application
 * has set. */
#ifndef MG_LOCALE_H
#define MG_LOCALE_H

#include <locale.h>

/** Set the calling thread's locale, without effect on other threads.
 *  @param[in] locale  of an earlier call
 *  @return the locale before */
locale_t mg_locale_set(locale_t locale);

/** mg_locale_set with the locale "C". */
locale_t mg_locale_set_c(void);

#endif
