/* Final checks after all options are read: dependent defaults, then contradictions. */
#include "params/params_files.h"
#include "params/params_value.h"
#include "params/params_wings.h"
#include "wings.h"
#include <string.h>

/* The reference code does 6 half sweeps for fv2 and fv4, and 4 for 7pt. Two half sweeps are one
 * red-black sweep. */
static int default_smooths(const mg_params_t *params) {
  const mg_operator_traits_t *t = mg_traits_of(params->op);
  switch (params->smoother) {
  case MG_SMOOTHER_GSRB:
    return t->gsrb_smooths;
  case MG_SMOOTHER_CHEBYSHEV:
  case MG_SMOOTHER_CHEBYSHEV4:
    return 1;
  case MG_SMOOTHER_JACOBI:
  case MG_SMOOTHER_L1JACOBI:
    return t->jacobi_smooths;
  case MG_SMOOTHER_SYMGS:
  case MG_SMOOTHER_SSOR:
    return 2;
  }
  return 1;
}

/* Red-black SSOR: the optimal weight for the Poisson equation in three dimensions is 1.15.
 * Yavneh, On red-black SOR smoothing in multigrid, SIAM J. Sci. Comput. 17 (1996). On cells that
 * are no cubes it costs cycles: 30 instead of 20 to 1e-10 with widths 1 : 1000, 56 instead of 25 on
 * two stretched axes. */
static double default_omega(const mg_params_t *params) {
  if (params->smoother == MG_SMOOTHER_SSOR && !mg_params_has_cells(params)) return 1.15;
  return params->smoother == MG_SMOOTHER_JACOBI ? 2.0 / 3.0 : 1.0;
}

static int default_degree(const mg_params_t *params) {
  return mg_traits_of(params->op)->degree;
}

bool mg_params_has_default_smooths(const mg_params_t *params) {
  if (params->smooths != default_smooths(params)) return false;
  return mg_is_polynomial(params->smoother) ? params->degree == default_degree(params)
                                            : params->omega == default_omega(params);
}

static void set_defaults_of_one_solve(mg_params_t *params, const mg_source_t source[MG_N_OPTIONS]) {
  MG_IF_CHOICES(if (source[MG_OPT_METHOD] == MG_FROM_DEFAULT) params->method = MG_METHOD_AUTO);
  if (source[MG_OPT_RTOL] == MG_FROM_DEFAULT) params->rtol = 1e-8;
  if (source[MG_OPT_MAX_CYCLES] == MG_FROM_DEFAULT) params->max_cycles = 200;
  if (source[MG_OPT_WARMUP] == MG_FROM_DEFAULT) params->warmup = 0;
  if (source[MG_OPT_MIN_SOLVES] == MG_FROM_DEFAULT) params->min_solves = 1;
  if (source[MG_OPT_MIN_TIME] == MG_FROM_DEFAULT) params->min_time = 0;
}

/* What no option gives. Settings of a smoother need the one that they are for. */
static void set_chooses(mg_params_t *params, const mg_source_t source[MG_N_OPTIONS]) {
  const bool automatic = params->method == MG_METHOD_AUTO;
  params->chooses.smoother = automatic;
  for (int id = MG_OPT_SMOOTHER; id <= MG_OPT_OMEGA; id++)
    params->chooses.smoother = params->chooses.smoother && source[id] == MG_FROM_DEFAULT;
  params->chooses.bottom = automatic && source[MG_OPT_BOTTOM] == MG_FROM_DEFAULT;
  params->chooses.cycle = automatic && source[MG_OPT_CYCLE] == MG_FROM_DEFAULT;
  params->chooses.krylov =
      automatic && source[MG_OPT_KRYLOV] == MG_FROM_DEFAULT && params->rtol > 0.0;
}

void mg_params_set_smoother(mg_params_t *params, mg_smoother_t smoother) {
  params->smoother = smoother;
  params->smooths = default_smooths(params);
  params->omega = default_omega(params);
  params->degree = default_degree(params);
}

