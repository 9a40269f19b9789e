#include "level/profile.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

/* Maximum number of operations between two readings of the event timers, with two timers each. */
enum { MAX_SPANS = 8192, BY_CLOCK = -1, NOT_TIMED = -2 };

/* An enqueued operation. Operation s uses event timers 2 s and 2 s + 1. */
typedef struct {
  mg_timers_t *timers;
  mg_time_t time;
} timed_t;

struct mg_profile {
  const mg_backend_t *backend; /* owner of the event timers */
  int n;                       /* operations recorded */
  timed_t span[MAX_SPANS];
};

static mg_status_t read_timers(mg_profile_t *p) {
  MG_TRY(p->backend->queue.wait());
  for (int s = 0; s < p->n; s++) {
    double seconds;
    MG_TRY(p->backend->profile->timers_elapsed(2 * s, 2 * s + 1, &seconds));
    p->span[s].timers->seconds[p->span[s].time] += seconds;
  }
  p->n = 0;
  return MG_OK;
}

static mg_status_t begin_on_device(mg_profile_t *p, mg_level_t *level, mg_span_t *span) {
  /* No operation is open here: operations nest only within a level. */
  if (p->n == MAX_SPANS) MG_TRY(read_timers(p));
  p->span[p->n] = (timed_t){&level->timers, span->time};
  span->timer = 2 * p->n++;
  return p->backend->profile->timer_record(span->timer);
}

mg_status_t mg_span_begin(mg_level_t *level, mg_time_t time, mg_span_t *span) {
  const bool nested = level->timers.open++ > 0;
  *span = (mg_span_t){.time = time, .timer = nested ? NOT_TIMED : BY_CLOCK};
  level->timers.calls[time]++;
  if (level->ranges) level->ranges->range_begin(level->range_name[time]);
  if (nested) return MG_OK;
  if (level->profile && level->backend->profile)
    return begin_on_device(level->profile, level, span);
  span->start = mg_now();
  return MG_OK;
}

mg_status_t mg_span_end(mg_level_t *level, const mg_span_t *span) {
  level->timers.open--;
  if (level->ranges) level->ranges->range_end();
  if (span->timer == NOT_TIMED) return MG_OK;
  if (span->timer == BY_CLOCK) {
    level->timers.seconds[span->time] += mg_now() - span->start;
    return MG_OK;
  }
  return level->backend->profile->timer_record(span->timer + 1);
}

/* The backend with event timers; there is at most one. */
static const mg_backend_t *timing_backend(const mg_hierarchy_t *h) {
  for (; h; h = h->low)
    for (int l = 0; l < h->n_levels; l++)
      if (h->level[l].backend->profile) return h->level[l].backend;
  return NULL;
}

bool mg_profile_needed(const mg_hierarchy_t *h) {
  return timing_backend(h) != NULL;
}

static void attach(mg_hierarchy_t *h, mg_profile_t *profile) {
  for (; h; h = h->low) {
    h->profile = profile;
    for (int l = 0; l < h->n_levels; l++)
      h->level[l].profile = profile;
  }
}

mg_status_t mg_profile_prepare(mg_hierarchy_t *h) {
  const mg_backend_t *backend = timing_backend(h);
  if (!backend || h->prepared_profile) return MG_OK;
  mg_profile_t *p;
  MG_TRY(mg_new(&p, 1, "profiles"));
  p->backend = backend;
  const mg_status_t status = backend->profile->timers_create(2 * MAX_SPANS);
  if (status != MG_OK) {
    free(p);
    return status;
  }
  h->prepared_profile = p;
  return MG_OK;
}

void mg_profile_release(mg_hierarchy_t *h) {
  mg_profile_t *p = h->prepared_profile;
  if (!p) return;
  h->prepared_profile = NULL;
  p->backend->profile->timers_free();
  free(p);
}

mg_status_t mg_profile_begin(mg_hierarchy_t *h) {
  for (mg_hierarchy_t *of = h; of; of = of->low)
    for (int l = 0; l < of->n_levels; l++)
      memset(&of->level[l].timers, 0, sizeof of->level[l].timers);
  MG_TRY(mg_profile_prepare(h));
  attach(h, h->prepared_profile);
  return MG_OK;
}

mg_status_t mg_profile_end(mg_hierarchy_t *h) {
  mg_profile_t *p = h->profile;
  if (!p) return MG_OK;
  const mg_status_t status = read_timers(p);
  attach(h, NULL);
  mg_profile_release(h);
  return status;
}

void mg_profile_name_ranges(mg_hierarchy_t *h) {
  const mg_backend_profile_t *ranges = NULL;
  for (int l = 0; l < h->n_levels && !ranges; l++) {
    const mg_backend_profile_t *profile = h->level[l].backend->profile;
    if (profile && profile->range_begin) ranges = profile;
  }
  for (int l = 0; l < h->n_levels; l++) {
    h->level[l].ranges = ranges;
    for (int t = 0; t < MG_N_TIMES; t++)
      mg_range_name((mg_time_t)t, l, h->level[l].range_name[t]);
  }
}

mg_timers_t mg_hierarchy_timers(const mg_hierarchy_t *h, int l) {
  if (!h->low) return h->level[l].timers;
  if (l >= h->n_levels) return h->low->level[l].timers;
  return mg_timers_sum(&h->level[l].timers, &h->low->level[l].timers);
}
