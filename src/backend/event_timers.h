/* Times and names of enqueued operations. */
#ifndef MG_BACKEND_EVENT_TIMERS_H
#define MG_BACKEND_EVENT_TIMERS_H

#include "backend/backend.h"

/** Profiles. The timers are for a backend with a queue. */
typedef struct mg_backend_profile {
  /** Event timers on the device clock. timer_record records the time at which all operations
   *  enqueued so far have completed, without waiting. timers_elapsed requires that both timers
   *  have been waited for. */
  mg_status_t (*timers_create)(int n);
  void (*timers_free)(void);
  mg_status_t (*timer_record)(int number);
  mg_status_t (*timers_elapsed)(int first, int last, double *seconds);
  /** Name the operations in between for a profiler; ranges nest. They are ignored while a graph is
   *  captured, where no operation runs. NULL: there are no ranges. */
  void (*range_begin)(const char *name);
  void (*range_end)(void);
} mg_backend_profile_t;

#endif
