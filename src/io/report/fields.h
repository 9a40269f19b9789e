/* Fields of reports: a row each, in functions that a sink walks to write JSON or CSV, or to list
 * them for docs/reports.md and scripts/checks/report.schema.json (tests/lib/report_schema.c). `s`
 * is the sink.
 *
 *   OBJECT("run", "the machine") {
 *     INTEGER("threads", r->threads, "threads per rank", .low = 1, .csv = 9);
 *     LIST(REAL, "lengths", 3, p->length[i], "of the domain in x, y and z");
 *   }
 *
 * A row has a key, a value, its meaning and further members of mg_row_t. If the meaning begins with
 * "--NAME", it is the value of this option, with its limits. Blocks have no `break` or `return`. */
#ifndef MG_FIELDS_H
#define MG_FIELDS_H

#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum {
  MG_ROW_OBJECT,
  MG_ROW_INTEGER,
  MG_ROW_REAL,
  MG_ROW_TEXT,
  MG_ROW_FLAG,
  MG_ROW_SUM /**< a checksum: 16 hexadecimal digits */
} mg_row_type_t;

typedef struct {
  const char *key;
  mg_row_type_t type;
  const char *meaning;
  bool list;           /**< an array of such values */
  bool null;           /**< may be null: NaN, "", a negative integer or a checksum of 0 */
  bool optional;       /**< not in all reports; the row is in an `if` */
  bool later;          /**< earlier reports of this schema lack the key */
  double low, high;    /**< limits of a number; high 0: none */
  int least, most;     /**< entries of an array */
  const char *words;   /**< all possible texts, separated by '|' */
  const char *pattern; /**< regular expression of the text */
  int csv;             /**< column in CSV, from 1; 0: none */
} mg_row_t;

typedef union {
  int64_t INTEGER;
  double REAL;
  const char *TEXT;
  bool FLAG;
  uint64_t SUM;
} mg_row_value_t;

typedef struct mg_sink mg_sink_t;
struct mg_sink {
  void (*put)(mg_sink_t *s, const mg_row_t *field, mg_row_value_t value);
  /** Begin an array or an object; !is_there: null. @return whether its fields follow */
  bool (*open)(mg_sink_t *s, const mg_row_t *field, bool is_there);
  bool (*close)(mg_sink_t *s); /**< @return false */
  bool lists;                  /**< lists all fields, once, without values */
  bool is_csv, more;
  int grid; /**< 0 to 2 within h, 2h or 4h */
};

#define MG_ROW(kind, name, ...)                                                                    \
  (&(const mg_row_t){.key = (name), .type = MG_ROW_##kind, .meaning = __VA_ARGS__})
#define MG_PUT(kind, key, x, ...)                                                                  \
  s->put(s, MG_ROW(kind, key, __VA_ARGS__),                                                        \
         s->lists ? (mg_row_value_t){0} : (mg_row_value_t){.kind = (x)})
/** "NAME_END", in the variable `key`. */
#define KEY(end) (snprintf(key, sizeof key, "%s_%s", name, end), key)

#define INTEGER(key, x, ...) MG_PUT(INTEGER, key, x, __VA_ARGS__)
#define REAL(key, x, ...)    MG_PUT(REAL, key, x, __VA_ARGS__)
#define TEXT(key, x, ...)    MG_PUT(TEXT, key, x, __VA_ARGS__)
#define FLAG(key, x, ...)    MG_PUT(FLAG, key, x, __VA_ARGS__)
#define SUM(key, x, ...)     MG_PUT(SUM, key, x, __VA_ARGS__)

#define OR_NULL  .null = true
#define OPTIONAL .optional = true
#define LATER    .later = true

#define MG_OPEN(field, is_there)                                                                   \
  for (s->more = s->open(s, field, s->lists || (is_there)); s->more; s->more = s->close(s))
#define OBJECT(key, ...) MG_OPEN(MG_ROW(OBJECT, key, __VA_ARGS__), true)
#define OBJECT_OR_NULL(key, is_there, ...)                                                         \
  MG_OPEN(MG_ROW(OBJECT, key, __VA_ARGS__, .null = true), is_there)
#define EACH(i, n) for (int i = 0; i < (s->lists ? 1 : (n)); i++)
/** An array of n values, x of i. */
#define LIST(kind, key, n, x, ...)                                                                 \
  MG_OPEN(MG_ROW(kind, key, __VA_ARGS__, .list = true), true)                                      \
  EACH(i, n) MG_PUT(kind, key, x, __VA_ARGS__)
/** An array of n objects; the block after it has the fields of entry i. */
#define OBJECTS(key, i, n, ...)                                                                    \
  MG_OPEN(MG_ROW(OBJECT, key, __VA_ARGS__, .list = true), true)                                    \
  EACH(i, n) MG_OPEN(MG_ROW(OBJECT, key, __VA_ARGS__), true)

/** Write the fields that `rows` has for a report as JSON.
 *  @param[in] is_line  on one line, instead of indented
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_IO, MG_ERR_USAGE (built without jansson); logged */
MG_MUST_CHECK mg_status_t mg_fields_json(FILE *out, void (*rows)(mg_sink_t *s, const void *report),
                                         const void *report, bool is_line);

/** Fields of a report (mg_report_t) of a run or a plan. */
void mg_report_fields(mg_sink_t *s, const void *report);

#endif
