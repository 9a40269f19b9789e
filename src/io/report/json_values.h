/* Values of the JSON that the program writes. Needs jansson. */
#ifndef MG_JSON_VALUES_H
#define MG_JSON_VALUES_H

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>

/** JSON has neither NaN nor infinity. */
static inline json_t *mg_json_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

/** JSON is UTF-8, but paths and names of hosts and devices may contain any bytes; replace invalid
 *  text by '?'. */
static inline json_t *mg_json_text(const char *bytes) {
  json_t *string = json_string(bytes);
  if (string) return string;
  char clean[4096];
  snprintf(clean, sizeof clean, "%s", bytes);
  for (char *c = clean; *c; c++)
    if ((unsigned char)*c >= 0x80) *c = '?';
  return json_string(clean);
}

/** null if there is no text. */
static inline json_t *mg_json_text_or_null(const char *bytes) {
  return bytes[0] ? mg_json_text(bytes) : json_null();
}

/** 16 hexadecimal digits. */
static inline json_t *mg_json_checksum(uint64_t sum) {
  char digits[17];
  snprintf(digits, sizeof digits, "%016" PRIx64, sum);
  return json_string(digits);
}

#endif
