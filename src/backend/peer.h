/* Links between the devices of several ranks. */
#ifndef MG_BACKEND_PEER_H
#define MG_BACKEND_PEER_H

#include "base/status.h"
#include "plan/copy_plan.h"

enum { MG_PEER_HANDLE_BYTES = 64, MG_NCCL_ID_BYTES = 128 };

/** Words of 8 bytes that differ from those sent. */
typedef struct {
  int64_t n;
  int64_t first;            /**< number of the first one */
  uint64_t found, expected; /**< its values */
} mg_word_errors_t;

/** Memory of one device that other devices of the host store into, and stores that test a link. The
 *  processes of both devices call the entries. */
typedef struct mg_backend_peer {
  /** Allocate zeroed memory that other processes can open by its handle, and wait for it. If they
   *  cannot, the handle is all zeros.
   *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE */
  mg_status_t (*alloc)(size_t bytes, void **memory, unsigned char handle[MG_PEER_HANDLE_BYTES]);
  void (*release)(void *memory);
  /** Open the memory of another process on the device with this UUID.
   *  @return NULL, or why it cannot be opened: static text; nothing is logged */
  const char *(*open)(const unsigned char uuid[16],
                      const unsigned char handle[MG_PEER_HANDLE_BYTES], void **memory);
  void (*close)(void *memory);
  /** Store a test pattern into opened memory. Memory that opens does not guarantee that stores
   *  arrive.
   *  @param[in] bytes    a multiple of 16
   *  @param[in] pattern  patterns with different numbers differ in almost all words */
  mg_status_t (*store)(void *memory, size_t bytes, uint64_t pattern);
  /** Compare memory of this process with the pattern, after the process that stored it has waited.
   *  Waits. */
  mg_status_t (*check)(const void *memory, size_t bytes, uint64_t pattern,
                       mg_word_errors_t *errors);
} mg_backend_peer_t;

/** A communicator of all ranks of a run, each on its own GPU. */
typedef struct mg_nccl mg_nccl_t;

/** NCCL: messages in the order of the device's stream. */
typedef struct mg_backend_nccl {
  /** Create the unique id of the communicator. One rank creates it; all ranks open with it.
   *  @return 0 or an NCCL error code; not logged, since a run can continue without NCCL */
  int (*create_id)(unsigned char id[MG_NCCL_ID_BYTES]);
  /** Open the communicator. Collective over the ranks, which wait for each other, including for a
   *  rank that fails early.
   *  @return 0 or an NCCL error code; not logged */
  int (*open)(const unsigned char id[MG_NCCL_ID_BYTES], int n_ranks, int rank, mg_nccl_t **out);
  /** Text for an NCCL error code, in static storage. */
  const char *(*text)(int code);
  /** @param[in] alone  some ranks have no communicator: do not wait for them */
  void (*close)(mg_nccl_t *nccl, bool alone);
  /** Enqueue the messages of one exchange, to and from their places in buffers of device memory.
   *  @return MG_OK, MG_ERR_COMM */
  mg_status_t (*exchange)(mg_nccl_t *nccl, const mg_message_t *receive, int n_receive,
                          char *incoming, const mg_message_t *send, int n_send,
                          const char *outgoing, int value_bytes);
} mg_backend_nccl_t;

#endif
