/* --plot: scripts/plot.py draws the rows from their JSON. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "io/atomic_file.h"
#include "lab/lab.h"
#include "scripts_folder.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Folder of the executable, if the system provides it. */
static bool program_folder(char *folder, size_t size) {
  const ssize_t length = readlink("/proc/self/exe", folder, size - 1);
  if (length <= 0) return false;
  folder[length] = '\0';
  *strrchr(folder, '/') = '\0';
  return true;
}

/* Search for plot.py: relative to the executable (also in a relocated installation), then in the
 * source tree (for programs not installed), then in the configured installation path. */
static mg_status_t find_script(char *script, size_t size) {
  char folder[PATH_MAX];
  const char *const folders[] = {MG_SOURCE_SCRIPTS, MG_INSTALLED_SCRIPTS};
  if (program_folder(folder, sizeof folder)) {
    snprintf(script, size, "%s/../share/" PACKAGE "/scripts/plot.py", folder);
    if (access(script, R_OK) == 0) return MG_OK;
  }
  for (int i = 0; i < 2; i++) {
    snprintf(script, size, "%s/plot.py", folders[i]);
    if (access(script, R_OK) == 0) return MG_OK;
  }
  return mg_error(MG_ERR_USAGE, "--plot needs %s; run 'make install'", script);
}

/* Return the exit code of python3 with these arguments, or 127 if it is missing. Its stdout is
 * discarded. Its stderr is shown unless `asks`, which only probes. */
static int run_python(const char *const arguments[], bool asks) {
  posix_spawn_file_actions_t files;
  pid_t child;
  int state, failed = posix_spawn_file_actions_init(&files);
  if (failed) return 127;
  failed = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (!failed && asks)
    failed = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  /* posix_spawnp does not modify the array; the child gets a copy. */
  if (!failed)
    failed =
        posix_spawnp(&child, "python3", &files, NULL, (char *const *)(uintptr_t)arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed) return 127;
  while (waitpid(child, &state, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128;
}

static bool is_picture(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (!strcmp(dot, ".png") || !strcmp(dot, ".svg") || !strcmp(dot, ".pdf"));
}

mg_status_t lab_check_plot(const char *path) {
  const char *const any[] = {"python3", "-c", "", NULL};
  const char *const with_matplotlib[] = {"python3", "-c", "import matplotlib", NULL};
  char script[2 * PATH_MAX];
  mg_atomic_file_t file;
  if (!path) return MG_OK;
#ifndef HAVE_JANSSON
  return mg_error(MG_ERR_USAGE, "--plot needs a build with jansson (install libjansson-dev, "
                                "configure --with-jansson)");
#endif
  if (!is_picture(path))
    return mg_error(MG_ERR_USAGE, "--plot=%s: the file name must end in .png, .svg or .pdf", path);
  MG_TRY(mg_atomic_file_prepare("plot", path, 0, &file));
  MG_TRY(find_script(script, sizeof script));
  if (run_python(any, true) != 0)
    return mg_error(MG_ERR_USAGE, "--plot needs python3 in PATH: 'apt-get install python3'");
  if (run_python(with_matplotlib, true) != 0)
    return mg_error(MG_ERR_USAGE, "--plot needs matplotlib for python3: 'apt-get install "
                                  "python3-matplotlib' or 'pip install matplotlib'");
  return MG_OK;
}

static mg_status_t draw(const char *json, const char *path) {
  char script[2 * PATH_MAX], output[PATH_MAX + 16];
  MG_TRY(find_script(script, sizeof script));
  snprintf(output, sizeof output, "--output=%s", path);
  const char *const arguments[] = {"python3", script, "bench", output, "--", json, NULL};
  const int code = run_python(arguments, false);
  if (code == 0) return MG_OK;
  return mg_error(MG_ERR_IO, "--plot=%s was not drawn: plot.py failed with exit code %d", path,
                  code);
}

mg_status_t lab_write_plot(const lab_t *lab, const char *json, const char *path) {
  if (json) return draw(json, path);
  const char *folder = getenv("TMPDIR");
  char temporary[PATH_MAX];
  snprintf(temporary, sizeof temporary, "%s/hpgmg-bench-XXXXXX",
           folder && folder[0] ? folder : "/tmp");
  const int fd = mkstemp(temporary);
  if (fd < 0)
    return mg_error(MG_ERR_IO, "--plot: %s cannot be written: %s", temporary, strerror(errno));
  close(fd);
  mg_status_t status = lab_write_json(lab, temporary);
  if (status == MG_OK) status = draw(temporary, path);
  unlink(temporary);
  return status;
}
