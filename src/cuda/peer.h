/* Messages that kernels store straight into the memory of another rank's device, and the windows of
 * memory that they are stored into.
 *
 * A message has two slots in the receiver's window, used in turn, and two counters of messages: one
 * beside the slots of how many have arrived, which the sender raises, and one in the sender's
 * window of how many have been taken out, which the receiver raises. A sender waits on the latter
 * before it writes over a slot, a receiver on the former. The kernels count for themselves: their
 * arguments never change, so that they can be replayed as parts of a graph. */
#ifndef MG_CUDA_PEER_H
#define MG_CUDA_PEER_H

#include "status.h"
#include "view.h"
#include <stddef.h>
#include <stdint.h>

enum {
  MG_CUDA_HANDLE_BYTES = 64,
  MG_CUDA_COUNTER_BYTES = 128 /**< of each counter: a line of its own */
};

/** Zeroed device memory that other processes can open by its handle. */
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

/** One message as its end here sees it. */
typedef struct {
  double *slots; /**< two of `doubles` each: the receiver's, here or there */
  int64_t doubles;
  int64_t first; /**< where the items' buffer offsets begin for this message */
  void *raise;   /**< counter of the other side */
  void *watch;   /**< counter of this side */
  int rank;      /**< of the other side */
} mg_cuda_message_t;

/** What one rank does in an exchange: the lists of a copy plan, the items of pack and unpack
 * message after message. Only read, but for the views, which must outlive the result. */
typedef struct {
  const mg_view_t *src, *dst;
  const mg_copy_t *pack, *local, *unpack;
  int n_pack, n_local, n_unpack;
  const mg_cuda_message_t *sent, *received;
  int n_sent, n_received;
} mg_cuda_mail_job_t;

/** The same, ready for many runs. */
typedef struct mg_cuda_mail mg_cuda_mail_t;

/** @param[out] out  free with mg_cuda_mail_free
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_cuda_mail_create(const mg_cuda_mail_job_t *job, mg_cuda_mail_t **out);
void mg_cuda_mail_free(mg_cuda_mail_t *mail);

/** Enqueue, in one launch each: wait for free slots, store cells of vector src into them, raise the
 *  receivers' counters, and copy within the rank; wait for arrival, spread into vector dst, raise
 * the senders' counters; or both.
 *
 *  A kernel that waits in vain gives up after mg_cuda_patience seconds, and the next wait for the
 *  device returns MG_ERR_COMM. */
MG_MUST_CHECK mg_status_t mg_cuda_mail_send(mg_cuda_mail_t *mail, int src, int dst);
MG_MUST_CHECK mg_status_t mg_cuda_mail_receive(mg_cuda_mail_t *mail, int dst);
MG_MUST_CHECK mg_status_t mg_cuda_mail_exchange(mg_cuda_mail_t *mail, int src, int dst);

/** Seconds that a kernel waits for another rank; 60. */
extern double mg_cuda_patience;

#endif
