#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "api/solver.h"
#include "base/locale.h"
#include "comm/comm_wings.h"
#include "device/device_select.h"
#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

/* Threads take turns in creating and destroying solvers, and in calls for a device. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* Solvers that hold the device of this process. */
static int device_holders;

/* All solvers, so that a call with one that was destroyed is an error. */
static hpgmg_solver_t *solvers;
static pthread_mutex_t of_solvers = PTHREAD_MUTEX_INITIALIZER;

static void lock(pthread_mutex_t *mutex) {
  if (pthread_mutex_lock(mutex) != 0) abort(); /* never: no mutex is locked twice by a thread */
}
static void unlock(pthread_mutex_t *mutex) {
  if (pthread_mutex_unlock(mutex) != 0) abort();
}

static void remember(hpgmg_solver_t *s) {
  lock(&of_solvers);
  s->next = solvers;
  solvers = s;
  unlock(&of_solvers);
}

static bool exists(const hpgmg_solver_t *s) {
  lock(&of_solvers);
  const hpgmg_solver_t *other = solvers;
  while (other && other != s)
    other = other->next;
  unlock(&of_solvers);
  return s && other == s;
}

/* Whether the solver existed. */
static bool forget(const hpgmg_solver_t *s) {
  lock(&of_solvers);
  hpgmg_solver_t **link = &solvers;
  while (*link && *link != s)
    link = &(*link)->next;
  const bool found = s && *link == s;
  if (found) *link = s->next;
  unlock(&of_solvers);
  return found;
}

/* --- messages and the world of a call ------------------------------------------------------------
 */

/* What the calling thread had before. */
typedef struct {
  mg_log_t *log;
  mg_comm_t *comm;
  locale_t locale;
} before_t;

static before_t enter(hpgmg_solver_t *s) {
  s->error[0] = '\0';
  const before_t before = {mg_log_enter(&s->messages), mg_comm_enter(s->comm), mg_locale_set_c()};
  return before;
}

static void restore(before_t before) {
  (void)mg_locale_set(before.locale);
  (void)mg_comm_enter(before.comm);
  (void)mg_log_enter(before.log);
}

static hpgmg_status_t public_status(mg_status_t status) {
  switch (status) {
  case MG_OK:
    return HPGMG_OK;
  case MG_ERR_DIVERGED:
  case MG_ERR_INTERRUPTED:
    return HPGMG_NOT_CONVERGED;
  case MG_ERR_USAGE:
  case MG_ERR_IO:
    return HPGMG_BAD_ARGUMENT;
  case MG_ERR_UNAVAILABLE:
    return HPGMG_UNAVAILABLE;
  case MG_ERR_MEMORY:
    return HPGMG_NO_MEMORY;
  default:
    return HPGMG_FAILED;
  }
}

/* Give the message of the first rank that has one to all ranks. */
static mg_status_t share_error(hpgmg_solver_t *s) {
  int first;
  return mg_comm_first_text(mg_comm_world(), s->error[0] != '\0', s->error, MG_API_MESSAGE, &first);
}

static hpgmg_status_t leave(hpgmg_solver_t *s, before_t before, mg_status_t status) {
  const bool alone = !s->comm || mg_comm_size(s->comm) == 1;
  /* The failure may have happened on this rank only. */
  const bool lost = status >= MG_ERR_DEVICE || (status >= MG_ERR_MEMORY && !alone && !s->agreed);
  if (lost) s->usable = false, s->broken = true;
  if (status != MG_OK && !s->broken && !alone && share_error(s) != MG_OK) {
    status = MG_ERR_COMM;
    s->usable = false, s->broken = true;
  }
  restore(before);
  return public_status(status);
}

/* Parallel regions of the library would have other threads than its kernels expect. */
static mg_status_t check_thread(void) {
#ifdef _OPENMP
  if (omp_in_parallel())
    return mg_error(MG_ERR_USAGE, "called in a parallel region of OpenMP; call outside of it");
#endif
  return MG_OK;
}

