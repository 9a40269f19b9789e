#include "io/atomic_file.h"
#include "base/log.h"
#include "base/real_path.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static mg_status_t cannot_write(const mg_atomic_file_t *file, const char *why) {
  return mg_error(MG_ERR_IO, "--%s=%s cannot be written: %s", file->option, file->final, why);
}

/* Folder of a path; "." if it has none. */
static void folder_of(const char *path, char folder[MG_REAL_PATH_MAX]) {
  const char *slash = strrchr(path, '/');
  if (!slash)
    strcpy(folder, ".");
  else
    snprintf(folder, MG_REAL_PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static mg_status_t check_room(const mg_atomic_file_t *file, const char *folder, int64_t bytes) {
  struct statvfs s;
  if (statvfs(folder, &s) != 0) return cannot_write(file, strerror(errno));
  const double room = (double)s.f_bavail * (double)s.f_frsize;
  if ((double)bytes <= room) return MG_OK;
  return mg_error(MG_ERR_IO,
                  "--%s=%s needs %s, but only %s are free; write fewer fields or levels, use "
                  "--dump-precision=float, or choose another disk",
                  file->option, file->final, mg_bytes((double)bytes).text,
                  room > 0.0 ? mg_bytes(room).text : "0 bytes");
}

/* Check that the folder accepts a new file of some size: permissions alone do not show this, since
 * it may be read-only, the disk full or a quota used up. The name is unique, even among runs that
 * write to the same place. */
static mg_status_t try_folder(mg_atomic_file_t *file, int64_t bytes) {
  enum { ENDING = 4, SOME_BYTES = 16384 };
  char folder[MG_REAL_PATH_MAX];
  snprintf(file->temporary, sizeof file->temporary, "%s.XXXXXX.tmp", file->final);
  const int fd = mkstemps(file->temporary, ENDING);
  if (fd < 0) return cannot_write(file, strerror(errno));
  folder_of(file->final, folder);
  const mg_status_t status = check_room(file, folder, bytes);
  int error = posix_fallocate(fd, 0, SOME_BYTES);
  if (error == EINVAL || error == EOPNOTSUPP) error = 0; /* this file system cannot tell */
  if (close(fd) != 0 && error == 0) error = errno;
  (void)unlink(file->temporary);
  return status != MG_OK || error == 0 ? status : cannot_write(file, strerror(error));
}

mg_status_t mg_atomic_file_prepare(const char *option, const char *path, int64_t bytes,
                                   mg_atomic_file_t *file) {
  struct stat s;
  file->option = option;
  mg_path_resolve(path, file->final);
  if (mg_path_is_stream(path))
    return mg_error(MG_ERR_USAGE,
                    "--%s=%s is already the target of stdout or stderr; choose another file%s",
                    option, path, strcmp(option, "dump") == 0 ? "" : ", or - for stdout");
  if (stat(path, &s) != 0 && errno == ELOOP) return cannot_write(file, strerror(ELOOP));
  if (stat(file->final, &s) == 0 && S_ISDIR(s.st_mode)) return cannot_write(file, strerror(EISDIR));
  if (stat(file->final, &s) == 0 && !S_ISREG(s.st_mode))
    return cannot_write(file, "not a regular file");
  if (stat(file->final, &s) == 0 && access(file->final, W_OK) != 0)
    return cannot_write(file, strerror(errno));
  return try_folder(file, bytes);
}

/* Sync a file or folder to disk, so that its data or a rename survives a machine crash. */
static bool sync_path(const char *path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC);
  if (fd < 0) return false;
  const bool good = fsync(fd) == 0;
  const int error = errno;
  (void)close(fd);
  errno = error;
  return good;
}

mg_status_t mg_atomic_file_finish(const mg_atomic_file_t *file) {
  char folder[MG_REAL_PATH_MAX];
  mg_status_t status = MG_OK;
  folder_of(file->final, folder);
  if (!sync_path(file->temporary, O_RDWR) || rename(file->temporary, file->final) != 0)
    status = cannot_write(file, strerror(errno));
  if (status != MG_OK) {
    mg_atomic_file_drop(file);
    return status;
  }
  /* Not every file system can sync a folder; the file itself is safe. */
  if (!sync_path(folder, O_RDONLY | O_DIRECTORY) && errno != EINVAL && errno != EROFS)
    return cannot_write(file, strerror(errno));
  return MG_OK;
}

mg_status_t mg_atomic_file_write(const char *option, const char *path, mg_writer_t writer,
                                 const void *data) {
  mg_atomic_file_t file;
  MG_TRY(mg_atomic_file_prepare(option, path, 0, &file));
  FILE *out = fopen(file.temporary, "w");
  if (!out) return cannot_write(&file, strerror(errno));
  mg_status_t status = writer(out, data);
  const bool failed = ferror(out) != 0;
  if ((fclose(out) != 0 || failed) && status == MG_OK)
    status = cannot_write(&file, strerror(errno));
  if (status == MG_OK) return mg_atomic_file_finish(&file);
  mg_atomic_file_drop(&file);
  return status;
}

void mg_atomic_file_drop(const mg_atomic_file_t *file) {
  (void)unlink(file->temporary);
}
