/* CSV of the fields of reports: one line per grid; values of the run are repeated. */
#include "io/report/fields.h"
#include "io/report/report_wings.h"
#include <inttypes.h>
#include <string.h>

/* Prints one column: its name if grid < 0, otherwise its value. */
typedef struct {
  mg_sink_t sink;
  FILE *out;
  int column, grid;
  bool found;
} csv_sink_t;

static void put(mg_sink_t *s, const mg_row_t *field, mg_row_value_t value) {
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

static bool open_value(mg_sink_t *s, const mg_row_t *field, bool is_there) {
  (void)s, (void)field;
  return is_there;
}

static bool close_value(mg_sink_t *s) {
  (void)s;
  return false;
}

mg_status_t mg_report_csv(FILE *out, const void *report) {
  const mg_report_t *r = report;
  csv_sink_t c = {.sink = {.put = put, .open = open_value, .close = close_value, .is_csv = true},
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
