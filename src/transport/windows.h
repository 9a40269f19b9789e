/* Windows: device memory of each rank that kernels of the other ranks of its host store into. The
 * peer transport (transport_peer.c) puts its messages there. */
#ifndef MG_WINDOWS_H
#define MG_WINDOWS_H

#include "backend/backend.h"
#include "backend/peer.h"
#include "device/device_select.h"
#include <stdbool.h>
#include <stdint.h>

/** This rank's windows, and the opened windows of other ranks. */
typedef struct mg_windows mg_windows_t;

/** Address in a window of one rank that another rank may write to. Sent as doubles. */
typedef union {
  struct {
    unsigned char handle[MG_PEER_HANDLE_BYTES], uuid[16]; /**< of the window; of the device */
    int64_t window, begin; /**< number of the window; offset in bytes */
  } at;
  double doubles[(MG_PEER_HANDLE_BYTES + 16 + 2 * sizeof(int64_t)) / sizeof(double)];
} mg_window_address_t;
enum { MG_PROBE_BYTES = 256 };
enum { MG_WINDOW_ADDRESS_DOUBLES = sizeof(mg_window_address_t) / sizeof(double) };

/** Open windows between ranks of a host where possible. A pair is reached if both windows open and
 *  stores arrive in both directions.
 *
 *  Collective over the world.
 *  @param[in]  try_peer  whether to try a rank, for each rank of the world; the same on both ranks
 *      of a pair
 *  @param[in]  mine      location of this rank
 *  @param[out] reached   one for each rank of the world; the same on both ranks of a pair
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_windows_create(const bool *try_peer, const mg_device_location_t *mine,
                                            bool *reached, mg_windows_t **out);

/** Free the windows.
 *  @pre collective over the world; no rank writes into windows any more */
void mg_windows_free(mg_windows_t *windows);

/** True if a window of some rank opens but stores do not arrive. Such a rank is not reached. */
bool mg_windows_lost_stores(const mg_windows_t *windows);

/** Number of ranks on this rank's device, including this one. */
int mg_windows_sharers(const mg_windows_t *windows);

/** `bytes`, rounded up to the alignment of blocks. */
int64_t mg_window_aligned(int64_t bytes);

/** Allocate a block of this rank's windows. It is freed with the windows.
 *  @param[out] address  for another rank
 *  @param[out] memory   for this rank */
MG_MUST_CHECK mg_status_t mg_windows_alloc_block(mg_windows_t *windows, int64_t bytes,
                                                 mg_window_address_t *address, char **memory);

/** Map an address of another rank. *memory is NULL if its window cannot be opened. */
MG_MUST_CHECK mg_status_t mg_windows_open(mg_windows_t *windows, int64_t rank,
                                          const mg_window_address_t *address, char **memory);

/** Exchange n doubles with each of several ranks.
 *  @param[in]  sent      n doubles for each rank
 *  @param[out] received  n doubles from each rank */
MG_MUST_CHECK mg_status_t mg_windows_exchange(const int64_t *ranks, int n_ranks, const double *sent,
                                              double *received, int n);

/** Store a probe in the window of each rank that can be opened, and check which ones arrive.
 *
 *  Collective over this rank and `ranks`.
 *  @param[out] reached  one for each rank of the world; only those of `ranks` are set
 *  @param[out] lost     set if a window opens but stores do not arrive, in either direction */
MG_MUST_CHECK mg_status_t mg_windows_probe(mg_windows_t *windows, const int64_t *ranks, int n_ranks,
                                           bool *reached, bool *lost);

#endif
