/* Peer-to-peer exchange: kernels store messages directly into the memory of another rank's GPU. */
#ifndef MG_BACKEND_P2P_H
#define MG_BACKEND_P2P_H

#include "base/status.h"
#include "formulas/view.h"
#include <stdint.h>

enum {
  /** Size of the largest message sent as words. F-cycles with 128^3 cells per GPU on four H200s,
   *  in GDOF/s, with 0, 1024, 8192, 16384, 32768 and 65536: 4.56, 4.56, 4.72, 4.72, 4.69, 4.69
   *  (docs/transports.md). */
  MG_P2P_WORDS_VALUES = 16384,
  MG_P2P_MAX_VECTORS = 2 /**< of a launch, each in a separate message */
};

/** Window space that a message needs, in bytes. Sender and receiver compute the same result. */
typedef struct {
  int64_t slots;    /**< all slots, in the receiver's window */
  int64_t arrivals; /**< counters in the receiver's window; 0 for words */
  int64_t acks;     /**< counters in the sender's window, used by one-way messages */
} mg_p2p_bytes_t;

/** One message, seen from this rank. Slots and counters are zeroed memory, aligned to 16 bytes. */
typedef struct {
  void *slots;    /**< the receiver's slots, local or remote */
  void *arrivals; /**< the receiver's counters; not read for words */
  void *acks;     /**< the sender's counters; NULL if the ranks send to each other */
  int64_t values; /**< message length */
  int64_t first;  /**< buffer offset of the first item */
  int rank;       /**< the peer rank */
} mg_p2p_message_t;

/** One rank's part of an exchange: the lists of a copy plan, with pack and unpack items ordered
 *  by message. The lists are only read during creation; the views must outlive the result. */
typedef struct {
  const mg_view_t *src, *dst;
  const mg_copy_t *pack, *local, *unpack;
  int n_pack, n_local, n_unpack;
  const mg_p2p_message_t *sent, *received;
  int n_sent, n_received;
  int sharers; /**< ranks that share the GPU, whose kernels may run concurrently (MPS) */
} mg_p2p_job_t;

/** A prepared exchange, for repeated runs. */
typedef struct mg_p2p mg_p2p_t;

/** The functions, for one type of cells. Their launches are enqueued.
 *
 *  A kernel whose wait exceeds mg_p2p_timeout_s seconds gives up, and the next synchronization
 *  with the device returns MG_ERR_COMM. */
typedef struct mg_backend_p2p {
  /** Window space of a message, whose cuboids are the items with buffer offsets in
   *  [first, first + values). */
  mg_p2p_bytes_t (*bytes)(const mg_copy_t *items, int n_items, int64_t first, int64_t values);
  /** @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t (*create)(const mg_p2p_job_t *job, mg_p2p_t **out);
  void (*free)(mg_p2p_t *p2p);
  /** Wait for free slots, store cells of vector src into them, and copy within the rank. */
  mg_status_t (*send)(mg_p2p_t *p2p, mg_vector_t src, mg_vector_t dst);
  /** Wait for arrival and scatter into vector dst. */
  mg_status_t (*receive)(mg_p2p_t *p2p, mg_vector_t dst);
  /** Both, in one launch, for 1 <= n <= MG_P2P_MAX_VECTORS vectors.
   *  @param[in] beside  the next launch may start at once */
  mg_status_t (*exchange)(mg_p2p_t *p2p, const mg_vector_t *src, const mg_vector_t *dst, int n,
                          bool beside);
} mg_backend_p2p_t;

/** Seconds that a kernel waits for another rank; default 60. */
extern double mg_p2p_timeout_s;

#endif
