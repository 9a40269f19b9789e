/* Windows of device memory that kernels of other processes can store into. */
#ifndef MG_CUDA_PEER_H
#define MG_CUDA_PEER_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

enum { MG_CUDA_HANDLE_BYTES = 64, MG_CUDA_PROBE_BYTES = 256 };

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

/** Store a mark, MG_CUDA_PROBE_BYTES, into another process's window with a kernel, as messages are,
 *  and return when it has ended. That a window opens does not mean that stores arrive.
 *  @param[in] place   a multiple of 8 bytes
 *  @param[in] number  what tells this mark from others
 *  @return MG_OK, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_cuda_window_probe(void *place, int number);

/** In one's own window: has the mark arrived that another process stored, and then told so? Zeros
 *  are there afterwards. */
MG_MUST_CHECK mg_status_t mg_cuda_window_probed(void *place, int number, bool *arrived);

#endif
