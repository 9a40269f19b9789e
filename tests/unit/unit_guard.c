/* The guard backend protects level memory from everything but its own operations, before,
 * between and after them. Message buffers stay accessible. */
#include "formulas/vectors.h"
#include "tests/guard/guard.h"
#include "tests/lib/test.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* True if reading or writing one double terminates a process. */
static bool is_fatal(volatile double *x, bool write) {
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    /* Suppress the expected report of a sanitizer. */
    if (!freopen("/dev/null", "w", stderr)) _exit(0);
    if (write)
      *x = 1.0;
    else
      (void)*x;
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
  enum { N = 4, ROW = 16, DOUBLES = 4 * ROW * ROW * ROW };
  void *memory = NULL, *buffer = NULL;
  CHECK_INT(mg_backend_guard.alloc(DOUBLES * sizeof(double), MG_SPACE_LEVEL, &memory), MG_OK);
  CHECK_INT(mg_backend_guard.alloc(1024, MG_SPACE_SHARED, &buffer), MG_OK);
  if (!memory || !buffer) return TEST_RESULT();
  double *x = memory;
  CHECK(is_fatal(x, false) && is_fatal(x, true) && is_fatal(x + DOUBLES - 1, false));
  CHECK(!is_fatal(buffer, false) && !is_fatal(buffer, true));

  mg_patch_t patch = {.n = {N, N, N}, .jstride = ROW, .kstride = ROW * ROW};
  patch.vec[MG_U] = x + ROW * ROW + ROW + ROW;
  const mg_view_t view = {.n = {N, N, N},
                          .box_dim = N,
                          .radius = 1,
                          .n_patches = 1,
                          .patch = &patch,
                          .cells = N * N * N};
  double norm = 0.0;
  CHECK_INT(mg_backend_guard.fill(&view, MG_U, 3.0), MG_OK);
  CHECK(is_fatal(patch.vec[MG_U], false));
  CHECK_INT(mg_backend_guard.max_norm(&view, MG_U, -1, &norm), MG_OK);
  CHECK(norm == 3.0);
  CHECK(is_fatal(patch.vec[MG_U], true));

  mg_backend_guard.release(memory, DOUBLES * sizeof(double), MG_SPACE_LEVEL);
  mg_backend_guard.release(buffer, 1024, MG_SPACE_SHARED);
  return TEST_RESULT();
}
