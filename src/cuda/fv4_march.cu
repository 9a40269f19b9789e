/* fv4 on patches that fill the device: a block owns 32 x 16 columns and marches in k.
 *
 * A thread has a pair of cells, 2m and 2m+1 of a row. GSRB updates one of them and copies the other
 * through, so that all lanes work; the other operations take both and share what both read. u and
 * the betas pass through rings of planes in shared memory, filled by asynchronous copies one plane
 * ahead. The even columns of a plane stand apart from the odd ones: lanes that read every second
 * column meet no bank twice. f and 1/diagonal are read once, a plane ahead, into registers.
 *
 * Ghosts outside walls are not read from memory. Those of a plane are evaluated in the ring in the
 * step after it has arrived; the two planes beyond a wall in k are made where others are fetched.
 * Edges go k over j over i, as everywhere.
 *
 * Bytes per cell: GSRB 56, Chebyshev 64, residual 48, as a norm 40, restricted 41. An F-cycle with
 * GSRB, and with Chebyshev, on an H200, GDOF/s at 512^3, 256^3 and 128^3, by the tile and the
 * blocks on a multiprocessor:
 *
 *     32 x 16, 2   3.04 2.28 0.98   2.41 1.84 0.88     32 x 8, 4   2.20 1.79 0.90   2.01 1.63 0.83
 *     32 x 8, 3    2.80 2.04 0.91   2.30 1.70 0.81     64 x 8, 2   2.50 1.99 0.93   2.18 1.74 0.84
 *     one thread a cell   1.54 1.17 0.43
 *
 * A fourth block of 32 x 8 leaves 28 KB of L1 cache instead of 60, and copies under way need lines
 * there: probably why it loses. Wider rows take a second copy a row with a guard of its own.
 * Registers: 124 to 128; the restricted residual spills one. */
#include "fv4.h"
#include "parts.h"

enum {
  WIDTH = 32,
  HEIGHT = 16,
  BLOCKS = 2,        /* of a multiprocessor, where it has shared memory for both */
  PAIRS = WIDTH / 2, /* of a row */
  THREADS = PAIRS * HEIGHT,
  WARPS = THREADS / 32,
  /* Rows of even columns, -2 .. WIDTH, and after them all rows of odd ones, which start half of the
   * banks further on. */
  COLUMNS = WIDTH + 4,
  PITCH = COLUMNS / 2,
  U_ROWS = HEIGHT + 4,
  I_ROWS = HEIGHT + 2,
  J_ROWS = HEIGHT + 1,
  K_ROWS = HEIGHT + 2,
  HALF = (U_ROWS * PITCH + 7) / 16 * 16 + 8,
  U_PLANE = HALF + U_ROWS * PITCH,
  BETA_PLANE = HALF + I_ROWS * PITCH,
  /* Planes of a ring: of u -2..3 seen from the current one, of the betas normal to i and j -1..2,
   * to k 0..2. The last is under way. */
  U_SLOTS = 6,
  IJ_SLOTS = 4,
  K_SLOTS = 3,
  I_RING = U_SLOTS * U_PLANE,
  J_RING = I_RING + IJ_SLOTS * BETA_PLANE,
  K_RING = J_RING + IJ_SLOTS * BETA_PLANE,
  RINGS = K_RING + K_SLOTS * BETA_PLANE,
  /* MG_FV4_RESTRICT: the odd rows' sums of pairs, of the current plane and the one before. */
  SUMS = HEIGHT / 2 * PAIRS,
  BYTES = sizeof(double)
};

extern __shared__ double ring[];

/** Where the planes lie, in bytes, the oldest first. */
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

template <int n> static __device__ __forceinline__ void turn(int (&slot)[n]) {
  const int oldest = slot[0];
#pragma unroll
  for (int d = 0; d + 1 < n; d++)
    slot[d] = slot[d + 1];
  slot[n - 1] = oldest;
}

/** A value, and a plane, at bytes from the start of the rings. */
static __device__ __forceinline__ double value_at(int bytes) {
  return *(const double *)((const char *)ring + bytes);
}
static __device__ __forceinline__ double *plane_at(int bytes) {
  return (double *)((char *)ring + bytes);
}

