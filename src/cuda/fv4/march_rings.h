/* Rings of planes in shared memory (fv4/planes.h) for the fv4 march (fv4/march.cu): loading planes,
 * and when ghosts are filled.
 *
 * u and the betas arrive by asynchronous copies, one plane ahead. Each plane stores its even
 * columns apart from its odd ones, so lanes that read every second column have no bank conflicts.
 *
 * Ghosts within a plane are evaluated one step after it has arrived. The two planes outside a wall
 * in k are computed when other planes would be fetched. */
#ifndef MG_CUDA_FV4_MARCH_RINGS_H
#define MG_CUDA_FV4_MARCH_RINGS_H

#include "cuda/fv4/planes.h"
#include "cuda/runtime/shared_value.h"

namespace mg_fv4_rings {
using namespace mg_fv4_planes;
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
  RINGS = K_RING + K_SLOTS * BETA_PLANE
};

struct slots_t {
  mg_ring_t<U_SLOTS, U_PLANE * COL> u;
  mg_ring_t<IJ_SLOTS, BETA_PLANE * COL> ij;
  mg_ring_t<K_SLOTS, BETA_PLANE * COL> k;

  __device__ __forceinline__ slots_t() {
    u.begin(0);
    ij.begin(I_RING * COL);
    k.begin(K_RING * COL);
  }
  __device__ __forceinline__ void next(void) {
    u.next();
    ij.next();
    k.next();
  }
};

/* Position of a column in a row; column 2 is the tile's first cell. */
static __device__ __forceinline__ int column(int c) {
  return ((c & 1) * HALF + (c >> 1)) * COL;
}

/* The planes of u: see planes_t. */
struct layout_t {
  static constexpr int OUT_I = WIDTH, OUT_J = HEIGHT, COL0 = 2, ROW0 = 2,
                       COLUMNS = mg_fv4_rings::COLUMNS, ROWS = U_ROWS, ROW = PITCH * COL,
                       THREADS = mg_fv4_rings::THREADS;
  static __device__ __forceinline__ int column(int c) { return mg_fv4_rings::column(c); }
};
typedef planes_t<layout_t> box_t;
constexpr int ROW = layout_t::ROW;

static __device__ __forceinline__ void fetch(int to_bytes, const mg_real_t *from) {
  mg_shared_fetch(mg_shared_address(rings) + (unsigned)to_bytes, from);
}

/* The columns of a block. */
struct tile_t : walls_t {
  int i0, j0;
};

static __device__ __forceinline__ tile_t tile_at(const mg_patch_t *p, const int at[3]) {
  tile_t t;
  t.i0 = at[0] * WIDTH;
  t.j0 = at[1] * HEIGHT;
  box_t::find_walls(*p, t.i0, t.j0, &t);
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
  s->side_to = r * ROW + column(c);
}

static __device__ __forceinline__ share_t share_of(const mg_fv4_job_t *job, const tile_t *t,
                                                   int k0) {
  const mg_patch_t *p = &job->l.p;
  const ptrdiff_t js = p->jstride, ks = p->kstride;
  const int lane = (int)threadIdx.x % 32;
  share_t s;
  s.warp = (int)threadIdx.x / 32;
  s.to = s.warp * ROW + column(lane + 2);
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
      fetch(to + s->to + r * ROW, from);
#pragma unroll
      for (int c = 32; c < WIDTH; c += 32)
        if (c < s->cols) fetch(to + s->to + r * ROW + c / 2 * COL, from + c);
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
  fetch_plane<FIELD_J, J_ROWS, 0>(s, p, to + (J_RING - I_RING) * COL);
}

static __device__ __forceinline__ void fetch_k(share_t *s, const mg_patch_t *p, int to) {
  fetch_plane<FIELD_K, K_ROWS, 1>(s, p, to);
}

/* Skip planes of u; negative to go back. */
static __device__ __forceinline__ void skip_u(share_t *s, const mg_patch_t *p, int planes) {
  s->from[FIELD_U] += planes * p->kstride;
  if (s->side == FIELD_U) s->side_from += planes * p->kstride;
}

/* A row that ends at a wall: see line_t. */
struct row_t {
  int row, ghost, in;
  __device__ __forceinline__ int at(int n) const { return row + column(ghost + n * in); }
};

/* Fill a plane's ghosts outside the walls in i and j. */
static __device__ void fill_ghosts_ij(int plane, const tile_t *t) {
  for (int q = (int)threadIdx.x; q < 2 * U_ROWS + 2 * COLUMNS + 4; q += THREADS) {
    if (q < 2 * U_ROWS) {
      const int r = q / 2, g = q % 2 ? t->high_col : t->low_col;
      if (g >= 0 && r >= t->row && r < t->row_end)
        fill_line(row_t{plane + r * ROW, g, 1 - q % 2 * 2});
    } else if (q < 2 * U_ROWS + 2 * COLUMNS) {
      const int c = (q - 2 * U_ROWS) / 2, g = q % 2 ? t->high_row : t->low_row;
      if (g >= 0 && c >= t->col && c < t->col_end)
        fill_line(line_t{plane + g * ROW + column(c), q % 2 ? -ROW : ROW});
    } else {
      const int g = q % 2 ? t->high_col : t->low_col, r = q & 2 ? t->high_row : t->low_row;
      if (g >= 0 && r >= 0)
        fill_corner(row_t{plane + r * ROW, g, 1 - q % 2 * 2}, q & 2 ? -ROW : ROW);
    }
  }
}

/* Fetch all planes needed before the loop. The loop waits for those not waited for here. */
static __device__ __forceinline__ void fill_rings(const mg_patch_t *p, const tile_t *t, share_t *s,
                                                  const slots_t &to, int k0) {
  const bool low = p->wall[2][0] && k0 == 0;
  const int first = low ? 2 : 0, end = low ? 6 : 5;
  if (low) skip_u(s, p, 2);
#pragma unroll 1
  for (int d = first; d < end; d++)
    fetch_u(s, p, d * U_PLANE * COL);
#pragma unroll 1
  for (int d = 0; d < 3; d++)
    fetch_ij(s, p, (I_RING + d * BETA_PLANE) * COL);
#pragma unroll 1
  for (int d = 0; d < 2; d++)
    fetch_k(s, p, (K_RING + d * BETA_PLANE) * COL);
  if (!t->walls && !low) return;
  mg_shared_fetch_wait();
  __syncthreads();
  if (t->walls)
#pragma unroll 1
    for (int d = low ? 2 : 1; d < end - 1 + low; d++)
      fill_ghosts_ij(d * U_PLANE * COL, t);
  if (!low) return;
  /* The first step fetches its plane again. */
  skip_u(s, p, -1);
  __syncthreads();
  box_t::fill_low(to.u, *t);
}

/* While plane k is computed, fetch the data of the next plane and fill its ghosts. */
static __device__ __forceinline__ void prepare_next(const mg_patch_t *p, const tile_t *t,
                                                    share_t *s, const slots_t *to, int k) {
  const int left = p->wall[2][1] ? p->n[2] - k : 4;
  fetch_ij(s, p, to->ij[3]);
  fetch_k(s, p, to->k[2]);
  if (left > 3) fetch_u(s, p, to->u[5]);
  if (t->walls && left > 2) fill_ghosts_ij(to->u[4], t);
  box_t::fill_high(to->u, *t, left);
}
} // namespace mg_fv4_rings

#endif
