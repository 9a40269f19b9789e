/* Options and arrays of a rank, for tests of hpgmg.h. */
#ifndef TESTS_API_PARTS_H
#define TESTS_API_PARTS_H

#include "include/hpgmg.h"
#include "tests/lib/fixture.h"
#include <string.h>

/** Start and end a test program. */
void parts_begin(int *argc, char ***argv);
void parts_end(void);

extern int my_rank, n_ranks;
extern const int32_t grid[3]; /**< of the grid */

/** Words for its cells; the betas of cells of this width are stored without rounding. */
#define SPACING "--method=options --spacing=0.0625,0.0625,0.0625"

/** Boxes of a rank: all its cells, or two parts of them and an empty one. */
enum { MAX_BOXES = 3 };
extern int n_mine;
extern hpgmg_box_t my_boxes[MAX_BOXES];

/** Arrays of a value that is the same in all cells of all boxes. */
#define EVERYWHERE(x)                                                                              \
  {                                                                                                \
    {.data = &(x)}, {.data = &(x)}, {                                                              \
      .data = &(x)                                                                                 \
    }                                                                                              \
  }

/** The options of this rank: a part of the rows; the last of several ranks has none. */
hpgmg_options_t options_of(const char *words);

/** Whether arrays are in the memory of the GPU. */
extern bool on_device;

/** Run a test on each backend that a word selects alone.
 *  @param ways  1: with one box per rank; 2: also with several; 4: on a GPU both also on_device */
void parts_each(int ways, void (*test)(const fixture_backend_t *b));

/** This rank's part of an array of the whole grid, in each box k fastest, with two unused values
 * per column. */
typedef struct {
  double *memory, *device;
  int64_t values;
  hpgmg_array_t array[MAX_BOXES];
} part_t;

/** @param[in] x  values of the whole grid; NULL: zeros
 *  @param[in] faces  direction normal to the faces; -1: cells */
part_t part_of(const double *x, int faces);
/** The values of a part, in host memory. */
const double *values_in(part_t *part);
void free_part(part_t *part);

#define API(call) CHECK_INT((call), HPGMG_OK)

/* Checks are counted in each source by itself, so these functions are not in parts.c. */

extern int n_lines; /**< errors that refuse_create has seen in the log */
static inline void count_lines(void *data, const char *text) {
  static const char *const of_program[] = {"mpirun", "deck", "command line"};
  n_lines += data == (void *)&n_lines && strncmp(text, "hpgmg: error: ", 14) == 0;
  for (size_t n = 0; n < sizeof of_program / sizeof *of_program; n++)
    CHECK(!strstr(text, of_program[n]));
}

/** The call has the status, and a message with the text. */
static inline void refused(hpgmg_solver_t *s, hpgmg_status_t status, hpgmg_status_t want,
                           const char *text) {
  CHECK_INT(status, want);
  CHECK_CONTAINS(hpgmg_error(s), text);
}

static inline void refuse_create(hpgmg_options_t o, hpgmg_status_t want, const char *text) {
  hpgmg_solver_t *s;
  o.log = count_lines;
  o.log_data = &n_lines;
  const hpgmg_status_t status = hpgmg_create(&o, &s);
  refused(s, status, want, text);
  double x = 0.0;
  hpgmg_array_t array = {.data = &x};
  refused(s, hpgmg_solve(s, &array, &array, NULL), HPGMG_BAD_ARGUMENT, "has failed before");
  hpgmg_destroy(&s);
}

#endif
