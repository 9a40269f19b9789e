#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "comm.h"
#include "h5.h"
#include "log.h"
#include "machine.h"
#include <errno.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct mg_h5 {
  hid_t id;
  hid_t transfer; /* how planes are read and written */
  bool shared;    /* by all ranks */
  bool writing, has_failed;
  char *path;
  char *name; /* in messages */
};

static bool is_parallel(void) {
#ifdef HAVE_PARALLEL_HDF5
  return mg_comm_size(mg_comm_world()) > 1;
#else
  return false;
#endif
}

bool mg_h5_available(void) {
  return true;
}

bool mg_h5_parallel(void) {
#ifdef HAVE_PARALLEL_HDF5
  return true;
#else
  return false;
#endif
}

bool mg_h5_writes_beside(void) {
  return !is_parallel();
}

bool mg_h5_takes_part(void) {
  return is_parallel() || mg_comm_rank(mg_comm_world()) == 0;
}

/* --- errors ---------------------------------------------------------------------------- */

typedef struct {
  char text[256];
} reason_t;

/* The innermost entry says most: the operating system's words, if it has some. */
static herr_t take_reason(unsigned n, const H5E_error2_t *error, void *data) {
  reason_t *reason = data;
  if (n > 0 || !error->desc) return 0;
  const char *words = strstr(error->desc, "error message = '");
  if (words) {
    words += strlen("error message = '");
    snprintf(reason->text, sizeof reason->text, "%.*s", (int)strcspn(words, "'"), words);
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

/* The other ranks wait within the library. */
static void end_at_once(mg_status_t status) {
  mg_comm_abort(mg_status_exit_code(status));
}

/* What all ranks meet is told once: each leaves those before it the time to end the run. Who is
 * told meanwhile to end has nothing to add. */
static bool is_first_to_tell(void) {
  const int rank = mg_comm_rank(mg_comm_world());
  const struct timespec wait = {rank == 0 ? 0 : rank < 4 ? 1 + rank : 5, 0};
  return nanosleep(&wait, NULL) == 0;
}

/* At once: the next call of the library forgets the reason. */
static reason_t reason_of_failure(void) {
  reason_t reason = {"the library gives no reason"};
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason);
  return reason;
}

static mg_status_t failed_for(mg_h5_t *file, const char *what, const char *name,
                              const reason_t *reason) {
  const bool at_once = file->shared && file->id >= 0;
  file->has_failed = true;
  if (!at_once || is_first_to_tell())
    (void)mg_error(MG_ERR_IO, "%s: cannot %s %s: %s", file->name, what, name, reason->text);
  if (at_once) end_at_once(MG_ERR_IO);
  return MG_ERR_IO;
}

static mg_status_t failed(mg_h5_t *file, const char *what, const char *name) {
  const reason_t reason = reason_of_failure();
  return failed_for(file, what, name, &reason);
}

/* --- files ----------------------------------------------------------------------------- */

static void free_file(mg_h5_t *file) {
  if (!file) return;
  free(file->path);
  free(file->name);
  free(file);
}

/* A path, or --option=path. */
static char *name_of(const char *option, const char *path) {
  const size_t size = strlen(option) + strlen(path) + 4;
  char *name = malloc(size);
  if (name) snprintf(name, size, "%s%s%s%s", *option ? "--" : "", option, *option ? "=" : "", path);
  return name;
}

static mg_h5_t *new_file(const char *option, const char *path) {
  mg_h5_t *file = calloc(1, sizeof *file);
  if (!file || !(file->path = strdup(path)) || !(file->name = name_of(option, path))) {
    free_file(file);
    return NULL;
  }
  file->id = file->transfer = H5I_INVALID_HID;
  /* Reasons go into our own messages. */
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return file;
}

#ifdef HAVE_PARALLEL_HDF5
/* "key=value,key=value" as an info object; the parser has seen to the form. */
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

/* The newest layout that readers of the last years know: its metadata carry checksums. */
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

/* Once all that share a file have tried to open it: the first of those that could not tells why.
 * The library could close it only where all could. */
static mg_status_t check_opened(mg_h5_t *file) {
  const int rank = mg_comm_rank(mg_comm_world()), ranks = mg_comm_size(mg_comm_world());
  const reason_t reason = reason_of_failure();
  double first = file->id < 0 ? rank : ranks, opened = file->id >= 0;
  if (file->shared) MG_TRY(mg_comm_min(mg_comm_world(), &first, 1));
  if (file->shared) MG_TRY(mg_comm_max(mg_comm_world(), &opened, 1));
  if (first >= ranks) return MG_OK;
  if (first == rank)
    (void)mg_error(MG_ERR_IO, "%s: cannot %s it as an HDF5 file: %s", file->name,
                   file->writing ? "create" : "open", reason.text);
  if (opened > 0.0) end_at_once(MG_ERR_IO);
  return MG_ERR_IO;
}

static mg_status_t open_with(const char *option, const char *path, const char *hints, bool create,
                             bool shared, mg_h5_t **out) {
  mg_h5_t *file = new_file(option, path);
  *out = NULL;
  if (!file) {
    const mg_status_t status = mg_error(MG_ERR_MEMORY, "no memory to open %s", path);
    if (shared) end_at_once(status);
    return status;
  }
  file->shared = shared;
  file->writing = create;
  const hid_t access = access_list(hints, shared);
  if (access >= 0)
    file->id = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                      : H5Fopen(path, H5F_ACC_RDONLY, access);
  mg_status_t status = check_opened(file);
  if (status == MG_OK && (file->transfer = transfer_list(shared)) < 0)
    status = failed(file, "set", "the way of transfers");
  if (access >= 0 && H5Pclose(access) < 0 && status == MG_OK)
    status = failed(file, "set", "the way of access");
  if (status != MG_OK) {
    const mg_status_t closed = mg_h5_close(file);
    return closed > status ? closed : status;
  }
  *out = file;
  return MG_OK;
}

mg_status_t mg_h5_create(const char *path, const char *hints, mg_h5_t **out) {
  *out = NULL;
  return mg_h5_takes_part() ? open_with("", path, hints, true, is_parallel(), out) : MG_OK;
}

mg_status_t mg_h5_open(const char *path, mg_h5_t **out) {
  return mg_h5_open_input("", path, out);
}

mg_status_t mg_h5_open_input(const char *option, const char *path, mg_h5_t **out) {
  *out = NULL;
  return mg_h5_takes_part() ? open_with(option, path, "", false, is_parallel(), out) : MG_OK;
}

mg_status_t mg_h5_open_alone(const char *option, const char *path, mg_h5_t **out) {
  return open_with(option, path, "", false, false, out);
}

mg_status_t mg_h5_close(mg_h5_t *file) {
  mg_status_t status = MG_OK;
  if (!file) return MG_OK;
  if (file->transfer >= 0 && H5Pclose(file->transfer) < 0)
    status = failed(file, "end", "transfers");
  /* What is still to be written has no room on a full disk, and a file that cannot be closed brings
   * the library down in the end. Emptied, it has room; it is of no use any more. */
  if (file->id >= 0 && file->writing && file->has_failed && truncate(file->path, 0) != 0)
    status = mg_error(MG_ERR_IO, "%s cannot be emptied: %s", file->name, strerror(errno));
  if (file->id >= 0 && H5Fclose(file->id) < 0) {
    status = failed(file, "close", "the file");
    end_at_once(MG_ERR_IO);
  }
  free_file(file);
  return status;
}

/* --- groups and attributes ------------------------------------------------------------- */

mg_status_t mg_h5_group(mg_h5_t *file, const char *path) {
  if (!file) return MG_OK;
  const hid_t group = H5Gcreate2(file->id, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (group < 0 || H5Gclose(group) < 0) return failed(file, "write", path);
  return MG_OK;
}

/* An attribute with a type and a space that this closes. */
static mg_status_t put(mg_h5_t *file, const char *group, const char *name, hid_t type, hid_t space,
                       const void *values) {
  hid_t object = H5I_INVALID_HID, attribute = H5I_INVALID_HID;
  bool good = type >= 0 && space >= 0;
  if (good) good = (object = H5Oopen(file->id, group, H5P_DEFAULT)) >= 0;
  if (good)
    good = (attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT)) >= 0;
  if (good) good = H5Awrite(attribute, type, values) >= 0;
  const mg_status_t status = good ? MG_OK : failed(file, "write", name);
  good = attribute < 0 || H5Aclose(attribute) >= 0;
  good = (object < 0 || H5Oclose(object) >= 0) && good;
  good = (space < 0 || H5Sclose(space) >= 0) && good;
  good = (type < 0 || H5Tclose(type) >= 0) && good;
  return status != MG_OK || good ? status : failed(file, "close", name);
}

static hid_t list_space(int n) {
  const hsize_t size = (hsize_t)n;
  return H5Screate_simple(1, &size, NULL);
}

static hid_t text_type(size_t length) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (type < 0 || H5Tset_size(type, length > 0 ? length : 1) < 0 ||
      H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)
    return H5I_INVALID_HID;
  return type;
}