/* A failed solver may have lost messages, in which other ranks wait. */
static mg_status_t check_usable(const hpgmg_solver_t *s) {
  int device;
  MG_TRY(check_thread());
  if (!s->usable)
    return mg_error(MG_ERR_USAGE, s->params.dry_run
                                      ? "this solver has no levels, because of the word --dry-run"
                                      : "this solver has failed before; destroy it");
  return s->holds_device ? s->h->level[0].backend->arrays->select(&device) : MG_OK;
}

/* --- creation and destruction --------------------------------------------------------------------
 */

/* Nothing else can be read from options of another size. */
static mg_status_t check_size(const hpgmg_options_t *o) {
  if (o->size == sizeof *o) return MG_OK;
  return mg_error(MG_ERR_USAGE,
                  "the options have %zu bytes, but this version of libhpgmg has %zu; compile with "
                  "its hpgmg.h",
                  o->size, sizeof *o);
}

/* Ranks may have loaded different libraries. */
static mg_status_t compare_versions(void) {
  char version[32] = PACKAGE_VERSION;
  MG_TRY(mg_comm_broadcast(mg_comm_world(), version, sizeof version));
  return mg_comm_agree(strcmp(version, PACKAGE_VERSION) == 0
                           ? MG_OK
                           : mg_error(MG_ERR_USAGE, "rank %d has libhpgmg %s, but rank 0 has %s",
                                      mg_comm_rank(mg_comm_world()), PACKAGE_VERSION, version));
}

static mg_status_t attach(hpgmg_solver_t *s, const hpgmg_options_t *o) {
  MG_TRY(mg_comm_attach(o->comm, o->comm_f, &s->comm));
  (void)mg_comm_enter(s->comm);
  s->messages.rank = mg_comm_rank(s->comm);
  s->messages.n_ranks = mg_comm_size(s->comm);
  return compare_versions();
}

hpgmg_status_t hpgmg_create(const hpgmg_options_t *options, hpgmg_solver_t **solver) {
  if (!solver) return HPGMG_BAD_ARGUMENT;
  *solver = NULL;
  if (!options) return HPGMG_BAD_ARGUMENT;
  hpgmg_solver_t *s = calloc(1, sizeof *s);
  *solver = s;
  if (!s) return HPGMG_NO_MEMORY;
  remember(s);
  if (options->size == sizeof *options) s->log = options->log, s->log_data = options->log_data;
  s->messages = (mg_log_t){.rank = 0,
                           .n_ranks = 1,
                           .level = MG_LOG_NORMAL,
                           .program = "hpgmg",
                           .line = mg_api_take_line,
                           .data = s};
  lock(&turn);
  const before_t before = enter(s);
  mg_status_t status = check_size(options);
  if (status == MG_OK) status = check_thread();
  if (status == MG_OK) status = attach(s, options);
  if (status == MG_OK) status = mg_api_build(s, options);
  device_holders += s->holds_device;
  const hpgmg_status_t result = leave(s, before, status);
  unlock(&turn);
  mg_api_deliver(mg_api_detach_lines(s));
  return result;
}

void hpgmg_destroy(hpgmg_solver_t **solver) {
  hpgmg_solver_t *s = solver ? *solver : NULL;
  if (!forget(s)) return;
  lock(&turn);
  const before_t before = enter(s);
  int device;
  if (s->holds_device && s->h) (void)s->h->level[0].backend->arrays->select(&device);
  mg_api_free_coefficients(s);
  mg_boxes_free(s->boxes);
  if (!s->broken) mg_hierarchy_free(s->h); /* collective: other ranks may be lost */
  mg_axes_free(&s->axes);
  free(s->own);
  if (s->holds_device && --device_holders == 0) mg_device_close();
  (void)mg_comm_enter(NULL);
  if (!s->broken) mg_comm_free(s->comm);
  restore(before);
  unlock(&turn);
  const mg_api_lines_t lines = mg_api_detach_lines(s);
  free(s);
  *solver = NULL;
  mg_api_deliver(lines);
}

