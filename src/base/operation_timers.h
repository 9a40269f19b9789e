/* Cost of a level: seconds per operation, messages, bytes and reductions. */
#ifndef MG_OPERATION_TIMERS_H
#define MG_OPERATION_TIMERS_H

#include "base/timers.h"

/** Timed operations of a level. Message time counts as HALO. */
typedef enum {
  MG_TIME_SMOOTH,
  MG_TIME_RESIDUAL, /**< includes a fused norm or restriction */
  MG_TIME_RESTRICT,
  MG_TIME_INTERPOLATE, /**< includes filling the coarse ghosts */
  MG_TIME_HALO,
  MG_TIME_VECTOR,       /**< fill, axpby, norms, dot products */
  MG_TIME_BOTTOM,       /**< whole bottom solve; its operations and messages count only here */
  MG_TIME_COARSE_CYCLE, /**< one backend call that cycles over this and all coarser levels */
  MG_N_TIMES
} mg_time_t;

/** Name of an operation, as the breakdown prints it; static string. */
const char *mg_time_name(mg_time_t time);

enum { MG_TIME_KEY_SIZE = 32 };

/** Name of an operation as a key of reports: blanks become '_'.
 *  @return key */
const char *mg_time_key(mg_time_t time, char key[MG_TIME_KEY_SIZE]);

enum { MG_RANGE_NAME_SIZE = 32 };

/** Name of an operation of a level for profilers: that of the operation, a blank and the level.
 *  @return name */
const char *mg_range_name(mg_time_t time, int level, char name[MG_RANGE_NAME_SIZE]);

/** Timers and traffic of one level. */
typedef struct {
  double seconds[MG_N_TIMES]; /**< excluding operations inside another one (bottom solve) */
  int64_t calls[MG_N_TIMES];  /**< including these */
  int open;                   /**< operations that have begun but not ended */
  mg_traffic_t traffic;
} mg_timers_t;

/** The sums of two timers: levels of double and of float cells. */
mg_timers_t mg_timers_sum(const mg_timers_t *a, const mg_timers_t *b);

#endif
