/* Transfers between a level and the next coarser one in a resident smooth (resident/sweeps.cu): the
 * interpolation of the first iterate, and the restriction or the norm of the residual of the last
 * one.
 *
 * Interpolation is a tensor product, k first, then j, then i (interpolate.h). The block loads its
 * coarse cells and one more on each side into shared memory, in one go. Then a thread combines the
 * 3 x 3 values of a column along k and j, and last three columns along i. Coarse ghosts are not
 * read: outside walls they are combinations of the cells inside, in i, then j, then k, as
 * mg_fold_walls computes them, and a periodic patch is its own neighbor. */
#ifndef MG_CUDA_RESIDENT_TRANSFER_H
#define MG_CUDA_RESIDENT_TRANSFER_H

#include "cuda/reduction.h"
#include "cuda/resident/cells.h"

namespace mg_resident {
/** Walls beside a coarse cell in one direction; it has one at most. */
struct walls_t {
  mg_wall_t low, high;

  __device__ __forceinline__ bool any() const {
    return low != MG_WALL_NONE || high != MG_WALL_NONE;
  }
  /** Set the neighbor of x1 outside the wall, which there is. */
  __device__ __forceinline__ void fold(int order, mg_real_t *x0, mg_real_t x1,
                                       mg_real_t *x2) const {
    const bool is_low = low != MG_WALL_NONE;
    const mg_real_t ghost = mg_ghost(is_low ? low : high, order, x1, is_low ? *x2 : *x0);
    *x0 = is_low ? ghost : *x0;
    *x2 = is_low ? *x2 : ghost;
  }
};

static __device__ __forceinline__ walls_t walls_of(const mg_patch_t &fine, int d, int at) {
  return {at == 0 ? fine.wall[d][0] : (mg_wall_t)MG_WALL_NONE,
          at == fine.n[d] / 2 - 1 ? fine.wall[d][1] : (mg_wall_t)MG_WALL_NONE};
}

/** Coarse cells of a tile with one more on each side. A line of shared memory has those of one row,
 *  in i from the one below the first cell on; a plane has LINES lines. Lines outside walls of j and
 *  k have no meaning. */
template <typename C> struct coarse_tile_t {
  enum {
    LINES = 8,
    MAX_PLANES = MG_RESIDENT_MAX_SIDES / 2 + 1, /* with at least two rows in j */
    AT_ONCE = C::WIDE ? 3 : C::ROWS,            /* lines per thread, unless tiles have few rows */
    CHILDREN = C::WIDE ? 2 : C::ROWS            /* rows of a thread in one coarse row */
  };
  static_assert(MG_RESIDENT_MAX_SIDES / 2 + 1 <= LINES && C::LINE + 2 <= C::PITCH &&
                    MAX_PLANES * LINES * C::PITCH <= 2 * C::block_t::SIZE,
                "coarse cells exceed shared memory");
  const C &cells;
  const job_t &job;
  mg_real_t *const values; /* [k][j][1 + pair] */
  int groups, n_groups;    /* of rows of a thread: in j, in all */
  int group;               /* the thread's; its lines are this one and every n_groups-th after it */
  int beside;              /* cell on which the ghost beside the thread's cell in i depends */
  bool first, at_edge;     /* in i */
  walls_t walls;           /* in i */
  const mg_real_t *row[AT_ONCE]; /* in the coarse level; NULL if there is none */
  mg_real_t own[AT_ONCE], edge[AT_ONCE];

  __device__ __forceinline__ coarse_tile_t(C &cells_)
      : cells(cells_), job(cells_.job), values(cells_.shared.x[0][0]) {
    const place_t &here = cells.here;
    const int last = job.tiles.pairs - 1;
    groups = job.tiles.rows[0] / C::ROWS;
    n_groups = groups * job.tiles.rows[1];
    group = here.row[0] / C::ROWS + here.row[1] * groups;
    first = here.pair == 0;
    at_edge = first || here.pair == last;
    walls = walls_of(job.l.p, 0, here.pair);
    beside = first ? (walls.low ? 1 : last) : walls.high ? last - 1 : 0;
    set_rows(group);
  }

  __device__ __forceinline__ bool has_lines(int line) const {
    return line < LINES * (job.tiles.rows[1] / 2 + 2);
  }
  /** Coarse coordinate, in the patch, of row `at` of the tile in direction d. */
  __device__ __forceinline__ int inside(int d, int at) const {
    const int n = job.l.p.n[d] / 2,
              i = cells.here.tile[d - 1] * (job.tiles.rows[d - 1] / 2) + at - 1;
    return i < 0 ? n - 1 : i == n ? 0 : i;
  }
  __device__ __forceinline__ void set_rows(int line) {
#pragma unroll
    for (int q = 0; q < AT_ONCE; q++, line += n_groups)
      row[q] = has_lines(line) && line % LINES < job.tiles.rows[0] / 2 + 2
                   ? job.u + inside(1, line % LINES) * job.u_jstride +
                         inside(2, line / LINES) * job.u_kstride
                   : nullptr;
  }

  /** Load the thread's cells of the rows, without using them. */
  __device__ __forceinline__ void load() {
#pragma unroll
    for (int q = 0; q < AT_ONCE; q++) {
      own[q] = edge[q] = MG_REAL(0.0);
      if (row[q]) own[q] = row[q][cells.here.pair];
      if (row[q] && at_edge) edge[q] = row[q][beside];
    }
  }
  /** Put them into shared memory, with the ghosts in i. */
  __device__ __forceinline__ void share(int line) {
#pragma unroll
    for (int q = 0; q < AT_ONCE; q++, line += n_groups) {
      if (!row[q]) continue;
      mg_real_t *const to = values + line * C::PITCH + 1 + cells.here.pair;
      *to = own[q];
      if (!at_edge) continue;
      to[first ? -1 : 1] =
          walls.any() ? mg_ghost(first ? walls.low : walls.high, job.u_order, own[q], edge[q])
                      : edge[q];
    }
  }

  /** Combine a column of the tile along k and j.
   *  @param[in] row_j, row_k  first fine row of the values, in the tile
   *  @param[out] to           values, C::PITCH apart */
  template <mg_interpolation_t KIND>
  __device__ __forceinline__ void combine_column(int row_j, int row_k, int column,
                                                 mg_real_t *to) const {
    const mg_real_t *const from = values + (row_k / 2 * LINES + row_j / 2) * C::PITCH + column;
    mg_real_t x[3][3], y[3]; /* [k][j] */
#pragma unroll
    for (int b = 0; b < 3; b++)
#pragma unroll
      for (int a = 0; a < 3; a++)
        x[b][a] = from[(b * LINES + a) * C::PITCH];
    const place_t &here = cells.here;
    const walls_t j = walls_of(job.l.p, 1, (here.tile[0] * job.tiles.rows[0] + row_j) / 2),
                  k = walls_of(job.l.p, 2, (here.tile[1] * job.tiles.rows[1] + row_k) / 2);
    if (j.any())
#pragma unroll
      for (int b = 0; b < 3; b++)
        j.fold(job.u_order, &x[b][0], x[b][1], &x[b][2]);
    if (k.any())
#pragma unroll
      for (int a = 0; a < 3; a++)
        k.fold(job.u_order, &x[0][a], x[1][a], &x[2][a]);
#pragma unroll
    for (int a = 0; a < 3; a++)
      y[a] = mg_interpolate_3(KIND, x[0][a], x[1][a], x[2][a], row_k % 2 == 0 ? -1 : 1);
#pragma unroll
    for (int r = 0; r < CHILDREN; r++)
      to[r * C::PITCH] = mg_interpolate_3(KIND, y[0], y[1], y[2], (row_j + r) % 2 == 0 ? -1 : 1);
  }

  /** Combine all columns of the tile, in i from the one below the first pair on. The first threads
   *  also have those beyond the first and the last pair. */
  template <mg_interpolation_t KIND>
  __device__ __forceinline__ void combine_columns(mg_real_t *columns) const {
    const int thread = (int)threadIdx.x;
    int g = group, row_j = cells.here.row[0], row_k = cells.here.row[1],
        column = 1 + cells.here.pair;
#pragma unroll 1 /* less code */
    for (int n = thread < 2 * n_groups ? 2 : 1; n > 0; n--) {
#pragma unroll 1
      for (int r = 0; r < C::ROWS; r += CHILDREN)
        combine_column<KIND>(row_j + r, row_k, column,
                             columns + (C::ROWS * g + r) * C::PITCH + column);
      g = thread / 2;
      row_k = g / groups;
      row_j = C::ROWS * (g - row_k * groups);
      column = thread % 2 ? 1 + job.tiles.pairs : 0;
    }
  }

  /** Load all lines; the thread's first ones have been requested. */
  __device__ __forceinline__ void finish_loads() {
    int line = group;
    share(line);
    for (line += AT_ONCE * n_groups; has_lines(line); line += AT_ONCE * n_groups) {
      set_rows(line);
      load();
      share(line);
    }
  }
};

/** Add P u to x of the thread's pairs by P1 or V2. All threads of the block call it. */
template <mg_interpolation_t KIND, typename C>
static __device__ __forceinline__ void interpolate(C &cells, const coarse_tile_t<C> &tile) {
  mg_real_t *const columns = cells.shared.scratch(1);
  tile.template combine_columns<KIND>(columns);
  __syncthreads();
#pragma unroll
  for (int r = 0; r < C::ROWS; r++) {
    const mg_real_t *const c = columns + (C::ROWS * tile.group + r) * C::PITCH + cells.here.pair;
    const mg_real_t low = c[0], own = c[1], high = c[2];
    cells.add_to_x(r, mg_interpolate_3(KIND, low, own, high, -1),
                   mg_interpolate_3(KIND, low, own, high, 1));
  }
}

/** Load f and the first iterate, x or x + P u. All threads of the block call it. */
template <typename C>
static __device__ __forceinline__ void load_first(C &cells, coarse_tile_t<C> &tile) {
  const job_t &job = cells.job;
  const place_t &here = cells.here;
  if (job.u && job.kind != MG_INTERPOLATE_P0) {
    tile.load();
    cells.load_values();
    tile.finish_loads();
    __syncthreads();
    if (job.kind == MG_INTERPOLATE_P1)
      interpolate<MG_INTERPOLATE_P1>(cells, tile);
    else
      interpolate<MG_INTERPOLATE_V2>(cells, tile);
    return;
  }
  cells.load_values();
  if (!job.u) return;
  constexpr int CHILDREN = coarse_tile_t<C>::CHILDREN;
#pragma unroll
  for (int r = 0; r < C::ROWS; r += CHILDREN) {
    const mg_real_t u =
        job.u[here.pair + (here.j + r) / 2 * job.u_jstride + here.k / 2 * job.u_kstride];
#pragma unroll
    for (int h = 0; h < CHILDREN; h++)
      cells.add_to_x(r + h, u, u);
  }
}

/** Restrict the residual of the thread's cells. All threads of the block call it.
 *  @param[in] sum  of the pairs */
template <typename C>
static __device__ __forceinline__ void restrict_sums(C &cells, const mg_real_t sum[C::ROWS],
                                                     mg_real_t *scratch) {
  const job_t &job = cells.job;
  const place_t &here = cells.here;
  mg_real_t *const sums = scratch + cells.place;
#pragma unroll
  for (int r = 0; r < C::ROWS; r++)
    sums[r * C::PITCH] = sum[r];
  __syncthreads();
  if (here.j % 2 || here.k % 2) return;
  const int plane = C::block_t::plane(job.tiles.rows[0]);
#pragma unroll
  for (int r = 0; r < C::ROWS; r += 2)
    job.coarse[here.pair + (here.j + r) / 2 * job.coarse_jstride +
               here.k / 2 * job.coarse_kstride] =
        mg_mean8(sum[r], sums[(r + 1) * C::PITCH], sums[plane + r * C::PITCH],
                 sums[plane + (r + 1) * C::PITCH]);
}

/** Use the residual of the last iterate. */
template <typename C>
static __device__ __forceinline__ void use_residual(C &cells, unsigned number) {
  const job_t &job = cells.job;
  const int parity = job.n & 1, buffer = C::COLORED ? 0 : parity;
  mg_real_t residual[2][C::ROWS];
  /* After a colored step, its cells still need what it received; the others what it sent. */
  if (C::COLORED) cells.residual(1, buffer, residual[1]);
  cells.receive(number, parity);
  cells.residual(0, buffer, residual[0]);
  if (!C::COLORED) cells.residual(1, buffer, residual[1]);
  if (job.use == RESIDUAL_RESTRICTED) {
    mg_real_t sum[C::ROWS];
#pragma unroll
    for (int r = 0; r < C::ROWS; r++)
      sum[r] = residual[0][r] + residual[1][r];
    restrict_sums(cells, sum, cells.shared.scratch(1 - buffer));
    return;
  }
  unsigned long long bits = 0;
#pragma unroll
  for (int r = 0; r < C::ROWS; r++)
    bits = max(bits, max(mg_max_bits(residual[0][r]), mg_max_bits(residual[1][r])));
  bits = mg_max_of_block(bits, (int)threadIdx.x, (int)blockDim.x / 32, cells.shared.warp_max);
  mg_max_raise(bits, (int)threadIdx.x, 0, job.maximum);
}
} // namespace mg_resident

#endif
