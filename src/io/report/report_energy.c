/* Energy in reports. */
#include "io/report/fields.h"
#include "io/report/report_wings.h"
#include <math.h>

/* Reason why there is no energy of a part; NULL if there is. */
static const char *gap_of(const mg_energy_t *energy, mg_energy_part_t part) {
  const mg_energy_sum_t *sum = &energy->sum[part];
  if (sum->why[0]) return sum->why;
  return energy->n_solves == 0 ? "the timed solves at h are not complete" : NULL;
}

/* At h; NaN if not measured. */
static double joules_per_solve(const mg_energy_t *energy, mg_energy_part_t part) {
  return gap_of(energy, part) ? NAN : energy->sum[part].joules / energy->n_solves;
}

static bool has_any(const mg_energy_t *energy) {
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++)
    if (!gap_of(energy, (mg_energy_part_t)p)) return true;
  return false;
}

static void print_part(FILE *out, const mg_result_t *result, mg_energy_part_t part) {
  const mg_energy_names_t *names = &mg_energy_names[part];
  const mg_energy_t *energy = &result->energy;
  const mg_energy_sum_t *sum = &energy->sum[part];
  const char *gap = gap_of(energy, part);
  const double per_solve = joules_per_solve(energy, part);
  if (gap)
    fprintf(out, "  %-4s not measured: %s\n", names->text, gap);
  else
    fprintf(out, "  %-4s %9d %12.4g %12.1f %12.1f %12.4e  %s\n", names->text, sum->n_counters,
            per_solve, sum->joules / energy->seconds, sum->idle_watts,
            mg_size_dof(&result->size[0]) / per_solve, names->source);
}

void mg_report_print_energy(FILE *out, const mg_result_t *result) {
  const mg_energy_t *energy = &result->energy;
  if (!energy->is_reported) return;
  if (energy->n_solves > 0)
    fprintf(out, "\n  energy of %d solves at h in %.3f s; idle power over %.3f s before set-up\n",
            energy->n_solves, energy->seconds, energy->idle_seconds);
  else
    fprintf(out, "\n  energy of the solves at h\n");
  if (has_any(energy))
    fprintf(out, "        counters joules/solve        watts   idle watts    DOF/joule  source\n");
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++)
    print_part(out, result, (mg_energy_part_t)p);
}

#define JOULES  .low = 1e-9, OR_NULL
#define SECONDS .low = 1e-9, .high = 1e9, OR_NULL

/* clang-format off */
static void put_energy_part(mg_sink_t *s, const mg_result_t *result, mg_energy_part_t part) {
  const mg_energy_sum_t *sum = &result->energy.sum[part];
  const char *gap = gap_of(&result->energy, part);
  const double per_solve = joules_per_solve(&result->energy, part);
  TEXT("source", mg_energy_names[part].source, "of the energy", .words = "NVML|RAPL package|RAPL psys");
  INTEGER("counters", sum->n_counters, "number of counters", .high = 1e9);
  REAL("joules", gap ? NAN : sum->joules, "energy in the window", JOULES);
  REAL("joules_per_solve", per_solve, "`joules` / `solves`", JOULES);
  REAL("dof_per_joule", mg_size_dof(&result->size[0]) / per_solve, "cells at h / `joules_per_solve`", JOULES);
  REAL("idle_watts", sum->idle_watts, "mean power before set-up", OR_NULL);
  TEXT("reason", gap ? gap : "", "why these values are `null`", OR_NULL);
}

void mg_energy_fields(mg_sink_t *s, const mg_result_t *result) {
  const mg_energy_t *e = &result->energy;
  INTEGER("solves", e->n_solves, "timed solves at h", .high = INT32_MAX);
  REAL("window_seconds", e->n_solves > 0 ? e->seconds : NAN, "between the readings before and after them",
       SECONDS);
  REAL("idle_seconds", e->idle_seconds > 0.0 ? e->idle_seconds : NAN, "over which `idle_watts` are means",
       SECONDS);
  for (int part = 0; part < MG_N_ENERGY_PARTS; part++)
    OBJECT(mg_energy_names[part].key, "of all GPUs, CPU packages or nodes")
      put_energy_part(s, result, (mg_energy_part_t)part);
}

void mg_energy_columns(mg_sink_t *s, const mg_report_t *r, int next) {
  const bool at_h = s->grid == 0;
  const mg_size_result_t *size = &r->result->size[s->grid];
  const mg_energy_t *e = &r->result->energy;
  char key[64];
  if (!e->is_reported) return;
  REAL("energy_seconds", at_h && e->n_solves > 0 ? e->seconds : NAN, "", .csv = next++);
  for (int part = 0; part < MG_N_ENERGY_PARTS; part++) {
    const double joules = joules_per_solve(e, (mg_energy_part_t)part);
    const bool has = at_h && !isnan(joules);
    const char *name = mg_energy_names[part].key;
    REAL(KEY("joules_per_solve"), has ? joules : NAN, "", .csv = next++);
    REAL(KEY("dof_per_joule"), has ? mg_size_dof(size) / joules : NAN, "", .csv = next++);
    REAL(KEY("idle_watts"), has ? e->sum[part].idle_watts : NAN, "", .csv = next++);
    TEXT(KEY("energy_source"), has ? mg_energy_names[part].source : "", "", .csv = next++);
  }
}
/* clang-format on */
