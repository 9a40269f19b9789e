/* Pockets: sets of cells that open faces connect, without a given cell or an open face on a
 * Dirichlet side. */
#include "base/alloc.h"
#include "base/sum.h"
#include "comm/comm.h"
#include "solver/solids_parts.h"
#include <math.h>
#include <stdlib.h>

/* Sets of this rank's cells, as trees: each cell has a parent, a root itself. A root has the label
 * of its set: the least number of its cells in the grid, or `fixed`. Labels of cells outside are
 * greater than all. */
typedef struct {
  int64_t *parent;
  double *label;
} sets_t;

static const double fixed_label = -1.0;

static int64_t root_of(const sets_t *t, int64_t cell) {
  while (t->parent[cell] != cell) {
    t->parent[cell] = t->parent[t->parent[cell]];
    cell = t->parent[cell];
  }
  return cell;
}

/* The older root stays, so that trees do not depend on the order of sides. */
static void join(const sets_t *t, int64_t a, int64_t b) {
  const int64_t x = root_of(t, a), y = root_of(t, b);
  t->parent[x > y ? x : y] = x > y ? y : x;
}

static double number_in_grid(const mg_at_t *c) {
  const int32_t *n = c->part->level->store.view.n;
  const double i = c->p->lo[0] + c->i[0], j = c->p->lo[1] + c->i[1], k = c->p->lo[2] + c->i[2];
  return i + n[0] * (j + n[1] * k);
}

static bool is_open(const mg_solids_t *s, int64_t cell, int d, int side) {
  return s->open[cell] & 1u << (2 * d + side);
}

static bool is_fixed(const mg_solids_t *s, const mg_at_t *c) {
  if (s->open[c->number] & MG_OPEN_TO_GIVEN) return true;
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++)
      if (mg_part_ends(c, d, side) && is_open(s, c->number, d, side) &&
          mg_part_neighbor(c, d, side) < 0)
        return true;
  return false;
}

/* The sets of this rank alone. */
static void join_cells(const mg_solids_t *s, const sets_t *t) {
  for (int64_t c = 0; c < s->part.n_cells; c++) {
    t->parent[c] = c;
    t->label[c] = INFINITY;
  }
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);)
    for (int d = 0; d < 3; d++) {
      const int64_t next = mg_part_neighbor(&c, d, 1);
      if (is_open(s, c.number, d, 1) && next >= 0 && next < s->part.n_cells)
        join(t, c.number, next);
    }
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);) {
    double *label = &t->label[root_of(t, c.number)];
    if (s->open[c.number])
      *label = fmin(*label, is_fixed(s, &c) ? fixed_label : number_in_grid(&c));
  }
}

/* Take labels of neighbors in other patches where they are less. */
static mg_status_t take_labels(mg_solids_t *s, const sets_t *t, double *ghosts, double *changed) {
  for (int64_t c = 0; c < s->part.n_cells; c++)
    s->cells[c] = fmin(t->label[root_of(t, c)], 0x1p60);
  MG_TRY(mg_part_write(s, &s->part, MG_PART_CELLS, MG_U));
  MG_TRY(mg_solids_read_with_ghosts(s, ghosts));
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);)
    for (int side = 0; side < 6; side++) {
      if (!mg_part_ends(&c, side / 2, side % 2)) continue;
      const int64_t next = mg_part_neighbor(&c, side / 2, side % 2);
      if (next < s->part.n_cells || !is_open(s, c.number, side / 2, side % 2)) continue;
      double *label = &t->label[root_of(t, c.number)];
      if (ghosts[next] >= *label) continue;
      *label = ghosts[next];
      *changed = 1.0;
    }
  return MG_OK;
}

static mg_status_t join_ranks(mg_solids_t *s, const sets_t *t, double *ghosts) {
  double changed = 1.0;
  while (changed > 0.0) {
    changed = 0.0;
    if (s->part.level->comm) MG_TRY(take_labels(s, t, ghosts, &changed));
    MG_TRY(mg_comm_max(mg_comm_world(), &changed, 1));
  }
  return MG_OK;
}

/* --- numbers --------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static bool is_pocket(double label) {
  return label >= 0.0 && isfinite(label);
}

/* The labels of all pockets, in ascending order. The rank that has the cell of that number
 * counts the set. `label` is not yet allocated. */
