/* Datasets of planes: create, open (including a check of their storage), write and read. */
#include "base/log.h"
#include "comm/comm.h"
#include "io/hdf5/h5_file.h"
#include <string.h>

static int64_t plane_values(const mg_h5_data_t *data) {
  return data->rank == 1 ? 1 : data->rank == 2 ? data->n[0] : (int64_t)data->n[0] * data->n[1];
}

/* Sizes in the library's order, slowest dimension first. */
static void sizes_of(const mg_h5_data_t *data, hsize_t size[3]) {
  for (int d = 0; d < data->rank; d++)
    size[d] = (hsize_t)data->n[data->rank - 1 - d];
}

/* If compressed, a chunk is rows of one plane, at most 4 MiB. No fill values: every value is
 * written. */
static hid_t creation_list(const mg_h5_data_t *data, int compress) {
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  if (list < 0) return list;
  bool good = H5Pset_fill_time(list, H5D_FILL_TIME_NEVER) >= 0;
  if (good && compress > 0) {
    const hsize_t n = (hsize_t)data->n[0], rows = (hsize_t)data->n[1];
    const hsize_t max_rows = (4 << 20) / (n * H5Tget_size(mg_h5_memory_type(data->type)));
    /* for three dimensions */
    const hsize_t chunk[3] = {1, max_rows < 1 ? 1 : max_rows < rows ? max_rows : rows, n};
    good = H5Pset_chunk(list, data->rank, chunk) >= 0 && H5Pset_shuffle(list) >= 0 &&
           H5Pset_deflate(list, (unsigned)compress) >= 0;
  }
  if (good) return list;
  (void)H5Pclose(list);
  return H5I_INVALID_HID;
}

mg_status_t mg_h5_data_create(mg_h5_t *file, const char *path, mg_h5_type_t type, int rank,
                              const int32_t n[], int compress, mg_h5_data_t *data) {
  hsize_t size[3];
  *data = mg_h5_data(type, rank, n);
  if (!file) return MG_OK;
  sizes_of(data, size);
  const hid_t space = H5Screate_simple(rank, size, NULL), list = creation_list(data, compress);
  if (space >= 0 && list >= 0)
    data->id =
        H5Dcreate2(file->id, path, mg_h5_memory_type(type), space, H5P_DEFAULT, list, H5P_DEFAULT);
  const mg_status_t status = data->id >= 0 ? MG_OK : mg_h5_failed(file, "write", path);
  bool closed = mg_h5_release(list);
  closed = mg_h5_release(space) && closed;
  return status != MG_OK || closed ? status : mg_h5_failed(file, "write", path);
}

enum { WHY_SIZE = 256 };

static void check_chunks(hid_t list, int rank, const hsize_t size[3], char why[WHY_SIZE]) {
  const double max_values = 1 << 24;
  hsize_t chunk[3] = {1, 1, 1};
  bool good = H5Pget_chunk(list, rank, chunk) == rank;
  for (int d = 0; d < rank; d++)
    good = good && chunk[d] <= size[d];
  if (good && (double)chunk[0] * (double)chunk[1] * (double)chunk[2] <= max_values) return;
  snprintf(
      why, WHY_SIZE,
      "has chunks of %llu x %llu x %llu values; chunks must fit into the dataset and hold at most "
      "2^24 values (h5repack -l CONTI converts to contiguous storage)",
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
    snprintf(
        why, WHY_SIZE,
        "needs filter %d (%.31s), which this HDF5 library lacks; use gzip or no filter, or set "
        "HDF5_PLUGIN_PATH to the directory of the filter",
        (int)filter, name[0] ? name : "unnamed");
    return;
  }
}

/* Reason why a dataset's values cannot be read, "" if they can. They can if stored in one piece
 * within the file, or in chunks no larger than a plane or than our own. This keeps a file from
 * dictating the size of an allocation, and no other file is read. */
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
      text = "has external storage; store the values in this file (h5repack -l CONTI)";
    break;
  case H5D_VIRTUAL:
    text = "is a virtual dataset; store the values in this file (h5repack -l CONTI)";
    break;
  case H5D_COMPACT:
    text = "has compact storage; use contiguous or chunked storage (h5repack -l CONTI)";
    break;
  default:
    text = "has a storage layout unknown to this HDF5 library";
  }
  if (text[0]) snprintf(why, WHY_SIZE, "%s", text);
  (void)mg_h5_release(list);
}

/* Properties of an open dataset, and the reason why its values cannot be read as requested; "" if
 * they can.
 * @param[in] want  its type and dimensions; NULL: any */
