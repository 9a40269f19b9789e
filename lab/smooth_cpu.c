/* Ladder 4 on a CPU: a Chebyshev step of the 7-point operator over n^3 cells, from the worst loop
 * order to several steps in one pass (lab/rungs/smooth_cpu_*.h). Ghosts are constant, so only the
 * step is measured. The roofline ladder measures the solver's own smoothers, with halos and walls.
 *
 * Elements are cells times steps. Useful bytes are the minimum of one traversal, divided by its
 * steps:
 *   - one step: 56. It reads x, the previous x, f and three betas, and overwrites the previous x;
 *   - fused steps: 64 for all steps together, because both x are written.
 * Non-temporal stores do not help: a line that is written has just been read.
 */
#include "formulas/smoother.h"
#include "formulas/stencil.h"
#include "lab/lab_cpu.h"
#include <math.h>
#include <stdlib.h>

enum { GHOSTS = 1, LINE = 8, PLANES_AT_A_TIME = 8 };

/* Vectors: two x, f, three betas, and the two x of the reference. */
enum { X, F = 2, BETA, WANT = BETA + 3, N_VECTORS = WANT + 2 };

/* n^3 cells with ghosts that no step changes. Vectors point at cell (0, 0, 0), which starts a cache
 * line; cell (i, j, k) is at i + j js + k ks. */
typedef struct {
  int64_t n;
  ptrdiff_t js, ks;
  double *x[2]; /* step s = 1, 2, ... writes x[s % 2], overwriting step s - 2 */
  const double *f, *bi, *bj, *bk;
} grid_t;

/* Equation and step coefficients: the iteration contracts for the betas here, between 1 and 2. */
#define A    0.5
#define B_H2 1.0
#define C1   0.25
#define C2   0.6

/* One pass over the grid. */
typedef struct {
  const grid_t *g;
  int steps, threads;
  int64_t rows; /* per block */
} pass_t;

static int64_t min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Formulas are those of src/formulas/stencil.h; all rungs must be bit-identical. */
#include "lab/access.h"
#include "lab/rungs/smooth_cpu.h"
#define LAB_COUNTED
#include "lab/access.h"
#include "lab/rungs/smooth_cpu.h"

/* ---- data and reference ---- */

typedef struct {
  grid_t g, want; /* want has a separate x */
  double *room[N_VECTORS];
  int64_t length; /* elements per vector */
  ptrdiff_t cell; /* offset of cell (0, 0, 0) */
  int steps;      /* steps applied to want so far */
} smooth_t;

/* Initial value of vector `which`. */
static double start(int which, int64_t at) {
  return (which < BETA ? 0.0 : 1.0) + lab_value(at + 100 * which) / 1024.0;
}

static bool is_cell(const smooth_t *m, int64_t at) {
  const grid_t *g = &m->g;
  at -= m->cell;
  return at >= 0 && at / g->ks < g->n && at % g->ks / g->js < g->n && at % g->js < g->n;
}

/* Both x have equal ghosts. */
static void begin(const smooth_t *m, const grid_t *g) {
#pragma omp parallel for
  for (int64_t at = 0; at < m->length; at++)
    for (int which = 0; which < 2; which++)
      g->x[which][at - m->cell] = start(is_cell(m, at) ? which : 0, at);
}

/* One step of the reference: row by row, one cell at a time. */
static void step_want(smooth_t *m) {
  const int s = ++m->steps;
  const grid_t g = m->want;
  double *const x = g.x[(s + 1) % 2], *const next = g.x[s % 2];
#pragma omp parallel for
  for (int64_t k = 0; k < g.n; k++)
    for (int64_t j = 0; j < g.n; j++)
      for (int64_t i = 0; i < g.n; i++) {
        const ptrdiff_t at = i + j * g.js + k * g.ks;
        LAB_OPAQUE(i);
        next[at] = stepped(&g, x, next, at);
      }
}

/* Largest difference from the reference; infinite if a value is NaN. */
static double difference(const smooth_t *m) {
  const grid_t *g = &m->g;
  double worst = 0.0;
#pragma omp parallel for reduction(max : worst)
  for (int64_t k = 0; k < g->n; k++)
    for (int64_t j = 0; j < g->n; j++)
      for (int64_t i = 0; i < 2 * g->n; i++) {
        const int which = i >= g->n;
        const ptrdiff_t at = i - which * g->n + j * g->js + k * g->ks;
        const double off = fabs(g->x[which][at] - m->want.x[which][at]);
        worst = fmax(worst, isnan(off) ? INFINITY : off);
      }
  return worst;
}

/* As many cells as fit in an array; n is a multiple of a cache line. */
static void shape(smooth_t *m, int64_t bytes) {
  int64_t n = 2 * LINE;
  while ((n + LINE) * (n + LINE) * (n + LINE) * 8 <= bytes)
    n += LINE;
  m->g.n = n;
  m->g.js = n + LINE; /* the ghosts at the end of a row and the start of the next share a line */
  m->g.ks = (n + 2 * GHOSTS) * m->g.js;
  m->cell = GHOSTS * m->g.ks + GHOSTS * m->g.js + LINE;
  m->length = (n + 2 * GHOSTS) * m->g.ks + 2 * LINE;
}

