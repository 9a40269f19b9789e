/* Checks of the arrays that an application gives. */
#include "api/array_memory.h"
#include "api/solver.h"
#include "comm/comm.h"
#include "level/ops.h"
#include "params/params_wings.h"
#include "solver/solids.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[MG_API_FIELDS] = {"beta[0]",
                                                 "beta[1]",
                                                 "beta[2]",
                                                 "alpha",
                                                 "cell_beta",
                                                 "mask",
                                                 "f",
                                                 "u",
                                                 "values[0][0]",
                                                 "values[0][1]",
                                                 "values[1][0]",
                                                 "values[1][1]",
                                                 "values[2][0]",
                                                 "values[2][1]"};

static bool is_face(int field) {
  return field < MG_API_ALPHA;
}

/* The elements of a box's array. */
static mg_cuboid_t part_of(const hpgmg_solver_t *s, int field, int box) {
  return mg_boxes_part(s->boxes, box,
                       is_face(field)         ? field
                       : field >= MG_API_SIDE ? mg_cells_at(0, 0) + field - MG_API_SIDE
                                              : MG_CELLS);
}

/* The elements that are read: not faces on a side with Neumann's condition, nor the last ones of a
 * period. */
static mg_cuboid_t read_part_of(const hpgmg_solver_t *s, int field, int box) {
  mg_cuboid_t part = part_of(s, field, box);
  if (!is_face(field)) return part;
  const bool periodic = mg_params_is_periodic(&s->params, field);
  const int32_t last = s->plan.level[0].layout.n[field];
  for (int side = 0; side < 2; side++) {
    const bool unread = periodic ? side == 1 : mg_gives_flux(&s->params.side[field][side]);
    const bool has = side == 0 ? part.lo[field] == 0 : part.lo[field] + part.n[field] == last + 1;
    if (!unread || !has || part.n[field] == 0) continue;
    part.n[field]--;
    if (side == 0) part.lo[field]++;
  }
  return part;
}

static mg_range_t range_of(const hpgmg_solver_t *s, int field) {
  if (field >= MG_API_F) return (mg_range_t){-MG_MAX_VALUE, MG_MAX_VALUE, true};
  if (field == MG_API_MASK) return (mg_range_t){1.0, MG_N_MASKS - 1.0, true};
  if (field == MG_API_ALPHA) return s->limit[field];
  mg_range_t range = s->limit[is_face(field) ? field : 0];
  /* Fixed levels may have no alpha that varies. */
  range.may_be_0 = range.may_be_0 && (!s->h->is_fixed || s->h->params.closes_cells);
  if (is_face(field)) return range;
  for (int d = 1; d < 3; d++) {
    range.least = fmax(range.least, s->limit[d].least);
    range.most = fmin(range.most, s->limit[d].most);
  }
  return range;
}

static mg_status_t blame(int field, double x, const int32_t at[3], const mg_range_t *range) {
  char value[32] = "nan", limits[96]; /* printf may add a sign to nan */
  if (!isnan(x)) snprintf(value, sizeof value, "%g", x);
  snprintf(limits, sizeof limits, "%sfrom %g to %g%s", range->may_be_0 ? "0 or " : "", range->least,
           range->most,
           range->least == MG_MIN_VALUE ? "" : ", the range of float (--precision=mixed)");
  return mg_error(MG_ERR_USAGE, "%s has %s at (%d, %d, %d); it must be %s", names[field], value,
                  at[0], at[1], at[2],
                  field >= MG_API_F ? "finite and at most 1e60 in magnitude" : limits);
}

/* Find an element outside of a range, where the array is. */
static mg_status_t find_outside(const hpgmg_solver_t *s, const int32_t n[3], const hpgmg_array_t *a,
                                ptrdiff_t offset, const mg_range_t *range, int64_t *place,
                                double *value) {
  const mg_backend_t *backend =
      mg_boxes_on_device(s->boxes, a) ? s->h->level[0].backend : &mg_backend_cpu;
  const mg_strided_t array = {a->data + offset, {a->stride[0], a->stride[1], a->stride[2]}};
  return backend->arrays->find_outside(n, &array, range, place, value);
}

