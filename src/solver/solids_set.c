/* Masks, cells outside of the problem, and rows of all levels. */
#include "base/alloc.h"
#include "comm/comm.h"
#include "formulas/walls.h"
#include "level/ops.h"
#include "level/transfer.h"
#include "solver/solids_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- memory ---------------------------------------------------------------------------- */

void mg_solids_free(mg_solids_t *s) {
  if (!s) return;
  const mg_backend_t *backend = s->part.level->backend;
  if (s->memory) backend->release(s->memory, s->bytes, MG_SPACE_SHARED);
  mg_metric_free(&s->volume);
  free(s->part.first);
  free(s->mask);
  free(s->open);
  free(s->value);
  free(s->link);
  free(s->shown);
  free(s->pocket);
  free(s->weight);
  free(s->alpha);
  free(s->divided);
  free(s);
}

/* Values that solids->memory must hold for a part. */
static int64_t most_values(const mg_part_t *p) {
  int64_t most = p->n_cells + p->n_ghosts;
  for (int d = 0; d < 3; d++)
    most = p->n_faces[d] > most ? p->n_faces[d] : most;
  return most;
}

/* Apply a function to the levels of double cells and to those of floats. */
typedef mg_status_t of_level_t(mg_hierarchy_t *h, mg_hierarchy_t *cycles, int l);
static mg_status_t for_levels(mg_hierarchy_t *h, of_level_t *apply) {
  for (mg_hierarchy_t *cycles = h; cycles; cycles = cycles->low)
    for (int l = 0; l < cycles->n_levels; l++)
      MG_TRY(apply(h, cycles, l));
  return MG_OK;
}

/* Raise the values that solids->memory must hold. */
static mg_status_t add_room(mg_hierarchy_t *h, mg_hierarchy_t *cycles, int l) {
  mg_part_t part;
  const mg_status_t status = mg_part_number(&cycles->level[l], &part);
  const size_t bytes = (size_t)most_values(&part) * sizeof(double);
  if (bytes > h->solids->bytes) h->solids->bytes = bytes;
  free(part.first);
  return status;
}

static mg_status_t allocate(mg_hierarchy_t *h) {
  mg_solids_t *s = h->solids;
  const mg_backend_t *backend = h->level[0].backend;
  MG_TRY(mg_part_number(&h->level[0], &s->part));
  MG_TRY(for_levels(h, add_room));
  if (s->bytes > 0) MG_TRY(backend->alloc(s->bytes, MG_SPACE_SHARED, &s->memory));
  s->cells = s->memory;
  MG_TRY(mg_new(&s->open, s->part.n_cells, "open faces of cells"));
  return mg_metric_create(h, 0, MG_F, &s->volume);
}

mg_status_t mg_solids_create(mg_hierarchy_t *h) {
  if (h->solids) return MG_OK;
  mg_status_t status = mg_new(&h->solids, 1, "solid cells");
  if (status == MG_OK) h->solids->part.level = &h->level[0];
  if (status == MG_OK) status = allocate(h);
  return mg_comm_agree(status);
}

/* --- masks ----------------------------------------------------------------------------- */

/* Whether a face of a cell has a solid one at either side, or given ones at both. */
static bool is_masked(const mg_solids_t *s, const mg_at_t *c, int d, int side) {
  const int64_t other = mg_part_neighbor(c, d, side);
  const int mine = s->mask[c->number], its = other < 0 ? mine : s->mask[other];
  return mine == MG_MASK_SOLID || its == MG_MASK_SOLID ||
         (mine == MG_MASK_GIVEN && its == MG_MASK_GIVEN);
}

static mg_status_t close_masked(mg_solids_t *s, int d) {
  MG_TRY(mg_part_read(s, &s->part, MG_PART_FACES + d, MG_BETA_I + (mg_vector_t)d));
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);)
    for (int side = 0; side < 2; side++)
      if (is_masked(s, &c, d, side)) s->cells[mg_part_face(&c, d, side)] = 0.0;
  return mg_part_write(s, &s->part, MG_PART_FACES + d, MG_BETA_I + (mg_vector_t)d);
}