/** A column's place in a row; column 2 is the tile's first cell. */
static __device__ __forceinline__ int spot(int c) {
  return (c & 1) * HALF + (c >> 1);
}

static __device__ __forceinline__ void fetch(int to_bytes, const double *from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(
                   (unsigned)__cvta_generic_to_shared(ring) + (unsigned)to_bytes),
               "l"(from)
               : "memory");
#else
  *plane_at(to_bytes) = *from;
#endif
}

static __device__ __forceinline__ void fetch_wait(void) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/** A block's columns; which rows and columns of u are not beyond walls there; and the first ghost's
 *  row or column where it lies at a wall, -1 elsewhere. */
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

/** What a thread fetches of each plane: of each field its lane of every 32 columns in the rows
 * `warp`,
 *  + WARPS, ...; and of one field a place in the columns beside the tile. The pointers are into the
 *  next plane of each field. Ghosts beyond walls are fetched with the rest, and filled after that.
 */
struct share_t {
  const double *from[FIELDS], *side_from;
  int warp, to, side_to; /* places in bytes */
  int cols, rows;        /* from its own column on, and of the tile and its rim, in memory */
  int side;              /* a field */
};

template <int ROWS, int BEFORE, int BEHIND>
static __device__ __forceinline__ void take_side(share_t *s, const tile_t *t, const mg_patch_t *p,
                                                 int q, field_t field, const double *plane,
                                                 int first_row) {
  const int sides = BEFORE + BEHIND, r = q / sides, which = q % sides;
  const int c = which < BEFORE ? 2 - BEFORE + which : 2 - BEFORE + which + WIDTH;
  const int i = t->i0 + c - 2, j = t->j0 + r + first_row;
  if (q < 0 || r >= ROWS || i >= p->n[0] + 2 || j >= p->n[1] + 2) return;
  s->side = field;
  s->side_from = plane + i + j * p->jstride;
  s->side_to = (r * PITCH + spot(c)) * BYTES;
}

static __device__ __forceinline__ share_t share_of(const mg_fv4_job_t *job, const tile_t *t,
                                                   int k0) {
  const mg_patch_t *p = &job->l.p;
  const ptrdiff_t js = p->jstride, ks = p->kstride;
  const int lane = (int)threadIdx.x % 32;
  share_t s;
  s.warp = (int)threadIdx.x / 32;
  s.to = (s.warp * PITCH + spot(lane + 2)) * BYTES;
  s.rows = p->n[1] + 4 - t->j0;
  s.cols = p->n[0] + 2 - t->i0 - lane;
  /* The planes -2 of u, -1 of betas normal to i and j, 0 of those normal to k. */
  const double *u = job->x + (k0 - 2) * ks, *bi = p->vec[MG_BETA_I] + (k0 - 1) * ks,
               *bj = p->vec[MG_BETA_J] + (k0 - 1) * ks, *bk = p->vec[MG_BETA_K] + k0 * ks;
  const ptrdiff_t at = min(t->i0 + lane, p->n[0] + 1) + (t->j0 + s.warp) * js;
  s.from[FIELD_U] = u + at - 2 * js;
  s.from[FIELD_I] = bi + at - js;
  s.from[FIELD_J] = bj + at;
  s.from[FIELD_K] = bk + at - js;
  s.side = FIELDS;
  s.side_from = nullptr;
  s.side_to = 0;
  /* The first warps have the rows that are left over, so the last ones have the sides. */
  const int q = THREADS - 1 - (int)threadIdx.x, q_i = q - 4 * U_ROWS, q_j = q_i - I_ROWS,
            q_k = q_j - 2 * J_ROWS;
  static_assert(4 * U_ROWS + I_ROWS + 2 * J_ROWS + 2 * K_ROWS <= THREADS, "one place a thread");
  take_side<U_ROWS, 2, 2>(&s, t, p, q, FIELD_U, u, -2);
  take_side<I_ROWS, 0, 1>(&s, t, p, q_i, FIELD_I, bi, -1);
  take_side<J_ROWS, 1, 1>(&s, t, p, q_j, FIELD_J, bj, 0);
  take_side<K_ROWS, 1, 1>(&s, t, p, q_k, FIELD_K, bk, -1);
  return s;
}

