/* The Krylov solvers of the coarsest level in one launch of one block, so that a cycle does not
 * come back to the host for its scalars. Digit for digit what bottom.c composes: the same order of
 * operations, bricks and exact sums.
 *
 * At most 11^3 cells: latency alone counts, some 20 block-wide synchronizations an iteration. */
#include "cuda.h"
#include "wall_value.h"

enum { THREADS = 512, MOST_CELLS = 4096 };

/** What all threads of the block share. */
struct shared_t {
  unsigned long long digit[MG_SUM_LIMBS];
  double lane_sum[THREADS];
  double scalar;
  unsigned long long warp_max[THREADS / 32];
};

/** The solver as one thread sees it. */
struct krylov_t {
  const mg_cuda_patch_t *l;
  shared_t *s;
  double norm0, reduction;
  int cells, unit; /* of the level; width of a brick */
  bool done;

  __device__ ptrdiff_t offset(int c) const {
    const mg_patch_t *p = &l->p;
    return c % p->n[0] + c / p->n[0] % p->n[1] * p->jstride +
           (ptrdiff_t)(c / p->n[0] / p->n[1]) * p->kstride;
  }

  /* Loops over cells end with everybody's results in sight. */
  __device__ void axpby(int dst, double alpha, int x, double beta, int y) {
    double *const *v = l->p.vec;
    for (int c = (int)threadIdx.x; c < cells; c += THREADS) {
      const ptrdiff_t at = offset(c);
      v[dst][at] = y < 0 ? alpha * v[x][at] : fma(alpha, v[x][at], beta * v[y][at]);
    }
    __syncthreads();
  }

  /* Ghosts too, as mg_fill does. */
  __device__ void clear(int x) {
    const int g = l->v.ghosts, w = l->p.n[0] + 2 * g;
    for (int c = (int)threadIdx.x; c < w * w * w; c += THREADS)
      *mg_cell(&l->p, x, c % w - g, c / w % w - g, c / w / w - g) = 0.0;
    __syncthreads();
  }

  __device__ void multiply(int dst, int x, int y) {
    double *const *v = l->p.vec;
    for (int c = (int)threadIdx.x; c < cells; c += THREADS) {
      const ptrdiff_t at = offset(c);
      v[dst][at] = v[x][at] * v[y][at];
    }
    __syncthreads();
  }

  __device__ void shift(int x, double value) {
    for (int c = (int)threadIdx.x; c < cells; c += THREADS)
      l->p.vec[x][offset(c)] += value;
    __syncthreads();
  }

  /* The whole rim: wrapped where the domain is periodic, else fv4's formulas; the 7-point operators
   * fold their walls in. */
  __device__ void fill_rim(int x) {
    const mg_patch_t *p = &l->p;
    const int g = l->v.ghosts, w = p->n[0] + 2 * g;
    if (!l->v.periodic && l->v.op != MG_OPERATOR_FV4) return;
    for (int c = (int)threadIdx.x; c < w * w * w; c += THREADS) {
      const int at[3] = {c % w - g, c / w % w - g, c / w / w - g};
      bool inside = true;
      for (int d = 0; d < 3; d++)
        inside = inside && at[d] >= 0 && at[d] < p->n[d];
      if (inside) continue;
      if (l->v.periodic)
        *mg_cell(p, x, at[0], at[1], at[2]) =
            *mg_cell(p, x, (at[0] + p->n[0]) % p->n[0], (at[1] + p->n[1]) % p->n[1],
                     (at[2] + p->n[2]) % p->n[2]);
      else
        mg_wall_fill(p, x, at, l->order);
    }
    __syncthreads();
  }

  /* dst = f - A x, or A x for f < 0. */
  __device__ void residual(int dst, int x, int f) {
    const mg_patch_t *p = &l->p;
    fill_rim(x);
    for (int c = (int)threadIdx.x; c < cells; c += THREADS) {
      const int i = c % p->n[0], j = c / p->n[0] % p->n[1], k = c / p->n[0] / p->n[1];
      const double ax = l->v.op == MG_OPERATOR_FV4 ? mg_apply<true>(l, p->vec[x], i, j, k)
                                                   : mg_apply<false>(l, p->vec[x], i, j, k);
      const ptrdiff_t at = offset(c);
      p->vec[dst][at] = f < 0 ? ax : p->vec[f][at] - ax;
    }
    __syncthreads();
  }

