/* Copies of cuboids of cells: halo exchange, packing, gathering. One launch per list, one block
 * per tile. */
#include "cuda/runtime/copy_tiles.h"
#include "cuda/runtime/dependent_launch.h"
#include <cstdlib>

struct mg_copies {
  mg_copy_tiles_t cuboids;
  unsigned src, dst; /**< vectors of the patches on each side; empty for the buffer */
};

mg_cuboid_address_t mg_cuboid_address(const mg_view_t *v, int32_t patch, const int32_t lo[3],
                                      const int32_t n[3], mg_real_t *dense) {
  if (patch < 0) return {dense, 0, n[0], (int64_t)n[0] * n[1]};
  const mg_patch_t *p = &v->patch[patch];
  /* A patch's vectors are evenly spaced (level.c); an image has one. */
  const int64_t vector = p->vec[1] ? p->vec[1] - p->vec[0] : 0;
  return {mg_cell(p, 0, lo[0], lo[1], lo[2]), vector, p->jstride, p->kstride};
}

unsigned mg_vectors_in(const mg_view_t *v) {
  unsigned vectors = 0;
  if (v->n_patches == 0) return 0;
  for (int vec = 0; vec < MG_N_VECTORS; vec++)
    if (v->patch[0].vec[vec]) vectors |= 1u << vec;
  return vectors;
}

mg_status_t mg_slot_of(unsigned vectors, mg_vector_t vector, int *slot) {
  *slot = mg_n_vectors(vectors & ((1u << vector) - 1));
  if (vectors == 0 || vectors >> vector & 1) return MG_OK;
  return mg_error(MG_ERR_INTERNAL, "copy of vector %d, which this level does not store", vector);
}

static int64_t cells_of(const mg_copy_tile_t *copy) {
  return (int64_t)copy->n[0] * copy->n[1] * copy->n[2];
}

/* With 1024, 4096 and 16384 tiles, direct stores on two H200s with 512 boxes of 64^3 cells each
 * reach 12.65, 12.53 to 12.59 and 12.58 GDOF/s. */
int64_t mg_tile_cells(int64_t cells) {
  return MG_TILE_CELLS * (1 + cells / (4096 * MG_TILE_CELLS));
}

mg_status_t mg_cuboids_cut(const mg_copy_tile_t *copies, int n, int64_t max_cells,
                           mg_tile_t **tiles, int *n_tiles) {
  int64_t count = 0;
  for (int c = 0; c < n; c++)
    count += (cells_of(&copies[c]) + max_cells - 1) / max_cells;
  MG_TRY(mg_new(tiles, count, "tile lists"));
  mg_tile_t *tile = *tiles;
  *n_tiles = (int)count;
  for (int c = 0; c < n; c++) {
    const int64_t ni = copies[c].n[0], nj = copies[c].n[1], all = cells_of(&copies[c]);
    for (int64_t first = 0; first < all; first += max_cells)
      *tile++ = {c, (int32_t)(first % ni), (int32_t)(first / ni % nj), (int32_t)(first / ni / nj),
                 (int32_t)(all - first < max_cells ? all - first : max_cells)};
  }
  return MG_OK;
}

/* Memory of freed small lists, kept for reuse. I/O creates one list per slab; there cudaMalloc
 * and cudaFree cost more than the copies, and cudaFree waits for the device. Reuse is safe
 * because old contents are read before they are overwritten: lists are created and freed on the
 * first queue, which waits for all work of the second queue. */
enum { N_SPARE = 8, SPARE_BYTES = 1 << 20 };
static struct {
  void *memory;
  size_t bytes;
} spare[N_SPARE];

static mg_status_t reuse_or_alloc(size_t *bytes, void **memory) {
  size_t rounded = 4096;
  while (rounded < *bytes)
    rounded *= 2;
  *bytes = rounded;
  for (auto &s : spare)
    if (s.memory && s.bytes == rounded) {
      *memory = s.memory;
      s.memory = nullptr;
      return MG_OK;
    }
  return mg_cuda_alloc(rounded, MG_SPACE_LEVEL, memory);
}

static void keep_or_free(size_t bytes, void *memory) {
  for (auto &s : spare)
    if (memory && !s.memory && bytes <= SPARE_BYTES) {
      s = {memory, bytes};
      return;
    }
  mg_cuda_release(memory, bytes, MG_SPACE_LEVEL);
}

void mg_cuboids_close(void) {
  for (auto &s : spare) {
    mg_cuda_release(s.memory, s.bytes, MG_SPACE_LEVEL);
    s.memory = nullptr;
  }
}

