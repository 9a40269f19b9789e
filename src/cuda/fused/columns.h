/* Columns of one thread in the fused sweeps of fused/sweeps.cu: its register state and its steps.
 * Its cells in a plane, [row][column], are a pair or a square (fused/cells.h). */
#ifndef MG_CUDA_FUSED_COLUMNS_H
#define MG_CUDA_FUSED_COLUMNS_H

#include "cuda/fused/residual.h"

namespace mg_fused {
/* What both kinds of columns have. In stage q, bk[d] belongs to plane q - d. */
template <typename S> struct any_columns_t : cells_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH, PAIRS = S::PAIRS;
  mg_real_t dinv[STEPS][PAIRS][2], bk[DEPTH + 1][PAIRS][2];
  slots_t<S> slots;
  residual_t<S> residual;

  /* Load the values of a stage; x: those of the iterate. */
  __device__ __forceinline__ void load_stage(const job_t &job, mg_real_t x[PAIRS][2]) {
    if (!S::INTERPOLATED) {
      if (!job.has_x) this->clear(slots.x_of(0));
      this->load(slots.x_of(0), S::X, x);
    }
    if (!S::CONSTANT) this->load_beta(slots.once[0], S::BK, bk[0]);
  }

  /* 1 / diagonal of cell [r][c] for step s; of constant coefficients, times c2 (job_t). */
  template <care_t care, int s>
  __device__ __forceinline__ mg_real_t inverse(const job_t &job, const walls_t &walls, int r,
                                               int c) const {
    if (!S::CONSTANT) return dinv[s][r][c];
    return job.inverse[s][care == PLAIN ? 13 : place_of(walls.side)];
  }

  /* Coefficients of cell [r][c] in plane q - 1 - s. */
  template <int s, typename N>
  __device__ __forceinline__ mg_row_t row_of(const job_t &job, const N &near, int r, int c) const {
    return near.row_of(job, bk[s + 1], bk[s], r, c);
  }

  /* Whether stage q omits step s: in careful stages the plane may be unused, lack planes below it,
   * as in the first ones, or be outside a wall. With a residual, the last step is also computed in
   * one more plane on each side. */
  template <care_t care>
  static __device__ __forceinline__ bool omits(const job_t &job, const tile_t &t, int q, int s) {
    const int p = q - 1 - s, beyond = DEPTH - 1 - s;
    return care == CAREFUL &&
           (p < t.first - beyond || p >= t.end + beyond || is_outside(job.l.p, p));
  }
  /* Whether the block writes plane p of the last step. */
  template <care_t care>
  static __device__ __forceinline__ bool writes_plane(const tile_t &t, int p) {
    return care != CAREFUL || S::USE == RESIDUAL_UNUSED || (p >= t.first && p < t.end);
  }

  /* Add the residuals in plane p of cells with the values below, at and above that plane. */
  template <care_t care, typename N>
  __device__ __forceinline__ void
  add_residual(const job_t &job, const N &near, int p, const mg_real_t below[PAIRS][2],
               const mg_real_t own[PAIRS][2], const mg_real_t above[PAIRS][2]) {
    mg_real_t value[PAIRS][2];
#pragma unroll
    for (int r = 0; r < PAIRS; r++)
#pragma unroll
      for (int c = 0; c < 2; c++)
        value[r][c] =
            near.f_of(r, c) - apply<S, care>(job, this->template walls<care>(job.l.p, r, c, p),
                                             row_of<STEPS>(job, near, r, c),
                                             near.x_of(below, own, above, r, c));
    residual.add(job, *this, p, value);
  }
};

/* Columns of a colored smoother. Half sweeps update x in place, in registers and in shared memory:
 * a half sweep reads only the other color. In stage q, x[d] belongs to plane q - d. */
