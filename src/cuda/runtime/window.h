/* Windows: device memory that kernels of other processes can store into. */
#ifndef MG_CUDA_RUNTIME_WINDOW_H
#define MG_CUDA_RUNTIME_WINDOW_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

enum { MG_CUDA_HANDLE_BYTES = 64, MG_CUDA_PROBE_BYTES = 256 };

/** Allocate zeroed device memory that other processes can open by its handle. Without CUDA IPC
 *  the handle is all zeros, which cannot be opened. */
MG_MUST_CHECK mg_status_t mg_cuda_window_alloc(size_t bytes, void **memory,
                                               unsigned char handle[MG_CUDA_HANDLE_BYTES]);
void mg_cuda_window_release(void *memory);

/** Whether this device can store into the memory of the device with this UUID: it is the same
 *  device, or there is peer access between them. */
bool mg_cuda_has_peer_access(const unsigned char uuid[16]);

/** Open another process's window. Failure is not logged, because callers use this to test whether
 *  IPC works.
 *  @return true on success (close with mg_cuda_window_close), otherwise false */
bool mg_cuda_window_open(const unsigned char handle[MG_CUDA_HANDLE_BYTES], void **memory);
void mg_cuda_window_close(void *memory);

/** Store a test pattern of MG_CUDA_PROBE_BYTES into another process's window, with a kernel as
 *  for messages, and wait for it to finish. A window that opens does not guarantee that stores
 *  arrive.
 *  @param[in] probe   address in the window, aligned to 8 bytes
 *  @param[in] number  distinguishes this pattern from others
 *  @return MG_OK, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_cuda_window_store_probe(void *probe, int number);

/** Check whether the test pattern of another process arrived in this process's window. Call after
 *  that process has reported that its store finished. Clears the pattern to zeros. */
MG_MUST_CHECK mg_status_t mg_cuda_window_check_probe(void *probe, int number, bool *arrived);

#endif
