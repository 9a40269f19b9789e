#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "log.h"
#include "report.h"
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef mg_status_t (*writer_t)(FILE *out, const mg_report_t *report);

static bool is_stdout(const char *path) {
  return strcmp(path, "-") == 0;
}

/* Only a plain file can be replaced by a rename; devices and pipes are written to. */
static bool is_special(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

static void temporary_name(const char *path, char *name, size_t size) {
  snprintf(name, size, "%s.tmp", path);
}

static mg_status_t cannot_write(const char *option, const char *path) {
  return mg_error(MG_ERR_IO, "--%s=%s cannot be written: %s", option, path, strerror(errno));
}

static mg_status_t check_output(const char *option, const char *path) {
  struct stat s;
  char name[PATH_MAX];
  if (!path[0] || is_stdout(path)) return MG_OK;
  if (stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
    errno = EISDIR;
    return cannot_write(option, path);
  }
  if (is_special(path)) return access(path, W_OK) == 0 ? MG_OK : cannot_write(option, path);
  if (access(path, F_OK) == 0 && access(path, W_OK) != 0) return cannot_write(option, path);
  temporary_name(path, name, sizeof name);
  FILE *file = fopen(name, "w");
  if (!file) return cannot_write(option, path);
  fclose(file);
  unlink(name);
  return MG_OK;
}

mg_status_t mg_report_check_outputs(const mg_params_t *params) {
#ifndef HAVE_JANSSON
  if (params->json[0]) return mg_report_json(NULL, NULL);
#endif
  MG_TRY(check_output("json", params->json));
  return check_output("csv", params->csv);
}

/* Write to a temporary file beside it and rename, so that a full disk costs no old result. */
static mg_status_t write_output(const char *option, const char *path, writer_t writer,
                                const mg_report_t *report) {
  char name[PATH_MAX];
  if (!path[0]) return MG_OK;
  if (is_stdout(path)) {
    MG_TRY(writer(stdout, report));
    return fflush(stdout) == 0 ? MG_OK : cannot_write(option, path);
  }
  const bool in_place = is_special(path);
  temporary_name(path, name, sizeof name);
  const char *target = in_place ? path : name;
  FILE *file = fopen(target, "w");
  if (!file) return cannot_write(option, path);
  mg_status_t status = writer(file, report);
  const bool failed = ferror(file) != 0;
  if ((fclose(file) != 0 || failed) && status == MG_OK) status = cannot_write(option, path);
  if (in_place) return status;
  if (status == MG_OK && rename(name, path) != 0) status = cannot_write(option, path);
  if (status != MG_OK) unlink(name);
  return status;
}

mg_status_t mg_report_write_files(const mg_report_t *report) {
  MG_TRY(write_output("json", report->params->json, mg_report_json, report));
  return write_output("csv", report->params->csv, mg_report_csv, report);
}
