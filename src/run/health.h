/* Health check of the devices of a job: every rank, with its GPU or its cores, solves the same
 * problems alone. Wrong bits, slow devices and ranks that do not answer are found by comparison:
 * with known checksums, with the other ranks, and with an earlier check (a baseline). */
#ifndef MG_HEALTH_H
#define MG_HEALTH_H

#include "backend/peer.h"
#include "level/level.h"

enum { MG_HEALTH_PROBLEMS = 2, MG_HEALTH_TEXT = 256 };

/** Measured figures of a device. Those up to MESSAGE decide whether it is slow. */
typedef enum {
  MG_HEALTH_RATE_SMALL,  /**< cells of the small problem per second: median of the solves */
  MG_HEALTH_RATE_MEDIUM, /**< the same for the medium problem */
  MG_HEALTH_BANDWIDTH,   /**< bytes per second of a vector update */
  MG_HEALTH_HOST_LINK,   /**< bytes per second from a GPU to its host's memory */
  MG_HEALTH_PEER_LINK,   /**< bytes per second of stores of the previous rank's GPU into this GPU */
  MG_HEALTH_MESSAGE,     /**< the same, of a message between the hosts' memories */
  MG_HEALTH_SM_CLOCK,    /**< mean in MHz during the solves of the medium problem (NVML) */
  MG_HEALTH_POWER,       /**< mean in W during these solves (NVML) */
  MG_HEALTH_ENERGY,      /**< J of such a solve (NVML) */
  MG_N_HEALTH_FIGURES
} mg_health_figure_t;

/** Key of a figure in reports; static string. */
const char *mg_health_figure_name(mg_health_figure_t figure);

/** The order is severity. */
typedef enum {
  MG_HEALTH_OK,
  MG_HEALTH_SLOW,
  MG_HEALTH_WRONG,   /**< a solution differs from the known one */
  MG_HEALTH_MISSING, /**< no answer, or no result */
  MG_N_HEALTH_VERDICTS
} mg_health_verdict_t;

/** Word of a verdict: "ok", ...; static string. */
const char *mg_health_verdict_name(mg_health_verdict_t verdict);

/** Solutions of one problem. */
typedef struct {
  int32_t n;         /**< cells per side */
  int32_t n_solves;  /**< including those before timing */
  int32_t n_checked; /**< solutions compared bit by bit */
  int32_t n_wrong;   /**< number of them that differ */
  uint64_t checksum; /**< of the first wrong solution; without one, of the last */
  uint64_t known;    /**< the expected checksum */
  int32_t n_norms;   /**< right solutions with another residual norm than the first */
} mg_health_problem_t;

/** Words that arrived over a link. */
typedef struct {
  int64_t n_words; /**< compared */
  mg_word_errors_t errors;
} mg_health_arrivals_t;

/** The other end of a device's links: the device of the previous rank. */
typedef struct {
  int rank; /**< -1: none, or in a baseline */
  char host[64];
  char model[MG_HEALTH_TEXT];
  char uuid[48];
} mg_health_peer_t;

/** A device, as its rank describes it, and the judgement of rank 0. Sent between ranks as bytes. */
typedef struct {
  int rank; /**< -1: a device of the baseline that no rank has */
  char host[64];
  char model[MG_HEALTH_TEXT]; /**< of the GPU, or of the CPU and the number of threads */
  char uuid[48];              /**< of the GPU ("GPU-..."), or "" */
  char pci[32];               /**< PCI address of the GPU, or "" */
  mg_health_problem_t problem[MG_HEALTH_PROBLEMS];
  double value[MG_N_HEALTH_FIGURES]; /**< NaN: not measured */
  char failure[MG_HEALTH_TEXT];      /**< why there are no results, or "" */
  mg_health_arrivals_t stores;       /**< of the previous rank's GPU */
  mg_health_arrivals_t messages;     /**< of the previous rank */
  char no_peer_link[MG_HEALTH_TEXT]; /**< why its GPU did not store into this one, or "" */
  int n_exchanges;                   /**< between neighbors that have completed */
  bool lost_peer;                    /**< no message came from the previous rank */
  bool stuck;                        /**< messages from or to this rank are still in flight */

  bool answered;
  mg_health_peer_t peer;
  double median[MG_N_HEALTH_FIGURES];   /**< of comparable devices of the job; NaN: none */
  double baseline[MG_N_HEALTH_FIGURES]; /**< NaN: none */
  bool is_own[MG_N_HEALTH_FIGURES];     /**< the baseline is of this device, or this pair */
  mg_health_verdict_t verdict;
  char reason[MG_HEALTH_TEXT]; /**< "" if ok */
} mg_health_device_t;