static mg_status_t upload(const mg_copy_tile_t *copies, int n, const mg_tile_t *tile,
                          mg_copy_tiles_t *out) {
  const size_t copy_bytes = sizeof *copies * (size_t)n;
  const size_t tile_bytes = sizeof *tile * (size_t)out->n_tiles;
  void *memory;
  out->bytes = copy_bytes + tile_bytes;
  MG_TRY(reuse_or_alloc(&out->bytes, &memory));
  out->copy = (mg_copy_tile_t *)memory;
  out->tile = (mg_tile_t *)(out->copy + n);
  MG_TRY(mg_cuda_upload(out->copy, copies, copy_bytes));
  MG_TRY(mg_cuda_upload(out->tile, tile, tile_bytes));
  return mg_cuda_finish(); /* the caller frees both */
}

static mg_status_t create(const mg_copy_tile_t *copies, int n, mg_copy_tiles_t *out) {
  static_assert(sizeof(mg_copy_tile_t) % alignof(mg_tile_t) == 0,
                "tiles are stored behind the copies");
  mg_tile_t *tile;
  int64_t cells = 0;
  *out = mg_copy_tiles_t();
  for (int c = 0; c < n; c++)
    cells += cells_of(&copies[c]);
  MG_TRY(mg_cuboids_cut(copies, n, mg_tile_cells(cells), &tile, &out->n_tiles));
  const mg_status_t status = out->n_tiles > 0 ? upload(copies, n, tile, out) : MG_OK;
  free(tile);
  if (status != MG_OK) mg_cuboids_free(out);
  return status;
}

void mg_cuboids_free(mg_copy_tiles_t *cuboids) {
  keep_or_free(cuboids->bytes, cuboids->copy);
  *cuboids = mg_copy_tiles_t();
}

mg_status_t mg_cuboids_of(const mg_copy_job_t &job, mg_copy_tiles_t *out) {
  mg_copy_tile_t *copies;
  MG_TRY(mg_new(&copies, job.n, "copy lists"));
  for (int l = 0; l < job.n; l++) {
    const mg_copy_t *copy = &job.item[l];
    mg_real_t *dense = job.buffer ? job.buffer + copy->buffer : nullptr;
    copies[l].from = mg_cuboid_address(job.src, copy->src_patch, copy->src_lo, copy->n, dense);
    copies[l].to = mg_cuboid_address(job.dst, copy->dst_patch, copy->dst_lo, copy->n, dense);
    memcpy(copies[l].n, copy->n, sizeof copy->n);
  }
  const mg_status_t status = create(copies, job.n, out);
  free(copies);
  return status;
}

mg_status_t mg_cuda_prepare_copies(const mg_copy_job_t *job, mg_copies_t **out) {
  MG_TRY(mg_new(out, 1, "copy lists"));
  for (int l = 0; l < job->n; l++) {
    if (job->item[l].src_patch >= 0) (*out)->src = mg_vectors_in(job->src);
    if (job->item[l].dst_patch >= 0) (*out)->dst = mg_vectors_in(job->dst);
  }
  const mg_status_t status = mg_cuboids_of(*job, &(*out)->cuboids);
  if (status == MG_OK) return MG_OK;
  free(*out);
  *out = nullptr;
  return status;
}

void mg_cuda_release_copies(mg_copies_t *copies) {
  if (!copies) return;
  mg_cuboids_free(&copies->cuboids);
  free(copies);
}

static __global__ void __launch_bounds__(MG_TILE_THREADS)
    copy(const mg_copy_tile_t *copies, const mg_tile_t *tile, int from_slot, int to_slot) {
  const mg_tile_t t = tile[blockIdx.x];
  const mg_copy_tile_t c = copies[t.copy];
  mg_cuda_wait_dependency();
  mg_tile_copy(t, c, from_slot, to_slot);
}

mg_status_t mg_cuda_copy(const mg_copies_t *copies, mg_vector_t src, mg_vector_t dst) {
  const mg_copy_tiles_t *c = &copies->cuboids;
  int from, to;
  if (c->n_tiles == 0) return MG_OK;
  MG_TRY(mg_slot_of(copies->src, src, &from));
  MG_TRY(mg_slot_of(copies->dst, dst, &to));
  return mg_cuda_launch_dependent("copy", copy, (unsigned)c->n_tiles, MG_TILE_THREADS, c->copy,
                                  c->tile, from, to);
}
