/* fv4 on patches that fill the device: a block owns 64 x 8 columns and marches in k.
 *
 * A thread has a pair of cells, 2m and 2m+1 of a row. GSRB updates one of them and copies the other
 * through, so that all lanes work; the other operations take both and share what both read. u and
 * the betas pass through rings of planes in shared memory, filled by asynchronous copies one plane
 * ahead. In a row the even columns stand apart from the odd ones: a warp that reads every second
 * column meets no bank twice. f and 1/diagonal are read once, a plane ahead, into registers.
 *
 * Ghosts outside walls are not read from memory. Those of a plane are evaluated in the ring in the
 * step after it has arrived; the two planes beyond a wall in k are made where others are fetched.
 * Edges go k over j over i, as everywhere.
 *
 * Bytes per cell: GSRB 56, Chebyshev 64, residual 48, as a norm 40, restricted 41. */
#include "fv4.h"

#ifndef MG_FV4_TILE_I
#define MG_FV4_TILE_I 64
#endif
#ifndef MG_FV4_TILE_J
#define MG_FV4_TILE_J 8
#endif
#ifndef MG_FV4_BLOCKS
#define MG_FV4_BLOCKS 2
#endif
#ifndef MG_FV4_MARCH_FROM
#define MG_FV4_MARCH_FROM 262144
#endif

enum {
  WIDTH = MG_FV4_TILE_I,
  HEIGHT = MG_FV4_TILE_J,
  BLOCKS = MG_FV4_BLOCKS, /* of a multiprocessor */
  PAIRS = WIDTH / 2,      /* of a row */
  THREADS = PAIRS * HEIGHT,
  WARPS = THREADS / 32,
  /* Columns -2 .. WIDTH+1. The odd ones start half of the banks further on than the even ones. */
  COLUMNS = WIDTH + 4,
  HALF_USED = COLUMNS / 2,
  HALF = (HALF_USED + 7) / 16 * 16 + 8,
  PITCH = HALF + HALF_USED,
  /* Planes of a ring: of u -2..3 seen from the current one, of the betas normal to i and j -1..2,
   * to k 0..2. The last is under way. */
  U_SLOTS = 6,
  IJ_SLOTS = 4,
  K_SLOTS = 3,
  U_ROWS = HEIGHT + 4,
  I_ROWS = HEIGHT + 2,
  J_ROWS = HEIGHT + 1,
  K_ROWS = HEIGHT + 2,
  U_PLANE = U_ROWS * PITCH,
  I_PLANE = I_ROWS * PITCH,
  J_PLANE = J_ROWS * PITCH,
  K_PLANE = K_ROWS * PITCH,
  I_RING = U_SLOTS * U_PLANE,
  J_RING = I_RING + IJ_SLOTS * I_PLANE,
  K_RING = J_RING + IJ_SLOTS * J_PLANE,
  RINGS = K_RING + K_SLOTS * K_PLANE,
  /* MG_FV4_RESTRICT: the odd rows' sums of pairs, of the current plane and the one before. */
  SUMS = HEIGHT / 2 * PAIRS
};

extern __shared__ double ring[];

/** A column's place in a row; column 2 is the tile's first cell. */
static __device__ __forceinline__ int spot(int c) {
  return (c & 1) * HALF + (c >> 1);
}

static __device__ __forceinline__ void fetch(double *to, const double *from) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
      "l"(from)
      : "memory");
#else
  *to = *from;
#endif
}

static __device__ __forceinline__ void fetch_wait(void) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/** What of a field's plane there is in memory, as rows and columns of the tile. */
struct window_t {
  int row_end, col_end, row, col;
};

/** A block's columns, and the first ghost's row or column where it lies at a wall; -1 elsewhere. */
struct tile_t {
  int i0, j0;
  window_t u, beta;
  int low_col, high_col, low_row, high_row;
  bool walls;
};

