/* User messages, on stderr unless mg_log_enter says otherwise. Results go to stdout through
 * src/io/. */
#ifndef MG_LOG_H
#define MG_LOG_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum { MG_LOG_QUIET = -1, MG_LOG_NORMAL = 0, MG_LOG_VERBOSE = 1 } mg_log_level_t;

/** The messages of a thread. */
typedef struct mg_log {
  int rank, n_ranks;    /**< this process's rank; errors include it if n_ranks > 1 */
  mg_log_level_t level; /**< quiet suppresses warnings and progress, but never errors */
  const char *program;  /**< starts each line; borrowed */
  void (*line)(void *data, const char *text); /**< gets each line, without a line break, in place of
                                                   stderr; progress is not shown then. NULL: none */
  void *data;
} mg_log_t;

/** Replace where the messages of the calling thread go.
 *  @param[in] log  borrowed; NULL: that of the program, to stderr
 *  @return the one before */
mg_log_t *mg_log_enter(mg_log_t *log);

/** Set the rank and the verbosity of this thread's messages. Not collective.
 *
 *  The defaults without a call are rank 0 of 1 and MG_LOG_NORMAL. */
void mg_log_setup(int rank, int n_ranks, mg_log_level_t level);

/** Set the program name that starts each line; default hpgmg-fv.
 *  @param[in] name  borrowed: must outlive all messages */
void mg_log_program(const char *name);

/** Print one line "hpgmg-fv: error: ..." on stderr, from any rank.
 *
 *  Except for MG_ERR_USAGE and MG_ERR_INTERRUPTED, the line ends with the rank (if n_ranks > 1) and
 *  the source location (if verbose).
 *  @return status, so that a failing function can `return mg_error(MG_ERR_IO, "...")` */
mg_status_t mg_error_at(const char *file, int line, mg_status_t status, const char *format, ...)
    MG_PRINTF(4, 5);
#define mg_error(status, ...) mg_error_at(__FILE__, __LINE__, (status), __VA_ARGS__)

/** Print one line "hpgmg-fv: warning: ..." on stderr from rank 0, unless quiet. */
void mg_warning(const char *format, ...) MG_PRINTF(1, 2);

/** Print one line on stderr from rank 0 if verbose. */
void mg_verbose(const char *format, ...) MG_PRINTF(1, 2);

/** Append to a text in `size` bytes. What does not fit is cut off. */
void mg_append(char *text, int size, const char *format, ...) MG_PRINTF(3, 4);

/** A human-readable number of bytes: "512 B", "4.321 kB", "1.026 GB". */
typedef struct {
  char text[24];
} mg_bytes_text_t;
mg_bytes_text_t mg_bytes(double bytes);

/** The shape of a grid: "64^3" or "24x16x40". */
typedef struct {
  char text[36];
} mg_grid_text_t;
mg_grid_text_t mg_grid(const int32_t n[3]);

#endif
