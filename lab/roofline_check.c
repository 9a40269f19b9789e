/* Checks of the solver's kernels against a host reference, cell by cell. */
#include "base/log.h"
#include "formulas/index.h"
#include "lab/roofline.h"
#include "lab/roofline_reference.h"
#include "level/ops.h"
#include "level/transfer.h"
#include <math.h>
#include <string.h>

enum { ALL = 128, SOME = 4 }; /* largest n checked in full; planes checked on larger levels */

/* A running check: planes first .. last - 1 of the kernel's output. */
typedef struct {
  const roofline_place_t *place;
  mg_hierarchy_t *h;
  roofline_kind_t kind;
  roofline_fn run;
  int first, last;
} check_t;

static const mg_view_t *view_of(const mg_hierarchy_t *h, int l) {
  return &h->level[l].store.view;
}

mg_status_t roofline_wait(const mg_level_t *level) {
  return level->backend->wait ? level->backend->wait() : MG_OK;
}

/* Number of elements from a vector's first ghost to its last. */
static int64_t extent(const mg_view_t *v, int vec, double **first) {
  const mg_patch_t *p = &v->patch[0];
  const int g = v->layers;
  *first = mg_cell(p, vec, -g, -g, -g);
  return mg_cell(p, vec, p->n[0] - 1 + g, p->n[1] - 1 + g, p->n[2] - 1 + g) - *first + 1;
}

static int64_t salt(int vec) {
  return 7919 * (int64_t)(vec + 1);
}

/* Ghosts too: a kernel that reads a wall ghost before it is made gets a wrong value. */
static mg_status_t make_noise(const roofline_place_t *place, const mg_hierarchy_t *h, int l,
                              int vec) {
  double *first;
  const int64_t n = extent(view_of(h, l), vec, &first);
  MG_TRY(roofline_wait(&h->level[l]));
  return place->fill(first, n, salt(vec));
}

mg_status_t roofline_begin(const roofline_place_t *place, mg_hierarchy_t *h) {
  MG_TRY(make_noise(place, h, 0, MG_U));
  return mg_residual(&h->level[0], MG_F, MG_U, -1);
}

static mg_status_t begin_check(const roofline_place_t *place, const mg_hierarchy_t *h) {
  static const int vectors[] = {MG_U, MG_F, MG_TMP};
  for (int q = 0; q < 3; q++)
    MG_TRY(make_noise(place, h, 0, vectors[q]));
  for (int q = 0; q < 2; q++)
    MG_TRY(make_noise(place, h, 1, vectors[q]));
  return MG_OK;
}

/* ---- fetching data ---- */

static mg_status_t fetch_field(const check_t *c, int l, int vec, int first, int last, field_t *x) {
  const mg_patch_t *p = &view_of(c->h, l)->patch[0];
  const int n = p->n[0];
  const double *from = mg_cell(p, vec, 0, 0, first);
  const int64_t count = mg_cell(p, vec, n - 1, n - 1, last - 1) - from + 1;
  *x = (field_t){scratch_take(count), n, first, last, p->jstride, p->kstride};
  return x->memory ? c->place->fetch(x->memory, from, count) : MG_ERR_MEMORY;
}

static mg_status_t fetch_faces(const check_t *c, int first, int last, faces_t *f) {
  const mg_patch_t *p = &view_of(c->h, 0)->patch[0];
  const int n = p->n[0];
  *f = (faces_t){.first = first, .last = last, .jstride = p->jstride, .kstride = p->kstride};
  for (int d = 0; d < 3; d++) {
    const double *from = mg_cell(p, MG_BETA_I + d, -1, -1, first - 1);
    const int64_t count = mg_cell(p, MG_BETA_I + d, n, n, last) - from + 1;
    f->at[d] = scratch_take(count);
    if (!f->at[d]) return MG_ERR_MEMORY;
    MG_TRY(c->place->fetch(f->at[d], from, count));
  }
  return MG_OK;
}

/* Extend a range by `reach` planes on both sides, clipped to the level. */
static void widen(int n, int reach, int *first, int *last) {
  *first = *first > reach ? *first - reach : 0;
  *last = *last + reach < n ? *last + reach : n;
}

