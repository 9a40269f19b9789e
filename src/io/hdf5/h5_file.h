/* What the files that call HDF5 know of an open file, and how they tell of errors. For h5*.c alone:
 * everyone else wants h5.h. */
#ifndef MG_H5_FILE_H
#define MG_H5_FILE_H

#include "io/hdf5/h5.h"
#include <hdf5.h>

struct mg_h5 {
  hid_t id;
  hid_t transfer; /* how planes are read and written */
  bool shared;    /* by all ranks */
  bool writing, has_failed;
  char *path;
  char *name; /* in messages */
};

/** The library's words for a failure. */
typedef struct {
  char text[256];
} mg_h5_reason_t;

/** Why the last call failed: to be asked at once, since the next call forgets it. */
mg_h5_reason_t mg_h5_reason(void);

/** A call has failed: say so, "FILE: cannot WHAT NAME: REASON", and, where other ranks may wait for
 *  this one within the library, end the run.
 *  @param[in,out] file  is closed as one of no use
 *  @return MG_ERR_IO */
mg_status_t mg_h5_failed(mg_h5_t *file, const char *what, const char *name);
/** The same with a reason that was asked for before other calls. */
mg_status_t mg_h5_failed_for(mg_h5_t *file, const char *what, const char *name,
                             const mg_h5_reason_t *reason);

/** No call has failed, but what is in the file cannot be used: "FILE: NAME WHAT". Ranks that share
 *  it find the same, and rank 0 says so.
 *  @return MG_ERR_IO */
mg_status_t mg_h5_wrong(const mg_h5_t *file, const char *name, const char *what);

#endif
