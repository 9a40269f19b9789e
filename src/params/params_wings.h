/* What the core calls of the options of wings: grids of any size and boundary values
 * (params_domains.c), files. */
#ifndef MG_PARAMS_WINGS_H
#define MG_PARAMS_WINGS_H

#include "params/params_table.h"

union mg_value; /* params_value.h */
struct mg_why;
struct mg_parser; /* params_parser.h */

/** The parts of mg_option_set, mg_option_format and mg_option_describe_limits for --boundary and
 *  the kinds of --cells, --lengths and --stretch. */
MG_MUST_CHECK bool mg_domain_read(const mg_option_t *option, const char *text, union mg_value *v,
                                  struct mg_why *why);
bool mg_domain_format(const mg_option_t *option, const union mg_value *v, char *text,
                      int text_size);
void mg_domain_describe(const mg_option_t *option, char *text, int text_size);

/** Let the command line override what gives the grid in a deck, and reject what a grid of any size
 *  cannot have. */
MG_MUST_CHECK mg_status_t mg_domain_check(struct mg_parser *parser);
/** Reject boundary values on a cube of boxes. */
MG_MUST_CHECK mg_status_t mg_domain_check_walls(struct mg_parser *parser);

/** Dependent defaults of grids of any size: the lengths, unless they are given, and whether alpha
 *  varies. */
void mg_domain_set_defaults(mg_params_t *params, bool has_lengths);

/** Does --stretch set the widths of cells along an axis? */
static inline bool mg_params_has_stretch(const mg_params_t *params) {
  return params->stretch[0] > 0.0 || params->stretch[1] > 0.0 || params->stretch[2] > 0.0;
}

/** Is the condition on a side Robin's? */
static inline bool mg_is_robin(const mg_side_t *side) {
  return side->u > 0.0 && side->flux > 0.0;
}

/** Is the flux through a side given, so that nothing reads its betas? */
static inline bool mg_gives_flux(const mg_side_t *side) {
  return side->u == 0.0 && side->flux > 0.0;
}

/** Is a side's condition not u = 0, no flux or periodic? */
static inline bool mg_params_has_wall_values(const mg_params_t *params) {
  bool any = false;
  for (int s = 0; s < 6; s++) {
    const mg_side_t *side = &params->side[s / 2][s % 2];
    any = any || mg_is_robin(side) || side->varies || side->value != 0.0;
  }
  return any;
}

/* Suggestions (params_nearest.c): */

/** Refuse an unknown option with the most likely intended one. */
MG_MUST_CHECK mg_status_t mg_nearest_refuse(struct mg_parser *parser, const char *argument,
                                            const char *name);

/** mg_option_refuse of an unknown word, with the nearest one. */
bool mg_nearest_refuse_word(const mg_option_t *option, const char *text, struct mg_why *why);

/* Options of files (params_lists.c): */

/** The parts of mg_option_set, mg_option_format and mg_option_describe_limits for sets of words. */
MG_MUST_CHECK bool mg_set_read(const mg_option_t *option, const char *text, unsigned *value,
                               struct mg_why *why);
void mg_set_format(const mg_option_t *option, unsigned value, char *text, int text_size);
void mg_set_describe(const mg_option_t *option, char *text, int text_size);
/** Check a list of key=value pairs. */
MG_MUST_CHECK bool mg_pairs_check(const mg_option_t *option, const char *text, struct mg_why *why);

#endif
