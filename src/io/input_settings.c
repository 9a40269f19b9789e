/* Options that follow from the files of --coefficients and --rhs. */
#include "io/input_parts.h"
#include "params/params_files.h"
#include "params/params_value.h"
#include "params/params_wings.h"
#include "plan/coarsen.h"
#include "wings.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether boxes make a grid of so many cells per side. */
static bool is_size(int64_t cells) {
  return cells > 0 && cells <= MG_MAX_DIM && cells % MG_MIN_BOX_DIM == 0 &&
         mg_odd_part(cells) <= MG_MAX_ODD_PART;
}

/* Whether the files are solved in boxes, as the unit cube. */
static bool fits_boxes(const mg_params_t *params, const mg_input_t *input) {
  const bool has_domain =
      params->spacing[0] > 0.0 || params->length[0] > 0.0 || mg_params_has_stretch(params);
  return !mg_params_has_cells(params) && !has_domain && !mg_params_has_wall_values(params) &&
         !(input->held[1] & MG_INPUT_BOUNDARY) && mg_input_is_unit_cube(input) &&
         is_size(input->n[0]);
}

/* A grid that is no cube of boxes. */
static void add_cells(mg_settings_t *list, const mg_input_t *input, const mg_params_t *params) {
  const mg_input_grid_t *grid = &input->grid;
  char text[128];
  snprintf(text, sizeof text, "%dx%dx%d", (int)input->n[0], (int)input->n[1], (int)input->n[2]);
  mg_settings_add(list, "cells", text, true);
  /* Other values of these options are compared with the file later. */
  if (grid->length[0] > 0.0) {
    const mg_params_t of_file = {.length = {grid->length[0], grid->length[1], grid->length[2]}};
    mg_option_format(mg_option_find("lengths"), &of_file, text, (int)sizeof text);
    mg_settings_add(list, "lengths", text, false);
    return;
  }
  snprintf(text, sizeof text, "%.17g,%.17g,%.17g", grid->h[0], grid->h[1], grid->h[2]);
  if (grid->h[0] > 0.0 && params->length[0] == 0.0) mg_settings_add(list, "spacing", text, false);
}

/* Use the largest possible boxes. Box size affects results only where fv4's wall formulas fall
 * back. */
static mg_status_t add_size(mg_settings_t *list, const mg_input_source_t *source,
                            const mg_input_t *input, const mg_params_t *params) {
  const int64_t cells = input->n[0], box = cells & -cells;
  if (params->log2_box_dim != 0 || params->boxes_per_rank != 0) return MG_OK;
  if (!fits_boxes(params, input)) {
    add_cells(list, input, params);
    return MG_OK;
  }
  return mg_settings_add_boxes(list, source->option, source->path, params, cells,
                               box > MG_MAX_BOX_DIM ? MG_MAX_BOX_DIM : box);
}

/* 7pt is symmetric, with P0 and without the quadratic wall formula, so CG converges for jumping
 * coefficients. A build without --method=auto takes CG for all of them. */
static void add_defaults(mg_settings_t *list, const mg_input_t *input) {
  if (input->place[MG_INPUT_ALPHA].path[0]) mg_settings_add(list, "equation", "helmholtz", true);
  mg_settings_add(list, "operator", "7pt", false);
  if (!MG_WING_CHOICES) return;
  mg_settings_add(list, "smoother", "chebyshev", false);
  mg_settings_add(list, "krylov", "cg", false);
}

/* Params with the file of one option as that of the other too. */
static const mg_params_t *with_other(const mg_params_t *params, bool is_rhs) {
  static mg_params_t both; /* too large for some stacks */
  both = *params;
  if (is_rhs)
    memcpy(both.coefficients, params->rhs, sizeof both.coefficients);
  else
    memcpy(both.rhs, params->coefficients, sizeof both.rhs);
  return &both;
}

/* Settings of an option that is named alone, or whose file is read last. */
static mg_status_t settings_of(const mg_params_t *params, bool is_rhs, mg_settings_t *list) {
  const unsigned of_rhs = 1u << MG_INPUT_F | MG_INPUT_BOUNDARY,
                 of_coefficients = (1u << MG_INPUT_F) - 1;
  const mg_input_source_t source = mg_input_source(params, is_rhs);
  const char *other = is_rhs ? params->coefficients : params->rhs;
  mg_input_t input;
  MG_TRY(mg_h5_check_build(source.option));
  mg_status_t status = mg_input_look(params, &input);
  const bool is_other =
      other[0] == '\0' && input.held[is_rhs] & (is_rhs ? of_coefficients : of_rhs);
  if (status == MG_OK && is_other) {
    mg_axes_free(&input.grid.axes);
    params = with_other(params, is_rhs);
    mg_settings_add(list, is_rhs ? "coefficients" : "rhs", source.path, false);
    status = mg_input_look(params, &input);
  }
  if (status == MG_OK) status = add_size(list, &source, &input, params);
  if (status == MG_OK && params->coefficients[0]) add_defaults(list, &input);
  mg_axes_free(&input.grid.axes);
  return status;
}

/* If both files are named, the reader of the second one adds all settings. */
mg_status_t mg_input_coefficients_settings(const mg_params_t *params, mg_settings_t *settings) {
  return params->rhs[0] != '\0' ? MG_OK : settings_of(params, false, settings);
}

mg_status_t mg_input_rhs_settings(const mg_params_t *params, mg_settings_t *settings) {
  return settings_of(params, true, settings);
}
