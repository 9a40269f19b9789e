#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "base/real_path.h"
#include "io/atomic_file.h"
#include "lab/lab.h"
#include <errno.h>
#include <string.h>
#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

static mg_status_t check_file(const char *option, const char *path) {
  mg_atomic_file_t file;
  if (!path || strcmp(path, "-") == 0) return MG_OK;
  return mg_atomic_file_prepare(option, path, 0, &file);
}

static mg_status_t check_two(const char *one, const char *path, const char *other,
                             const char *same) {
  if (!path || !same) return MG_OK;
  if (strcmp(path, same) != 0 && !mg_path_is_same(path, same)) return MG_OK;
  return mg_error(MG_ERR_USAGE, "--%s and --%s both write to '%s'; use two files", one, other,
                  path);
}

mg_status_t lab_check_files(const char *json, const char *csv, const char *source,
                            const char *plot) {
#ifndef HAVE_JANSSON
  if (json)
    return mg_error(MG_ERR_USAGE, "--json needs a build with jansson (install libjansson-dev, "
                                  "configure --with-jansson)");
#endif
  const char *const option[] = {"json", "csv", "source", "plot"}, *const path[] = {json, csv,
                                                                                   source, plot};
  for (int one = 0; one < 4; one++)
    for (int other = one + 1; other < 4; other++)
      MG_TRY(check_two(option[one], path[one], option[other], path[other]));
  for (int o = 0; o < 3; o++) /* lab_check_plot checks that of the picture */
    MG_TRY(check_file(option[o], path[o]));
  return MG_OK;
}

/* Write to stdout, or to a file atomically. */
static mg_status_t write_to(const lab_t *lab, const char *option, const char *path,
                            mg_writer_t writer) {
  if (strcmp(path, "-") == 0) return writer(stdout, lab);
  return mg_atomic_file_write(option, path, writer, lab);
}

static mg_status_t written(FILE *out) {
  if (fflush(out) == 0 && !ferror(out)) return MG_OK;
  return mg_error(MG_ERR_IO, "results cannot be written: %s", strerror(errno));
}

static mg_status_t csv_to(FILE *out, const void *data) {
  const lab_t *lab = data;
  fprintf(out,
          "ladder,table,variant,place,blocks,threads,registers,shared_bytes,occupancy,elements,"
          "useful_bytes,requested_bytes,moved_bytes,flops,seconds,gb_per_s,of_copy,speed_up,error,"
          "in_cache\n");
  for (int i = 0; i < lab->n_entries; i++) {
    const lab_entry_t *e = &lab->entry[i];
    const lab_row_t *r = &e->row;
    fprintf(
        out,
        "%s,\"%s\",\"%s\",%s,%lld,%d,%d,%d,%.17g,%lld,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,"
        "%.17g,%.17g,%d\n",
        e->ladder, e->table, e->variant, lab->place == LAB_CUDA ? "cuda" : "cpu",
        (long long)r->blocks, r->threads, r->registers, r->shared, r->occupancy,
        (long long)r->elements, r->useful, r->requested, r->moved > 0.0 ? r->moved : r->useful,
        r->flops, r->seconds, e->gb_per_s, e->of_copy, e->speed_up, r->error, e->in_cache);
  }
  return written(out);
}

mg_status_t lab_write_csv(const lab_t *lab, const char *path) {
  return write_to(lab, "csv", path, csv_to);
}

static mg_status_t source_to(FILE *out, const void *data) {
  const lab_t *lab = data;
  fputs(lab->search.winner, out);
  return written(out);
}

mg_status_t lab_write_source(const lab_t *lab, const char *path) {
  if (!lab->search.winner) return mg_error(MG_ERR_INTERNAL, "--source: no search has finished");
  return write_to(lab, "source", path, source_to);
}

#ifdef HAVE_JANSSON
static json_t *row_of(const lab_t *lab, const lab_entry_t *e) {
  const lab_row_t *r = &e->row;
  json_t *row = json_pack(
      "{s:s, s:i, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "variant", e->variant,
      "threads", r->threads, "elements", (json_int_t)r->elements, "useful_bytes", r->useful,
      "requested_bytes", r->requested, "moved_bytes", r->moved > 0.0 ? r->moved : r->useful,
      "flops", r->flops, "seconds", r->seconds, "gb_per_s", e->gb_per_s, "of_copy", e->of_copy,
      "speed_up", e->speed_up, "error", r->error, "in_cache", e->in_cache);
  if (row && lab->place == LAB_CUDA) {
    json_object_set_new(row, "blocks", json_integer((json_int_t)r->blocks));
    json_object_set_new(row, "registers", json_integer(r->registers));
    json_object_set_new(row, "shared_bytes", json_integer(r->shared));
    json_object_set_new(row, "occupancy", json_real(r->occupancy));
  }
  return row;
}

static mg_status_t json_to(FILE *out, const void *data) {
  const lab_t *lab = data;
  json_t *tables = json_array(), *rows = NULL;
  for (int i = 0; i < lab->n_entries; i++) {
    const lab_entry_t *e = &lab->entry[i];
    if (i == 0 || e->number != e[-1].number) {
      rows = json_array();
      json_array_append_new(tables, json_pack("{s:s, s:s, s:o}", "ladder", e->ladder, "table",
                                              e->table, "rows", rows));
    }
    json_array_append_new(rows, row_of(lab, e));
  }
  json_t *root = json_pack(
      "{s:s, s:s, s:{s:s, s:s, s:i}, s:f, s:I, s:I, s:o}", "program", "hpgmg-bench", "version",
      PACKAGE_VERSION, "machine", "place", lab->place == LAB_CUDA ? "cuda" : "cpu", "name",
      lab->machine, "threads", lab->threads, "copy_gb_per_s", lab->copy_gb_per_s, "array_bytes",
      (json_int_t)lab->bytes, "cache_bytes", (json_int_t)lab->cache_bytes, "tables", tables);
  if (!root) return mg_error(MG_ERR_MEMORY, "no memory for a report");
  const int failed = json_dumpf(root, out, JSON_INDENT(2));
  json_decref(root);
  if (failed || fputc('\n', out) == EOF)
    return mg_error(MG_ERR_IO, "results cannot be written: %s", strerror(errno));
  return written(out);
}

mg_status_t lab_write_json(const lab_t *lab, const char *path) {
  return write_to(lab, "json", path, json_to);
}
#else
mg_status_t lab_write_json(const lab_t *lab, const char *path) {
  (void)lab;
  return lab_check_files(path, NULL, NULL, NULL); /* reports the missing library */
}
#endif
