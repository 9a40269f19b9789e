/* The rows of hpgmg-bench: what a variant of a kernel took, how much of the memory's bandwidth that
 * is, and how it compares with the first variant of its table. */
#ifndef LAB_H
#define LAB_H

#include "base/inline.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { LAB_NAME = 96, LAB_TITLE = 160 };

typedef enum { LAB_CPU, LAB_CUDA } lab_place_t;

/** A variant as it was measured. What does not exist on a place is 0 and is not printed. */
typedef struct {
  char variant[LAB_NAME];
  int64_t blocks;   /**< of a launch on a device */
  int threads;      /**< a block on a device; in all on a CPU */
  int registers;    /**< a thread, device */
  int shared;       /**< bytes of shared memory a block, device */
  double occupancy; /**< warps that a multiprocessor holds, of those that it could, device */
  int64_t elements;
  double useful;    /**< bytes an element that the kernel needs to read and write */
  double moved;     /**< bytes an element in the lines or sectors that it touches; 0: as many */
  double flops;     /**< an element */
  double seconds;   /**< median of many runs */
  double error;     /**< the largest, against the reference */
  double tolerance; /**< of it; 0: the same bits */
} lab_row_t;

/** What rows are made from: filled by lab_add. */
typedef struct {
  const char *ladder;
  char table[LAB_TITLE];
  int number; /**< of the table */
  lab_row_t row;
  double gb_per_s; /**< useful bytes */
  double of_copy;  /**< the same over the copy's in this run */
  double speed_up; /**< over the first row of the table; 0 where kernels are not compared */
} lab_entry_t;

/** A run of the laboratory. */
typedef struct {
  lab_place_t place;
  char machine[LAB_TITLE]; /**< for people: the card or the host */
  int threads;             /**< OpenMP's */
  int64_t bytes;           /**< of an array; whether caches hold it is not looked at */
  int least_runs;          /**< of each variant that is timed */
  double least_seconds;    /**< the same */
  double copy_gb_per_s;    /**< of this memory, measured before any ladder; 0 before that */
  FILE *text;              /**< where tables go; NULL: nowhere */
  const char *ladder;      /**< under way */
  int name_width;          /**< of the column of variants; 0: the usual one */
  char table[LAB_TITLE];
  struct {
    bool norm; /**< a norm's shape, not a sum's */
    uint64_t seed;
    int tries;
    char *winner; /**< CUDA source; NULL before it is known */
  } search;
  struct {
    int at, of;       /**< number of the ladder, and how many there are; 0: no progress is shown */
    double start;     /**< of the first ladder, mg_now() */
    double estimated; /**< seconds of all; 0: unknown */
  } progress;
  bool unlike; /**< rows are different kernels: intensities instead of speed-ups */
  int n_tables;
  lab_entry_t *entry;
  int n_entries, room;
} lab_t;

/** Numbers whose sums are exact: small integers that depend on their index alone. */
MG_SHARED double lab_value(int64_t i) {
  return (double)((uint64_t)i * 2654435761u % 1021u);
}

/** What `wide` adds to the k-th of a point's lab_values: 0 to 3, so little that every term is the
 *  only largest one of some point: a kernel that leaves out a term, or what is added to one, is
 *  wrong. lab_value(k) itself would hide more than half of the terms. Of terms that lie an array
 *  apart it holds where --mib= is a power of two; of other sizes, some hide a few terms. */
MG_SHARED double lab_small(int64_t k) {
  return (double)((uint64_t)lab_value(k) % 4u);
}

/** Begin a table of a ladder. Its first row is what the others are compared with.
 *  @param[in] ladder  lives as long as the lab
 *  @param[in] format  what is varied, and what stays */
void lab_table(lab_t *lab, const char *ladder, const char *format, ...) MG_PRINTF(3, 4);

/** Add a row to the table that was begun last, and print it.
 *
 *  A variant that is wrong is an error and no row.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_INTERNAL where row->error is beyond its tolerance or no
 *          number (logged) */
MG_MUST_CHECK mg_status_t lab_add(lab_t *lab, const lab_row_t *row);

void lab_free(lab_t *lab);

/** Can these files be written, before anything is measured? NULL: not asked for. `source` is that
 * of the search.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE where two are one file or the build has no jansson */
MG_MUST_CHECK mg_status_t lab_check_files(const char *json, const char *csv, const char *source,
                                          const char *plot);

/** All rows as JSON or CSV, as docs/kernels.md describes.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE where the build has no jansson, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t lab_write_json(const lab_t *lab, const char *path);
MG_MUST_CHECK mg_status_t lab_write_csv(const lab_t *lab, const char *path);

/** Can a picture of the rows be drawn here, and can the file be written? NULL: not asked for.
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE with what has to be installed */
MG_MUST_CHECK mg_status_t lab_check_plot(const char *path);

/** All rows as a picture.
 *  @param[in] json  the file that lab_write_json wrote, or NULL
 *  @return MG_OK, MG_ERR_IO, MG_ERR_USAGE, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t lab_write_plot(const lab_t *lab, const char *json, const char *path);

/** The source that a search has found.
 *  @return MG_OK, MG_ERR_IO */
MG_MUST_CHECK mg_status_t lab_write_source(const lab_t *lab, const char *path);

/** The median of n values, which are sorted by it. */
double lab_median(double *value, int n);

/** Where a check of a norm on n^3 cells puts the largest value in turn, n a power of two: corners,
 *  cells whose i, j and k are each all there are (beyond 64^3: 64 of them), and some at random. One
 *  place is one run of the norm, so that there cannot be many. */
int lab_places(int n);
void lab_place(int q, int n, int cell[3]);

/** CUDA devices that this process sees. */
int lab_cuda_devices(void);

/** Bytes of an array on the first device: `most`, or less where its free memory would not hold what
 *  the largest ladder needs.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t lab_cuda_default(int64_t most, int64_t *bytes);

/** Name the machine, and measure the bandwidth of a copy in its memory.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t lab_open_cpu(lab_t *lab);
MG_MUST_CHECK mg_status_t lab_open_cuda(lab_t *lab);

/* Ladders: each adds its tables. That of the solver's kernels is for any place; others may be for
 * one only. */
typedef mg_status_t (*lab_ladder_t)(lab_t *lab);
mg_status_t lab_copy_cpu(lab_t *lab);
mg_status_t lab_reduce_cpu(lab_t *lab);
mg_status_t lab_smooth_cpu(lab_t *lab);
mg_status_t lab_stride_cpu(lab_t *lab);
mg_status_t lab_wide_cpu(lab_t *lab);
mg_status_t lab_copy_cuda(lab_t *lab);
mg_status_t lab_reduce_cuda(lab_t *lab);
mg_status_t lab_smooth_cuda(lab_t *lab);
mg_status_t lab_stride_cuda(lab_t *lab);
mg_status_t lab_wide_cuda(lab_t *lab);
mg_status_t lab_roofline(lab_t *lab);

/** Search for the shape of a norm or a sum: MG_ERR_USAGE where nothing can be compiled. */
mg_status_t lab_search_cuda(lab_t *lab);

#endif
