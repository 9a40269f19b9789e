#include "solver/method.h"
#include "backend/domains.h"
#include "device/memory_check.h"
#include "formulas/walls.h"
#include "level/ops.h"
#include "level/wall_faces.h"
#include "plan/domain_plan.h"
#include "solver/cycle.h"
#include "wings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first of the planes across direction d in lists of the planes of all three. */
static int64_t first_plane(const int32_t n[3], int d) {
  return d == 0 ? 0 : d == 1 ? n[0] : (int64_t)n[0] + n[1];
}
static int64_t n_planes(const int32_t n[3]) {
  return first_plane(n, 2) + n[2];
}

/* Sums fit in 2^61 if each term is below 2^61 / cells. */
static double scale_of(const int32_t n[3], double largest) {
  const double fewest = fmin(n[0], fmin(n[1], n[2])),
               cells = (double)n[0] * (double)n[1] * (double)n[2] / fewest;
  return ldexp(1.0, 60 - ilogb(largest) - ilogb(cells) - 1);
}

/* The sums of all ranks, whose halves are added as exact doubles. */
static mg_status_t add_ranks(const int64_t *sum, double *total, int64_t n) {
  const double half = 2147483648.0;
  double *part;
  MG_TRY(mg_comm_agree(mg_new(&part, 2 * n, "sums of planes")));
  for (int64_t s = 0; s < n; s++) {
    part[2 * s] = (double)(sum[s] >> 31);
    part[2 * s + 1] = (double)(sum[s] & 0x7fffffff);
  }
  const mg_status_t status = mg_comm_sum(mg_comm_world(), part, (int)(2 * n));
  for (int64_t s = 0; s < n; s++)
    total[s] = half * part[2 * s] + part[2 * s + 1];
  free(part);
  return status;
}

/* The largest beta by the least one: of the faces normal to one direction, the largest of the
 * three, and of all faces. NAN: not known. */
typedef struct {
  double one, all;
} range_t;

static double ratio(double largest, double least) {
  return least > 0.0 ? largest / least : INFINITY;
}

static range_t range_of(const double largest[3], const double least[3]) {
  double one = 1.0, most = 0.0, fewest = INFINITY;
  for (int d = 0; d < 3; d++) {
    if (!isfinite(least[d])) continue; /* no faces */
    one = fmax(one, ratio(largest[d], least[d]));
    most = fmax(most, largest[d]);
    fewest = fmin(fewest, least[d]);
  }
  return (range_t){one, isfinite(fewest) ? ratio(most, fewest) : 1.0};
}

/* For each plane of cells the sums of betas normal to i, j, k, the range of betas above 0, and
 * whether some are 0. Not found if a beta on a closed wall, which nothing else reads, is not
 * finite. */
