/* Rings of planes in shared memory for the fv4 march (fv4/march.cu): loading planes, and filling
 * the ghosts outside walls in them.
 *
 * u and the betas arrive by asynchronous copies, one plane ahead. Each plane stores its even
 * columns apart from its odd ones, so lanes that read every second column have no bank conflicts.
 *
 * Ghosts outside walls are not read from memory. Those within a plane are evaluated in the ring
 * one step after the plane has arrived. The two planes outside a wall in k are computed when other
 * planes would be fetched. Edges use the usual order: k over j over i. */
#ifndef MG_CUDA_FV4_MARCH_RINGS_H
#define MG_CUDA_FV4_MARCH_RINGS_H

#include "cuda/runtime/shared_value.h"

namespace mg_fv4_rings {
enum {
  WIDTH = 32,
  HEIGHT = 16,
  PAIRS = WIDTH / 2, /* per row */
  THREADS = PAIRS * HEIGHT,
  WARPS = THREADS / 32,
  /* First the rows of even columns, -2 .. WIDTH, then all rows of odd columns, offset by half of
   * the banks. */
  COLUMNS = WIDTH + 4,
  PITCH = COLUMNS / 2,
  U_ROWS = HEIGHT + 4,
  I_ROWS = HEIGHT + 2,
  J_ROWS = HEIGHT + 1,
  K_ROWS = HEIGHT + 2,
  HALF = (U_ROWS * PITCH + 7) / 16 * 16 + 8,
  U_PLANE = HALF + U_ROWS * PITCH,
  BETA_PLANE = HALF + I_ROWS * PITCH,
  /* Planes per ring, relative to the current one: u -2..3, betas normal to i and j -1..2, betas
   * normal to k 0..2. The last plane is in flight. */
  U_SLOTS = 6,
  IJ_SLOTS = 4,
  K_SLOTS = 3,
  I_RING = U_SLOTS * U_PLANE,
  J_RING = I_RING + IJ_SLOTS * BETA_PLANE,
  K_RING = J_RING + IJ_SLOTS * BETA_PLANE,
  RINGS = K_RING + K_SLOTS * BETA_PLANE,
  BYTES = sizeof(mg_real_t)
};

extern __shared__ mg_real_t ring[];

/* Byte offsets of the planes, oldest first. */
struct slots_t {
  int u[U_SLOTS], ij[IJ_SLOTS], k[K_SLOTS];
};

static __device__ __forceinline__ slots_t first_slots(void) {
  slots_t s;
#pragma unroll
  for (int d = 0; d < U_SLOTS; d++)
    s.u[d] = d * U_PLANE * BYTES;
#pragma unroll
  for (int d = 0; d < IJ_SLOTS; d++)
    s.ij[d] = (I_RING + d * BETA_PLANE) * BYTES;
#pragma unroll
  for (int d = 0; d < K_SLOTS; d++)
    s.k[d] = (K_RING + d * BETA_PLANE) * BYTES;
  return s;
}

/* A value and a plane at a byte offset from the start of the rings. */
static __device__ __forceinline__ mg_real_t value_at(int bytes) {
  return *(const mg_real_t *)((const char *)ring + bytes);
}
static __device__ __forceinline__ mg_real_t *plane_at(int bytes) {
  return (mg_real_t *)((char *)ring + bytes);
}

/* Position of a column in a row; column 2 is the tile's first cell. */
static __device__ __forceinline__ int column(int c) {
  return (c & 1) * HALF + (c >> 1);
}

static __device__ __forceinline__ void fetch(int to_bytes, const mg_real_t *from) {
  mg_shared_fetch(mg_shared_address(ring) + (unsigned)to_bytes, from);
}

/* The columns of a block, and the rows and columns of u in it that are not outside walls. low_*
 * and high_* are the row or column of the first ghost outside a wall, or -1 without a wall. */
struct tile_t {
  int i0, j0;
  int row, row_end, col, col_end;
  int low_col, high_col, low_row, high_row;
  bool walls;
};

static __device__ __forceinline__ tile_t tile_at(const mg_patch_t *p, const int at[3]) {
  tile_t t;
  t.i0 = at[0] * WIDTH;
  t.j0 = at[1] * HEIGHT;
  const int i_left = p->n[0] - t.i0, j_left = p->n[1] - t.j0;
  t.low_col = p->wall[0][0] && t.i0 == 0 ? 1 : -1;
  t.low_row = p->wall[1][0] && t.j0 == 0 ? 1 : -1;
  t.high_col = p->wall[0][1] && i_left <= WIDTH ? i_left + 2 : -1;
  t.high_row = p->wall[1][1] && j_left <= HEIGHT ? j_left + 2 : -1;
  t.walls = t.low_col >= 0 || t.high_col >= 0 || t.low_row >= 0 || t.high_row >= 0;
  t.col = t.low_col >= 0 ? 2 : 0;
  t.row = t.low_row >= 0 ? 2 : 0;
  t.col_end = i_left + (p->wall[0][1] ? 2 : 4);
  t.row_end = j_left + (p->wall[1][1] ? 2 : 4);
  return t;
}

enum field_t { FIELD_U, FIELD_I, FIELD_J, FIELD_K, FIELDS };

/* A thread's share of each plane. For each field, it fetches its lane of every 32 columns in row
 * `warp` and in every WARPS-th row after it. For one field, it also fetches one position in the
 * columns beside the tile. The pointers refer to the next plane of each field. Ghosts outside
 * walls are fetched like other cells and overwritten afterwards. */
struct share_t {
  const mg_real_t *from[FIELDS], *side_from;
  int warp, to, side_to; /* byte offsets */
  int cols, rows;        /* columns from the thread's own on, rows of tile and halo; in memory */
  int side;              /* the field_t of side_from */
};

template <int ROWS, int BEFORE, int AFTER>
static __device__ __forceinline__ void assign_side(share_t *s, const tile_t *t, const mg_patch_t *p,
                                                   int q, field_t field, const mg_real_t *plane,
                                                   int first_row) {
  const int sides = BEFORE + AFTER, r = q / sides, which = q % sides;
  const int c = which < BEFORE ? 2 - BEFORE + which : 2 - BEFORE + which + WIDTH;
  const int i = t->i0 + c - 2, j = t->j0 + r + first_row;
  if (q < 0 || r >= ROWS || i >= p->n[0] + 2 || j >= p->n[1] + 2) return;
  s->side = field;
  s->side_from = plane + i + j * p->jstride;
  s->side_to = (r * PITCH + column(c)) * BYTES;
}

static __device__ __forceinline__ share_t share_of(const mg_fv4_job_t *job, const tile_t *t,
                                                   int k0) {
  const mg_patch_t *p = &job->l.p;
  const ptrdiff_t js = p->jstride, ks = p->kstride;
  const int lane = (int)threadIdx.x % 32;
  share_t s;
  s.warp = (int)threadIdx.x / 32;
  s.to = (s.warp * PITCH + column(lane + 2)) * BYTES;
  s.rows = p->n[1] + 4 - t->j0;
  s.cols = p->n[0] + 2 - t->i0 - lane;
  /* Planes -2 of u, -1 of the betas normal to i and j, 0 of those normal to k. */
  const mg_real_t *u = job->x + (k0 - 2) * ks, *bi = p->vec[MG_BETA_I] + (k0 - 1) * ks,
                  *bj = p->vec[MG_BETA_J] + (k0 - 1) * ks, *bk = p->vec[MG_BETA_K] + k0 * ks;
  const ptrdiff_t at = min(t->i0 + lane, p->n[0] + 1) + (t->j0 + s.warp) * js;
  s.from[FIELD_U] = u + at - 2 * js;
  s.from[FIELD_I] = bi + at - js;
  s.from[FIELD_J] = bj + at;
  s.from[FIELD_K] = bk + at - js;
  s.side = FIELDS;
  s.side_from = nullptr;
  s.side_to = 0;
  /* The first warps fetch the leftover rows, so the last warps fetch the sides. */
  const int q = THREADS - 1 - (int)threadIdx.x, q_i = q - 4 * U_ROWS, q_j = q_i - I_ROWS,
            q_k = q_j - 2 * J_ROWS;
  static_assert(4 * U_ROWS + I_ROWS + 2 * J_ROWS + 2 * K_ROWS <= THREADS, "one entry per thread");
  assign_side<U_ROWS, 2, 2>(&s, t, p, q, FIELD_U, u, -2);
  assign_side<I_ROWS, 0, 1>(&s, t, p, q_i, FIELD_I, bi, -1);
  assign_side<J_ROWS, 1, 1>(&s, t, p, q_j, FIELD_J, bj, 0);
  assign_side<K_ROWS, 1, 1>(&s, t, p, q_k, FIELD_K, bk, -1);
  return s;
}

/* Fetch the next plane of a field. Its first row is `before` rows before the tile's first cell. */
template <field_t field, int ROWS, int before>
static __device__ __forceinline__ void fetch_plane(share_t *s, const mg_patch_t *p, int to) {
  const mg_real_t *from = s->from[field];
#pragma unroll
  for (int r = 0; r < ROWS; r += WARPS) {
    if (s->warp + r < min(ROWS, s->rows - 2 + before)) {
      fetch(to + s->to + r * PITCH * BYTES, from);
#pragma unroll
      for (int c = 32; c < WIDTH; c += 32)
        if (c < s->cols) fetch(to + s->to + (r * PITCH + c / 2) * BYTES, from + c);
    }
    from += WARPS * p->jstride;
  }
  s->from[field] += p->kstride;
  if (s->side != field) return;
  fetch(to + s->side_to, s->side_from);
  s->side_from += p->kstride;
}

static __device__ __forceinline__ void fetch_u(share_t *s, const mg_patch_t *p, int to) {
  fetch_plane<FIELD_U, U_ROWS, 2>(s, p, to);
}

static __device__ __forceinline__ void fetch_ij(share_t *s, const mg_patch_t *p, int to) {
  fetch_plane<FIELD_I, I_ROWS, 1>(s, p, to);
  fetch_plane<FIELD_J, J_ROWS, 0>(s, p, to + (J_RING - I_RING) * BYTES);
}

static __device__ __forceinline__ void fetch_k(share_t *s, const mg_patch_t *p, int to) {
  fetch_plane<FIELD_K, K_ROWS, 1>(s, p, to);
}

/* Skip planes of u; negative to go back. */
static __device__ __forceinline__ void skip_u(share_t *s, const mg_patch_t *p, int planes) {
  s->from[FIELD_U] += planes * p->kstride;
  if (s->side == FIELD_U) s->side_from += planes * p->kstride;
}

/* Ghosts of a row outside a wall in i: the first ghost is in column g. */
static __device__ __forceinline__ mg_real_t first_ghost(const mg_real_t *row, int g, int in) {
  return mg_ghost_4(1, row[column(g + in)], row[column(g + 2 * in)], row[column(g + 3 * in)],
                    row[column(g + 4 * in)]);
}

static __device__ __forceinline__ void fill_row(mg_real_t *row, int g, int in) {
  const mg_real_t first = first_ghost(row, g, in),
                  second = mg_ghost_4(2, row[column(g + in)], row[column(g + 2 * in)],
                                      row[column(g + 3 * in)], row[column(g + 4 * in)]);
  row[column(g)] = first;
  row[column(g - in)] = second;
}

/* Ghosts of a column outside a wall in j: `first` is the first ghost, `in` the inward step. */
static __device__ __forceinline__ void fill_column(mg_real_t *first, int in) {
  const mg_real_t x1 = first[in], x2 = first[2 * in], x3 = first[3 * in], x4 = first[4 * in];
  first[0] = mg_ghost_4(1, x1, x2, x3, x4);
  first[-in] = mg_ghost_4(2, x1, x2, x3, x4);
}

/* The first ghost outside two walls; `row` points to the ghost's row. */
static __device__ __forceinline__ void fill_corner(mg_real_t *row, int g, int in, int row_in) {
  mg_real_t x[4];
  for (int c = 0; c < 4; c++)
    x[c] = first_ghost(row + (c + 1) * row_in, g, in);
  row[column(g)] = mg_ghost_4(1, x[0], x[1], x[2], x[3]);
}

/* Fill a plane's ghosts outside the walls in i and j. */
static __device__ void fill_ghosts_ij(mg_real_t *plane, const tile_t *t) {
  for (int q = (int)threadIdx.x; q < 2 * U_ROWS + 2 * COLUMNS + 4; q += THREADS) {
    if (q < 2 * U_ROWS) {
      const int r = q / 2, g = q % 2 ? t->high_col : t->low_col;
      if (g >= 0 && r >= t->row && r < t->row_end) fill_row(plane + r * PITCH, g, 1 - q % 2 * 2);
    } else if (q < 2 * U_ROWS + 2 * COLUMNS) {
      const int c = (q - 2 * U_ROWS) / 2, g = q % 2 ? t->high_row : t->low_row;
      if (g >= 0 && c >= t->col && c < t->col_end)
        fill_column(plane + g * PITCH + column(c), q % 2 ? -PITCH : PITCH);
    } else {
      const int g = q % 2 ? t->high_col : t->low_col, r = q & 2 ? t->high_row : t->low_row;
      if (g >= 0 && r >= 0)
        fill_corner(plane + r * PITCH, g, q % 2 ? -1 : 1, q & 2 ? -PITCH : PITCH);
    }
  }
}

/* Compute the plane at `depth` outside a wall in k from the four planes before it, nearest first.
 * `faces` selects the ghosts outside no other wall, `edges` those outside another one. */
static __device__ void fill_ghost_plane(int to, int from1, int from2, int from3, int from4,
                                        const tile_t *t, int depth, bool faces, bool edges) {
  const mg_real_t *x1 = plane_at(from1), *x2 = plane_at(from2), *x3 = plane_at(from3),
                  *x4 = plane_at(from4);
  mg_real_t *x = plane_at(to);
  for (int q = (int)threadIdx.x; q < 2 * U_ROWS * PITCH; q += THREADS) {
    const int odd = q / (U_ROWS * PITCH), in_half = q % (U_ROWS * PITCH);
    const int r = in_half / PITCH, c = 2 * (in_half % PITCH) + odd, at = odd * HALF + in_half;
    const bool face = r >= t->row && r < t->row_end && c >= t->col && c < t->col_end;
    if (face ? !faces : !edges) continue;
    x[at] = depth == 1 ? mg_ghost_4(1, x1[at], x2[at], x3[at], x4[at])
                       : mg_ghost_4(2, x1[at], x2[at], x3[at], x4[at]);
  }
}

/* Fetch all planes needed before the loop. The loop waits for those not waited for here. */
static __device__ __forceinline__ void fill_rings(const mg_patch_t *p, const tile_t *t, share_t *s,
                                                  int k0) {
  const bool low = p->wall[2][0] && k0 == 0;
  const int first = low ? 2 : 0, end = low ? 6 : 5;
  if (low) skip_u(s, p, 2);
#pragma unroll 1
  for (int d = first; d < end; d++)
    fetch_u(s, p, d * U_PLANE * BYTES);
#pragma unroll 1
  for (int d = 0; d < 3; d++)
    fetch_ij(s, p, (I_RING + d * BETA_PLANE) * BYTES);
#pragma unroll 1
  for (int d = 0; d < 2; d++)
    fetch_k(s, p, (K_RING + d * BETA_PLANE) * BYTES);
  if (!t->walls && !low) return;
  mg_shared_fetch_wait();
  __syncthreads();
  if (t->walls)
#pragma unroll 1
    for (int d = low ? 2 : 1; d < end - 1 + low; d++)
      fill_ghosts_ij(ring + d * U_PLANE, t);
  if (!low) return;
  /* The first step fetches its plane again. */
  skip_u(s, p, -1);
  __syncthreads();
  const int plane = U_PLANE * BYTES;
  fill_ghost_plane(plane, 2 * plane, 3 * plane, 4 * plane, 5 * plane, t, 1, true, true);
  fill_ghost_plane(0, 2 * plane, 3 * plane, 4 * plane, 5 * plane, t, 2, true, false);
}

/* While plane k is computed, fetch the data of the next plane and fill its ghosts. */
static __device__ __forceinline__ void prepare_next(const mg_patch_t *p, const tile_t *t,
                                                    share_t *s, const slots_t *to, int k) {
  const int depth = p->wall[2][1] ? k + 4 - p->n[2] : 0; /* of plane k + 3 outside the wall */
  fetch_ij(s, p, to->ij[3]);
  fetch_k(s, p, to->k[2]);
  if (depth <= 0) fetch_u(s, p, to->u[5]);
  if (t->walls && depth <= 1) fill_ghosts_ij(plane_at(to->u[4]), t);
  /* The plane at the wall is k + 2 if depth == 1, k + 1 if depth == 2. */
  if (depth == 1)
    fill_ghost_plane(to->u[5], to->u[4], to->u[3], to->u[2], to->u[1], t, 1, true, false);
  if (depth != 2) return;
  fill_ghost_plane(to->u[5], to->u[3], to->u[2], to->u[1], to->u[0], t, 2, true, false);
  if (t->walls)
    fill_ghost_plane(to->u[4], to->u[3], to->u[2], to->u[1], to->u[0], t, 1, false, true);
}
} // namespace mg_fv4_rings

#endif
