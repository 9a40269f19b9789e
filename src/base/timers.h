/* What a level costs: seconds per operation, messages. */
#ifndef MG_TIMERS_H
#define MG_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

/** What a level's time is spent on. Halo is message time wherever it occurs; the other entries do
 *  not contain it. */
typedef enum {
  MG_TIME_SMOOTH,
  MG_TIME_RESIDUAL, /**< with the norm or the restriction when fused */
  MG_TIME_RESTRICT,
  MG_TIME_INTERPOLATE, /**< with the filling of the coarse ghosts */
  MG_TIME_HALO,
  MG_TIME_VECTOR,       /**< fill, axpby, norms, dot products */
  MG_TIME_BOTTOM,       /**< whole bottom solve, the entries above of that level included */
  MG_TIME_COARSE_CYCLE, /**< cycles over this level and all below it that a backend runs in one go
                         */
  MG_N_TIMES
} mg_time_t;

/** Static name of an operation, as the breakdown prints it. */
const char *mg_time_name(mg_time_t time);

enum { MG_TIME_KEY_SIZE = 32 };

/** The name as a key of reports, with _ for blanks.
 *  @return key */
const char *mg_time_key(mg_time_t time, char key[MG_TIME_KEY_SIZE]);

/** What this rank has sent from the cells of a level, and the reductions over ranks that it has
 *  taken part in there. A message is what one rank gets in one exchange, in however many pieces it
 *  travels. */
typedef struct {
  int64_t messages, bytes;
  int64_t reductions;
} mg_traffic_t;

/** One level's account. */
typedef struct {
  double seconds[MG_N_TIMES];
  double
      nested[MG_N_TIMES]; /**< of these, inside of another operation: the parts of a bottom solve */
  int open;               /**< operations that have begun and not ended */
  int64_t calls[MG_N_TIMES];
  mg_traffic_t traffic;
} mg_timers_t;

/** Seconds on a monotonic clock. */
double mg_now(void);

/** Add the time of an operation and count a call.
 *  @param[in] nested  it was part of another operation of the level */
void mg_timers_add(mg_timers_t *timers, mg_time_t time, double seconds, bool nested);

#endif
