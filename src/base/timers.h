/* The clock, and the messages of a level. */
#ifndef MG_TIMERS_H
#define MG_TIMERS_H

#include <stdint.h>

/** Messages and bytes that this rank sent on a level, and reductions over ranks that it joined.
 *
 *  All data for one rank in one exchange counts as one message, even if it is split. */
typedef struct {
  int64_t messages, bytes;
  int64_t reductions;
} mg_traffic_t;

/** Seconds on a monotonic clock. */
double mg_now(void);

#endif