/* Fetch planes of the betas, f and, if read, alpha and 1 / diagonal. */
static mg_status_t open_reference(const check_t *c, int first, int last, reference_t *r) {
  const mg_view_t *v = view_of(c->h, 0);
  *r = (reference_t){.view = v};
  MG_TRY(fetch_faces(c, first, last, &r->faces));
  MG_TRY(fetch_field(c, 0, MG_F, first, last, &r->f));
  if (v->varies) MG_TRY(fetch_field(c, 0, MG_ALPHA, first, last, &r->alpha));
  if (v->op == MG_OPERATOR_FV4 || c->h->level[0].steps[0].l1)
    return fetch_field(c, 0, MG_DINV, first, last, &r->dinv);
  return MG_OK;
}

static void close_reference(reference_t *r) {
  for (int d = 0; d < 3; d++)
    scratch_give(r->faces.at[d]);
  field_free(&r->f);
  field_free(&r->dinv);
  field_free(&r->alpha);
}

/* ---- expected output, from the data before the kernel runs ---- */

static mg_status_t zeros(int n, int first, int last, field_t *x) {
  MG_TRY(field_make(x, n, first, last));
  memset(x->memory, 0, (size_t)(x->kstride * (last - first)) * sizeof *x->memory);
  return MG_OK;
}

/* All steps of a smooth; each step covers fewer planes, by the number it reads beyond its own. */
static mg_status_t smoothed(const check_t *c, field_t *want) {
  const mg_level_t *fine = &c->h->level[0];
  const int n = fine->plan->layout.n, reach = reference_reach(&fine->store.view);
  const bool from_zero = c->kind == ROOFLINE_FIRST;
  const int n_steps = from_zero ? 1 : fine->n_steps;
  int first = c->first, last = c->last;
  widen(n, reach * n_steps, &first, &last);
  reference_t r;
  field_t x = {0}, previous = {0}, next = {0};
  mg_status_t status = open_reference(c, first, last, &r);
  if (status == MG_OK)
    status = from_zero ? zeros(n, first, last, &x) : fetch_field(c, 0, MG_U, first, last, &x);
  for (int s = 0; s < n_steps && status == MG_OK; s++) {
    if (first > 0) first += reach;
    if (last < n) last -= reach;
    status = field_make(&next, n, first, last);
    if (status != MG_OK) break;
    reference_step(&r, &x, s > 0 ? &previous : NULL, &fine->steps[s], &next);
    field_free(&previous);
    previous = x;
    x = next;
  }
  close_reference(&r);
  field_free(&previous);
  if (status == MG_OK)
    *want = x;
  else
    field_free(&x);
  return status;
}

/* f - A u. */
static mg_status_t residual_of(const check_t *c, int first, int last, field_t *want) {
  const int n = c->h->level[0].plan->layout.n;
  int from = first, to = last;
  widen(n, reference_reach(view_of(c->h, 0)), &from, &to);
  reference_t r;
  field_t u = {0};
  mg_status_t status = open_reference(c, from, to, &r);
  if (status == MG_OK) status = fetch_field(c, 0, MG_U, from, to, &u);
  if (status == MG_OK) status = field_make(want, n, first, last);
  if (status == MG_OK) reference_residual(&r, &u, &r.f, want);
  close_reference(&r);
  field_free(&u);
  return status;
}

static mg_status_t restricted(const check_t *c, field_t *want) {
  field_t fine = {0};
  mg_status_t status = c->kind == ROOFLINE_RESTRICTS
                           ? fetch_field(c, 0, MG_U, 2 * c->first, 2 * c->last, &fine)
                           : residual_of(c, 2 * c->first, 2 * c->last, &fine);
  if (status == MG_OK) status = field_make(want, fine.n / 2, c->first, c->last);
  if (status == MG_OK) reference_restrict(&fine, want);
  field_free(&fine);
  return status;
}