static mg_status_t take_mask(mg_solids_t *s, double *any) {
  const int64_t n = s->part.n_cells + s->part.n_ghosts;
  if (!s->part.level->comm) return MG_OK;
  MG_TRY(mg_solids_read_with_ghosts(s, s->cells));
  for (int64_t c = 0; c < n; c++) {
    const double x = s->cells[c];
    s->mask[c] = x == 0.0 ? MG_MASK_SOLID : x == 2.0 ? MG_MASK_GIVEN : MG_MASK_SOLVED;
    if (s->mask[c] != MG_MASK_SOLVED) *any = 1.0;
    s->has_given = s->has_given || s->mask[c] == MG_MASK_GIVEN;
  }
  for (int d = 0; d < 3 && *any > 0.0; d++)
    MG_TRY(close_masked(s, d));
  return mg_fill(s->part.level, MG_U, 0.0);
}

mg_status_t mg_solids_take_mask(mg_hierarchy_t *h) {
  double any = 0.0;
  mg_solids_free(h->solids);
  h->solids = NULL;
  MG_TRY(mg_solids_create(h));
  mg_solids_t *s = h->solids;
  MG_TRY(mg_comm_agree(mg_new(&s->mask, s->part.n_cells + s->part.n_ghosts, "a mask")));
  MG_TRY(mg_comm_agree_or_end(take_mask(s, &any)));
  MG_TRY(mg_comm_max(mg_comm_world(), &any, 1));
  if (any > 0.0) h->params.closes_cells = true;
  if (h->params.closes_cells) return MG_OK;
  mg_solids_free(h->solids); /* as without a mask */
  h->solids = NULL;
  return MG_OK;
}

/* --- cells outside --------------------------------------------------------------------- */

/* Add an open face of a cell between a given cell and a solved one to the list. */
static mg_status_t add_link(mg_solids_t *s, const mg_at_t *c, int d, int side, double beta,
                            int64_t *capacity) {
  const bool is_solved = mg_solids_mask(s, c->number) == MG_MASK_SOLVED;
  if (s->n_links == *capacity) {
    *capacity = 2 * *capacity + 1024;
    MG_TRY(mg_grow(&s->link, *capacity, "faces of given cells"));
  }
  s->link[s->n_links++] = (mg_link_t){.cell = is_solved ? c->number : -1,
                                      .given = mg_part_neighbor(c, d, side),
                                      .face = mg_part_face(c, d, side),
                                      .d = d,
                                      .beta = beta};
  return MG_OK;
}

/* The only cell of a periodic direction is its own neighbor: no flux passes. */
static bool is_alone(const mg_solids_t *s, int d) {
  const mg_view_t *v = &s->part.level->store.view;
  return v->n[d] == 1 && mg_is_periodic(v, d);
}

/* Note the open faces of a cell in direction d, and those between a given and a solved one. */
static mg_status_t look_at(mg_solids_t *s, const mg_at_t *c, int d, int64_t *capacity) {
  for (int side = 0; side < 2; side++) {
    const double beta = s->cells[mg_part_face(c, d, side)];
    if (!(beta > 0.0) || is_alone(s, d)) continue;
    const int mine = mg_solids_mask(s, c->number),
              other = s->has_given ? mg_solids_mask(s, mg_part_neighbor(c, d, side)) : mine;
    const bool links = mine + other == MG_MASK_SOLVED + MG_MASK_GIVEN;
    if (mine == MG_MASK_SOLVED)
      s->open[c->number] |= (uint8_t)(links ? MG_OPEN_TO_GIVEN : 1u << (2 * d + side));
    if (links) MG_TRY(add_link(s, c, d, side, beta, capacity));
  }
  return MG_OK;
}