mg_status_t mg_h5_put_text(mg_h5_t *file, const char *group, const char *name, const char *text) {
  if (!file) return MG_OK;
  return put(file, group, name, text_type(strlen(text)), H5Screate(H5S_SCALAR), text);
}

mg_status_t mg_h5_put_integers(mg_h5_t *file, const char *group, const char *name,
                               const int64_t *values, int n) {
  if (!file) return MG_OK;
  return put(file, group, name, H5Tcopy(H5T_NATIVE_INT64), list_space(n), values);
}

mg_status_t mg_h5_put_doubles(mg_h5_t *file, const char *group, const char *name,
                              const double *values, int n) {
  if (!file) return MG_OK;
  return put(file, group, name, H5Tcopy(H5T_NATIVE_DOUBLE), list_space(n), values);
}

/* Ranks that share a file find the same in it: rank 0 tells. */
static mg_status_t wrong(const mg_h5_t *file, const char *name, const char *what) {
  if (file->shared && mg_comm_rank(mg_comm_world()) != 0) return MG_ERR_IO;
  return mg_error(MG_ERR_IO, "%s: %s %s", file->name, name, what);
}

int64_t mg_h5_count(mg_h5_t *file, const char *group, const char *name) {
  const hid_t attribute = H5Aopen_by_name(file->id, group, name, H5P_DEFAULT, H5P_DEFAULT);
  if (attribute < 0) return 0;
  const hid_t space = H5Aget_space(attribute);
  const int64_t n = space >= 0 ? (int64_t)H5Sget_simple_extent_npoints(space) : 0;
  if (space >= 0) (void)H5Sclose(space);
  (void)H5Aclose(attribute);
  return n > 0 ? n : 0;
}

