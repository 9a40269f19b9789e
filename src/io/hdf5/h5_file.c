#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/alloc.h"
#include "base/log.h"
#include "comm/comm.h"
#include "io/hdf5/h5_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool mg_h5_available(void) {
  return true;
}

int mg_h5_ranks(void) {
#ifdef HAVE_PARALLEL_HDF5
  return mg_comm_size(mg_comm_world());
#else
  return 1;
#endif
}

static bool is_parallel(void) {
  return mg_h5_ranks() > 1;
}

bool mg_h5_takes_part(void) {
  return is_parallel() || mg_comm_is_root();
}

/* --- errors ---------------------------------------------------------------------------- */

/* Keep the innermost entry of the error stack. Prefer the operating system's message if it has
 * one. */
static herr_t take_reason(unsigned n, const H5E_error2_t *error, void *data) {
  mg_h5_reason_t *reason = data;
  unsigned long long there, base, wanted;
  if (n > 0 || !error->desc) return 0;
  const char *words = strstr(error->desc, "error message = '");
  const bool is_lock = strstr(error->desc, "unable to lock file") != NULL;
  if (is_lock && (strstr(error->desc, strerror(EAGAIN)) || strstr(error->desc, strerror(EACCES)))) {
    snprintf(reason->text, sizeof reason->text,
             "another program has it open for writing; try again when it has closed the file");
  } else if (is_lock) {
    snprintf(reason->text, sizeof reason->text,
             "its file system has no locks; set HDF5_USE_FILE_LOCKING=FALSE");
  } else if (strstr(error->desc, "file is already open for")) {
    snprintf(
        reason->text, sizeof reason->text,
        "another program has it open for writing, or ended without closing it; then h5clear -s "
        "repairs it");
  } else if (words) {
    words += strlen("error message = '");
    snprintf(reason->text, sizeof reason->text, "%.*s", (int)strcspn(words, "'"), words);
  } else if (sscanf(error->desc,
                    "truncated file: eof = %llu, sblock->base_addr = %llu, stored_eof = %llu",
                    &there, &base, &wanted) == 3) {
    snprintf(reason->text, sizeof reason->text, "truncated file: %llu of %llu bytes present", there,
             base + wanted);
  } else {
    snprintf(reason->text, sizeof reason->text, "%s", error->desc);
  }
  return 0;
}

static const char *dropped_at_abort;

static void drop(void) {
  if (dropped_at_abort) (void)unlink(dropped_at_abort);
}

void mg_h5_drop_at_abort(const char *path) {
  dropped_at_abort = path;
  mg_comm_before_abort(path ? drop : NULL);
}

/* The other ranks are blocked inside the library. */
static void end_at_once(mg_status_t status) {
  mg_comm_abort(mg_status_exit_code(status));
}

/* Report an error that all ranks meet only once: each rank waits so that earlier ranks can abort
 * the run first. A rank that receives a signal while it waits reports nothing. */
static bool is_first_to_tell(void) {
  const int rank = mg_comm_rank(mg_comm_world());
  const struct timespec wait = {rank == 0 ? 0 : rank < 4 ? 1 + rank : 5, 0};
  return nanosleep(&wait, NULL) == 0;
}

mg_h5_reason_t mg_h5_reason(void) {
  mg_h5_reason_t reason = {"HDF5 reports no reason"};
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason);
  return reason;
}

mg_status_t mg_h5_failed_for(mg_h5_t *file, const char *what, const char *name,
                             const mg_h5_reason_t *reason) {
  const bool at_once = file->shared && file->id >= 0;
  file->has_failed = true;
  if (!at_once || is_first_to_tell())
    (void)mg_error(MG_ERR_IO, "%s: cannot %s %s: %s", file->name, what, name, reason->text);
  if (at_once) end_at_once(MG_ERR_IO);
  return MG_ERR_IO;
}

mg_status_t mg_h5_failed(mg_h5_t *file, const char *what, const char *name) {
  const mg_h5_reason_t reason = mg_h5_reason();
  return mg_h5_failed_for(file, what, name, &reason);
}

