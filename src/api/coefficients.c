#include "api/solver.h"
#include "base/alloc.h"
#include "comm/comm.h"
#include "formulas/walls.h"
#include "io/boundary_faces_io.h"
#include "level/ops.h"
#include "solver/graph.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALPHA = 3, F = 4 }; /* after the betas of directions 0, 1 and 2 */
static const char *const names[] = {"beta[0]", "beta[1]", "beta[2]", "alpha", "f"};

static double one = 1.0;

void mg_api_default_coefficients(hpgmg_solver_t *s) {
  /* With strides of 0 an array has one value. */
  for (int d = 0; d < 3; d++)
    s->coefficients.beta[d] = (hpgmg_array_t){&one, {0, 0, 0}};
  s->coefficients.alpha = (hpgmg_array_t){s->has_alpha ? &one : NULL, {0, 0, 0}};
}

static hpgmg_array_t *array_of(hpgmg_coefficients_t *c, int field) {
  return field == ALPHA ? &c->alpha : &c->beta[field];
}

/* The cells of this rank's box, or its faces. */
static mg_box_t part_of(const hpgmg_solver_t *s, int field) {
  mg_box_t part = *mg_boxes_mine(s->boxes);
  if (field < ALPHA && mg_box_cells(&part) > 0) part.n[field]++;
  return part;
}

/* Whether nothing reads a face: it is on a side with Neumann's condition, or the last one of a
 * period. */
static bool is_unread(const hpgmg_solver_t *s, int field, const int32_t at[3]) {
  if (field >= ALPHA) return false;
  const bool last = at[field] == s->plan.level[0].layout.n[field];
  if (mg_params_is_periodic(&s->params, field)) return last;
  return (last || at[field] == 0) && s->params.wall[field][last] == MG_WALL_NEUMANN &&
         !mg_is_robin(&s->params.condition[field][last]);
}

static bool is_allowed(int field, double x) {
  if (field == F) return fabs(x) <= MG_MAX_VALUE;
  return (x >= MG_MIN_VALUE && x <= MG_MAX_VALUE) || (field == ALPHA && x == 0.0);
}

/* The first value of a row that is not allowed; n if there is none. */
static int32_t first_bad(const hpgmg_solver_t *s, int field, const double *x, ptrdiff_t stride,
                         const int32_t at[3], int32_t n) {
  int32_t i = 0;
  for (; i < n; i++) {
    const int32_t here[3] = {at[0] + i, at[1], at[2]};
    if (!is_allowed(field, x[i * stride]) && !is_unread(s, field, here)) break;
  }
  return i;
}

static mg_status_t blame(int field, double x, const int32_t at[3]) {
  char value[32] = "nan"; /* printf may add a sign */
  if (!isnan(x)) snprintf(value, sizeof value, "%g", x);
  return mg_error(MG_ERR_USAGE, "%s has %s at (%d, %d, %d); it must be %s", names[field], value,
                  at[0], at[1], at[2],
                  field == F       ? "finite and at most 1e60 in magnitude"
                  : field == ALPHA ? "0 or from 1e-60 to 1e60"
                                   : "from 1e-60 to 1e60");
}

static mg_status_t check_values(const hpgmg_solver_t *s, int field, const hpgmg_array_t *a) {
  const mg_box_t part = part_of(s, field);
  const int64_t rows = (int64_t)part.n[1] * part.n[2];
  int64_t bad = rows;
#pragma omp parallel for reduction(min : bad)
  for (int64_t row = 0; row < rows; row++) {
    const int32_t j = (int32_t)(row % part.n[1]), k = (int32_t)(row / part.n[1]);
    const double *x = a->data + j * a->stride[1] + k * a->stride[2];
    const int32_t at[3] = {part.lo[0], part.lo[1] + j, part.lo[2] + k};
    if (first_bad(s, field, x, a->stride[0], at, part.n[0]) < part.n[0] && row < bad) bad = row;
  }
  if (bad == rows) return MG_OK;
  const int32_t j = (int32_t)(bad % part.n[1]), k = (int32_t)(bad / part.n[1]);
  const double *x = a->data + j * a->stride[1] + k * a->stride[2];
  int32_t at[3] = {part.lo[0], part.lo[1] + j, part.lo[2] + k};
  const int32_t i = first_bad(s, field, x, a->stride[0], at, part.n[0]);
  at[0] += i;
  return blame(field, x[i * a->stride[0]], at);
}

/* On this rank. Ranks without cells need no arrays. */
static mg_status_t check(const hpgmg_solver_t *s, hpgmg_coefficients_t *c) {
  if (mg_box_cells(mg_boxes_mine(s->boxes)) == 0) return MG_OK;
  for (int field = 0; field <= ALPHA; field++) {
    const hpgmg_array_t *a = array_of(c, field);
    const bool needed = field < ALPHA || s->has_alpha;
    if (needed && !a->data) return mg_error(MG_ERR_USAGE, "%s is NULL", names[field]);
    if (!needed && a->data)
      return mg_error(MG_ERR_USAGE, "alpha is given, but the options have no varying_alpha");
    if (needed) MG_TRY(check_values(s, field, a));
  }
  return MG_OK;
}