/* The attribute, and whether it has n values of a class; the caller closes it. */
static mg_status_t find(mg_h5_t *file, const char *group, const char *name, H5T_class_t class,
                        int n, hid_t *attribute, size_t *size) {
  *attribute = H5Aopen_by_name(file->id, group, name, H5P_DEFAULT, H5P_DEFAULT);
  if (*attribute < 0) return failed(file, "find what a dump of hpgmg-fv has,", name);
  const hid_t type = H5Aget_type(*attribute), space = H5Aget_space(*attribute);
  const bool good = type >= 0 && space >= 0 && H5Tget_class(type) == class &&
                    (class != H5T_STRING || H5Tis_variable_str(type) == 0) &&
                    H5Sget_simple_extent_npoints(space) == n;
  *size = type >= 0 ? H5Tget_size(type) : 0;
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
  if (good) return MG_OK;
  (void)H5Aclose(*attribute);
  return wrong(file, name, "has another type or size than in a dump of hpgmg-fv");
}

static mg_status_t get(mg_h5_t *file, const char *name, hid_t attribute, hid_t type, void *values) {
  const bool good = type >= 0 && H5Aread(attribute, type, values) >= 0;
  const mg_status_t status = good ? MG_OK : failed(file, "read", name);
  (void)H5Aclose(attribute);
  return status;
}