template <typename S> struct colored_columns_t : any_columns_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH, PAIRS = S::PAIRS;
  using A = any_columns_t<S>;
  using A::dinv, A::slots;
  mg_real_t x[DEPTH + 2][PAIRS][2];
  int parity; /* squares: stage q changes cells [r][c] with r + c + q + parity even */

  /* Both colors and planes alternate from step to step, so one parity serves all steps. */
  static __device__ __forceinline__ int parity_of(const job_t &job, const tile_t &t) {
    return mg_parity(&job.l.p, 0, t.j0, 0) ^ job.color ^ 1;
  }
  __device__ __forceinline__ void begin(mg_real_t *shared, const job_t &job, const tile_t &t,
                                        int first_stage) {
    A::begin(shared, job, t, first_stage);
    if (S::SQUARES) parity = parity_of(job, t);
  }

  __device__ __forceinline__ void load_stage(const job_t &job) { A::load_stage(job, x[0]); }
  /* Set x of the stage's plane to values from left to right, which are in its ring too. */
  __device__ __forceinline__ void set_x(const mg_real_t v[PAIRS][2]) {
#pragma unroll
    for (int r = 0; r < PAIRS; r++) {
      x[0][r][0] = this->swapped ? v[r][1] : v[r][0];
      x[0][r][1] = this->swapped ? v[r][0] : v[r][1];
    }
  }

  template <care_t care, int s> __device__ __forceinline__ auto near_of() const {
    return this->template load_near<care>(slots.x_of(s + 1), slots.often_of(s), x[s + 1]);
  }

  /* 1 / diagonal of the cells [r][r ^ odd] in the planes of N half sweeps from s on. */
  template <care_t care, int s, int N, int odd>
  __device__ __forceinline__ void invert(const job_t &job, int q, const mg_row_t row[N * PAIRS]) {
    mg_real_t d[N * PAIRS], inverse[N * PAIRS];
    float least[N * PAIRS];
#pragma unroll
    for (int m = 0; m < N * PAIRS; m++) {
      const int n = m / PAIRS, r = m % PAIRS;
      d[m] = diagonal<care>(job, this->template walls<care>(job.l.p, r, r ^ odd, q - 1 - s - n),
                            row[m]);
      least[m] = this->least[r];
    }
    mg_reciprocals(d, least, inverse);
#pragma unroll
    for (int m = 0; m < N * PAIRS; m++)
      dinv[s + m / PAIRS][m % PAIRS][(m % PAIRS) ^ odd] = inverse[m];
  }

  /* Coefficients of the cells that half sweep s changes. */
  template <int s, int odd, typename N>
  __device__ __forceinline__ void rows_of(const job_t &job, const N &near,
                                          mg_row_t row[PAIRS]) const {
#pragma unroll
    for (int r = 0; r < PAIRS; r++)
      row[r] = this->template row_of<s>(job, near, r, r ^ odd);
  }

  /* Half sweep s of stage q, which changes cells [r][r ^ odd]. */
  template <care_t care, int s, int odd, typename N>
  __device__ __forceinline__ void half_sweep(const job_t &job, const tile_t &t, int q,
                                             const N &near, const mg_row_t row[PAIRS],
                                             mg_real_t *to) {
    const int p = q - 1 - s;
    if (A::template omits<care>(job, t, q, s)) return;
    walls_t walls[PAIRS];
#pragma unroll
    for (int r = 0; r < PAIRS; r++)
      walls[r] = this->template walls<care>(job.l.p, r, r ^ odd, p);
    /* The third half sweep changes the same cells as the first, so it reuses their dinv. */
    if constexpr (S::SQUARES && s < 2 && !S::CONSTANT) invert<care, s, 1, odd>(job, q, row);
#pragma unroll
    for (int r = 0; r < PAIRS; r++) {
      const int c = r ^ odd;
      const mg_values7_t v = near.x_of(x[s + 2], x[s + 1], x[s], r, c);
      const mg_real_t ax = apply<S, care>(job, walls[r], row[r], v);
      x[s + 1][r][c] =
          mg_relax(v.c, ax, near.f_of(r, c), this->template inverse<care, s>(job, walls[r], r, c),
                   S::CONSTANT ? MG_REAL(1.0) : job.c2[s]);
      if (s < DEPTH - 1) this->put(slots.x_of(s + 1), r, c, x[s + 1][r][c]);
    }
    if (s == STEPS - 1 && A::template writes_plane<care>(t, p)) this->write(job, p, to, x[s + 1]);
  }

  /* The same, and load what it reads. */
  template <care_t care, int s, int odd>
  __device__ __forceinline__ void load_and_sweep(const job_t &job, const tile_t &t, int q,
                                                 mg_real_t *to) {
    if (A::template omits<care>(job, t, q, s)) return;
    const auto near = near_of<care, s>();
    mg_row_t row[PAIRS];
    rows_of<s, odd>(job, near, row);
    half_sweep<care, s, odd>(job, t, q, near, row, to);
  }

  /* The reciprocals of two half sweeps of a pair share one branch (mg_reciprocals). */
  template <care_t care, int odd>
  __device__ __forceinline__ void half_sweeps(const job_t &job, const tile_t &t, int q,
                                              mg_real_t *to) {
    if constexpr (S::CONSTANT && S::SQUARES && care == PLAIN) {
      /* All loads come before the stores that the compiler does not let them pass. */
      const auto first = near_of<care, 0>(), second = near_of<care, 1>(),
                 third = near_of<care, STEPS - 1>();
      mg_row_t row[PAIRS];
      rows_of<0, odd>(job, first, row);
      half_sweep<care, 0, odd>(job, t, q, first, row, to);
      half_sweep<care, 1, odd>(job, t, q, second, row, to);
      if constexpr (STEPS > 2) half_sweep<care, STEPS - 1, odd>(job, t, q, third, row, to);
      return;
    } else if constexpr (S::SQUARES) {
      load_and_sweep<care, 0, odd>(job, t, q, to);
      load_and_sweep<care, 1, odd>(job, t, q, to);
    } else {
      const auto near = near_of<care, 0>(), next = near_of<care, 1>();
      mg_row_t row[2];
      rows_of<0, odd>(job, near, row);
      rows_of<1, odd>(job, next, row + 1);
      if (!S::CONSTANT) invert<care, 0, 2, odd>(job, q, row);
      half_sweep<care, 0, odd>(job, t, q, near, row, to);
      half_sweep<care, 1, odd>(job, t, q, next, row + 1, to);
    }
    if constexpr (STEPS > 2) load_and_sweep<care, STEPS - 1, odd>(job, t, q, to);
  }

  template <care_t care, int odd>
  __device__ __forceinline__ void steps(const job_t &job, const tile_t &t, int q, mg_real_t *to,
                                        mg_real_t *) {
    if (S::SQUARES && care == CAREFUL ? (q + parity) & 1 : odd)
      half_sweeps<care, 1>(job, t, q, to);
    else
      half_sweeps<care, 0>(job, t, q, to);
    if constexpr (S::USE != RESIDUAL_UNUSED)
      if (!A::template omits<care>(job, t, q, STEPS))
        this->template add_residual<care>(job, near_of<care, STEPS>(), q - 1 - STEPS, x[STEPS + 2],
                                          x[STEPS + 1], x[STEPS]);
  }

  /* Advance to the next plane. */
  __device__ __forceinline__ void advance(void) {
    shift(x);
    shift(dinv);
    shift(A::bk);
    slots.next();
  }
};

