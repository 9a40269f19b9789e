/* The laboratory's check of the solver's kernels. Correct kernels pass bit for bit. Kernels that
 * do nothing, or are wrong in one cell, fail. */
#include "backend/sweeps.h"
#include "formulas/index.h"
#include "lab/roofline.h"
#include "level/ops.h"
#include "level/smooth.h"
#include "tests/guard/guard.h"
#include "tests/lib/fixture.h"

static roofline_kind_t under_test;
static mg_hierarchy_t *twin; /* of the hierarchy under test */

static mg_status_t do_nothing(mg_hierarchy_t *h, roofline_kind_t kind, double *number) {
  (void)h;
  (void)kind;
  *number = 0.0;
  return MG_OK;
}

/* Slightly increases a value. */
static void nudge(const mg_level_t *level, int vec, int i, int j, int k) {
  const mg_patch_t *p = &level->store.view.patch[0];
  const int64_t at = i + j * p->jstride + k * p->kstride;
  if (level->store.value_bytes == sizeof(float)) {
    float *x = (float *)(void *)p->vec[vec] + at;
    *x = *x * (1.0f + 0x1p-22f) + 0x1p-120f;
  } else {
    double *x = p->vec[vec] + at;
    *x = *x * (1.0 + 0x1p-50) + 0x1p-1000;
  }
}

static void nudge_last(const mg_level_t *level, int vec, bool ghost) {
  const int *n = level->store.view.patch[0].n;
  nudge(level, vec, n[0] - !ghost, n[1] - 1, n[2] - 1);
}

/* Slightly increases the last cell, or the number; for a halo, a ghost in the last row. */
static mg_status_t do_nearly_right(mg_hierarchy_t *h, roofline_kind_t kind, double *number) {
  const roofline_output_t *out = &roofline_output[kind];
  MG_TRY(roofline_run(h, kind, number));
  if (out->vec == ROOFLINE_NUMBER)
    *number *= 1.0 + 0x1p-50;
  else
    nudge_last(&(out->low ? h->low : h)->level[out->level], out->vec, kind == ROOFLINE_HALO);
  return MG_OK;
}

/* The same for the smoothed iterate. */
static mg_status_t do_iterate_amiss(mg_hierarchy_t *h, roofline_kind_t kind, double *number) {
  MG_TRY(roofline_run(h, kind, number));
  nudge_last(&h->level[0], roofline_smoothed(&h->level[0], kind), false);
  return MG_OK;
}

/* Computes the norms cell by cell, optionally skipping a plane or row, or reading a ghost. Other
 * results are right. */
static struct {
  int at[3];  /* cells to skip; -1 matches any index, but three times -1 skips none */
  int ghosts; /* number of ghosts read along i */
} amiss;

static mg_status_t do_norm_amiss(mg_hierarchy_t *h, roofline_kind_t kind, double *number) {
  const mg_patch_t *p = &h->level[0].store.view.patch[0];
  const bool of_residual = kind != ROOFLINE_MAX_NORM && kind != ROOFLINE_DIFFERENCE;
  const bool any = amiss.at[0] < 0 && amiss.at[1] < 0 && amiss.at[2] < 0;
  if (of_residual) MUST(roofline_run(h, kind, number));
  if (of_residual) MUST(mg_residual(&h->level[0], MG_TMP, MG_U, MG_F));
  *number = 0.0;
  EACH_CELL(at, ((const int32_t[3]){p->n[0] + amiss.ghosts, p->n[1], p->n[2]})) {
    bool left_out = !any;
    for (int d = 0; d < 3; d++)
      left_out = left_out && (amiss.at[d] < 0 || at[d] == amiss.at[d]);
    const int x = of_residual ? at[0] < p->n[0] ? MG_TMP : MG_F : MG_U;
    const double y = kind == ROOFLINE_DIFFERENCE ? *mg_cell(p, MG_F, at[0], at[1], at[2]) : 0.0;
    if (!left_out) *number = fmax(*number, fabs(*mg_cell(p, x, at[0], at[1], at[2]) - y));
  }
  return MG_OK;
}

/* Reads only one of the two vectors, as if the other were 0. */
static mg_status_t do_half_of_difference(mg_hierarchy_t *h, roofline_kind_t kind, double *number) {
  (void)kind;
  return mg_max_norm(&h->level[0], MG_U, -1, number);
}

static double error_of(mg_hierarchy_t *h, roofline_fn run) {
  double error = NAN;
  MUST(roofline_check(&roofline_on_cpu, h, twin, under_test, run, &error));
  return error;
}

