/* Coarsest-level solvers in one thread block, bit-identical to the composed solvers in bottom.c. */
#ifndef MG_CUDA_COARSE_KRYLOV_H
#define MG_CUDA_COARSE_KRYLOV_H

#include "cuda/coarse/block_smoother.h"
#include "cuda/coarse/krylov_cells.h"

/** Solver method and stopping criteria. */
struct mg_bottom_job_t {
  mg_bottom_t method;
  int max_iterations;
  double reduction;
  mg_block_steps_t steps; /**< MG_BOTTOM_SMOOTHER, which fv4 lacks: one smooth */
};

/** Solve a level of one patch in one launch: bottom.cu.
 *  @param zero_guess  otherwise from MG_U */
mg_status_t mg_bottom_run(const mg_cuda_patch_t &l, const mg_bottom_job_t &job, bool zero_guess);

/** One complete smooth of MG_U. Not inlined, since it is rarely used on the coarsest level. */
template <bool colored>
static __device__ __noinline__ void mg_block_smooth(const mg_cuda_patch_t *l, mg_block_shared_t *s,
                                                    const mg_block_steps_t &steps,
                                                    bool zero_guess) {
  const mg_block_level_t level(l, s);
  const mg_real2_t zero = {0.0, 0.0}, u = zero_guess ? zero : level.load(MG_U, level.pair());
  mg_block_smoother_t<colored>(level, steps, u).smooth();
  __syncthreads();
}

/** A level of one cell, by value. */
struct mg_one_cell_level_t {
  mg_row_t row;
  mg_real_t dinv, b_h2;
  bool periodic[3], singular;
};

/** A level of one cell, held in registers. Same interface as block_level.h, for a single thread. */
struct mg_one_cell_t : mg_cell_vectors_t {
  static constexpr bool has_many_cells = false;
  static constexpr int cells = 1;
  const mg_one_cell_level_t *l;

  __device__ __forceinline__ mg_one_cell_t(const mg_one_cell_level_t *level, mg_real_t f,
                                           mg_real_t u)
      : l(level) {
    x[MG_F] = f;
    x[MG_DINV] = l->dinv;
    x[MG_U] = u;
  }

  /** The formula of a wall has order 1, Dirichlet's also at other walls: see walls.h. In a periodic
   *  direction the cell is its own neighbor. */
  template <bool fv4>
  __device__ __forceinline__ void residual(mg_vector_t dst, mg_vector_t a, mg_vector_t f) {
    const mg_real_t c = x[a], ghost = mg_ghost(MG_WALL_DIRICHLET, 1, c, 0.0);
    mg_values7_t near = {c, {}, {}};
#pragma unroll
    for (int d = 0; d < 3; d++)
      near.low[d] = near.high[d] = l->periodic[d] ? c : ghost;
    const mg_row_t &row = l->row;
    const mg_real_t ax =
        mg_apply_values7(near, row.beta[0], row.beta[1], row.beta[2], 1, 1, row.a, l->b_h2);
    x[dst] = f < 0 ? ax : x[f] - ax;
  }

  __device__ __forceinline__ double max_norm(mg_vector_t a) const {
    return isfinite(x[a]) ? fabs((double)x[a]) : NAN;
  }

  __device__ __forceinline__ double dot(mg_vector_t a, mg_vector_t b) const {
    const double sum = b < 0 ? 0.0 + x[a] : fma((double)x[a], (double)x[b], 0.0);
    return isfinite(sum) ? sum + 0.0 : NAN;
  }
};

