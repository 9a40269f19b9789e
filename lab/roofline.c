/* Ladder 6, on any place: the arithmetic limit without memory traffic, and the solver's own kernels
 * from 64^3 to 512^3 cells. Each kernel is timed through the same interface as in a solve (ops.h),
 * as one of many in sequence, with walls. Bytes are the minimum that it must move. Flops are those
 * of src/formulas/stencil.h; an fma counts as two.
 *
 * One process with one box: the halo is a separate row, for a periodic level; the other rows have
 * none. Not measured: set-up, the single launches of the coarsest levels and of the bottom solve,
 * messages (lab/links.c), and ghosts made by a separate launch, which only simple kernels read.
 * symgs runs the half sweeps of GSRB. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "base/timers.h"
#include "device/device_select.h"
#include "lab/roofline.h"
#include "level/smooth.h"
#include <math.h>
#include <stdlib.h>

/* Bytes and flops per cell of the finer level.
 *
 * Smoothers: per step. A half sweep computes half of the cells and moves the lines of all.
 * Interpolation: 18 combinations along k, j and i for the 8 children of a coarse cell, of 3 flops
 * each (V4: 6). A thread with only one coarse cell computes more of them. */
typedef roofline_kernel_t kernel_t;

/* Previous iterate, which the first of a smooth's six Chebyshev steps does not read. */
#define UNREAD (8.0 / 6)

static const kernel_t of_fv2[] = {
    {"GSRB, the first half sweep", 40.0, 5.0, ROOFLINE_FIRST},
    {"residual", 48.0, 21.0, ROOFLINE_RESIDUAL},
    {"residual and its norm", 40.0, 22.0, ROOFLINE_RESIDUAL_NORM},
    {"residual, restricted", 41.0, 22.0, ROOFLINE_RESTRICTS_RESIDUAL},
    {"restriction", 9.0, 1.0, ROOFLINE_RESTRICTS},
    {"interpolation, corrections V2", 17.0, 7.75, ROOFLINE_CORRECTS},
    {"interpolation, solutions V2", 9.0, 6.75, ROOFLINE_INTERPOLATES},
    {"a x + b y", 24.0, 3.0, ROOFLINE_AXPBY},
    {"x y", 24.0, 1.0, ROOFLINE_MULTIPLIES},
    {"x + a", 16.0, 1.0, ROOFLINE_SHIFTS},
    {"a x", 16.0, 1.0, ROOFLINE_SCALES},
    {"fill", 8.0, 0.0, ROOFLINE_FILLS},
    {"maximum norm", 8.0, 1.0, ROOFLINE_MAX_NORM},
    {"maximum norm of a difference", 16.0, 2.0, ROOFLINE_DIFFERENCE},
    {"dot product", 16.0, 2.0, ROOFLINE_DOT},
};
static const kernel_t of_fv4[] = {
    {"GSRB, the first half sweep", 24.0, 1.0, ROOFLINE_FIRST},
    {"residual", 48.0, 113.0, ROOFLINE_RESIDUAL},
    {"residual and its norm", 40.0, 114.0, ROOFLINE_RESIDUAL_NORM},
    {"residual, restricted", 41.0, 114.0, ROOFLINE_RESTRICTS_RESIDUAL},
    {"interpolation, corrections V2", 17.0, 7.75, ROOFLINE_CORRECTS},
    {"interpolation, solutions V4", 9.0, 13.5, ROOFLINE_INTERPOLATES},
};
static const kernel_t of_7pt[] = {
    {"interpolation, corrections P0", 17.0, 1.0, ROOFLINE_CORRECTS},
    {"interpolation, solutions P1", 9.0, 6.75, ROOFLINE_INTERPOLATES},
};
static const kernel_t of_fv2_float[] = {
    {"GSRB, the first half sweep", 40.0, 5.0, ROOFLINE_FIRST},
    {"residual, restricted", 41.0, 22.0, ROOFLINE_RESTRICTS_RESIDUAL},
    {"interpolation, corrections V2", 17.0, 7.75, ROOFLINE_CORRECTS},
};
/* A float value is read or written beside double ones. */
static const kernel_t of_mixed[] = {
    {"right-hand side to float", 12.0, 1.0, ROOFLINE_LOWERS},
    {"float correction added", 20.0, 2.0, ROOFLINE_RAISES},
    {"double residual to float", 44.0, 22.0, ROOFLINE_LOWERS_RESIDUAL},
    {"the same, and its norm", 44.0, 23.0, ROOFLINE_LOWERS_RESIDUAL_NORM},
    {"residual of a guess to float", 37.0, 28.75, ROOFLINE_LOWERS_GUESS},
    {"correction added to a guess", 13.0, 8.75, ROOFLINE_RAISES_GUESS},
    {"the same, and residual norm", 45.0, 30.75, ROOFLINE_RAISES_GUESS_NORM},
};
static const kernel_t of_mixed_fv4[] = {
    {"double residual to float", 44.0, 114.0, ROOFLINE_LOWERS_RESIDUAL},
    {"the same, and its norm", 44.0, 115.0, ROOFLINE_LOWERS_RESIDUAL_NORM},
};

