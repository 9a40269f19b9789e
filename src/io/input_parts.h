/* Inspection of the files of --coefficients and --rhs. Internal to input*.c. All functions are for
 * one rank, with a file from mg_h5_open_alone. */
#ifndef MG_INPUT_PARTS_H
#define MG_INPUT_PARTS_H

#include "io/dump.h"
#include "io/input.h"

/** A file being inspected. */
typedef struct {
  const mg_input_source_t *source;
  mg_h5_t *file;
  mg_sums_list_t sums; /**< datasets with checksums */
} mg_input_look_t;

/** Inspect the files that params name.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_input_look(const mg_params_t *params, mg_input_t *input);

/** Refuse names that are none of this program's, where a misspelt one would be ignored. */
MG_MUST_CHECK mg_status_t mg_input_check_names(const mg_input_look_t *in);

/** Find the values of a dataset that count as missing, and refuse packed values. */
MG_MUST_CHECK mg_status_t mg_input_find_gaps(mg_h5_t *file, const char *path,
                                             mg_input_gaps_t *gaps);

/** Add what a file states about the widths of cells and about the position of the domain to
 *  input->grid, or compare it.
 *  @param[in] points  the fields are point data: the points are the centers of cells */
MG_MUST_CHECK mg_status_t mg_input_find_grid(const mg_input_look_t *in, bool points,
                                             mg_input_t *input);

/** Check that the grids of both files agree, and keep what either states in `first`. */
MG_MUST_CHECK mg_status_t mg_input_join_grids(const mg_params_t *params, const int32_t n[3],
                                              mg_input_grid_t *first, mg_input_grid_t *second);

/** Check that options do not contradict the files. Every rank; rank 0 logs the error.
 *  @return MG_OK, MG_ERR_USAGE */
MG_MUST_CHECK mg_status_t mg_input_check_domain(const mg_params_t *params, const mg_input_t *input);

/** Does a file state widths of cells? */
static inline bool mg_input_states_widths(const mg_input_grid_t *grid) {
  return grid->h[0] > 0.0 || grid->length[0] > 0.0;
}

/** Are the widths those of the unit cube, as far as files state them? */
bool mg_input_is_unit_cube(const mg_input_t *input);

#endif