static mg_status_t interpolated(const check_t *c, field_t *want) {
  const bool add = c->kind == ROOFLINE_CORRECTS;
  const mg_interpolation_t kind =
      mg_interpolation_of(c->h->params.op, add ? MG_CYCLE_V : MG_CYCLE_F);
  int first = c->first / 2, last = (c->last + 1) / 2;
  /* Four more planes, which the wall formula reads. */
  widen(view_of(c->h, 1)->patch[0].n[0], 4, &first, &last);
  field_t coarse = {0};
  mg_status_t status = fetch_field(c, 1, MG_U, first, last, &coarse);
  if (status == MG_OK) status = fetch_field(c, 0, MG_U, c->first, c->last, want);
  if (status == MG_OK) reference_interpolate(&coarse, kind, add, want);
  field_free(&coarse);
  return status;
}

static double combined(roofline_kind_t kind, double x, double y) {
  switch (kind) {
  case ROOFLINE_AXPBY:
    return fma(ROOFLINE_ALPHA, x, ROOFLINE_BETA * y);
  case ROOFLINE_MULTIPLIES:
    return x * y;
  case ROOFLINE_SHIFTS:
    return x + ROOFLINE_ALPHA;
  case ROOFLINE_SCALES:
    return ROOFLINE_ALPHA * x;
  default:
    return ROOFLINE_ALPHA;
  }
}

static void combine_planes(roofline_kind_t kind, field_t *x, const field_t *y) {
  for (int k = x->first; k < x->last; k++)
    for (int j = 0; j < x->n; j++)
      for (int i = 0; i < x->n; i++) {
        double *out = field_cell(x, i, j, k);
        *out = combined(kind, *out, *field_cell(y, i, j, k));
      }
}

static mg_status_t combination(const check_t *c, field_t *want) {
  field_t y = {0};
  mg_status_t status = fetch_field(c, 0, MG_U, c->first, c->last, want);
  if (status == MG_OK) status = fetch_field(c, 0, MG_F, c->first, c->last, &y);
  if (status == MG_OK) combine_planes(c->kind, want, &y);
  field_free(&y);
  return status;
}

/* ---- comparisons ---- */

static bool writes_coarse(roofline_kind_t kind) {
  return kind == ROOFLINE_RESTRICTS || kind == ROOFLINE_RESTRICTS_RESIDUAL;
}

static bool writes_u(roofline_kind_t kind) {
  return kind == ROOFLINE_SMOOTHS || kind == ROOFLINE_FIRST || kind == ROOFLINE_CORRECTS ||
         kind == ROOFLINE_INTERPOLATES;
}

static mg_status_t expected(const check_t *c, field_t *want) {
  switch (c->kind) {
  case ROOFLINE_SMOOTHS:
  case ROOFLINE_FIRST:
    return smoothed(c, want);
  case ROOFLINE_RESIDUAL:
    return residual_of(c, c->first, c->last, want);
  case ROOFLINE_RESTRICTS:
  case ROOFLINE_RESTRICTS_RESIDUAL:
    return restricted(c, want);
  case ROOFLINE_CORRECTS:
  case ROOFLINE_INTERPOLATES:
    return interpolated(c, want);
  default:
    return combination(c, want);
  }
}

/* Largest difference divided by the largest value; infinite if a difference is NaN. */
static double distance(const field_t *got, const field_t *want) {
  double most = 0.0, largest = 0.0;
#pragma omp parallel for collapse(2) reduction(max : most, largest)
  for (int k = got->first; k < got->last; k++)
    for (int j = 0; j < got->n; j++)
      for (int i = 0; i < got->n; i++) {
        const double x = *field_cell(want, i, j, k), d = fabs(*field_cell(got, i, j, k) - x);
        most = fmax(most, isnan(d) ? INFINITY : d);
        largest = fmax(largest, fabs(x));
      }
  return most == 0.0 ? 0.0 : most / largest;
}