/* Columns of a smoother whose steps change all cells. Two planes of each step's results are in
 * shared memory. */
template <typename S> struct whole_columns_t : any_columns_t<S> {
  static constexpr int STEPS = S::STEPS, DEPTH = S::DEPTH, PAIRS = S::PAIRS;
  using A = any_columns_t<S>;
  using A::dinv, A::slots;
  /* x[s]: input of step s (s = STEPS: of the residual) in the planes below, at and above it. */
  mg_real_t x[DEPTH][3][PAIRS][2], previous_in[PAIRS][2];

  __device__ __forceinline__ void load_stage(const job_t &job) {
    A::load_stage(job, x[0][2]);
    if (S::LOOKS_BACK && job.has_previous) this->load(slots.once[0], S::PREVIOUS, previous_in);
  }

  template <care_t care, int s> __device__ __forceinline__ auto near_of(int p) const {
    const int in = s == 0 ? slots.x_of(1) : (S::STEP + (2 * (s - 1) + (p & 1)) * S::PLANE) * VALUE;
    return this->template load_near<care>(in, slots.often_of(s), x[s][1]);
  }

  template <care_t care>
  __device__ __forceinline__ void invert(const job_t &job, const near_t<S> &near, int p) {
    mg_real_t d[2 * PAIRS], inverse[2 * PAIRS];
    float least[2 * PAIRS];
#pragma unroll
    for (int m = 0; m < 2 * PAIRS; m++) {
      d[m] = diagonal<care>(job, this->template walls<care>(job.l.p, m / 2, m % 2, p),
                            this->template row_of<0>(job, near, m / 2, m % 2));
      least[m] = this->least[m / 2];
    }
    mg_reciprocals(d, least, inverse);
#pragma unroll
    for (int m = 0; m < 2 * PAIRS; m++)
      dinv[0][m / 2][m % 2] = inverse[m];
  }

  /* Step s of stage q. The result goes to shared memory, or to the level after the last step. */
  template <care_t care, int s>
  __device__ __forceinline__ void step(const job_t &job, const tile_t &t, int q, mg_real_t *to,
                                       mg_real_t *to_previous) {
    const int p = q - 1 - s;
    if (A::template omits<care>(job, t, q, s)) return;
    const near_t<S> near = near_of<care, s>(p);
    if constexpr (s == 0 && !S::CONSTANT) invert<care>(job, near, p);
    mg_real_t value[PAIRS][2];
#pragma unroll
    for (int r = 0; r < PAIRS; r++)
#pragma unroll
      for (int c = 0; c < 2; c++) {
        const mg_values7_t v = near.x_of(x[s][0], x[s][1], x[s][2], r, c);
        const walls_t walls = this->template walls<care>(job.l.p, r, c, p);
        const mg_real_t ax =
            apply<S, care>(job, walls, this->template row_of<s>(job, near, r, c), v);
        /* In the registers of the previous step this plane is the lowest one. */
        const mg_real_t before = s == 0 ? previous_in[r][c] : x[s > 0 ? s - 1 : 0][0][r][c];
        const mg_real_t previous = job.c1[s] == MG_REAL(0.0) ? v.c : before;
        value[r][c] =
            mg_update(v.c, previous, ax, near.f_of(r, c),
                      this->template inverse<care, s>(job, walls, r, c), job.c1[s], job.c2[s]);
      }
    if constexpr (s < DEPTH - 1) {
      this->store((p & 1) * S::PLANE_BYTES, S::STEP + 2 * s * S::PLANE, value);
#pragma unroll
      for (int r = 0; r < PAIRS; r++)
        x[s + 1][2][r][0] = value[r][0], x[s + 1][2][r][1] = value[r][1];
    }
    if (s == STEPS - 1 && A::template writes_plane<care>(t, p)) {
      this->write(job, p, to, value);
      if (to_previous) this->write(job, p, to_previous, x[s][1]);
    }
  }

  template <care_t care, int>
  __device__ __forceinline__ void steps(const job_t &job, const tile_t &t, int q, mg_real_t *to,
                                        mg_real_t *to_previous) {
    step<care, 0>(job, t, q, to, to_previous);
    step<care, 1>(job, t, q, to, to_previous);
    if constexpr (STEPS > 2) step<care, STEPS - 1>(job, t, q, to, to_previous);
    if constexpr (S::USE != RESIDUAL_UNUSED)
      if (!A::template omits<care>(job, t, q, STEPS))
        this->template add_residual<care>(job, near_of<care, STEPS>(q - 1 - STEPS), q - 1 - STEPS,
                                          x[STEPS][0], x[STEPS][1], x[STEPS][2]);
  }

  /* Advance to the next plane. */
  __device__ __forceinline__ void advance(void) {
#pragma unroll
    for (int s = 0; s < DEPTH; s++)
#pragma unroll
      for (int r = 0; r < PAIRS; r++)
#pragma unroll
        for (int c = 0; c < 2; c++) {
          x[s][0][r][c] = x[s][1][r][c];
          x[s][1][r][c] = x[s][2][r][c];
        }
    shift(dinv);
    shift(A::bk);
    slots.next();
  }
};

template <typename S>
using columns_t =
    typename std::conditional<S::COLORED, colored_columns_t<S>, whole_columns_t<S>>::type;
} // namespace mg_fused

#endif
