/* JSON lines of health checks, one object per device and line, then a summary; and baselines. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/alloc.h"
#include "base/log.h"
#include "base/paths.h"
#include "io/report/fields.h"
#include "io/report/report_health.h"
#include <string.h>

/* --- fields ----------------------------------------------------------------------------------- */

/* clang-format off */
static void put_program(mg_sink_t *s) {
  TEXT("program", PACKAGE_NAME, "name of the program", .words = PACKAGE_NAME);
  TEXT("version", PACKAGE_VERSION, "version of the program");
  INTEGER("health", MG_HEALTH_SCHEMA, "version of these lines; it grows with every change of a key or its "
          "meaning", .low = MG_HEALTH_SCHEMA, .high = MG_HEALTH_SCHEMA);
}

static void put_problem(mg_sink_t *s, const mg_health_problem_t *p) {
  INTEGER("n", p->n, "cells per side");
  INTEGER("solves", p->n_solves, "number of solves");
  INTEGER("checked", p->n_checked, "number of compared solutions");
  INTEGER("wrong", p->n_wrong + p->n_norms, "number of wrong ones");
  if (s->lists || p->n_checked > 0) {
    SUM("checksum", p->checksum, "of u: of the first wrong solution, otherwise of the last", OR_NULL);
    SUM("known", p->known, "the expected checksum", OR_NULL);
  } else {
    TEXT("checksum", "", "", OR_NULL);
    TEXT("known", "", "", OR_NULL);
  }
}

/* The other end of the links, and what arrived from it. */
static void put_peer(mg_sink_t *s, const mg_health_device_t *d) {
  INTEGER("rank", d->peer.rank, "the previous rank", OR_NULL);
  TEXT("host", d->peer.host, "its host");
  TEXT("model", d->peer.model, "its device", OR_NULL);
  TEXT("uuid", d->peer.uuid, "of its GPU", OR_NULL);
  INTEGER("stored_words", d->stores.n_words, "8-byte words that arrived from its GPU");
  INTEGER("wrong_stored_words", d->stores.errors.n, "number of wrong ones");
  INTEGER("message_words", d->messages.n_words, "8-byte words that arrived in messages");
  INTEGER("wrong_message_words", d->messages.errors.n, "number of wrong ones");
  TEXT("no_peer_link", d->no_peer_link, "why its GPU did not store", OR_NULL);
}

void mg_health_device_fields(mg_sink_t *s, const void *device) {
  const mg_health_device_t *d = device;
  put_program(s);
  INTEGER("rank", d->rank, "`null` for a GPU of the baseline that no rank has", OR_NULL);
  TEXT("host", d->host, "name of the host");
  TEXT("model", d->model, "of the GPU, or of the cores with their number", OR_NULL);
  TEXT("uuid", d->uuid, "of the GPU", OR_NULL);
  TEXT("pci", d->pci, "address of the GPU", OR_NULL);
  TEXT("verdict", mg_health_verdict_name(d->verdict), "verdict", .words = "ok|slow|wrong|missing");
  TEXT("reason", d->reason, "`null` if `ok`", OR_NULL);
  OBJECTS("problems", i, MG_HEALTH_PROBLEMS, "the small one, then the larger one",
          .least = MG_HEALTH_PROBLEMS, .most = MG_HEALTH_PROBLEMS)
    put_problem(s, &d->problem[i]);
  OBJECT("figures", "of solves of the two problems; of memory, by a vector update; of the links to the host, "
         "from the previous rank's GPU, and of messages from it; of solves of the larger problem")
    for (int f = 0; f < MG_N_HEALTH_FIGURES; f++)
      OBJECT(mg_health_figure_name((mg_health_figure_t)f), "in the unit of its name") {
        REAL("value", d->value[f], "of this device", OR_NULL);
        REAL("median", d->median[f], "of the job", OR_NULL);
        REAL("baseline", d->baseline[f], "of the earlier check", OR_NULL);
      }
  OBJECT_OR_NULL("peer", d->peer.host[0] != '\0', "the other end of the links; `null` if there is one rank")
    put_peer(s, d);
}

void mg_health_summary_fields(mg_sink_t *s, const void *report) {
  const mg_health_report_t *r = report;
  const char *baseline = r->params->health;
  put_program(s);
  FLAG("passed", r->passed, "whether all devices are ok");
  INTEGER("devices", r->health->n_devices, "number of devices");
  for (int v = 0; v < MG_N_HEALTH_VERDICTS; v++)
    INTEGER(mg_health_verdict_name((mg_health_verdict_t)v), r->count[v], "number of devices with this "
            "verdict");
  REAL("slow_percent", r->params->health_slow, "--health-slow");
  TEXT("baseline", strcmp(baseline, "-") == 0 ? "" : baseline, "path of the earlier check", OR_NULL);
}

/* clang-format on */
mg_status_t mg_report_json_health(FILE *out, const void *report) {
  const mg_health_report_t *r = report;
  for (int d = 0; d < r->health->n_devices; d++)
    MG_TRY(mg_fields_json(out, mg_health_device_fields, &r->health->device[d], true));
  return mg_fields_json(out, mg_health_summary_fields, r, true);
}

/* --- baselines -------------------------------------------------------------------------------- */

#ifdef HAVE_JANSSON
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

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
mg_status_t mg_report_read_baseline(const char *path, mg_health_t *health) {
  (void)health;
  return mg_error(MG_ERR_USAGE,
                  "--health=%.200s requires a build with jansson; use --health without a baseline, "
                  "or install libjansson-dev and configure --with-jansson",
                  path);
}
#endif