/** The next plane of a field, whose first row is `before` rows before the tile's first cell. */
template <field_t field, int ROWS, int before>
static __device__ __forceinline__ void fetch_plane(share_t *s, const mg_patch_t *p, int to) {
  const double *from = s->from[field];
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

/** Leave planes of u out, or go back. */
static __device__ __forceinline__ void skip_u(share_t *s, const mg_patch_t *p, int planes) {
  s->from[FIELD_U] += planes * p->kstride;
  if (s->side == FIELD_U) s->side_from += planes * p->kstride;
}

/** Ghosts of a row beyond a wall in i: the first is column g. */
static __device__ __forceinline__ double first_beyond(const double *row, int g, int in) {
  return mg_wall4_first(row[spot(g + in)], row[spot(g + 2 * in)], row[spot(g + 3 * in)],
                        row[spot(g + 4 * in)]);
}

static __device__ __forceinline__ void fill_row(double *row, int g, int in) {
  const double first = first_beyond(row, g, in),
               second = mg_wall4_second(row[spot(g + in)], row[spot(g + 2 * in)],
                                        row[spot(g + 3 * in)], row[spot(g + 4 * in)]);
  row[spot(g)] = first;
  row[spot(g - in)] = second;
}

/** Ghosts of a column beyond a wall in j; `first` is the first one, `in` the way inward. */
static __device__ __forceinline__ void fill_column(double *first, int in) {
  const double x1 = first[in], x2 = first[2 * in], x3 = first[3 * in], x4 = first[4 * in];
  first[0] = mg_wall4_first(x1, x2, x3, x4);
  first[-in] = mg_wall4_second(x1, x2, x3, x4);
}

/** The first ghosts beyond two walls; `plane` at the ghost's row. */
static __device__ __forceinline__ void fill_corner(double *row, int g, int in, int row_in) {
  double x[4];
  for (int c = 0; c < 4; c++)
    x[c] = first_beyond(row + (c + 1) * row_in, g, in);
  row[spot(g)] = mg_wall4_first(x[0], x[1], x[2], x[3]);
}

/** A plane's ghosts beyond the walls in i and j. */
static __device__ void fill_sides(double *plane, const tile_t *t) {
  for (int q = (int)threadIdx.x; q < 2 * U_ROWS + 2 * COLUMNS + 4; q += THREADS) {
    if (q < 2 * U_ROWS) {
      const int r = q / 2, g = q % 2 ? t->high_col : t->low_col;
      if (g >= 0 && r >= t->row && r < t->row_end) fill_row(plane + r * PITCH, g, 1 - q % 2 * 2);
    } else if (q < 2 * U_ROWS + 2 * COLUMNS) {
      const int c = (q - 2 * U_ROWS) / 2, g = q % 2 ? t->high_row : t->low_row;
      if (g >= 0 && c >= t->col && c < t->col_end)
        fill_column(plane + g * PITCH + spot(c), q % 2 ? -PITCH : PITCH);
    } else {
      const int g = q % 2 ? t->high_col : t->low_col, r = q & 2 ? t->high_row : t->low_row;
      if (g >= 0 && r >= 0)
        fill_corner(plane + r * PITCH, g, q % 2 ? -1 : 1, q & 2 ? -PITCH : PITCH);
    }
  }
}

/** The plane at `depth` beyond a wall in k from the four planes before it, the nearest first: what
 *  lies beyond no other wall, or what does, or both. */
static __device__ void fill_beyond(int to, int from1, int from2, int from3, int from4,
                                   const tile_t *t, int depth, bool inside, bool sides) {
  const double *x1 = plane_at(from1), *x2 = plane_at(from2), *x3 = plane_at(from3),
               *x4 = plane_at(from4);
  double *x = plane_at(to);
  for (int q = (int)threadIdx.x; q < 2 * U_ROWS * PITCH; q += THREADS) {
    const int odd = q / (U_ROWS * PITCH), in_half = q % (U_ROWS * PITCH);
    const int r = in_half / PITCH, c = 2 * (in_half % PITCH) + odd, at = odd * HALF + in_half;
    const bool there = r >= t->row && r < t->row_end && c >= t->col && c < t->col_end;
    if (there ? !inside : !sides) continue;
    x[at] = depth == 1 ? mg_wall4_first(x1[at], x2[at], x3[at], x4[at])
                       : mg_wall4_second(x1[at], x2[at], x3[at], x4[at]);
  }
}

/** Everything that is needed before the loop but has not been waited for there. */
static __device__ __forceinline__ void begin(const mg_patch_t *p, const tile_t *t, share_t *s,
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
  fetch_wait();
  __syncthreads();
  if (t->walls)
#pragma unroll 1
    for (int d = low ? 2 : 1; d < end - 1 + low; d++)
      fill_sides(ring + d * U_PLANE, t);
  if (!low) return;
  /* The first step fetches its plane again. */
  skip_u(s, p, -1);
  __syncthreads();
  const int plane = U_PLANE * BYTES;
  fill_beyond(plane, 2 * plane, 3 * plane, 4 * plane, 5 * plane, t, 1, true, true);
  fill_beyond(0, 2 * plane, 3 * plane, 4 * plane, 5 * plane, t, 2, true, false);
}

/** While plane k is computed: fetch what the next one needs, and fill its ghosts. */
static __device__ __forceinline__ void prepare_next(const mg_patch_t *p, const tile_t *t,
                                                    share_t *s, const slots_t *to, int k) {
  const int beyond = p->wall[2][1] ? k + 4 - p->n[2] : 0; /* depth of plane k + 3 */
  fetch_ij(s, p, to->ij[3]);
  fetch_k(s, p, to->k[2]);
  if (beyond <= 0) fetch_u(s, p, to->u[5]);
  if (t->walls && beyond <= 1) fill_sides(plane_at(to->u[4]), t);
  /* The plane at the wall is k + 2, and then k + 1. */
  if (beyond == 1) fill_beyond(to->u[5], to->u[4], to->u[3], to->u[2], to->u[1], t, 1, true, false);
  if (beyond != 2) return;
  fill_beyond(to->u[5], to->u[3], to->u[2], to->u[1], to->u[0], t, 2, true, false);
  if (t->walls) fill_beyond(to->u[4], to->u[3], to->u[2], to->u[1], to->u[0], t, 1, false, true);
}

/** A x at the column whose place is e, and that of the next one o, in bytes from the first row. */
static __device__ __forceinline__ double apply(const slots_t *s, int e, int o, double a,
                                               double b_h2) {
  const int P = PITCH * BYTES, C = BYTES;
  int u[5], i[3], j[3], k[2];
#pragma unroll
  for (int d = 0; d < 5; d++)
    u[d] = s->u[d] + 2 * P;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    i[d] = s->ij[d] + P;
    j[d] = s->ij[d] + (J_RING - I_RING) * BYTES;
  }
#pragma unroll
  for (int d = 0; d < 2; d++)
    k[d] = s->k[d] + P;
#define V(at) value_at(at)
  const mg_values25_t x = {
      V(u[2] + e),
      {{V(u[2] + e - C), V(u[2] + o - C), V(u[2] + o), V(u[2] + e + C)},
       {V(u[2] + e - 2 * P), V(u[2] + e - P), V(u[2] + e + P), V(u[2] + e + 2 * P)},
       {V(u[0] + e), V(u[1] + e), V(u[3] + e), V(u[4] + e)}},
      {{{V(u[2] + o - C - P), V(u[2] + o - C + P)}, {V(u[2] + o - P), V(u[2] + o + P)}},
       {{V(u[1] + o - C), V(u[3] + o - C)}, {V(u[1] + o), V(u[3] + o)}},
       {{V(u[1] + e - P), V(u[3] + e - P)}, {V(u[1] + e + P), V(u[3] + e + P)}}}};
  const mg_betas30_t b = {
      {{V(i[1] + e), V(i[1] + o)}, {V(j[1] + e), V(j[1] + e + P)}, {V(k[0] + e), V(k[1] + e)}},
      {{{{V(i[1] + e - P), V(i[1] + e + P)}, {V(i[1] + o - P), V(i[1] + o + P)}},
        {{V(i[0] + e), V(i[2] + e)}, {V(i[0] + o), V(i[2] + o)}}},
       {{{V(j[1] + o - C), V(j[1] + o)}, {V(j[1] + o - C + P), V(j[1] + o + P)}},
        {{V(j[0] + e), V(j[2] + e)}, {V(j[0] + e + P), V(j[2] + e + P)}}},
       {{{V(k[0] + o - C), V(k[0] + o)}, {V(k[1] + o - C), V(k[1] + o)}},
        {{V(k[0] + e - P), V(k[0] + e + P)}, {V(k[1] + e - P), V(k[1] + e + P)}}}}};
#undef V
  return mg_apply_values25(&x, &b, a, b_h2);
}

