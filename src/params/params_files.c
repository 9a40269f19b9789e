/* Files that options name: settings in them, and checks that no two options write the same file and
 * no output overwrites an input. */
#include "params/params_files.h"
#include "base/paths.h"
#include "base/real_path.h"
#include "params/params_value.h"
#include <stdio.h>
#include <string.h>

void mg_settings_add(mg_settings_t *settings, const char *name, const char *value, bool binding) {
  mg_setting_t *s = &settings->setting[settings->n++];
  snprintf(s->name, sizeof s->name, "%s", name);
  snprintf(s->value, sizeof s->value, "%s", value);
  s->binding = binding;
}

/* Settings of one smoother do not carry over to another. */
static bool is_of_smoother(int id) {
  return id == MG_OPT_SMOOTHS || id == MG_OPT_DEGREE || id == MG_OPT_OMEGA;
}

/* The path given to an option that names a file. */
static void path_of(const mg_parser_t *parser, const char *option, char path[MG_PATH_MAX]) {
  path[0] = '\0';
  mg_option_format(mg_option_find(option), parser->params, path, MG_PATH_MAX);
}

/* Handle an option that is already set: it must equal the file's value if that is binding. */
static mg_status_t compare_setting(mg_parser_t *parser, const mg_option_t *option,
                                   const mg_setting_t *setting, const char *from) {
  char given[MG_PATH_MAX], path[MG_PATH_MAX];
  mg_option_format(option, parser->params, given, (int)sizeof given);
  if (!setting->binding || strcmp(given, setting->value) == 0) return MG_OK;
  path_of(parser, from, path);
  return mg_parser_fail(parser, MG_ERR_USAGE,
                        "%s is %.60s, but --%s=%.150s requires %.60s; remove one of them",
                        mg_parser_label(parser, (mg_option_id_t)(option - mg_options)).text, given,
                        from, path, setting->value);
}

/* Did the user select a different smoother than the file? */
static bool is_other_smoother(const mg_parser_t *parser, const mg_settings_t *settings) {
  char given[64];
  const mg_option_t *option = &mg_options[MG_OPT_SMOOTHER];
  const mg_setting_t *s = settings->setting;
  mg_option_format(option, parser->params, given, (int)sizeof given);
  for (; s < settings->setting + settings->n; s++)
    if (strcmp(s->name, option->name) == 0)
      return parser->source[MG_OPT_SMOOTHER] > MG_FROM_FILE && strcmp(given, s->value) != 0;
  return false;
}

static mg_status_t take_setting(mg_parser_t *parser, const mg_setting_t *setting,
                                bool other_smoother, const char *from) {
  mg_why_t why;
  char path[MG_PATH_MAX];
  const mg_option_t *option = mg_option_find(setting->name);
  if (!option)
    return mg_parser_fail(parser, MG_ERR_INTERNAL, "setting '%s' of --%s is not an option",
                          setting->name, from);
  const int id = (int)(option - mg_options);
  if (parser->source[id] != MG_FROM_DEFAULT) return compare_setting(parser, option, setting, from);
  if (is_of_smoother(id) && other_smoother) return MG_OK;
  path_of(parser, from, path);
  if (!mg_option_set(option, setting->value, parser->params, &why))
    return mg_parser_fail(parser, MG_ERR_IO, "--%s=%.150s: %s = %.60s: %s", from, path,
                          option->name, setting->value, why.text);
  parser->source[id] = MG_FROM_FILE;
  return MG_OK;
}

/* A path that only the --restart file names may be relative to another folder, or outdated. */
static mg_status_t check_restarts_path(mg_parser_t *parser, const char *name, const char *path) {
  const bool is_restarts = parser->source[mg_option_find(name) - mg_options] == MG_FROM_FILE;
  const char *why = is_restarts ? mg_path_why_unreadable(path) : NULL;
  if (!why) return MG_OK;
  return mg_parser_fail(parser, MG_ERR_IO,
                        "--restart=%.150s refers to '%.150s', which cannot be opened: %s; pass "
                        "its current path with --%s=FILE",
                        parser->params->restart, path, why, name);
}

static mg_status_t take_file(mg_parser_t *parser, const mg_settings_reader_t *reader) {
  static mg_settings_t settings; /* too large for some stacks */
  char path[MG_PATH_MAX];
  path_of(parser, reader->option, path);
  if (path[0] == '\0') return MG_OK;
  MG_TRY(check_restarts_path(parser, reader->option, path));
  settings.n = 0;
  MG_TRY(reader->read(parser->params, &settings));
  const bool other_smoother = is_other_smoother(parser, &settings);
  for (int i = 0; i < settings.n; i++)
    MG_TRY(take_setting(parser, &settings.setting[i], other_smoother, reader->option));
  return MG_OK;
}

mg_status_t mg_parser_take_files(mg_parser_t *parser, const mg_settings_reader_t *readers) {
  for (; readers && readers->option; readers++)
    MG_TRY(take_file(parser, readers));
  return MG_OK;
}

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
  enum { N_OUTPUTS = 3, N_FILES = 7 };
  const file_t files[N_FILES] = {{"dump", p->dump},  {"json", p->json},
                                 {"csv", p->csv},    {"coefficients", p->coefficients},
                                 {"rhs", p->rhs},    {"restart", p->restart},
                                 {"input", p->input}};
  char name[MG_REAL_PATH_MAX];
  if (strcmp(p->dump, "-") == 0)
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "--dump=-: a dump cannot be written to stdout; pass a file, such as "
                          "--dump=grid.hdf");
  /* Compare the text: both may be "-" (stdout), which is not a file. */
  if (p->json[0] != '\0' && strcmp(p->json, p->csv) == 0)
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "--json and --csv both write to '%.150s'; use different files", p->json);
  for (int o = 0; o < N_OUTPUTS; o++)
    for (const file_t *output = &files[o], *file = output + 1; file < files + N_FILES; file++) {
      /* --dump may replace the --restart file, which has been read by then. */
      if (file->path == p->restart && output->path == p->dump) continue;
      mg_path_resolve(file->path, name);
      if (!writes(p, output, name)) continue;
      if (file < files + N_OUTPUTS)
        return mg_parser_fail(parser, MG_ERR_USAGE,
                              "--%s and --%s both write to '%.150s'; use different files",
                              output->option, file->option, file->path);
      return mg_parser_fail(parser, MG_ERR_USAGE,
                            "--%s would overwrite '%.150s', which --%s reads; use another file",
                            output->option, file->path, file->option);
    }
  return MG_OK;
}
