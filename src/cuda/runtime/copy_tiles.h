/* Lists of cuboids on the device, cut into tiles. Each thread block moves one tile. */
#ifndef MG_CUDA_RUNTIME_COPY_TILES_H
#define MG_CUDA_RUNTIME_COPY_TILES_H

#include "cuda/cuda.h"

/** A cuboid's location: its first cell in the patch's first vector, or a dense range of a buffer.
 */
struct mg_cuboid_address_t {
  mg_real_t *at;
  int64_t vector; /**< cells between consecutive vectors; 0 in a buffer */
  int64_t jstride, kstride;
};

struct mg_copy_tile_t {
  mg_cuboid_address_t from, to;
  int32_t n[3];
};

/** A contiguous range of a cuboid's cells, i fastest. */
struct mg_tile_t {
  int32_t copy;    /**< index into the list */
  int32_t i, j, k; /**< first cell */
  int32_t cells;
};

/* On an H200, a plain copy by 256 threads that each load four values before storing reaches
 * 98.5 % of the best bandwidth; with one value per thread, 91.9 % (hpgmg-bench copy,
 * docs/kernels.md). */
enum { MG_TILE_THREADS = 256, MG_TILE_CELLS = 4 * MG_TILE_THREADS };

/** The list on the device, in one allocation. */
struct mg_copy_tiles_t {
  mg_copy_tile_t *copy;
  mg_tile_t *tile;
  int n_tiles;
  size_t bytes; /**< of copy and tile together */
};

/** One side of a copy job: a cuboid of a patch, or `dense` if the patch index is negative. */
mg_cuboid_address_t mg_cuboid_address(const mg_view_t *v, int32_t patch, const int32_t lo[3],
                                      const int32_t n[3], mg_real_t *dense);

/** Bit set of the vectors that a view's patches have, for mg_slot_of; empty without patches. */
unsigned mg_vectors_in(const mg_view_t *v);

/** Slot of a vector: it lies `slot * vector` doubles after a place's `at`. With an empty set (a
 *  buffer) any vector is accepted.
 *  @return MG_OK, MG_ERR_INTERNAL if a non-empty set lacks the vector */
mg_status_t mg_slot_of(unsigned vectors, mg_vector_t vector, int *slot);

/** Cells per tile, chosen so that a list of this many cells has at most a few thousand tiles. */
int64_t mg_tile_cells(int64_t cells);

/** Cut n cuboids into tiles of at most max_cells cells. Only the sizes of the cuboids are read.
 *  @param[out] tiles  host memory; the caller frees it
 *  @return MG_OK, MG_ERR_MEMORY */
mg_status_t mg_cuboids_cut(const mg_copy_tile_t *copies, int n, int64_t max_cells,
                           mg_tile_t **tiles, int *n_tiles);

/** Create the list of a job and its tiles on the device. Memory of a freed list may be reused.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
mg_status_t mg_cuboids_of(const mg_copy_job_t &job, mg_copy_tiles_t *out);
/** Free a list. Work on it that is already enqueued still completes. */
void mg_cuboids_free(mg_copy_tiles_t *cuboids);
/** Release the memory kept from freed lists. */
void mg_cuboids_close(void);

/** Position in a cuboid of ni x nj x .. cells of cell number `cell` of the tile. */
static __device__ __forceinline__ uint3 mg_tile_cell(const mg_tile_t &t, unsigned ni, unsigned nj,
                                                     unsigned cell) {
  const unsigned row = ((unsigned)t.i + cell) / ni;
  return make_uint3((unsigned)t.i + cell - row * ni, ((unsigned)t.j + row) % nj,
                    (unsigned)t.k + ((unsigned)t.j + row) / nj);
}

/** Move a tile of a cuboid of ni x nj x .. cells from `from` to `to`, which already point into
 *  the selected vectors. Four loads are in flight before the first store, because the compiler
 *  cannot assume that the two sides do not alias. */
static __device__ __forceinline__ void mg_tile_move(const mg_tile_t &t, unsigned ni, unsigned nj,
                                                    const mg_real_t *from, int64_t from_j,
                                                    int64_t from_k, mg_real_t *to, int64_t to_j,
                                                    int64_t to_k) {
  for (int first = (int)threadIdx.x; first < t.cells; first += MG_TILE_CELLS) {
    mg_real_t value[4];
    int64_t target[4];
#pragma unroll
    for (int c = 0; c < 4; c++) {
      const int cell = first + c * MG_TILE_THREADS;
      if (cell >= t.cells) break;
      const uint3 at = mg_tile_cell(t, ni, nj, (unsigned)cell);
      const mg_real_t *source = from + at.x + at.y * from_j + at.z * from_k;
      value[c] = *source;
      target[c] = at.x + at.y * to_j + at.z * to_k;
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
      if (first + c * MG_TILE_THREADS < t.cells) to[target[c]] = value[c];
  }
}

/** Move a tile of a copy between the vectors selected by two slots (mg_slot_of). */
static __device__ __forceinline__ void mg_tile_copy(const mg_tile_t &t, const mg_copy_tile_t &c,
                                                    int from_slot, int to_slot) {
  mg_tile_move(t, (unsigned)c.n[0], (unsigned)c.n[1], c.from.at + from_slot * c.from.vector,
               c.from.jstride, c.from.kstride, c.to.at + to_slot * c.to.vector, c.to.jstride,
               c.to.kstride);
}

#endif