/** What is read once: of both cells, or of the one of the colour. */
struct inputs_t {
  double2 f, dinv, previous, a; /* a: where alpha varies */
};

template <mg_fv4_operation_t op, bool varies>
static __device__ __forceinline__ inputs_t read_inputs(const mg_fv4_job_t *job, ptrdiff_t at,
                                                       int phase) {
  const double2 zero = make_double2(0.0, 0.0);
  const double *alpha = job->l.p.vec[MG_ALPHA];
  inputs_t in = {zero, zero, zero, zero};
  if (op == MG_FV4_GSRB) {
    in.f.x = job->f[at + phase];
    in.dinv.x = job->dinv[at + phase];
    if (varies) in.a.x = alpha[at + phase];
    return in;
  }
  /* Rows start on 128-byte lines, so a pair is 16-byte aligned. */
  if (varies) in.a = *(const double2 *)(alpha + at);
  if (job->f) in.f = *(const double2 *)(job->f + at);
  if (op == MG_FV4_POLYNOMIAL) {
    in.dinv = *(const double2 *)(job->dinv + at);
    if (job->previous) in.previous = *(const double2 *)(job->previous + at);
  }
  return in;
}

/** A pair, its even cell at `place` of a plane in bytes from the first row: both cells, or that of
 *  the colour and the other copied. */