mg_status_t mg_h5_wrong_at(const char *source, int line, const mg_h5_t *file, const char *format,
                           ...) {
  char text[2048];
  if (file->shared && !mg_comm_is_root()) return MG_ERR_IO;
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return mg_error_at(source, line, MG_ERR_IO, "%s%s", file->name, text);
}

/* --- files ----------------------------------------------------------------------------- */

const char *mg_h5_file_name(const mg_h5_t *file) {
  return file->name;
}

#ifdef HAVE_PARALLEL_HDF5
/* Convert "key=value,key=value" to an info object. The option parser has checked the syntax. */
static bool fill_info(MPI_Info info, const char *hints) {
  char key[256], value[256];
  while (*hints) {
    const size_t length = strcspn(hints, ","), name = strcspn(hints, "=");
    if (name >= length || name >= sizeof key || length - name - 1 >= sizeof value) return false;
    snprintf(key, sizeof key, "%.*s", (int)name, hints);
    snprintf(value, sizeof value, "%.*s", (int)(length - name - 1), hints + name + 1);
    if (MPI_Info_set(info, key, value) != MPI_SUCCESS) return false;
    hints += length + (hints[length] == ',');
  }
  return true;
}

static bool use_mpi(hid_t access, const char *hints) {
  MPI_Info info;
  if (MPI_Info_create(&info) != MPI_SUCCESS) return false;
  const bool good = fill_info(info, hints) && H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info) >= 0 &&
                    H5Pset_all_coll_metadata_ops(access, true) >= 0 &&
                    H5Pset_coll_metadata_write(access, true) >= 0;
  return MPI_Info_free(&info) == MPI_SUCCESS && good;
}
#endif

/* The newest file layout that readers of recent years support: its metadata has checksums. */
static hid_t access_list(const char *hints, bool shared) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access < 0) return access;
  bool good = H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110) >= 0 &&
              H5Pset_fclose_degree(access, H5F_CLOSE_SEMI) >= 0;
#ifdef HAVE_PARALLEL_HDF5
  if (good && shared) good = use_mpi(access, hints);
#else
  (void)hints, (void)shared;
#endif
  if (good) return access;
  (void)H5Pclose(access);
  return H5I_INVALID_HID;
}

static hid_t transfer_list(bool shared) {
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
#ifdef HAVE_PARALLEL_HDF5
  if (transfer >= 0 && shared && H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE) < 0)
    return H5I_INVALID_HID;
#else
  (void)shared;
#endif
  return transfer;
}

/* After all sharing ranks have tried to open the file, the first rank that failed reports why.
 * The library could close the file only if all ranks had opened it. */
static mg_status_t check_opened(mg_h5_t *file) {
  const int rank = mg_comm_rank(mg_comm_world()), ranks = mg_comm_size(mg_comm_world());
  const mg_h5_reason_t reason = mg_h5_reason();
  double opened = file->id >= 0;
  int first = file->id < 0 ? rank : ranks;
  if (file->shared) MG_TRY(mg_comm_first(mg_comm_world(), file->id < 0, &first));
  if (file->shared) MG_TRY(mg_comm_max(mg_comm_world(), &opened, 1));
  if (first == ranks) return MG_OK;
  if (first == rank)
    (void)mg_error(MG_ERR_IO, "%s cannot be %s as an HDF5 file: %s", file->name,
                   file->writing ? "created" : "opened", reason.text);
  if (opened > 0.0) end_at_once(MG_ERR_IO);
  return MG_ERR_IO;
}

/* Reason why this rank cannot access a file; "" if it can. */
static void try_path(const mg_h5_t *file, int flags, mg_h5_reason_t *why) {
  const int fd = open(file->path, flags | O_CLOEXEC, 0666);
  why->text[0] = '\0';
  if (fd < 0)
    snprintf(why->text, sizeof why->text, "%s", strerror(errno));
  else
    (void)close(fd);
}

