/* Columns of one thread in the fused sweeps of temporal.cu: its register state and its steps. */
#ifndef MG_CUDA_TEMPORAL_COLUMNS_H
#define MG_CUDA_TEMPORAL_COLUMNS_H

#include "cuda/stencil_load.h"
#include "cuda/temporal_pipeline.h"

namespace mg_temporal {
constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ void load_pair(const double *p, double v[2]) {
  const double2 t = *reinterpret_cast<const double2 *>(p);
  v[0] = t.x, v[1] = t.y;
}
__device__ __forceinline__ void store_pair(double *p, const double v[2]) {
  *reinterpret_cast<double2 *>(p) = make_double2(v[0], v[1]);
}

/* Replace neighbors outside walls by the Dirichlet formula, also at other walls: see walls.h. */
__device__ __forceinline__ void fold_walls(const mg_cuda_patch_t &l, const int at[3],
                                           mg_stencil_values_t *near) {
  for (int d = 0; d < 3; d++) {
    const double c = near->x.c, low = near->x.low[d], high = near->x.high[d];
    if (l.p.wall[d][0] && at[d] == 0)
      near->x.low[d] = mg_ghost(MG_WALL_DIRICHLET, l.order, c, high);
    if (l.p.wall[d][1] && at[d] == l.p.n[d] - 1)
      near->x.high[d] = mg_ghost(MG_WALL_DIRICHLET, l.order, c, low);
  }
}

/* A x of a cell, and 1 / diagonal if wants_dinv. at_walls: the cell may be at a wall. */
template <bool at_walls, bool wants_dinv>
__device__ __forceinline__ double apply(const mg_cuda_patch_t &l, int i, int j, int k,
                                        mg_stencil_values_t near, double *dinv) {
  if (!at_walls) {
    if (wants_dinv) *dinv = mg_stencil_dinv(&l, near);
    return mg_stencil_apply(&l, near);
  }
  const int at[3] = {i, j, k};
  fold_walls(l, at, &near);
  if (wants_dinv)
    *dinv = 1.0 / mg_diagonal_7(near.beta[0], near.beta[1], near.beta[2], 1, 1,
                                mg_face_weights(&l.p, l.order, i, j, k), near.a, l.v.b_h2);
  return mg_stencil_apply(&l, near);
}

/* The two columns of a thread, with each step's data from the planes around its own. A half sweep
 * updates column 0 in even stages (counted from the first) and column 1 in odd ones. So column 0
 * is the left one in every other row. */
template <typename S> struct columns_t {
  static constexpr bool COLORED = S::COLORED, VARIES = S::VARIES;
  static constexpr int STEPS = S::STEPS, ROWS = S::ROWS, PLANE = S::PLANE;
  double x[STEPS][3][2]; /* planes below, at and above the step's plane */
  double dinv[STEPS][2], bk[STEPS + 1][2], previous_in[2];
  int i, j, own;
  int cell[2];            /* indices of the columns in a plane */
  int left, right;        /* offsets of the neighbors in i; may be 0 at the edge of the tile */
  int low, high;          /* the same in j */
  int x_here, all[STEPS]; /* ring offsets of the planes of x and of the other arrays */
  bool swapped, writes;   /* column 0 is the right one; this thread writes its cells */

  __device__ __forceinline__ void begin(const job_t &job, const tile_t &t, int first_stage) {
    const mg_patch_t &p = job.l.p;
    int row = (int)threadIdx.x / LANES, lane = (int)threadIdx.x % LANES;
    if (COLORED) {
      /* A half-warp has eight columns of one color in each of two rows, which use all banks. */
      row = (int)threadIdx.x / 32 * 2 + (int)threadIdx.x / 8 % 2;
      lane = (int)threadIdx.x / 16 % 2 * 8 + (int)threadIdx.x % 8;
    }
    i = t.i0 + 2 * lane;
    j = t.j0 + row;
    writes = lane >= FIRST_LANE && lane < FIRST_LANE + OUT_I / 2 && i >= 0 && i < p.n[0] &&
             row >= STEPS && row < ROWS - STEPS && j < p.n[1];
    /* Both colors and planes alternate from step to step, so one parity serves all steps. */
    const int parity = p.lo[0] ^ (p.lo[1] + j) ^ p.lo[2] ^ job.color;
    swapped = COLORED && ((parity + first_stage - 1) & 1) != 0;
    own = row * WIDTH + 2 * lane;
    cell[0] = own + swapped;
    cell[1] = own + !swapped;
    left = own > 0 ? -1 : 0;
    right = own < PLANE - 2 ? 1 : 0;
    low = row > 0 ? -WIDTH : 0;
    high = row < ROWS - 1 ? WIDTH : 0;
  }

  /* Load both columns of a plane, column 0 first. */
  __device__ __forceinline__ void load(const double *plane, double v[2]) const {
    if constexpr (COLORED) {
      v[0] = plane[cell[0]];
      v[1] = plane[cell[1]];
    } else {
      load_pair(plane + own, v);
    }
  }

  /* Load the values of these columns from a stage. */
  __device__ __forceinline__ void load_stage(const double *shared, const slots_t &slot,
                                             bool has_previous) {
    load(shared + S::X + slot.x, x[0][2]);
    load(shared + S::BK + slot.own, bk[0]);
    if (!COLORED && has_previous) load(shared + S::PREVIOUS + slot.own, previous_in);
    all[0] = slot.all;
  }

  /* Plane in shared memory with the neighbors in i and j that step s reads in plane p. */
  __device__ __forceinline__ const double *input_of(const double *shared, int s, int p) const {
    return s == 0 ? shared + S::X + x_here : shared + S::STEP + (2 * (s - 1) + (p & 1)) * PLANE;
  }

  /* A half sweep in plane p, which changes column c. */
  template <bool at_walls, int s, int c>
  __device__ __forceinline__ double half_sweep(const double *shared, const job_t &job, int p) {
    const double *const plane = input_of(shared, s, p) + cell[c];
    const double *const bi = shared + S::BI + all[s] + cell[c], *const bj = shared + S::BJ +
                                                                            all[s] + cell[c];
    mg_stencil_values_t near;
    near.x.c = x[s][1][c];
    near.x.low[0] = plane[left];
    near.x.high[0] = plane[right];
    near.x.low[1] = plane[low];
    near.x.high[1] = plane[high];
    near.x.low[2] = x[s][0][c];
    near.x.high[2] = x[s][2][c];
    near.beta[0][0] = bi[0];
    near.beta[0][1] = bi[right];
    near.beta[1][0] = bj[0];
    near.beta[1][1] = bj[high];
    near.beta[2][0] = bk[s + 1][c];
    near.beta[2][1] = bk[s][c];
    near.a = VARIES ? shared[S::ALPHA + all[s] + cell[c]] : job.l.v.a;
    near.f = shared[S::F + all[s] + cell[c]];
    /* The third half sweep changes the same cells as the first, so it reuses their dinv. */
    constexpr bool is_new = s < 2;
    const double ax = apply<at_walls, is_new>(job.l, i + cell[c] - own, j, p, near, &dinv[s][c]);
    return mg_relax(near.x.c, ax, near.f, dinv[s][c], S::WEIGHTED ? job.c2[s] : 1.0);
  }

  /* A step that changes all cells. */
  template <bool at_walls, int s>
  __device__ __forceinline__ void whole_step(const double *shared, const job_t &job, int p,
                                             double value[2]) {
    constexpr bool is_new = s == 0;
    const double *const plane = input_of(shared, s, p) + own;
    const double *const bi = shared + S::BI + all[s] + own, *const bj =
                                                                shared + S::BJ + all[s] + own;
    double beside[2][2], bi0[2], bj0[2], bj1[2], f[2], a[2];
    load_pair(plane + low, beside[0]);
    load_pair(plane + high, beside[1]);
    load_pair(bi, bi0);
    load_pair(bj, bj0);
    load_pair(bj + high, bj1);
    load_pair(shared + S::F + all[s] + own, f);
    if (VARIES) load_pair(shared + S::ALPHA + all[s] + own, a);
    const double left_x = __shfl_up_sync(ALL, x[s][1][1], 1, LANES),
                 right_x = __shfl_down_sync(ALL, x[s][1][0], 1, LANES),
                 right_bi = __shfl_down_sync(ALL, bi0[0], 1, LANES);
#pragma unroll
    for (int v = 0; v < 2; v++) {
      mg_stencil_values_t near;
      near.x.c = x[s][1][v];
      near.x.low[0] = v ? x[s][1][0] : left_x;
      near.x.high[0] = v ? right_x : x[s][1][1];
      near.x.low[1] = beside[0][v];
      near.x.high[1] = beside[1][v];
      near.x.low[2] = x[s][0][v];
      near.x.high[2] = x[s][2][v];
      near.beta[0][0] = bi0[v];
      near.beta[0][1] = v ? right_bi : bi0[1];
      near.beta[1][0] = bj0[v];
      near.beta[1][1] = bj1[v];
      near.beta[2][0] = bk[s + 1][v];
      near.beta[2][1] = bk[s][v];
      near.a = VARIES ? a[v] : job.l.v.a;
      const double ax = apply<at_walls, is_new>(job.l, i + v, j, p, near, &dinv[s][v]);
      /* In the registers of the previous step this plane is the lowest one. */
      const double last = s == 0 ? previous_in[v] : x[s > 0 ? s - 1 : 0][0][v];
      const double previous = job.c1[s] == 0.0 ? near.x.c : last;
      value[v] = mg_update(near.x.c, previous, ax, f[v], dinv[s][v], job.c1[s], job.c2[s]);
    }
  }

  /* Step s of stage q. The result goes to shared memory, or to the level after the last step.
   * `careful`: cells may be at walls, and the plane may be unused or lack planes below it, as in
   * the first stages. `odd`: the stage number, counted from the first, is odd. */
  template <bool careful, int s, int odd>
  __device__ __forceinline__ void step(double *shared, const job_t &job, const tile_t &t, int q,
                                       double *to, double *to_previous) {
    const int p = q - 1 - s, beyond = STEPS - 1 - s;
    if (careful && (p < t.first - beyond || p >= t.last + beyond)) return;
    double value[2];
    if constexpr (COLORED) {
      value[odd] = half_sweep<careful, s, odd>(shared, job, p);
      value[1 - odd] = x[s][1][1 - odd];
    } else {
      whole_step<careful, s>(shared, job, p, value);
    }
    if constexpr (s < STEPS - 1) {
      double *const result = shared + S::STEP + (2 * s + (p & 1)) * PLANE;
      if constexpr (COLORED) {
        result[cell[0]] = value[0];
        result[cell[1]] = value[1];
      } else {
        store_pair(result + own, value);
      }
      x[s + 1][2][0] = value[0];
      x[s + 1][2][1] = value[1];
    } else if (writes) {
      const double pair[2] = {COLORED && swapped ? value[1] : value[0],
                              COLORED && swapped ? value[0] : value[1]};
      store_pair(to + p * job.l.p.kstride, pair);
      if (!COLORED && to_previous) store_pair(to_previous + p * job.l.p.kstride, x[s][1]);
    }
  }

  template <bool careful, int odd>
  __device__ __forceinline__ void steps(double *shared, const job_t &job, const tile_t &t, int q,
                                        double *to, double *to_previous) {
    step<careful, 0, odd>(shared, job, t, q, to, to_previous);
    step<careful, 1, odd>(shared, job, t, q, to, to_previous);
    if constexpr (STEPS > 2) step<careful, STEPS - 1, odd>(shared, job, t, q, to, to_previous);
  }

  /* Advance to the next plane. */
  __device__ __forceinline__ void advance(const slots_t &slot) {
#pragma unroll
    for (int v = 0; v < 2; v++) {
#pragma unroll
      for (int s = 0; s < STEPS; s++) {
        x[s][0][v] = x[s][1][v];
        x[s][1][v] = x[s][2][v];
      }
#pragma unroll
      for (int s = STEPS - 1; s > 0; s--) {
        dinv[s][v] = dinv[s - 1][v];
      }
#pragma unroll
      for (int s = STEPS; s > 0; s--)
        bk[s][v] = bk[s - 1][v];
    }
#pragma unroll
    for (int s = STEPS - 1; s > 0; s--)
      all[s] = all[s - 1];
    x_here = slot.x;
  }
};
} // namespace mg_temporal

#endif
