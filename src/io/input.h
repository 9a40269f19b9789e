/* The user's own problem: coefficients and right-hand side out of HDF5 files; docs/format.md says
 * what has to be in them. */
#ifndef MG_INPUT_H
#define MG_INPUT_H

#include "solver/problem.h"

/** A field that a file may have. */
typedef enum {
  MG_INPUT_ALPHA,
  MG_INPUT_BETA, /**< of the cells */
  MG_INPUT_BETA_I,
  MG_INPUT_BETA_J,
  MG_INPUT_BETA_K,
  MG_INPUT_F,
  MG_N_INPUTS
} mg_input_field_t;

enum { MG_INPUT_PATH_MAX = 96 };

/** What the fields are called in a file. */
extern const char *const mg_input_names[MG_N_INPUTS];

/** One of the two options, and which fields its file may have: from .. end - 1. */
typedef struct {
  const char *option;
  const char *path; /**< of params; "" for none */
  int from, end;
} mg_input_source_t;

mg_input_source_t mg_input_coefficients(const mg_params_t *params);
mg_input_source_t mg_input_rhs(const mg_params_t *params);

/** Where one field is, and how it is stored. */
typedef struct {
  char path[MG_INPUT_PATH_MAX]; /**< within the file; "" for none */
  bool is_float;           /**< stored as floats, whose checksums differ from those of doubles */
  bool has_checksums;      /**< one per plane */
  bool has_walls;          /**< face betas only: the file has the faces at the upper wall */
  bool has_wall_checksums; /**< one per row of these faces */
} mg_input_place_t;

/** What the files of --coefficients and --rhs hold. */
typedef struct {
  int32_t cells; /**< a side; 0 without files */
  mg_input_place_t place[MG_N_INPUTS];
  int64_t checksum; /**< of all that was loaded */
} mg_input_t;

/** What the files of --coefficients and of --rhs mean for other options, for mg_params_parse_with;
 *  for one rank. */
MG_MUST_CHECK mg_status_t mg_input_coefficients_settings(const mg_params_t *params,
                                                         mg_setting_t settings[MG_MAX_SETTINGS],
                                                         int *n, char *message, int message_size);
MG_MUST_CHECK mg_status_t mg_input_rhs_settings(const mg_params_t *params,
                                                mg_setting_t settings[MG_MAX_SETTINGS], int *n,
                                                char *message, int message_size);

/** Look into the files, and note in params whether alpha varies: before a plan is made.
 *  Collective over the world.
 *  @param[out] input  `cells` is 0 when no file was named
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE (two sizes), the same on every rank */
MG_MUST_CHECK mg_status_t mg_input_open(mg_params_t *params, mg_input_t *input);

/** Is the plan's grid that of the files? For one rank.
 *  @return MG_OK, MG_ERR_USAGE */
MG_MUST_CHECK mg_status_t mg_input_check_size(const mg_params_t *params, const mg_plan_t *plan,
                                              const mg_input_t *input);

/** Whether every value of a source's fields is compared with a checksum. */
bool mg_input_has_checksums(const mg_input_t *input, const mg_input_source_t *source);

/** `load` of a problem's source (problem.h), with the input as its data: read the fields, in slabs
 *  of planes, check every value, make betas of faces, and fill `checksum`.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_input_load(void *input, mg_hierarchy_t *h);

#endif
