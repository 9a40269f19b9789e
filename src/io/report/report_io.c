/* What files add to the report of a run: origins of fields, checksums, the line of --dump. */
#include "io/checksum.h"
#include "io/dump.h"
#include "io/report/report_wings.h"
#include <inttypes.h>

/* The origin of a field; `source` is its file's. */
static void print_field(FILE *out, const mg_params_t *params, const mg_input_t *input,
                        const char *name, mg_input_field_t field, mg_input_source_t source) {
  const char *origin = mg_input_origin(params, input, field);
  if (origin[0] == '\0') return;
  fprintf(out, "%s%s ", field == MG_INPUT_BETA ? "  problem   " : ", ", name);
  if (strcmp(origin, "file") == 0)
    fprintf(out, "from %s (%s)", source.path,
            input->has_checksums[source.is_rhs] ? "checksums verified" : "no checksums");
  else
    fprintf(out, "%s", origin);
}

/* What a file holds that the other one replaces. */
static void print_unused(FILE *out, const mg_input_t *input, mg_input_source_t source) {
  const unsigned bits = input->unused[source.is_rhs];
  if (bits == 0) return;
  fprintf(out, "            (not used:");
  for (int field = 0; field < MG_N_INPUTS; field++)
    if (bits & 1u << field) fprintf(out, " %s", mg_input_names[field]);
  fprintf(out, "%s of %s)\n", bits & MG_INPUT_BOUNDARY ? " /boundary" : "", source.path);
}

void mg_report_print_input(FILE *out, const mg_params_t *params, const mg_input_t *input) {
  const mg_input_source_t coefficients = mg_input_source(params, false),
                          rhs = mg_input_source(params, true);
  print_field(out, params, input, "beta", MG_INPUT_BETA, coefficients);
  print_field(out, params, input, "f", MG_INPUT_F, rhs);
  print_field(out, params, input, "alpha", MG_INPUT_ALPHA, coefficients);
  if (input->place[MG_INPUT_MASK].path[0]) fprintf(out, ", mask from %s", coefficients.path);
  for (int side = 0; side < 6; side++)
    if (params->side[side / 2][side % 2].varies)
      fprintf(out, ", %s from %s", mg_input_wall_path(side / 2, side % 2), rhs.path);
  fprintf(out, "\n");
  if (params->closes_cells)
    fprintf(out,
            "  solids    %" PRId64 " cell%s outside of the problem, %" PRId64
            " singular pocket%s\n",
            params->n_outside, params->n_outside == 1 ? "" : "s", params->n_singular,
            params->n_singular == 1 ? "" : "s");
  print_unused(out, input, coefficients);
  print_unused(out, input, rhs);
}

static void print_dump(FILE *out, const mg_params_t *params, const mg_dump_stats_t *d) {
  char more[32] = "";
  if (d->n_files == 0) return;
  if (d->n_files > 1) snprintf(more, sizeof more, " and %d more", d->n_files - 1);
  fprintf(out, "\ndump  %s%s: %s in %.3f s (%.2f GB/s), read back in %.3f s\n", params->dump, more,
          mg_bytes((double)d->bytes).text, d->seconds_write,
          1e-9 * (double)d->bytes / d->seconds_write, d->seconds_check);
  mg_report_flush(out);
}

mg_status_t mg_report_checksums(mg_report_t *r, const mg_hierarchy_t *h) {
  const mg_level_t *fine = &h->level[0];
  if (!r->params->json[0] || r->result->diverged || r->result->interrupted) return MG_OK;
  MG_TRY(mg_field_checksum(fine, MG_U, &r->checksum_u));
  MG_TRY(mg_field_checksum(fine, MG_F, &r->checksum_f));
  r->has_checksums = true;
  return MG_OK;
}

mg_status_t mg_report_write_all(const mg_report_t *r, mg_hierarchy_t *h) {
  FILE *out = mg_report_text(r->params);
  mg_dump_stats_t dump;
  const mg_status_t written = mg_report_write_files(r);
  if (written >= MG_ERR_DEVICE) return written;
  const mg_status_t dumped =
      mg_dump_run(h, r->result, r->command_line, r->threads, r->input->checksum, &dump);
  if (out && dumped <= MG_ERR_INTERRUPTED) print_dump(out, r->params, &dump);
  return mg_status_worst(dumped, written);
}
