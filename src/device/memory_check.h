/* Does the run fit into memory, and which size does when it does not? */
#ifndef MG_MEMORY_CHECK_H
#define MG_MEMORY_CHECK_H

#include "plan/plan.h"

/** What may be allocated, as one rank sees it. */
typedef struct {
  int64_t host_bytes;    /**< by all ranks of its host together */
  int64_t process_bytes; /**< by this rank alone */
  int64_t device_bytes;  /**< by this rank on its device; INT64_MAX without one */
} mg_room_t;

/** A size of the command line. */
typedef struct {
  int log2_box_dim;
  int64_t boxes_per_rank;
  int32_t n; /**< cells a side of its grid; 0: no size */
} mg_size_t;

/** What came out, the same on every rank. */
typedef struct {
  bool fits;
  double need, room;    /**< bytes, where they are furthest apart: a whole host, a rank, a device */
  bool on_device;       /**< that is a device */
  mg_size_t largest;    /**< when it does not: the largest grid that does, of boxes of any width */
  mg_size_t same_width; /**< the largest of boxes as wide as those asked for */
} mg_memory_check_t;

/** Compare what the levels of a run need with what there is, by planning; nothing is allocated.
 *
 *  Collective over the world.
 *  @param[in]  params    size, operator and decomposition of the run
 *  @param[in]  room      may differ between ranks
 *  @param[out] capacity  filled on MG_OK
 *  @return MG_OK (fits or not), MG_ERR_MEMORY (of the lists used on the way), MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_memory_check_measure(const mg_params_t *params, const mg_room_t *room,
                                                  mg_memory_check_t *capacity);

/** Write why a run does not fit: one line with the need, the room and the sizes that fit. */
void mg_memory_check_describe(const mg_memory_check_t *capacity, char *text, int text_size);

/** Refuse a run that does not fit on the machine as it is; rank 0 says so. Collective.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_memory_check(const mg_params_t *params);

#endif
