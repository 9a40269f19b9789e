/* What a solver of the library holds, and its coefficients and right-hand sides. */
#ifndef MG_API_SOLVER_H
#define MG_API_SOLVER_H

#include "api/boxes.h"
#include "base/alloc.h"
#include "base/log.h"
#include "include/hpgmg.h"
#include "plan/axes.h"
#include "run/placement.h"
#include "solver/domain.h"
#include "solver/problem.h"

enum { MG_API_MESSAGE = 1024, MG_API_LINE = 3072 };

/* Fields that the caller gives, after beta on the faces normal to 0, 1 and 2. */
enum {
  MG_API_ALPHA = 3,
  MG_API_CELL_BETA,
  MG_API_MASK,
  MG_API_F,
  MG_API_U,
  MG_API_SIDE, /* and 5 more, in the order of mg_cells_at */
  MG_API_FIELDS = MG_API_SIDE + 6
};

struct hpgmg_solver {
  hpgmg_solver_t *next; /* in the list of all solvers */
  hpgmg_log_t log;
  void *log_data;
  char error[MG_API_MESSAGE];
  mg_log_t messages;
  char *lines;          /* of this call, for `log`; each ends with 0 */
  size_t lines_size;    /* bytes */
  bool cells_are_words; /* the words have --cells */
  mg_comm_t *comm;
  mg_params_t params;
  mg_plan_t plan;
  mg_placement_t placement;
  mg_axes_t axes;
  mg_hierarchy_t *h;
  mg_allocator_t allocator; /* the caller's, or without functions */
  mg_cuboid_t *own;         /* this rank's cells on the finest level */
  int n_own;
  int64_t planned[2]; /* bytes on host and device, of a solver without levels */
  mg_boxes_t *boxes;
  mg_range_t limit[MG_API_CELL_BETA];   /* of beta and alpha */
  const hpgmg_array_t *field[MG_API_F]; /* `ones`, or the caller's during a call */
  hpgmg_array_t *ones;                  /* for each box an array of the value 1 */
  void *stream;
  bool by_cells;    /* beta is that of cells */
  bool has_mask;    /* there is a mask */
  bool has_alpha;   /* the caller gives alpha */
  bool has_guess;   /* and a first u */
  char method[512]; /* of the levels (hpgmg_method) */
  int cycles;       /* of each solve; 0: until the tolerance */
  int n_boxes;      /* of this rank */
  bool ready;       /* the levels are set up */
  bool can_enqueue; /* a number of cycles needs no host in between */
  bool holds_device, usable;
  bool agreed; /* all ranks know the failure */
  bool broken; /* a device or MPI failed, so other ranks may not take part in calls */
};

/** Take a message, in the terms of the library; the caller gets it at the end of the call, when no
 *  lock is held. */
void mg_api_take_line(void *solver, const char *text);

/** The messages of a call, and the function that gets them. */
typedef struct {
  hpgmg_log_t log;
  void *data;
  char *text;
  size_t size;
} mg_api_lines_t;
mg_api_lines_t mg_api_detach_lines(hpgmg_solver_t *s);
void mg_api_deliver(mg_api_lines_t lines);

/** Note the words that select the method of these parameters, and why it was chosen. */
void mg_api_note_method(hpgmg_solver_t *s, const mg_params_t *params);

/** Parse the words, and compare them with the other options. Collective over the world. */
MG_MUST_CHECK mg_status_t mg_api_parse(hpgmg_solver_t *s, const hpgmg_options_t *o);

/** Plan and allocate the levels and boxes, with coefficients of 1. Collective over the world. */
MG_MUST_CHECK mg_status_t mg_api_build(hpgmg_solver_t *s, const hpgmg_options_t *o);

/** Allocate, and set all coefficients to 1. */
MG_MUST_CHECK mg_status_t mg_api_create_coefficients(hpgmg_solver_t *s);
void mg_api_free_coefficients(hpgmg_solver_t *s);

/** Check new coefficients and set up the levels with them. Collective over the world, like the
 *  functions below. */
MG_MUST_CHECK mg_status_t mg_api_set_coefficients(hpgmg_solver_t *s, const hpgmg_coefficients_t *c);

/** Check new values of sides, and copy them. */
MG_MUST_CHECK mg_status_t mg_api_set_sides(hpgmg_solver_t *s, const hpgmg_sides_t *sides);

/** Set up the levels with s->field. */
MG_MUST_CHECK mg_status_t mg_api_set_up(hpgmg_solver_t *s);

/** Set the right-hand side of levels that are set up. */
MG_MUST_CHECK mg_status_t mg_api_set_rhs(hpgmg_solver_t *s, const hpgmg_array_t *f, bool enqueued);

/** Where the arrays of a call are. */
typedef struct {
  bool any_on_host; /* or on a device that this solver does not use */
  bool captured;    /* the caller's stream is being captured */
} mg_arrays_t;

/** Check the arrays of a solve, but not their values. */
MG_MUST_CHECK mg_status_t mg_api_check_solve(hpgmg_solver_t *s, const hpgmg_array_t *f,
                                             const hpgmg_array_t *u, mg_arrays_t *found);

/** Check coefficients and sides, values too.
 *  @param[in]  field     arrays in the order of MG_API_ALPHA and so on
 *  @param[out] by_cells  beta is that of cells
 *  @param[out] has_mask  there is a mask
 *  @param[out] given     sides that have values on any rank */
MG_MUST_CHECK mg_status_t mg_api_check_coefficients(const hpgmg_solver_t *s,
                                                    const hpgmg_array_t *const *field,
                                                    bool *by_cells, bool *has_mask);
MG_MUST_CHECK mg_status_t mg_api_check_sides(const hpgmg_solver_t *s, const hpgmg_sides_t *sides,
                                             bool given[3][2]);

/** Report that a call needs the host in between.
 *  @return MG_ERR_USAGE, MG_ERR_DEVICE */
mg_status_t mg_api_refuse_capture(const hpgmg_solver_t *s, const char *why);

/** Check the values of f, or of u as a guess. */
MG_MUST_CHECK mg_status_t mg_api_check_values(const hpgmg_solver_t *s, int field,
                                              const hpgmg_array_t *array);

/** Solve, or enqueue a solve. */
MG_MUST_CHECK mg_status_t mg_api_solve(hpgmg_solver_t *s, const hpgmg_array_t *f,
                                       const hpgmg_array_t *u, hpgmg_info_t *info);

#endif
