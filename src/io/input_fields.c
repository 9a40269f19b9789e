/* The fields that files of --coefficients and --rhs may have, in words. */
#include "io/input.h"

const char *const mg_input_names[MG_N_INPUTS] = {"alpha",  "beta", "beta_i", "beta_j",
                                                 "beta_k", "mask", "f",      "u"};

mg_input_source_t mg_input_source(const mg_params_t *p, bool is_rhs) {
  return is_rhs ? (mg_input_source_t){"rhs", p->rhs, MG_INPUT_F, MG_N_INPUTS, true}
                : (mg_input_source_t){"coefficients", p->coefficients, MG_INPUT_ALPHA, MG_INPUT_F,
                                      false};
}

const char *mg_input_wall_path(int d, int side) {
  static const char *const path[3][2] = {{"/boundary/x_low", "/boundary/x_high"},
                                         {"/boundary/y_low", "/boundary/y_high"},
                                         {"/boundary/z_low", "/boundary/z_high"}};
  return path[d][side];
}

const char *mg_input_origin(const mg_params_t *params, const mg_input_t *input,
                            mg_input_field_t field) {
  const bool faces = field == MG_INPUT_BETA && input->place[MG_INPUT_BETA_I].path[0];
  if (faces || input->place[field].path[0]) return "file";
  if (field == MG_INPUT_ALPHA) return params->equation == MG_EQUATION_HELMHOLTZ ? "constant 1" : "";
  if (!mg_params_has_files(params))
    return field == MG_INPUT_BETA && params->beta == MG_BETA_ONE ? "constant 1" : "built-in";
  return field == MG_INPUT_F ? "constant 0" : "constant 1";
}
