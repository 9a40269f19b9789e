/* Open files and error reporting of the HDF5 layer. Internal to h5*.c; other files include h5.h. */
#ifndef MG_H5_FILE_H
#define MG_H5_FILE_H

#include "io/atomic_file.h"
#include "io/hdf5/h5.h"
#include <ctype.h>
#include <hdf5.h>

struct mg_h5 {
  hid_t id;
  hid_t transfer; /* property list for plane transfers */
  bool shared;    /* by all ranks */
  bool writing, has_failed;
  char path[MG_WHOLE_FILE_MAX];
  char name[MG_WHOLE_FILE_MAX + 32]; /* for messages */
};

/** The library's description of a failure. */
typedef struct {
  char text[256];
} mg_h5_reason_t;

/** Reason for the last failure. Call it immediately, because the next library call discards it. */
mg_h5_reason_t mg_h5_reason(void);

/** Report a failed call as "FILE: cannot WHAT NAME: REASON". If other ranks may be blocked
 *  inside the library, abort the run.
 *  @param[in,out] file  marked as failed; closing it then discards what was written
 *  @return MG_ERR_IO */
mg_status_t mg_h5_failed(mg_h5_t *file, const char *what, const char *name);
/** Like mg_h5_failed, with a reason obtained before other calls. */
mg_status_t mg_h5_failed_for(mg_h5_t *file, const char *what, const char *name,
                             const mg_h5_reason_t *reason);

/** Close an object of the library, if it is open.
 *  @return false: that failed */
static inline bool mg_h5_release(hid_t id) {
  return id < 0 || H5Idec_ref(id) >= 0;
}

static inline hid_t mg_h5_memory_type(mg_h5_type_t type) {
  return type == MG_H5_FLOAT    ? H5T_NATIVE_FLOAT
         : type == MG_H5_UINT64 ? H5T_NATIVE_UINT64
         : type == MG_H5_INT64  ? H5T_NATIVE_INT64
                                : H5T_NATIVE_DOUBLE;
}

/** Replace control characters of a name by '?'. */
static inline void mg_h5_replace_controls(char *text) {
  for (; *text; text++)
    if (iscntrl((unsigned char)*text)) *text = '?';
}

#endif