static void check_kinds(mg_hierarchy_t *h, roofline_kind_t first, roofline_kind_t end) {
  for (under_test = first; under_test < end; under_test++) {
    CHECK(error_of(h, roofline_run) == 0.0);
    CHECK(error_of(h, do_nothing) > 1e-6);
    CHECK(error_of(h, do_nearly_right) > 0.0);
    if (roofline_output[under_test].smooths) CHECK(error_of(h, do_iterate_amiss) > 0.0);
  }
}

static void check_norm(mg_hierarchy_t *h, roofline_kind_t kind) {
  /* After a smooth, several cells have similar residuals. */
  const double least = kind == ROOFLINE_SMOOTHS_NORM ? 0.0 : 0.5;
  const int n = h->level[0].plan->layout.n[0];
  under_test = kind;
  for (int d = 0; d < 3; d++)
    amiss.at[d] = -1;
  amiss.ghosts = 0;
  CHECK(error_of(h, do_norm_amiss) == 0.0);
  amiss.ghosts = 1;
  CHECK(error_of(h, do_norm_amiss) > 0.5);
  amiss.ghosts = 0;
  for (int d = 0; d < 3; d++) {
    for (amiss.at[d] = 0; amiss.at[d] < n; amiss.at[d]++)
      CHECK(error_of(h, do_norm_amiss) > least);
    amiss.at[d] = -1;
  }
  /* A row in a corner of the box. A smooth leaves less there than beside it. */
  amiss.at[1] = amiss.at[2] = n - 1;
  if (kind != ROOFLINE_SMOOTHS_NORM) CHECK(error_of(h, do_norm_amiss) > 0.5);
  if (kind == ROOFLINE_DIFFERENCE) CHECK(error_of(h, do_half_of_difference) > 0.5);
}

static void check_norms(mg_hierarchy_t *h) {
  check_norm(h, ROOFLINE_MAX_NORM);
  check_norm(h, ROOFLINE_DIFFERENCE);
  check_norm(h, ROOFLINE_RESIDUAL_NORM);
}

/* A smoother is timed on input that it does not change. */
static void check_begin(mg_hierarchy_t *h) {
  mg_level_t *fine = &h->level[0];
  double largest, left;
  MUST(roofline_begin(&roofline_on_cpu, h));
  MUST(mg_smooth(fine, false));
  MUST(mg_max_norm(fine, MG_U, -1, &largest));
  MUST(mg_residual_norm(fine, MG_U, MG_F, &left));
  const double n = fine->plan->layout.n[0];
  CHECK(largest > 100.0 && left <= 1e-12 * n * n * largest);
}

/* The kernels first .. end - 1 of a hierarchy, which it frees. */
static void check_hierarchy(mg_hierarchy_t *h, roofline_kind_t first, roofline_kind_t end,
                            bool norms) {
  MUST(roofline_twin_create(h, &twin));
  check_kinds(h, first, end);
  check_begin(h);
  if (norms) check_norms(h);
  mg_hierarchy_free(twin);
  mg_hierarchy_free(h);
}

/* ---- fused sweeps with a residual, on the CPU ---- */

static double fused_norm;

static mg_status_t fusing_smooth(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region) {
  return sweep->n > 1 ? guard_smooth_fused(v, sweep, region, NULL, NULL)
                      : mg_cpu_smooth(v, sweep, region);
}

static mg_status_t fusing_residual(const mg_view_t *v, const mg_sweep_t *sweep, mg_region_t region,
                                   const mg_view_t *coarse, mg_vector_t dst) {
  return guard_smooth_fused(v, sweep, region,
                            &(guard_residual_t){coarse, dst, coarse ? NULL : &fused_norm}, NULL);
}

static mg_status_t fusing_begin(void) {
  fused_norm = 0.0;
  return MG_OK;
}

static mg_status_t fusing_end(double *norm) {
  *norm = fused_norm;
  return MG_OK;
}

/* Give the finest level fused sweeps that compute residuals. */
static void fuse_legs(mg_hierarchy_t *h) {
  static const mg_path_t path = {.suits = guard_can_fuse};
  static mg_backend_t fusing;
  static mg_backend_fused_t fused;
  mg_level_t *fine = &h->level[0];
  fusing = mg_backend_cpu;
  fusing.smooth = fusing_smooth;
  fused = *mg_backend_cpu.fused;
  fused.smooth_residual = fusing_residual;
  fused.norm_begin = fusing_begin;
  fused.norm_end = fusing_end;
  fusing.fused = &fused;
  fine->backend = &fusing;
  h->plan.level[0].path = &path;
  h->plan.level[0].resident = false;
  h->plan.level[0].fused_residual = true;
  h->plan.level[0].steps_per_pass = 3;
  MUST(mg_smoother_set(fine, &h->params, fine->lambda_max, true));
  CHECK(mg_smooth_has_residual(fine, false));
}

