/* The small text file that describes the values to readers without VTKHDF: XDMF 2. */
#include "base/log.h"
#include "io/dump_parts.h"
#include "params/params_files.h"
#include <stdio.h>
#include <string.h>

/* Length in bytes of the UTF-8 character at `text`. 0 if invalid, or not allowed in XML: control
 * characters, surrogates, U+FFFE and U+FFFF. */
static int character_bytes(const unsigned char *text) {
  const unsigned first = text[0];
  const int n = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  static const unsigned min_code[] = {0, 0x20, 0x80, 0x800,
                                      0x10000}; /* overlong forms are invalid */
  unsigned code = n < 2 ? first : first & (0xffu >> (n + 1));
  for (int i = 1; i < n; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    code = code << 6 | (text[i] & 0x3f);
  }
  if (n == 0 || first > 0xf4 || code < min_code[n] || code == 0x7f || code > 0x10ffff) return 0;
  return (code >= 0xd800 && code <= 0xdfff) || code == 0xfffe || code == 0xffff ? 0 : n;
}

mg_status_t mg_dump_check_xml(const char *path) {
  const char *slash = strrchr(path, '/'), *at = slash ? slash + 1 : path;
  while (*at) {
    const int n = character_bytes((const unsigned char *)at);
    if (n == 0)
      return mg_error(
          MG_ERR_USAGE,
          "--dump=%s: byte 0x%02x of the file name is not printable UTF-8, as the XML of "
          "FILE" MG_XDMF_ENDING " requires; choose another name",
          path, (unsigned char)*at);
    at += n;
  }
  return MG_OK;
}

static void put_escaped(FILE *out, const char *text) {
  static const char *const escaped[256] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;"};
  for (; *text; text++)
    if (escaped[(unsigned char)*text])
      fputs(escaped[(unsigned char)*text], out);
    else
      fputc(*text, out);
}

static void put_field(FILE *out, const mg_params_t *p, int level, const int32_t n[3],
                      mg_field_t field, const char *name) {
  char path[MG_DATA_PATH_MAX];
  mg_dump_data_path(p, level, field, path);
  fprintf(out,
          "      <Attribute Name=\"%s\" AttributeType=\"Scalar\" Center=\"Cell\">\n"
          "        <DataItem Dimensions=\"%d %d %d\" NumberType=\"Float\" Precision=\"%d\" "
          "Format=\"HDF\">",
          mg_field_name(field), n[2], n[1], n[0], p->dump_precision == MG_PRECISION_FLOAT ? 4 : 8);
  put_escaped(out, name);
  fprintf(out, ":%s</DataItem>\n      </Attribute>\n", path);
}

static void put_even(FILE *out, const int32_t n[3], const double origin[3], const double h[3]) {
  fprintf(out,
          "      <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"%d %d %d\"/>\n"
          "      <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n"
          "        <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" "
          "Format=\"XML\">%.17g %.17g %.17g</DataItem>\n"
          "        <DataItem Dimensions=\"3\" NumberType=\"Float\" Precision=\"8\" "
          "Format=\"XML\">%.17g %.17g %.17g</DataItem>\n"
          "      </Geometry>\n",
          n[2] + 1, n[1] + 1, n[0] + 1, origin[2], origin[1], origin[0], h[2], h[1], h[0]);
}

/* Cells of different widths: the positions of their faces are in the file. */
static void put_uneven(FILE *out, int level, const int32_t n[3], const char *name) {
  fprintf(out,
          "      <Topology TopologyType=\"3DRectMesh\" Dimensions=\"%d %d %d\"/>\n"
          "      <Geometry GeometryType=\"VXVYVZ\">\n",
          n[2] + 1, n[1] + 1, n[0] + 1);
  for (int d = 0; d < 3; d++) {
    char path[MG_DATA_PATH_MAX];
    mg_axis_path(level, d, path);
    fprintf(out,
            "        <DataItem Dimensions=\"%d\" NumberType=\"Float\" Precision=\"8\" "
            "Format=\"HDF\">",
            n[d] + 1);
    put_escaped(out, name);
    fprintf(out, ":%s</DataItem>\n", path);
  }
  fputs("      </Geometry>\n", out);
}

typedef struct {
  const mg_params_t *params;
  const mg_plan_t *plan;
  const char *name; /* of the HDF5 file, in the same folder */
} file_t;

/* Always cell-centered, regardless of --dump-centering, which affects VTKHDF readers only. */
static void put_level(FILE *out, const file_t *file, int level) {
  const mg_params_t *p = file->params;
  const mg_level_plan_t *plan = file->plan->level;
  const int32_t *n = plan[level].layout.n;
  fprintf(out, "    <Grid Name=\"level %d\" GridType=\"Uniform\">\n", level);
  if (mg_plan_is_even(plan, p, level))
    put_even(out, n, p->origin, plan[level].h);
  else
    put_uneven(out, level, n, file->name);
  for (int field = 0; field < MG_N_FIELDS; field++)
    if (mg_dump_wants_at(p, level, (mg_field_t)field))
      put_field(out, p, level, n, (mg_field_t)field, file->name);
  fputs("    </Grid>\n", out);
}

static mg_status_t put_file(FILE *out, const void *data) {
  const file_t *file = data;
  fputs("<?xml version=\"1.0\"?>\n<Xdmf Version=\"2.0\">\n  <Domain>\n", out);
  for (int l = 0; l < mg_plan_n_double_levels(file->plan); l++)
    if (mg_dump_wants_level(file->params, l)) put_level(out, file, l);
  fputs("  </Domain>\n</Xdmf>\n", out);
  return MG_OK;
}

mg_status_t mg_dump_write_xdmf(const mg_params_t *params, const mg_plan_t *plan, const char *path) {
  char name[MG_WHOLE_FILE_MAX];
  const char *slash = strrchr(path, '/');
  const file_t file = {params, plan, slash ? slash + 1 : path};
  if ((size_t)snprintf(name, sizeof name, "%s" MG_XDMF_ENDING, path) >= sizeof name) name[0] = '\0';
  return mg_atomic_file_write("dump", name, put_file, &file);
}
