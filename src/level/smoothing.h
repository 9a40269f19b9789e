/* How a level is smoothed, for reports. */
#ifndef MG_SMOOTHING_H
#define MG_SMOOTHING_H

#include "level/level.h"

/** The sweeps over memory of a smooth that starts from a guess, for reports. */
typedef struct {
  int steps, sweeps;
  int strip_rows;        /**< rows at once, if a sweep passes through a CPU's caches; otherwise 0 */
  const mg_path_t *path; /**< how the level is smoothed, or with coarser ones solved */
  /** "smooth": with its first or last sweep; "one pass" or "two passes": alone. */
  const char *interpolation, *restriction, *norm;
} mg_smoothing_t;

/** All zero on ranks without cells of the level. */
mg_smoothing_t mg_smoothing_of(const mg_level_t *level);

#endif
