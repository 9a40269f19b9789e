/* unit_log: messages go where mg_log_enter says, with that log's rank, level and program name. */
#include "base/log.h"
#include "base/log_wings.h"
#include "tests/lib/test.h"
#include "wings.h"
#include <string.h>

typedef struct {
  char text[4096];
  int n;
} lines_t;

static void keep(void *data, const char *text) {
  lines_t *lines = data;
  snprintf(lines->text, sizeof lines->text, "%s", text);
  lines->n++;
}

static void check_line(lines_t *lines, const char *want) {
  CHECK_INT(lines->n, 1);
  CHECK_STRING(lines->text, want);
  lines->n = 0;
  lines->text[0] = '\0';
}

int main(void) {
  lines_t first = {"", 0}, second = {"", 0};
  mg_log_t one = {.n_ranks = 1, .program = "one", .line = keep, .data = &first},
           two = {.rank = 3, .n_ranks = 4, .program = "two", .line = keep, .data = &second};
  mg_log_t *program = mg_log_enter(&one);
  CHECK_INT(mg_error(MG_ERR_IO, "file %d", 7), MG_ERR_IO);
  check_line(&first, "one: error: file 7");
  mg_warning("line\nbreak");
  check_line(&first, "one: warning: line?break");
  mg_verbose("hidden");
  MG_IF_CONSOLE(mg_progress("hidden"));
  CHECK_INT(first.n, 0);
  mg_log_setup(0, 1, MG_LOG_VERBOSE);
  mg_verbose("shown");
  check_line(&first, "one: shown");

  /* Another log: errors of any rank, warnings of rank 0 only. */
  CHECK(mg_log_enter(&two) == &one);
  mg_warning("hidden");
  CHECK_INT(second.n, 0);
  (void)mg_error(MG_ERR_IO, "file");
  check_line(&second, "two: error: file [rank 3]");
  (void)mg_error(MG_ERR_USAGE, "option");
  check_line(&second, "two: error: option");
  CHECK(mg_log_enter(&one) == &two);
  mg_log_setup(0, 1, MG_LOG_QUIET);
  mg_warning("hidden");
  CHECK_INT(first.n, 0);
  (void)mg_error(MG_ERR_USAGE, "shown");
  check_line(&first, "one: error: shown");

  /* A line as long as a message may be. */
  char text[3000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  (void)mg_error(MG_ERR_USAGE, "%s", text);
  CHECK_INT(strlen(first.text), strlen("one: error: ") + 2047);
  CHECK(mg_log_enter(NULL) == &one);
  CHECK(mg_log_enter(program) == program);
  return TEST_RESULT();
}