/* The same in a box, of the elements that are read.
 * @param[out] at  of the first one in the grid; at[0] < 0: there is none */
static mg_status_t find_in_box(const hpgmg_solver_t *s, int field, int box, const hpgmg_array_t *a,
                               const mg_range_t *range, int32_t at[3], double *value) {
  const mg_cuboid_t all = part_of(s, field, box), part = read_part_of(s, field, box);
  ptrdiff_t offset = 0;
  int64_t place = -1;
  at[0] = -1;
  for (int d = 0; d < 3; d++)
    offset += (part.lo[d] - all.lo[d]) * a->stride[d];
  if (mg_volume(part.n) > 0) MG_TRY(find_outside(s, part.n, a, offset, range, &place, value));
  if (place < 0) return MG_OK;
  const int64_t row = place / part.n[0];
  at[0] = part.lo[0] + (int32_t)(place % part.n[0]);
  at[1] = part.lo[1] + (int32_t)(row % part.n[1]);
  at[2] = part.lo[2] + (int32_t)(row / part.n[1]);
  return MG_OK;
}

static mg_status_t check_values(const hpgmg_solver_t *s, int field, int box,
                                const hpgmg_array_t *a) {
  const mg_range_t range = range_of(s, field);
  int32_t at[3];
  double value;
  MG_TRY(find_in_box(s, field, box, a, &range, at, &value));
  return at[0] < 0 ? MG_OK : blame(field, value, at, &range);
}

mg_status_t mg_api_check_values(const hpgmg_solver_t *s, int field, const hpgmg_array_t *array) {
  mg_status_t status = MG_OK;
  for (int box = 0; status == MG_OK && box < mg_boxes_count(s->boxes); box++)
    status = check_values(s, field, box, &array[box]);
  return mg_comm_agree(status);
}

/* Memory that this solver cannot access. */
static mg_status_t check_memory(const hpgmg_solver_t *s, int field, const hpgmg_array_t *a,
                                mg_arrays_t *found) {
  const mg_backend_arrays_t *arrays = s->h->level[0].backend->arrays;
  int device, mine = -1;
  const mg_array_memory_t memory = mg_array_memory(a->data, &device);
  if (arrays->select) MG_TRY(arrays->select(&mine));
  found->any_on_host = found->any_on_host || !arrays->select || memory == MG_ARRAY_ON_HOST;
  if (memory != MG_ARRAY_ON_DEVICE || mine == device) return MG_OK;
  if (arrays->select)
    return mg_error(MG_ERR_USAGE, "%s is in memory of GPU %d, but the solver uses GPU %d",
                    names[field], device, mine);
  return mg_error(
      MG_ERR_USAGE,
      "%s is in memory of GPU %d, but the solver runs on the CPU; use --device=cuda, or "
      "an array in host memory",
      names[field], device);
}

/* Arrays of Fortran and Python always state theirs. */
static mg_status_t check_shape(int field, const int32_t has[3], const int32_t want[3]) {
  const bool stated = has[0] != 0 || has[1] != 0 || has[2] != 0;
  if (!stated || memcmp(has, want, 3 * sizeof *has) == 0) return MG_OK;
  return mg_error(MG_ERR_USAGE,
                  "%s has %dx%dx%d values, but its box needs %dx%dx%d; give the part of the array "
                  "without ghosts",
                  names[field], has[0], has[1], has[2], want[0], want[1], want[2]);
}

/* The arrays of a field on this rank. Empty boxes need none. */
static mg_status_t check_arrays(const hpgmg_solver_t *s, int field, const hpgmg_array_t *array,
                                mg_arrays_t *found) {
  for (int box = 0; box < mg_boxes_count(s->boxes); box++) {
    const mg_cuboid_t part = part_of(s, field, box);
    if (mg_volume(part.n) == 0) continue;
    if (!array || !array[box].data) return mg_error(MG_ERR_USAGE, "%s is NULL", names[field]);
    MG_TRY(check_shape(field, array[box].n, part.n));
    MG_TRY(check_memory(s, field, &array[box], found));
    for (int d = 0; field == MG_API_U && d < 3; d++)
      if (array[box].stride[d] == 0 && part.n[d] > 1)
        return mg_error(MG_ERR_USAGE, "u has a stride of 0 in %c", "ijk"[d]);
  }
  return MG_OK;
}