static __device__ __forceinline__ tile_t tile_here(const mg_patch_t *p) {
  tile_t t;
  t.i0 = (int)blockIdx.x * WIDTH;
  t.j0 = (int)blockIdx.y * HEIGHT;
  const int i_left = p->n[0] - t.i0, j_left = p->n[1] - t.j0;
  t.low_col = p->wall[0][0] && t.i0 == 0 ? 1 : -1;
  t.low_row = p->wall[1][0] && t.j0 == 0 ? 1 : -1;
  t.high_col = p->wall[0][1] && i_left <= WIDTH ? i_left + 2 : -1;
  t.high_row = p->wall[1][1] && j_left <= HEIGHT ? j_left + 2 : -1;
  t.walls = t.low_col >= 0 || t.high_col >= 0 || t.low_row >= 0 || t.high_row >= 0;
  t.u.col = t.low_col >= 0 ? 2 : 0;
  t.u.row = t.low_row >= 0 ? 2 : 0;
  t.u.col_end = i_left + (p->wall[0][1] ? 2 : 4);
  t.u.row_end = j_left + (p->wall[1][1] ? 2 : 4);
  /* Betas reach one layer out on all sides; a row of theirs counts from its own first. */
  t.beta.col = t.beta.row = 0;
  t.beta.col_end = i_left + 3;
  t.beta.row_end = j_left + 2;
  return t;
}

/** A plane of a field; `from` is its row 0 at the tile's first cell. Rows go to warps, row 0 to
 * warp WARPS - TURN; the BEFORE columns before the tile and the BEHIND ones to threads FIRST and
 * on. */
template <int ROWS, int TURN, int BEFORE, int BEHIND, int FIRST>
static __device__ __forceinline__ void fetch_plane(double *plane, const double *from, ptrdiff_t js,
                                                   window_t w) {
  const int t = (int)threadIdx.x, sides = BEFORE + BEHIND;
#pragma unroll
  for (int turn = 0; turn < (ROWS + WARPS - 1) / WARPS; turn++) {
    const int r = (t / 32 + TURN) % WARPS + turn * WARPS;
    if (r >= ROWS || r < w.row || r >= w.row_end) continue;
#pragma unroll
    for (int c = 0; c < WIDTH; c += 32)
      if (c + t % 32 + 2 < w.col_end)
        fetch(plane + r * PITCH + spot(t % 32 + 2) + c / 2, from + r * js + c + t % 32);
  }
  if (t < FIRST || t >= FIRST + ROWS * sides) return;
  const int r = (t - FIRST) / sides, s = (t - FIRST) % sides;
  const int c = s < BEFORE ? 2 - BEFORE + s : 2 - BEFORE + s + WIDTH;
  if (r >= w.row && r < w.row_end && c >= w.col && c < w.col_end)
    fetch(plane + r * PITCH + spot(c), from + r * js + c - 2);
}

static __device__ __forceinline__ void fetch_u(const mg_fv4_job_t *job, const tile_t *t, int k,
                                               int slot) {
  const mg_patch_t *p = &job->l.p;
  const ptrdiff_t at = t->i0 + (t->j0 - 2) * p->jstride + k * p->kstride;
  fetch_plane<U_ROWS, 4, 2, 2, 0>(ring + slot * U_PLANE, job->x + at, p->jstride, t->u);
}

static __device__ __forceinline__ void fetch_ij(const mg_fv4_job_t *job, const tile_t *t, int k,
                                                int slot) {
  const mg_patch_t *p = &job->l.p;
  const ptrdiff_t js = p->jstride, at = t->i0 + t->j0 * js + k * p->kstride;
  fetch_plane<I_ROWS, 6, 0, 1, THREADS / 4>(ring + I_RING + slot * I_PLANE,
                                            p->vec[MG_BETA_I] + at - js, js, t->beta);
  fetch_plane<J_ROWS, 5, 1, 1, THREADS / 2>(ring + J_RING + slot * J_PLANE, p->vec[MG_BETA_J] + at,
                                            js, t->beta);
}

