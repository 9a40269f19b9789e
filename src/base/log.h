/* Messages to people on stderr. Results go to stdout through src/io/. */
#ifndef MG_LOG_H
#define MG_LOG_H

#include "base/status.h"
#include <stdbool.h>

typedef enum { MG_LOG_QUIET = -1, MG_LOG_NORMAL = 0, MG_LOG_VERBOSE = 1 } mg_log_level_t;

/** Set who speaks and how much.
 *
 *  @param[in] rank    this process's rank, named in errors when n_ranks > 1
 *  @param[in] level   warnings and progress are silent when quiet; errors never are
 *  Not collective. Without a call: rank 0 of 1, normal. */
void mg_log_setup(int rank, int n_ranks, mg_log_level_t level);

/** The name that lines begin with, hpgmg-fv unless told otherwise; it must live as long. */
void mg_log_program(const char *name);

/** One line "hpgmg-fv: error: ..." on stderr from the calling rank, whichever it is. Errors other
 *  than bad usage end with the rank if there are several, and with file and line if verbose.
 *  @return status, so that a failing function reads `return mg_error(MG_ERR_IO, "...")` */
mg_status_t mg_error_at(const char *file, int line, mg_status_t status, const char *format, ...)
    MG_PRINTF(4, 5);
#define mg_error(status, ...) mg_error_at(__FILE__, __LINE__, (status), __VA_ARGS__)

/** One line "hpgmg-fv: warning: ..." on stderr from rank 0; silent when quiet. */
void mg_warning(const char *format, ...) MG_PRINTF(1, 2);

/** One line on stderr from rank 0 when verbose. */
void mg_verbose(const char *format, ...) MG_PRINTF(1, 2);

/** A number of bytes for people: "512 B", "4.321 kB", "1.026 GB". */
typedef struct {
  char text[24];
} mg_bytes_text_t;
mg_bytes_text_t mg_bytes(double bytes);

/** Replace the progress line on stderr, at most ten times a second; rank 0, only when stderr is a
 *  terminal and not quiet. */
void mg_progress(const char *format, ...) MG_PRINTF(1, 2);

/** Erase the progress line, so that other output starts on a clean one. */
void mg_progress_clear(void);

#endif
