/* The time of every operation of a level, on the clock of the processor that does it.
 *
 * A backend whose entries return when they are done is timed on the host. One that only enqueues
 * puts stamps between its entries, while a profile is being taken; they are read in the end. */
#ifndef MG_PROFILE_H
#define MG_PROFILE_H

#include "level/level.h"

/** An operation under way. */
typedef struct {
  mg_time_t time;
  bool nested;  /**< part of another operation of the level */
  double start; /**< on the host */
  int stamp;    /**< number of the first of two, below 0 without */
} mg_span_t;

/** Begin and end an operation on a level's account; a profiler sees it under the timer's name.
 *  @return MG_OK, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_span_begin(mg_level_t *level, mg_time_t time, mg_span_t *span);
MG_MUST_CHECK mg_status_t mg_span_end(mg_level_t *level, const mg_span_t *span);

/** MG_TRY a backend's call and put it, and only it, on a level's account: messages are counted
 *  where they are sent. */
#define MG_TIMED(level, time, call)                                                                \
  do {                                                                                             \
    mg_span_t span_;                                                                               \
    MG_TRY(mg_span_begin((level), (time), &span_));                                                \
    MG_TRY(call);                                                                                  \
    MG_TRY(mg_span_end((level), &span_));                                                          \
  } while (0)

/** Does the hierarchy have levels whose accounts need a profile? The same on every rank. */
bool mg_profile_needed(const mg_hierarchy_t *h);

/** Allocate what a profile takes, so that neither it nor the solves before it do. Not collective.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_profile_prepare(mg_hierarchy_t *h);

/** Forget all accounts; from here on stamps are taken. What they cost is in no account, but the
 *  solves take longer. Not collective. Allocates unless mg_profile_prepare has.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_profile_begin(mg_hierarchy_t *h);

/** Wait, complete the accounts, and take no stamps any more; releases. */
MG_MUST_CHECK mg_status_t mg_profile_end(mg_hierarchy_t *h);

/** Release what has been prepared and not been used, if anything; mg_hierarchy_free calls it. */
void mg_profile_release(mg_hierarchy_t *h);

#endif
