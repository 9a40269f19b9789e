#include "base/alloc.h"
#include "cpu/cpu.h"
#include "wings.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* First touch places a page near the thread that touches it. Threads share planes evenly, so an
 * even split of the array puts most pages near the thread that uses them. */
static mg_status_t cpu_clear(void *memory, size_t bytes) {
  const size_t chunk = (size_t)1 << 20;
#pragma omp parallel for schedule(static) if (bytes > 4 * chunk)
  for (size_t at = 0; at < bytes; at += chunk)
    memset((char *)memory + at, 0, bytes - at < chunk ? bytes - at : chunk);
  return MG_OK;
}

static mg_status_t cpu_alloc(size_t bytes, mg_space_t space, void **memory) {
  (void)space; /* every backend can access host memory */
  const size_t line = 128, huge = (size_t)2 << 20, align = bytes < 2 * huge ? line : huge;
  const size_t rounded = bytes ? (bytes + line - 1) / line * line : line;
  if (posix_memalign(memory, align, rounded) != 0)
    return mg_out_of_memory(bytes, "level data or messages");
#ifdef MADV_HUGEPAGE
  /* Seven or more streams advance through as many pages at once, so large pages save page-table
   * walks. This is only advice: a refusal changes nothing. */
  if (align == huge) (void)madvise(*memory, rounded / huge * huge, MADV_HUGEPAGE);
#endif
  return cpu_clear(*memory, rounded);
}

static void cpu_release(void *memory, size_t bytes, mg_space_t space) {
  (void)bytes;
  (void)space;
  free(memory);
}

const mg_backend_t mg_backend_cpu = {.name = "cpu",
                                     .value_bytes = sizeof(mg_real_t),
                                     .alloc = cpu_alloc,
                                     .release = cpu_release,
                                     .clear = cpu_clear,
                                     .set_problem = mg_cpu_set_problem,
                                     .restrict_faces = mg_cpu_restrict_faces,
                                     .extend_faces = mg_cpu_extend_faces,
                                     .set_diagonal = mg_cpu_set_diagonal,
                                     .fill_wall_ghosts = mg_cpu_fill_wall_ghosts,
                                     .smooth = mg_cpu_smooth,
                                     .residual = mg_cpu_residual,
                                     .restrict_cells = mg_cpu_restrict_cells,
                                     .interpolate = mg_cpu_interpolate,
                                     .prepare_copies = mg_cpu_prepare_copies,
                                     .release_copies = mg_cpu_release_copies,
                                     .copy = mg_cpu_copy,
                                     .fill = mg_cpu_fill,
                                     .combine = mg_cpu_combine,
                                     .max_norm = mg_cpu_max_norm,
                                     .dot = mg_cpu_dot,
                                     MG_IF_FUSED(.fused = &mg_cpu_fused, )
#ifndef MG_FLOAT
                                         MG_IF_DOMAINS(.domains = &mg_cpu_domains, )
                                             MG_IF_MIXED(.mixed = &mg_cpu_mixed, )
                                                 MG_IF_ARRAYS(.arrays = &mg_cpu_arrays)
#endif
};
