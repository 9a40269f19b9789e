/* The solvers of the coarsest level by one block; digit for digit what bottom.c composes. */
#ifndef MG_CUDA_KRYLOV_H
#define MG_CUDA_KRYLOV_H

#include "block.h"

/** What is solved, and when it is enough. */
struct mg_bottom_job_t {
  mg_bottom_t method;
  int most;
  double reduction;
  const mg_step_t *step; /**< MG_BOTTOM_SMOOTHER: one smooth */
  int n_steps;
};

/** The solver as one thread sees it. */
template <bool fv4, bool varies> struct mg_krylov_t : mg_block_level_t {
  double norm0, reduction;
  bool done;

  __device__ mg_krylov_t(const mg_block_level_t &level, double until)
      : mg_block_level_t(level), norm0(0.0), reduction(until), done(false) {}

  __device__ void test(int residual_vector) {
    const double norm = max_norm(residual_vector);
    done = done || !(norm >= reduction * norm0) || norm == 0.0;
  }

  __device__ void apply_preconditioned(int dst, int x) {
    multiply(MG_TMP, MG_DINV, x);
    residual<fv4, varies>(dst, MG_TMP, -1);
  }

  __device__ static bool unusable(double quotient) {
    return quotient == 0.0 || !isfinite(quotient);
  }

  __device__ void bicgstab(int most) {
    axpby(MG_KRYLOV_R0, 1.0, MG_KRYLOV_R, 0.0, -1);
    axpby(MG_KRYLOV_P, 1.0, MG_KRYLOV_R, 0.0, -1);
    double rho = dot(MG_KRYLOV_R, MG_KRYLOV_R0);
    for (int n = 0; n < most && !done; n++) {
      apply_preconditioned(MG_KRYLOV_AP, MG_KRYLOV_P);
      const double ap_dot_r0 = dot(MG_KRYLOV_AP, MG_KRYLOV_R0);
      const double alpha = rho / ap_dot_r0;
      if (ap_dot_r0 == 0.0 || !isfinite(alpha)) return;
      axpby(MG_U, 1.0, MG_U, alpha, MG_TMP);
      axpby(MG_KRYLOV_S, 1.0, MG_KRYLOV_R, -alpha, MG_KRYLOV_AP);
      test(MG_KRYLOV_S);
      if (done) return;
      apply_preconditioned(MG_KRYLOV_AS, MG_KRYLOV_S);
      const double as_dot_as = dot(MG_KRYLOV_AS, MG_KRYLOV_AS);
      const double omega = dot(MG_KRYLOV_AS, MG_KRYLOV_S) / as_dot_as;
      if (as_dot_as == 0.0 || unusable(omega)) return;
      axpby(MG_U, 1.0, MG_U, omega, MG_TMP);
      axpby(MG_KRYLOV_R, 1.0, MG_KRYLOV_S, -omega, MG_KRYLOV_AS);
      test(MG_KRYLOV_R);
      if (done) return;
      const double rho_next = dot(MG_KRYLOV_R, MG_KRYLOV_R0);
      const double beta = rho_next / rho * (alpha / omega);
      if (unusable(beta)) return;
      axpby(MG_KRYLOV_P, 1.0, MG_KRYLOV_P, -omega, MG_KRYLOV_AP);
      axpby(MG_KRYLOV_P, 1.0, MG_KRYLOV_R, beta, MG_KRYLOV_P);
      rho = rho_next;
    }
  }

  __device__ void cg(int most) {
    multiply(MG_KRYLOV_S, MG_DINV, MG_KRYLOV_R);
    axpby(MG_KRYLOV_P, 1.0, MG_KRYLOV_S, 0.0, -1);
    double rho = dot(MG_KRYLOV_R, MG_KRYLOV_S);
    for (int n = 0; n < most; n++) {
      residual<fv4, varies>(MG_KRYLOV_AP, MG_KRYLOV_P, -1);
      const double alpha = rho / dot(MG_KRYLOV_P, MG_KRYLOV_AP);
      if (unusable(alpha)) return;
      axpby(MG_U, 1.0, MG_U, alpha, MG_KRYLOV_P);
      axpby(MG_KRYLOV_R, 1.0, MG_KRYLOV_R, -alpha, MG_KRYLOV_AP);
      test(MG_KRYLOV_R);
      if (done) return;
      multiply(MG_KRYLOV_S, MG_DINV, MG_KRYLOV_R);
      const double rho_next = dot(MG_KRYLOV_R, MG_KRYLOV_S);
      axpby(MG_KRYLOV_P, 1.0, MG_KRYLOV_S, rho_next / rho, MG_KRYLOV_P);
      rho = rho_next;
    }
  }

  __device__ void smoother(const mg_bottom_job_t &job, bool zero_guess) {
    for (int n = 0; n < job.most && !done; n++) {
      smooth<fv4, varies>(job.step, job.n_steps, zero_guess && n == 0);
      residual<fv4, varies>(MG_KRYLOV_R, MG_U, MG_F);
      test(MG_KRYLOV_R);
    }
  }

  __device__ void solve(const mg_bottom_job_t &job, bool zero_guess) {
    if (l->v.periodic && l->v.a == 0.0) shift(MG_F, -(dot(MG_F, -1) / (double)cells));
    if (zero_guess) {
      clear(MG_U);
      axpby(MG_KRYLOV_R, 1.0, MG_F, 0.0, -1);
    } else {
      residual<fv4, varies>(MG_KRYLOV_R, MG_U, MG_F);
    }
    norm0 = max_norm(MG_KRYLOV_R);
    if (norm0 == 0.0) return;
    if (job.method == MG_BOTTOM_CG)
      cg(job.most);
    else if (job.method == MG_BOTTOM_BICGSTAB)
      bicgstab(job.most);
    else
      smoother(job, zero_guess);
  }
};

#endif
