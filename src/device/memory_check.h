/* Checks whether a run fits into memory and, if not, finds the largest size that does. */
#ifndef MG_MEMORY_CHECK_H
#define MG_MEMORY_CHECK_H

#include "plan/plan.h"

/** Memory available, as seen by one rank. */
typedef struct {
  int64_t host_bytes;    /**< for all ranks of its host together */
  int64_t process_bytes; /**< for this rank alone */
  int64_t device_bytes;  /**< for this rank on its device; INT64_MAX without a device */
} mg_room_t;

/** A problem size as given on the command line. */
typedef struct {
  int log2_box_dim;
  int64_t boxes_per_rank;
  int32_t n; /**< cells per side of its grid; 0: no size */
} mg_size_t;

/** Result of the check, the same on every rank. */
typedef struct {
  bool fits;
  double need, room; /**< bytes of the host, rank or device with the highest need / room */
  bool on_device;    /**< need and room are those of a device */
  mg_size_t largest; /**< if it does not fit: the largest grid that fits, with boxes of any width */
  mg_size_t same_width; /**< the largest grid that fits with boxes of the requested width */
} mg_memory_check_t;

/** Memory available now. Collective over the world.
 *  @return MG_OK, MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_memory_room(const mg_params_t *params, mg_room_t *room);

/** Bytes that the levels of a plan take on a rank of it, at most.
 *  @return MG_OK, MG_ERR_MEMORY (for the temporary lists) */
MG_MUST_CHECK mg_status_t mg_memory_planned(const mg_plan_t *plan, int64_t rank, int64_t *host,
                                            int64_t *device);

/** Compare the memory that the levels of a run need with the memory available. Planning only;
 *  nothing is allocated.
 *
 *  Collective over the world.
 *  @param[in]  params    size, operator and decomposition of the run
 *  @param[in]  room      may differ between ranks
 *  @param[out] capacity  filled on MG_OK
 *  @return MG_OK (fits or not), MG_ERR_MEMORY (for the temporary lists), MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_memory_check_measure(const mg_params_t *params, const mg_room_t *room,
                                                  mg_memory_check_t *capacity);

/** As mg_memory_check_measure, without the search for the largest sizes. */
MG_MUST_CHECK mg_status_t mg_memory_need(const mg_params_t *params, const mg_room_t *room,
                                         mg_memory_check_t *capacity);

/** As mg_memory_need, with the memory available now. */
MG_MUST_CHECK mg_status_t mg_memory_need_now(const mg_params_t *params,
                                             mg_memory_check_t *capacity);

/** Describe why a run does not fit, in one line: need, room and the sizes that fit. */
void mg_memory_check_describe(const mg_memory_check_t *capacity, char *text, int text_size);

/** Reject a run that does not fit on the current machine; rank 0 logs the error. Collective.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_memory_check(const mg_params_t *params);

#endif