/* BETWEEN: operations between double and float cells. FLOAT: float cells move half of the bytes. */
typedef enum { CELLS_DOUBLE, CELLS_BETWEEN, CELLS_FLOAT } cells_t;
static const char *const cells_text[] = {"", ", double and float", ", float"};

/* Fused steps: the bytes of one pass over memory, divided among its steps. 7pt has four half
 * sweeps, fused as two pairs; fv4 has six, fused as three pairs, and a copy that is timed with
 * them. A periodic level has only the halo: a grid of n^3 cells has 6 n^2 ghosts of 16 bytes each,
 * to be divided by n. */
#define STEP(name, bytes, flops)                                                                   \
  { name, bytes, flops, ROOFLINE_SMOOTHS }
#define GSRB(count, bytes, flops)                                                                  \
  .fused = STEP("GSRB, " #count " fused half sweeps", bytes / count, flops),                       \
  .first = STEP("GSRB, a half sweep", bytes, flops)
#define GSRB_OF_FV2 GSRB(3, 48.0, 15.5)
#define GSRB_OF_FV4 GSRB(2, 56.0, 57.5)
#define GSRB_OF_7PT GSRB(2, 48.0, 15.5)
#define CHEBYSHEV_OF_FV2                                                                           \
  .fused = STEP("Chebyshev, 3 fused steps", 56.0 / 3, 35.0),                                       \
  .first = STEP("Chebyshev, a step", 56.0 - UNREAD, 35.0)
#define SOME(list, n) .others = (list), .n_others = (n)
#define OTHERS(list)  SOME(list, sizeof(list) / sizeof *(list))
static const struct {
  roofline_problem_t problem;
  cells_t cells;
  kernel_t fused, first; /* no name: none on any place */
  const kernel_t *others;
  int n_others;
} problems[] = {
    {{"fv2", .smoother = "gsrb"}, GSRB_OF_FV2, OTHERS(of_fv2)},
    {{"fv2", .smoother = "jacobi"},
     .fused = STEP("Jacobi, 3 fused steps", 48.0 / 3, 35.0),
     .first = STEP("Jacobi, a step", 48.0, 35.0)},
    {{"fv2", .smoother = "l1jacobi"}, .first = STEP("l1-Jacobi, a step", 56.0, 27.0)},
    {{"fv2", .smoother = "chebyshev"}, CHEBYSHEV_OF_FV2},
    {{"fv2", .smoother = "gsrb", .boundary = "periodic"},
     .first = {"halo of one vector", 16.0 * 6, 0.0, ROOFLINE_HALO}},
    {{"fv2", .smoother = "gsrb", .alpha_varies = true}, GSRB_OF_FV2, SOME(of_fv2, 4)},
    {{"fv2", .smoother = "chebyshev", .alpha_varies = true}, CHEBYSHEV_OF_FV2},
    {{"fv4", .smoother = "gsrb"}, GSRB_OF_FV4, OTHERS(of_fv4)},
    {{"fv4", .smoother = "chebyshev"}, .first = STEP("Chebyshev, a step", 64.0 - UNREAD, 119.0)},
    {{"fv4", .smoother = "gsrb", .alpha_varies = true}, GSRB_OF_FV4, SOME(of_fv4 + 1, 3)},
    {{"7pt", .smoother = "gsrb"}, GSRB_OF_7PT, OTHERS(of_7pt)},
    {{"fv2", .smoother = "gsrb", .mixed = true}, CELLS_BETWEEN, OTHERS(of_mixed)},
    {{"fv4", .smoother = "gsrb", .mixed = true}, CELLS_BETWEEN, OTHERS(of_mixed_fv4)},
    {{"fv2", .smoother = "gsrb", .mixed = true}, CELLS_FLOAT, GSRB_OF_FV2, OTHERS(of_fv2_float)},
    {{"fv2", .smoother = "chebyshev", .mixed = true}, CELLS_FLOAT, CHEBYSHEV_OF_FV2},
    {{"fv4", .smoother = "gsrb", .mixed = true}, CELLS_FLOAT, GSRB_OF_FV4, SOME(of_fv4 + 3, 1)},
    {{"7pt", .smoother = "gsrb", .mixed = true}, CELLS_FLOAT, GSRB_OF_7PT, SOME(of_7pt, 1)},
};
enum { N_PROBLEMS = sizeof problems / sizeof problems[0], LARGEST = 9 };

/* Time of the smallest size, of its rows and of its checks, over that of lab_roofline_estimate's
 * runs, and the growth from one size to the next, with which levels leave the caches. Measured on
 * an AMD EPYC. */
enum { TIMED_QUICK = 350, TIMED = 700, CHECKED = 1600, GROWTH = 10 };

/* A variable alpha adds 8 bytes to kernels that compute the operator or its diagonal. fv2's CPU
 * smoothers then read 1 / diagonal; GPU smoothers compute it from the betas and alpha. */
static kernel_t with_alpha(kernel_t k, const mg_level_t *fine) {
  const bool stored =
      fine->backend == &mg_backend_cpu && mg_traits_of(fine->store.view.op)->sums_diagonal;
  const int steps = k.bytes < 20.0 ? 3 : k.bytes < 40.0 ? 2 : 1; /* of a pass */
  if (stored && k.kind == ROOFLINE_FIRST) return (kernel_t){k.name, 24.0, 1.0, k.kind};
  k.bytes += 8.0 / steps;
  if (!stored || k.kind != ROOFLINE_SMOOTHS) return k;
  k.bytes += 8.0;
  k.flops -= fine->steps[0].colored ? 4.0 : 8.0;
  return k;
}

static const roofline_place_t *place_of(const lab_t *lab) {
#ifdef HAVE_CUDA
  if (lab->place == LAB_CUDA) return &roofline_on_cuda;
#endif
  (void)lab;
  return &roofline_on_cpu;
}

/* `twin`: oracle of the results; NULL: they are not checked. */
static mg_status_t add(lab_t *lab, mg_hierarchy_t *h, mg_hierarchy_t *twin,
                       const kernel_t *kernel) {
  const roofline_place_t *place = place_of(lab);
  const mg_level_t *fine = &h->level[0];
  kernel_t k = fine->store.view.alpha_varies ? with_alpha(*kernel, fine) : *kernel;
  const int steps = k.kind == ROOFLINE_SMOOTHS ? fine->n_steps : 1;
  double error = 0.0;
  if (k.kind == ROOFLINE_HALO) k.bytes /= (double)fine->plan->layout.n[0];
  if (fine->store.value_bytes == sizeof(float)) k.bytes *= 0.5;
  const double start = mg_now();
  if (twin) MG_TRY(roofline_check(place, h, twin, k.kind, roofline_run, &error));
  lab->progress.checking += mg_now() - start;
  return roofline_add(lab, place, h, &k, steps, error);
}

/* Fused sweeps, and the last of them with a residual if the level allows it. */
static mg_status_t add_fused(lab_t *lab, mg_hierarchy_t *h, mg_hierarchy_t *twin,
                             const kernel_t *fused) {
  const mg_level_t *fine = &h->level[0];
  const double bytes = fused->bytes * fine->n_steps, flops = fused->flops * fine->n_steps + 22.0;
  if (!fused->name || fine->steps_per_pass == 1) return MG_OK;
  MG_TRY(add(lab, h, twin, fused));
  if (!mg_smooth_has_residual(fine, MG_FROM_GUESS)) return MG_OK;
  MG_TRY(add(lab, h, twin,
             &(kernel_t){"a smooth, residual restricted", bytes + 1.0, flops,
                         ROOFLINE_SMOOTHS_RESTRICTS}));
  /* Float levels need no norm. */
  if (fine->store.value_bytes == sizeof(float)) return MG_OK;
  return add(lab, h, twin,
             &(kernel_t){"a smooth and residual norm", bytes, flops, ROOFLINE_SMOOTHS_NORM});
}

static mg_status_t rows(lab_t *lab, mg_hierarchy_t *h, mg_hierarchy_t *twin, int p) {
  mg_level_t *fine = &h->level[0];
  MG_TRY(add_fused(lab, h, twin, &problems[p].fused));
  if (problems[p].first.name) {
    MG_TRY(mg_smoother_set(fine, &h->params, fine->lambda_max, false));
    MG_TRY(add(lab, h, twin, &problems[p].first));
  }
  for (int k = 0; k < problems[p].n_others; k++)
    MG_TRY(add(lab, h, twin, &problems[p].others[k]));
  return MG_OK;
}

/* Vectors are at most twice the size of the other ladders' arrays. */
/* A quick run with arrays of 1 MiB, as in tests, has levels of 32^3 cells only. */
static int smallest(const lab_t *lab) {
  return lab->quick && lab->bytes < 2 << 20 ? ROOFLINE_SMALLEST - 1 : ROOFLINE_SMALLEST;
}

static bool has_size(const lab_t *lab, int log2_n) {
  if (log2_n == smallest(lab)) return true;
  return smallest(lab) == ROOFLINE_SMALLEST && log2_n <= LARGEST &&
         (int64_t)8 << 3 * log2_n <= 2 * lab->bytes;
}

static mg_status_t table(lab_t *lab, int p, int log2_n) {
  const roofline_problem_t *problem = &problems[p].problem;
  const bool checked = roofline_is_checked(lab, log2_n),
             is_float = problems[p].cells == CELLS_FLOAT;
  mg_hierarchy_t *h = NULL, *twin = NULL;
  MG_TRY(roofline_make(lab, place_of(lab), problem, log2_n, &h));
  lab_table(lab, "roofline", "%s, %s%s%s%s%s%s, %d^3 cells", problem->op, problem->smoother,
            problem->boundary ? ", " : "", problem->boundary ? problem->boundary : "",
            problem->alpha_varies ? ", alpha varies" : "", cells_text[problems[p].cells],
            checked ? "" : ", timed only", 1 << log2_n);
  mg_status_t status = checked ? roofline_twin_create(h, &twin) : MG_OK;
  if (status == MG_OK)
    status = rows(lab, is_float ? h->low : h, is_float && twin ? twin->low : twin, p);
  mg_hierarchy_free(twin);
  mg_hierarchy_free(h);
  return status;
}

static double sum_of_chains(double x, bool fused) {
  double sum = 0.0;
  for (int q = 0; q < ROOFLINE_CHAINS; q++) {
    double y = x + q;
    for (int l = 0; l < ROOFLINE_LINKS; l++)
      y = roofline_link(y, fused);
    sum = q == 0 ? y : sum + y;
  }
  return sum;
}

/* Count the values that differ from the host's result. */
static double wrong_sums(const double *got, int64_t n, bool fused) {
  double want[ROOFLINE_KINDS], wrong = 0.0;
  for (int k = 0; k < ROOFLINE_KINDS; k++)
    want[k] = sum_of_chains(lab_value(k), fused);
  for (int64_t i = 0; i < n; i++)
    wrong += got[i] != want[i % ROOFLINE_KINDS];
  return wrong;
}

/* The arithmetic limit without memory traffic: the flat part of the roofline. */
static mg_status_t time_arithmetic(lab_t *lab, const mg_backend_t *backend) {
  const roofline_place_t *place = place_of(lab);
  const int64_t n = place->chain_numbers(lab);
  const size_t bytes = (size_t)(n + ROOFLINE_KINDS) * sizeof(double);
  lab_row_t row = {.threads = lab->threads,
                   .elements = n,
                   .useful = 8.0,
                   .footprint = INFINITY, /* its speed is not one of memory */
                   .flops = 2.0 * ROOFLINE_CHAINS * ROOFLINE_LINKS};
  void *to = NULL;
  double *got = malloc(bytes);
  mg_status_t status = got ? MG_OK : mg_error(MG_ERR_MEMORY, "no memory for %zu bytes", bytes);
  if (status == MG_OK) status = backend->alloc(bytes, MG_SPACE_LEVEL, &to);
  if (status == MG_OK) status = place->fill((double *)to + n, sizeof(double), ROOFLINE_KINDS, 0);
  if (status == MG_OK) status = place->chains(lab, (double *)to + n, to, n, &row);
  if (status == MG_OK) status = place->fetch(got, to, (size_t)n * sizeof *got);
  if (status == MG_OK) {
    row.error = wrong_sums(got, n, place->fused);
    lab_table(lab, "roofline", "arithmetic, double");
    status = lab_add(lab, &row, "%s",
                     place->fused ? "fma in registers" : "multiply and add in registers");
  }
  if (to) backend->release(to, bytes, MG_SPACE_LEVEL);
  free(got);
  return status;
}

static mg_status_t arithmetic(lab_t *lab) {
  mg_hierarchy_t *h = NULL;
  MG_TRY(roofline_make(lab, place_of(lab), &problems[0].problem, 6, &h));
  const mg_status_t status = time_arithmetic(lab, h->level[0].backend);
  mg_hierarchy_free(h);
  return status;
}

/* Before the levels that take long: what the smaller ones took, for more cells. */
static void say_next(const lab_t *lab, int log2_n, double last) {
  if (!lab->text || lab->place == LAB_CUDA || !has_size(lab, log2_n)) return;
  fprintf(lab->text, "\nroofline: levels of %d^3 cells take about %.0f s\n", 1 << log2_n,
          GROWTH * last);
}

mg_status_t lab_roofline_estimate(const lab_t *lab, double *seconds) {
  static const roofline_kind_t kinds[] = {ROOFLINE_SMOOTHS, ROOFLINE_RESIDUAL_NORM, ROOFLINE_AXPBY};
  double took[3] = {0.0}, number;
  mg_hierarchy_t *h = NULL;
  MG_TRY(roofline_make(lab, place_of(lab), &problems[0].problem, smallest(lab), &h));
  mg_status_t status = roofline_begin(place_of(lab), h);
  for (int run = 0; run < 4 && status == MG_OK; run++) { /* the first one loads the caches */
    const double start = mg_now();
    for (int k = 0; k < 3 && status == MG_OK; k++)
      status = roofline_run(h, kinds[k], &number);
    if (run > 0) took[run - 1] = mg_now() - start;
  }
  mg_hierarchy_free(h);
  *seconds = 0.0;
  double one = lab_median(took, 3);
  for (int log2_n = smallest(lab); has_size(lab, log2_n); log2_n++, one *= GROWTH)
    *seconds += one * ((lab->quick ? TIMED_QUICK : TIMED) +
                       (roofline_is_checked(lab, log2_n) ? CHECKED : 0));
  return status;
}

static mg_status_t tables(lab_t *lab) {
  for (int log2_n = smallest(lab); has_size(lab, log2_n); log2_n++) {
    const double start = mg_now(), checking = lab->progress.checking;
    for (int p = 0; p < N_PROBLEMS; p++)
      MG_TRY(table(lab, p, log2_n));
    const double all = mg_now() - start, checks = lab->progress.checking - checking;
    say_next(lab, log2_n + 1, roofline_is_checked(lab, log2_n + 1) ? all : all - checks);
  }
  return MG_OK;
}

mg_status_t lab_roofline(lab_t *lab) {
  lab->unlike = true;
  mg_status_t status = arithmetic(lab);
  if (status == MG_OK) status = tables(lab);
  lab->unlike = false;
  mg_device_close();
  return status;
}
