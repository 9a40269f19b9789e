/* Ladder 4 on a CPU: a smoother step over n^3 cells, from the worst loop order to fused steps
 * (temporal blocking). Ghosts are constant, so only the step is measured. The roofline ladder
 * measures the solver's own smoothers, with halos and walls.
 *
 * Elements are cells times steps. Useful bytes are the minimum of one traversal, divided by its
 * steps:
 *   - one Chebyshev step: 56. It reads x, the previous x, f and three betas, and overwrites the
 *     previous x;
 *   - fused Chebyshev steps: 64 for all steps together, because both x are written;
 *   - GSRB: 48 for any number of half sweeps. It reads and writes x, and reads f and the betas.
 * fv4 also reads 1 / diagonal. In float every number is half as large. Non-temporal stores do not
 * help: a line that is written has just been read.
 *
 * Fused steps follow each other, one plane and one row behind. The two x suffice as storage: step s
 * overwrites step s - 2, whose last reader is step s - 1, one plane ahead.
 *
 *       rows j ->   block b-1 | block b  |          step 1 is at plane w of the traversal,
 *       step 1  . . . . . . . | o o o o o|          step 2 at w - 1, one row to the left,
 *       step 2  . . . . . . | o o o o o|            step 3 at w - 2, two rows to the left
 *
 * A block therefore needs only its own results and those of its left neighbour up to the same w.
 * Each thread runs one block, some planes behind the thread of the block to its left. */
#include "lab/smooth_cpu.h"
#include "base/log.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { GHOSTS = 2, LINE = 8, N_DOUBLES = 9, N_FLOATS = 6, PLANES_AT_A_TIME = 8 };

/* One traversal of the grid. */
typedef struct {
  const lab_grid_t *g;
  lab_cells_t cells; /* NULL: k innermost */
  int steps, threads;
  int64_t rows; /* per block */
} pass_t;

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b) {
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
        for (int64_t j = begin; j < least(n, begin + p->rows); j++)
          p->cells(p->g, 1, j, k);
  }
}

/* Planes first <= w < last of all steps in one block. */
static void advance(const pass_t *p, int64_t block, int64_t first, int64_t last) {
  const int64_t n = p->g->n;
  for (int64_t w = first; w < last; w++)
    for (int s = 1; s <= p->steps; s++) {
      const int64_t behind = s - 1, k = w - behind, begin = block * p->rows - behind;
      if (k < 0 || k >= n) continue;
      for (int64_t j = most(0, begin); j < least(n, begin + p->rows); j++)
        p->cells(p->g, s, j, k);
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
          advance(p, block, first, least(deep, first + PLANES_AT_A_TIME));
#pragma omp barrier
      }
  }
}

static void run(void *arg) {
  const pass_t *p = arg;
  if (!p->cells)
    lab_chebyshev_k_innermost(p->g, 1);
  else if (p->steps == 1)
    one_step(p);
  else
    several_steps(p);
}

/* The vectors of the ladder, and the expected x. */
typedef struct {
  lab_grid_t g, want; /* want has a separate x */
  double *room[N_DOUBLES], *small_room[N_FLOATS];
  int64_t length; /* elements per vector */
  ptrdiff_t cell; /* offset of cell (0, 0, 0) */
  int steps;      /* steps applied to want so far */
  double largest; /* largest magnitude that want has had */
} smooth_t;

/* Initial value of vector `which`: x, previous x, f, three betas. 11 bits, exact in float. */
static double start(int which, int64_t at) {
  return (which < 3 ? 0.0 : 1.0) + lab_value(at + 100 * which) / 1024.0;
}

static bool is_cell(const smooth_t *m, int64_t at) {
  const lab_grid_t *g = &m->g;
  at -= m->cell;
  return at >= 0 && at / g->ks < g->n && at % g->ks / g->js < g->n && at % g->js < g->n;
}

/* Both x have equal ghosts. */
static double start_x(const smooth_t *m, int which, int64_t at) {
  return start(is_cell(m, at) ? which : 0, at);
}

