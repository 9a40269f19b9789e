/* Lists of pieces on the device: see pieces.h. */
#include "cuda/pieces.h"
#include <algorithm>
#include <cstdlib>
#include <vector>

namespace {
struct entry_t {
  mg_pieces_key_t key;
  mg_pieces_t pieces;
};
std::vector<entry_t> lists;

mg_status_t copy(const mg_piece_t *pieces, size_t bytes, cudaStream_t stream, void *to) {
  MG_CUDA_TRY(cudaMemcpyAsync(to, pieces, bytes, cudaMemcpyHostToDevice, stream));
  MG_CUDA_TRY(cudaStreamSynchronize(stream));
  return MG_OK;
}

mg_status_t upload(const mg_piece_t *pieces, size_t bytes, void *to) {
  cudaStream_t stream;
  MG_CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const mg_status_t status = copy(pieces, bytes, stream, to);
  MG_CUDA_TRY(cudaStreamDestroy(stream));
  return status;
}

mg_status_t to_device(const mg_piece_t *pieces, size_t bytes, void **to) {
  MG_CUDA_TRY(cudaMalloc(to, bytes));
  const mg_status_t status = upload(pieces, bytes, *to);
  if (status != MG_OK) (void)cudaFree(*to);
  return status;
}

/* Add a list. In relaxed mode, memory may be allocated and filled by another stream while a graph
 * is captured. */
mg_status_t add(const mg_pieces_key_t &key, const mg_piece_t *pieces, int n, mg_pieces_t *out) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  void *memory;
  MG_CUDA_TRY(cudaThreadExchangeStreamCaptureMode(&mode));
  const mg_status_t status = to_device(pieces, sizeof *pieces * (size_t)n, &memory);
  MG_CUDA_TRY(cudaThreadExchangeStreamCaptureMode(&mode));
  MG_TRY(status);
  *out = {(const mg_piece_t *)memory, n};
  lists.push_back({key, *out});
  return MG_OK;
}

bool find(const mg_pieces_key_t &key, mg_pieces_t *out) {
  for (const entry_t &e : lists)
    if (memcmp(&e.key, &key, sizeof key) == 0) {
      *out = e.pieces;
      return true;
    }
  return false;
}
} // namespace

static mg_status_t cut(const mg_pieces_key_t &key, mg_pieces_t *out) {
  mg_piece_t *pieces;
  int n;
  MG_TRY(mg_columns_cut(&key.columns, &pieces, &n));
  const mg_status_t status = add(key, pieces, n, out);
  free(pieces);
  return status;
}

static mg_status_t list(const mg_pieces_key_t &key, mg_pieces_t *out) {
  std::vector<mg_piece_t> pieces;
  for (const mg_tiles_t &t : key.tiles.list)
    for (int k = t.first[2]; k < t.first[2] + t.n[2]; k++)
      for (int j = t.first[1]; j < t.first[1] + t.n[1]; j++)
        for (int i = t.first[0]; i < t.first[0] + t.n[0]; i++)
          pieces.push_back({i, j, std::max(k * key.planes - key.missing, 0),
                            std::min((k + 1) * key.planes - key.missing, key.end)});
  *out = {};
  return pieces.empty() ? MG_OK : add(key, pieces.data(), (int)pieces.size(), out);
}

mg_status_t mg_cuda_pieces(const mg_pieces_key_t &key, mg_pieces_t *out) {
  if (find(key, out)) return MG_OK;
  return key.columns.planes > 0 ? cut(key, out) : list(key, out);
}

void mg_cuda_pieces_close(void) {
  for (const entry_t &e : lists)
    (void)cudaFree(const_cast<mg_piece_t *>(e.pieces.piece));
  lists.clear();
}
