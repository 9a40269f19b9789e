/* Peer-to-peer exchange: kernels store messages directly into the memory of another rank's GPU.
 *
 * Each pair of ranks has four slots for the messages in one direction, in the receiver's window,
 * used cyclically. A small message travels as 16-byte words. Each half of a word holds half of a
 * double and the message number, so the receiver polls the words themselves. No fence and no flag
 * separates the store from the reader, at the cost of twice the bytes. A large message travels
 * unencoded, in tiles. After each tile the sender raises a counter beside the slots.
 *
 * A sender may overwrite a slot only after the receiver has read it. If two ranks send to each
 * other in every exchange, the peer's messages prove this. A launch sends at most two messages to a
 * rank, q and perhaps q + 1, after launches that received all up to q - 1. The peer sent q - 1 in a
 * launch whose first message was q - 2 or later, after launches that received all up to q - 3. So
 * slots of q - 4 and q - 3 are free. If messages go one way only, the receiver raises one counter
 * per tile in the sender's window.
 *
 * The kernels keep the message numbers themselves. Their arguments never change, so a captured
 * graph can replay them.
 *
 * Hu et al., Demystifying NCCL (arXiv:2507.04786, 2025), on NCCL's protocols LL and Simple. */
#ifndef MG_CUDA_EXCHANGE_P2P_H
#define MG_CUDA_EXCHANGE_P2P_H

#include "base/status.h"
#include "formulas/view.h"
#include <stdint.h>

enum {
  /** Size of the largest message sent as words. F-cycles with 128^3 cells per GPU on four H200s,
   *  in GDOF/s, with 0, 1024, 8192, 16384, 32768 and 65536: 4.56, 4.56, 4.72, 4.72, 4.69, 4.69
   *  (docs/transports.md). */
  MG_CUDA_WORDS_VALUES = 16384,
  /** Maximum number of vectors of a launch, each in a separate message; slots of messages. */
  MG_P2P_MAX_VECTORS = 2,
  MG_P2P_SLOTS = 2 * MG_P2P_MAX_VECTORS
};

/** Window space that a message needs, in bytes. Sender and receiver compute the same result. */
typedef struct {
  int64_t slots;    /**< all slots, in the receiver's window */
  int64_t arrivals; /**< counters in the receiver's window; 0 for words */
  int64_t acks;     /**< counters in the sender's window, used by one-way messages */
} mg_cuda_p2p_bytes_t;

/** One message, seen from this rank. Slots and counters are zeroed memory, aligned to 16 bytes. */
typedef struct {
  void *slots;    /**< the receiver's slots, local or remote */
  void *arrivals; /**< the receiver's counters; not read for words */
  void *acks;     /**< the sender's counters; NULL if the ranks send to each other */
  int64_t values; /**< message length */
  int64_t first;  /**< buffer offset of the first item */
  int rank;       /**< the peer rank */
} mg_cuda_message_t;

/** One rank's part of an exchange: the lists of a copy plan, with pack and unpack items ordered
 *  by message. The lists are only read during creation; the views must outlive the result. */
typedef struct {
  const mg_view_t *src, *dst;
  const mg_copy_t *pack, *local, *unpack;
  int n_pack, n_local, n_unpack;
  const mg_cuda_message_t *sent, *received;
  int n_sent, n_received;
  int sharers; /**< ranks that share the GPU, whose kernels may run concurrently (MPS) */
} mg_cuda_p2p_job_t;

/** A prepared exchange, for repeated runs. */
typedef struct mg_cuda_p2p mg_cuda_p2p_t;

/** The functions, for one type of cells. Their launches are enqueued.
 *
 *  A kernel whose wait exceeds mg_cuda_timeout_s seconds gives up, and the next synchronization
 *  with the device returns MG_ERR_COMM. */
typedef struct {
  /** Window space of a message, whose cuboids are the items with buffer offsets in
   *  [first, first + values). */
  mg_cuda_p2p_bytes_t (*bytes)(const mg_copy_t *items, int n_items, int64_t first, int64_t values);
  /** @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t (*create)(const mg_cuda_p2p_job_t *job, mg_cuda_p2p_t **out);
  void (*free)(mg_cuda_p2p_t *p2p);
  /** Wait for free slots, store cells of vector src into them, and copy within the rank. */
  mg_status_t (*send)(mg_cuda_p2p_t *p2p, mg_vector_t src, mg_vector_t dst);
  /** Wait for arrival and scatter into vector dst. */
  mg_status_t (*receive)(mg_cuda_p2p_t *p2p, mg_vector_t dst);
  /** Both, in one launch, for 1 <= n <= MG_P2P_MAX_VECTORS vectors.
   *  @param[in] beside  the next launch may start at once (mg_cuda_wait_exchange) */
  mg_status_t (*exchange)(mg_cuda_p2p_t *p2p, const mg_vector_t *src, const mg_vector_t *dst, int n,
                          bool beside);
} mg_cuda_p2p_table_t;
extern const mg_cuda_p2p_table_t mg_cuda_p2p_table, mg_cuda_p2p_table_float;

/** Seconds that a kernel waits for another rank; default 60. */
extern double mg_cuda_timeout_s;

#endif