static void begin(const smooth_t *m, bool small) {
#pragma omp parallel for
  for (int64_t at = 0; at < m->length; at++)
    for (int which = 0; which < 2; which++) {
      const double x = start_x(m, which, at);
      if (small)
        m->g.small_x[which][at - m->cell] = (float)x;
      else
        m->g.x[which][at - m->cell] = x;
    }
}

static void begin_want(smooth_t *m) {
#pragma omp parallel for
  for (int64_t at = 0; at < m->length; at++)
    for (int which = 0; which < 2; which++)
      m->want.x[which][at - m->cell] = start_x(m, which, at);
  m->steps = 0;
  m->largest = 1.0;
}

/* One step of the reference: row by row, one cell at a time. */
static void step_want(smooth_t *m, lab_cells_t plain) {
  const lab_grid_t *g = &m->want;
  const int s = ++m->steps;
  double largest = m->largest;
#pragma omp parallel for reduction(max : largest)
  for (int64_t k = 0; k < g->n; k++)
    for (int64_t j = 0; j < g->n; j++) {
      plain(g, s, j, k);
      for (int64_t i = 0; i < g->n; i++)
        largest = fmax(largest, fabs(g->x[s & 1][i + j * g->js + k * g->ks]));
    }
  m->largest = largest;
}

/* Largest difference from the reference; NaN if a value is NaN. */
static double difference(const smooth_t *m, bool small) {
  const lab_grid_t *g = &m->g;
  double worst = 0.0;
  int64_t no_numbers = 0;
#pragma omp parallel for reduction(max : worst) reduction(+ : no_numbers)
  for (int64_t k = 0; k < g->n; k++)
    for (int64_t j = 0; j < g->n; j++)
      for (int64_t i = 0; i < 2 * g->n; i++) {
        const int which = i >= g->n;
        const ptrdiff_t at = i - which * g->n + j * g->js + k * g->ks;
        const double got = small ? (double)g->small_x[which][at] : g->x[which][at];
        const double off = fabs(got - m->want.x[which][at]);
        no_numbers += isnan(off);
        worst = fmax(worst, off);
      }
  return no_numbers ? NAN : worst;
}

typedef struct {
  const char *name;
  lab_cells_t cells;
  int steps;
  int rows;    /* rows per block; 0: all */
  bool alone;  /* single-threaded */
  bool stored; /* reads 1 / diagonal although it could be computed */
} variant_t;

typedef struct {
  const char *title;
  lab_cells_t plain;       /* row kernel of the reference */
  double one, pass, flops; /* bytes of a single step; bytes of fused steps; flops per step */
  bool small;
  const variant_t *variant;
  int n_variants;
} table_t;

/* Flops to sum and invert the diagonal. */
static const double summing = 8.0;

static const variant_t steps_apart[] = {
    {"k innermost", NULL, 1, 0, true, false},
    {"i innermost", lab_chebyshev_plain, 1, 0, true, false},
    {"vectors", lab_chebyshev, 1, 0, true, false},
    {"vectors, 1/diagonal read", lab_chebyshev_stored, 1, 0, true, true},
    {"threads, planes", lab_chebyshev, 1, 0, false, false},
    {"threads, blocks of 32 rows", lab_chebyshev, 1, 32, false, false},
    {"threads, blocks of 16 rows", lab_chebyshev, 1, 16, false, false},
    {"threads, blocks of 8 rows", lab_chebyshev, 1, 8, false, false},
    {"blocks of 16, 1/diagonal read", lab_chebyshev_stored, 1, 16, false, true},
};

static const variant_t steps_fused[] = {
    {"1 step, blocks of 16 rows", lab_chebyshev, 1, 16, false, false},
    {"2 steps, planes, one thread", lab_chebyshev, 2, 0, true, false},
    {"2 steps, blocks of 16 rows", lab_chebyshev, 2, 16, false, false},
    {"2 steps, 1/diagonal read", lab_chebyshev_stored, 2, 16, false, true},
    {"3 steps, blocks of 16 rows", lab_chebyshev, 3, 16, false, false},
    {"3 steps, 1/diagonal read", lab_chebyshev_stored, 3, 16, false, true},
    {"4 steps, blocks of 32 rows", lab_chebyshev, 4, 32, false, false},
    {"4 steps, blocks of 16 rows", lab_chebyshev, 4, 16, false, false},
    {"4 steps, blocks of 8 rows", lab_chebyshev, 4, 8, false, false},
    {"4 steps, blocks of 4 rows", lab_chebyshev, 4, 4, false, false},
    {"4 steps, 1/diagonal read", lab_chebyshev_stored, 4, 16, false, true},
};

