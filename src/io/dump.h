/* The state of a grid as an HDF5 file; docs/format.md describes the format. */
#ifndef MG_DUMP_H
#define MG_DUMP_H

#include "io/atomic_file.h"
#include "run/benchmark.h"

/** Group for everything that VTK does not read. */
#define MG_DUMP_OURS "/HPGMG"
/** Attribute with the cells in i, j, k, of grids that are not cubes. */
#define MG_DUMP_CELLS_IJK "cells_ijk"

/** Metadata of the run that writes a file. */
typedef struct {
  const char *command_line;
  int threads;
  const mg_history_t *history; /**< solve that produced u on level 0 */
  double f_norm;               /**< max |f| on level 0 */
  double reference_norm;       /**< what --rtol is relative to; 0: f_norm */
  const mg_result_t *result;   /**< verification result; NULL during a solve */
  int64_t problem_checksum;    /**< user-defined problem; 0 if built-in */
} mg_dump_about_t;

/** Totals over all files written. */
typedef struct {
  int n_files;
  int64_t bytes; /**< uncompressed field data */
  double seconds_write, seconds_check;
} mg_dump_stats_t;

/** Check before a run that the files of --dump can be written, and that each writing rank can
 *  access their folder. Collective over the world.
 *  @return MG_OK, MG_ERR_USAGE (no HDF5, or a level that does not exist), MG_ERR_IO, the same on
 *          every rank; logged */
MG_MUST_CHECK mg_status_t mg_dump_check(const mg_params_t *params, const mg_plan_t *plan);

/** Write all files that --dump and its related options request.
 *
 *  Writes the state after the solves of `result`. With --dump-every it then runs one more solve
 *  at h and writes its intermediate states. If a signal ended the solves, it writes the current
 *  solution at h and no series. Collective over the world.
 *  @param[in] command_line, threads, problem_checksum  metadata for the file
 *  @return as mg_dump_write; MG_ERR_INTERRUPTED (a signal ended the series; logged); MG_OK
 *          without --dump */
MG_MUST_CHECK mg_status_t mg_dump_run(mg_hierarchy_t *h, const mg_result_t *result,
                                      const char *command_line, int threads,
                                      int64_t problem_checksum, mg_dump_stats_t *stats);

/** Write the fields and levels selected by --dump-fields and --dump-levels, and FILE.xdmf.
 *
 *  The data goes to a temporary file, which is read back, compared, and renamed. The .xdmf file
 *  follows. An existing file is kept until the rename, and on any failure before it. Overwrites
 *  MG_TMP of the levels. Collective over the world.
 *  @param[in]     path   file to write: that of --dump, or a numbered variant
 *  @param[in,out] stats  totals to add to; the same on every rank
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_dump_write(mg_hierarchy_t *h, const char *path,
                                        const mg_dump_about_t *about, mg_dump_stats_t *stats);

/** Write FILE.xdmf for FILE. Called by one rank. */
MG_MUST_CHECK mg_status_t mg_dump_write_xdmf(const mg_params_t *params, const mg_plan_t *plan,
                                             const char *path);

enum { MG_DATA_PATH_MAX = 96, MG_FORMAT_VERSION = 3 };

/** Whether a field is selected and exists. */
bool mg_dump_wants(const mg_params_t *params, mg_field_t field);

/** Path of a level's field within the file. */
void mg_dump_data_path(const mg_params_t *params, int level, mg_field_t field,
                       char path[MG_DATA_PATH_MAX]);

#endif
