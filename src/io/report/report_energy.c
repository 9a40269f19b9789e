/* Energy in the text report. */
#include "io/report/report.h"
#include <math.h>

const char *mg_report_energy_gap(const mg_energy_t *energy, mg_energy_part_t part) {
  const mg_energy_sum_t *sum = &energy->sum[part];
  if (sum->why[0]) return sum->why;
  return energy->n_solves == 0 ? "the timed solves at h are not complete" : NULL;
}

double mg_report_joules_per_solve(const mg_energy_t *energy, mg_energy_part_t part) {
  return mg_report_energy_gap(energy, part) ? NAN : energy->sum[part].joules / energy->n_solves;
}

static bool has_any(const mg_energy_t *energy) {
  for (int p = 0; p < MG_N_ENERGY_PARTS; p++)
    if (!mg_report_energy_gap(energy, (mg_energy_part_t)p)) return true;
  return false;
}

static void print_part(FILE *out, const mg_result_t *result, mg_energy_part_t part) {
  const mg_energy_names_t *names = &mg_energy_names[part];
  const mg_energy_t *energy = &result->energy;
  const mg_energy_sum_t *sum = &energy->sum[part];
  const char *gap = mg_report_energy_gap(energy, part);
  const double per_solve = mg_report_joules_per_solve(energy, part);
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
