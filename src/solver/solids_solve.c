/* Right-hand sides and solutions with cells outside of the problem, and what dumps show of them. */
#include "base/alloc.h"
#include "comm/comm.h"
#include "level/ops.h"
#include "solver/domain.h"
#include "solver/solids_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- values ---------------------------------------------------------------------------- */

/* Only the values of given cells are used; those of solid ones may be anything. */
static mg_status_t check_given(const mg_solids_t *s) {
  for (mg_at_t c = mg_part_begin(&s->part); mg_part_next(&c);)
    if (mg_solids_mask(s, c.number) == MG_MASK_GIVEN && !(fabs(s->value[c.number]) <= MG_MAX_VALUE))
      return mg_error(MG_ERR_USAGE, "u is %g in the given cell (%d, %d, %d); it must be finite",
                      s->value[c.number], (int)(c.p->lo[0] + c.i[0]), (int)(c.p->lo[1] + c.i[1]),
                      (int)(c.p->lo[2] + c.i[2]));
  return MG_OK;
}

mg_status_t mg_solids_take_values(mg_hierarchy_t *h, bool of_solids) {
  MG_TRY(mg_solids_create(h));
  mg_solids_t *s = h->solids;
  const int64_t n = s->part.n_cells + s->part.n_ghosts;
  if (!s->value) MG_TRY(mg_comm_agree(mg_new(&s->value, n, "values of u")));
  if (s->part.level->comm) MG_TRY(mg_solids_read_with_ghosts(s, s->value));
  for (int64_t c = 0; c < n && !of_solids; c++)
    if (mg_solids_mask(s, c) != MG_MASK_GIVEN) s->value[c] = 0.0;
  return mg_comm_agree(check_given(s));
}

/* --- right-hand side and solution ------------------------------------------------------ */

/* Removing a mean once leaves rounding of the mean, which no A u has. */
static mg_status_t set_rhs(mg_solids_t *s, double *shift) {
  double again;
  if (s->part.level->comm) MG_TRY(mg_part_read(s, &s->part, MG_PART_CELLS, MG_F));
  for (int64_t c = 0; c < s->part.n_cells; c++)
    if (!s->open[c]) s->cells[c] = 0.0;
  for (mg_link_t *l = s->link; l < s->link + s->n_links; l++) {
    if (l->cell < 0) continue;
    l->f = s->cells[l->cell];
    s->cells[l->cell] += mg_solids_coupling(s, l) * (s->value ? s->value[l->given] : 0.0);
  }
  MG_TRY(mg_pockets_set_mean(s, 0.0, true, shift));
  MG_TRY(mg_pockets_set_mean(s, 0.0, true, &again));
  return s->part.level->comm ? mg_part_write(s, &s->part, MG_PART_CELLS, MG_F) : MG_OK;
}

mg_status_t mg_solids_set_rhs(mg_hierarchy_t *h) {
  mg_solids_t *s = h->solids;
  double largest, shift = 0.0;
  MG_TRY(mg_comm_agree_or_end(set_rhs(s, &shift)));
  if (s->n_singular == 0 || s->warned) return MG_OK;
  MG_TRY(mg_world_norm(&h->level[0], MG_F, MG_NO_VECTOR, &largest));
  if (!(shift > 1e-6 * largest)) return MG_OK;
  s->warned = true;
  mg_warning("u is determined only up to a constant in %d separate part%s of the grid: subtracting "
             "the mean of f in each, up to %g",
             s->n_singular, s->n_singular == 1 ? "" : "s", shift);
  return MG_OK;
}

mg_status_t mg_solids_clear(mg_hierarchy_t *h, mg_vector_t vec) {
  mg_solids_t *s = h->solids;
  if (!s || !s->part.level->comm) return MG_OK;
  MG_TRY(mg_part_read(s, &s->part, MG_PART_CELLS, vec));
  for (int64_t c = 0; c < s->part.n_cells; c++)
    if (!s->open[c]) s->cells[c] = 0.0;
  return mg_part_write(s, &s->part, MG_PART_CELLS, vec);
}

static mg_status_t correct(mg_solids_t *s, double *constant) {
  const bool has_cells = s->part.level->comm != NULL;
  if (has_cells) MG_TRY(mg_part_read(s, &s->part, MG_PART_CELLS, MG_F));
  MG_TRY(mg_pockets_constants(s, constant));
  if (has_cells) MG_TRY(mg_part_read(s, &s->part, MG_PART_CELLS, MG_U));
  for (int64_t c = 0; c < s->part.n_cells; c++)
    if (s->pocket[c] >= 0) s->cells[c] += constant[s->pocket[c]];
  return has_cells ? mg_part_write(s, &s->part, MG_PART_CELLS, MG_U) : MG_OK;
}