static __device__ __forceinline__ void fetch_k(const mg_fv4_job_t *job, const tile_t *t, int k,
                                               int slot) {
  const mg_patch_t *p = &job->l.p;
  const ptrdiff_t at = t->i0 + (t->j0 - 1) * p->jstride + k * p->kstride;
  fetch_plane<K_ROWS, 0, 1, 1, 3 * THREADS / 4>(ring + K_RING + slot * K_PLANE,
                                                p->vec[MG_BETA_K] + at, p->jstride, t->beta);
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
      if (g >= 0 && r >= t->u.row && r < t->u.row_end)
        fill_row(plane + r * PITCH, g, 1 - q % 2 * 2);
    } else if (q < 2 * U_ROWS + 2 * COLUMNS) {
      const int c = (q - 2 * U_ROWS) / 2, g = q % 2 ? t->high_row : t->low_row;
      if (g >= 0 && c >= t->u.col && c < t->u.col_end)
        fill_column(plane + g * PITCH + spot(c), q % 2 ? -PITCH : PITCH);
    } else {
      const int g = q % 2 ? t->high_col : t->low_col, r = q & 2 ? t->high_row : t->low_row;
      if (g >= 0 && r >= 0)
        fill_corner(plane + r * PITCH, g, q % 2 ? -1 : 1, q & 2 ? -PITCH : PITCH);
    }
  }
}

/** The plane at `depth` beyond a wall in k from the slots of the four planes before it: what lies
 *  beyond no other wall, or what does, or both. */
static __device__ void fill_beyond(double *plane, const tile_t *t, const int slot[4], int depth,
                                   bool inside, bool sides) {
  const double *x1 = ring + slot[0] * U_PLANE, *x2 = ring + slot[1] * U_PLANE,
               *x3 = ring + slot[2] * U_PLANE, *x4 = ring + slot[3] * U_PLANE;
  for (int q = (int)threadIdx.x; q < U_PLANE; q += THREADS) {
    const int r = q / PITCH, s = q % PITCH, c = s < HALF ? 2 * s : 2 * (s - HALF) + 1;
    if (s >= HALF_USED && s < HALF) continue;
    const bool there = r >= t->u.row && r < t->u.row_end && c >= t->u.col && c < t->u.col_end;
    if (there ? !inside : !sides) continue;
    plane[q] = depth == 1 ? mg_wall4_first(x1[q], x2[q], x3[q], x4[q])
                          : mg_wall4_second(x1[q], x2[q], x3[q], x4[q]);
  }
}

/** The slot of the plane `ahead` behind a ring's oldest one. */
template <int SLOTS> static __device__ __forceinline__ int slot_of(int oldest, int ahead) {
  return oldest + ahead < SLOTS ? oldest + ahead : oldest + ahead - SLOTS;
}

/** Everything that is needed before the loop but has not been waited for there. */
static __device__ __forceinline__ void begin(const mg_fv4_job_t *job, const tile_t *t, int k0) {
  const bool low = job->l.p.wall[2][0] && k0 == 0;
  for (int s = low ? 2 : 0; s < (low ? 6 : 5); s++)
    fetch_u(job, t, k0 + s - 2, s);
  for (int s = 0; s < 3; s++)
    fetch_ij(job, t, k0 + s - 1, s);
  for (int s = 0; s < 2; s++)
    fetch_k(job, t, k0 + s, s);
  if (!t->walls && !low) return;
  fetch_wait();
  __syncthreads();
  if (t->walls)
    for (int s = low ? 2 : 1; s < (low ? 6 : 4); s++)
      fill_sides(ring + s * U_PLANE, t);
  if (!low) return;
  __syncthreads();
  const int slot[4] = {2, 3, 4, 5};
  fill_beyond(ring + U_PLANE, t, slot, 1, true, true);
  fill_beyond(ring, t, slot, 2, true, false);
}