/** The solver as seen by one thread, on a level type with the interface of mg_block_level_t. */
template <typename level_t, bool fv4, bool colored> struct mg_krylov_t : level_t {
  using level_t::axpby;
  using level_t::cells;
  using level_t::clear;
  using level_t::dot;
  using level_t::l;
  using level_t::max_norm;
  using level_t::multiply;
  using level_t::shift;
  double norm0, reduction;
  bool done;

  __device__ mg_krylov_t(const level_t &level, double until)
      : level_t(level), norm0(0.0), reduction(until), done(false) {}

  __device__ void residual_of(mg_vector_t dst, mg_vector_t x, mg_vector_t f) {
    this->template residual<fv4>(dst, x, f);
  }

  __device__ void test(mg_vector_t residual_vector) {
    if constexpr (level_t::shares_barriers) {
      this->test_later(residual_vector, reduction * norm0);
    } else {
      const double norm = max_norm(residual_vector);
      done = done || !(norm >= reduction * norm0) || norm == 0.0;
    }
  }

  /** Whether the last test has ended the iteration.
   *  @param after_barrier  a residual or a sum has followed the test */
  __device__ bool ended(bool after_barrier) {
    if constexpr (level_t::shares_barriers)
      return after_barrier && this->test_ended();
    else
      return done;
  }

  __device__ void apply_preconditioned(mg_vector_t dst, mg_vector_t x) {
    multiply(MG_TMP, MG_DINV, x);
    residual_of(dst, MG_TMP, MG_NO_VECTOR);
  }

  __device__ void remove_mean(mg_vector_t x) { shift(x, -(dot(x, MG_NO_VECTOR) / (double)cells)); }

  /** a b and a a. */
  __device__ double2 dots(mg_vector_t a, mg_vector_t b) {
    if constexpr (level_t::shares_barriers) {
      return level_t::dots(a, b);
    } else {
      const double square = dot(a, a);
      return make_double2(dot(a, b), square);
    }
  }

  /** a / b * (c / d). */
  __device__ double product_of_quotients(double a, double b, double c, double d) const {
    if constexpr (level_t::shares_barriers)
      return level_t::product_of_quotients(a, b, c, d);
    else
      return a / b * (c / d);
  }

  __device__ static bool unusable(double quotient) {
    return quotient == 0.0 || !isfinite(quotient);
  }

  __device__ void bicgstab(int max_iterations) {
    axpby(MG_KRYLOV_R0, 1.0, MG_KRYLOV_R, 0.0, MG_NO_VECTOR);
    axpby(MG_KRYLOV_P, 1.0, MG_KRYLOV_R, 0.0, MG_NO_VECTOR);
    double rho = dot(MG_KRYLOV_R, MG_KRYLOV_R0);
    for (int n = 0; n < max_iterations && !done; n++) {
      apply_preconditioned(MG_KRYLOV_AP, MG_KRYLOV_P);
      const double ap_dot_r0 = dot(MG_KRYLOV_AP, MG_KRYLOV_R0);
      const double alpha = rho / ap_dot_r0;
      if (ap_dot_r0 == 0.0 || !isfinite(alpha)) return;
      axpby(MG_U, 1.0, MG_U, alpha, MG_TMP);
      axpby(MG_KRYLOV_S, 1.0, MG_KRYLOV_R, -alpha, MG_KRYLOV_AP);
      test(MG_KRYLOV_S);
      if (ended(false)) return;
      apply_preconditioned(MG_KRYLOV_AS, MG_KRYLOV_S);
      if (ended(true)) return;
      const double2 as_dot = dots(MG_KRYLOV_AS, MG_KRYLOV_S);
      const double as_dot_as = as_dot.y;
      const double omega = as_dot.x / as_dot_as;
      if (as_dot_as == 0.0 || unusable(omega)) return;
      axpby(MG_U, 1.0, MG_U, omega, MG_TMP);
      axpby(MG_KRYLOV_R, 1.0, MG_KRYLOV_S, -omega, MG_KRYLOV_AS);
      test(MG_KRYLOV_R);
      if (ended(false)) return;
      const double rho_next = dot(MG_KRYLOV_R, MG_KRYLOV_R0);
      if (ended(true)) return;
      const double beta = product_of_quotients(rho_next, rho, alpha, omega);
      if (unusable(beta)) return;
      axpby(MG_KRYLOV_P, 1.0, MG_KRYLOV_P, -omega, MG_KRYLOV_AP);
      axpby(MG_KRYLOV_P, 1.0, MG_KRYLOV_R, beta, MG_KRYLOV_P);
      rho = rho_next;
    }
  }

  __device__ void smoother(const mg_bottom_job_t &job, bool zero_guess) {
    if (l->singular) {
      axpby(MG_KRYLOV_P, 1.0, MG_F, 0.0, MG_NO_VECTOR);
      remove_mean(MG_F);
    }
    for (int n = 0; n < job.max_iterations && !done; n++) {
      mg_block_smooth<colored>(l, this->s, job.steps, zero_guess && n == 0);
      residual_of(MG_KRYLOV_R, MG_U, MG_F);
      test(MG_KRYLOV_R);
    }
    if (l->singular) axpby(MG_F, 1.0, MG_KRYLOV_P, 0.0, MG_NO_VECTOR);
  }

  __device__ void solve(const mg_bottom_job_t &job, bool zero_guess) {
    if (zero_guess) {
      clear(MG_U);
      axpby(MG_KRYLOV_R, 1.0, MG_F, 0.0, MG_NO_VECTOR);
    } else {
      residual_of(MG_KRYLOV_R, MG_U, MG_F);
    }
    if (l->singular) remove_mean(MG_KRYLOV_R);
    norm0 = max_norm(MG_KRYLOV_R);
    if (norm0 == 0.0) return;
    if (job.method == MG_BOTTOM_BICGSTAB)
      bicgstab(job.max_iterations);
    else if constexpr (level_t::has_many_cells && !fv4)
      smoother(job, zero_guess);
  }
};

