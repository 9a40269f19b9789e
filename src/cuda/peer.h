/* Windows of device memory that kernels of other processes can store into. */
#ifndef MG_CUDA_PEER_H
#define MG_CUDA_PEER_H

#include "status.h"
#include <stdbool.h>
#include <stddef.h>

enum { MG_CUDA_HANDLE_BYTES = 64 };

/** Zeroed device memory that other processes can open by its handle. Where the system has no CUDA
 * IPC the handle is zeros, which nobody can open. */
MG_MUST_CHECK mg_status_t mg_cuda_window_alloc(size_t bytes, void **memory,
                                               unsigned char handle[MG_CUDA_HANDLE_BYTES]);
void mg_cuda_window_release(void *memory);

/** Whether this device can store into the memory of the one with this UUID: it is the same, or its
 *  peer. */
bool mg_cuda_reaches(const unsigned char uuid[16]);

/** Open another process's window; quiet, since this is how one finds out whether it works.
 *  @return false where it does not; else close with mg_cuda_window_close */
bool mg_cuda_window_open(const unsigned char handle[MG_CUDA_HANDLE_BYTES], void **memory);
void mg_cuda_window_close(void *memory);

#endif