/* --- use -----------------------------------------------------------------------------------------
 */

static before_t begin(hpgmg_solver_t *s) {
  if (s->holds_device) lock(&turn);
  return enter(s);
}

static hpgmg_status_t end(hpgmg_solver_t *s, before_t before, mg_status_t status) {
  const hpgmg_status_t result = leave(s, before, status);
  if (s->holds_device) unlock(&turn);
  mg_api_deliver(mg_api_detach_lines(s));
  return result;
}

hpgmg_status_t hpgmg_set_coefficients(hpgmg_solver_t *solver,
                                      const hpgmg_coefficients_t *coefficients) {
  if (!exists(solver)) return HPGMG_BAD_ARGUMENT;
  const before_t before = begin(solver);
  mg_status_t status = check_usable(solver);
  if (status == MG_OK) status = mg_api_set_coefficients(solver, coefficients);
  return end(solver, before, status);
}

hpgmg_status_t hpgmg_set_sides(hpgmg_solver_t *solver, const hpgmg_sides_t *sides) {
  if (!exists(solver)) return HPGMG_BAD_ARGUMENT;
  const before_t before = begin(solver);
  mg_status_t status = check_usable(solver);
  if (status == MG_OK) status = mg_api_set_sides(solver, sides);
  return end(solver, before, status);
}

hpgmg_status_t hpgmg_solve(hpgmg_solver_t *solver, const hpgmg_array_t *f, const hpgmg_array_t *u,
                           hpgmg_info_t *info) {
  if (!exists(solver)) return HPGMG_BAD_ARGUMENT;
  const before_t before = begin(solver);
  mg_status_t status = check_usable(solver);
  if (info) *info = (hpgmg_info_t){HPGMG_CYCLES_DONE, 0, 0.0, 0.0};
  if (status == MG_OK) status = mg_api_solve(solver, f, u, info);
  return end(solver, before, status);
}

int32_t hpgmg_boxes(const hpgmg_solver_t *solver, hpgmg_box_t *boxes, int32_t max) {
  if (!exists(solver)) return 0;
  for (int q = 0; q < solver->n_own && q < max; q++)
    memcpy(&boxes[q], &solver->own[q], sizeof *boxes);
  return solver->n_own;
}

void hpgmg_storage(const hpgmg_solver_t *solver, hpgmg_array_t *f, hpgmg_array_t *u) {
  static const hpgmg_array_t none = {.data = NULL};
  if (exists(solver) && solver->ready) solver->h->is_fixed = true;
  for (int box = 0; exists(solver) && box < solver->n_boxes; box++) {
    f[box] = solver->ready ? mg_boxes_storage(solver->boxes, box, MG_F) : none;
    u[box] = solver->ready ? mg_boxes_storage(solver->boxes, box, MG_U) : none;
  }
}

void hpgmg_memory(const hpgmg_solver_t *solver, int64_t bytes[2]) {
  bytes[0] = bytes[1] = 0;
  if (!exists(solver)) return;
  memcpy(bytes, solver->planned, sizeof solver->planned);
  if (!solver->h) return;
  for (int l = 0; l < mg_hierarchy_of_cycles(solver->h)->n_levels; l++)
    bytes[mg_place_is_cuda(solver->plan.level[l].place)] += mg_hierarchy_bytes(solver->h, l);
}

const char *hpgmg_method(const hpgmg_solver_t *solver) {
  return exists(solver) ? solver->method : "";
}

const char *hpgmg_error(const hpgmg_solver_t *solver) {
  return exists(solver) ? solver->error
                        : "there is no such solver: it was destroyed, or hpgmg_create made none";
}

const char *hpgmg_version(void) {
  return PACKAGE_VERSION;
}

const char *hpgmg_status_text(hpgmg_status_t status) {
  static const char *const text[] = {"success",       "not converged",
                                     "bad argument",  "device or transport not available",
                                     "out of memory", "device, MPI or library failed"};
  return (unsigned)status < sizeof text / sizeof *text ? text[status] : "unknown status";
}
