/* Operations on the arrays of an application. */
#ifndef MG_BACKEND_ARRAYS_H
#define MG_BACKEND_ARRAYS_H

#include "backend/backend.h"
#include "formulas/arrays.h"

/** An array of an application: element (i, j, k) is x[i stride[0] + j stride[1] + k stride[2]]. */
typedef struct {
  double *x;
  ptrdiff_t stride[3];
} mg_strided_t;

/** Arrays of an application in memory that the backend's operations access. */
typedef struct mg_backend_arrays {
  /** Copy n[0] n[1] n[2] elements. Either side may be cells of a level. */
  mg_status_t (*copy)(const int32_t n[3], const mg_strided_t *from, const mg_strided_t *to);
  /** Find the first element outside of a range, i fastest.
   *  @param[out] place  its number among all elements; -1: none
   *  @param[out] value  of this element */
  mg_status_t (*find_outside)(const int32_t n[3], const mg_strided_t *array,
                              const mg_range_t *range, int64_t *place, double *value);
  /** Fill the betas in direction d by mg_face_average, including the faces that close patches.
   *  @param[in] position  of the level's n[d] + 1 faces; NULL: all widths are equal */
  mg_status_t (*average)(const mg_view_t *v, int d, mg_vector_t src, const double *position);
  /** Start later operations after the work that the application has enqueued on a stream.
   *  @param[out] captured  the stream is being captured in a graph: operations must only enqueue
   *  @return MG_OK, MG_ERR_DEVICE, MG_ERR_USAGE (another stream is being captured) */
  mg_status_t (*follow)(void *stream, bool *captured);
  /** Start later work on the stream after the operations enqueued so far. */
  mg_status_t (*lead)(void *stream);
  /** Make the device the current one of the calling thread, and get its number. The last three
   *  entries, or none for a backend in host memory. */
  mg_status_t (*select)(int *device);
} mg_backend_arrays_t;

#endif
