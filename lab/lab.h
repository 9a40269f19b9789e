/* Result rows of hpgmg-bench: the time of each kernel variant, its share of memory bandwidth, and
 * its speed-up over the first variant of its table. */
#ifndef LAB_H
#define LAB_H

#include "base/inline.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { LAB_NAME = 96, LAB_TITLE = 160 };

typedef enum { LAB_CPU, LAB_CUDA } lab_place_t;

/** A measured variant. Fields that do not apply to a place (CPU or GPU) are 0 and not printed. */
typedef struct {
  int64_t blocks;   /**< blocks of the launch (GPU) */
  int threads;      /**< threads per block (GPU) or in total (CPU) */
  int registers;    /**< registers per thread (GPU) */
  int shared;       /**< shared memory per block in bytes (GPU) */
  double occupancy; /**< resident warps per SM, as a fraction of the maximum (GPU) */
  int64_t elements;
  double useful;    /**< bytes per element that the kernel must read and write */
  double requested; /**< bytes per element of all loads and stores, counted; 0: not counted */
  double moved; /**< bytes per element in the cache lines or sectors touched; 0: same as useful */
  double flops; /**< flops per element */
  double footprint; /**< bytes of memory that a run touches; 0: useful bytes of all elements */
  double seconds;   /**< median over many runs */
  double error;     /**< largest error against the reference; must be 0 */
} lab_row_t;

/** A row with its names and the values derived from it; filled by lab_add. */
typedef struct {
  const char *ladder;
  char table[LAB_TITLE], variant[LAB_NAME];
  int number; /**< table number */
  lab_row_t row;
  double gb_per_s; /**< from useful bytes */
  double of_copy;  /**< gb_per_s relative to the copy bandwidth of this run */
  double speed_up; /**< over the first row of the table; 0 if kernels are not compared */
  bool in_cache;   /**< what a run touches fits in the last-level cache: not a speed of memory */
} lab_entry_t;

/** State of one hpgmg-bench run. */
typedef struct {
  lab_place_t place;
  char machine[LAB_TITLE]; /**< name of the GPU or host, for display */
  int threads;             /**< number of OpenMP threads */
  int64_t bytes;           /**< bytes per array */
  int64_t cache_bytes;     /**< last-level cache of all threads or of the GPU; 0: unknown */
  bool quick;              /**< few runs per variant */
  int min_runs;            /**< minimum number of timed runs per variant */
  double min_seconds;      /**< minimum timed seconds per variant */
  double copy_gb_per_s;    /**< copy bandwidth, measured before any ladder; 0 until then */
  FILE *text;              /**< output for tables; NULL: none */
  const char *ladder;      /**< current ladder */
  int name_width;          /**< width of the variant column; 0: default */
  char table[LAB_TITLE];
  struct {
    bool norm; /**< search for a norm instead of a sum */
    uint64_t seed;
    int tries;
    char *winner; /**< CUDA source of the best program; NULL until found */
  } search;
  struct {
    int number;    /**< from 1 on */
    bool unsolved; /**< for the exit code */
  } exercise;
  struct {
    int at, of;       /**< index of the ladder and number of ladders; 0: show no progress */
    double start;     /**< start time of the first ladder, from mg_now() */
    double estimated; /**< estimated seconds for all ladders; 0: unknown */
    double checking;  /**< seconds that the roofline ladder spent on checks */
  } progress;
  bool unlike; /**< rows are different kernels: print intensities instead of speed-ups */
  int n_tables;
  lab_entry_t *entry;
  int n_entries, room;
} lab_t;

/** Test values whose sums are exact: small integers that depend only on the index. */
MG_SHARED double lab_value(int64_t i) {
  return (double)((uint64_t)i * 2654435761u % 1021u);
}

/** Offset that `wide` adds to the k-th lab_value of a point: 0 to 3.
 *
 *  The offsets are small enough that every term is the unique maximum at some point. A kernel that
 *  omits a term or its offset is therefore detected. */