mg_status_t mg_h5_get_text(mg_h5_t *file, const char *group, const char *name, char *text,
                           int size) {
  hid_t attribute;
  size_t length = 0;
  if (!file) return MG_OK;
  MG_TRY(find(file, group, name, H5T_STRING, 1, &attribute, &length));
  if (length >= (size_t)size) {
    (void)H5Aclose(attribute);
    return wrong(file, name, "is longer than in a dump of hpgmg-fv");
  }
  memset(text, 0, (size_t)size);
  const hid_t type = text_type(length);
  const mg_status_t status = get(file, name, attribute, type, text);
  if (type >= 0) (void)H5Tclose(type);
  return status;
}

mg_status_t mg_h5_get_integers(mg_h5_t *file, const char *group, const char *name, int64_t *values,
                               int n) {
  hid_t attribute;
  size_t size;
  if (!file) return MG_OK;
  MG_TRY(find(file, group, name, H5T_INTEGER, n, &attribute, &size));
  return get(file, name, attribute, H5T_NATIVE_INT64, values);
}

mg_status_t mg_h5_get_doubles(mg_h5_t *file, const char *group, const char *name, double *values,
                              int n) {
  hid_t attribute;
  size_t size;
  if (!file) return MG_OK;
  MG_TRY(find(file, group, name, H5T_FLOAT, n, &attribute, &size));
  return get(file, name, attribute, H5T_NATIVE_DOUBLE, values);
}

/* --- datasets -------------------------------------------------------------------------- */

static hid_t type_of(mg_h5_type_t type) {
  return type == MG_H5_DOUBLE  ? H5T_NATIVE_DOUBLE
         : type == MG_H5_FLOAT ? H5T_NATIVE_FLOAT
                               : H5T_NATIVE_UINT64;
}

static int64_t plane_values(const mg_h5_data_t *data) {
  return data->rank == 1 ? 1 : data->rank == 2 ? data->n : (int64_t)data->n * data->n;
}