/** While plane k is computed: fetch what the next one needs, and fill its ghosts. */
static __device__ __forceinline__ void prepare_next(const mg_fv4_job_t *job, const tile_t *t, int k,
                                                    int u_slot, int ij_slot, int k_slot) {
  const mg_patch_t *p = &job->l.p;
  const int beyond = p->wall[2][1] ? k + 4 - p->n[2] : 0; /* depth of plane k + 3 */
  fetch_ij(job, t, k + 2, slot_of<IJ_SLOTS>(ij_slot, 3));
  fetch_k(job, t, k + 2, slot_of<K_SLOTS>(k_slot, 2));
  if (beyond <= 0) fetch_u(job, t, k + 3, slot_of<U_SLOTS>(u_slot, 5));
  double *next = ring + slot_of<U_SLOTS>(u_slot, 4) * U_PLANE;
  if (beyond <= 1) {
    if (t->walls) fill_sides(next, t);
    if (beyond <= 0) return;
  }
  const int last = 5 - beyond; /* the plane at the wall, seen from the oldest one */
  const int slot[4] = {slot_of<U_SLOTS>(u_slot, last), slot_of<U_SLOTS>(u_slot, last - 1),
                       slot_of<U_SLOTS>(u_slot, last - 2), slot_of<U_SLOTS>(u_slot, last - 3)};
  fill_beyond(ring + slot_of<U_SLOTS>(u_slot, 5) * U_PLANE, t, slot, beyond, true, false);
  if (beyond == 2 && t->walls) fill_beyond(next, t, slot, 1, false, true);
}

/** The planes around the current one, at this thread's row. */
struct planes_t {
  const double *u[5], *i[3], *j[3], *k[2];
};

static __device__ __forceinline__ planes_t planes_here(int row, int u_slot, int ij_slot,
                                                       int k_slot) {
  planes_t s;
  for (int d = 0; d < 5; d++)
    s.u[d] = ring + slot_of<U_SLOTS>(u_slot, d) * U_PLANE + (row + 2) * PITCH;
  for (int d = 0; d < 3; d++) {
    s.i[d] = ring + I_RING + slot_of<IJ_SLOTS>(ij_slot, d) * I_PLANE + (row + 1) * PITCH;
    s.j[d] = ring + J_RING + slot_of<IJ_SLOTS>(ij_slot, d) * J_PLANE + row * PITCH;
  }
  for (int d = 0; d < 2; d++)
    s.k[d] = ring + K_RING + slot_of<K_SLOTS>(k_slot, d) * K_PLANE + (row + 1) * PITCH;
  return s;
}

/** A x at the column whose place is e, and that of the next one o. */
static __device__ __forceinline__ double apply(const planes_t *s, int e, int o, double a,
                                               double b_h2) {
  const int P = PITCH;
  const double *const *u = s->u, *i1 = s->i[1], *j1 = s->j[1], *k0 = s->k[0], *k1 = s->k[1];
  const mg_values25_t x = {u[2][e],
                           {{u[2][e - 1], u[2][o - 1], u[2][o], u[2][e + 1]},
                            {u[2][e - 2 * P], u[2][e - P], u[2][e + P], u[2][e + 2 * P]},
                            {u[0][e], u[1][e], u[3][e], u[4][e]}},
                           {{{u[2][o - 1 - P], u[2][o - 1 + P]}, {u[2][o - P], u[2][o + P]}},
                            {{u[1][o - 1], u[3][o - 1]}, {u[1][o], u[3][o]}},
                            {{u[1][e - P], u[3][e - P]}, {u[1][e + P], u[3][e + P]}}}};
  const mg_betas30_t b = {{{i1[e], i1[o]}, {j1[e], j1[e + P]}, {k0[e], k1[e]}},
                          {{{{i1[e - P], i1[e + P]}, {i1[o - P], i1[o + P]}},
                            {{s->i[0][e], s->i[2][e]}, {s->i[0][o], s->i[2][o]}}},
                           {{{j1[o - 1], j1[o]}, {j1[o - 1 + P], j1[o + P]}},
                            {{s->j[0][e], s->j[2][e]}, {s->j[0][e + P], s->j[2][e + P]}}},
                           {{{k0[o - 1], k0[o]}, {k1[o - 1], k1[o]}},
                            {{k0[e - P], k0[e + P]}, {k1[e - P], k1[e + P]}}}}};
  return mg_apply_values25(&x, &b, a, b_h2);
}

