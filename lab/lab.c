#include "lab/lab.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/log_wings.h"
#include "base/timers.h"
#include "io/report/report.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double lab_median(double *value, int n) {
  qsort(value, (size_t)n, sizeof value[0], by_value);
  return n % 2 ? value[n / 2] : 0.5 * (value[n / 2 - 1] + value[n / 2]);
}

enum { CORNERS = 8, MAX_PER_SIDE = 64 };

static int places_of_side(int n) {
  return n < MAX_PER_SIDE ? n : MAX_PER_SIDE;
}

int lab_plane_places(int n) {
  return CORNERS + places_of_side(n);
}

int lab_places(int n) {
  return lab_plane_places(n) + (n <= MAX_PER_SIDE ? 64 : 16);
}

void lab_place(int q, int n, int cell[3]) {
  static const int step[3] = {37, 91, 151}; /* odd, so t step mod n takes every value once */
  const int t = q - CORNERS;
  for (int d = 0; d < 3; d++)
    if (t < 0) {
      cell[d] = q >> d & 1 ? n - 1 : 0;
    } else if (t < places_of_side(n)) {
      cell[d] = t * step[d] % n;
    } else {
      /* Random cells without a common pattern, such as both i and j even. */
      uint64_t hash = (uint64_t)(3 * q + d) * 0x9e3779b97f4a7c15u;
      hash = (hash ^ hash >> 31) * 0xbf58476d1ce4e5b9u;
      cell[d] = (int)(hash >> 33) % n;
    }
}

static int name_width(const lab_t *lab) {
  return lab->name_width > 0 ? lab->name_width : 30;
}

static void print_head(const lab_t *lab) {
  if (!lab->text) return;
  const char *last = lab->unlike ? "flop/B" : "speed-up";
  fprintf(lab->text, "\n%s: %s\n", lab->ladder, lab->table);
  if (lab->place == LAB_CUDA)
    fprintf(lab->text, "%-*s %15s %4s %7s %5s %7s %7s %7s %10s %8s %8s %7s %8s\n", name_width(lab),
            "variant", "launch", "regs", "shared", "occup", "useful", "request", "moved", "us",
            "G/s", "GB/s", "% copy", last);
  else
    fprintf(lab->text, "%-*s %7s %7s %7s %7s %10s %8s %8s %7s %8s\n", name_width(lab), "variant",
            "threads", "useful", "request", "moved", "us", "G/s", "GB/s", "% copy", last);
}

static void print_row(const lab_t *lab, const lab_entry_t *e) {
  if (!lab->text) return;
  const lab_row_t *r = &e->row;
  fprintf(lab->text, "%-*s ", name_width(lab), e->variant);
  char launch[32], requested[16] = "-";
  if (r->requested > 0.0) snprintf(requested, sizeof requested, "%.4g", r->requested);
  snprintf(launch, sizeof launch, "%" PRId64 " x %d", r->blocks, r->threads);
  if (lab->place == LAB_CPU)
    fprintf(lab->text, "%7d ", r->threads);
  else if (r->blocks == 0) /* no launch shape, as for a library call */
    fprintf(lab->text, "%15s %4s %7s %5s ", "-", "-", "-", "-");
  else
    fprintf(lab->text, "%15s %4d %7d %4.0f%% ", launch, r->registers, r->shared,
            100.0 * r->occupancy);
  fprintf(lab->text, "%7.4g %7s %7.4g %10.2f %8.4g %8.1f %6.1f%% %8.2f%s\n", r->useful, requested,
          r->moved > 0.0 ? r->moved : r->useful, 1e6 * r->seconds,
          1e-9 * (double)r->elements / r->seconds, e->gb_per_s, 100.0 * e->of_copy,
          lab->unlike ? r->flops / r->useful : e->speed_up, e->in_cache ? "  in cache" : "");
  mg_report_flush(lab->text);
}

/* On a terminal, show the current row and the time. */
static void show_progress(const lab_t *lab) {
  char of[48] = "";
  int rows = 0;
  if (lab->progress.of == 0) return;
  while (rows < lab->n_entries && lab->entry[lab->n_entries - 1 - rows].ladder == lab->ladder)
    rows++;
  if (lab->progress.estimated > 0.0)
    snprintf(of, sizeof of, " of about %.0f s", lab->progress.estimated);
  mg_progress("%s, ladder %d of %d: row %d, %.0f s%s", lab->ladder, lab->progress.at,
              lab->progress.of, rows + 1, mg_now() - lab->progress.start, of);
}

void lab_table(lab_t *lab, const char *ladder, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(lab->table, sizeof lab->table, format, args);
  va_end(args);
  lab->ladder = ladder;
  lab->n_tables++;
  mg_progress_clear();
  print_head(lab);
  show_progress(lab);
}

mg_status_t lab_add(lab_t *lab, const lab_row_t *row, const char *format, ...) {
  char variant[LAB_NAME];
  va_list args;
  va_start(args, format);
  vsnprintf(variant, sizeof variant, format, args);
  va_end(args);
  if (!(row->error == 0.0))
    return mg_error(MG_ERR_INTERNAL, "%s: %s: '%s' gives a wrong result, error %g", lab->ladder,
                    lab->table, variant, row->error);
  if (!(row->seconds > 0.0))
    return mg_error(MG_ERR_INTERNAL, "%s: %s: '%s' took no time", lab->ladder, lab->table, variant);
  if (lab->n_entries == lab->room) {
    const int room = lab->room == 0 ? 256 : 2 * lab->room;
    MG_TRY(mg_grow(&lab->entry, room, "rows"));
    lab->room = room;
  }
  lab_entry_t *e = &lab->entry[lab->n_entries];
  memset(e, 0, sizeof *e);
  e->ladder = lab->ladder;
  memcpy(e->table, lab->table, sizeof e->table);
  memcpy(e->variant, variant, sizeof e->variant);
  e->number = lab->n_tables;
  e->row = *row;
  e->gb_per_s = 1e-9 * row->useful * (double)row->elements / row->seconds;
  const double touched =
      row->footprint > 0.0 ? row->footprint : row->useful * (double)row->elements;
  e->in_cache = touched < (double)lab->cache_bytes;
  e->of_copy = lab->copy_gb_per_s > 0.0 ? e->gb_per_s / lab->copy_gb_per_s : 1.0;
  int first = lab->n_entries;
  while (first > 0 && lab->entry[first - 1].number == e->number)
    first--;
  /* An element is the same work in all rows of a table, but the number of elements may differ. */
  const lab_row_t *base = &lab->entry[first].row;
  e->speed_up = lab->unlike ? 0.0
                            : (base->seconds / (double)base->elements) /
                                  (row->seconds / (double)row->elements);
  lab->n_entries++;
  mg_progress_clear();
  print_row(lab, e);
  show_progress(lab);
  return MG_OK;
}

void lab_free(lab_t *lab) {
  free(lab->entry);
  free(lab->search.winner);
  lab->search.winner = NULL;
  lab->entry = NULL;
  lab->n_entries = lab->room = 0;
}
