/* What the log shares with the progress of a run (progress.c), and progress itself. */
#ifndef MG_LOG_WINGS_H
#define MG_LOG_WINGS_H

#include "base/status.h"
#include <stdarg.h>

struct mg_log; /* log.h */

/** The log of the calling thread. */
const struct mg_log *mg_log_current(void);

/** Print one line "hpgmg-fv" PREFIX TEXT SUFFIX, from any rank. */
void mg_log_line(const char *prefix, const char *suffix, const char *format, va_list args);

/** Write progress into a file, too: a line of its own on stderr at most every minute, or as often
 * as the environment variable HPGMG_PROGRESS says. Call it after mg_log_setup, on every rank.
 *  @return MG_OK, MG_ERR_USAGE for another value of the variable (rank 0 logs it) */
MG_MUST_CHECK mg_status_t mg_progress_begin(void);

/** Show what runs next: on a terminal, replace the progress line on stderr, at most ten times a
 * second; in a file as mg_progress_begin says.
 *
 *  Prints only on rank 0, if the level is not quiet. */
void mg_progress(const char *format, ...) MG_PRINTF(1, 2);

/** Erase the progress line before other output. */
void mg_progress_clear(void);

#endif