static void examine(hid_t id, const mg_h5_data_t *want, mg_h5_look_t *look, char why[WHY_SIZE]) {
  const hid_t type = H5Dget_type(id), space = H5Dget_space(id);
  const bool any = !want || want->type == MG_H5_NUMBER;
  hsize_t size[3] = {0, 0, 0}, wanted[3];
  snprintf(why, WHY_SIZE, "%s",
           want ? "does not match the grid in type or dimensions"
                : "is not a numeric dataset of 1 to 3 dimensions");
  const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
  look->rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;
  bool good = (any ? class == H5T_FLOAT || class == H5T_INTEGER
                   : type >= 0 && H5Tequal(type, mg_h5_memory_type(want->type)) > 0) &&
              look->rank >= 1 && look->rank <= 3 && (!want || look->rank == want->rank) &&
              H5Sget_simple_extent_dims(space, size, NULL) == look->rank;
  if (want) sizes_of(want, wanted);
  for (int d = 0; good && d < look->rank; d++) {
    look->size[d] = (int64_t)size[d];
    good = !want || size[d] == wanted[d];
  }
  look->type = good && H5Tequal(type, H5T_NATIVE_FLOAT) > 0 ? MG_H5_FLOAT : MG_H5_DOUBLE;
  (void)mg_h5_release(type), (void)mg_h5_release(space);
  if (good) check_storage(id, look->rank, size, why);
}

/* Dataset names in the order found, as many as fit. */
typedef struct {
  char *text;
  int size, n, n_left_out;
} names_t;

/* Follow hard links only: others may lead to other files. Skip the program's own additions to
 * its dumps, which are not fields. */
static herr_t add_name(hid_t group, const char *name, const H5L_info_t *link, void *data) {
  names_t *names = data;
  if (link->type != H5L_TYPE_HARD || strncmp(name, "HPGMG/", 6) == 0) return 0;
  const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  const bool is_dataset = object >= 0 && H5Iget_type(object) == H5I_DATASET;
  (void)mg_h5_release(object);
  if (!is_dataset) return 0;
  const int length = (int)strnlen(name, MG_H5_NAME_MAX) + 3, more = 20;
  if (names->n_left_out > 0 || (int)strlen(names->text) + length + more > names->size) {
    names->n_left_out++;
    return 0;
  }
  mg_append(names->text, names->size, "%s/%s", names->n++ > 0 ? ", " : "", name);
  return 0;
}

void mg_h5_name_datasets(mg_h5_t *file, char *text, int size) {
  names_t names = {text, size, 0, 0};
  snprintf(text, (size_t)size, "the file has ");
  (void)H5Lvisit(file->id, H5_INDEX_NAME, H5_ITER_NATIVE, add_name, &names);
  if (names.n == 0 && names.n_left_out == 0)
    mg_append(text, size, "no dataset");
  else if (names.n_left_out > 0)
    mg_append(text, size, "%s%d%s dataset%s", names.n > 0 ? " and " : "", names.n_left_out,
              names.n > 0 ? " more" : "", names.n_left_out == 1 ? "" : "s");
  mg_h5_replace_controls(text);
}

/* Report a dataset that cannot be opened. If ranks share the file, some may not have failed, so
 * no rank makes further library calls. */
static mg_status_t not_opened(mg_h5_t *file, const char *path) {
  mg_h5_reason_t reason = mg_h5_reason();
  char held[160];
  if (file->shared) return mg_h5_failed_for(file, "open", path, &reason);
  mg_h5_name_datasets(file, held, (int)sizeof held);
  mg_append(reason.text, sizeof reason.text, "; %s", held);
  return mg_h5_failed_for(file, "open", path, &reason);
}

mg_status_t mg_h5_data_open(mg_h5_t *file, const char *path, mg_h5_type_t type, int rank,
                            const int32_t n[], mg_h5_data_t *data) {
  char why[WHY_SIZE];
  mg_h5_look_t look;
  *data = mg_h5_data(type, rank, n);
  if (!file) return MG_OK;
  data->id = H5Dopen2(file->id, path, H5P_DEFAULT);
  if (data->id < 0) return not_opened(file, path);
  examine(data->id, data, &look, why);
  if (!why[0]) return MG_OK;
  MG_TRY(mg_h5_data_close(file, data));
  return mg_h5_wrong(file, ": %s %s", path, why);
}

/* H5Lexists fails if a parent group is missing, so each prefix of the path is tested, shortest
 * first. A failed test means a damaged group, not a missing one. */
mg_status_t mg_h5_exists(mg_h5_t *file, const char *path, bool *there) {
  char part[MG_H5_NAME_MAX];
  *there = false;
  if (!file) return MG_OK;
  for (const char *end = path; *end; end += strcspn(end, "/")) {
    end += *end == '/';
    const size_t length = (size_t)(end - path) + strcspn(end, "/");
    if (length >= sizeof part) return mg_h5_wrong(file, ": %s is too long a path", path);
    memcpy(part, path, length);
    part[length] = '\0';
    const htri_t found = H5Lexists(file->id, part, H5P_DEFAULT);
    if (found < 0) return mg_h5_failed(file, "look for", part);
    if (found == 0) return MG_OK;
  }
  *there = true;
  return MG_OK;
}

