/* Command lines for the parameter tests: parse one and check the expected result. */
#ifndef MG_TEST_PARAMS_LINE_H
#define MG_TEST_PARAMS_LINE_H

#include "params/params.h"
#include "tests/lib/test.h"

enum { MAX_ARGUMENTS = 16 };

static mg_params_t params;
static mg_action_t action;
static char message[1024];

/* Parse a command line given as one string; words are separated by one blank. */
static inline mg_status_t parse(const char *line) {
  char text[1024], *argv[MAX_ARGUMENTS + 1] = {"hpgmg-fv"};
  int argc = 1;
  snprintf(text, sizeof text, "%s", line);
  for (char *word = strtok(text, " "); word && argc < MAX_ARGUMENTS; word = strtok(NULL, " "))
    argv[argc++] = word;
  return mg_params_parse(argc, argv, NULL, &params, &action, message, (int)sizeof message);
}

static inline void expect_ok(const char *line) {
  const mg_status_t status = parse(line);
  CHECK_STRING(message, "");
  CHECK_INT(status, MG_OK);
}

/* Expect a usage error whose one-line message contains `part`. */
static inline void expect_usage(const char *line, const char *part) {
  CHECK_INT(parse(line), MG_ERR_USAGE);
  CHECK_CONTAINS(message, part);
  CHECK(strchr(message, '\n') == NULL);
}

#endif