static mg_status_t check_planes(check_t *c, int first, int last, double *error) {
  const roofline_kind_t kind = c->kind;
  const int l = writes_coarse(kind) ? 1 : 0;
  const int vec = l == 1 ? MG_F : writes_u(kind) ? MG_U : MG_TMP;
  field_t want = {0}, got = {0};
  c->first = first;
  c->last = last;
  MG_TRY(begin_check(c->place, c->h));
  mg_status_t status = expected(c, &want);
  double number;
  if (status == MG_OK) status = c->run(c->h, c->kind, &number);
  if (status == MG_OK) status = roofline_wait(&c->h->level[0]);
  if (status == MG_OK) status = fetch_field(c, l, vec, first, last, &got);
  if (status == MG_OK) *error = fmax(*error, distance(&got, &want));
  field_free(&want);
  field_free(&got);
  return status;
}

static mg_status_t check_cells(check_t *c, double *error) {
  const int n = view_of(c->h, writes_coarse(c->kind) ? 1 : 0)->patch[0].n[0];
  if (c->h->level[0].plan->layout.n <= ALL) return check_planes(c, 0, n, error);
  MG_TRY(check_planes(c, 0, SOME, error));
  MG_TRY(check_planes(c, n / 2 - SOME / 2, n / 2 + SOME / 2, error));
  return check_planes(c, n - SOME, n, error);
}

static double relative(double got, double want) {
  return got == want ? 0.0 : fabs(got - want) / fmax(fabs(got), fabs(want));
}

/* Set all cells of a vector of level 0 to `value`. Its ghosts are larger than any expected norm, so
 * a kernel that reads one is detected. */
static mg_status_t make_level(const check_t *c, int vec, double value, double ghost) {
  double *first;
  const int64_t n = extent(view_of(c->h, 0), vec, &first);
  MG_TRY(roofline_wait(&c->h->level[0]));
  MG_TRY(c->place->set(first, n, ghost));
  /* A fill also writes the ghosts. */
  MG_TRY(mg_fill(&c->h->level[0], MG_TMP, value));
  MG_TRY(mg_axpby(&c->h->level[0], vec, 1.0, MG_TMP, 0.0, -1));
  return roofline_wait(&c->h->level[0]);
}

/* One cell of vec[0] or, if present, vec[1] is much larger than the rest; the norm must be its
 * value, wherever it is. Values decrease from run to run, so a stale maximum is detected. */
static mg_status_t check_maximum(const check_t *c, const int vec[2], const double others[2],
                                 double scale, double *error) {
  const mg_patch_t *p = &view_of(c->h, 0)->patch[0];
  const int n = p->n[0], places = lab_places(n);
  for (int q = 0; q < places; q++) {
    /* In pairs: the sign changes from one place to the next. */
    const int side = vec[1] >= 0 ? q / 2 % 2 : 0;
    const double value = scale * (places - q);
    int at[3];
    lab_place(q, n, at);
    double *cell = mg_cell(p, vec[side], at[0], at[1], at[2]), norm = NAN;
    MG_TRY(c->place->put(cell, q % 2 == 0 ? value : -value));
    MG_TRY(c->run(c->h, c->kind, &norm));
    MG_TRY(c->place->put(cell, others[side]));
    const double wrong = relative(norm, value);
    *error = fmax(*error, isnan(wrong) ? INFINITY : wrong);
  }
  return MG_OK;
}

/* Norm of one vector, or of a difference whose other vector is rounded away. */
static mg_status_t check_norm(const check_t *c, double *error) {
  const bool difference = c->kind == ROOFLINE_DIFFERENCE;
  const int vec[2] = {MG_U, difference ? MG_F : -1};
  const double others[2] = {1.0, 2.0};
  MG_TRY(begin_check(c->place, c->h));
  MG_TRY(make_level(c, MG_U, others[0], 1e300));
  MG_TRY(make_level(c, MG_F, others[1], -1e300));
  return check_maximum(c, vec, others, 1e30, error);
}

/* Compared with the norm over all cells on small levels, otherwise with the two separate
 * operations. Then repeated with f so large in one cell that A u is rounded away there. The kernel
 * must make the ghosts of U itself. */
