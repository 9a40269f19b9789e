/* Names of types, functions and tables that are compiled for float.
 *
 * The files of this folder that touch cells are compiled twice, for double and for float. The
 * commands that compile for float include this file and define MG_FLOAT. Types that depend on the
 * type of cells have another name then: so have all functions and kernels with such a parameter,
 * because C++ encodes the types of parameters in names. Functions without one are listed here too.
 */
#ifndef MG_CUDA_FLOAT_NAMES_H
#define MG_CUDA_FLOAT_NAMES_H

/* types and namespaces */
#define mg_patch_t            mg_float_patch_t
#define mg_view_t             mg_float_view_t
#define mg_cuda_patch_t       mg_cuda_float_patch_t
#define mg_copies             mg_float_copies
#define mg_coarse_cycle       mg_float_coarse_cycle
#define mg_coarse_cycle_job_t mg_float_coarse_cycle_job_t
#define mg_cuboid_address_t   mg_float_cuboid_address_t
#define mg_copy_tile_t        mg_float_copy_tile_t
#define mg_copy_tiles_t       mg_float_copy_tiles_t
#define mg_fv4_job_t          mg_float_fv4_job_t
#define mg_fv4_fused          mg_float_fv4_fused
#define mg_fused              mg_float_fused
#define mg_resident           mg_float_resident
#define mg_matrix             mg_float_matrix
#define mg_paired_args_t      mg_float_paired_args_t
#define mg_paired_cycle       mg_float_paired_cycle
#define mg_resident_fv4       mg_float_resident_fv4
/* functions */
#define mg_cuboids_close  mg_float_cuboids_close
#define mg_slot_of        mg_float_slot_of
#define mg_tile_cells     mg_float_tile_cells
#define mg_cuda_fv4_open  mg_cuda_float_fv4_open
#define mg_p2p_bytes      mg_float_p2p_bytes
#define mg_p2p_create     mg_float_p2p_create
#define mg_p2p_free       mg_float_p2p_free
#define mg_p2p_max_blocks mg_float_p2p_max_blocks
/* tables */
#define mg_backend_cuda        mg_backend_cuda_float
#define mg_backend_cuda_simple mg_backend_cuda_simple_float
#define mg_cuda_coarse         mg_cuda_coarse_float
#define mg_cuda_p2p            mg_cuda_p2p_float

#endif
