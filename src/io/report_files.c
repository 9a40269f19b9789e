#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "log.h"
#include "paths.h"
#include "report.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of a file's text. The reports of runs and of plans differ. */
typedef mg_status_t (*writer_t)(FILE *out, const void *report);

static mg_status_t json_of_run(FILE *out, const void *report) {
  return mg_report_json(out, report);
}

static mg_status_t csv_of_run(FILE *out, const void *report) {
  return mg_report_csv(out, report);
}

static mg_status_t json_of_dry_run(FILE *out, const void *report) {
  return mg_report_json_dry_run(out, report);
}

static bool is_stdout(const char *path) {
  return strcmp(path, "-") == 0;
}

/* Only a plain file can be replaced by a rename; devices and pipes are written to. */
static bool is_special(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

/* Beside the file, under a name that no file of the user's has. */
static FILE *open_temporary(const char *path, char name[], size_t size) {
  snprintf(name, size, "%s.%ld.tmp", path, (long)getpid());
  return fopen(name, "wx");
}

enum { NAME_MAX_BYTES = MG_REAL_PATH_MAX + 32 };

static mg_status_t cannot_write(const char *option, const char *path) {
  return mg_error(MG_ERR_IO, "--%s=%s cannot be written: %s", option, path, strerror(errno));
}

/* Can a file of the size of a report be created there? A disk may be full, a quota used up. */
static bool can_create(const char *path) {
  char name[NAME_MAX_BYTES];
  FILE *file = open_temporary(path, name, sizeof name);
  if (!file) return false;
  bool written = true;
  for (int i = 0; i < 16384 && written; i++)
    written = fputc('\n', file) != EOF;
  int error = written ? 0 : errno;
  if (fclose(file) != 0 && error == 0) error = errno;
  unlink(name);
  errno = error;
  return error == 0;
}

static mg_status_t check_output(const char *option, const char *path) {
  struct stat s;
  char target[MG_REAL_PATH_MAX];
  if (!path[0] || is_stdout(path)) return MG_OK;
  const bool is_there = stat(path, &s) == 0;
  if (is_there && S_ISDIR(s.st_mode)) errno = EISDIR;
  if (is_there ? S_ISDIR(s.st_mode) : errno == ELOOP) return cannot_write(option, path);
  const bool there = access(path, F_OK) == 0;
  if (there && access(path, W_OK) != 0) return cannot_write(option, path);
  if (mg_path_is_stream(path))
    return mg_error(MG_ERR_USAGE,
                    "--%s=%s is the file that this run writes stdout or stderr to; give --%s=-, or "
                    "another file",
                    option, path, option);
  mg_path_resolve(path, target);
  if (is_special(path) || can_create(target)) return MG_OK;
  return cannot_write(option, path);
}

mg_status_t mg_report_check_outputs(const mg_params_t *params) {
#ifndef HAVE_JANSSON
  if (params->json[0]) return mg_report_json(NULL, NULL);
#endif
  MG_TRY(check_output("json", params->json));
  return check_output("csv", params->csv);
}

mg_status_t mg_report_check_stdout(void) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout)) return MG_OK;
  return mg_error(MG_ERR_IO, "stdout cannot be written: %s",
                  errno != 0 ? strerror(errno) : "an earlier write failed");
}

FILE *mg_report_text(const mg_params_t *params) {
  return is_stdout(params->json) || is_stdout(params->csv) ? stderr : stdout;
}

static mg_status_t write_and_close(const char *option, const char *path, FILE *file,
                                   writer_t writer, const void *report) {
  if (!file) return cannot_write(option, path);
  mg_status_t status = writer(file, report);
  const bool failed = ferror(file) != 0;
  if ((fclose(file) != 0 || failed) && status == MG_OK) status = cannot_write(option, path);
  return status;
}

/* Write to a temporary file beside it and rename, so that a full disk costs no old result. */
static mg_status_t write_output(const char *option, const char *path, writer_t writer,
                                const void *report) {
  char name[NAME_MAX_BYTES], final[MG_REAL_PATH_MAX];
  if (!path[0]) return MG_OK;
  if (is_stdout(path)) {
    MG_TRY(writer(stdout, report));
    return fflush(stdout) == 0 ? MG_OK : cannot_write(option, path);
  }
  if (is_special(path)) return write_and_close(option, path, fopen(path, "w"), writer, report);
  /* Of a link the file behind it, so that the link stays. */
  mg_path_resolve(path, final);
  FILE *file = open_temporary(final, name, sizeof name);
  mg_status_t status = write_and_close(option, path, file, writer, report);
  if (status == MG_OK && rename(name, final) != 0) status = cannot_write(option, path);
  if (status != MG_OK && file) unlink(name);
  return status;
}

mg_status_t mg_report_write_files(const mg_report_t *report) {
  const mg_params_t *params = report->params;
  const mg_status_t json = write_output("json", params->json, json_of_run, report);
  const mg_status_t csv = write_output("csv", params->csv, csv_of_run, report);
  return json > csv ? json : csv;
}

mg_status_t mg_report_write_dry_run(const mg_dry_run_t *d) {
  return write_output("json", d->params->json, json_of_dry_run, d);
}
