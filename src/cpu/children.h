/* Transfers between levels of any sizes (children.c). */
#ifndef MG_CPU_CHILDREN_H
#define MG_CPU_CHILDREN_H

#include "cpu/cpu.h"

void mg_cpu_restrict_children(const mg_view_t *fine, mg_vector_t src, const mg_view_t *coarse,
                              mg_vector_t dst);
void mg_cpu_restrict_any_faces(const mg_view_t *fine, int d, const mg_view_t *coarse,
                               mg_vector_t dst, const mg_face_factor_t *factor);
void mg_cpu_interpolate_children(const mg_view_t *fine, mg_cpu_interpolation_job_t *job);

mg_cpu_interpolation_rows_t mg_cpu_interpolation_rows(mg_interpolation_t kind);

#endif
