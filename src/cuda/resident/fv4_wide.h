/* Resident smooths of fv4 on levels with more cells than threads (resident/fv4.cu): colored steps
 * on 48^3 or 64^3 cells.
 *
 * A tile has 16 x 16 x 8 cells, and a thread four cells that adjoin in k, of which every step
 * updates two. Coefficients are in shared memory, by faces: the beta of a face and its two
 * differences along the face, 160 KiB. Rows and planes are such that 16 adjacent threads, which
 * alternately access two planes, have no bank conflicts.
 *
 * All blocks read 30 betas per cell only once per smooth, and 25 values from shared memory. */
#ifndef MG_CUDA_RESIDENT_FV4_WIDE_H
#define MG_CUDA_RESIDENT_FV4_WIDE_H

#include "cuda/reduction.h"
#include "cuda/resident/fv4_halo.h"
#include "cuda/runtime/dependent_launch.h"

namespace mg_resident_fv4 {
enum {
  WIDE_SIDE = MG_FV4_WIDE_TILE_SIDE, /* in i and j */
  WIDE_PLANES = MG_FV4_WIDE_TILE_PLANES,
  WIDE_CELLS = 4, /* of a thread */
  WIDE_THREADS = WIDE_SIDE * WIDE_SIDE * WIDE_PLANES / WIDE_CELLS,
  WIDE_COLUMNS = 3, /* of the halo, that a thread fills */
  WIDE_JS = WIDE_SIDE + 4,
  WIDE_KS = WIDE_JS * (WIDE_SIDE + 4),
  WIDE_FACES = WIDE_SIDE * WIDE_SIDE * (WIDE_PLANES + 1) /* of the direction with most of them */
};

/** Shared memory of a block. */
struct wide_shared_t {
  mg_real_t x[WIDE_KS * (WIDE_PLANES + 4)];
  mg_real_t beta[3][3][WIDE_FACES]; /**< [direction][beta, differences][face] */
  mg_real_t residual[WIDE_SIDE * WIDE_SIDE * WIDE_PLANES];
  unsigned long long warp_max[WIDE_THREADS / 32];
};

static_assert((int)WIDE_THREADS == MG_RESIDENT_MAX_THREADS, "threads of a block");
static_assert(MG_RESIDENT_MAX_BLOCKS * WIDE_CELLS / 2 * WIDE_THREADS <= MAX_WORDS,
              "cells exceed the mailboxes"); /* adjacent cells share a word */

/** The block as seen by one thread. All threads call every function. */
struct wide_t {
  const job_t &job;
  wide_shared_t &shared;
  tile_t tile;
  int i, j, k; /* first cell, in the tile */
  int phase;   /* of that cell */
  bool side_ij, walls;
  int word, word_k; /* of that cell, and from cell to cell */
  column_t column[WIDE_COLUMNS];
  ptrdiff_t halo[WIDE_COLUMNS][2]; /* of the columns in the level's vectors */
  mg_real_t f[WIDE_CELLS], dinv[WIDE_CELLS], a[WIDE_CELLS];

  __device__ __forceinline__ wide_t(const job_t &job_, wide_shared_t &shared_)
      : job(job_), shared(shared_), tile(tile_of(job_, (int)blockIdx.x)) {
    const int t = (int)threadIdx.x;
    load_faces<0>();
    load_faces<1>();
    load_faces<2>();
    walls = tile.any_wall();
    i = t % WIDE_SIDE;
    j = t / WIDE_SIDE % WIDE_SIDE;
    k = t / (WIDE_SIDE * WIDE_SIDE) * WIDE_CELLS;
    side_ij = i < 2 || i >= WIDE_SIDE - 2 || j < 2 || j >= WIDE_SIDE - 2;
    const int at[3] = {tile.first[0] + i, tile.first[1] + j, tile.first[2] + k};
    phase = phase_of(job, at[0], at[1], at[2]);
    word = word_of<true>(job, at[0], at[1], at[2]);
    word_k = word_of<true>(job, at[0], at[1], at[2] + 1) - word;
#pragma unroll
    for (int w = 0; w < WIDE_COLUMNS; w++)
      column[w] = column_of<true, WIDE_JS, WIDE_KS>(job, tile, t + w * WIDE_THREADS, halo[w]);
#pragma unroll
    for (int c = 0; c < WIDE_CELLS; c++) {
      dinv[c] = job.l.p.vec[MG_DINV][offset(c)] * job.c2[0];
      a[c] = mg_a_at(&job.l.v, &job.l.p, offset(c));
    }
  }

