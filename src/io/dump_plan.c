/* What a dump contains, and whether it can be written; runs before a file exists. */
#include "base/log.h"
#include "base/real_path.h"
#include "comm/comm.h"
#include "io/atomic_file.h"
#include "io/dump_parts.h"
#include "io/hdf5/h5.h"
#include "params/params_files.h"
#include "plan/domain_plan.h"
#include "wings.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool mg_dump_wants(const mg_params_t *params, mg_field_t field) {
  /* Without the equation's term, alpha holds shares of conditions. */
  const bool has_alpha = params->alpha_varies && params->equation == MG_EQUATION_HELMHOLTZ;
  if (field == MG_FIELD_ALPHA && !has_alpha) return false;
  if (field == MG_FIELD_MASK) return params->closes_cells;
  return (params->dump_fields & 1u << field) != 0;
}

bool mg_dump_wants_level(const mg_params_t *params, int level) {
  return (params->dump_levels & 1u << level) != 0;
}

bool mg_dump_wants_at(const mg_params_t *params, int level, mg_field_t field) {
  return mg_dump_wants_level(params, level) && mg_dump_wants(params, field) &&
         (level == 0 || field != MG_FIELD_MASK);
}

bool mg_dump_wants_wall(const mg_params_t *p, mg_field_t field) {
  unsigned betas = 0;
  for (int d = 0; d < 3; d++)
    if (!mg_params_is_periodic(p, d)) betas |= 1u << (MG_FIELD_BETA_I + d);
  const unsigned asked = field == MG_N_FIELDS ? betas : betas & 1u << field;
  return mg_dump_wants_level(p, 0) && (p->dump_fields & asked);
}

bool mg_dump_wants_sides(const mg_params_t *p) {
  bool any = false;
  for (int d = 0; d < 3; d++)
    any = any || p->side[d][0].varies || p->side[d][1].varies;
  return any && mg_dump_wants_level(p, 0) && mg_dump_wants(p, MG_FIELD_F);
}

void mg_dump_data_path(const mg_params_t *params, int level, mg_field_t field,
                       char path[MG_DATA_PATH_MAX]) {
  const char *data = params->dump_centering == MG_CENTERING_CELL ? "CellData" : "PointData";
  if (level == 0)
    snprintf(path, MG_DATA_PATH_MAX, "/VTKHDF/%s/%s", data, mg_field_name(field));
  else
    snprintf(path, MG_DATA_PATH_MAX, "/HPGMG/levels/level_%d/%s", level, mg_field_name(field));
}

bool mg_plan_is_even(const mg_level_plan_t *level, const mg_params_t *params, int l) {
  bool even = true;
  for (int d = 0; d < 3; d++) {
    even = even && !params->face[d];
    MG_IF_DOMAINS(even = even && mg_plan_width(level, params, l, d, level[l].layout.n[d] - 1) ==
                                     level[l].h[d]);
  }
  (void)level, (void)l; /* without the wing */
  return even;
}

void mg_axis_path(int level, int d, char path[MG_DATA_PATH_MAX]) {
  if (level == MG_AXIS_VTK)
    snprintf(path, MG_DATA_PATH_MAX, "/VTKHDF/%cCoordinates", "XYZ"[d]);
  else if (level == 0)
    snprintf(path, MG_DATA_PATH_MAX, "/grid/%c", "xyz"[d]);
  else
    snprintf(path, MG_DATA_PATH_MAX, "/HPGMG/levels/level_%d/%c", level, "xyz"[d]);
}

int64_t mg_dump_bytes(const mg_params_t *params, const mg_plan_t *plan) {
  const int64_t size =
      params->dump_precision == MG_PRECISION_FLOAT ? sizeof(float) : sizeof(double);
  int64_t bytes = 0;
  for (int l = 0; l < mg_plan_n_double_levels(plan); l++)
    for (int field = 0; field < MG_N_FIELDS; field++)
      if (mg_dump_wants_at(params, l, (mg_field_t)field))
        bytes += mg_layout_n_cells(&plan->level[l].layout) * size;
  return bytes;
}

/* Compressed data takes less room, by an unknown amount. */
int64_t mg_dump_room(const mg_params_t *params, const mg_plan_t *plan) {
  enum { METADATA_BYTES = 1 << 16 };
  return params->dump_compress > 0 ? METADATA_BYTES : mg_dump_bytes(params, plan) + METADATA_BYTES;
}

/* A selection of all levels means all that have double cells. An explicitly named level must have
 * them. */
