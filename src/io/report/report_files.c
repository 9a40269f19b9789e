#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "base/machine.h"
#include "comm/comm.h"
#include "io/report/fields.h"
#include "io/report/report_wings.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Only a regular file can be replaced by a rename; devices and pipes are written directly. */
static bool is_special(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

static mg_status_t cannot_write(const char *option, const char *path) {
  return mg_error(MG_ERR_IO, "--%s=%s cannot be written: %s", option, path, strerror(errno));
}

static mg_status_t check_output(const char *option, const char *path) {
  mg_atomic_file_t file;
  if (!path[0] || mg_report_is_stdout(path)) return MG_OK;
  if (!is_special(path)) return mg_atomic_file_prepare(option, path, 0, &file);
  return access(path, W_OK) == 0 ? MG_OK : cannot_write(option, path);
}

static mg_status_t check_outputs(const mg_params_t *params) {
#ifndef HAVE_JANSSON
  if (params->json[0]) return mg_fields_json(NULL, NULL, NULL, false);
#endif
  MG_TRY(check_output("json", params->json));
  return check_output("csv", params->csv);
}

mg_status_t mg_report_check_outputs(const mg_params_t *params) {
  return MG_ON_ROOT(check_outputs(params));
}

/* --- devices and pipes ------------------------------------------------------------------ */

static bool is_fifo(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && S_ISFIFO(s.st_mode);
}

/* Open without blocking. @return the descriptor, or -1; errno ENXIO: the FIFO has no reader yet */
static int open_special(const char *path) {
  return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Wait on all ranks until a process reads the FIFO `path` or a signal reaches one of the ranks.
 * @param[out] fd  on rank 0 the open FIFO, or -1: not open; the later write reports why */
static mg_status_t wait_for_reader(const char *option, const char *path, int *fd) {
  const struct timespec nap = {0, 20000000};
  const bool writes = mg_comm_is_root();
  *fd = -1;
  if (!path[0] || mg_report_is_stdout(path)) return MG_OK;
  for (int attempt = 0;; attempt++) {
    double state[2] = {0.0, mg_machine_signal() != 0}; /* no reader; signal received */
    if (writes && is_fifo(path)) {
      *fd = open_special(path);
      state[0] = *fd < 0 && errno == ENXIO;
    }
    MG_TRY(mg_comm_max(mg_comm_world(), state, 2));
    if (state[0] == 0.0 || state[1] != 0.0) return MG_OK;
    if (attempt == 0)
      mg_warning("--%s=%s is a FIFO without a reader; waiting for one", option, path);
    nanosleep(&nap, NULL);
  }
}

/* Write all bytes to a non-blocking descriptor. A signal ends the wait. */
static bool write_bytes(int fd, const char *bytes, size_t size) {
  enum { SHORT_MS = 50 }; /* a signal may come just before poll() */
  const int before = mg_machine_signal();
  while (size > 0) {
    const ssize_t n = write(fd, bytes, size);
    if (n >= 0) {
      bytes += n;
      size -= (size_t)n;
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) return false;
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    (void)poll(&ready, 1, SHORT_MS); /* write() reports errors */
    if (mg_machine_signal() != before) {
      errno = EINTR;
      return false;
    }
  }
  return true;
}

static mg_status_t fail_special(const char *option, const char *path) {
  if (errno != EINTR && !(errno == ENXIO && is_fifo(path))) return cannot_write(option, path);
  return mg_error(MG_ERR_INTERRUPTED, "--%s=%s is not written: %s when a signal arrived", option,
                  path,
                  errno == EINTR ? "its reader had stopped reading" : "the FIFO had no reader");
}

/* Write to a device or pipe. fd: its descriptor if already open, otherwise -1. */
static mg_status_t write_special(const char *option, const char *path, int fd, mg_writer_t writer,
                                 const void *report) {
  char *text = NULL;
  size_t size = 0;
  mg_status_t status = MG_OK;
  FILE *memory = open_memstream(&text, &size);
  if (memory) status = writer(memory, report);
  if (!memory || fclose(memory) != 0)
    status = mg_error(MG_ERR_MEMORY, "out of memory: cannot build the report of --%s", option);
  if (status == MG_OK && fd < 0) fd = open_special(path);
  if (status == MG_OK && (fd < 0 || !write_bytes(fd, text, size)))
    status = fail_special(option, path);
  if (fd >= 0 && close(fd) != 0 && status == MG_OK) status = cannot_write(option, path);
  free(text);
  return status;
}

/* --- all files -------------------------------------------------------------------------- */

static mg_status_t write_output(const char *option, const char *path, int fd, mg_writer_t writer,
                                const void *report) {
  if (!path[0]) return MG_OK;
  if (fd >= 0 || is_special(path)) return write_special(option, path, fd, writer, report);
  if (!mg_report_is_stdout(path)) return mg_atomic_file_write(option, path, writer, report);
  MG_TRY(writer(stdout, report));
  errno = mg_report_flush(stdout);
  return errno != 0 ? cannot_write(option, path) : MG_OK;
}

mg_status_t mg_report_write(const char *option, const char *path, mg_writer_t writer,
                            const void *report, bool alone) {
  int fd = -1;
  if (alone) return write_output(option, path, fd, writer, report);
  MG_TRY(wait_for_reader(option, path, &fd));
  return MG_ON_ROOT(write_output(option, path, fd, writer, report));
}

mg_status_t mg_report_write_files(const mg_report_t *report) {
  const mg_params_t *params = report->params;
  const mg_status_t json = mg_report_write("json", params->json, mg_report_json, report, false);
  const mg_status_t csv = mg_report_write("csv", params->csv, mg_report_csv, report, false);
  return mg_status_worst(json, csv);
}
