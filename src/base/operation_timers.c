#include "base/operation_timers.h"
#include <stdio.h>

const char *mg_time_name(mg_time_t time) {
  static const char *const names[MG_N_TIMES] = {
      [MG_TIME_SMOOTH] = "smooth",        [MG_TIME_RESIDUAL] = "residual",
      [MG_TIME_RESTRICT] = "restriction", [MG_TIME_INTERPOLATE] = "interpolation",
      [MG_TIME_HALO] = "halo exchange",   [MG_TIME_VECTOR] = "vector operations",
      [MG_TIME_BOTTOM] = "bottom solve",  [MG_TIME_COARSE_CYCLE] = "coarse levels",
  };
  return names[time];
}

const char *mg_time_key(mg_time_t time, char key[MG_TIME_KEY_SIZE]) {
  snprintf(key, MG_TIME_KEY_SIZE, "%s", mg_time_name(time));
  for (char *c = key; *c; c++)
    if (*c == ' ') *c = '_';
  return key;
}

const char *mg_range_name(mg_time_t time, int level, char name[MG_RANGE_NAME_SIZE]) {
  snprintf(name, MG_RANGE_NAME_SIZE, "%s %d", mg_time_name(time), level);
  return name;
}

mg_timers_t mg_timers_sum(const mg_timers_t *a, const mg_timers_t *b) {
  mg_timers_t sum = *a;
  for (int t = 0; t < MG_N_TIMES; t++) {
    sum.seconds[t] += b->seconds[t];
    sum.calls[t] += b->calls[t];
  }
  sum.traffic.messages += b->traffic.messages;
  sum.traffic.bytes += b->traffic.bytes;
  sum.traffic.reductions += b->traffic.reductions;
  return sum;
}