/* Compressed: rows of one plane, at most 4 MiB of them. Never filled: every value is written. */
static hid_t creation_list(const mg_h5_data_t *data, int compress) {
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (list < 0) return list;
  bool good = H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0;
  if (good && compress > 0) {
    const hsize_t n = (hsize_t)data->n, row = n * H5Tget_size(type_of(data->type));
    const hsize_t most = (4 << 20) / row;
    const hsize_t chunk[3] = {1, most < 1 ? 1 : most < n ? most : n, n}; /* of three dimensions */
    good = H5Pset_chunk(list, data->rank, chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
           H5Pset_deflate(list, (unsigned)compress) >= 0;
  }
  if (good) return list;
  (void)H5Pclose(list);
  return H5I_INVALID_HID;
}

mg_status_t mg_h5_data_create(mg_h5_t *file, const char *path, mg_h5_type_t type, int rank,
                              int32_t n, int compress, mg_h5_data_t *data) {
  *data = (mg_h5_data_t){H5I_INVALID_HID, type, rank, n};
  if (!file) return MG_OK;
  const hsize_t size[3] = {(hsize_t)n, (hsize_t)n, (hsize_t)n};
  const hid_t space = H5Screate_simple(rank, size, NULL), list = creation_list(data, compress);
  if (space >= 0 && list >= 0)
    data->id = H5Dcreate2(file->id, path, type_of(type), space, H5P_DEFAULT, list, H5P_DEFAULT);
  mg_status_t status = data->id >= 0 ? MG_OK : failed(file, "write", path);
  if (list >= 0 && H5Pclose(list) < 0 && status == MG_OK) status = failed(file, "write", path);
  if (space >= 0 && H5Sclose(space) < 0 && status == MG_OK) status = failed(file, "write", path);
  return status;
}

enum { WHY_SIZE = 256 };

static void check_chunks(hid_t list, int rank, const hsize_t size[3], char why[WHY_SIZE]) {
  const double most = 1 << 24;
  hsize_t chunk[3] = {1, 1, 1};
  bool good = H5Pget_chunk(list, rank, chunk) == rank;
  for (int d = 0; d < rank; d++)
    good = good && chunk[d] <= size[d];
  if (good && (double)chunk[0] * (double)chunk[1] * (double)chunk[2] <= most) return;
  snprintf(
      why, WHY_SIZE,
      "has chunks of %llu x %llu x %llu values; at most as wide as the dataset and of 2^24 values "
      "are read (h5repack -l CONTI makes one piece of them)",
      (unsigned long long)chunk[0], (unsigned long long)chunk[1], (unsigned long long)chunk[2]);
}

static bool can_decode(H5Z_filter_t filter) {
  unsigned config = 0;
  return H5Zfilter_avail(filter) > 0 && H5Zget_filter_info(filter, &config) >= 0 &&
         (config & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
}

static void check_filters(hid_t list, char why[WHY_SIZE]) {
  const int n = H5Pget_nfilters(list);
  for (int i = 0; i < n; i++) {
    char name[32] = "";
    unsigned flags;
    size_t n_values = 0;
    const H5Z_filter_t filter =
        H5Pget_filter2(list, (unsigned)i, &flags, &n_values, NULL, sizeof name, name, NULL);
    if (filter >= 0 && can_decode(filter)) continue;
    snprintf(why, WHY_SIZE,
             "needs filter %d (%.31s), which this HDF5 library does not have; write it with gzip "
             "or no filter, or set HDF5_PLUGIN_PATH to where that one is",
             (int)filter, name[0] ? name : "without a name");
    return;
  }
}

/* Why the values of a dataset are not read: "" where they are in one piece within the file, or in
 * chunks that are no larger than a plane or ours. Nobody else's size is allocated, and no other
 * file is read. */
static void check_storage(hid_t data, int rank, const hsize_t size[3], char why[WHY_SIZE]) {
  const hid_t list = H5Dget_create_plist(data);
  const char *text = "";
  why[0] = '\0';
  switch (list >= 0 ? H5Pget_layout(list) : H5D_LAYOUT_ERROR) {
  case H5D_CHUNKED:
    check_chunks(list, rank, size, why);
    if (!why[0]) check_filters(list, why);
    break;
  case H5D_CONTIGUOUS:
    if (H5Pget_external_count(list) != 0)
      text = "has its values in other files; store them in this one (h5repack -l CONTI)";
    break;
  case H5D_VIRTUAL:
    text = "is virtual, with its values in other files; store them in this one (h5repack -l CONTI)";
    break;
  case H5D_COMPACT:
    text = "is stored compactly; store it in one piece or in chunks (h5repack -l CONTI)";
    break;
  default:
    text = "has a layout that this HDF5 library does not know";
  }
  if (text[0]) snprintf(why, WHY_SIZE, "%s", text);
  if (list >= 0) (void)H5Pclose(list);
}

static bool is_number(hid_t type) {
  const H5T_class_t class = H5Tget_class(type);
  return class == H5T_FLOAT || class == H5T_INTEGER;
}

/* Does what is in the file have the type and the dimensions that are asked for? */
static bool is_as_asked(const mg_h5_data_t *data, bool any_number, hsize_t size[3]) {
  const hid_t type = H5Dget_type(data->id), space = H5Dget_space(data->id);
  bool good = type >= 0 && space >= 0 &&
              (any_number ? is_number(type) : H5Tequal(type, type_of(data->type)) > 0) &&
              H5Sget_simple_extent_ndims(space) == data->rank &&
              H5Sget_simple_extent_dims(space, size, NULL) == data->rank;
  for (int d = 0; d < data->rank; d++)
    good = good && size[d] == (hsize_t)data->n;
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
  return good;
}

static mg_status_t open_data(mg_h5_t *file, const char *path, mg_h5_type_t type, bool any_number,
                             int rank, int32_t n, mg_h5_data_t *data) {
  char why[WHY_SIZE] = "has another type or other dimensions than the grid";
  hsize_t size[3] = {0, 0, 0};
  *data = (mg_h5_data_t){H5I_INVALID_HID, type, rank, n};
  if (!file) return MG_OK;
  data->id = H5Dopen2(file->id, path, H5P_DEFAULT);
  if (data->id < 0) return failed(file, "open", path);
  if (is_as_asked(data, any_number, size)) check_storage(data->id, rank, size, why);
  if (!why[0]) return MG_OK;
  MG_TRY(mg_h5_data_close(file, data));
  return wrong(file, path, why);
}

mg_status_t mg_h5_data_open(mg_h5_t *file, const char *path, mg_h5_type_t type, int rank, int32_t n,
                            mg_h5_data_t *data) {
  return open_data(file, path, type, false, rank, n, data);
}

mg_status_t mg_h5_data_open_numbers(mg_h5_t *file, const char *path, int rank, int32_t n,
                                    mg_h5_data_t *data) {
  return open_data(file, path, MG_H5_DOUBLE, true, rank, n, data);
}

/* Every group on the way must be there to ask for the next. */
static bool exists(const mg_h5_t *file, const char *path) {
  char part[MG_H5_NAME_MAX];
  for (const char *end = path; *end; end += strcspn(end, "/")) {
    end += *end == '/';
    const size_t length = (size_t)(end - path) + strcspn(end, "/");
    if (length >= sizeof part) return false;
    memcpy(part, path, length);
    part[length] = '\0';
    if (H5Lexists(file->id, part, H5P_DEFAULT) <= 0) return false;
  }
  return true;
}

static bool fill_look(hid_t type, hid_t space, hsize_t size[3], mg_h5_look_t *look) {
  look->rank = H5Sget_simple_extent_ndims(space);
  if (!is_number(type) || look->rank < 1 || look->rank > 3) return false;
  if (H5Sget_simple_extent_dims(space, size, NULL) != look->rank) return false;
  for (int d = 0; d < look->rank; d++)
    look->size[d] = (int64_t)size[d];
  look->type = H5Tequal(type, H5T_NATIVE_FLOAT) > 0 ? MG_H5_FLOAT : MG_H5_DOUBLE;
  look->double_or_float = H5Tequal(type, type_of(look->type)) > 0;
  return true;
}

mg_status_t mg_h5_look(mg_h5_t *file, const char *path, mg_h5_look_t *look) {
  char why[WHY_SIZE] = "is no dataset of numbers in 1 to 3 dimensions";
  hsize_t size[3] = {0, 0, 0};
  *look = (mg_h5_look_t){0};
  if (!file || !exists(file, path)) return MG_OK;
  const hid_t data = H5Dopen2(file->id, path, H5P_DEFAULT);
  if (data < 0) return failed(file, "open", path);
  const hid_t type = H5Dget_type(data), space = H5Dget_space(data);
  if (type >= 0 && space >= 0 && fill_look(type, space, size, look))
    check_storage(data, look->rank, size, why);
  look->there = !why[0];
  if (type >= 0) (void)H5Tclose(type);
  if (space >= 0) (void)H5Sclose(space);
  (void)H5Dclose(data);
  return look->there ? MG_OK : wrong(file, path, why);
}

mg_status_t mg_h5_data_close(mg_h5_t *file, mg_h5_data_t *data) {
  if (!file || data->id < 0) return MG_OK;
  const bool good = H5Dclose(data->id) >= 0;
  data->id = H5I_INVALID_HID;
  return good ? MG_OK : failed(file, "close", "a dataset");
}

/* One call's share: no library call moves 2 GiB or more. */
enum { CALL_BYTES = 1 << 30 };

typedef struct {
  mg_h5_t *file;
  const mg_h5_data_t *data;
  bool write;
} mover_t;

/* Planes, and of a single plane rows. Nothing at all is a selection too. */
static mg_status_t move_piece(const mover_t *m, const hsize_t start[3], const hsize_t count[3],
                              void *values) {
  const hid_t file_space = H5Dget_space(m->data->id);
  const hid_t memory = H5Screate_simple(m->data->rank, count, NULL);
  const hid_t type = type_of(m->data->type);
  bool good = file_space >= 0 && memory >= 0;
  if (good && count[0] == 0)
    good = H5Sselect_none(file_space) >= 0 && H5Sselect_none(memory) >= 0;
  else if (good)
    good = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
  if (good)
    good =
        (m->write ? H5Dwrite(m->data->id, type, memory, file_space, m->file->transfer, values)
                  : H5Dread(m->data->id, type, memory, file_space, m->file->transfer, values)) >= 0;
  mg_status_t status = MG_OK;
  if (!good) {
    const reason_t reason = reason_of_failure();
    char name[MG_H5_NAME_MAX] = "a field";
    (void)H5Iget_name(m->data->id, name, sizeof name);
    status = failed_for(m->file, m->write ? "write" : "read", name, &reason);
  }
  if (file_space >= 0 && H5Sclose(file_space) < 0 && status == MG_OK)
    status = failed(m->file, "end", "a selection");
  if (memory >= 0 && H5Sclose(memory) < 0 && status == MG_OK)
    status = failed(m->file, "end", "a selection");
  return status;
}

/* In as many calls on every rank: those with nothing left select nothing. */
static mg_status_t move_planes(const mover_t *m, int32_t first, int32_t count, void *values) {
  const mg_h5_data_t *data = m->data;
  if (!m->file) return MG_OK;
  const int64_t size = (int64_t)H5Tget_size(type_of(data->type));
  const int64_t plane = plane_values(data) * size;
  /* Whole planes as far as they fit, else a plane in bands of rows. */
  const int64_t bands = data->rank < 3 ? 1 : (plane + CALL_BYTES - 1) / CALL_BYTES;
  const int64_t rows = data->rank < 3 ? 1 : (data->n + bands - 1) / bands;
  double most[1] = {bands > 1 ? (double)(count * bands) : 1.0};
  if (m->file->shared) MG_TRY(mg_comm_max(mg_comm_world(), most, 1));
  mg_status_t status = MG_OK;
  for (int64_t call = 0; call < (int64_t)most[0]; call++) {
    hsize_t start[3] = {(hsize_t)first, 0, 0},
            n[3] = {(hsize_t)count, (hsize_t)data->n, (hsize_t)data->n};
    char *at = values;
    if (bands > 1) {
      const int64_t k = call / bands, j = call % bands * rows;
      n[0] = k < count && j < data->n;
      start[0] = (hsize_t)(first + k);
      start[1] = (hsize_t)j;
      n[1] = (hsize_t)(data->n - j < rows ? data->n - j : rows);
      if (n[0] > 0) at += (k * data->n + j) * data->n * size;
    }
    if (n[0] == 0) n[1] = n[2] = 0;
    const mg_status_t moved = move_piece(m, start, n, at);
    if (status == MG_OK) status = moved;
  }
  return status;
}

mg_status_t mg_h5_write_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                               int32_t count, const void *values) {
  const mover_t m = {file, data, true};
  return move_planes(&m, first, count, (void *)(uintptr_t)values);
}

mg_status_t mg_h5_read_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first, int32_t count,
                              void *values) {
  const mover_t m = {file, data, false};
  return move_planes(&m, first, count, values);
}