/* A device works after what the caller has enqueued. */
static mg_status_t follow(const hpgmg_solver_t *s, mg_arrays_t *found) {
  const mg_backend_arrays_t *arrays = s->h->level[0].backend->arrays;
  return arrays->follow ? arrays->follow(s->stream, &found->captured) : MG_OK;
}

/* A capture can end only after all streams that take part have joined. */
static mg_status_t end_capture(const hpgmg_solver_t *s, const mg_arrays_t *found) {
  return found->captured ? s->h->level[0].backend->arrays->lead(s->stream) : MG_OK;
}

mg_status_t mg_api_refuse_capture(const hpgmg_solver_t *s, const char *why) {
  MG_TRY(s->h->level[0].backend->arrays->lead(s->stream));
  return mg_error(MG_ERR_USAGE, "the stream is being captured, but %s", why);
}

static mg_status_t check_given_arrays(const hpgmg_solver_t *s, const hpgmg_array_t *const *field) {
  const bool by_cells = field[MG_API_CELL_BETA] != NULL;
  mg_arrays_t found = {false, false};
  for (int f = 0; mg_boxes_count(s->boxes) > 0 && f < MG_API_F; f++) {
    const bool needed = f == MG_API_ALPHA       ? s->has_alpha
                        : f == MG_API_MASK      ? field[f] != NULL
                        : f == MG_API_CELL_BETA ? by_cells
                                                : !by_cells;
    if (needed) MG_TRY(check_arrays(s, f, field[f], &found));
  }
  MG_TRY(follow(s, &found));
  return found.captured ? mg_api_refuse_capture(s, "hpgmg_set_coefficients waits for the GPU")
                        : MG_OK;
}

static mg_status_t check_given(const hpgmg_solver_t *s, const hpgmg_array_t *const *field) {
  if (!s->has_alpha && field[MG_API_ALPHA])
    return mg_error(MG_ERR_USAGE, "alpha is given, but the options have no varying_alpha");
  if (field[MG_API_CELL_BETA] && (field[0] || field[1] || field[2]))
    return mg_error(MG_ERR_USAGE, "beta and cell_beta are given; give one of them");
  MG_TRY(check_given_arrays(s, field));
  for (int f = 0; f < MG_API_F; f++)
    for (int box = 0; field[f] && box < mg_boxes_count(s->boxes); box++)
      MG_TRY(check_values(s, f, box, &field[f][box]));
  return MG_OK;
}

static mg_status_t check_solve(const hpgmg_solver_t *s, const hpgmg_array_t *f,
                               const hpgmg_array_t *u, mg_arrays_t *found) {
  MG_TRY(check_arrays(s, MG_API_F, f, found));
  MG_TRY(check_arrays(s, MG_API_U, u, found));
  MG_TRY(follow(s, found));
  if (!found->captured || mg_comm_size(mg_comm_world()) == 1) return MG_OK;
  return mg_error(MG_ERR_USAGE, "the stream is being captured, but the solver has %d ranks",
                  mg_comm_size(mg_comm_world()));
}

mg_status_t mg_api_check_solve(hpgmg_solver_t *s, const hpgmg_array_t *f, const hpgmg_array_t *u,
                               mg_arrays_t *found) {
  *found = (mg_arrays_t){false, false};
  const mg_status_t status = mg_comm_agree(check_solve(s, f, u, found));
  if (status != MG_OK) MG_TRY(end_capture(s, found));
  return status;
}

/* Whether an alpha is not 0 on this rank: 1, else 0. */
static mg_status_t find_alpha(const hpgmg_solver_t *s, const hpgmg_array_t *alpha, double *found) {
  const mg_range_t zero = {0.0, 0.0, true};
  for (int box = 0; *found == 0.0 && box < mg_boxes_count(s->boxes); box++) {
    const mg_cuboid_t part = part_of(s, MG_API_ALPHA, box);
    int64_t place = -1;
    double value;
    if (mg_volume(part.n) > 0)
      MG_TRY(find_outside(s, part.n, &alpha[box], 0, &zero, &place, &value));
    *found = place >= 0;
  }
  return MG_OK;
}

