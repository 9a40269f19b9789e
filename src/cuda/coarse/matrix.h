/* Products with the inverse of A on the coarsest level: matrix.cu. */
#ifndef MG_CUDA_COARSE_MATRIX_H
#define MG_CUDA_COARSE_MATRIX_H

#include "cuda/cuda.h"

/** As the entries of mg_backend_coarse_t.
 *  @return MG_OK, MG_ERR_MEMORY, MG_ERR_DEVICE, MG_ERR_INTERNAL (too many columns) */
mg_status_t mg_matrix_set(const double *matrix, int n, int pitch, mg_matrix_t **out);
void mg_matrix_free(mg_matrix_t *matrix);
mg_status_t mg_matrix_multiply(const mg_matrix_t *matrix, const mg_view_t *v, mg_vector_t dst,
                               mg_vector_t src);

#endif