MG_SHARED double lab_small(int64_t k) {
  return (double)((uint64_t)lab_value(k) % 4u);
}

/** Begin a table of a ladder. Other rows are compared with its first row.
 *  @param[in] ladder  must outlive the lab
 *  @param[in] format  what varies, and fixed parameters */
void lab_table(lab_t *lab, const char *ladder, const char *format, ...) MG_PRINTF(3, 4);

/** Add a row to the current table under the name that `format` makes, and print it.
 *
 *  A wrong result is an error and adds no row.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_INTERNAL if row->error is not 0 (logged) */
MG_MUST_CHECK mg_status_t lab_add(lab_t *lab, const lab_row_t *row, const char *format, ...)
    MG_PRINTF(3, 4);

void lab_free(lab_t *lab);

/** Check before measuring that the output files can be written. NULL: not requested. `source` is
 *  the output of the search.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE if two paths name one file or the build lacks jansson */
MG_MUST_CHECK mg_status_t lab_check_files(const char *json, const char *csv, const char *source,
                                          const char *plot);

/** Write all rows as JSON or CSV; docs/kernels.md describes the format.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE if the build lacks jansson, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t lab_write_json(const lab_t *lab, const char *path);
MG_MUST_CHECK mg_status_t lab_write_csv(const lab_t *lab, const char *path);

/** Check that plots can be drawn here and the file can be written. NULL: not requested.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE (the message names the missing package) */
MG_MUST_CHECK mg_status_t lab_check_plot(const char *path);

/** Plot all rows.
 *  @param[in] json  the file that lab_write_json wrote, or NULL
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t lab_write_plot(const lab_t *lab, const char *json, const char *path);

/** Write the source found by a search.
 *  @return MG_OK, MG_ERR_IO */
MG_MUST_CHECK mg_status_t lab_write_source(const lab_t *lab, const char *path);

/** Return the median of n values; sorts them in place. */
double lab_median(double *value, int n);

/** Positions where a check of a norm on n^3 cells places the maximum, n a power of two.
 *
 *  They include corners, cells that cover every value of i, j and k (beyond 64^3 only 64 of them),
 *  and some random cells. Each position costs one run of the norm, so there are few. */
int lab_places(int n);
/** The number of all but the random ones, which come last. */
int lab_plane_places(int n);
void lab_place(int q, int n, int cell[3]);

/** Number of CUDA devices visible to this process. */
int lab_cuda_devices(void);

/** Default bytes per array on the first device: max_bytes, or less if the largest ladder would not
 *  fit in free memory.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t lab_cuda_default(int64_t max_bytes, int64_t *bytes);

/** Identify the machine and measure its copy bandwidth.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t lab_open_cpu(lab_t *lab);
MG_MUST_CHECK mg_status_t lab_open_cuda(lab_t *lab);

/* Ladders: each adds its tables. lab_roofline (the solver's kernels) runs on any place; the others
 * run on a CPU or on a GPU only. */
typedef mg_status_t lab_ladder_t(lab_t *lab);
lab_ladder_t lab_copy_cpu, lab_exercise_cpu, lab_reduce_cpu, lab_smooth_cpu, lab_stride_cpu,
    lab_wide_cpu, lab_copy_cuda, lab_exercise_cuda, lab_reduce_cuda, lab_smooth_cuda,
    lab_stride_cuda, lab_wide_cuda, lab_roofline;

/** Estimate the time of the roofline ladder on a CPU from some runs of its kernels.
 *  @return as mg_hierarchy_create */
MG_MUST_CHECK mg_status_t lab_roofline_estimate(const lab_t *lab, double *seconds);

/** Search for the shape of a norm or a sum.
 *  @return also MG_ERR_USAGE if programs cannot be compiled */
mg_status_t lab_search_cuda(lab_t *lab);

#endif