static mg_status_t check_residual_norm(const check_t *c, double *error) {
  mg_level_t *fine = &c->h->level[0];
  const int n = fine->plan->layout.n;
  double fused, composed = 0.0;
  MG_TRY(begin_check(c->place, c->h));
  if (n <= ALL) {
    field_t want;
    MG_TRY(residual_of(c, 0, n, &want));
    for (int64_t q = 0; q < want.kstride * n; q++)
      composed = fmax(composed, fabs(want.memory[q]));
    field_free(&want);
  } else {
    MG_TRY(mg_residual(fine, MG_TMP, MG_U, MG_F));
    MG_TRY(mg_max_norm(fine, MG_TMP, -1, &composed));
  }
  MG_TRY(c->run(c->h, c->kind, &fused));
  *error = fmax(*error, relative(fused, composed));
  const int vec[2] = {MG_F, -1};
  const double others[2] = {1.0, 0.0};
  MG_TRY(make_level(c, MG_F, others[0], 1e300));
  return check_maximum(c, vec, others, 1e30, error);
}

/* Products of small integers: any order gives the same sum. */
static mg_status_t check_dot(const check_t *c, double *error) {
  const mg_view_t *v = view_of(c->h, 0);
  const mg_patch_t *p = &v->patch[0];
  const int n = p->n[0];
  double *first, got;
  int64_t sum = 0;
  extent(v, MG_U, &first);
  const ptrdiff_t origin = mg_cell(p, MG_U, 0, 0, 0) - first;
#pragma omp parallel for reduction(+ : sum)
  for (int k = 0; k < n; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        const int64_t at = origin + i + j * p->jstride + k * p->kstride;
        sum += (int64_t)lab_value(salt(MG_U) + at) * (int64_t)lab_value(salt(MG_F) + at);
      }
  MG_TRY(begin_check(c->place, c->h));
  MG_TRY(c->run(c->h, c->kind, &got));
  *error = relative(got, (double)sum);
  return MG_OK;
}

/* The ghosts at the face centres of a periodic patch equal its cells at the opposite end. */
static double halo_error(const double *origin, const mg_patch_t *p) {
  const int n = p->n[0];
  const ptrdiff_t stride[3] = {1, p->jstride, p->kstride};
  double wrong = 0.0;
  for (int d = 0; d < 3; d++) {
    const ptrdiff_t s = stride[d], a = stride[d == 0 ? 1 : 0], b = stride[d == 2 ? 1 : 2];
    for (int v = 0; v < n; v++)
      for (int u = 0; u < n; u++) {
        const double *cell = origin + u * a + v * b;
        wrong += cell[-s] != cell[(n - 1) * s];
        wrong += cell[n * s] != cell[0];
      }
  }
  return wrong;
}

static mg_status_t check_halo(const check_t *c, double *error) {
  const mg_view_t *v = view_of(c->h, 0);
  const mg_patch_t *p = &v->patch[0];
  double *first, number;
  const int64_t n = extent(v, MG_U, &first);
  MG_TRY(begin_check(c->place, c->h));
  MG_TRY(c->run(c->h, c->kind, &number));
  MG_TRY(roofline_wait(&c->h->level[0]));
  double *got = scratch_take(n);
  if (!got) return MG_ERR_MEMORY;
  const mg_status_t status = c->place->fetch(got, first, n);
  if (status == MG_OK) *error = halo_error(got + (mg_cell(p, MG_U, 0, 0, 0) - first), p);
  scratch_give(got);
  return status;
}

mg_status_t roofline_check(const roofline_place_t *place, mg_hierarchy_t *h, roofline_kind_t kind,
                           roofline_fn run, double *error) {
  check_t c = {.place = place, .h = h, .kind = kind, .run = run};
  *error = 0.0;
  switch (kind) {
  case ROOFLINE_MAX_NORM:
  case ROOFLINE_DIFFERENCE:
    return check_norm(&c, error);
  case ROOFLINE_HALO:
    return check_halo(&c, error);
  case ROOFLINE_RESIDUAL_NORM:
    return check_residual_norm(&c, error);
  case ROOFLINE_DOT:
    return check_dot(&c, error);
  default:
    return check_cells(&c, error);
  }
}
