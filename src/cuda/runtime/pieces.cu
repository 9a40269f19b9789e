/* Lists of pieces on the device: see pieces.h. */
#include "cuda/runtime/pieces.h"
#include <cstdlib>
#include <vector>

namespace {
struct entry_t {
  mg_columns_t columns;
  mg_pieces_t pieces;
};
std::vector<entry_t> lists;

mg_status_t to_device(const mg_piece_t *pieces, size_t bytes, void **to) {
  cudaStream_t stream;
  MG_CUDA_TRY(cudaMalloc(to, bytes));
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error == cudaSuccess) {
    error = cudaMemcpyAsync(*to, pieces, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    const cudaError_t destroyed = cudaStreamDestroy(stream);
    if (error == cudaSuccess) error = destroyed;
  }
  if (error == cudaSuccess) return MG_OK;
  (void)cudaFree(*to);
  return mg_cuda_failed(error, "copy of pieces", __FILE__, __LINE__);
}

/* Add a list. In relaxed mode, memory may be allocated and filled by another stream while a graph
 * is captured. */
mg_status_t add(const mg_columns_t &columns, const mg_piece_t *pieces, int n, int early,
                mg_pieces_t *out) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  void *memory;
  MG_CUDA_TRY(cudaThreadExchangeStreamCaptureMode(&mode));
  const mg_status_t status = to_device(pieces, sizeof *pieces * (size_t)n, &memory);
  MG_CUDA_TRY(cudaThreadExchangeStreamCaptureMode(&mode));
  MG_TRY(status);
  *out = {(const mg_piece_t *)memory, n, early};
  lists.push_back({columns, *out});
  return MG_OK;
}

bool find(const mg_columns_t &columns, mg_pieces_t *out) {
  for (const entry_t &e : lists)
    if (memcmp(&e.columns, &columns, sizeof columns) == 0) {
      *out = e.pieces;
      return true;
    }
  return false;
}
} // namespace

static mg_status_t cut(const mg_columns_t &columns, mg_pieces_t *out) {
  mg_piece_t *pieces;
  int n, early;
  MG_TRY(mg_columns_cut(&columns, &pieces, &n, &early));
  const mg_status_t status = add(columns, pieces, n, early, out);
  free(pieces);
  return status;
}

mg_status_t mg_cuda_pieces(const mg_columns_t &columns, mg_region_t region, mg_pieces_t *out) {
  if (!find(columns, out)) MG_TRY(cut(columns, out));
  if (region == MG_REGION_INTERIOR) out->n = out->early;
  if (region == MG_REGION_BOUNDARY) *out = {out->piece + out->early, out->n - out->early, 0};
  return MG_OK;
}

void mg_cuda_pieces_close(void) {
  for (const entry_t &e : lists)
    (void)cudaFree(const_cast<mg_piece_t *>(e.pieces.piece));
  lists.clear();
}