static mg_status_t gather_labels(mg_solids_t *s, const sets_t *t, double **label) {
  const int n_ranks = mg_comm_size(mg_comm_world());
  int64_t mine = 0, *all, before = 0, total = 0;
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);)
    mine += s->open[c.number] && t->label[root_of(t, c.number)] == number_in_grid(&c);
  MG_TRY(mg_comm_agree(mg_new(&all, n_ranks, "pockets of ranks")));
  const mg_status_t status = mg_comm_gather(mg_comm_world(), &mine, sizeof mine, all);
  for (int r = 0; r < n_ranks; r++) {
    if (r < mg_comm_rank(mg_comm_world())) before += all[r];
    total += all[r];
  }
  free(all);
  MG_TRY(status);
  s->n_pockets = (int)total;
  MG_TRY(mg_comm_agree(mg_new(label, total, "pockets")));
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);)
    if (s->open[c.number] && t->label[root_of(t, c.number)] == number_in_grid(&c))
      (*label)[before++] = number_in_grid(&c);
  if (total > 0) MG_TRY(mg_comm_sum(mg_comm_world(), *label, (int)total));
  qsort(*label, (size_t)total, sizeof **label, compare);
  return MG_OK;
}

/* Give each cell the number of its pocket, and find the pockets that several ranks have. */
static mg_status_t number_cells(mg_solids_t *s, const sets_t *t, const double *label) {
  const size_t n = (size_t)s->n_pockets;
  MG_TRY(mg_comm_agree(mg_new(&s->pocket, s->part.n_cells, "pockets of cells")));
  MG_TRY(mg_comm_agree(mg_new(&s->divided, s->n_pockets, "pockets of ranks")));
  for (int64_t c = 0; c < s->part.n_cells; c++) {
    const double mine = t->label[root_of(t, c)];
    s->pocket[c] = -1;
    if (!s->open[c] || !is_pocket(mine)) continue;
    const double *found = bsearch(&mine, label, n, sizeof *label, compare);
    s->pocket[c] = (int32_t)(found - label);
    s->divided[s->pocket[c]] = 1.0;
  }
  MG_TRY(mg_comm_sum(mg_comm_world(), s->divided, s->n_pockets));
  for (int p = 0; p < s->n_pockets; p++)
    s->divided[p] = s->divided[p] > 1.0;
  return MG_OK;
}

/* --- means ----------------------------------------------------------------------------- */

static double volume_at(const mg_solids_t *s, const mg_at_t *c) {
  double *const *f = s->volume.factor;
  if (s->volume.is_one) return 1.0;
  return f[0][c->p->lo[0] + c->i[0]] * f[1][c->p->lo[1] + c->i[1]] * f[2][c->p->lo[2] + c->i[2]];
}

/* Terms of one pocket that follow each other. */
typedef struct {
  int32_t pocket;
  int n;
  double term[MG_SUM_CHUNK];
} run_t;

static void end_run(run_t *run, mg_sum_t *sum) {
  if (run->n > 0) mg_sum_add_all(&sum[run->pocket], run->term, run->n);
  if (run->n > 0) mg_sum_normalize(&sum[run->pocket]);
  run->n = 0;
}

/* What to add up in each pocket: volumes, cells, or cells times volumes. */
enum { VOLUMES, STORED_CELLS, CELLS };

static void add_cells(const mg_solids_t *s, int what, mg_sum_t *sum) {
  run_t run = {.pocket = -1};
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);) {
    const int32_t pocket = s->pocket[c.number];
    if (pocket < 0) continue;
    if (pocket != run.pocket || run.n == MG_SUM_CHUNK) end_run(&run, sum);
    run.pocket = pocket;
    run.term[run.n++] = (what == STORED_CELLS ? 1.0 : volume_at(s, &c)) *
                        (what == VOLUMES ? 1.0 : s->cells[c.number]);
  }
  end_run(&run, sum);
}

/* Exact sums over the cells of each pocket that has cells on this rank. */
static mg_status_t sum_pockets(const mg_solids_t *s, int what, double *total) {
  mg_sum_t *sum;
  mg_status_t status = MG_OK;
  MG_TRY(mg_comm_agree(mg_new(&sum, s->n_pockets, "sums of pockets")));
  add_cells(s, what, sum);
  for (int p = 0; p < s->n_pockets && status == MG_OK; p++) {
    if (s->divided[p] > 0.0) status = mg_comm_sum_exact(mg_comm_world(), &sum[p]);
    total[p] = mg_sum_value(&sum[p]);
  }
  free(sum);
  return status;
}

