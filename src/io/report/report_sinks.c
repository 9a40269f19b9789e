/* JSON and CSV of the fields of reports. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "io/report/fields.h"
#include "io/report/report_wings.h"
#include <inttypes.h>

/* --- CSV: one line per grid; values of the run are repeated -------------------------------- */

/* Prints one column: its name if grid < 0, otherwise its value. */
typedef struct {
  mg_sink_t sink;
  FILE *out;
  int column, grid;
  bool found;
} csv_sink_t;

static void put_column(mg_sink_t *s, const mg_row_t *field, mg_row_value_t value) {
  csv_sink_t *c = (csv_sink_t *)s;
  if (field->csv != c->column || (c->grid >= 0 && s->grid >= 0 && s->grid != c->grid) || c->found)
    return;
  c->found = true;
  if (c->column > 1) fputc(',', c->out);
  if (c->grid < 0)
    fputs(field->key, c->out);
  else if (field->type == MG_ROW_TEXT)
    fprintf(c->out, strchr(value.TEXT, ',') ? "\"%s\"" : "%s", value.TEXT);
  else if (field->type == MG_ROW_INTEGER)
    fprintf(c->out, "%" PRId64, value.INTEGER);
  else if (!isnan(value.REAL))
    fprintf(c->out, "%.17g", value.REAL);
}

static bool open_any(mg_sink_t *s, const mg_row_t *field, bool is_there) {
  (void)s, (void)field;
  return is_there;
}

static bool close_any(mg_sink_t *s) {
  (void)s;
  return false;
}

mg_status_t mg_report_csv(FILE *out, const void *report) {
  const mg_report_t *r = report;
  csv_sink_t c = {.sink = {.put = put_column, .open = open_any, .close = close_any, .is_csv = true},
                  .out = out};
  for (c.grid = -1; c.grid < r->result->n_sizes; c.grid++) {
    c.found = true;
    for (c.column = 1; c.found; c.column++) {
      c.found = false;
      c.sink.lists = c.grid < 0;
      c.sink.grid = -1;
      mg_report_fields(&c.sink, r);
    }
    fputc('\n', out);
  }
  return MG_OK;
}

/* --- JSON --------------------------------------------------------------------------------------
 */

mg_status_t mg_report_json(FILE *out, const void *report) {
  return mg_fields_json(out, mg_report_fields, report, false);
}

#ifdef HAVE_JANSSON
#include <jansson.h>

enum { MAX_DEPTH = 8 };
typedef struct {
  mg_sink_t sink;
  json_t *open[MAX_DEPTH]; /* objects and arrays; the last one gets the next field */
  int depth;
  bool failed; /* out of memory */
} json_sink_t;

/* JSON is UTF-8, but paths and names of hosts and devices may contain any bytes; replace invalid
 * text by '?'. */
static json_t *text_of(const char *bytes) {
  json_t *string = json_string(bytes);
  if (string) return string;
  char clean[4096];
  snprintf(clean, sizeof clean, "%s", bytes);
  for (char *c = clean; *c; c++)
    if ((unsigned char)*c >= 0x80) *c = '?';
  return json_string(clean);
}

static json_t *value_of(const mg_row_t *field, mg_row_value_t value) {
  char digits[17];
  switch (field->type) {
  case MG_ROW_INTEGER:
    return field->null && value.INTEGER < 0 ? json_null() : json_integer((json_int_t)value.INTEGER);
  case MG_ROW_TEXT:
    return field->null && !value.TEXT[0] ? json_null() : text_of(value.TEXT);
  case MG_ROW_FLAG:
    return json_boolean(value.FLAG);
  case MG_ROW_SUM:
    if (field->null && value.SUM == 0) return json_null();
    snprintf(digits, sizeof digits, "%016" PRIx64, value.SUM);
    return json_string(digits);
  default: /* JSON has neither NaN nor infinity */
    return isfinite(value.REAL) ? json_real(value.REAL) : json_null();
  }
}

static void add(json_sink_t *j, const char *key, json_t *value) {
  json_t *const to = j->open[j->depth];
  const bool is_array = json_is_array(to);
  if ((is_array ? json_array_append_new(to, value) : json_object_set_new(to, key, value)) != 0)
    j->failed = true;
}

static void put(mg_sink_t *s, const mg_row_t *field, mg_row_value_t value) {
  add((json_sink_t *)s, field->key, value_of(field, value));
}

static bool open_value(mg_sink_t *s, const mg_row_t *field, bool is_there) {
  json_sink_t *j = (json_sink_t *)s;
  json_t *value = !is_there ? json_null() : field->list ? json_array() : json_object();
  add(j, field->key, value);
  if (is_there) j->open[++j->depth] = value;
  return is_there;
}

static bool close_value(mg_sink_t *s) {
  ((json_sink_t *)s)->depth--;
  return false;
}

mg_status_t mg_fields_json(FILE *out, void (*rows)(mg_sink_t *s, const void *report),
                           const void *report, bool is_line) {
  const size_t layout = is_line ? JSON_COMPACT : JSON_INDENT(2);
  json_sink_t j = {.sink = {.put = put, .open = open_value, .close = close_value}};
  json_t *root = j.open[0] = json_object();
  rows(&j.sink, report);
  const bool written = !j.failed && json_dumpf(root, out, layout | JSON_REAL_PRECISION(17)) == 0;
  json_decref(root);
  if (j.failed) return mg_error(MG_ERR_MEMORY, "out of memory: cannot build the JSON report");
  fputc('\n', out);
  return written ? MG_OK : mg_error(MG_ERR_IO, "the JSON report cannot be written");
}
#else
mg_status_t mg_fields_json(FILE *out, void (*rows)(mg_sink_t *s, const void *report),
                           const void *report, bool is_line) {
  (void)out, (void)rows, (void)report, (void)is_line;
  return mg_error(MG_ERR_USAGE, "--json requires a build with jansson; install libjansson-dev and "
                                "configure --with-jansson");
}
#endif
