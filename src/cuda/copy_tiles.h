/* Lists of cuboids on the device, cut into tiles of which a block of threads moves one each. */
#ifndef MG_CUDA_COPY_TILES_H
#define MG_CUDA_COPY_TILES_H

#include "cuda/cuda.h"

/** Where a cuboid lies: the first vector's first cell, or a dense stretch of a buffer. */
struct mg_place_in_t {
  double *at;
  int64_t vector; /**< doubles from a vector to the next; 0 in a buffer */
  int64_t jstride, kstride;
};

struct mg_copy_tile_t {
  mg_place_in_t from, to;
  int32_t n[3];
};

/** A stretch of a cuboid's cells, i fastest. */
struct mg_tile_t {
  int32_t copy;    /**< index into the list */
  int32_t i, j, k; /**< first cell */
  int32_t cells;
};

/* A plain copy by 256 threads that load four values each before they store has 98.5 % of the
 * best on an H200, with one value a thread 91.9 % (hpgmg-bench copy, docs/kernels.md). */
enum { MG_TILE_THREADS = 256, MG_TILE_CELLS = 4 * MG_TILE_THREADS };

/** The list on the device: one piece of memory. */
struct mg_copy_tiles_t {
  mg_copy_tile_t *copy;
  mg_tile_t *tile;
  int n_tiles;
  size_t bytes; /**< of both */
};

/** One side of a copy of a job: a patch's cells, or `dense` where the patch is negative. */
mg_place_in_t mg_place_in(const mg_view_t *v, int32_t patch, const int32_t lo[3],
                          const int32_t n[3], double *dense);

/** The set of vectors that a view's patches have, for mg_slot_of; empty without patches. */
unsigned mg_vectors_in(const mg_view_t *v);

/** By how many times its `vector` a vector lies behind a place's `at`. Any will do in an empty set:
 *  a buffer has none to choose from.
 *  @return MG_OK, MG_ERR_INTERNAL when another set has no such vector */
mg_status_t mg_slot_of(unsigned vectors, int vector, int *slot);

/** Cells of a tile with which a list of so many is a few thousand tiles. */
int64_t mg_tile_cells(int64_t cells);

/** Cut n cuboids, of which only the sizes count, into tiles of `most` cells and less.
 *  @param[out] tiles  on the host; the caller frees
 *  @return MG_OK, MG_ERR_MEMORY */
mg_status_t mg_cuboids_cut(const mg_copy_tile_t *copies, int n, int64_t most, mg_tile_t **tiles,
                           int *n_tiles);

/** Copy an array of the host into new memory of the device.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
mg_status_t mg_cuda_to_device(const void *from, size_t bytes, void **to);

/** The list and its tiles on the device, in memory that a list before may have left.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
mg_status_t mg_cuboids_create(const mg_copy_tile_t *copies, int n, mg_copy_tiles_t *out);
/** What the stream has been given to do with the list is still done. */
void mg_cuboids_free(mg_copy_tiles_t *cuboids);
/** Give back what lists have left. */
void mg_cuboids_close(void);

/** The tile's cell number `cell` in its cuboid of ni x nj x .. cells. */
static __device__ __forceinline__ uint3 mg_tile_cell(const mg_tile_t &t, unsigned ni, unsigned nj,
                                                     unsigned cell) {
  const unsigned row = ((unsigned)t.i + cell) / ni;
  return make_uint3((unsigned)t.i + cell - row * ni, ((unsigned)t.j + row) % nj,
                    (unsigned)t.k + ((unsigned)t.j + row) / nj);
}

/** Move a tile of a cuboid of ni x nj x .. cells between `from` and `to`, which are the vectors'
 * places already. Four loads are under way before the first store: the compiler may not assume that
 * the two sides are distinct. */
static __device__ __forceinline__ void mg_tile_move(const mg_tile_t &t, unsigned ni, unsigned nj,
                                                    const double *from, int64_t from_j,
                                                    int64_t from_k, double *to, int64_t to_j,
                                                    int64_t to_k) {
  for (int first = (int)threadIdx.x; first < t.cells; first += MG_TILE_CELLS) {
    double value[4];
    int64_t target[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int cell = first + c * MG_TILE_THREADS;
      if (cell >= t.cells) break;
      const uint3 at = mg_tile_cell(t, ni, nj, (unsigned)cell);
      const double *source = from + at.x + at.y * from_j + at.z * from_k;
      value[c] = *source;
      target[c] = at.x + at.y * to_j + at.z * to_k;
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
      if (first + c * MG_TILE_THREADS < t.cells) to[target[c]] = value[c];
  }
}

/** Move a tile of a copy, between two of the vectors of its places (mg_slot_of). */
static __device__ __forceinline__ void mg_tile_copy(const mg_tile_t &t, const mg_copy_tile_t &c,
                                                    int from_slot, int to_slot) {
  mg_tile_move(t, (unsigned)c.n[0], (unsigned)c.n[1], c.from.at + from_slot * c.from.vector,
               c.from.jstride, c.from.kstride, c.to.at + to_slot * c.to.vector, c.to.jstride,
               c.to.kstride);
}

#endif