/* Vectors start some lines apart within a page. Otherwise a store and later loads of other vectors
 * alias in cores that compare 12 address bits. */
static mg_status_t allocate(smooth_t *m) {
  double *cell[N_VECTORS];
  for (int v = 0; v < N_VECTORS; v++) {
    if (!(m->room[v] = lab_doubles(m->length + 11 * LINE * N_VECTORS))) return MG_ERR_MEMORY;
    cell[v] = m->room[v] + 11 * LINE * v + m->cell;
  }
  m->g.x[0] = cell[X], m->g.x[1] = cell[X + 1], m->g.f = cell[F];
  m->g.bi = cell[BETA], m->g.bj = cell[BETA + 1], m->g.bk = cell[BETA + 2];
  m->want = m->g;
  m->want.x[0] = cell[WANT], m->want.x[1] = cell[WANT + 1];
  for (int v = F; v < WANT; v++) {
#pragma omp parallel for
    for (int64_t at = 0; at < m->length; at++)
      cell[v][at - m->cell] = start(v, at);
  }
  return MG_OK;
}

/* ---- tables ---- */

typedef void (*kernel_t)(const pass_t *p);

typedef struct {
  const char *name;
  kernel_t kernel, counted;
  int steps;
  int rows;   /* rows per block; 0: all */
  bool alone; /* single-threaded */
} variant_t;

#define RUNG_OF(number) smooth_##number, smooth_##number##_counted
static const variant_t single[] = {
    {"k innermost", RUNG_OF(1), 1, 0, true},
    {"i innermost", RUNG_OF(2), 1, 0, true},
    {"vectors", RUNG_OF(3), 1, 0, true},
    {"threads", RUNG_OF(4), 1, 0, false},
    {"blocks of 32 rows", RUNG_OF(5), 1, 32, false},
    {"blocks of 16 rows", RUNG_OF(5), 1, 16, false},
    {"blocks of 8 rows", RUNG_OF(5), 1, 8, false},
};

/* Sorted by the number of steps. */
static const variant_t fused[] = {
    {"1 step, blocks of 16 rows", RUNG_OF(5), 1, 16, false},
    {"2 steps, planes, one thread", RUNG_OF(6), 2, 0, true},
    {"2 steps, blocks of 16 rows", RUNG_OF(6), 2, 16, false},
    {"3 steps, blocks of 16 rows", RUNG_OF(6), 3, 16, false},
    {"4 steps, blocks of 32 rows", RUNG_OF(6), 4, 32, false},
    {"4 steps, blocks of 16 rows", RUNG_OF(6), 4, 16, false},
    {"4 steps, blocks of 8 rows", RUNG_OF(6), 4, 8, false},
    {"4 steps, blocks of 4 rows", RUNG_OF(6), 4, 4, false},
};

typedef struct {
  kernel_t kernel;
  pass_t pass;
} run_t;

static void run(void *arg) {
  const run_t *r = arg;
  r->kernel(&r->pass);
}

static lab_row_t row_of(const lab_t *lab, const smooth_t *m, const variant_t *v) {
  const int64_t n = m->g.n;
  lab_row_t row = {.threads = v->alone ? 1 : lab->threads, .elements = n * n * n * v->steps};
  row.useful = v->steps == 1 ? 56.0 : 64.0 / v->steps;
  row.flops = 35.0;
  if (v == single) row.moved = LINE * row.useful; /* one line per cell */
  return row;
}

static mg_status_t add(lab_t *lab, smooth_t *m, const variant_t *v) {
  lab_row_t row = row_of(lab, m, v);
  const int64_t rows = v->rows ? v->rows : m->g.n + v->steps;
  run_t pass = {v->kernel, {&m->g, v->steps, row.threads, rows}};
  run_t counted = {v->counted, {&m->g, v->steps, 1, rows}};
  lab_t runs = *lab; /* runs take tenths of a second, and seconds with the worst loop order */
  runs.min_runs = (int)min64(lab->min_runs, v == single ? 3 : 9);
  while (m->steps < v->steps)
    step_want(m);
  row.requested = lab_requested(run, &counted, row.elements);
  row.seconds = lab_seconds(&runs, run, &pass);
  begin(m, &m->g);
  run(&pass);
  row.error = difference(m);
  return lab_add(lab, &row, "%s", v->name);
}

static mg_status_t tables(lab_t *lab, smooth_t *m) {
  begin(m, &m->want);
  begin(m, &m->g);
  lab_table(lab, "smooth", "Chebyshev, single steps, %lld^3 cells", (long long)m->g.n);
  for (size_t v = 0; v < sizeof single / sizeof single[0]; v++)
    MG_TRY(add(lab, m, &single[v]));
  lab_table(lab, "smooth", "Chebyshev, fused steps, %lld^3 cells", (long long)m->g.n);
  for (size_t v = 0; v < sizeof fused / sizeof fused[0]; v++)
    MG_TRY(add(lab, m, &fused[v]));
  return MG_OK;
}

mg_status_t lab_smooth_cpu(lab_t *lab) {
  smooth_t m = {.steps = 0};
  shape(&m, lab->bytes);
  mg_status_t status = allocate(&m);
  if (status == MG_OK) status = tables(lab, &m);
  for (int v = 0; v < N_VECTORS; v++)
    free(m.room[v]);
  return status;
}