static const variant_t in_floats[] = {
    {"1 step, blocks of 16 rows", lab_chebyshev_small, 1, 16, false, false},
    {"2 steps, blocks of 16 rows", lab_chebyshev_small, 2, 16, false, false},
    {"3 steps, blocks of 16 rows", lab_chebyshev_small, 3, 16, false, false},
    {"4 steps, blocks of 16 rows", lab_chebyshev_small, 4, 16, false, false},
};

static const variant_t half_sweeps[] = {
    {"every other cell, one thread", lab_gsrb_plain, 1, 0, true, false},
    {"vectors that store in place", lab_gsrb_in_place, 1, 0, true, false},
    {"vectors through a buffer", lab_gsrb, 1, 0, true, false},
    {"threads, planes", lab_gsrb, 1, 0, false, false},
    {"threads, blocks of 16 rows", lab_gsrb, 1, 16, false, false},
    {"red and black in a pass", lab_gsrb, 2, 16, false, false},
    {"two sweeps in a pass", lab_gsrb, 4, 16, false, false},
};

static const variant_t of_fv4[] = {
    {"i innermost, one thread", lab_fv4_plain, 1, 0, true, false},
    {"vectors, one thread", lab_fv4, 1, 0, true, false},
    {"threads, planes", lab_fv4, 1, 0, false, false},
    {"threads, blocks of 16 rows", lab_fv4, 1, 16, false, false},
    {"threads, blocks of 8 rows", lab_fv4, 1, 8, false, false},
};

#define VARIANTS(array) array, sizeof array / sizeof array[0]
static const table_t tables[] = {
    {"Chebyshev, a step in a pass", lab_chebyshev_plain, 56.0, 64.0, 35.0, false,
     VARIANTS(steps_apart)},
    {"Chebyshev, steps in one pass", lab_chebyshev_plain, 56.0, 64.0, 35.0, false,
     VARIANTS(steps_fused)},
    {"Chebyshev, floats in memory", lab_chebyshev_plain, 28.0, 32.0, 35.0, true,
     VARIANTS(in_floats)},
    {"GSRB, half sweeps", lab_gsrb_plain, 48.0, 48.0, 15.5, false, VARIANTS(half_sweeps)},
    {"4th order, Chebyshev, a step in a pass", lab_fv4_plain, 64.0, 72.0, 119.0, false,
     VARIANTS(of_fv4)},
};
enum { N_TABLES = sizeof tables / sizeof tables[0] };

/* A store rounds to half an eps of the largest value. A step propagates the errors of x and the
 * previous x with weights whose magnitudes sum to 1 + 2 c1: the diagonal and neighbour parts of
 * c2 dinv A x cancel, and 1 + c1 - c2 is positive. */
static double tolerance(const smooth_t *m, const table_t *t, int steps) {
  double errors = 0.0;
  for (int s = 0; s < steps && t->small; s++)
    errors = 1.0 + (1.0 + 2.0 * LAB_C1) * errors;
  return errors * 0.5 * (double)FLT_EPSILON * m->largest;
}

static lab_row_t row_of(const lab_t *lab, const smooth_t *m, const table_t *t, const variant_t *v) {
  const int64_t n = m->g.n;
  lab_row_t row = {.threads = v->alone ? 1 : lab->threads, .elements = n * n * n * v->steps};
  snprintf(row.variant, sizeof row.variant, "%s", v->name);
  row.useful = v->steps == 1 ? t->one : t->pass / v->steps;
  row.flops = t->flops - (v->stored ? summing : 0.0);
  if (v->stored) row.moved = row.useful + 8.0 / v->steps;
  if (!v->cells) row.moved = LINE * row.useful; /* one line per cell */
  return row;
}

