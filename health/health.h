/* hpgmg-health: every rank, with its GPU or its cores, solves the same problems alone. Wrong bits,
 * slow devices and ranks that do not answer are found by comparison: with known checksums, with the
 * other ranks, and with an earlier check (a baseline). */
#ifndef HEALTH_H
#define HEALTH_H

#include "backend/peer.h"
#include "io/report/fields.h"
#include "params/params.h"

enum {
  HEALTH_PROBLEMS = 2,
  HEALTH_TEXT = 256,
  HEALTH_SCHEMA = 2 /**< of the JSON lines: 1 more with each change of a key or of its meaning */
};

/** Measured figures of a device. */
typedef enum {
  HEALTH_RATE_SMALL,  /**< cells of the small problem per second: median of the solves */
  HEALTH_RATE_MEDIUM, /**< the same for the medium problem */
  HEALTH_BANDWIDTH,   /**< bytes per second of a vector update */
  HEALTH_HOST_LINK,   /**< bytes per second from a GPU to its host's memory */
  HEALTH_PEER_LINK,   /**< bytes per second of stores of the previous rank's GPU into this GPU */
  HEALTH_MESSAGE,     /**< the same, of a message between the hosts' memories */
  HEALTH_SM_CLOCK,    /**< mean in MHz during the solves of the medium problem (NVML) */
  HEALTH_POWER,       /**< mean in W during these solves (NVML) */
  HEALTH_ENERGY,      /**< J of such a solve (NVML) */
  HEALTH_FIGURES
} health_figure_t;

extern const struct health_figure {
  const char *key, *title; /**< title NULL: it does not decide whether a device is slow */
  bool is_link;
  int width; /**< of its column in the text report */
  double unit;
} health_figures[HEALTH_FIGURES];

/** The order is severity. */
typedef enum {
  HEALTH_OK,
  HEALTH_SLOW,
  HEALTH_WRONG,   /**< a solution, or what arrived over a link, differs from the known one */
  HEALTH_MISSING, /**< no answer, or no result */
  HEALTH_VERDICTS
} health_verdict_t;

/** Words of the verdicts: "ok", ... */
extern const char *const health_verdicts[HEALTH_VERDICTS];

/** Solutions of one problem. */
typedef struct {
  int32_t n;         /**< cells per side */
  int32_t n_solves;  /**< including those before timing */
  int32_t n_checked; /**< solutions compared bit by bit */
  int32_t n_wrong;   /**< number of them that differ */
  uint64_t checksum; /**< of the first wrong solution; without one, of the last */
  uint64_t known;    /**< the expected checksum */
  int32_t n_norms;   /**< right solutions with another residual norm than the first */
} health_problem_t;

/** Words that arrived over a link. */
typedef struct {
  int64_t n_words; /**< compared */
  mg_word_errors_t errors;
} health_arrivals_t;

/** What a device is. */
typedef struct {
  int rank; /**< -1: none has it, or of a baseline */
  char host[64];
  char model[HEALTH_TEXT]; /**< of the GPU, or of the CPU and the number of threads */
  char uuid[48];           /**< of the GPU ("GPU-..."), or "" */
} health_name_t;

/** A device, as its rank describes it, and the judgement of rank 0. Sent between ranks as bytes. */
typedef struct {
  health_name_t name;
  char pci[32]; /**< PCI address of the GPU, or "" */
  health_problem_t problem[HEALTH_PROBLEMS];
  double value[HEALTH_FIGURES];   /**< NaN: not measured */
  char failure[HEALTH_TEXT];      /**< why there are no results, or "" */
  health_arrivals_t stores;       /**< of the previous rank's GPU */
  health_arrivals_t messages;     /**< of the previous rank */
  char no_peer_link[HEALTH_TEXT]; /**< why its GPU did not store into this one, or "" */
  int n_exchanges;                /**< between neighbors that have completed */
  bool lost_peer;                 /**< no message came from the previous rank */
  bool stuck;                     /**< messages from or to this rank are still in flight */

  bool answered;
  health_name_t peer;            /**< the other end of its links: the device of the previous rank */
  double median[HEALTH_FIGURES]; /**< of comparable devices of the job; NaN: none */
  double baseline[HEALTH_FIGURES]; /**< NaN: none */
  bool is_own[HEALTH_FIGURES];     /**< the baseline is of this device, or this pair */
  health_verdict_t verdict;
  char reason[HEALTH_TEXT]; /**< "" if ok */
} health_device_t;

