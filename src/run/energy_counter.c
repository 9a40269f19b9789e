#include "run/energy_counter.h"
#include "base/timers.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void mg_counters_fail(mg_counters_t *counters, mg_energy_part_t part, mg_energy_state_t state,
                      const char *format, ...) {
  if (counters->state[part] >= MG_ENERGY_ABSENT) return;
  va_list args;
  va_start(args, format);
  vsnprintf(counters->why[part], sizeof counters->why[part], format, args);
  va_end(args);
  counters->state[part] = state;
}

static bool read_counter(const mg_counter_t *counter, uint64_t *value, char why[MG_ENERGY_WHY]) {
  return counter->device ? mg_nvml_read(counter, value, why)
                         : mg_powercap_read(counter->name, value, why);
}

void mg_counters_read(mg_counters_t *counters, mg_reading_t reading[MG_MAX_COUNTERS]) {
  char why[MG_ENERGY_WHY];
  for (int c = 0; c < counters->n; c++) {
    const mg_counter_t *counter = &counters->counter[c];
    if (counters->state[counter->part] != MG_ENERGY_OK) continue;
    reading[c].seconds = mg_now();
    if (!read_counter(counter, &reading[c].value, why))
      mg_counters_fail(counters, counter->part, MG_ENERGY_FAILED, "%s", why);
  }
}

bool mg_counter_joules(const mg_counter_t *counter, const mg_reading_t *from,
                       const mg_reading_t *to, double *joules, char why[MG_ENERGY_WHY]) {
  const double seconds = to->seconds - from->seconds;
  const double max_seconds = (double)counter->range * counter->joules / counter->max_watts;
  if (to->value < from->value)
    snprintf(why, MG_ENERGY_WHY,
             "%s wrapped or was reset, from %" PRIu64 " to %" PRIu64 "; run again", counter->name,
             from->value, to->value);
  else if (seconds > max_seconds)
    snprintf(why, MG_ENERGY_WHY,
             "%s may have wrapped unnoticed: %.0f s were timed, and at %.0f W it wraps after %.0f "
             "s; use a smaller --min-time",
             counter->name, seconds, counter->max_watts, max_seconds);
  else if (seconds < counter->min_seconds)
    snprintf(why, MG_ENERGY_WHY,
             "only %.2g s were timed, and %s needs %g s; use a larger --min-time", seconds,
             counter->name, counter->min_seconds);
  else if (to->value == from->value)
    snprintf(why, MG_ENERGY_WHY, "%s did not change in %.2g s", counter->name, seconds);
  else {
    *joules = (double)(to->value - from->value) * counter->joules;
    return true;
  }
  return false;
}