/** Solve a level of one cell.
 *  @return u */
static __device__ __forceinline__ mg_real_t mg_solve_one_cell(const mg_one_cell_level_t &level,
                                                              mg_real_t f, mg_real_t u,
                                                              const mg_bottom_job_t &job,
                                                              bool zero_guess) {
  mg_krylov_t<mg_one_cell_t, false, true> solver({&level, f, u}, job.reduction);
  solver.solve(job, zero_guess);
  return solver.x[MG_U];
}

/** Whether the block can solve a level with one cell per thread. */
static __device__ __forceinline__ bool mg_has_thread_per_cell(const mg_block_level_t &level,
                                                              const mg_bottom_job_t &job) {
  return level.cells <= (int)blockDim.x && level.unit * level.unit * level.unit == level.cells &&
         job.method != MG_BOTTOM_SMOOTHER;
}

/** Solve a level with one cell per thread. All threads of the block call this; only those of warps
 *  with cells compute, and the others join their barriers.
 *  @param[in] f, u  of this thread's cell
 *  @return u */
static __device__ __forceinline__ mg_real_t
mg_solve_thread_cells(const mg_block_level_t &level, const mg_row_t &row, mg_real_t dinv,
                      mg_real_t f, mg_real_t u, const mg_bottom_job_t &job, bool zero_guess) {
  typedef mg_thread_cell_t level_t;
  if ((int)threadIdx.x / 32 >= level_t::warps(level.cells)) {
    level_t::join_barriers();
    return u;
  }
  mg_krylov_t<level_t, false, true> solver({level, row, dinv, f, u}, job.reduction);
  solver.solve(job, zero_guess);
  solver.release_barriers();
  return solver.x[MG_U];
}

/** Solve a level whose vectors stay in global memory. All threads of the block must call this. */
template <bool fv4, bool colored>
static __device__ __forceinline__ void
mg_solve_in_memory(const mg_block_level_t &level, const mg_bottom_job_t &job, bool zero_guess) {
  mg_krylov_t<mg_block_level_t, fv4, colored> solver(level, job.reduction);
  solver.solve(job, zero_guess);
}

/** Solve a level of one patch. All threads of the block must call this; it ends with a barrier. */
template <bool fv4, bool colored>
static __device__ __forceinline__ void mg_block_solve(const mg_cuda_patch_t *l,
                                                      mg_block_shared_t *s,
                                                      const mg_bottom_job_t &job, bool zero_guess) {
  if (!fv4 && l->v.cells == 1 && job.method != MG_BOTTOM_SMOOTHER) {
    if (threadIdx.x == 0) {
      mg_real_t *const *vec = l->p.vec;
      const mg_wall_t(&wall)[3][2] = l->p.wall;
      const mg_one_cell_level_t cell = {mg_row(l, 0, 0, 0),
                                        vec[MG_DINV][0],
                                        MG_REAL(l->v.b_h2),
                                        {!wall[0][0], !wall[1][0], !wall[2][0]},
                                        l->singular};
      vec[MG_U][0] = mg_solve_one_cell(cell, vec[MG_F][0], zero_guess ? MG_REAL(0.0) : vec[MG_U][0],
                                       job, zero_guess);
    }
  } else if (!fv4 && mg_has_thread_per_cell({l, s}, job)) {
    const mg_block_level_t level(l, s);
    const int3 i = level.cell(min((int)threadIdx.x, level.cells - 1));
    const ptrdiff_t at = level.offset(i);
    const mg_real_t u =
        mg_solve_thread_cells(level, mg_row(l, i.x, i.y, i.z), level.vec(MG_DINV)[at],
                              level.vec(MG_F)[at], level.vec(MG_U)[at], job, zero_guess);
    if ((int)threadIdx.x < level.cells) level.vec(MG_U)[at] = u;
  } else {
    mg_solve_in_memory<fv4, colored>({l, s}, job, zero_guess);
  }
  __syncthreads();
}

#endif