/* A rank that opens a shared file but does not find it may leave the others blocked inside the
 * MPI library (Open MPI's OMPIO). The file may be on a disk local to rank 0's host. So every
 * rank first checks that it can access the file; for a new file, after rank 0 has created it. */
static mg_status_t check_reach(const mg_h5_t *file) {
  const int rank = mg_comm_rank(mg_comm_world()), ranks = mg_comm_size(mg_comm_world());
  mg_h5_reason_t why = {""};
  if (file->writing && rank == 0) try_path(file, O_WRONLY | O_CREAT, &why);
  if (file->writing) MG_TRY(mg_comm_barrier(mg_comm_world()));
  if (!file->writing || rank > 0) try_path(file, file->writing ? O_WRONLY : O_RDONLY, &why);
  int first;
  MG_TRY(mg_comm_first(mg_comm_world(), why.text[0] != '\0', &first));
  if (first == ranks) return MG_OK;
  if (first != rank) return MG_ERR_IO;
  return mg_error(MG_ERR_IO, "%s cannot be %s: %s%s", file->name,
                  file->writing ? "written" : "opened", why.text,
                  rank > 0 ? "; use a directory that all hosts share" : "");
}

static mg_status_t open_with(const char *option, const char *path, const char *hints, bool create,
                             bool shared, mg_h5_t **out) {
  mg_h5_t *file;
  mg_status_t status = mg_new(&file, 1, "HDF5 file handles");
  *out = NULL;
  /* Agree before rank 0 creates a file that nothing would remove. */
  if (shared) status = mg_comm_agree(status);
  if (status == MG_OK) {
    file->id = file->transfer = H5I_INVALID_HID;
    file->shared = shared;
    file->writing = create;
    snprintf(file->path, sizeof file->path, "%s", path);
    snprintf(file->name, sizeof file->name, "%s%s%s%s", *option ? "--" : "", option,
             *option ? "=" : "", path);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* reasons go into the program's own messages */
    if (shared) status = check_reach(file);
  }
  if (status != MG_OK) {
    free(file);
    return status;
  }
  const hid_t access = access_list(hints, shared);
  if (access >= 0)
    file->id = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                      : H5Fopen(path, H5F_ACC_RDONLY, access);
  status = check_opened(file);
  if (status == MG_OK && (file->transfer = transfer_list(shared)) < 0)
    status = mg_h5_failed(file, "set", "transfer properties");
  if (!mg_h5_release(access) && status == MG_OK)
    status = mg_h5_failed(file, "release", "access properties");
  if (status != MG_OK) return mg_status_worst(status, mg_h5_close(file));
  *out = file;
  return MG_OK;
}

mg_status_t mg_h5_create(const char *path, const char *hints, mg_h5_t **out) {
  *out = NULL;
  return mg_h5_takes_part() ? open_with("", path, hints, true, is_parallel(), out) : MG_OK;
}

mg_status_t mg_h5_open(const char *option, const char *path, bool alone, mg_h5_t **out) {
  *out = NULL;
  if (!alone && !mg_h5_takes_part()) return MG_OK;
  return open_with(option, path, "", false, !alone && is_parallel(), out);
}

mg_status_t mg_h5_close(mg_h5_t *file) {
  mg_status_t status = MG_OK;
  if (!file) return MG_OK;
  if (!mg_h5_release(file->transfer)) status = mg_h5_failed(file, "release", "transfer properties");
  /* On a full disk, unwritten data has no room, and a file that cannot be closed crashes the
   * library at exit. Truncating the file makes room; it is useless by now. */
  if (file->id >= 0 && file->writing && file->has_failed && truncate(file->path, 0) != 0)
    status = mg_error(MG_ERR_IO, "%s cannot be truncated: %s", file->name, strerror(errno));
  if (file->id >= 0 && H5Fclose(file->id) < 0) {
    status = mg_h5_failed(file, "close", "the file");
    end_at_once(MG_ERR_IO);
  }
  free(file);
  return status;
}
