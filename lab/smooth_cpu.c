/* Ladder 4 on a CPU: a Chebyshev step of the 7-point operator over n^3 cells, from the worst loop
 * order to fused steps (temporal blocking). Ghosts are constant, so only the step is measured. The
 * roofline ladder measures the solver's own smoothers, with halos and walls.
 *
 * Elements are cells times steps. Useful bytes are the minimum of one traversal, divided by its
 * steps:
 *   - one step: 56. It reads x, the previous x, f and three betas, and overwrites the previous x;
 *   - fused steps: 64 for all steps together, because both x are written.
 * Non-temporal stores do not help: a line that is written has just been read.
 *
 * Fused steps follow each other, one plane and one row behind. The two x suffice as storage: step s
 * overwrites step s - 2, whose last reader is step s - 1, one plane ahead.
 *
 *       rows j ->   block b-1 | block b  |          step 1 is at plane w of the traversal,
 *       step 1  . . . . . . . | o o o o o|          step 2 at w - 1, one row to the left,
 *       step 2  . . . . . . | o o o o o|            step 3 at w - 2, two rows to the left
 *
 * A block therefore needs only its own results and those of its left neighbor up to the same w.
 * Each thread runs one block, some planes behind the thread of the block to its left. */
#include "formulas/smoother.h"
#include "formulas/stencil.h"
#include "lab/lab_cpu.h"
#include <math.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

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

/* ---- rows of a step, by the formulas of src/formulas/stencil.h; all must be bit-identical ---- */

/* Row (j, k) of step s. */
typedef void (*row_fn)(const grid_t *g, int s, int64_t j, int64_t k);

/* Pointers to a row's vectors at its first cell. */
typedef struct {
  const double *x, *f, *bi, *bj, *bk;
  double *next;
  ptrdiff_t js, ks;
} row_t;

static row_t row_at(const grid_t *g, int s, int64_t j, int64_t k) {
  const ptrdiff_t at = j * g->js + k * g->ks;
  return (row_t){g->x[(s + 1) & 1] + at, g->f + at, g->bi + at, g->bj + at, g->bk + at,
                 g->x[s & 1] + at,       g->js,     g->ks};
}

MG_INLINE double stepped(const row_t *r, int64_t i) {
  const mg_face_weights_t inside = {{1.0, 1.0, 1.0}, {1.0, 1.0, 1.0}};
  const double dinv =
      1.0 / mg_diagonal_7(r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, inside, A, B_H2);
  const double ax = mg_apply_7(r->x + i, r->bi + i, r->bj + i, r->bk + i, r->js, r->ks, A, B_H2);
  return mg_update(r->x[i], r->next[i], ax, r->f[i], dinv, C1, C2);
}

static void one_cell_at_a_time(const grid_t *g, int s, int64_t j, int64_t k) {
  const row_t r = row_at(g, s, j, k);
  for (int64_t i = 0; i < g->n; i++) {
    LAB_OPAQUE(i);
    r.next[i] = stepped(&r, i);
  }
}

static void vectors(const grid_t *g, int s, int64_t j, int64_t k) {
  const row_t r = row_at(g, s, j, k);
  const int64_t n = g->n;
#pragma omp simd
  for (int64_t i = 0; i < n; i++)
    r.next[i] = stepped(&r, i);
}

/* A whole step with the worst loop order. */
static void k_innermost(const grid_t *g, int s) {
  for (int64_t i = 0; i < g->n; i++)
    for (int64_t j = 0; j < g->n; j++)
      for (int64_t k = 0; k < g->n; k++) {
        LAB_OPAQUE(k);
        const row_t r = row_at(g, s, j, k);
        r.next[i] = stepped(&r, i);
      }
}

/* ---- traversals ---- */

/* One traversal of the grid. */
typedef struct {
  const grid_t *g;
  row_fn row; /* NULL: k innermost */
  int steps, threads;
  int64_t rows; /* per block */
} pass_t;

static int64_t min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* Each thread owns a slab of planes and processes it one block of rows at a time. */
static void one_step(const pass_t *p) {
  const int64_t n = p->g->n;
#pragma omp parallel num_threads(p->threads)
  {
    int64_t first, last;
    lab_share(n, 1, &first, &last);
    for (int64_t begin = 0; begin < n; begin += p->rows)
      for (int64_t k = first; k < last; k++)
        for (int64_t j = begin; j < min64(n, begin + p->rows); j++)
          p->row(p->g, 1, j, k);
  }
}