/** Result of a check. Complete on rank 0 only. */
typedef struct {
  int n_ranks, n_devices;     /**< devices: those of the ranks, then those of the baseline */
  mg_health_device_t *device; /**< of n_devices, and on all ranks of at least n_ranks */
  int n_baseline;
  mg_health_device_t *baseline; /**< devices with verdict ok of an earlier check */
  double timeout;               /**< seconds that rank 0 waits for an answer */
  bool must_abort;              /**< ranks are missing, so no collective function may follow */
} mg_health_t;

/** Checksum of a vector of level 0 (mg_field_checksum, which belongs to a higher layer). */
typedef mg_status_t (*mg_health_checksum_t)(const mg_level_t *level, mg_vector_t vec,
                                            uint64_t *checksum);

/** Solve the problems on every rank, measure the links, and judge the devices on rank 0.
 *
 *  Collective over the world. A failure of one rank is a verdict, not an error. A rank that waits
 *  for rank 0 in vain logs an error and aborts all ranks with exit code 1.
 *  @param[in,out] params  device is chosen afterwards
 *  @param[in,out] health  baseline may be set, on rank 0; free with mg_health_free
 *  @return MG_OK, MG_ERR_UNAVAILABLE, MG_ERR_MEMORY (no problem fits), MG_ERR_DEVICE, MG_ERR_COMM
 */
MG_MUST_CHECK mg_status_t mg_health_check(mg_params_t *params, mg_health_checksum_t checksum,
                                          mg_health_t *health);

void mg_health_free(mg_health_t *health);

/** The steps of mg_health_check. */

/** Choose the sizes of the problems: the largest that fit into the memory of all ranks. Collective
 *  over the world.
 *  @return MG_OK, MG_ERR_MEMORY (none fits), MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_health_sizes(const mg_params_t *params, int32_t n[MG_HEALTH_PROBLEMS]);

/** Set model, UUID and PCI address of this rank's device.
 *  @pre   the device is open
 *  @return MG_OK, MG_ERR_DEVICE */
MG_MUST_CHECK mg_status_t mg_health_identify(const mg_params_t *params, mg_health_device_t *device);

/** Stages of the measurement, in this order. All ranks begin a stage at the same time, because
 * ranks that share a host's memory disturb each other. */
typedef enum {
  MG_HEALTH_SMALL,  /**< solve the small problem */
  MG_HEALTH_MEDIUM, /**< solve the medium problem */
  MG_HEALTH_MEMORY, /**< bandwidth of memory and of the link to the host */
  MG_N_HEALTH_STAGES
} mg_health_stage_t;

/** Run a stage of this rank.
 *  @pre    a world of one rank; earlier stages have succeeded
 *  @param[in,out] device  problem[].n is set
 *  @return as mg_hierarchy_create */
MG_MUST_CHECK mg_status_t mg_health_run(const mg_params_t *params, mg_health_checksum_t checksum,
                                        mg_health_stage_t stage, mg_health_device_t *device);

/** Run a function of this rank. An error becomes device->failure; after a failure, do nothing. */
void mg_health_try(mg_health_device_t *device, mg_status_t (*run)(void *data), void *data);

/** Measure the links from the previous rank, and compare what arrives. A rank that does not answer
 *  its neighbors in a quarter of --health-timeout is noted: lost_peer, stuck.
 *
 *  Collective over the world, of at least two ranks.
 *  @pre the device is open, unless device->failure is set
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t mg_health_check_links(const mg_params_t *params,
                                                mg_health_device_t *device);

/** Find medians and verdicts. Devices of the baseline that are on a host of the job, but that no
 *  rank has, are appended: `device` has room for n_ranks + n_baseline.
 *  @param[in] slow_percent  below median or baseline
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t mg_health_judge(mg_health_t *health, double slow_percent);

/** The middle one of n values, of two middle ones the larger; sorts them. NaN if n = 0. */
double mg_health_median(double *values, int n);

#endif