/* A rank knows the sums of the pockets that it has cells of. */
static mg_status_t count_singular(mg_solids_t *s) {
  double *singular;
  MG_TRY(mg_comm_agree(mg_new(&singular, s->n_pockets, "singular pockets")));
  for (int p = 0; p < s->n_pockets; p++)
    singular[p] = s->weight[p] > 0.0 && s->alpha[p] == 0.0;
  const mg_status_t status = mg_comm_sum(mg_comm_world(), singular, s->n_pockets);
  s->n_singular = 0;
  for (int p = 0; p < s->n_pockets; p++)
    s->n_singular += singular[p] > 0.0;
  free(singular);
  return status;
}

static mg_status_t number_pockets(mg_solids_t *s, const sets_t *t) {
  double *label = NULL;
  mg_status_t status = gather_labels(s, t, &label);
  if (status == MG_OK && s->n_pockets > 0) status = number_cells(s, t, label);
  free(label);
  MG_TRY(status);
  if (s->n_pockets == 0) return MG_OK;
  MG_TRY(mg_comm_agree(mg_new(&s->weight, s->n_pockets, "volumes of pockets")));
  MG_TRY(mg_comm_agree(mg_new(&s->alpha, s->n_pockets, "alpha of pockets")));
  MG_TRY(sum_pockets(s, VOLUMES, s->weight));
  if (s->part.level->comm) MG_TRY(mg_part_read(s, &s->part, MG_PART_CELLS, MG_ALPHA));
  MG_TRY(sum_pockets(s, STORED_CELLS, s->alpha));
  return count_singular(s);
}

mg_status_t mg_pockets_find(mg_hierarchy_t *h) {
  mg_solids_t *s = h->solids;
  sets_t t = {NULL, NULL};
  double *ghosts = NULL;
  free(s->pocket);
  free(s->weight);
  free(s->alpha);
  free(s->divided);
  s->pocket = NULL;
  s->weight = s->alpha = s->divided = NULL;
  s->n_pockets = s->n_singular = 0;
  mg_status_t status = mg_new(&t.parent, s->part.n_cells, "sets of cells");
  if (status == MG_OK) status = mg_new(&t.label, s->part.n_cells, "sets of cells");
  if (status == MG_OK) status = mg_new(&ghosts, s->part.n_cells + s->part.n_ghosts, "ghosts");
  status = mg_comm_agree(status);
  if (status == MG_OK) join_cells(s, &t);
  if (status == MG_OK) status = mg_comm_agree_or_end(join_ranks(s, &t, ghosts));
  if (status == MG_OK) status = number_pockets(s, &t);
  free(ghosts);
  free(t.label);
  free(t.parent);
  return status;
}

mg_status_t mg_pockets_constants(const mg_solids_t *s, double *constant) {
  MG_TRY(sum_pockets(s, STORED_CELLS, constant));
  for (int p = 0; p < s->n_pockets; p++)
    constant[p] = s->alpha[p] > 0.0 ? constant[p] / s->alpha[p] : 0.0;
  return MG_OK;
}

mg_status_t mg_pockets_set_mean(mg_solids_t *s, double mean, bool is_f, double *shift) {
  double *total;
  *shift = 0.0;
  if (s->n_singular == 0) return MG_OK;
  MG_TRY(mg_comm_agree(mg_new(&total, s->n_pockets, "means of pockets")));
  mg_status_t status = sum_pockets(s, is_f ? STORED_CELLS : CELLS, total);
  for (int p = 0; p < s->n_pockets; p++) {
    const bool changes = s->weight[p] > 0.0 && s->alpha[p] == 0.0;
    total[p] = changes ? mean - total[p] / s->weight[p] : 0.0;
    *shift = fmax(*shift, fabs(total[p]));
  }
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);) {
    const int32_t pocket = s->pocket[c.number];
    if (pocket >= 0) s->cells[c.number] += total[pocket] * (is_f ? volume_at(s, &c) : 1.0);
  }
  if (status == MG_OK) status = mg_comm_max(mg_comm_world(), shift, 1);
  free(total);
  return status;
}