static void check_fused_legs(mg_hierarchy_t *h) {
  MUST(roofline_twin_create(h, &twin));
  fuse_legs(h);
  check_kinds(h, ROOFLINE_SMOOTHS_RESTRICTS, ROOFLINE_SMOOTHS_NORM + 1);
  check_norm(h, ROOFLINE_SMOOTHS_NORM);
  mg_hierarchy_free(twin);
  mg_hierarchy_free(h);
}

/* ---- mixed precision ---- */

static void check_mixed(const char *operator) {
  static const roofline_kind_t of_float[] = {
      ROOFLINE_SMOOTHS,           ROOFLINE_FIRST,           ROOFLINE_RESTRICTS_RESIDUAL,
      ROOFLINE_RESTRICTS,         ROOFLINE_CORRECTS,        ROOFLINE_INTERPOLATES,
      ROOFLINE_SMOOTHS_RESTRICTS, ROOFLINE_CORRECTS_SMOOTHS};
  const lab_t lab = {.place = LAB_CPU};
  const roofline_problem_t problem = {operator, .smoother = "gsrb", .mixed = true};
  mg_hierarchy_t *h, *both;
  MUST(roofline_make(&lab, &roofline_on_cpu, &problem, 4, &h));
  MUST(roofline_twin_create(h, &both));
  twin = both;
  check_kinds(h, ROOFLINE_LOWERS, N_ROOFLINE);
  check_norm(h, ROOFLINE_LOWERS_RESIDUAL_NORM);
  check_norm(h, ROOFLINE_RAISES_GUESS_NORM);
  twin = both->low;
  for (size_t k = 0; k < sizeof of_float / sizeof of_float[0]; k++)
    check_kinds(h->low, of_float[k], of_float[k] + 1);
  mg_hierarchy_free(both);
  mg_hierarchy_free(h);
}

/* On a CPU, a smooth is one pass, and a float level needs no norm. */
static void check_legs(void) {
  lab_t lab = {.place = LAB_CPU, .threads = 1, .bytes = 1, .min_runs = 1, .copy_gb_per_s = 1.0};
  MUST(lab_legs(&lab, &roofline_on_cpu));
  CHECK_INT(lab.n_tables, 4);
  CHECK_INT(lab.n_entries, 2 * (7 + 5));
  CHECK_NEAR(lab.entry[0].row.useful, 48.0, 1e-12);
  CHECK_NEAR(lab.entry[1].row.useful, 48.0 + 41.0, 1e-12);
  CHECK_NEAR(lab.entry[7].row.useful, 24.0, 1e-12);
  lab_free(&lab);
}

int main(int argc, char **argv) {
  static const char *const options[] = {
      "--operator=fv2 --smoother=gsrb",     "--operator=fv2 --smoother=jacobi",
      "--operator=fv2 --smoother=l1jacobi", "--operator=fv2 --smoother=chebyshev",
      "--operator=fv4 --smoother=gsrb",     "--operator=fv4 --smoother=chebyshev",
      "--operator=7pt --smoother=gsrb"};
  const fixture_backend_t cpu = {"cpu", "--device=cpu"};
  fixture_begin(&argc, &argv);
  double *alpha = field_new(16 * 16 * 16);
  for (int c = 0; c < 16 * 16 * 16; c++)
    alpha[c] = lab_value(c);
  for (size_t q = 0; q < sizeof options / sizeof options[0]; q++) {
    check_hierarchy(fixture_create(&cpu, 4, 1, options[q]), 0, ROOFLINE_HALO, q == 0);
    check_hierarchy(fixture_create_varying(&cpu, 4, 1, options[q], alpha), 0,
                    ROOFLINE_RESTRICTS_RESIDUAL + 1, false);
  }
  check_hierarchy(fixture_create(&cpu, 4, 1, "--operator=fv2 --boundary=periodic"), ROOFLINE_HALO,
                  ROOFLINE_HALO + 1, false);
  check_fused_legs(fixture_create(&cpu, 4, 1, ""));
  check_mixed("fv2");
  check_mixed("fv4");
  check_legs();
  return FIXTURE_END();
}