/** Stages of the measurement, in this order. All ranks begin a stage at the same time, because
 *  ranks that share a host's memory disturb each other. */
typedef enum {
  HEALTH_SMALL,  /**< solve the small problem */
  HEALTH_MEDIUM, /**< solve the medium problem */
  HEALTH_MEMORY, /**< bandwidth of memory and of the link to the host */
  HEALTH_STAGES
} health_stage_t;

/** A check. The devices of other ranks, the judgement and the counts are on rank 0 only. */
typedef struct {
  mg_params_t params;              /**< options of the solver; its device is chosen by the check */
  char baseline_path[MG_PATH_MAX]; /**< "": none */
  double slow;                     /**< percent below the median, from which a device is slow */
  double timeout;                  /**< seconds that rank 0 waits for an answer */
  mg_action_t action;

  int n_ranks, n_devices;         /**< devices: those of the ranks, then those of the baseline */
  health_device_t *device, *mine; /**< on all ranks, room for n_ranks + n_baseline; of this rank */
  health_stage_t stage;
  int n_baseline;
  health_device_t *baseline; /**< devices with verdict ok of an earlier check */
  bool must_abort;           /**< ranks are missing, so no collective function may follow */
  int count[HEALTH_VERDICTS];
} health_t;

/** Check the devices of the job and report. Collective over the world. If ranks are missing, rank 0
 *  reports and then aborts all ranks with exit code 1.
 *  @return MG_OK, MG_ERR_DIVERGED (a device is slow, wrong or missing: logged), MG_ERR_IO (baseline
 *          or report), MG_ERR_USAGE (JSON without jansson), or as health_check */
MG_MUST_CHECK mg_status_t health_report(health_t *health);

/** Solve the problems on every rank, measure the links, and judge the devices on rank 0. Collective
 *  over the world. A failure of one rank is a verdict, not an error. A rank that waits for rank 0
 * in vain logs an error and aborts all ranks with exit code 1.
 *  @return MG_OK, MG_ERR_UNAVAILABLE, MG_ERR_MEMORY (no problem fits), MG_ERR_DEVICE, MG_ERR_COMM
 */
MG_MUST_CHECK mg_status_t health_check(health_t *health);

/** Describe this rank's device, which is open, and choose the sizes of the problems: the largest
 *  that fit into the memory of all ranks. Collective over the world.
 *  @return MG_OK, MG_ERR_MEMORY (none fits), MG_ERR_DEVICE, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t health_prepare(const mg_params_t *params, health_device_t *device);

/** Run the stage h->stage of this rank, in a world of one rank, after the earlier stages.
 *  @return as mg_hierarchy_create */
MG_MUST_CHECK mg_status_t health_solve(const health_t *h);

/** Run a function of this rank. An error becomes device->failure; after a failure, do nothing. */
void health_try(health_device_t *device, mg_status_t (*run)(void *data), void *data);

/** Measure the links from the previous rank, and compare what arrives. A rank that does not answer
 *  its neighbors in a quarter of the timeout is noted: lost_peer, stuck.
 *
 *  Collective over the world, of at least two ranks. The device is open, unless it has failed.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_COMM */
MG_MUST_CHECK mg_status_t health_links(const health_t *health);

/** Find medians and verdicts, and append devices of the baseline that are on a host of the job, but
 *  that no rank has.
 *  @return MG_OK, MG_ERR_MEMORY */
MG_MUST_CHECK mg_status_t health_judge(health_t *health);

/** The middle one of n values, of two middle ones the larger; sorts them. NaN if n = 0. */
double health_median(double *values, int n);

/** Fields of the lines of the JSON file: a health_device_t, and the summary, a health_t. */
void health_device_fields(mg_sink_t *s, const void *device);
void health_summary_fields(mg_sink_t *s, const void *health);

/** Write the text of the --json file: one line per device, then one for all.
 *  @param[in] health  health_t */
MG_MUST_CHECK mg_status_t health_json(FILE *out, const void *health);

/** Read the devices with verdict ok of the baseline: lines that health_json wrote. Not collective.
 *  @return MG_OK, MG_ERR_IO (unreadable, other content, no such device), MG_ERR_MEMORY,
 *          MG_ERR_USAGE (without jansson); logged */
MG_MUST_CHECK mg_status_t health_read_baseline(health_t *health);

#endif
