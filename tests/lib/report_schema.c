/* Prints the rows of reports for tests/lib/report_fields.py, one JSON object per line. After an
 * object or array come the rows inside, then an empty line. */
#include "health/health.h"
#include "io/report/report.h"
#include "params/params_table.h"
#include "plan/plan_stats.h"
#include <stdlib.h>
#include <string.h>

/* Texts have neither '"' nor control characters. */
static void print_text(const char *key, const char *text) {
  printf(", \"%s\": \"", key);
  for (const char *c = text ? text : ""; *c; c++)
    printf(*c == '\\' ? "\\\\" : "%c", *c);
  printf("\"");
}

static void put(mg_sink_t *s, const mg_row_t *row, mg_row_value_t value) {
  static const char *const types[] = {"object", "integer", "number", "string", "boolean", "string"};
  static const mg_option_t none;
  char name[64] = "", words[1024] = "";
  const mg_option_t *option = &none;
  (void)s, (void)value;
  if (sscanf(row->meaning, "--%63[a-z-]", name) == 1) option = mg_option_find(name);
  for (int w = 0; option->words && option->words[w]; w++)
    snprintf(words + strlen(words), sizeof words - strlen(words), "%s|", option->words[w]);
  printf("{\"minimum\": %.17g, \"maximum\": %.17g", option == &none ? row->low : option->min,
         option == &none ? row->high : option->max);
  printf(", \"minItems\": %d, \"maxItems\": %d, \"csv\": %d", row->least, row->most, row->csv);
  printf(", \"list\": %d, \"null\": %d, \"required\": %d", row->list, row->null,
         !row->optional && !row->later);
  print_text("key", row->key);
  print_text("description", row->meaning);
  print_text("type", types[row->type]);
  print_text("enum", row->words ? row->words : words);
  print_text("pattern", row->type == MG_ROW_SUM ? "^[0-9a-f]{16}$" : row->pattern);
  printf("}\n");
}

static bool open_rows(mg_sink_t *s, const mg_row_t *row, bool is_there) {
  put(s, row, (mg_row_value_t){0});
  return is_there;
}

static bool close_rows(mg_sink_t *s) {
  (void)s;
  printf("\n");
  return false;
}

static void print_rows(const char *name, bool is_csv, void (*rows)(mg_sink_t *, const void *),
                       const void *report) {
  mg_sink_t sink = {
      .put = put, .open = open_rows, .close = close_rows, .lists = true, .is_csv = is_csv};
  mg_sink_t *const s = &sink;
  OBJECT(name, "") {
    rows(s, report);
  }
}

/* Reports without values: the rows need their structs. */
int main(void) {
  static mg_params_t params;
  static mg_plan_t plan;
  static mg_placement_t placement;
  static mg_result_t result;
  static mg_input_t input;
  static mg_plan_stats_t stats;
  static health_device_t device;
  static health_t health;
  static mg_report_t report = {.params = &params,
                               .plan = &plan,
                               .placement = &placement,
                               .result = &result,
                               .input = &input};
  print_rows("csv", true, mg_report_fields, &report);
  print_rows("run", false, mg_report_fields, &report);
  report.stats = &stats;
  print_rows("plan", false, mg_report_fields, &report);
  print_rows("device", false, health_device_fields, &device);
  print_rows("summary", false, health_summary_fields, &health);
  return EXIT_SUCCESS;
}