void mg_params_set_dependent_defaults(mg_params_t *params, const mg_source_t source[MG_N_OPTIONS]) {
  if (source[MG_OPT_SMOOTHS] == MG_FROM_DEFAULT) params->smooths = default_smooths(params);
  if (source[MG_OPT_OMEGA] == MG_FROM_DEFAULT) params->omega = default_omega(params);
  if (source[MG_OPT_DEGREE] == MG_FROM_DEFAULT) params->degree = default_degree(params);
  if (source[MG_OPT_DEVICE_ID] == MG_FROM_DEFAULT) params->device_id = -1;
  if (source[MG_OPT_MAX_CYCLES] == MG_FROM_DEFAULT) params->max_cycles = params->rtol > 0 ? 20 : 1;
  if (mg_params_solves_once(params)) set_defaults_of_one_solve(params, source);
  set_chooses(params, source);
  params->alpha_varies = false;
  MG_IF_DOMAINS(mg_domain_set_defaults(params, source[MG_OPT_LENGTHS] != MG_FROM_DEFAULT));
}

bool mg_parser_asks(const mg_parser_t *parser, int id) {
  char value[MG_PATH_MAX];
  if (parser->source[id] <= MG_FROM_FILE) return false;
  if (mg_options[id].kind != MG_KIND_FLAG) return true;
  return mg_option_format(&mg_options[id], parser->params, value, (int)sizeof value) &&
         strcmp(value, "yes") == 0;
}

/* The grid size is required. The command line gives both numbers or neither. */
static mg_status_t check_size(mg_parser_t *parser) {
  if (mg_params_has_cells(parser->params)) return MG_OK;
  MG_IF_DOMAINS(MG_TRY(mg_domain_check_walls(parser)));
  const bool has_dim = parser->params->log2_box_dim != 0;
  const bool has_boxes = parser->params->boxes_per_rank != 0;
  if (has_dim && has_boxes) return MG_OK;
  /* The file holds the size. Ranks that do not read it receive the size from one that does. */
  if (!has_dim && !has_boxes &&
      (parser->params->restart[0] != '\0' || mg_params_has_files(parser->params)))
    return MG_OK;
  return mg_parser_fail(
      parser, MG_ERR_USAGE,
      "%s missing; pass both, for example: 7 8 (8 boxes of 128^3 cells per rank), or "
      "--cells=NXxNYxNZ",
      has_dim     ? "BOXES_PER_RANK is"
      : has_boxes ? "LOG2_BOX_DIM is"
                  : "LOG2_BOX_DIM and BOXES_PER_RANK are");
}

/* A restart never runs timed solves, regardless of where --restart is set. */
static void settle_restart(mg_parser_t *parser) {
  mg_source_t *source = parser->source;
  if (parser->params->restart[0] == '\0') return;
  parser->params->verify_only = true;
  if (source[MG_OPT_VERIFY_ONLY] < source[MG_OPT_RESTART])
    source[MG_OPT_VERIFY_ONLY] = source[MG_OPT_RESTART];
}

/* Does the command line leave this deck option without effect, directly or through an option that
 * was overridden? A dry run also drops the deck's --json file, which belongs to real runs. */
static bool is_overruled(const mg_parser_t *parser, int id) {
  const mg_option_t *option = &mg_options[id];
  if (parser->source[id] != MG_FROM_DECK) return false;
  if (id == MG_OPT_JSON && parser->params->dry_run) return true;
  return !mg_option_applies(option, parser->params) &&
         (parser->source[option->decided_by] == MG_FROM_COMMAND_LINE ||
          parser->overridden[option->decided_by]);
}

/* The command line takes precedence over the deck. Deck options that it leaves without effect are
 * reset, as if the deck did not set them. Paths become empty. mg_params_set_dependent_defaults sets
 * the defaults that depend on other options. A single loop suffices: the table lists an option
 * before those that it decides. */
