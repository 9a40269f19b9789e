/* Names of the functions and tables that are compiled for float.
 *
 * The files of this folder that touch cells are compiled twice, for double and for float. Their
 * code uses the names on the left. The commands that compile for float include this file and define
 * MG_FLOAT. */
#ifndef MG_CPU_FLOAT_NAMES_H
#define MG_CPU_FLOAT_NAMES_H

#define mg_backend_cpu                 mg_backend_cpu_float
#define mg_cpu_combine                 mg_cpu_combine_float
#define mg_cpu_can_split               mg_cpu_can_split_float
#define mg_cpu_copy                    mg_cpu_copy_float
#define mg_cpu_dot                     mg_cpu_dot_float
#define mg_cpu_extend_faces            mg_cpu_extend_faces_float
#define mg_cpu_fill                    mg_cpu_fill_float
#define mg_cpu_fill_wall_ghosts        mg_cpu_fill_wall_ghosts_float
#define mg_cpu_fused                   mg_cpu_fused_float
#define mg_cpu_grow                    mg_cpu_grow_float
#define mg_cpu_interpolate             mg_cpu_interpolate_float
#define mg_cpu_interpolate_children    mg_cpu_interpolate_children_float
#define mg_cpu_interpolation_rows      mg_cpu_interpolation_rows_float
#define mg_cpu_interpolation_scratch   mg_cpu_interpolation_scratch_float
#define mg_cpu_interpolation_job       mg_cpu_interpolation_job_float
#define mg_cpu_interpolation_strip     mg_cpu_interpolation_strip_float
#define mg_cpu_join_strip              mg_cpu_join_strip_float
#define mg_cpu_join_norms              mg_cpu_join_norms_float
#define mg_cpu_longest_row             mg_cpu_longest_row_float
#define mg_cpu_max_norm                mg_cpu_max_norm_float
#define mg_cpu_new_ghosts              mg_cpu_new_ghosts_float
#define mg_cpu_new_wall_ghosts         mg_cpu_new_wall_ghosts_float
#define mg_cpu_norm_begin              mg_cpu_norm_begin_float
#define mg_cpu_norm_end                mg_cpu_norm_end_float
#define mg_cpu_norm_of_row             mg_cpu_norm_of_row_float
#define mg_cpu_pass                    mg_cpu_pass_float
#define mg_cpu_pass_rows               mg_cpu_pass_rows_float
#define mg_cpu_prepare_copies          mg_cpu_prepare_copies_float
#define mg_cpu_release_copies          mg_cpu_release_copies_float
#define mg_cpu_residual                mg_cpu_residual_float
#define mg_cpu_residual_job            mg_cpu_residual_job_float
#define mg_cpu_residual_job_free       mg_cpu_residual_job_free_float
#define mg_cpu_residual_norm           mg_cpu_residual_norm_float
#define mg_cpu_residual_norm_strip     mg_cpu_residual_norm_strip_float
#define mg_cpu_residual_prepare        mg_cpu_residual_prepare_float
#define mg_cpu_residual_restrict       mg_cpu_residual_restrict_float
#define mg_cpu_residual_restrict_strip mg_cpu_residual_restrict_strip_float
#define mg_cpu_residual_row            mg_cpu_residual_row_float
#define mg_cpu_residual_walls          mg_cpu_residual_walls_float
#define mg_cpu_restrict_any_faces      mg_cpu_restrict_any_faces_float
#define mg_cpu_restrict_children       mg_cpu_restrict_children_float
#define mg_cpu_restrict_cells          mg_cpu_restrict_cells_float
#define mg_cpu_restrict_faces          mg_cpu_restrict_faces_float
#define mg_cpu_set_diagonal            mg_cpu_set_diagonal_float
#define mg_cpu_set_problem             mg_cpu_set_problem_float
#define mg_cpu_smooth                  mg_cpu_smooth_float
#define mg_cpu_smooth_in_strips        mg_cpu_smooth_in_strips_float
#define mg_cpu_smooth_resident         mg_cpu_smooth_resident_float
#define mg_cpu_smooth_split            mg_cpu_smooth_split_float
#define mg_cpu_split_ghosts            mg_cpu_split_ghosts_float
#define mg_cpu_split_planes            mg_cpu_split_planes_float
#define mg_cpu_split_strip             mg_cpu_split_strip_float
#define mg_cpu_strip_count             mg_cpu_strip_count_float
#define mg_cpu_strip_rows              mg_cpu_strip_rows_float
#define mg_cpu_step_of                 mg_cpu_step_of_float
#define mg_cpu_step_strip              mg_cpu_step_strip_float
#define mg_cpu_strips                  mg_cpu_strips_float
#define mg_cpu_thread                  mg_cpu_thread_float
#define mg_cpu_threads                 mg_cpu_threads_float
#define mg_cpu_wall_ends               mg_cpu_wall_ends_float
#define mg_cpu_wall_planes             mg_cpu_wall_planes_float
#define mg_cpu_wall_line               mg_cpu_wall_line_float
#define mg_cpu_wall_planes_of_rows     mg_cpu_wall_planes_of_rows_float
#define mg_cpu_wall_rows               mg_cpu_wall_rows_float

#endif
