/* The table of the tuned CUDA backend. */
#include "cuda/reduction.h"
#include "wings.h"

static const mg_backend_overlap_t overlap = {.stream_fork = mg_cuda_stream_fork,
                                             .stream_switch = mg_cuda_stream_switch,
                                             .stream_join = mg_cuda_stream_join,
                                             .sweep_overlaps = mg_cuda_sweep_overlaps,
                                             MG_IF_FUSED(.interior_first = mg_cuda_interior_first)};

static const mg_backend_fused_t fused = {
    MG_IF_RESIDENT(.smooth_resident = mg_cuda_operator_smooth_resident, ).folds_walls =
        mg_cuda_folds_walls,
    MG_IF_FUSED(.bound_betas = mg_cuda_bound_betas, ).residual_norm = mg_cuda_residual_norm,
    .residual_restrict = mg_cuda_residual_restrict,
    MG_IF_FUSED(.smooth_residual = mg_cuda_smooth_residual, ).norm_begin = mg_cuda_norm_begin,
    .norm_end = mg_cuda_norm_end,
    MG_IF_FUSED(.can_interpolate_smooth = mg_cuda_can_interpolate_smooth,
                .interpolate_smooth = mg_cuda_interpolate_smooth, )
        MG_IF_COARSE(.bottom = mg_cuda_bottom)};

extern "C" const mg_backend_t mg_backend_cuda = {
    .name = "cuda",
    MG_CUDA_SETUP_ENTRIES.smooth = mg_cuda_smooth,
    .residual = mg_cuda_residual,
    .restrict_cells = mg_cuda_restrict_cells,
    .interpolate = mg_cuda_interpolate,
    .prepare_copies = mg_cuda_prepare_copies,
    .release_copies = mg_cuda_release_copies,
    .copy = mg_cuda_copy,
    .fill = mg_cuda_fill,
    .combine = mg_cuda_combine,
    .max_norm = mg_cuda_max_norm,
    .dot = mg_cuda_dot,
    .queue = mg_cuda_queue,
    .overlap = &overlap,
    .fused = &fused,
    MG_IF_PROFILE(.profile = &mg_cuda_profile, ).device = &mg_cuda_device,
    MG_IF_COARSE(.coarse = &mg_cuda_coarse, )
#ifndef MG_CUDA_DEBUG /* a graph cannot capture the debug build's synchronization */
        .graph = &mg_cuda_graph,
#endif
#ifndef MG_FLOAT
    MG_IF_DOMAINS(.domains = &mg_cuda_domains, ) MG_IF_MIXED(.mixed = &mg_cuda_mixed, )
        MG_IF_ARRAYS(.arrays = &mg_cuda_arrays, )
            .peer = &mg_cuda_peer,
#endif
    MG_IF_EXCHANGE(.p2p = &mg_cuda_p2p)};