static mg_status_t add(lab_t *lab, smooth_t *m, const table_t *t, const variant_t *v) {
  lab_row_t row = row_of(lab, m, t, v);
  pass_t pass = {&m->g, v->cells, v->steps, row.threads, v->rows ? v->rows : m->g.n + v->steps};
  lab_t runs = *lab; /* runs take tenths of a second, and seconds with the worst loop order */
  runs.least_runs = (int)least(lab->least_runs, v->cells ? 9 : 3);
  while (m->steps < v->steps)
    step_want(m, t->plain);
  row.seconds = lab_seconds(&runs, run, &pass);
  begin(m, t->small);
  run(&pass);
  row.error = difference(m, t->small);
  row.tolerance = tolerance(m, t, v->steps);
  return lab_add(lab, &row);
}

/* The variants of a table are sorted by number of steps; the reference advances with them. */
static mg_status_t add_table(lab_t *lab, smooth_t *m, const table_t *t) {
  lab_table(lab, "smooth", "%s, %lld^3 cells", t->title, (long long)m->g.n);
  begin_want(m);
  begin(m, t->small);
  for (int v = 0; v < t->n_variants; v++)
    MG_TRY(add(lab, m, t, &t->variant[v]));
  return MG_OK;
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
static ptrdiff_t apart(int which) {
  return 11 * LINE * which;
}

static mg_status_t allocate(smooth_t *m) {
  const int64_t length = m->length + apart(N_DOUBLES);
  double *cell[N_DOUBLES];
  float *small[N_FLOATS];
  for (int v = 0; v < N_DOUBLES; v++) {
    if (!(m->room[v] = lab_doubles(length)))
      return mg_error(MG_ERR_MEMORY, "no memory for arrays; ask for less with --mib");
    cell[v] = m->room[v] + apart(v) + m->cell;
  }
  for (int v = 0; v < N_FLOATS; v++) {
    if (!(m->small_room[v] = lab_doubles(length / 2 + 1)))
      return mg_error(MG_ERR_MEMORY, "no memory for arrays; ask for less with --mib");
    small[v] = (float *)m->small_room[v] + apart(v) + m->cell;
  }
  m->g.x[0] = cell[0], m->g.x[1] = cell[1], m->g.f = cell[2], m->g.dinv = cell[6];
  m->g.bi = cell[3], m->g.bj = cell[4], m->g.bk = cell[5];
  m->g.small_x[0] = small[0], m->g.small_x[1] = small[1], m->g.small_f = small[2];
  m->g.small_bi = small[3], m->g.small_bj = small[4], m->g.small_bk = small[5];
  m->want = m->g;
  m->want.x[0] = cell[7], m->want.x[1] = cell[8];
  return MG_OK;
}

static void fill(const smooth_t *m) {
  const lab_grid_t *g = &m->g;
  for (int which = 2; which < N_FLOATS; which++) {
    double *to = m->room[which] + apart(which);
    float *small = (float *)m->small_room[which] + apart(which);
#pragma omp parallel for
    for (int64_t at = 0; at < m->length; at++)
      small[at] = (float)(to[at] = start(which, at));
  }
  double *dinv = m->room[6] + apart(6) + m->cell;
#pragma omp parallel for
  for (int64_t k = 0; k < g->n; k++)
    for (int64_t j = 0; j < g->n; j++)
      for (int64_t i = 0; i < g->n; i++) {
        const ptrdiff_t at = i + j * g->js + k * g->ks;
        dinv[at] = lab_dinv(g->bi + at, g->bj + at, g->bk + at, g->js, g->ks);
      }
}

mg_status_t lab_smooth_cpu(lab_t *lab) {
  smooth_t m = {.steps = 0};
  shape(&m, lab->bytes);
  mg_status_t status = allocate(&m);
  if (status == MG_OK) fill(&m);
  for (int t = 0; t < N_TABLES && status == MG_OK; t++)
    status = add_table(lab, &m, &tables[t]);
  for (int v = 0; v < N_DOUBLES; v++)
    free(m.room[v]);
  for (int v = 0; v < N_FLOATS; v++)
    free(m.small_room[v]);
  return status;
}