/** What is read once: of both cells, or of the one of the colour. */
struct inputs_t {
  double2 f, dinv, previous;
};

template <mg_fv4_operation_t op>
static __device__ __forceinline__ inputs_t read_inputs(const mg_fv4_job_t *job, ptrdiff_t at,
                                                       int phase) {
  const double2 zero = make_double2(0.0, 0.0);
  inputs_t in = {zero, zero, zero};
  if (op == MG_FV4_GSRB) {
    in.f.x = job->f[at + phase];
    in.dinv.x = job->dinv[at + phase];
    return in;
  }
  /* Rows start on 128-byte lines, so a pair is 16-byte aligned. */
  if (job->f) in.f = *(const double2 *)(job->f + at);
  if (op == MG_FV4_POLYNOMIAL) {
    in.dinv = *(const double2 *)(job->dinv + at);
    if (job->previous) in.previous = *(const double2 *)(job->previous + at);
  }
  return in;
}

/** The pair at m of a row: both cells, or that of the colour and the other copied. */
template <mg_fv4_operation_t op>
static __device__ __forceinline__ double2 pair_result(const mg_fv4_job_t *job, const planes_t *s,
                                                      int m, int phase, const inputs_t *in) {
  const double a = job->l.v.a, b_h2 = job->l.v.b_h2;
  const double *u = s->u[2];
  const int even = m + 1, odd = HALF + m + 1;
  if (op == MG_FV4_GSRB) {
    const int e = phase ? odd : even, o = phase ? even + 1 : odd;
    const double x = u[e], other = u[phase ? even : odd];
    const double ax = apply(s, e, o, a, b_h2);
    const double new_x = mg_fv4_result<op>(*job, x, ax, in->f.x, in->dinv.x, 0.0);
    return phase ? make_double2(other, new_x) : make_double2(new_x, other);
  }
  double2 r;
  r.x = mg_fv4_result<op>(*job, u[even], apply(s, even, odd, a, b_h2), in->f.x, in->dinv.x,
                          in->previous.x);
  r.y = mg_fv4_result<op>(*job, u[odd], apply(s, odd, even + 1, a, b_h2), in->f.y, in->dinv.y,
                          in->previous.y);
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

template <mg_fv4_operation_t op>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    march(const __grid_constant__ mg_fv4_job_t job, int chunk) {
  const mg_patch_t *p = &job.l.p;
  const tile_t t = tile_here(p);
  const int m = (int)threadIdx.x % PAIRS, row = (int)threadIdx.x / PAIRS;
  const int i = t.i0 + 2 * m, j = t.j0 + row;
  const int k0 = (int)blockIdx.z * chunk, k1 = min(k0 + chunk, p->n[2]);
  const bool mine = i < p->n[0] && j < p->n[1];
  ptrdiff_t at = i + j * p->jstride + k0 * p->kstride;
  int phase = (p->lo[0] ^ (p->lo[1] + j) ^ (p->lo[2] + k0) ^ job.color) & 1;
  int u_slot = 0, ij_slot = 0, k_slot = 0;
  unsigned long long largest = 0;
  sums_t sums = {{0.0, 0.0}, 0.0};
  inputs_t next = {};
  begin(&job, &t, k0);
  if (mine) next = read_inputs<op>(&job, at, phase);
  for (int k = k0; k < k1; k++, at += p->kstride, phase ^= 1) {
    fetch_wait();
    __syncthreads();
    const inputs_t in = next;
    if (k + 1 < k1) {
      prepare_next(&job, &t, k, u_slot, ij_slot, k_slot);
      if (mine) next = read_inputs<op>(&job, at + p->kstride, phase ^ 1);
    }
    if (mine) {
      const planes_t planes = planes_here(row, u_slot, ij_slot, k_slot);
      if (op == MG_FV4_RESTRICT && k > k0) take_sum(&job, &t, &sums, m, row, k - 1);
      const double2 r = pair_result<op>(&job, &planes, m, phase, &in);
      if (op == MG_FV4_NORM) {
        largest = max(largest, (unsigned long long)__double_as_longlong(fabs(r.x)));
        largest = max(largest, (unsigned long long)__double_as_longlong(fabs(r.y)));
      } else if (op == MG_FV4_RESTRICT) {
        pass_sum(&sums, m, row, k, r);
      } else {
        *(double2 *)(job.dst + at) = r;
      }
    }
    u_slot = slot_of<U_SLOTS>(u_slot, 1);
    ij_slot = slot_of<IJ_SLOTS>(ij_slot, 1);
    k_slot = slot_of<K_SLOTS>(k_slot, 1);
  }
  if (op == MG_FV4_RESTRICT) {
    __syncthreads();
    if (mine) take_sum(&job, &t, &sums, m, row, k1 - 1);
  }
  if (op == MG_FV4_NORM) mg_max_add(__longlong_as_double((long long)largest), job.maximum);
}

typedef void (*kernel_t)(mg_fv4_job_t job, int chunk);
static const kernel_t kernels[] = {march<MG_FV4_GSRB>, march<MG_FV4_POLYNOMIAL>,
                                   march<MG_FV4_RESIDUAL>, march<MG_FV4_NORM>,
                                   march<MG_FV4_RESTRICT>};
static const size_t shared_bytes = (RINGS + 2 * SUMS) * sizeof(double);

/* Of the open device. */
static int multiprocessors;
static bool fits;

mg_status_t mg_cuda_fv4_open(void) {
  int device = 0, most = 0;
  MG_CUDA_TRY(cudaGetDevice(&device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  MG_CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  fits = (size_t)most >= shared_bytes;
  if (!fits) return MG_OK;
  for (const kernel_t kernel : kernels)
    MG_CUDA_TRY(cudaFuncSetAttribute(
        (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes));
  return MG_OK;
}

/* A wall's formula needs 4 cells of one tile and its halo, and planes within a ring's reach. */
bool mg_cuda_fv4_marches(const mg_cuda_patch_t *l) {
  const int32_t *n = l->p.n;
  return fits && l->order == 4 && n[0] % 2 == 0 && n[1] % 2 == 0 && n[2] % 4 == 0 &&
         (int64_t)n[0] * n[1] * n[2] >= MG_FV4_MARCH_FROM;
}

/* Planes of a block: few where there are few columns, and such that the last wave of blocks is as
 * full as can be. Each block fetches about 4 planes more than it computes. */
static int chunk_of(const mg_patch_t *p) {
#ifdef MG_FV4_CHUNK
  if (p->n[0] >= 128) return MG_FV4_CHUNK;
#endif
  const int64_t columns =
      (int64_t)((p->n[0] + WIDTH - 1) / WIDTH) * ((p->n[1] + HEIGHT - 1) / HEIGHT);
  const int64_t at_once = (int64_t)multiprocessors * BLOCKS;
  int64_t best = 0, least = INT64_MAX;
  for (int chunk = 4; chunk <= 128; chunk *= 2) {
    const int64_t blocks = columns * ((p->n[2] + chunk - 1) / chunk);
    const int64_t time = (blocks + at_once - 1) / at_once * (chunk + 4);
    if (time > least) continue;
    least = time;
    best = chunk;
  }
  return (int)best;
}

mg_status_t mg_cuda_fv4_march(mg_fv4_operation_t op, const mg_fv4_job_t *job) {
  const int32_t *n = job->l.p.n;
  const int chunk = chunk_of(&job->l.p);
  const dim3 grid((unsigned)((n[0] + WIDTH - 1) / WIDTH), (unsigned)((n[1] + HEIGHT - 1) / HEIGHT),
                  (unsigned)((n[2] + chunk - 1) / chunk));
  kernels[op]<<<grid, THREADS, shared_bytes, mg_cuda.stream>>>(*job, chunk);
  MG_CUDA_LAUNCHED("fv4 march");
  return MG_OK;
}