template <mg_fv4_operation_t op, bool varies>
static __device__ __forceinline__ double2 pair_result(const mg_fv4_job_t *job, const slots_t *s,
                                                      int place, int phase, const inputs_t *in) {
  const double b_h2 = job->l.v.b_h2, first_a = varies ? in->a.x : job->l.v.a,
               second_a = varies ? in->a.y : job->l.v.a;
  const int even = place, odd = place + HALF * BYTES, u = s->u[2] + 2 * PITCH * BYTES;
  if (op == MG_FV4_GSRB) {
    const int e = phase ? odd : even, o = phase ? even + BYTES : odd;
    const double x = value_at(u + e), other = value_at(u + (phase ? even : odd));
    const double ax = apply(s, e, o, first_a, b_h2);
    const double new_x = mg_fv4_result<op>(*job, x, ax, in->f.x, in->dinv.x, 0.0);
    return phase ? make_double2(other, new_x) : make_double2(new_x, other);
  }
  double2 r;
  r.x = mg_fv4_result<op>(*job, value_at(u + even), apply(s, even, odd, first_a, b_h2), in->f.x,
                          in->dinv.x, in->previous.x);
  r.y = mg_fv4_result<op>(*job, value_at(u + odd), apply(s, odd, even + BYTES, second_a, b_h2),
                          in->f.y, in->dinv.y, in->previous.y);
  return r;
}

/** MG_FV4_RESTRICT: a thread of an even row keeps its sums of pairs of two planes and gets those of
 *  the odd row behind it a step after they were made. */
struct sums_t {
  double own[2], got;
};

static __device__ __forceinline__ void pass_sum(sums_t *sums, int m, int row, int k, double2 r) {
  const double sum = r.x + r.y;
  if (row % 2)
    ring[RINGS + k % 2 * SUMS + row / 2 * PAIRS + m] = sum;
  else if (k % 2)
    sums->own[1] = sum;
  else
    sums->own[0] = sum;
}