static mg_status_t sum_planes(mg_hierarchy_t *h, double *total, bool *found, range_t *range,
                              bool *closes) {
  mg_level_t *level = &h->level[0];
  const int32_t *n = level->plan->layout.n;
  double largest[3] = {0.0, 0.0, 0.0}, least[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
  int64_t *sum;
  *range = (range_t){NAN, NAN};
  for (int d = 0; d < 3; d++)
    MG_TRY(mg_max_norm(level, MG_BETA_I + (mg_vector_t)d, MG_NO_VECTOR, &largest[d]));
  MG_TRY(mg_comm_max(mg_comm_world(), largest, 3));
  *found = isfinite(largest[0] + largest[1] + largest[2]);
  if (!*found) return MG_OK;
  MG_TRY(mg_comm_agree(mg_new(&sum, 3 * n_planes(n), "sums of planes")));
  const double scale = scale_of(n, fmax(largest[0], fmax(largest[1], largest[2])));
  mg_status_t status =
      level->comm ? level->backend->domains->sum_planes(&level->store.view, scale, sum, least)
                  : MG_OK;
  status = mg_comm_agree(status);
  if (status == MG_OK) status = add_ranks(sum, total, 3 * n_planes(n));
  if (status == MG_OK) status = mg_comm_min(mg_comm_world(), least, 4);
  free(sum);
  *range = range_of(largest, least);
  *closes = least[3] == 0.0;
  return status;
}

/* Mean of the faces normal to d in a plane of cells across a; negative: there are none. Of those in
 * direction a it is that of the planes of faces on both sides. */
static double mean_of(const mg_view_t *v, const double *sum, int a, int32_t plane, int d) {
  const int32_t *n = v->n;
  const bool periodic = mg_is_periodic(v, d);
  const double cells = (double)n[0] * (double)n[1] * (double)n[2] / n[a];
  const double *s = sum + 3 * first_plane(n, a) + d;
  if (n[d] == 1) return -1.0;
  if (d != a) return s[3 * plane] / (cells / n[d] * (n[d] - !periodic));
  const bool has_low = plane > 0 || periodic, has_high = plane + 1 < n[a] || periodic;
  const double low = has_low ? s[3 * plane] : 0.0,
               high = has_high ? s[3 * ((plane + 1) % n[a])] : 0.0;
  return (low + high) / (cells * (has_low + has_high));
}

/* Returns false if all betas of a plane are too small for a sum. With closed faces, they may all be
 * 0: then the plane has no strong direction. */
static bool set_means(mg_hierarchy_t *h, const double *sum) {
  const mg_view_t *v = &h->level[0].store.view;
  bool usable = true;
  for (int a = 0; a < 3; a++) {
    double *face = h->plane_betas + first_plane(v->n, a), *plane = face + n_planes(v->n);
    h->params.face_beta[a] = face;
    h->params.plane_beta[a] = plane;
    for (int32_t m = 0; m < v->n[a]; m++) {
      double all = 0.0;
      int directions = 0;
      for (int d = 0; d < 3; d++) {
        const double mean = mean_of(v, sum, a, m, d);
        if (mean < 0.0) continue;
        all += mean;
        directions++;
      }
      plane[m] = directions > 0 ? all / directions : 1.0;
      if (h->params.closes_cells && plane[m] == 0.0) plane[m] = 1.0;
      face[m] = sum[3 * (first_plane(v->n, a) + m) + a] * v->n[a] /
                ((double)v->n[0] * (double)v->n[1] * (double)v->n[2]);
      face[m] = fmax(face[m], 1e-12 * plane[m]); /* not 0 */
      usable = usable && plane[m] > 0.0;
    }
  }
  return usable;
}

/* A grid of any size with the cells of a cube of boxes. */
static void make_general(const int32_t n[3], mg_params_t *params) {
  for (int d = 0; d < 3; d++) {
    params->cells[d] = n[d];
    params->length[d] = 1.0;
  }
  params->alpha_varies = params->alpha_varies || params->equation == MG_EQUATION_HELMHOLTZ;
}

/* Whether both plans have the same levels, as far as they go: cubes of boxes may go further. */
static bool same_levels(const mg_plan_t *a, const mg_plan_t *b) {
  const bool cube = !b->level[0].layout.general;
  const int n = a->n_levels < b->n_levels ? a->n_levels : b->n_levels;
  bool same = cube || a->n_levels == b->n_levels;
  for (int l = 0; same && l < n; l++) {
    const mg_layout_t *p = &a->level[l].layout, *q = &b->level[l].layout;
    same = memcmp(p->n, q->n, sizeof p->n) == 0 &&
           (cube || memcmp(p->single, q->single, sizeof p->single) == 0);
  }
  return same;
}

/* Betas that differ by orders of magnitude from plane to plane may leave too many cells. */
static bool reaches_few_cells(const mg_plan_t *plan, const mg_params_t *params) {
  const mg_layout_t *coarsest = &plan->level[plan->n_levels - 1].layout;
  return mg_layout_n_cells(coarsest) <= mg_plan_fewest_cells(params);
}

/* Cells of about the same width, whose numbers halve four times or are large: GSRB of fv2 takes
 * about as many cycles as Chebyshev's polynomials, which cost more. */
static bool is_regular(const mg_params_t *p) {
  double narrow = INFINITY, wide = 0.0;
  bool halves = true;
  if (!mg_params_has_cells(p)) return true; /* a cube of boxes */
  for (int d = 0; d < 3; d++) {
    const int32_t n = p->cells[d];
    if (n == 1) continue;
    narrow = fmin(narrow, p->length[d] / n);
    wide = fmax(wide, p->length[d] / n);
    halves = halves && (n % 16 == 0 || n > 128);
  }
  return halves && wide < sqrt(2.0) * narrow;
}

typedef struct {
  mg_smoother_t smoother;
  int degree; /* 0: the default */
  const char *why;
} smoothing_t;

/* For betas that vary little. An interpolation of higher order leaves rougher errors to GSRB. */
static smoothing_t smoothing_of_smooth(const mg_params_t *p, double range) {
  if (mg_params_is_stretched(p))
    return (smoothing_t){MG_SMOOTHER_CHEBYSHEV4, 6, "; stretched axes"};
  if (mg_traits_of(p->op)->v == MG_INTERPOLATE_P0)
    return (smoothing_t){MG_SMOOTHER_CHEBYSHEV, 6, ""};
  if (range < 2.0 && is_regular(p)) return (smoothing_t){MG_SMOOTHER_GSRB, 0, "; a regular grid"};
  return (smoothing_t){MG_SMOOTHER_CHEBYSHEV, 4, ""};
}

/* Ghosts outside walls that depend on more than one cell make A asymmetric. */
static bool is_symmetric(const mg_params_t *p) {
  return mg_traits_of(p->op)->wall_order == 1 || !mg_params_has_fixing_side(p);
}

/* What solved random problems in the fewest cycles (docs/algorithm.md, "Method"). */
static void choose(mg_params_t *params, const range_t *range) {
  const double smooth = 10.0, rough = 1e3, contrast = range->one;
  const bool known = !isnan(contrast), closes = params->closes_cells,
             varies_much = !known || contrast > rough,
             varies = varies_much || closes || contrast > smooth;
  const smoothing_t s = varies ? (smoothing_t){MG_SMOOTHER_CHEBYSHEV4, varies_much ? 8 : 6, ""}
                               : smoothing_of_smooth(params, range->all);
  if (!params->chooses.smoother && !params->chooses.bottom && !params->chooses.cycle &&
      !params->chooses.krylov)
    return;
  if (params->chooses.smoother) mg_params_set_smoother(params, s.smoother);
  if (params->chooses.smoother && s.degree > 0) params->degree = s.degree;
  /* Fast paths have room for 64 steps. */
  params->slow_degree =
      params->chooses.smoother && varies && params->smooths <= 2 ? 4 * params->degree : 0;
  if (params->chooses.bottom && mg_has_path(params->op, MG_PATH_DIRECT))
    params->bottom = MG_BOTTOM_DIRECT;
  /* Of a beta of 1e-20 among others, an F-cycle's u has a residual of 1e17 max|f|; so it may on
   * cells that coarsening separates from others. */
  if (params->chooses.cycle) params->cycle = varies_much || closes ? MG_CYCLE_V : MG_CYCLE_F;
  if (params->chooses.krylov)
    params->krylov = !varies                              ? MG_KRYLOV_NONE
                     : !is_symmetric(params)              ? MG_KRYLOV_BICGSTAB
                     : mg_traits_of(params->op)->any_grid ? MG_KRYLOV_KCYCLE
                                                          : MG_KRYLOV_CG;
  if (!known)
    snprintf(params->reason, sizeof params->reason, "how much beta varies is not known");
  else if (contrast == 1.0)
    snprintf(params->reason, sizeof params->reason, "beta is constant%s%s",
             closes ? "; closed faces" : "", s.why);
  else
    snprintf(params->reason, sizeof params->reason, "beta varies by a factor of %.3g, %s %g%s%s",
             contrast, contrast > smooth ? "above" : "at most", varies_much ? rough : smooth,
             closes ? "; closed faces" : "", s.why);
}

void mg_method_begin(mg_params_t *params) {
  const bool planned = params->has_arrays && params->dry_run;
  const double built_in =
      params->beta == MG_BETA_ONE ? 1.0 : 1.25 / 0.75; /* formulas/coefficients.h */
  const double range = params->coefficients[0] || planned ? NAN
                       : params->has_arrays               ? 1.0
                                                          : built_in;
  choose(params, &(range_t){range, range});
}

static bool same_method(const mg_params_t *a, const mg_params_t *b) {
  return a->smoother == b->smoother && a->degree == b->degree && a->cycle == b->cycle &&
         a->krylov == b->krylov && a->alpha_varies == b->alpha_varies;
}

/* A level alone with closed faces may be singular in parts, which stops Krylov methods at
 * round-off. */
static mg_status_t build(const mg_hierarchy_t *h, mg_params_t *params, mg_plan_t *plan) {
  char message[1024];
  const mg_status_t status =
      mg_plan_build(params, h->plan.level[0].layout.world_ranks, plan, message, sizeof message);
  if (status != MG_OK) return mg_root_error(status, "%s", message);
  const mg_bottom_t bottom = mg_plan_bottom(params, &plan->level[plan->n_levels - 1].layout);
  if (!params->closes_cells || plan->n_levels > 1 || bottom != MG_BOTTOM_BICGSTAB) return MG_OK;
  params->bottom = MG_BOTTOM_SMOOTHER;
  return build(h, params, plan);
}

/* Replace all levels by those of another plan of the same grid. Keeps the transports and the faces
 * on walls; all vectors are zeroed. After a failure, only mg_hierarchy_free may follow.
 * @return as mg_hierarchy_create and mg_memory_check */
static mg_status_t replan(mg_hierarchy_t *h, const mg_params_t *params, const mg_plan_t *plan) {
  mg_transports_t *const transports = h->transports;
  const bool shared = h->shares_transports;
  mg_wall_faces_t *const wall_faces = h->wall_faces;
  double *const plane_betas = h->plane_betas;
  MG_IF_DOMAINS(mg_wall_faces_forget_copies(wall_faces));
  mg_hierarchy_release(h);
  memset(h, 0, sizeof *h);
  h->transports = transports;
  h->shares_transports = shared;
  h->wall_faces = wall_faces;
  h->plane_betas = plane_betas;
  MG_IF_PREFLIGHT(if (!mg_allocator()) MG_TRY(mg_memory_check(params)));
  return mg_hierarchy_fill(h, params, plan, NULL);
}

static mg_status_t follow_betas(mg_hierarchy_t *h, mg_plan_t *plan, double *sum, bool *replaced) {
  range_t range;
  bool found, closes = false;
  MG_TRY(sum_planes(h, sum, &found, &range, &closes));
  MG_IF_SOLIDS(h->params.closes_cells |= closes);
  const bool usable = found && set_means(h, sum);
  if (!usable) memset(h->params.face_beta, 0, sizeof h->params.face_beta);
  mg_params_t params = h->params;
  params.alpha_varies |= params.closes_cells;
  choose(&params, &range);
  const bool changes = !same_method(&params, &h->params);
  memcpy(h->params.reason, params.reason, sizeof params.reason);
  if (usable) {
    mg_params_t general = params;
    if (!mg_params_has_cells(&general)) make_general(h->plan.level[0].layout.n, &general);
    MG_TRY(build(h, &general, plan));
    const bool coarsens = reaches_few_cells(plan, &general);
    *replaced = coarsens && !same_levels(plan, &h->plan);
    if (*replaced) params = general;
    if (*replaced) params.follows_betas = true;
    if (!coarsens) memset(params.face_beta, 0, sizeof params.face_beta);
  }
  if (!*replaced && changes) MG_TRY(build(h, &params, plan));
  if (!*replaced && !changes) return MG_OK;
  *replaced = true;
  return replan(h, &params, plan);
}

/* Whether the first FIRST cycles or more were slow: MOST such cycles would not reach --rtol. */
static bool are_slow(const mg_history_t *history, double rtol) {
  enum { FIRST = 4, MOST = 20 };
  const int done = history->n_cycles - history->n_before;
  return done >= FIRST && history->rel[history->n_cycles - 1] > pow(rtol, (double)done / MOST);
}

mg_status_t mg_method_adapt(mg_hierarchy_t *h, const mg_history_t *history, bool *restarts) {
  const bool slow = history && (h->is_slow || are_slow(history, h->params.rtol));
  if (h->params.slow_degree == 0 || slow == h->is_slow) return MG_OK;
  if (restarts) *restarts = true;
  return mg_cycles_set_smoothers(h, slow);
}

mg_status_t mg_method_choose(mg_hierarchy_t *h, bool *replaced) {
  const int32_t *n = h->level[0].plan->layout.n;
  mg_plan_t *plan = NULL;
  double *sum = NULL;
  mg_status_t status = MG_OK;
  *replaced = false;
  double fixed = h->is_fixed;
  if (!mg_traits_of(h->params.op)->any_grid) return MG_OK;
  MG_TRY(mg_comm_max(mg_comm_world(), &fixed, 1));
  if (fixed > 0.0) return MG_OK;
  if (!h->plane_betas) status = mg_new(&h->plane_betas, 2 * n_planes(n), "mean betas of planes");
  if (status == MG_OK) status = mg_new(&plan, 1, "a plan");
  if (status == MG_OK) status = mg_new(&sum, 3 * n_planes(n), "sums of planes");
  status = mg_comm_agree(status);
  if (status == MG_OK) status = follow_betas(h, plan, sum, replaced);
  free(sum);
  free(plan);
  return status;
}