static mg_status_t forget_overruled(mg_parser_t *parser) {
  mg_why_t why;
  for (int i = 0; i < MG_N_OPTIONS; i++) {
    const mg_option_t *option = &mg_options[i];
    if (!is_overruled(parser, i)) continue;
    if (!option->value)
      mg_option_unset(option, parser->params);
    else if (!mg_option_set(option, option->value, parser->params, &why))
      return mg_parser_fail(parser, MG_ERR_INTERNAL, "invalid default of %s: %s", option->name,
                            why.text);
    parser->source[i] = MG_FROM_DEFAULT;
    parser->overridden[i] = true;
  }
  return MG_OK;
}

/* Reject what needs a wing that this build lacks. */
static mg_status_t check_wings(mg_parser_t *parser) {
  char value[MG_PATH_MAX];
  for (int i = 0; i < MG_N_OPTIONS; i++) {
    const mg_option_t *option = &mg_options[i];
    if (!option->wing || parser->source[i] == MG_FROM_DEFAULT || is_overruled(parser, i)) continue;
    mg_option_format(option, parser->params, value, (int)sizeof value);
    const bool needs = option->wing_word ? strcmp(value, option->wing_word) == 0
                       : option->value
                           ? strcmp(value, option->value) != 0 && strcmp(value, "1") != 0
                           : value[0] != '\0';
    if (!needs) continue;
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "%s needs the wing '%s', which this program was built without; "
                          "configure without --disable-wings=%s",
                          mg_parser_label(parser, (mg_option_id_t)i).text, option->wing,
                          option->wing);
  }
  return MG_OK;
}

/* Reject options without effect, which would otherwise be ignored silently. */
static mg_status_t check_conditions(mg_parser_t *parser) {
  for (int i = 0; i < MG_N_OPTIONS; i++)
    if (mg_parser_asks(parser, i) && !mg_option_applies(&mg_options[i], parser->params))
      return mg_parser_fail(parser, MG_ERR_USAGE, "%s %s",
                            mg_parser_label(parser, (mg_option_id_t)i).text,
                            mg_options[i].condition);
  return MG_OK;
}

/* Apply the official values. Other values set by the user are an error, except that --official on
 * the command line overrides the deck. */
static mg_status_t apply_official(mg_parser_t *parser) {
  const bool wins = parser->source[MG_OPT_OFFICIAL] == MG_FROM_COMMAND_LINE;
  char asked[64], official[64];
  mg_why_t why;
  if (!parser->params->official) return MG_OK;
  for (int i = 0; i < MG_N_OPTIONS; i++) {
    const mg_option_t *option = &mg_options[i];
    if (!option->official) continue;
    mg_option_format(option, parser->params, asked, (int)sizeof asked);
    if (!mg_option_set(option, option->official, parser->params, &why))
      return mg_parser_fail(parser, MG_ERR_INTERNAL, "invalid official value of %s: %s",
                            option->name, why.text);
    mg_option_format(option, parser->params, official, (int)sizeof official);
    if (parser->source[i] <= MG_FROM_FILE || strcmp(asked, official) == 0) continue;
    if (wins && parser->source[i] == MG_FROM_DECK) continue;
    return mg_parser_fail(parser, MG_ERR_USAGE,
                          "%s is %s, but --official requires %s; remove one of them",
                          mg_parser_label(parser, (mg_option_id_t)i).text, asked, official);
  }
  return MG_OK;
}

mg_status_t mg_parser_finish(mg_parser_t *parser, const struct mg_settings_reader *readers) {
  (void)readers;
  MG_IF_DOMAINS(MG_TRY(mg_domain_check(parser)));
  MG_IF_FILES(MG_TRY(mg_parser_take_files(parser, readers)));
  MG_TRY(check_wings(parser));
  MG_TRY(check_size(parser));
  settle_restart(parser);
  MG_TRY(forget_overruled(parser));
  mg_params_set_dependent_defaults(parser->params, parser->source);
  MG_TRY(check_conditions(parser));
  MG_TRY(apply_official(parser));
  MG_IF_FILES(return mg_parser_check_files(parser));
  return MG_OK;
}
