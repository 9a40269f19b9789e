/* Messages that kernels store straight into the memory of another rank's device.
 *
 * A message has two slots in the receiver's window, used in turn. A small one travels as words of
 * 16 bytes, each half of which has half of a double and the message's number: the receiver looks at
 * the words themselves, and neither fence nor flag stands between the store and the reader, at
 * twice the bytes. A large one travels as it is, in tiles, behind each of which the sender raises a
 * counter beside the slots.
 *
 * Before a sender writes over a slot the receiver must have taken out what is there. Where two
 * ranks send to each other in every exchange, the message that came before this one says so: it was
 * sent by a kernel that followed the one which took out. Where messages go one way, the receiver
 * raises a counter for each tile in the sender's window.
 *
 * Kernels count for themselves: their arguments never change, so that they can be replayed as parts
 * of a graph.
 *
 * Hu et al., Demystifying NCCL (arXiv:2507.04786, 2025), on NCCL's protocols LL and Simple. */
#ifndef MG_CUDA_P2P_EXCHANGE_H
#define MG_CUDA_P2P_EXCHANGE_H

#include "base/status.h"
#include "formulas/view.h"
#include <stdint.h>

enum {
  /** Of the largest message that travels as words. F-cycles of 128^3 cells a GPU on four H200s,
   * GDOF/s, with 0, 1024, 8192, 16384, 32768 and 65536: 4.56, 4.56, 4.72, 4.72, 4.69, 4.69
   * (docs/transports.md). */
  MG_CUDA_WORDS_DOUBLES = 16384
};

/** What a message needs in windows, bytes; its cuboids are the items whose buffer offsets lie in
 *  the `doubles` from `first` on. Both ends find the same. */
typedef struct {
  int64_t slots;    /**< both slots, the receiver's */
  int64_t arrivals; /**< counters of the receiver; 0 for words */
  int64_t answers;  /**< counters of the sender, where messages go one way */
} mg_cuda_p2p_need_t;
mg_cuda_p2p_need_t mg_cuda_p2p_need(const mg_copy_t *items, int n_items, int64_t first,
                                    int64_t doubles);

/** One message as its end here sees it. What it needs lies in zeroed memory, at multiples of 16
 *  bytes. */
typedef struct {
  void *slots;     /**< the receiver's, here or there */
  void *arrivals;  /**< the receiver's; not looked at for words */
  void *answers;   /**< the sender's; NULL where the ranks send to each other */
  int64_t doubles; /**< of the message */
  int64_t first;   /**< where the items' buffer offsets begin for it */
  int rank;        /**< of the other side */
} mg_cuda_message_t;

/** What one rank does in an exchange: the lists of a copy plan, the items of pack and unpack
 * message after message. Only read, but for the views, which must outlive the result. */
typedef struct {
  const mg_view_t *src, *dst;
  const mg_copy_t *pack, *local, *unpack;
  int n_pack, n_local, n_unpack;
  const mg_cuda_message_t *sent, *received;
  int n_sent, n_received;
  int sharers; /**< ranks on the device, whose kernels may be there at the same time (MPS) */
} mg_cuda_p2p_job_t;

/** The same, ready for many runs. */
typedef struct mg_cuda_p2p mg_cuda_p2p_t;

/** @param[out] out  free with mg_cuda_p2p_free
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_cuda_p2p_create(const mg_cuda_p2p_job_t *job, mg_cuda_p2p_t **out);
void mg_cuda_p2p_free(mg_cuda_p2p_t *mail);

/** Enqueue, in one launch each: wait for free slots, store cells of vector src into them, and copy
 *  within the rank; wait for arrival and spread into vector dst; or both.
 *
 *  A kernel that waits in vain gives up after mg_cuda_patience seconds, and the next wait for the
 *  device returns MG_ERR_COMM. */
MG_MUST_CHECK mg_status_t mg_cuda_p2p_send(mg_cuda_p2p_t *mail, int src, int dst);
MG_MUST_CHECK mg_status_t mg_cuda_p2p_receive(mg_cuda_p2p_t *mail, int dst);
MG_MUST_CHECK mg_status_t mg_cuda_p2p_exchange(mg_cuda_p2p_t *mail, int src, int dst);

/** Seconds that a kernel waits for another rank; 60. */
extern double mg_cuda_patience;

#endif
