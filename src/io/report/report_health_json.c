/* JSON lines of health checks: one object per device and line, then a summary. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/alloc.h"
#include "base/log.h"
#include "base/paths.h"
#include "io/report/report_health.h"

#ifdef HAVE_JANSSON
#include "io/report/json_values.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- writing ---------------------------------------------------------------------------------- */

static json_t *checksum(uint64_t sum, bool is_known) {
  return is_known ? mg_json_checksum(sum) : json_null();
}

static json_t *problems(const mg_health_device_t *d) {
  json_t *list = json_array();
  for (int p = 0; p < MG_HEALTH_PROBLEMS; p++) {
    const mg_health_problem_t *problem = &d->problem[p];
    json_array_append_new(list,
                          json_pack("{s:i, s:i, s:i, s:i, s:o, s:o}", "n", problem->n, "solves",
                                    problem->n_solves, "checked", problem->n_checked, "wrong",
                                    problem->n_wrong + problem->n_norms, "checksum",
                                    checksum(problem->checksum, problem->n_checked > 0), "known",
                                    checksum(problem->known, problem->n_checked > 0)));
  }
  return list;
}

static json_t *figures(const mg_health_device_t *d) {
  json_t *all = json_object();
  for (int f = 0; f < MG_N_HEALTH_FIGURES; f++)
    json_object_set_new(all, mg_health_figure_name((mg_health_figure_t)f),
                        json_pack("{s:o, s:o, s:o}", "value", mg_json_number(d->value[f]), "median",
                                  mg_json_number(d->median[f]), "baseline",
                                  mg_json_number(d->baseline[f])));
  return all;
}

/* The other end of the links, and what arrived from it. */
static json_t *peer(const mg_health_device_t *d) {
  if (!d->peer.host[0]) return json_null();
  return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "rank",
                   d->peer.rank < 0 ? json_null() : json_integer(d->peer.rank), "host",
                   mg_json_text(d->peer.host), "model", mg_json_text_or_null(d->peer.model), "uuid",
                   mg_json_text_or_null(d->peer.uuid), "stored_words",
                   (json_int_t)d->stores.n_words, "wrong_stored_words",
                   (json_int_t)d->stores.errors.n, "message_words", (json_int_t)d->messages.n_words,
                   "wrong_message_words", (json_int_t)d->messages.errors.n, "no_peer_link",
                   mg_json_text_or_null(d->no_peer_link));
}

static json_t *device(const mg_health_device_t *d) {
  return json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "program",
                   PACKAGE_NAME, "version", PACKAGE_VERSION, "health", MG_HEALTH_SCHEMA, "rank",
                   d->rank < 0 ? json_null() : json_integer(d->rank), "host", mg_json_text(d->host),
                   "model", mg_json_text_or_null(d->model), "uuid", mg_json_text_or_null(d->uuid),
                   "pci", mg_json_text_or_null(d->pci), "verdict",
                   mg_health_verdict_name(d->verdict), "reason", mg_json_text_or_null(d->reason),
                   "problems", problems(d), "figures", figures(d), "peer", peer(d));
}

static json_t *summary(const mg_health_report_t *r) {
  const char *const baseline = r->params->health;
  return json_pack("{s:s, s:s, s:i, s:b, s:i, s:i, s:i, s:i, s:i, s:f, s:o}", "program",
                   PACKAGE_NAME, "version", PACKAGE_VERSION, "health", MG_HEALTH_SCHEMA, "passed",
                   r->passed, "devices", r->health->n_devices, "ok", r->count[MG_HEALTH_OK], "slow",
                   r->count[MG_HEALTH_SLOW], "wrong", r->count[MG_HEALTH_WRONG], "missing",
                   r->count[MG_HEALTH_MISSING], "slow_percent", r->params->health_slow, "baseline",
                   strcmp(baseline, "-") == 0 ? json_null() : mg_json_text(baseline));
}

static mg_status_t write_line(FILE *out, json_t *object) {
  char *line = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(object);
  if (!line) return mg_error(MG_ERR_MEMORY, "out of memory: cannot write --json");
  fprintf(out, "%s\n", line);
  free(line);
  return MG_OK;
}

