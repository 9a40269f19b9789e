/* JSON lines of checks, one object per device and line, then a summary; and baselines. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/alloc.h"
#include "base/log.h"
#include "base/paths.h"
#include "health/health.h"
#include <math.h>
#include <string.h>

/* clang-format off */
static void put_program(mg_sink_t *s) {
  TEXT("program", PACKAGE_NAME, "name of the program", .words = PACKAGE_NAME);
  TEXT("version", PACKAGE_VERSION, "version of the program");
  INTEGER("health", HEALTH_SCHEMA, "version of these lines; it grows with every change of a key or its "
          "meaning", .low = HEALTH_SCHEMA, .high = HEALTH_SCHEMA);
}

static void put_problem(mg_sink_t *s, const health_problem_t *p) {
  INTEGER("n", p->n, "cells per side");
  INTEGER("solves", p->n_solves, "number of solves");
  INTEGER("checked", p->n_checked, "number of compared solutions");
  INTEGER("wrong", p->n_wrong + p->n_norms, "number of wrong ones");
  SUM("checksum", p->checksum, "of u: of the first wrong solution, otherwise of the last", OR_NULL);
  SUM("known", p->n_checked > 0 ? p->known : 0, "the expected checksum", OR_NULL);
}

/* The other end of the links, and what arrived from it. */
static void put_peer(mg_sink_t *s, const health_device_t *d) {
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

void health_device_fields(mg_sink_t *s, const void *device) {
  const health_device_t *d = device;
  put_program(s);
  INTEGER("rank", d->name.rank, "`null` for a GPU of the baseline that no rank has", OR_NULL);
  TEXT("host", d->name.host, "name of the host");
  TEXT("model", d->name.model, "of the GPU, or of the cores with their number", OR_NULL);
  TEXT("uuid", d->name.uuid, "of the GPU", OR_NULL);
  TEXT("pci", d->pci, "address of the GPU", OR_NULL);
  TEXT("verdict", health_verdicts[d->verdict], "verdict", .words = "ok|slow|wrong|missing");
  TEXT("reason", d->reason, "`null` if `ok`", OR_NULL);
  OBJECTS("problems", i, HEALTH_PROBLEMS, "the small one, then the larger one",
          .least = HEALTH_PROBLEMS, .most = HEALTH_PROBLEMS)
    put_problem(s, &d->problem[i]);
  OBJECT("figures", "of solves of the two problems; of memory, by a vector update; of the links to the host, "
         "from the previous rank's GPU, and of messages from it; of solves of the larger problem")
    for (int f = 0; f < HEALTH_FIGURES; f++)
      OBJECT(health_figures[f].key, "in the unit of its name") {
        REAL("value", d->value[f], "of this device", OR_NULL);
        REAL("median", d->median[f], "of the job", OR_NULL);
        REAL("baseline", d->baseline[f], "of the earlier check", OR_NULL);
      }
  OBJECT_OR_NULL("peer", d->peer.host[0] != '\0', "the other end of the links; `null` if there is one rank")
    put_peer(s, d);
}

void health_summary_fields(mg_sink_t *s, const void *health) {
  const health_t *h = health;
  put_program(s);
  FLAG("passed", h->count[HEALTH_OK] == h->n_devices, "whether all devices are ok");
  INTEGER("devices", h->n_devices, "number of devices");
  for (int v = 0; v < HEALTH_VERDICTS; v++)
    INTEGER(health_verdicts[v], h->count[v], "number of devices with this verdict");
  REAL("slow_percent", h->slow, "value of `--slow`", .high = 100);
  TEXT("baseline", h->baseline_path, "path of the earlier check", OR_NULL);
}

/* clang-format on */
mg_status_t health_json(FILE *out, const void *health) {
  const health_t *h = health;
  for (int d = 0; d < h->n_devices; d++)
    MG_TRY(mg_fields_json(out, health_device_fields, &h->device[d], true));
  return mg_fields_json(out, health_summary_fields, h, true);
}

/* --- baselines -------------------------------------------------------------------------------- */

#ifdef HAVE_JANSSON
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#define REMEDY "use a file that hpgmg-health --json wrote"

/* Copy a text; null gives "". */
static bool take_text(const json_t *object, const char *key, char *out, size_t size) {
  const json_t *value = json_object_get(object, key);
  const char *const text = json_is_null(value) ? "" : json_string_value(value);
  if (!text || strlen(text) >= size) return false;
  strcpy(out, text);
  return true;
}

static bool take_name(const json_t *object, health_name_t *name) {
  name->rank = -1;
  return take_text(object, "host", name->host, sizeof name->host) &&
         take_text(object, "model", name->model, sizeof name->model) &&
         take_text(object, "uuid", name->uuid, sizeof name->uuid);
}

static bool take_problems(const json_t *list, health_device_t *d) {
  for (size_t p = 0; p < HEALTH_PROBLEMS; p++) {
    const json_t *n = json_object_get(json_array_get(list, p), "n");
    if (!json_is_integer(n)) return false;
    d->problem[p].n = (int32_t)json_integer_value(n);
  }
  return json_array_size(list) == HEALTH_PROBLEMS;
}

/* A value is a number above 0, or null. */
static bool take_figures(const json_t *all, health_device_t *d) {
  for (int f = 0; f < HEALTH_FIGURES; f++) {
    const json_t *value = json_object_get(json_object_get(all, health_figures[f].key), "value");
    d->value[f] = json_is_null(value) ? NAN : json_number_value(value); /* 0: no number */
    if (d->value[f] <= 0.0) return false;
  }
  return true;
}

/* The peer is null in a job of one rank. */
static bool take_device(const json_t *object, health_device_t *d) {
  const json_t *peer = json_object_get(object, "peer");
  return take_name(object, &d->name) && take_text(object, "pci", d->pci, sizeof d->pci) &&
         take_problems(json_object_get(object, "problems"), d) &&
         take_figures(json_object_get(object, "figures"), d) &&
         (json_is_null(peer) || take_name(peer, &d->peer));
}

/* Add the device of a line, if it is ok.
 * @return NULL, or why the line is refused */
static const char *take_line(const json_t *object, health_t *h, mg_status_t *status) {
  const char *const program = json_string_value(json_object_get(object, "program")),
                    *const verdict = json_string_value(json_object_get(object, "verdict"));
  const json_t *schema = json_object_get(object, "health");
  if (!object) return "not JSON";
  if (!program || strcmp(program, PACKAGE_NAME) != 0 || !schema)
    return "not a line of a health check";
  if (json_integer_value(schema) != HEALTH_SCHEMA) return "another version of the format";
  if (json_is_boolean(json_object_get(object, "passed"))) return NULL; /* summary */
  if (!verdict) return "no verdict";
  if (strcmp(verdict, health_verdicts[HEALTH_OK]) != 0) return NULL;
  *status = mg_grow(&h->baseline, (int64_t)h->n_baseline + 1, "devices of the baseline");
  if (*status != MG_OK) return NULL;
  health_device_t *d = &h->baseline[h->n_baseline++];
  memset(d, 0, sizeof *d);
  return take_device(object, d) ? NULL : "a key is missing or has another type";
}

mg_status_t health_read_baseline(health_t *h) {
  const char *const path = h->baseline_path, *why = mg_path_why_unreadable(path);
  FILE *file = why ? NULL : fopen(path, "r");
  char *bytes = NULL;
  size_t size = 0;
  ssize_t length;
  mg_status_t status = MG_OK;
  if (!file)
    return mg_error(MG_ERR_IO, "--baseline=%.200s cannot be read: %s", path,
                    why ? why : strerror(errno));
  for (int line = 1; status == MG_OK && (length = getline(&bytes, &size, file)) >= 0; line++) {
    if (length > 0 && bytes[length - 1] == '\n') length--;
    if (length == 0) continue;
    json_t *object = json_loadb(bytes, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
    why = take_line(object, h, &status);
    json_decref(object);
    if (why)
      status = mg_error(MG_ERR_IO, "--baseline=%.200s, line %d: %s; " REMEDY, path, line, why);
  }
  free(bytes);
  if (status == MG_OK && ferror(file))
    status = mg_error(MG_ERR_IO, "--baseline=%.200s cannot be read: %s", path, strerror(errno));
  fclose(file);
  if (status != MG_OK || h->n_baseline > 0) return status;
  return mg_error(MG_ERR_IO, "--baseline=%.200s has no device with the verdict ok; " REMEDY, path);
}
#else
mg_status_t health_read_baseline(health_t *h) {
  return mg_error(MG_ERR_USAGE,
                  "--baseline=%.200s requires a build with jansson; check without it, or install "
                  "libjansson-dev and configure --with-jansson",
                  h->baseline_path);
}
#endif
