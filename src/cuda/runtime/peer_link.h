/* The group `peer` of the CUDA backends: windows (window.h) with a test pattern. */
#ifndef MG_CUDA_RUNTIME_PEER_LINK_H
#define MG_CUDA_RUNTIME_PEER_LINK_H

#include "cuda/cuda.h"
extern "C" {
#include "cuda/runtime/window.h"
}

#ifndef MG_FLOAT
const char *mg_cuda_peer_open(const unsigned char uuid[16],
                              const unsigned char handle[MG_PEER_HANDLE_BYTES], void **memory);
mg_status_t mg_cuda_peer_store(void *memory, size_t bytes, uint64_t pattern);
mg_status_t mg_cuda_peer_check(const void *memory, size_t bytes, uint64_t pattern,
                               mg_word_errors_t *errors);

constexpr mg_backend_peer_t mg_cuda_peer = {
    .alloc = mg_cuda_window_alloc,
    .release = mg_cuda_window_release,
    .open = mg_cuda_peer_open,
    .close = mg_cuda_window_close,
    .store = mg_cuda_peer_store,
    .check = mg_cuda_peer_check,
};
#endif

#endif