/* Replace the coefficients by copies, for later set-ups. */
static mg_status_t keep(hpgmg_solver_t *s, hpgmg_coefficients_t *c) {
  int64_t values = 0;
  double *memory = NULL;
  for (int field = 0; field <= ALPHA; field++) {
    const mg_box_t part = part_of(s, field);
    values += mg_box_cells(&part);
  }
  const mg_status_t status = mg_comm_agree(mg_new(&memory, values, "copies of coefficients"));
  if (status != MG_OK) {
    free(memory);
    return status;
  }
  double *next = memory;
  for (int field = 0; field <= ALPHA; field++) {
    hpgmg_array_t *a = array_of(c, field);
    const mg_box_t part = part_of(s, field);
    if (!a->data) continue;
    const hpgmg_array_t copy = {next, {1, part.n[0], (ptrdiff_t)part.n[0] * part.n[1]}};
    mg_box_copy(&part, a->data, a->stride, copy.data, copy.stride);
    *a = copy;
    next += mg_box_cells(&part);
  }
  free(s->kept);
  s->kept = memory;
  s->coefficients = *c;
  s->ready = false;
  return MG_OK;
}

/* The plane of faces at the upper wall in direction d, as far as this rank has them; else 0. */
static void get_upper_faces(const hpgmg_solver_t *s, int d, double *wall) {
  const int32_t *n = s->plan.level[0].layout.n;
  const hpgmg_array_t *a = &s->coefficients.beta[d];
  mg_box_t part = part_of(s, d);
  if (part.lo[d] + part.n[d] != n[d] + 1) return;
  ptrdiff_t stride[3] = {0, 0, 0}, next = 1;
  for (int e = 0; e < 3; e++) {
    if (e == d) continue;
    stride[e] = next;
    next *= n[e];
  }
  const double *from = a->data + (part.n[d] - 1) * a->stride[d];
  for (int e = 0; e < 3; e++)
    wall += part.lo[e] * stride[e];
  part.n[d] = 1;
  mg_box_copy(&part, from, a->stride, wall, stride);
}

static mg_status_t load_beta(hpgmg_solver_t *s, int d) {
  mg_level_t *level = &s->h->level[0];
  const hpgmg_array_t *a = &s->coefficients.beta[d];
  int32_t n[2];
  double *wall;
  MG_TRY(mg_boxes_store(s->boxes, a->data, a->stride, MG_BETA_I + d));
  if (level->comm) MG_TRY(mg_halo(level, MG_BETA_I + d, false));
  if (mg_params_is_periodic(&s->params, d)) return MG_OK;
  mg_boundary_faces_size(s->plan.level[0].layout.n, d, n);
  MG_TRY(mg_comm_agree(mg_new(&wall, (int64_t)n[0] * n[1], "wall faces")));
  get_upper_faces(s, d, wall);
  const mg_status_t status = mg_boundary_faces_put(level, d, wall);
  free(wall);
  return status;
}

/* A solver and the right-hand side that it is given. */
typedef struct {
  hpgmg_solver_t *s;
  const hpgmg_array_t *f;
} given_t;

static mg_status_t load_f(void *data, mg_hierarchy_t *h) {
  const given_t *g = data;
  if (!g->f) return mg_fill(&h->level[0], MG_F, 0.0);
  return mg_boxes_store(g->s->boxes, g->f->data, g->f->stride, MG_F);
}

static mg_status_t load(void *data, mg_hierarchy_t *h) {
  const given_t *g = data;
  const hpgmg_array_t *alpha = &g->s->coefficients.alpha;
  for (int d = 0; d < 3; d++)
    MG_TRY(load_beta(g->s, d));
  if (g->s->has_alpha) MG_TRY(mg_boxes_store(g->s->boxes, alpha->data, alpha->stride, MG_ALPHA));
  return load_f(data, h);
}

mg_status_t mg_api_set_up(hpgmg_solver_t *s, const hpgmg_array_t *f) {
  given_t given = {s, f};
  s->ready = s->usable = false;   /* until all is set up */
  mg_hierarchy_free_graphs(s->h); /* they hold constants of the smoothers */
  MG_TRY(mg_problem_set_from(s->h, &(mg_problem_source_t){load, &given, NULL, true}));
  MG_TRY(mg_comm_agree_or_end(mg_graph_capture(s->h, 0)));
  s->ready = s->usable = true;
  return MG_OK;
}

mg_status_t mg_api_set_rhs(hpgmg_solver_t *s, const hpgmg_array_t *f) {
  given_t given = {s, f};
  return mg_problem_set_rhs(s->h, load_f, &given);
}

mg_status_t mg_api_set_coefficients(hpgmg_solver_t *s, const hpgmg_coefficients_t *c) {
  hpgmg_coefficients_t coefficients = *c;
  MG_TRY(mg_comm_agree(check(s, &coefficients)));
  if (mg_params_has_wall_values(&s->params)) return keep(s, &coefficients);
  s->coefficients = coefficients;
  const mg_status_t status = mg_api_set_up(s, NULL);
  mg_api_default_coefficients(s); /* the caller's arrays may end */
  return status;
}

static mg_status_t check_rhs(const hpgmg_solver_t *s, const hpgmg_array_t *f,
                             const hpgmg_array_t *u) {
  if (mg_box_cells(mg_boxes_mine(s->boxes)) == 0) return MG_OK;
  if (!f->data || !u->data) return mg_error(MG_ERR_USAGE, "%s is NULL", f->data ? "u" : "f");
  for (int d = 0; d < 3; d++)
    if (u->stride[d] == 0 && mg_boxes_mine(s->boxes)->n[d] > 1)
      return mg_error(MG_ERR_USAGE, "u has a stride of 0 in %c", "ijk"[d]);
  return check_values(s, F, f);
}

mg_status_t mg_api_check_rhs(const hpgmg_solver_t *s, const hpgmg_array_t *f,
                             const hpgmg_array_t *u) {
  return mg_comm_agree(check_rhs(s, f, u));
}