/* Close the faces of given cells. */
static mg_status_t close_given(mg_solids_t *s, int d) {
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);)
    for (int side = 0; side < 2; side++)
      if (mg_solids_mask(s, c.number) == MG_MASK_GIVEN ||
          mg_solids_mask(s, mg_part_neighbor(&c, d, side)) == MG_MASK_GIVEN)
        s->cells[mg_part_face(&c, d, side)] = 0.0;
  return mg_part_write(s, &s->part, MG_PART_FACES + d, MG_BETA_I + (mg_vector_t)d);
}

static mg_status_t look_at_faces(mg_solids_t *s) {
  int64_t capacity = 0;
  s->n_links = 0;
  memset(s->open, 0, (size_t)s->part.n_cells * sizeof *s->open);
  for (int d = 0; d < 3; d++) {
    MG_TRY(mg_part_read(s, &s->part, MG_PART_FACES + d, MG_BETA_I + (mg_vector_t)d));
    for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);)
      MG_TRY(look_at(s, &c, d, &capacity));
    if (s->has_given) MG_TRY(close_given(s, d));
  }
  return MG_OK;
}

/* Move the couplings with given cells to alpha, and set it to 0 outside. */
static mg_status_t set_alpha(mg_solids_t *s) {
  MG_TRY(mg_part_read(s, &s->part, MG_PART_CELLS, MG_ALPHA));
  for (mg_link_t *l = s->link; l < s->link + s->n_links; l++) {
    if (l->cell < 0) continue;
    l->alpha = s->cells[l->cell];
    s->cells[l->cell] += mg_solids_coupling(s, l);
  }
  for (int64_t c = 0; c < s->part.n_cells; c++)
    if (!s->open[c]) s->cells[c] = 0.0;
  return mg_part_write(s, &s->part, MG_PART_CELLS, MG_ALPHA);
}

static mg_status_t set_outside(mg_solids_t *s) {
  if (!s->part.level->comm) return MG_OK;
  MG_TRY(look_at_faces(s));
  return set_alpha(s);
}

/* Cells outside of all ranks, for reports. */
static mg_status_t count_outside(mg_hierarchy_t *h) {
  const mg_solids_t *s = h->solids;
  double n = 0.0;
  for (int64_t c = 0; c < s->part.n_cells; c++)
    n += !s->open[c];
  MG_TRY(mg_comm_sum(mg_comm_world(), &n, 1));
  h->params.n_outside = (int64_t)n;
  h->params.n_singular = s->n_singular;
  return MG_OK;
}

mg_status_t mg_solids_set(mg_hierarchy_t *h, bool sets_rhs) {
  MG_TRY(mg_solids_create(h));
  MG_TRY(mg_comm_agree_or_end(set_outside(h->solids)));
  MG_TRY(mg_pockets_find(h));
  MG_TRY(mg_fill(&h->level[0], MG_U, 0.0));
  MG_TRY(count_outside(h));
  return sets_rhs ? mg_solids_set_rhs(h) : MG_OK;
}

/* --- rows of all levels ---------------------------------------------------------------- */

/* Sums of the couplings of each cell, and the largest beta of this rank. */
static mg_status_t sum_couplings(mg_solids_t *s, const mg_part_t *part, double *sum,
                                 double *largest) {
  const double b_h2 = part->level->store.view.b_h2;
  for (int d = 0; d < 3; d++) {
    MG_TRY(mg_part_read(s, part, MG_PART_FACES + d, MG_BETA_I + (mg_vector_t)d));
    for (mg_at_t c = mg_part_begin(part); mg_part_next(&c);)
      for (int side = 0; side < 2; side++) {
        const double beta = mg_part_get(s, part, mg_part_face(&c, d, side));
        sum[c.number] += b_h2 * beta;
        *largest = fmax(*largest, beta);
      }
  }
  return MG_OK;
}

