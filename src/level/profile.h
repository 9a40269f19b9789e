/* Time of every operation of a level, measured on the processor that runs it.
 *
 * A backend with blocking entries is timed on the host. For an asynchronous backend, event timers
 * are recorded around each entry while profiling, and read at the end. */
#ifndef MG_PROFILE_H
#define MG_PROFILE_H

#include "backend/event_timers.h"
#include "level/level.h"
#include "wings.h"

/** An operation being timed. */
typedef struct {
  mg_time_t time;
  double start; /**< host time */
  int timer;    /**< number of the first of two event timers; < 0 if none */
} mg_span_t;

/** Begin and end the timing of an operation of a level. External profilers see it under the timer's
 *  name and the level's number. An operation inside another one of the level (a bottom solve) is
 *  counted but not timed, so that the times of a level add up to its total.
 *  @return MG_OK, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_span_begin(mg_level_t *level, mg_time_t time, mg_span_t *span);
MG_MUST_CHECK mg_status_t mg_span_end(mg_level_t *level, const mg_span_t *span);

/** MG_TRY a backend call and add only its time to the level's timers. Messages are counted where
 *  they are sent. */
#define MG_TIMED(level, time, call)                                                                \
  do {                                                                                             \
    MG_IF_PROFILE(mg_span_t span_; MG_TRY(mg_span_begin((level), (time), &span_));)                \
    (void)(level);                                                                                 \
    MG_TRY(call);                                                                                  \
    MG_IF_PROFILE(MG_TRY(mg_span_end((level), &span_));)                                           \
  } while (0)

/** Accounts of the double and the float cells of grid l together, on this rank. */
mg_timers_t mg_hierarchy_timers(const mg_hierarchy_t *h, int l);

/** True if any level needs a profile to be timed. The same on every rank. */
bool mg_profile_needed(const mg_hierarchy_t *h);

/** Allocate the event timers in advance, so that neither the profile nor earlier solves allocate.
 *  Not collective.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_profile_prepare(mg_hierarchy_t *h);

/** Reset all timers and start recording event timers. Their cost appears in no timer, but solves
 *  take longer. Not collective. Allocates unless mg_profile_prepare was called.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_profile_begin(mg_hierarchy_t *h);

/** Wait for the device, add the recorded times, stop recording and release the event timers. */
MG_MUST_CHECK mg_status_t mg_profile_end(mg_hierarchy_t *h);

#endif
