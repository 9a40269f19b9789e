/* Status type of all fallible functions, and its exit codes. */
#ifndef MG_STATUS_H
#define MG_STATUS_H

/** Outcome of a fallible function. The order is severity: ranks agree on the largest value. */
typedef enum {
  MG_OK = 0,
  MG_ERR_INTERRUPTED, /**< SIGINT or SIGTERM: end after the current cycle */
  MG_ERR_DIVERGED,    /**< NaN, infinity or a growing residual */
  MG_ERR_USAGE,       /**< bad option, deck or size */
  MG_ERR_IO,          /**< a file could not be read or written */
  MG_ERR_UNAVAILABLE, /**< this build or machine lacks the requested device or transport */
  MG_ERR_MEMORY,      /**< not enough memory on host or device */
  MG_ERR_DEVICE,      /**< a device failed */
  MG_ERR_COMM,        /**< the message-passing library failed */
  MG_ERR_INTERNAL     /**< a broken invariant */
} mg_status_t;

#if defined(__GNUC__)
#define MG_MUST_CHECK                  __attribute__((warn_unused_result))
#define MG_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define MG_MUST_CHECK
#define MG_PRINTF(format_index, first)
#endif

/** Return from the enclosing function with the status of `call` unless it is MG_OK. */
#define MG_TRY(call)                                                                               \
  do {                                                                                             \
    const mg_status_t mg_try_status_ = (call);                                                     \
    if (mg_try_status_ != MG_OK) return mg_try_status_;                                            \
  } while (0)

/** The more severe of two statuses. */
static inline mg_status_t mg_status_worst(mg_status_t a, mg_status_t b) {
  return a > b ? a : b;
}

/** The process exit code of a status.
 *
 *  0 verified, 1 failed verification (diverged or interrupted too), 2 usage, 3 I/O,
 *  4 resources (unavailable, memory, device), 5 internal (shape, communication).
 *  @return 0 to 5 */
int mg_status_exit_code(mg_status_t status);

/** Name of a status, for messages.
 *  @return static string, never NULL */
const char *mg_status_name(mg_status_t status);

#endif