static __device__ __forceinline__ void take_sum(const mg_fv4_job_t *job, const tile_t *t,
                                                sums_t *sums, int m, int row, int k) {
  if (row % 2) return;
  const double got = ring[RINGS + k % 2 * SUMS + row / 2 * PAIRS + m];
  if (k % 2)
    job->dst[t->i0 / 2 + m + (t->j0 + row) / 2 * job->coarse.jstride +
             k / 2 * job->coarse.kstride] = mg_mean8(sums->own[0], sums->got, sums->own[1], got);
  else
    sums->got = got;
}

template <mg_fv4_operation_t op, bool varies>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    march(const MG_GRID_CONSTANT mg_fv4_job_t job, const MG_GRID_CONSTANT mg_part_tiles_t tiles,
          int chunk) {
  const mg_patch_t *p = &job.l.p;
  int place_in[3];
  mg_tile_of_block(tiles, place_in);
  const tile_t t = tile_at(p, place_in);
  const int m = (int)threadIdx.x % PAIRS, row = (int)threadIdx.x / PAIRS;
  const int i = t.i0 + 2 * m, j = t.j0 + row;
  const int k0 = place_in[2] * chunk, k1 = min(k0 + chunk, p->n[2]);
  const bool mine = i < p->n[0] && j < p->n[1];
  ptrdiff_t at = i + j * p->jstride + k0 * p->kstride;
  int phase = (p->lo[0] ^ (p->lo[1] + j) ^ (p->lo[2] + k0) ^ job.color) & 1;
  const int place = (row * PITCH + m + 1) * BYTES;
  share_t share = share_of(&job, &t, k0);
  slots_t slots = first_slots();
  unsigned long long largest = 0;
  sums_t sums = {{0.0, 0.0}, 0.0};
  inputs_t next = {};
  begin(p, &t, &share, k0);
  if (mine) next = read_inputs<op, varies>(&job, at, phase);
  for (int k = k0; k < k1; k++, at += p->kstride, phase ^= 1) {
    fetch_wait();
    __syncthreads();
    const inputs_t in = next;
    if (k + 1 < k1) {
      prepare_next(p, &t, &share, &slots, k);
      if (mine) next = read_inputs<op, varies>(&job, at + p->kstride, phase ^ 1);
    }
    if (mine) {
      if (op == MG_FV4_RESTRICT && k > k0) take_sum(&job, &t, &sums, m, row, k - 1);
      const double2 r = pair_result<op, varies>(&job, &slots, place, phase, &in);
      if (op == MG_FV4_NORM) {
        largest = max(largest, mg_max_bits(r.x));
        largest = max(largest, mg_max_bits(r.y));
      } else if (op == MG_FV4_RESTRICT) {
        pass_sum(&sums, m, row, k, r);
      } else {
        *(double2 *)(job.dst + at) = r;
      }
    }
    turn(slots.u);
    turn(slots.ij);
    turn(slots.k);
  }
  if (op == MG_FV4_RESTRICT) {
    __syncthreads();
    if (mine) take_sum(&job, &t, &sums, m, row, k1 - 1);
  }
  if (op == MG_FV4_NORM) {
    /* Blocks are few and long: what is known so far may come late, and how they are joined takes no
     * time. Memory does matter, on cards with 96 KiB a block. */
    __shared__ unsigned long long warp_max[WARPS];
    const int me = (int)threadIdx.x;
    const unsigned long long known = mg_max_known(job.maximum);
    mg_max_raise(mg_max_of_block(largest, me, WARPS, warp_max), me, known, job.maximum);
  }
}

typedef void (*kernel_t)(mg_fv4_job_t job, mg_part_tiles_t tiles, int chunk);
static const kernel_t kernels[][2] = {
    {march<MG_FV4_GSRB, false>, march<MG_FV4_GSRB, true>},
    {march<MG_FV4_POLYNOMIAL, false>, march<MG_FV4_POLYNOMIAL, true>},
    {march<MG_FV4_RESIDUAL, false>, march<MG_FV4_RESIDUAL, true>},
    {march<MG_FV4_NORM, false>, march<MG_FV4_NORM, true>},
    {march<MG_FV4_RESTRICT, false>, march<MG_FV4_RESTRICT, true>}};
