/* Model of the CPU, from Linux's /proc. */
#include "base/machine.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

/* The value of a line "KEY <blanks>: VALUE\n"; NULL if it is another key. */
static const char *value_of(const char *line, const char *key) {
  const size_t length = strlen(key);
  if (strncmp(line, key, length) != 0) return NULL;
  const char *const colon = line + length + strspn(line + length, " \t");
  return *colon == ':' ? colon + 1 + strspn(colon + 1, " \t") : NULL;
}

/* Copy printable characters up to the end of a line; blanks once, and not at the ends. */
static void copy_line(const char *line, char *text, size_t size) {
  size_t n = 0;
  for (const char *c = line; *c && *c != '\n' && n + 1 < size; c++) {
    const bool blank = isspace((unsigned char)*c);
    if (blank && (n == 0 || text[n - 1] == ' ')) continue;
    text[n++] = blank ? ' ' : *c >= ' ' && *c <= '~' ? *c : '?';
  }
  if (n > 0 && text[n - 1] == ' ') n--;
  text[n] = '\0';
}

void mg_machine_cpu_in(const char *root, char *text, int text_size) {
  /* x86; POWER and RISC-V; ARM has numbers only. */
  static const char *const keys[] = {"model name", "cpu", "uarch"};
  const size_t size = (size_t)text_size;
  char path[512], line[512], implementer[64] = "", part[64] = "";
  struct utsname machine;
  text[0] = '\0';
  snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
  FILE *file = fopen(path, "r");
  while (file && !text[0] && fgets(line, sizeof line, file)) {
    const char *value;
    for (size_t k = 0; k < sizeof keys / sizeof *keys && !text[0]; k++)
      if ((value = value_of(line, keys[k]))) copy_line(value, text, size);
    if ((value = value_of(line, "CPU implementer")))
      copy_line(value, implementer, sizeof implementer);
    if ((value = value_of(line, "CPU part"))) copy_line(value, part, sizeof part);
  }
  if (file) fclose(file);
  if (text[0]) return;
  const char *const kind = uname(&machine) == 0 ? machine.machine : "unknown";
  if (part[0])
    snprintf(text, size, "%s, implementer %s, part %s", kind, implementer, part);
  else
    snprintf(text, size, "%s", kind);
}

const char *mg_machine_cpu(void) {
  static char model[128];
  if (!model[0]) mg_machine_cpu_in("", model, (int)sizeof model);
  return model;
}