  __device__ double max_norm(int x) {
    unsigned long long bits = 0;
    for (int c = (int)threadIdx.x; c < cells; c += THREADS) {
      const unsigned long long b =
          (unsigned long long)__double_as_longlong(fabs(l->p.vec[x][offset(c)]));
      bits = b > bits ? b : bits;
    }
    for (int step = 16; step > 0; step /= 2) {
      const unsigned long long other = __shfl_xor_sync(0xffffffffu, bits, step);
      bits = other > bits ? other : bits;
    }
    if (threadIdx.x % 32 == 0) s->warp_max[threadIdx.x / 32] = bits;
    __syncthreads();
    for (int w = 0; w < THREADS / 32; w++)
      bits = s->warp_max[w] > bits ? s->warp_max[w] : bits;
    __syncthreads();
    const double norm = __longlong_as_double((long long)bits);
    return isfinite(norm) ? norm : NAN;
  }

  /* Sum x y, y < 0 for x alone, in the order of sum.h. */
  __device__ double dot(int x, int y) {
    const mg_patch_t *p = &l->p;
    const int u = unit, per_pass = THREADS / u, side = p->n[0] / u, bricks = side * side * side;
    const int lane = (int)threadIdx.x % u, local = (int)threadIdx.x / u;
    for (int d = (int)threadIdx.x; d < MG_SUM_LIMBS; d += THREADS)
      s->digit[d] = 0;
    __syncthreads();
    for (int first = 0; first < bricks; first += per_pass) {
      const int brick = first + local;
      const bool mine = local < per_pass && brick < bricks;
      double sum = 0.0;
      if (mine) {
        const int bi = brick % side * u, bj = brick / side % side * u, bk = brick / side / side * u;
        const double *a = mg_cell(p, x, bi + lane, bj, bk);
        const double *b = y < 0 ? nullptr : mg_cell(p, y, bi + lane, bj, bk);
        for (int k = 0; k < u; k++)
          for (int j = 0; j < u; j++) {
            const ptrdiff_t at = j * p->jstride + k * p->kstride;
            sum = b ? fma(a[at], b[at], sum) : sum + a[at];
          }
      }
      s->lane_sum[threadIdx.x] = sum;
      __syncthreads();
      if (mine && lane == 0) {
        for (int i = 1; i < u; i++)
          sum += s->lane_sum[threadIdx.x + i];
        mg_sum_add_atomic(s->digit, sum);
      }
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      mg_sum_t exact;
      for (int d = 0; d < MG_SUM_LIMBS; d++)
        exact.digit[d] = (int64_t)s->digit[d];
      s->scalar = mg_sum_value(&exact);
    }
    __syncthreads();
    const double value = s->scalar;
    __syncthreads();
    return value;
  }

  __device__ void test(int residual_vector) {
    const double norm = max_norm(residual_vector);
    done = done || !(norm >= reduction * norm0) || norm == 0.0;
  }

  __device__ void apply_preconditioned(int dst, int x) {
    multiply(MG_TMP, MG_DINV, x);
    residual(dst, MG_TMP, -1);
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
      residual(MG_KRYLOV_AP, MG_KRYLOV_P, -1);
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
};

static __global__ void __launch_bounds__(THREADS)
    bottom(mg_cuda_patch_t l, mg_bottom_t method, bool zero_guess, int most, double reduction) {
  __shared__ shared_t shared;
  const int n = l.p.n[0];
  krylov_t solver;
  solver.l = &l;
  solver.s = &shared;
  solver.cells = n * n * n;
  solver.unit = l.v.box_dim % 8 == 0 ? 8 : l.v.box_dim < 8 ? l.v.box_dim : 1;
  solver.reduction = reduction;
  solver.done = false;
  if (l.v.periodic && l.v.a == 0.0)
    solver.shift(MG_F, -(solver.dot(MG_F, -1) / ((double)n * n * n)));
  if (zero_guess) {
    solver.clear(MG_U);
    solver.axpby(MG_KRYLOV_R, 1.0, MG_F, 0.0, -1);
  } else {
    solver.residual(MG_KRYLOV_R, MG_U, MG_F);
  }
  solver.norm0 = solver.max_norm(MG_KRYLOV_R);
  if (solver.norm0 == 0.0) return;
  if (method == MG_BOTTOM_CG)
    solver.cg(most);
  else
    solver.bicgstab(most);
}

bool mg_cuda_bottom_fits(const mg_view_t *v, mg_bottom_t method) {
  return method != MG_BOTTOM_SMOOTHER && v->n_patches == 1 && v->cells <= MOST_CELLS &&
         v->cells == (int64_t)v->dim * v->dim * v->dim;
}

mg_status_t mg_cuda_bottom(const mg_view_t *v, mg_bottom_t method, bool zero_guess, int most,
                           double reduction) {
  bottom<<<1, THREADS, 0, mg_cuda.stream>>>(mg_cuda_patch(v, 0), method, zero_guess, most,
                                            reduction);
  MG_CUDA_LAUNCHED("bottom");
  return MG_OK;
}
