/* User-defined problem: coefficients and right-hand side read from HDF5 files. docs/format.md
 * describes their contents. */
#ifndef MG_INPUT_H
#define MG_INPUT_H

#include "io/hdf5/h5.h"
#include "io/stored_sums.h"
#include "params/params_files.h"
#include "plan/axes.h"
#include "solver/domain.h"
#include "solver/problem.h"

/** Fields that a file may contain. */
typedef enum {
  MG_INPUT_ALPHA,
  MG_INPUT_BETA, /**< cell-centered */
  MG_INPUT_BETA_I,
  MG_INPUT_BETA_J,
  MG_INPUT_BETA_K,
  MG_INPUT_MASK, /**< 0: solid, 1: solved, 2: u is given */
  MG_INPUT_F,
  MG_INPUT_GIVEN, /**< u of given cells; of other problems, it is not read */
  MG_N_INPUTS
} mg_input_field_t;

enum { MG_INPUT_PATH_MAX = 96 };

/** Names of the fields in a file. */
extern const char *const mg_input_names[MG_N_INPUTS];

/** One of the two options. Its file may contain fields from .. end - 1. */
typedef struct {
  const char *option;
  const char *path; /**< points into params; "" if none */
  int from, end;
  bool is_rhs;
} mg_input_source_t;

mg_input_source_t mg_input_source(const mg_params_t *params, bool is_rhs);

/** Values of a dataset that stand for missing ones, by the conventions of netCDF and NumPy. */
typedef struct {
  double missing[8]; /**< NaN beyond the last */
  double valid[2];   /**< smallest and largest valid value */
} mg_input_gaps_t;

/** Is a value missing? */
static inline bool mg_input_is_missing(const mg_input_gaps_t *gaps, double value) {
  bool missing = value < gaps->valid[0] || value > gaps->valid[1];
  for (int i = 0; i < 8; i++)
    missing = missing || value == gaps->missing[i];
  return missing;
}

/** Location and storage of one field. */
typedef struct {
  char path[MG_INPUT_PATH_MAX]; /**< within the file; "" if absent */
  bool is_float;      /**< stored as floats, whose checksums differ from those of doubles */
  bool has_checksums; /**< one per plane */
  bool has_walls;     /**< face betas only: the file has the upper-wall faces */
  mg_input_gaps_t gaps;
} mg_input_place_t;

/** What files state about the grid. */
typedef struct {
  double h[3];      /**< widths of cells; 0 if none are stated, or with `length` */
  mg_axes_t axes;   /**< positions of faces of stretched axes */
  double length[3]; /**< of the domain if some axis is stretched; otherwise 0 */
  double origin[3]; /**< position of the domain's low corner */
  bool has_origin;
} mg_input_grid_t;

/** Bits of mg_input_t.held and .unused: 1 << mg_input_field_t, and one for each side in /boundary.
 */
#define MG_INPUT_SIDE(d, side) (1u << (MG_N_INPUTS + 2 * (d) + (side)))
#define MG_INPUT_BOUNDARY      (63u << MG_N_INPUTS)

/** Contents of the files of --coefficients and --rhs. */
typedef struct {
  int32_t n[3]; /**< cells in i, j, k; 0 without files */
  mg_input_grid_t grid;
  mg_input_place_t place[MG_N_INPUTS];
  bool has_checksums[2]; /**< --coefficients, --rhs: of all that is read from the file */
  int64_t checksum;      /**< of all loaded values */
  int64_t first;      /**< the same when they were loaded before the levels were replaced, or 0: a
                           cube of boxes was not a grid of any size yet */
  double beta[2];     /**< smallest and largest beta; 0 if none was loaded */
  unsigned held[2];   /**< what the files of --coefficients and --rhs hold: bits */
  unsigned unused[2]; /**< and what is not read, because the other file has it too */
} mg_input_t;

/** Settings that the files of --coefficients and --rhs imply for other options, for
 *  mg_params_parse. If one of the options is named alone, its file is also that of the other
 *  if it has such fields. Called by one rank. */
MG_MUST_CHECK mg_status_t mg_input_coefficients_settings(const mg_params_t *params,
                                                         mg_settings_t *settings);
MG_MUST_CHECK mg_status_t mg_input_rhs_settings(const mg_params_t *params, mg_settings_t *settings);

/** Add boxes of at most `box` cells per side that make a cube of `cells` per side on all ranks.
 *  @param[in] option, path  name the file in the message
 *  @return MG_OK, MG_ERR_USAGE (too many ranks; logged) */
MG_MUST_CHECK mg_status_t mg_settings_add_boxes(mg_settings_t *settings, const char *option,
                                                const char *path, const mg_params_t *params,
                                                int64_t cells, int64_t box);

/** Inspect the files before planning, and record in params whether alpha varies. Collective over
 *  the world. input->grid.axes is for mg_axes_set, and freed with mg_axes_free.
 *  @param[out] input  `cells` is 0 if no file was named
 *  @return MG_OK, MG_ERR_IO (also if the files differ in widths), MG_ERR_USAGE (they differ in
 *          size, or options contradict them), the same on every rank */
MG_MUST_CHECK mg_status_t mg_input_open(mg_params_t *params, mg_input_t *input);

/** Check that the plan's grid matches the files. Called by every rank; rank 0 logs the error.
 *  @return MG_OK, MG_ERR_USAGE, the same on every rank */
MG_MUST_CHECK mg_status_t mg_input_check_size(const mg_params_t *params, const mg_plan_t *plan,
                                              const mg_input_t *input);

/** Path of a side's values in the --rhs file. */
const char *mg_input_wall_path(int d, int side);

/** Callback `load_wall` of a problem's source (problem.h), with the input as its data. The values
 *  count towards `checksum`. */
MG_MUST_CHECK mg_status_t mg_input_load_wall(void *input, mg_hierarchy_t *h, int d, int side);

/** Origin of a field of the problem: "built-in", "file", "constant 1" or "constant 0"; "" if
 *  the equation has none.
 *  @param[in] field  MG_INPUT_ALPHA, MG_INPUT_BETA (of any kind) or MG_INPUT_F */
const char *mg_input_origin(const mg_params_t *params, const mg_input_t *input,
                            mg_input_field_t field);

/** Callback `load` of a problem's source (problem.h), with the input as its data.
 *
 *  Reads the fields in slabs of planes, checks every value, computes face betas, and sets
 *  `checksum`.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_input_load(void *input, mg_hierarchy_t *h);

#endif