static const size_t shared_bytes = (RINGS + 2 * SUMS) * sizeof(double);

/* Blocks that a multiprocessor of the open device holds: with 96 to 164 KiB of shared memory, which
 * cards of sm_80 to sm_89 and sm_120 have, it is one; with 64 none. */
static int blocks_held;

mg_status_t mg_cuda_fv4_open(void) {
  int device = 0, most = 0;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  blocks_held = 0;
  if ((size_t)most < shared_bytes + WARPS * sizeof(unsigned long long)) return MG_OK;
  for (const auto &pair : kernels)
    for (const kernel_t kernel : pair)
      MG_CUDA_TRY(cudaFuncSetAttribute(
          (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
  MG_CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_held, kernels[MG_FV4_GSRB][0],
                                                            THREADS, shared_bytes));
  return MG_OK;
}

/* A wall's formula needs 4 cells of one tile and its halo, and planes within a ring's reach. At
 * 32^3 the bricks are faster, at 64^3 slower: F-cycles of 0.247 and 0.220 GDOF/s there. */
bool mg_cuda_fv4_marches(const mg_cuda_patch_t *l) {
  const int64_t smallest = 1 << 17;
  const int32_t *n = l->p.n;
  return blocks_held > 0 && l->order == 4 && n[0] % 2 == 0 && n[1] % 2 == 0 && n[2] % 4 == 0 &&
         (int64_t)n[0] * n[1] * n[2] >= smallest;
}

/* Planes of a block: few where there are few columns, and such that the last wave of blocks is as
 * full as can be, but for the place of those that messages take. Each block fetches about 4 planes
 * more than it computes.
 *  @return cost, to be compared */
static double cut_of(const mg_patch_t *p, int beside, mg_cut_t *c) {
  const int64_t at_once = (int64_t)mg_cuda.processors * blocks_held;
  int64_t least = INT64_MAX;
  int best = 0;
  *c = {{WIDTH, HEIGHT, 0}, {2, 2, 2}, {WIDTH + 4, HEIGHT + 4, 0}, {}};
  c->n[0] = (p->n[0] + WIDTH - 1) / WIDTH;
  c->n[1] = (p->n[1] + HEIGHT - 1) / HEIGHT;
  for (int chunk = 4; chunk <= 128; chunk *= 2) {
    const int64_t blocks = (int64_t)c->n[0] * c->n[1] * ((p->n[2] + chunk - 1) / chunk) +
                           (int64_t)beside * blocks_held;
    const int64_t time = (blocks + at_once - 1) / at_once * (chunk + 4);
    if (time > least) continue;
    least = time;
    best = chunk;
  }
  c->cells[2] = best;
  c->box[2] = best + 4;
  c->n[2] = (p->n[2] + best - 1) / best;
  return (double)least;
}

bool mg_cuda_fv4_march_pays(const mg_patch_t *p, bool host) {
  mg_cut_t cut;
  const bool room =
      mg_cut_for_parts([&](int beside, mg_cut_t *c) { return cut_of(p, beside, c); }, &cut);
  return (room || host) && mg_inner_pays(*p, cut, mg_cuda.processors * blocks_held);
}

mg_status_t mg_cuda_fv4_march(mg_fv4_operation_t op, const mg_fv4_job_t *job, mg_part_t part) {
  mg_part_tiles_t tiles;
  const mg_cut_t cut =
      mg_cut_for(part, [&](int beside, mg_cut_t *c) { return cut_of(&job->l.p, beside, c); });
  const int blocks = mg_tiles_of_part(job->l.p, cut, part, &tiles);
  if (blocks > 0)
    kernels[op][job->l.v.varies]<<<(unsigned)blocks, THREADS, shared_bytes, mg_cuda.stream>>>(
        *job, tiles, cut.cells[2]);
  MG_CUDA_LAUNCHED("fv4 march");
  return MG_OK;
}
