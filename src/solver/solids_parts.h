/* Internal to src/solver/: cells and faces of levels on the host. */
#ifndef MG_SOLIDS_PARTS_H
#define MG_SOLIDS_PARTS_H

#include "level/metric.h"
#include "solver/solids.h"

/** Numbers of a patch's first cell, of its first ghost at each side, low and high, in i, j and k
 *  (-1: a wall), and of its first face in each direction. Numbers of cells follow patch by patch, i
 *  fastest; ghosts come after all cells; a patch has one more face in their direction than cells.
 */
typedef struct {
  int64_t cell, ghost[3][2], face[3];
} mg_first_t;

/** This rank's part of a level. */
typedef struct {
  mg_level_t *level;
  mg_first_t *first; /**< of each patch */
  int64_t n_cells, n_ghosts, n_faces[3];
} mg_part_t;

/** A cell's open face in direction d between a solved cell and a given one. */
typedef struct {
  int64_t cell, given; /**< the solved one, and the other one, which may be a ghost; cell -1: the
                          cell itself is the given one */
  int64_t face;
  int d;
  double beta;
  double alpha, f; /**< of the cell, before the face added its coupling */
} mg_link_t;

struct mg_solids {
  mg_part_t part; /**< of level 0 */
  void *memory;   /**< that operations of the backend access: copies of vectors are in it */
  size_t bytes;
  double *cells;  /**< the copy of a vector of level 0 */
  uint8_t *mask;  /**< of cells and ghosts; NULL: all are solved */
  uint8_t *open;  /**< of cells: bit 2 d + side is set if that face is open; 0:
                     outside */
  bool has_given; /**< the mask has given cells, here or in ghosts */
  double *value;  /**< of cells and ghosts: u outside; NULL: 0 */
  mg_link_t *link;
  int64_t n_links;
  mg_metric_t volume;
  int n_pockets;   /**< of all ranks, unless a Dirichlet side or a given cell fixes u */
  int n_singular;  /**< of these */
  int32_t *pocket; /**< of cells: number of the pocket, or -1; NULL: there are none */
  double *weight;  /**< of pockets: the volume */
  double *alpha;   /**< of pockets: the sum; 0: singular */
  void *shown;     /**< copy of a vector that mg_solids_show has changed */
  double *divided; /**< of pockets: above 0 if several ranks have cells of it */
  bool warned;     /**< of means that were removed */
};

/** Bit of mg_solids.open: a face to a given cell. */
enum { MG_OPEN_TO_GIVEN = 1 << 6 };

/** What to copy: MG_PART_FACES + d for those in direction d. */
enum { MG_PART_CELLS, MG_PART_GHOSTS, MG_PART_FACES };

/** Copy cells, ghosts or faces of a vector to solids->memory, or back. Not collective. */
MG_MUST_CHECK mg_status_t mg_part_read(mg_solids_t *s, const mg_part_t *part, int what,
                                       mg_vector_t vec);
MG_MUST_CHECK mg_status_t mg_part_write(mg_solids_t *s, const mg_part_t *part, int what,
                                        mg_vector_t vec);

/** Number a rank's cells of a level. Free part->first.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_part_number(mg_level_t *level, mg_part_t *part);

/** A value in solids->memory, of a level whose cells may be floats. */
double mg_part_get(const mg_solids_t *s, const mg_part_t *part, int64_t at);
void mg_part_put(mg_solids_t *s, const mg_part_t *part, int64_t at, double x);

/** Create h->solids if there are none. Collective over the world. */
MG_MUST_CHECK mg_status_t mg_solids_create(mg_hierarchy_t *h);

/** The mask of a cell or ghost, or beyond a wall, whose number is -1. */
static inline int mg_solids_mask(const mg_solids_t *s, int64_t cell) {
  return s->mask && cell >= 0 ? s->mask[cell] : MG_MASK_SOLVED;
}

static inline double mg_solids_coupling(const mg_solids_t *s, const mg_link_t *l) {
  return s->part.level->store.view.b_h2 * l->beta;
}

/** Fill the face ghosts of MG_U of level 0, and copy cells and ghosts to values[0 ..]. */
MG_MUST_CHECK mg_status_t mg_solids_read_with_ghosts(mg_solids_t *s, double *values);

/** A cell of this rank. For each one, by number:
 *  for (mg_at_t c = mg_part_begin(part); mg_part_next(&c);) */
typedef struct {
  const mg_part_t *part;
  int q; /**< its patch */
  const mg_patch_t *p;
  int64_t number;
  int32_t i[3]; /**< in the patch */
} mg_at_t;

static inline mg_at_t mg_part_begin(const mg_part_t *part) {
  return (mg_at_t){part, 0, part->level->store.view.patch, -1, {-1, 0, 0}};
}

static inline bool mg_part_next(mg_at_t *c) {
  if (++c->number == c->part->n_cells) return false;
  if (++c->i[0] < c->p->n[0]) return true;
  c->i[0] = 0;
  if (++c->i[1] < c->p->n[1]) return true;
  c->i[1] = 0;
  if (++c->i[2] < c->p->n[2]) return true;
  c->i[2] = 0;
  c->q++;
  c->p++;
  return true;
}

/** Whether the neighbor across a side is another patch's, or none. */
static inline bool mg_part_ends(const mg_at_t *c, int d, int side) {
  return side == 0 ? c->i[d] == 0 : c->i[d] == c->p->n[d] - 1;
}

/** Number of the neighbor across a side: a cell, a ghost, or -1 beyond a wall. */
static inline int64_t mg_part_neighbor(const mg_at_t *c, int d, int side) {
  const int64_t stride[3] = {1, c->p->n[0], (int64_t)c->p->n[0] * c->p->n[1]};
  const int32_t next = c->i[d] + (side == 0 ? -1 : 1);
  if (next >= 0 && next < c->p->n[d]) return c->number + (side == 0 ? -stride[d] : stride[d]);
  const int64_t ghosts = c->part->first[c->q].ghost[d][side];
  const int e0 = d == 0 ? 1 : 0, e1 = d == 2 ? 1 : 2;
  return ghosts < 0 ? -1 : ghosts + c->i[e0] + (int64_t)c->p->n[e0] * c->i[e1];
}

/** Number of a face. */
static inline int64_t mg_part_face(const mg_at_t *c, int d, int side) {
  const int64_t n0 = c->p->n[0] + (d == 0), n1 = c->p->n[1] + (d == 1);
  const int32_t i = c->i[0] + (d == 0 ? side : 0), j = c->i[1] + (d == 1 ? side : 0),
                k = c->i[2] + (d == 2 ? side : 0);
  return c->part->first[c->q].face[d] + i + n0 * (j + n1 * k);
}

/** Find the pockets, once s->open and MG_ALPHA are set. Overwrites MG_U of level 0. */
MG_MUST_CHECK mg_status_t mg_pockets_find(mg_hierarchy_t *h);

/** The constant in each pocket whose A u has the sum of s->cells, a residual; 0 in singular ones,
 * and in those that have no cells here. */
MG_MUST_CHECK mg_status_t mg_pockets_constants(const mg_solids_t *s, double *constant);

/** Set the mean of s->cells in each singular pocket.
 *  @param[in] is_f    cells are stored times their volume
 *  @param[out] shift  the largest mean that was removed */
MG_MUST_CHECK mg_status_t mg_pockets_set_mean(mg_solids_t *s, double mean, bool is_f,
                                              double *shift);

#endif