/* Planes first <= w < last of all steps in one block. */
static void advance(const pass_t *p, int64_t block, int64_t first, int64_t last) {
  const int64_t n = p->g->n;
  for (int64_t w = first; w < last; w++)
    for (int s = 1; s <= p->steps; s++) {
      const int64_t behind = s - 1, k = w - behind, begin = block * p->rows - behind;
      if (k < 0 || k >= n) continue;
      for (int64_t j = max64(0, begin); j < min64(n, begin + p->rows); j++)
        p->row(p->g, s, j, k);
    }
}

static void several_steps(const pass_t *p) {
  const int64_t deep = p->g->n + p->steps - 1; /* planes and rows, with the trailing steps */
  const int64_t blocks = (deep + p->rows - 1) / p->rows;
  const int64_t turns = (deep + PLANES_AT_A_TIME - 1) / PLANES_AT_A_TIME;
#pragma omp parallel num_threads(p->threads)
  {
#ifdef _OPENMP
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
#else
    const int64_t threads = 1, me = 0;
#endif
    for (int64_t block = me; block - me < blocks; block += threads)
      for (int64_t t = -me; t < turns + threads - 1 - me; t++) {
        const int64_t first = t * PLANES_AT_A_TIME;
        if (block < blocks && t >= 0 && t < turns)
          advance(p, block, first, min64(deep, first + PLANES_AT_A_TIME));
#pragma omp barrier
      }
  }
}

static void run(void *arg) {
  const pass_t *p = arg;
  if (!p->row)
    k_innermost(p->g, 1);
  else if (p->steps == 1)
    one_step(p);
  else
    several_steps(p);
}

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
#pragma omp parallel for
  for (int64_t k = 0; k < m->g.n; k++)
    for (int64_t j = 0; j < m->g.n; j++)
      one_cell_at_a_time(&m->want, s, j, k);
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

typedef struct {
  const char *name;
  row_fn row; /* NULL: k innermost */
  int steps;
  int rows;   /* rows per block; 0: all */
  bool alone; /* single-threaded */
} variant_t;

static const variant_t single[] = {
    {"k innermost", NULL, 1, 0, true},
    {"i innermost", one_cell_at_a_time, 1, 0, true},
    {"vectors", vectors, 1, 0, true},
    {"threads, planes", vectors, 1, 0, false},
    {"threads, blocks of 32 rows", vectors, 1, 32, false},
    {"threads, blocks of 16 rows", vectors, 1, 16, false},
    {"threads, blocks of 8 rows", vectors, 1, 8, false},
};

/* Sorted by the number of steps. */
static const variant_t fused[] = {
    {"1 step, blocks of 16 rows", vectors, 1, 16, false},
    {"2 steps, planes, one thread", vectors, 2, 0, true},
    {"2 steps, blocks of 16 rows", vectors, 2, 16, false},
    {"3 steps, blocks of 16 rows", vectors, 3, 16, false},
    {"4 steps, blocks of 32 rows", vectors, 4, 32, false},
    {"4 steps, blocks of 16 rows", vectors, 4, 16, false},
    {"4 steps, blocks of 8 rows", vectors, 4, 8, false},
    {"4 steps, blocks of 4 rows", vectors, 4, 4, false},
};

static lab_row_t row_of(const lab_t *lab, const smooth_t *m, const variant_t *v) {
  const int64_t n = m->g.n;
  lab_row_t row = {.threads = v->alone ? 1 : lab->threads, .elements = n * n * n * v->steps};
  row.useful = v->steps == 1 ? 56.0 : 64.0 / v->steps;
  row.flops = 35.0;
  if (!v->row) row.moved = LINE * row.useful; /* one line per cell */
  return row;
}

static mg_status_t add(lab_t *lab, smooth_t *m, const variant_t *v) {
  lab_row_t row = row_of(lab, m, v);
  pass_t pass = {&m->g, v->row, v->steps, row.threads, v->rows ? v->rows : m->g.n + v->steps};
  lab_t runs = *lab; /* runs take tenths of a second, and seconds with the worst loop order */
  runs.min_runs = (int)min64(lab->min_runs, v->row ? 9 : 3);
  while (m->steps < v->steps)
    step_want(m);
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
