/* Moving cuboids of cells: halo exchange, packing, gathering. One launch a list. */
#include "cuda.h"
#include <cstdlib>
#include <cstring>
#include <new>

/** One side of a copy: vector 0's first cell, or the buffer. */
struct side_t {
  double *at;
  int64_t vector; /**< doubles from a vector to the next; 0 for the buffer */
  int64_t jstride, kstride;
};

struct item_t {
  side_t from, to;
  int32_t n[3];
  int64_t first; /**< this item's first cell in the list's numbering */
};

struct mg_copies {
  item_t *item; /**< on the device */
  int n;
  int64_t cells;
};

static side_t side_of(const mg_view_t *v, int32_t patch, const int32_t lo[3], const int32_t n[3],
                      double *dense) {
  if (patch < 0) return {dense, 0, n[0], (int64_t)n[0] * n[1]};
  const mg_patch_t *p = &v->patch[patch];
  /* Vectors of a patch lie evenly behind each other (level.c); an image has one. */
  const int64_t vector = p->vec[1] ? p->vec[1] - p->vec[0] : 0;
  return {mg_cell(p, 0, lo[0], lo[1], lo[2]), vector, p->jstride, p->kstride};
}

mg_status_t mg_cuda_prepare_copies(const mg_copy_job_t *job, mg_copies_t **out) {
  *out = nullptr;
  mg_copies_t *c = new (std::nothrow) mg_copies_t();
  item_t *items = (item_t *)malloc(sizeof(item_t) * (size_t)(job->n > 0 ? job->n : 1));
  if (!c || !items) {
    delete c;
    free(items);
    return MG_ERR_MEMORY;
  }
  c->n = job->n;
  for (int l = 0; l < job->n; l++) {
    const mg_copy_t *copy = &job->item[l];
    double *dense = job->buffer ? job->buffer + copy->buffer : nullptr;
    items[l].from = side_of(job->src, copy->src_patch, copy->src_lo, copy->n, dense);
    items[l].to = side_of(job->dst, copy->dst_patch, copy->dst_lo, copy->n, dense);
    memcpy(items[l].n, copy->n, sizeof copy->n);
    items[l].first = c->cells;
    c->cells += (int64_t)copy->n[0] * copy->n[1] * copy->n[2];
  }
  const size_t bytes = sizeof(item_t) * (size_t)c->n;
  cudaError_t error = c->n > 0 ? cudaMalloc((void **)&c->item, bytes) : cudaSuccess;
  if (error == cudaSuccess && c->n > 0)
    error = cudaMemcpy(c->item, items, bytes, cudaMemcpyHostToDevice);
  free(items);
  if (error != cudaSuccess) {
    mg_cuda_release_copies(c);
    return mg_cuda_failed(error, "preparing copies", __FILE__, __LINE__);
  }
  *out = c;
  return MG_OK;
}

void mg_cuda_release_copies(mg_copies_t *copies) {
  if (!copies) return;
  (void)cudaFree(copies->item);
  delete copies;
}

/** Thread t moves cell t of the list; its item is found by bisection. */
static __global__ void __launch_bounds__(256)
    copy(const item_t *item, int n, int64_t cells, int src, int dst) {
  const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= cells) return;
  int low = 0, high = n;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (item[middle].first <= t)
      low = middle;
    else
      high = middle;
  }
  const item_t *c = &item[low];
  const int64_t cell = t - c->first;
  const int64_t i = cell % c->n[0], j = cell / c->n[0] % c->n[1], k = cell / c->n[0] / c->n[1];
  c->to.at[dst * c->to.vector + i + j * c->to.jstride + k * c->to.kstride] =
      c->from.at[src * c->from.vector + i + j * c->from.jstride + k * c->from.kstride];
}

mg_status_t mg_cuda_copy(const mg_copies_t *copies, int src, int dst) {
  if (copies->cells == 0) return MG_OK;
  const unsigned blocks = (unsigned)((copies->cells + 255) / 256);
  copy<<<blocks, 256, 0, mg_cuda.stream>>>(copies->item, copies->n, copies->cells, src, dst);
  MG_CUDA_LAUNCHED("copy");
  return MG_OK;
}