/* What rows without entries get: if the cell has solved ones in it, which coarsening has separated
 * from all others, as much as other rows, so that the rounding of its residual corrects nothing;
 * outside so little that a correction there, which changes nothing else, has no residual. */
static double diagonal_of_empty(const mg_level_t *level, double largest, double solved) {
  const bool floats = level->backend->value_bytes == sizeof(float);
  const double usual = level->store.view.b_h2 * (largest > 0.0 ? largest : 1.0);
  return solved > 0.0 ? usual : (floats ? 0x1p-40 : 0x1p-80) * usual;
}

/* On the coarsest level, cells may be connected to each other only, and their rows singular
 * together, while their right-hand side has a mean: all rows get this part of their couplings. */
static const double of_coarsest = 0x1p-7;

/* MG_U: above 0 in cells that have solved ones in them. */
static mg_status_t set_rows(mg_solids_t *s, const mg_part_t *part, bool coarsest, double *sum,
                            double *solved) {
  mg_level_t *level = part->level;
  double largest = 0.0;
  MG_TRY(sum_couplings(s, part, sum, &largest));
  MG_TRY(mg_comm_max(level->comm, &largest, 1));
  MG_TRY(mg_part_read(s, part, MG_PART_CELLS, MG_U));
  for (int64_t c = 0; c < part->n_cells; c++)
    solved[c] = mg_part_get(s, part, c);
  MG_TRY(mg_part_read(s, part, MG_PART_CELLS, MG_ALPHA));
  for (int64_t c = 0; c < part->n_cells; c++) {
    const double alpha = mg_part_get(s, part, c) + (coarsest ? of_coarsest * sum[c] : 0.0);
    mg_part_put(s, part, c,
                alpha + sum[c] > 0.0 ? alpha : diagonal_of_empty(level, largest, solved[c]));
  }
  MG_TRY(mg_part_write(s, part, MG_PART_CELLS, MG_ALPHA));
  return mg_halo_deep(level, MG_ALPHA);
}

static mg_status_t set_rows_of(mg_hierarchy_t *h, mg_hierarchy_t *cycles, int l) {
  mg_level_t *level = &cycles->level[l];
  const bool coarsest = l > 0 && l + 1 == mg_hierarchy_of_cycles(h)->n_levels;
  mg_part_t part = {.level = level};
  double *sum = NULL;
  if (!level->comm) return MG_OK;
  mg_status_t status = mg_part_number(level, &part);
  if (status == MG_OK) status = mg_new(&sum, 2 * part.n_cells, "sums of couplings");
  if (status == MG_OK) status = set_rows(h->solids, &part, coarsest, sum, sum + part.n_cells);
  free(sum);
  free(part.first);
  return status;
}

/* MG_U of a level: the part of each cell that is in the problem. */
static mg_status_t mark_solved(mg_hierarchy_t *h, mg_hierarchy_t *cycles, int l) {
  mg_solids_t *s = h->solids;
  const mg_part_t part = {
      .level = &cycles->level[0], .first = s->part.first, .n_cells = s->part.n_cells};
  if (l > 0) return mg_restrict(cycles, l - 1, MG_U, MG_U);
  for (int64_t c = 0; c < part.n_cells; c++)
    mg_part_put(s, &part, c, s->open[c] ? 1.0 : 0.0);
  return cycles->level[0].comm ? mg_part_write(s, &part, MG_PART_CELLS, MG_U) : MG_OK;
}

static mg_status_t clear_u(mg_hierarchy_t *h, mg_hierarchy_t *cycles, int l) {
  (void)h;
  return mg_fill(&cycles->level[l], MG_U, 0.0);
}

static mg_status_t set_all_rows(mg_hierarchy_t *h) {
  MG_TRY(for_levels(h, mark_solved));
  MG_TRY(for_levels(h, set_rows_of));
  return for_levels(h, clear_u);
}

mg_status_t mg_solids_set_rows(mg_hierarchy_t *h) {
  return mg_comm_agree_or_end(set_all_rows(h));
}
