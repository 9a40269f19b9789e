/* The state of a grid as an HDF5 file: docs/format.md says what is in it. */
#ifndef MG_DUMP_H
#define MG_DUMP_H

#include "io/atomic_file.h"
#include "run/benchmark.h"

/** The group of everything that VTK does not read. */
#define MG_DUMP_OURS "/HPGMG"
/** Its attribute that lists the datasets with checksums: names of fields, and walls/NAME, with
 * spaces between. A listed dataset must have its checksums, so that damage cannot pass for absence.
 */
#define MG_DUMP_CHECKSUMS "checksums"
enum { MG_DUMP_CHECKSUMS_MAX = 256 };

/** What a file says of the run that wrote it. */
typedef struct {
  const char *command_line;
  int threads;
  const mg_history_t *history; /**< of the solve whose u is on level 0 */
  double f_norm;               /**< max |f| there */
  const mg_result_t *result;   /**< what was verified; NULL in the midst of a solve */
  int64_t problem_checksum;    /**< of the user's problem; 0 for none */
} mg_dump_about_t;

/** What writing took, of all files. */
typedef struct {
  int n_files;
  int64_t bytes; /**< of the fields, uncompressed */
  double seconds_write, seconds_check;
} mg_dump_stats_t;

/** Find out before a run whether the files of --dump can be written. For one rank.
 *  @return MG_OK, MG_ERR_USAGE (no HDF5, a level that is not there), MG_ERR_IO; logged */
MG_MUST_CHECK mg_status_t mg_dump_check(const mg_params_t *params, const mg_plan_t *plan);

/** Find out before a run whether each rank that will write reaches the folder of --dump: it may be
 *  on a disk of rank 0's host. The first that does not says so. Collective over the world.
 *  @return MG_OK, MG_ERR_IO */
MG_MUST_CHECK mg_status_t mg_dump_check_reach(const mg_params_t *params);

/** All files that --dump and its companions ask for: the state after the solves that `result` is
 * of, then, with --dump-every, one more solve at h with its states. Of solves that a signal ended
 * the solution at h as far as it is, without the series. Collective over the world.
 *
 *  @param[in] command_line, threads, problem_checksum  for the file's account of itself
 *  @return as mg_dump_write; MG_ERR_INTERRUPTED (a signal ended the series; logged); MG_OK without
 * --dump */
MG_MUST_CHECK mg_status_t mg_dump_run(mg_hierarchy_t *h, const mg_result_t *result,
                                      const char *command_line, int threads,
                                      int64_t problem_checksum, mg_dump_stats_t *stats);

/** Write the fields and levels that --dump-fields and --dump-levels name: to a temporary file,
 * which is read again and compared, and then takes its name; then the .xdmf file beside it. A file
 * that was there stays until then, and whenever this fails. MG_TMP of the levels is overwritten.
 *
 *  Collective over the world.
 *  @param[in]  path   of the file; --dump's, or one with a number in it
 *  @param[in,out] stats  gets what this took added; the same on every rank
 *  @return MG_OK, MG_ERR_IO, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM, the same on every rank */
MG_MUST_CHECK mg_status_t mg_dump_write(mg_hierarchy_t *h, const char *path,
                                        const mg_dump_about_t *about, mg_dump_stats_t *stats);

/** Write FILE.xdmf for FILE; for one rank. */
MG_MUST_CHECK mg_status_t mg_dump_write_xdmf(const mg_params_t *params, const mg_plan_t *plan,
                                             const char *path);

enum { MG_DATA_PATH_MAX = 96, MG_FORMAT_VERSION = 1 };

/** Is a field to be written, and is there one? */
bool mg_dump_wants(const mg_params_t *params, mg_field_t field);

/** Where a field of a level is within a file. */
void mg_dump_data_path(const mg_params_t *params, int level, mg_field_t field,
                       char path[MG_DATA_PATH_MAX]);

#endif
