/* Checks that no two options write the same file and no output overwrites an input. */
#include "base/paths.h"
#include "params/params_parser.h"
#include <string.h>

void mg_dump_numbered(const char *path, int cycles, char numbered[MG_PATH_MAX]) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
  if (!dot || (slash && dot < slash)) dot = path + strlen(path);
  snprintf(numbered, MG_PATH_MAX, "%.*s.%04d%s", (int)(dot - path), path, cycles, dot);
}

/* Is `name` one of the numbered --dump-every files? If --dump is a link, they are written beside
 * the link, not beside its target. */
static bool is_numbered(const mg_params_t *params, const char *name) {
  char numbered[MG_PATH_MAX], own[MG_REAL_PATH_MAX];
  if (params->dump_every == 0) return false;
  for (int c = params->dump_every; c <= params->max_cycles; c += params->dump_every) {
    mg_dump_numbered(params->dump, c, numbered);
    mg_path_resolve(numbered, own);
    if (strcmp(own, name) == 0) return true;
  }
  return false;
}

/* Does --dump write the file `name`: the dump, a numbered dump, or the XDMF file of one? */
static bool dump_writes(const mg_params_t *params, const char *name) {
  char dump[MG_REAL_PATH_MAX], stem[MG_REAL_PATH_MAX];
  mg_path_resolve(params->dump, dump);
  if (dump[0] == '\0' || name[0] == '\0') return false;
  if (strcmp(dump, name) == 0 || is_numbered(params, name)) return true;
  const size_t length = strlen(name), ending = strlen(MG_XDMF_ENDING);
  if (length <= ending || strcmp(name + length - ending, MG_XDMF_ENDING) != 0) return false;
  snprintf(stem, sizeof stem, "%.*s", (int)(length - ending), name);
  return strcmp(dump, stem) == 0 || is_numbered(params, stem);
}

typedef struct {
  const char *option, *path;
} file_t;

/* Does `output` write the file `name`? */
static bool writes(const mg_params_t *params, const file_t *output, const char *name) {
  return output->path == params->dump ? dump_writes(params, name)
                                      : mg_path_is_same(output->path, name);
}

mg_status_t mg_parser_check_files(mg_parser_t *parser) {
  const mg_params_t *p = parser->params;
  const file_t outputs[] = {{"dump", p->dump}, {"json", p->json}, {"csv", p->csv}};
  const file_t inputs[] = {{"coefficients", p->coefficients},
                           {"rhs", p->rhs},
                           {"restart", p->restart},
                           {"input", p->input},
                           {"health", strcmp(p->health, "-") == 0 ? "" : p->health}};
  enum {
    N_OUTPUTS = sizeof outputs / sizeof outputs[0],
    N_INPUTS = sizeof inputs / sizeof inputs[0]
  };
  char name[MG_REAL_PATH_MAX];
  if (strcmp(p->dump, "-") == 0)
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "--dump=-: a dump cannot be written to stdout; pass a file, such as "
                          "--dump=grid.hdf");
  /* Compare the text: both may be "-" (stdout), which is not a file. */
  if (p->json[0] != '\0' && strcmp(p->json, p->csv) == 0)
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "--json and --csv both write to '%.150s'; use different files", p->json);
  for (int o = 0; o < N_OUTPUTS; o++) {
    for (int other = o + 1; other < N_OUTPUTS; other++) {
      mg_path_resolve(outputs[other].path, name);
      if (writes(p, &outputs[o], name))
        return mg_parser_fail(parser, MG_ERR_USAGE,
                              "--%s and --%s both write to '%.150s'; use different files",
                              outputs[o].option, outputs[other].option, outputs[other].path);
    }
    for (int i = 0; i < N_INPUTS; i++) {
      mg_path_resolve(inputs[i].path, name);
      /* --dump may replace the --restart file, which has been read by then. */
      if (inputs[i].path == p->restart && outputs[o].path == p->dump) continue;
      if (writes(p, &outputs[o], name))
        return mg_parser_fail(parser, MG_ERR_USAGE,
                              "--%s would overwrite '%.150s', which --%s reads; use another file",
                              outputs[o].option, inputs[i].path, inputs[i].option);
    }
  }
  return MG_OK;
}