mg_status_t mg_report_json_health(FILE *out, const mg_health_report_t *r) {
  for (int d = 0; d < r->health->n_devices; d++)
    MG_TRY(write_line(out, device(&r->health->device[d])));
  return write_line(out, summary(r));
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A line of a baseline. */
typedef struct {
  const char *path;
  long number;
  json_t *object;
} line_t;

static mg_status_t refuse(const line_t *line, const char *why) {
  return mg_error(MG_ERR_IO, "--health=%.200s, line %ld: %s; use a file that --health --json wrote",
                  line->path, line->number, why);
}

/* Copy a text; null gives "". */
static bool take_text(const json_t *value, char *out, size_t size) {
  if (!json_is_string(value) && !json_is_null(value)) return false;
  const char *const string = json_is_string(value) ? json_string_value(value) : "";
  if (strlen(string) >= size) return false;
  strcpy(out, string);
  return true;
}

static bool take_problems(const json_t *list, mg_health_device_t *d) {
  if (json_array_size(list) != MG_HEALTH_PROBLEMS) return false;
  for (int p = 0; p < MG_HEALTH_PROBLEMS; p++) {
    const json_t *n = json_object_get(json_array_get(list, (size_t)p), "n");
    if (!json_is_integer(n)) return false;
    d->problem[p].n = (int32_t)json_integer_value(n);
  }
  return true;
}

/* A value is a number above 0, or null. */
static bool take_figures(const json_t *all, mg_health_device_t *d) {
  for (int f = 0; f < MG_N_HEALTH_FIGURES; f++) {
    const json_t *figure = json_object_get(all, mg_health_figure_name((mg_health_figure_t)f)),
                 *value = json_object_get(figure, "value");
    if (!json_is_null(value) && !(json_is_number(value) && json_number_value(value) > 0.0))
      return false;
    d->value[f] = json_is_null(value) ? NAN : json_number_value(value);
  }
  return true;
}

/* null: a job of one rank. */
static bool take_peer(const json_t *value, mg_health_peer_t *peer) {
  peer->rank = -1;
  if (json_is_null(value)) return true;
  return take_text(json_object_get(value, "host"), peer->host, sizeof peer->host) &&
         take_text(json_object_get(value, "model"), peer->model, sizeof peer->model) &&
         take_text(json_object_get(value, "uuid"), peer->uuid, sizeof peer->uuid);
}

static bool take_device(const json_t *object, mg_health_device_t *d) {
  return take_text(json_object_get(object, "host"), d->host, sizeof d->host) &&
         take_text(json_object_get(object, "model"), d->model, sizeof d->model) &&
         take_text(json_object_get(object, "uuid"), d->uuid, sizeof d->uuid) &&
         take_text(json_object_get(object, "pci"), d->pci, sizeof d->pci) &&
         take_problems(json_object_get(object, "problems"), d) &&
         take_figures(json_object_get(object, "figures"), d) &&
         take_peer(json_object_get(object, "peer"), &d->peer);
}

static bool is_ours(const json_t *object) {
  const char *const program = json_string_value(json_object_get(object, "program"));
  return program && strcmp(program, PACKAGE_NAME) == 0 && json_object_get(object, "health");
}

/* Devices that are not ok are no baseline. */
static mg_status_t take_line(const line_t *line, mg_health_t *health) {
  const json_t *object = line->object, *verdict = json_object_get(object, "verdict");
  static const mg_health_device_t none = {.rank = -1};
  if (!is_ours(object)) return refuse(line, "not a line of a health check");
  if (json_integer_value(json_object_get(object, "health")) != MG_HEALTH_SCHEMA)
    return refuse(line, "another version of the format");
  if (json_is_boolean(json_object_get(object, "passed"))) return MG_OK; /* summary */
  if (!json_is_string(verdict)) return refuse(line, "no verdict");
  if (strcmp(json_string_value(verdict), mg_health_verdict_name(MG_HEALTH_OK)) != 0) return MG_OK;
  MG_TRY(mg_grow(&health->baseline, (int64_t)health->n_baseline + 1, "devices of the baseline"));
  mg_health_device_t *d = &health->baseline[health->n_baseline];
  *d = none;
  if (!take_device(object, d)) return refuse(line, "a key is missing or has another type");
  health->n_baseline++;
  return MG_OK;
}

static mg_status_t read_line(const char *bytes, size_t length, line_t *line, mg_health_t *health) {
  json_error_t error;
  line->number++;
  if (length == 0) return MG_OK;
  line->object = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &error);
  if (!line->object) return refuse(line, "not JSON");
  const mg_status_t status = take_line(line, health);
  json_decref(line->object);
  return status;
}

static mg_status_t read_lines(FILE *file, const char *path, mg_health_t *health) {
  line_t line = {.path = path};
  char *bytes = NULL;
  size_t size = 0;
  ssize_t length;
  mg_status_t status = MG_OK;
  while (status == MG_OK && (length = getline(&bytes, &size, file)) >= 0) {
    if (length > 0 && bytes[length - 1] == '\n') length--;
    status = read_line(bytes, (size_t)length, &line, health);
  }
  free(bytes);
  if (status == MG_OK && ferror(file))
    status = mg_error(MG_ERR_IO, "--health=%.200s cannot be read: %s", path, strerror(errno));
  return status;
}

mg_status_t mg_report_read_baseline(const char *path, mg_health_t *health) {
  const char *const why = mg_path_why_unreadable(path);
  FILE *file = why ? NULL : fopen(path, "r");
  if (!file)
    return mg_error(MG_ERR_IO, "--health=%.200s cannot be read: %s", path,
                    why ? why : strerror(errno));
  mg_status_t status = read_lines(file, path, health);
  fclose(file);
  if (status == MG_OK && health->n_baseline == 0)
    status = mg_error(MG_ERR_IO,
                      "--health=%.200s has no device with the verdict ok; use a file that --health "
                      "--json wrote",
                      path);
  return status;
}
#else
mg_status_t mg_report_json_health(FILE *out, const mg_health_report_t *r) {
  (void)out;
  (void)r;
  return mg_error(MG_ERR_USAGE, "--json requires a build with jansson; install libjansson-dev and "
                                "configure --with-jansson");
}

mg_status_t mg_report_read_baseline(const char *path, mg_health_t *health) {
  (void)health;
  return mg_error(MG_ERR_USAGE,
                  "--health=%.200s requires a build with jansson; use --health without a baseline, "
                  "or install libjansson-dev and configure --with-jansson",
                  path);
}
#endif
