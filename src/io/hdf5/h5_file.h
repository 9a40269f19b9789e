/* Open files and error reporting of the HDF5 layer. Internal to h5*.c; other files include h5.h. */
#ifndef MG_H5_FILE_H
#define MG_H5_FILE_H

#include "io/hdf5/h5.h"
#include <hdf5.h>

struct mg_h5 {
  hid_t id;
  hid_t transfer; /* property list for plane transfers */
  bool shared;    /* by all ranks */
  bool writing, has_failed;
  char *path;
  char *name; /* for messages */
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

#endif
