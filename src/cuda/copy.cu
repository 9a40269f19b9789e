/* Moving cuboids of cells: halo exchange, packing, gathering. One launch a list, one block a tile.
 */
#include "cuboids.h"
#include <cstdlib>
#include <new>

struct mg_copies {
  mg_cuboids_t cuboids;
};

mg_place_in_t mg_place_in(const mg_view_t *v, int32_t patch, const int32_t lo[3],
                          const int32_t n[3], double *dense) {
  if (patch < 0) return {dense, 0, n[0], (int64_t)n[0] * n[1]};
  const mg_patch_t *p = &v->patch[patch];
  /* Vectors of a patch lie evenly behind each other (level.c); an image has one. */
  const int64_t vector = p->vec[1] ? p->vec[1] - p->vec[0] : 0;
  return {mg_cell(p, 0, lo[0], lo[1], lo[2]), vector, p->jstride, p->kstride};
}

/* Cells of a tile: so many that a list of any size is a few thousand tiles. */
static int64_t cells_of_tile(const mg_cuboid_copy_t *copies, int n) {
  int64_t cells = 0;
  for (int c = 0; c < n; c++)
    cells += (int64_t)copies[c].n[0] * copies[c].n[1] * copies[c].n[2];
  return MG_TILE_CELLS * (1 + cells / (4096 * MG_TILE_CELLS));
}

static int64_t tiles_of_copy(const mg_cuboid_copy_t *copy, int64_t tile) {
  return ((int64_t)copy->n[0] * copy->n[1] * copy->n[2] + tile - 1) / tile;
}

static void cut(const mg_cuboid_copy_t *copies, int n, int64_t cells, mg_tile_t *tile) {
  for (int c = 0; c < n; c++) {
    const int64_t ni = copies[c].n[0], nj = copies[c].n[1], all = ni * nj * copies[c].n[2];
    for (int64_t first = 0; first < all; first += cells)
      *tile++ = {c, (int32_t)(first % ni), (int32_t)(first / ni % nj), (int32_t)(first / ni / nj),
                 (int32_t)(all - first < cells ? all - first : cells)};
  }
}

static mg_status_t to_device(const void *from, size_t bytes, void **to) {
  MG_CUDA_TRY(cudaMalloc(to, bytes));
  MG_CUDA_TRY(cudaMemcpy(*to, from, bytes, cudaMemcpyHostToDevice));
  return MG_OK;
}

mg_status_t mg_cuboids_create(const mg_cuboid_copy_t *copies, int n, mg_cuboids_t *out,
                              int *tiles_of) {
  *out = mg_cuboids_t();
  const int64_t cells = cells_of_tile(copies, n);
  int64_t n_tiles = 0;
  for (int c = 0; c < n; c++) {
    n_tiles += tiles_of_copy(&copies[c], cells);
    if (tiles_of) tiles_of[copies[c].message] += (int)tiles_of_copy(&copies[c], cells);
  }
  if (n_tiles == 0) return MG_OK;
  mg_tile_t *tile = (mg_tile_t *)malloc(sizeof(mg_tile_t) * (size_t)n_tiles);
  if (!tile) return MG_ERR_MEMORY;
  cut(copies, n, cells, tile);
  mg_status_t status = to_device(copies, sizeof(mg_cuboid_copy_t) * (size_t)n, (void **)&out->copy);
  if (status == MG_OK)
    status = to_device(tile, sizeof(mg_tile_t) * (size_t)n_tiles, (void **)&out->tile);
  free(tile);
  out->n_copies = n;
  out->n_tiles = (int)n_tiles;
  if (status != MG_OK) mg_cuboids_free(out);
  return status;
}

void mg_cuboids_free(mg_cuboids_t *cuboids) {
  (void)cudaFree(cuboids->copy);
  (void)cudaFree(cuboids->tile);
  *cuboids = mg_cuboids_t();
}

mg_status_t mg_cuda_prepare_copies(const mg_copy_job_t *job, mg_copies_t **out) {
  *out = nullptr;
  mg_copies_t *c = new (std::nothrow) mg_copies_t();
  mg_cuboid_copy_t *copies =
      (mg_cuboid_copy_t *)malloc(sizeof(mg_cuboid_copy_t) * (size_t)(job->n > 0 ? job->n : 1));
  if (!c || !copies) {
    delete c;
    free(copies);
    return MG_ERR_MEMORY;
  }
  for (int l = 0; l < job->n; l++) {
    const mg_copy_t *copy = &job->item[l];
    double *dense = job->buffer ? job->buffer + copy->buffer : nullptr;
    copies[l].from = mg_place_in(job->src, copy->src_patch, copy->src_lo, copy->n, dense);
    copies[l].to = mg_place_in(job->dst, copy->dst_patch, copy->dst_lo, copy->n, dense);
    memcpy(copies[l].n, copy->n, sizeof copy->n);
    copies[l].message = 0;
  }
  const mg_status_t status = mg_cuboids_create(copies, job->n, &c->cuboids, nullptr);
  free(copies);
  if (status != MG_OK) {
    delete c;
    return status;
  }
  *out = c;
  return MG_OK;
}

void mg_cuda_release_copies(mg_copies_t *copies) {
  if (!copies) return;
  mg_cuboids_free(&copies->cuboids);
  delete copies;
}

static __global__ void __launch_bounds__(MG_TILE_THREADS)
    copy(const mg_cuboid_copy_t *copies, const mg_tile_t *tile, int src, int dst) {
  const mg_tile_t t = tile[blockIdx.x];
  const mg_cuboid_copy_t *c = &copies[t.copy];
  mg_tile_move<false>(t, c->n, c->from.at + src * c->from.vector, c->from.jstride, c->from.kstride,
                      c->to.at + dst * c->to.vector, c->to.jstride, c->to.kstride);
}

mg_status_t mg_cuda_copy(const mg_copies_t *copies, int src, int dst) {
  const mg_cuboids_t *c = &copies->cuboids;
  if (c->n_tiles == 0) return MG_OK;
  copy<<<(unsigned)c->n_tiles, MG_TILE_THREADS, 0, mg_cuda.stream>>>(c->copy, c->tile, src, dst);
  MG_CUDA_LAUNCHED("copy");
  return MG_OK;
}