/* With alpha = 0, only conditions determine u. */
static mg_status_t check_alpha(const hpgmg_solver_t *s, const hpgmg_array_t *alpha) {
  double found = 0.0;
  if (!s->has_alpha || mg_params_has_fixing_side(&s->params)) return MG_OK;
  MG_TRY(mg_comm_agree(find_alpha(s, alpha, &found)));
  MG_TRY(mg_comm_max(mg_comm_world(), &found, 1));
  if (found > 0.0) return MG_OK;
  return mg_root_error(MG_ERR_USAGE,
                       "alpha is 0 everywhere, and no side determines u; use Poisson's "
                       "equation");
}

static bool has_cells(const hpgmg_solver_t *s) {
  int64_t cells = 0;
  for (int box = 0; box < mg_boxes_count(s->boxes); box++)
    cells += mg_volume(part_of(s, MG_API_F, box).n);
  return cells > 0;
}

/* Ranks without cells give no arrays; so ask all which beta they have. */
static mg_status_t agree_on_beta(const hpgmg_solver_t *s, const hpgmg_array_t *const *field,
                                 bool *by_cells) {
  double has[2] = {has_cells(s) && field[MG_API_CELL_BETA],
                   has_cells(s) && !field[MG_API_CELL_BETA]};
  MG_TRY(mg_comm_max(mg_comm_world(), has, 2));
  *by_cells = has[0] > 0.0;
  if (has[0] + has[1] < 1.5) return MG_OK;
  return mg_root_error(MG_ERR_USAGE, "some ranks give beta and others cell_beta");
}

static bool is_beta(int field) {
  return is_face(field) || field == MG_API_CELL_BETA;
}

/* Closed cells need an alpha that varies, which fixed levels may lack. */
static mg_status_t agree_on_mask(const hpgmg_solver_t *s, const hpgmg_array_t *const *field,
                                 bool *has_mask) {
  double has[3] = {has_cells(s) && field[MG_API_MASK], has_cells(s) && !field[MG_API_MASK],
                   s->h->is_fixed};
  MG_TRY(mg_comm_max(mg_comm_world(), has, 3));
  *has_mask = has[0] > 0.0;
  if (!*has_mask) return MG_OK;
  if (has[1] > 0.0) return mg_root_error(MG_ERR_USAGE, "some ranks give mask and others not");
  if (!mg_may_close_faces(&s->params))
    return mg_root_error(MG_ERR_USAGE, "mask is given, but --operator=%s; it needs %s",
                         mg_operator_name(s->params.op),
                         MG_WING_SOLIDS ? "a build with the wing 'solids'" : "--operator=7pt");
  if (has[2] == 0.0 || s->h->params.closes_cells) return MG_OK;
  return mg_root_error(MG_ERR_USAGE, "hpgmg_storage has fixed levels without a mask; call "
                                     "hpgmg_set_coefficients with a mask before");
}

/* Apply a function to the betas of each box. */
typedef mg_status_t of_box_t(const hpgmg_solver_t *s, int field, int box, const hpgmg_array_t *a,
                             double *large);
static mg_status_t for_betas(const hpgmg_solver_t *s, const hpgmg_array_t *const *field,
                             of_box_t *apply, double *large) {
  for (int f = 0; f < MG_API_F; f++)
    for (int box = 0; is_beta(f) && field[f] && box < mg_boxes_count(s->boxes); box++)
      MG_TRY(apply(s, f, box, &field[f][box], large));
  return MG_OK;
}

/* The largest power of 2 that is not above all betas. */
static mg_status_t raise_large(const hpgmg_solver_t *s, int field, int box, const hpgmg_array_t *a,
                               double *large) {
  for (int32_t at[3] = {0}; at[0] >= 0;) {
    const mg_range_t below = {MG_MIN_VALUE, nextafter(2.0 * *large, 0.0), true};
    double value;
    MG_TRY(find_in_box(s, field, box, a, &below, at, &value));
    if (at[0] >= 0) *large = ldexp(1.0, ilogb(value));
  }
  return MG_OK;
}