mg_status_t mg_solids_correct(mg_hierarchy_t *h) {
  mg_solids_t *s = h->solids;
  double *constant;
  if (!s || s->n_pockets - s->n_singular < 2) return MG_OK;
  MG_TRY(mg_comm_agree(mg_new(&constant, s->n_pockets, "constants of pockets")));
  const mg_status_t status = mg_comm_agree_or_end(correct(s, constant));
  free(constant);
  return status;
}

static mg_status_t finish(mg_solids_t *s, double mean) {
  double shift;
  if (s->part.level->comm) MG_TRY(mg_part_read(s, &s->part, MG_PART_CELLS, MG_U));
  MG_TRY(mg_pockets_set_mean(s, mean, false, &shift));
  for (int64_t c = 0; c < s->part.n_cells; c++)
    if (!s->open[c]) s->cells[c] = s->value ? s->value[c] : 0.0;
  return s->part.level->comm ? mg_part_write(s, &s->part, MG_PART_CELLS, MG_U) : MG_OK;
}

mg_status_t mg_solids_finish(mg_hierarchy_t *h) {
  return h->solids ? mg_comm_agree_or_end(finish(h->solids, h->params.mean)) : MG_OK;
}

/* --- dumps ----------------------------------------------------------------------------- */

static int what_of(mg_vector_t vec) {
  return vec >= MG_BETA_I && vec <= MG_BETA_K ? MG_PART_FACES + (int)(vec - MG_BETA_I)
                                              : MG_PART_CELLS;
}

/* Links of a cell are undone in the reverse order. */
static void undo_links(const mg_solids_t *s, mg_vector_t vec) {
  for (const mg_link_t *l = s->link + s->n_links; l-- > s->link;)
    if (vec == MG_F && l->cell >= 0)
      s->cells[l->cell] = l->f;
    else if (vec == MG_ALPHA && l->cell >= 0)
      s->cells[l->cell] = l->alpha;
    else if (vec == MG_BETA_I + (mg_vector_t)l->d)
      s->cells[l->face] = l->beta;
}

static double mask_of(const mg_solids_t *s, int64_t cell) {
  return s->open[cell]                              ? MG_MASK_SOLVED
         : mg_solids_mask(s, cell) == MG_MASK_GIVEN ? MG_MASK_GIVEN
                                                    : MG_MASK_SOLID;
}

/* Whether a dump has another vector than level 0. */
static bool changes(const mg_solids_t *s, mg_vector_t vec) {
  return s && s->part.level->comm && vec != MG_TMP && vec != MG_DINV;
}

mg_status_t mg_solids_show(mg_hierarchy_t *h, mg_vector_t vec, bool mask) {
  mg_solids_t *s = h->solids;
  const int what = what_of(vec);
  if (!changes(s, vec)) return MG_OK;
  if (!s->shown) MG_TRY(mg_new((char **)&s->shown, (int64_t)s->bytes, "a copy of a field"));
  MG_TRY(mg_part_read(s, &s->part, what, vec));
  memcpy(s->shown, s->memory, s->bytes);
  undo_links(s, vec);
  for (int64_t c = 0; vec == MG_U && c < s->part.n_cells; c++)
    if (mask)
      s->cells[c] = mask_of(s, c);
    else if (!s->open[c])
      s->cells[c] = s->value ? s->value[c] : 0.0;
  return mg_part_write(s, &s->part, what, vec);
}

mg_status_t mg_solids_restore(mg_hierarchy_t *h, mg_vector_t vec) {
  mg_solids_t *s = h->solids;
  if (!changes(s, vec)) return MG_OK;
  memcpy(s->memory, s->shown, s->bytes);
  return mg_part_write(s, &s->part, what_of(vec), vec);
}

mg_status_t mg_solids_find_given(const mg_hierarchy_t *h, bool *found) {
  const mg_solids_t *s = h->solids;
  double any = 0.0;
  for (int64_t c = 0; s && any == 0.0 && c < s->part.n_cells; c++)
    any = mg_solids_mask(s, c) == MG_MASK_GIVEN;
  MG_TRY(mg_comm_max(mg_comm_world(), &any, 1));
  *found = any > 0.0;
  return MG_OK;
}