static mg_status_t check_levels(const mg_params_t *params, const mg_plan_t *plan) {
  if (params->dump_levels == (1u << MG_MAX_LEVELS) - 1) return MG_OK;
  const int n = mg_plan_n_double_levels(plan);
  for (int l = n; l < MG_MAX_LEVELS; l++)
    if (mg_dump_wants_level(params, l))
      return mg_error(MG_ERR_USAGE, "--dump-levels: level %d %s; use levels 0 to %d", l,
                      l < plan->n_levels ? "has float cells only" : "does not exist", n - 1);
  return MG_OK;
}

/* A selection of all fields means all existing ones. If alpha is named explicitly, it must
 * exist. */
static mg_status_t check_alpha(const mg_params_t *params) {
  const unsigned all = (1u << MG_N_FIELDS) - 1;
  if (mg_dump_wants(params, MG_FIELD_ALPHA) || params->dump_fields == all ||
      !(params->dump_fields & 1u << MG_FIELD_ALPHA))
    return MG_OK;
  return mg_error(
      MG_ERR_USAGE,
      "--dump-fields includes alpha, but alpha is the constant %s in this run; drop it, "
      "or give an alpha field with --coefficients",
      params->equation == MG_EQUATION_HELMHOLTZ ? "1" : "0");
}

/* VTK reads points of a plane or a line only as datasets of two or one dimensions, and not of all
 * planes. */
static mg_status_t check_points(const mg_params_t *params, const mg_plan_t *plan) {
  const int32_t *n = plan->level[0].layout.n;
  if (params->dump_centering != MG_CENTERING_POINT || (n[0] > 1 && n[1] > 1 && n[2] > 1))
    return MG_OK;
  return mg_error(
      MG_ERR_USAGE,
      "--dump-centering=point requires at least 2 cells in each direction, but the grid "
      "has %s: VTK reads no such points; use --dump-centering=cell",
      mg_grid(n).text);
}

/* Check that the file `path` and its .xdmf file can be written. */
static mg_status_t check_name(const mg_params_t *params, const mg_plan_t *plan, const char *path) {
  mg_atomic_file_t file;
  char xdmf[MG_REAL_PATH_MAX + sizeof MG_XDMF_ENDING];
  MG_TRY(mg_atomic_file_prepare("dump", path, mg_dump_room(params, plan), &file));
  MG_TRY(mg_dump_check_xml(file.final));
  snprintf(xdmf, sizeof xdmf, "%s" MG_XDMF_ENDING, file.final);
  return mg_atomic_file_prepare("dump", xdmf, 0, &file);
}

/* Readers identify files by their extension: ParaView 5.11 opens only .hdf. */
static void warn_of_ending(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const char *dot = strrchr(name, '.');
  if (dot && dot > name && (strcmp(dot, ".hdf") == 0 || strcmp(dot, ".vtkhdf") == 0)) return;
  mg_warning("--dump=%s lacks the extension .hdf that ParaView needs (5.11 opens no other); use "
             "--dump=%s.hdf, or open %s" MG_XDMF_ENDING,
             path, path, name);
}

static mg_status_t check_files(const mg_params_t *params, const mg_plan_t *plan) {
  char numbered[MG_PATH_MAX];
  if (!params->dump[0]) return MG_OK;
  MG_TRY(mg_h5_check_build("dump"));
  MG_TRY(check_levels(params, plan));
  MG_TRY(check_alpha(params));
  MG_TRY(check_points(params, plan));
  MG_TRY(check_name(params, plan, params->dump));
  if (params->dump_every > 0) {
    mg_dump_numbered(params->dump, params->max_cycles, numbered);
    MG_TRY(check_name(params, plan, numbered));
  }
  warn_of_ending(params->dump);
  return MG_OK;
}

/* The folder may be on a disk local to rank 0's host. The first rank that cannot access it reports
 * so. */
static mg_status_t check_reach(const mg_params_t *params) {
  char folder[MG_REAL_PATH_MAX];
  if (!params->dump[0]) return MG_OK;
  mg_path_resolve(params->dump, folder);
  char *slash = strrchr(folder, '/');
  if (slash) slash[1] = '\0';
  errno = 0;
  const bool reaches = !mg_h5_takes_part() || !slash || access(folder, X_OK) == 0;
  const char *why = strerror(errno);
  int first;
  MG_TRY(mg_comm_first(mg_comm_world(), !reaches, &first));
  if (first == mg_comm_size(mg_comm_world())) return MG_OK;
  if (first != mg_comm_rank(mg_comm_world())) return MG_ERR_IO;
  return mg_error(MG_ERR_IO,
                  "--dump=%s cannot be written: %s: %s; choose a directory that all hosts share",
                  params->dump, folder, why);
}

mg_status_t mg_dump_check(const mg_params_t *params, const mg_plan_t *plan) {
  MG_TRY(MG_ON_ROOT(check_files(params, plan)));
  return check_reach(params);
}