static mg_status_t check_large(const hpgmg_solver_t *s, int field, int box, const hpgmg_array_t *a,
                               double *large) {
  const mg_range_t above = {*large / MG_MAX_RATIO, MG_MAX_VALUE, s->limit[0].may_be_0};
  int32_t at[3];
  double value;
  MG_TRY(find_in_box(s, field, box, a, &above, at, &value));
  if (at[0] < 0) return MG_OK;
  return mg_error(MG_ERR_USAGE,
                  "%s has %g at (%d, %d, %d), less than 1e-20 of the greatest; if no side and no "
                  "alpha fix u, that is lost in round-off; %s",
                  names[field], value, at[0], at[1], at[2],
                  s->limit[0].may_be_0 ? "0 closes a face" : "1e-12 of the greatest closes a face");
}

static mg_status_t check_ratio(const hpgmg_solver_t *s, const hpgmg_array_t *const *field) {
  double large = 0.0;
  if (!mg_params_is_singular(&s->params)) return MG_OK;
  MG_TRY(mg_comm_agree(for_betas(s, field, raise_large, &large)));
  MG_TRY(mg_comm_max(mg_comm_world(), &large, 1));
  return mg_comm_agree(for_betas(s, field, check_large, &large));
}

mg_status_t mg_api_check_coefficients(const hpgmg_solver_t *s, const hpgmg_array_t *const *field,
                                      bool *by_cells, bool *has_mask) {
  *by_cells = *has_mask = false;
  MG_TRY(mg_comm_agree(check_given(s, field)));
  MG_TRY(mg_comm_agree(agree_on_beta(s, field, by_cells)));
  MG_TRY(agree_on_mask(s, field, has_mask));
  MG_TRY(check_ratio(s, field));
  return check_alpha(s, field[MG_API_ALPHA]);
}

/* A side has values if any rank gives some. */
static mg_status_t check_side(const hpgmg_solver_t *s, int d, int side, const hpgmg_array_t *array,
                              mg_arrays_t *found) {
  const int field = MG_API_SIDE + 2 * d + side;
  if (mg_params_is_periodic(&s->params, d))
    return mg_error(MG_ERR_USAGE, "%s is given, but the grid is periodic in %c", names[field],
                    "ijk"[d]);
  MG_TRY(check_arrays(s, field, array, found));
  for (int box = 0; array && box < mg_boxes_count(s->boxes); box++)
    MG_TRY(check_values(s, field, box, &array[box]));
  return MG_OK;
}

static mg_status_t check_sides(const hpgmg_solver_t *s, const hpgmg_sides_t *sides,
                               const double given[6]) {
  mg_arrays_t found = {false, false};
  MG_TRY(follow(s, &found));
  if (found.captured) return mg_api_refuse_capture(s, "hpgmg_set_sides waits for the GPU");
  for (int n = 0; n < 6; n++)
    if (given[n] > 0.0) MG_TRY(check_side(s, n / 2, n % 2, sides->values[n / 2][n % 2], &found));
  return MG_OK;
}

mg_status_t mg_api_check_sides(const hpgmg_solver_t *s, const hpgmg_sides_t *sides,
                               bool given[3][2]) {
  MG_TRY(mg_comm_agree(sides ? MG_OK : mg_error(MG_ERR_USAGE, "sides is NULL")));
  if (!mg_params_has_cells(&s->params))
    return mg_root_error(MG_ERR_USAGE, "values of sides need the size of the grid in cells, and "
                                       "--operator=fv2 or 7pt");
  double any[6];
  for (int n = 0; n < 6; n++)
    any[n] = sides->values[n / 2][n % 2] != NULL;
  MG_TRY(mg_comm_max(mg_comm_world(), any, 6));
  for (int n = 0; n < 6; n++)
    given[n / 2][n % 2] = any[n] > 0.0;
  return mg_comm_agree(check_sides(s, sides, any));
}