mg_status_t mg_h5_inspect(mg_h5_t *file, const char *path, mg_h5_look_t *look) {
  char why[WHY_SIZE];
  bool there;
  *look = (mg_h5_look_t){0};
  MG_TRY(mg_h5_exists(file, path, &there));
  if (!there) return MG_OK;
  const hid_t data = H5Dopen2(file->id, path, H5P_DEFAULT);
  if (data < 0) return mg_h5_failed(file, "open", path);
  examine(data, NULL, look, why);
  look->there = !why[0];
  (void)mg_h5_release(data);
  return look->there ? MG_OK : mg_h5_wrong(file, ": %s %s", path, why);
}

mg_status_t mg_h5_data_close(mg_h5_t *file, mg_h5_data_t *data) {
  if (!file || data->id < 0) return MG_OK;
  const bool good = H5Dclose(data->id) >= 0;
  data->id = H5I_INVALID_HID;
  return good ? MG_OK : mg_h5_failed(file, "close", "a dataset");
}

/* Bytes per library call: no call moves 2 GiB or more. */
enum { CALL_BYTES = 1 << 30 };

/* Move planes, or rows of a single plane. An empty selection is allowed. */
static mg_status_t move_piece(mg_h5_t *file, const mg_h5_data_t *data, bool write,
                              const hsize_t start[3], const hsize_t count[3], void *values) {
  const hid_t file_space = H5Dget_space(data->id);
  const hid_t memory = H5Screate_simple(data->rank, count, NULL);
  const hid_t type = mg_h5_memory_type(data->type);
  bool good = file_space >= 0 && memory >= 0;
  if (good && count[0] == 0)
    good = H5Sselect_none(file_space) >= 0 && H5Sselect_none(memory) >= 0;
  else if (good)
    good = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0;
  if (good)
    good = (write ? H5Dwrite(data->id, type, memory, file_space, file->transfer, values)
                  : H5Dread(data->id, type, memory, file_space, file->transfer, values)) >= 0;
  mg_status_t status = MG_OK;
  if (!good) {
    const mg_h5_reason_t reason = mg_h5_reason();
    char name[MG_H5_NAME_MAX] = "a dataset";
    (void)H5Iget_name(data->id, name, sizeof name);
    status = mg_h5_failed_for(file, write ? "write" : "read", name, &reason);
  }
  bool closed = mg_h5_release(file_space);
  closed = mg_h5_release(memory) && closed;
  return status != MG_OK || closed ? status : mg_h5_failed(file, "release", "a dataspace");
}

/* Every rank makes the same number of calls; ranks with nothing left select nothing. */
static mg_status_t move_planes(mg_h5_t *file, const mg_h5_data_t *data, bool write, int32_t first,
                               int32_t count, void *values) {
  if (!file) return MG_OK;
  const int64_t size = (int64_t)H5Tget_size(mg_h5_memory_type(data->type));
  const int64_t plane = plane_values(data) * size;
  /* Whole planes if one fits into a call, otherwise each plane in bands of rows. */
  const int64_t bands = data->rank < 3 ? 1 : (plane + CALL_BYTES - 1) / CALL_BYTES;
  const int64_t rows_of_plane = data->rank < 3 ? data->n[0] : data->n[1];
  const int64_t rows = data->rank < 3 ? 1 : (rows_of_plane + bands - 1) / bands;
  double max_calls[1] = {bands > 1 ? (double)(count * bands) : 1.0};
  if (file->shared) MG_TRY(mg_comm_max(mg_comm_world(), max_calls, 1));
  mg_status_t status = MG_OK;
  for (int64_t call = 0; call < (int64_t)max_calls[0]; call++) {
    hsize_t start[3] = {(hsize_t)first, 0, 0},
            n[3] = {(hsize_t)count, (hsize_t)rows_of_plane, (hsize_t)data->n[0]};
    char *at = values;
    if (bands > 1) {
      const int64_t k = call / bands, j = call % bands * rows;
      n[0] = k < count && j < rows_of_plane;
      start[0] = (hsize_t)(first + k);
      start[1] = (hsize_t)j;
      n[1] = (hsize_t)(rows_of_plane - j < rows ? rows_of_plane - j : rows);
      if (n[0] > 0) at += (k * rows_of_plane + j) * data->n[0] * size;
    }
    if (n[0] == 0) n[1] = n[2] = 0;
    const mg_status_t moved = move_piece(file, data, write, start, n, at);
    if (status == MG_OK) status = moved;
  }
  return status;
}

mg_status_t mg_h5_write_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first,
                               int32_t count, const void *values) {
  return move_planes(file, data, true, first, count, (void *)(uintptr_t)values);
}

mg_status_t mg_h5_read_planes(mg_h5_t *file, const mg_h5_data_t *data, int32_t first, int32_t count,
                              void *values) {
  return move_planes(file, data, false, first, count, values);
}