  /* Of cell c in the level's vectors. */
  __device__ __forceinline__ ptrdiff_t offset(int c) const {
    const mg_patch_t &p = job.l.p;
    return tile.first[0] + i + (tile.first[1] + j) * p.jstride +
           (tile.first[2] + k + c) * p.kstride;
  }
  /* Of cell c in shared memory. */
  __device__ __forceinline__ int place(int c) const {
    return 2 + i + WIDE_JS * (2 + j) + WIDE_KS * (2 + k + c);
  }

  /* Betas of the faces normal to direction D. */
  template <int D> __device__ __forceinline__ void load_faces(void) {
    const mg_patch_t &p = job.l.p;
    constexpr int ni = WIDE_SIDE + (D == 0), nj = WIDE_SIDE + (D == 1), nk = WIDE_PLANES + (D == 2);
    const ptrdiff_t t1 = D == 0 ? p.jstride : 1, t2 = D == 2 ? p.jstride : p.kstride;
    const mg_real_t *const from = p.vec[MG_BETA_I + D] + tile.first[0] + tile.first[1] * p.jstride +
                                  tile.first[2] * p.kstride;
    constexpr int n = ni * nj * nk, TURNS = (n + WIDE_THREADS - 1) / WIDE_THREADS;
    mg_real_t beta[TURNS];
    mg_neighbors2_t n1[TURNS], n2[TURNS];
    /* All loads are issued together. */
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
      const int q = min((int)threadIdx.x + turn * WIDE_THREADS, n - 1), row = q / ni;
      const mg_real_t *b = from + q % ni + row % nj * p.jstride + row / nj * p.kstride;
      beta[turn] = b[0];
      n1[turn] = mg_load_neighbors2(b, 0, t1);
      n2[turn] = mg_load_neighbors2(b, 0, t2);
    }
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
      const int q = (int)threadIdx.x + turn * WIDE_THREADS;
      if (q >= n) continue;
      shared.beta[D][0][q] = beta[turn];
      shared.beta[D][1][q] = n1[turn].high - n1[turn].low;
      shared.beta[D][2][q] = n2[turn].high - n2[turn].low;
    }
  }

  /* Betas of a face; x - 0 is x. */
  __device__ __forceinline__ mg_face5_t face(int d, int at) const {
    return {shared.beta[d][0][at],
            {MG_REAL(0.0), shared.beta[d][1][at]},
            {MG_REAL(0.0), shared.beta[d][2][at]}};
  }

  /* A x of cell c. */
  __device__ __forceinline__ mg_real_t apply(int c, mg_real_t alpha, mg_real_t *x) const {
    constexpr int S = WIDE_SIDE;
    const int of_i = i + (S + 1) * (j + S * (k + c)), of_j = i + S * (j + (S + 1) * (k + c)),
              of_k = i + S * (j + S * (k + c));
    const mg_values25_t v = mg_load_values25(shared.x + place(c), WIDE_JS, WIDE_KS);
    const mg_betas30_t beta = {{face(0, of_i), face(0, of_i + 1)},
                               {face(1, of_j), face(1, of_j + S)},
                               {face(2, of_k), face(2, of_k + S * S)}};
    *x = v.c;
    return mg_apply_values25(&v, &beta, alpha, MG_REAL(job.l.v.b_h2));
  }

  __device__ __forceinline__ bool receives(int w, int depth) const {
    return column[w].there && !column[w].wall && (depth == 0 || column[w].deep);
  }

  /* The first iterate and f. */
  __device__ __forceinline__ void begin(void) {
    const bool zero = job.x < 0;
    const mg_real_t *x = job.l.p.vec[zero ? job.dst : job.x];
    mg_real_t y[WIDE_CELLS], z[WIDE_COLUMNS][2];
#pragma unroll
    for (int c = 0; c < WIDE_CELLS; c++) {
      f[c] = job.l.p.vec[MG_F][offset(c)];
      y[c] = zero ? MG_REAL(0.0) : x[offset(c)];
    }
#pragma unroll
    for (int w = 0; w < WIDE_COLUMNS; w++)
#pragma unroll
      for (int depth = 0; depth < 2; depth++)
        z[w][depth] = zero || !receives(w, depth) ? MG_REAL(0.0) : x[halo[w][depth]];
#pragma unroll
    for (int c = 0; c < WIDE_CELLS; c++)
      shared.x[place(c)] = y[c];
#pragma unroll
    for (int w = 0; w < WIDE_COLUMNS; w++)
#pragma unroll
      for (int depth = 0; depth < 2; depth++)
        if (receives(w, depth)) shared.x[column[w].at(1 + depth)] = z[w][depth];
    __syncthreads();
    if (!zero) fill_ghosts();
  }

  __device__ __forceinline__ void fill_ghosts(void) {
    if (!walls) return;
#pragma unroll
    for (int w = 0; w < WIDE_COLUMNS; w++)
      if (column[w].there && column[w].wall) mg_fv4_fill_walls<4>(shared.x, column[w].place);
    __syncthreads();
  }

  __device__ __forceinline__ void receive(int q, unsigned number,
                                          mg_real_t value[WIDE_COLUMNS]) const {
    mg_word_t words[WIDE_COLUMNS];
    mg_words_receive(words, number, [&](int w, mg_word_t *to) {
      const int depth = column[w].phase ^ (q & 1);
      mg_word_load(word_at(job, depth == 0 ? column[w].from[0] : column[w].from[1], q & 1),
                   receives(w, depth), number, to);
    });
#pragma unroll
    for (int w = 0; w < WIDE_COLUMNS; w++)
      value[w] = mg_word_value(words[w]);
  }

  /* Step q. Its values are sent with a number, unless nobody needs them. */
  __device__ __forceinline__ void step(int q, unsigned number, bool needed) {
    const bool second = phase != (q & 1); /* the color has cells 1 and 3, not 0 and 2 */
    mg_real_t u[WIDE_CELLS / 2], value[WIDE_COLUMNS];
#pragma unroll
    for (int m = 0; m < WIDE_CELLS / 2; m++) {
      const int c = 2 * m + second;
      mg_real_t x = 0.0, ax = 0.0;
      if (q > 0 || job.x >= 0) ax = apply(c, second ? a[2 * m + 1] : a[2 * m], &x);
      u[m] = mg_relax(x, ax, second ? f[2 * m + 1] : f[2 * m],
                      second ? dinv[2 * m + 1] : dinv[2 * m], MG_REAL(1.0));
      const bool at_side = side_ij || (k == 0 ? c < 2 : c >= WIDE_CELLS - 2);
      mg_word_store(word_at(job, word + c * word_k, q & 1), needed && at_side, u[m], number);
    }
    if (needed) receive(q, number, value);
    __syncthreads();
#pragma unroll
    for (int m = 0; m < WIDE_CELLS / 2; m++)
      shared.x[place(2 * m + second)] = u[m];
    if (!needed) return;
#pragma unroll
    for (int w = 0; w < WIDE_COLUMNS; w++) {
      const int depth = column[w].phase ^ (q & 1);
      if (receives(w, depth)) shared.x[column[w].at(1 + depth)] = value[w];
    }
    __syncthreads();
    fill_ghosts();
  }

  __device__ __forceinline__ void store(void) const {
#pragma unroll
    for (int c = 0; c < WIDE_CELLS; c++)
      job.l.p.vec[job.dst][offset(c)] = shared.x[place(c)];
  }

  __device__ __forceinline__ void restrict_residual(void) const {
    constexpr int S = WIDE_SIDE, C = S / 2;
    __syncthreads();
    const int t = (int)threadIdx.x, ci = t % C, cj = t / C % C, ck = t / (C * C);
    if (ck >= WIDE_PLANES / 2) return;
    const mg_real_t *r = shared.residual + 2 * ci + S * (2 * cj + S * 2 * ck);
    job.coarse[tile.first[0] / 2 + ci + (tile.first[1] / 2 + cj) * job.coarse_jstride +
               (tile.first[2] / 2 + ck) * job.coarse_kstride] =
        mg_mean8(r[0] + r[1], r[S] + r[S + 1], r[S * S] + r[S * S + 1],
                 r[S * S + S] + r[S * S + S + 1]);
  }

  /* Use the residual of the last iterate. */
  __device__ __forceinline__ void use_residual(void) const {
    unsigned long long bits = 0;
#pragma unroll 1
    for (int c = 0; c < WIDE_CELLS; c++) {
      mg_real_t x;
      const mg_real_t alpha = mg_a_at(&job.l.v, &job.l.p, offset(c)),
                      r = job.l.p.vec[MG_F][offset(c)] - apply(c, alpha, &x);
      shared.residual[i + WIDE_SIDE * (j + WIDE_SIDE * (k + c))] = r;
      bits = max(bits, mg_max_bits(r));
    }
    if (job.use == RESIDUAL_RESTRICTED) {
      restrict_residual();
      return;
    }
    bits = mg_max_of_block(bits, (int)threadIdx.x, WIDE_THREADS / 32, shared.warp_max);
    mg_max_raise(bits, (int)threadIdx.x, 0, job.maximum);
  }
};
} // namespace mg_resident_fv4

#endif
