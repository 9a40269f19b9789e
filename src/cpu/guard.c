/* The CPU's operations behind a locked door.
 *
 * Level memory is mapped without any access right; an operation opens every mapping, runs the
 * CPU's entry and locks them again. A layer above the seam that reads or writes a level's cells
 * itself dies of a segmentation fault at the very line, on a machine without a GPU. */
#define _GNU_SOURCE
#include "cpu.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_MAPPINGS = 256 };
static struct {
  void *memory;
  size_t bytes;
} mapping[MOST_MAPPINGS];
static int n_mappings;

static size_t whole_pages(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

static mg_status_t protect(int rights) {
  for (int m = 0; m < n_mappings; m++)
    if (mprotect(mapping[m].memory, mapping[m].bytes, rights) != 0) return MG_ERR_DEVICE;
  return MG_OK;
}

static mg_status_t guard_alloc(size_t bytes, mg_space_t space, void **memory) {
  if (space == MG_SPACE_SHARED) return mg_backend_cpu.alloc(bytes, space, memory);
  *memory = NULL;
  if (n_mappings == MOST_MAPPINGS) return MG_ERR_MEMORY;
  const size_t size = whole_pages(bytes);
  void *mapped = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return MG_ERR_MEMORY;
  mapping[n_mappings].memory = mapped;
  mapping[n_mappings++].bytes = size;
  *memory = mapped; /* zeroed by the kernel */
  return MG_OK;
}

static void guard_release(void *memory, size_t bytes, mg_space_t space) {
  if (space == MG_SPACE_SHARED) {
    mg_backend_cpu.release(memory, bytes, space);
    return;
  }
  for (int m = 0; m < n_mappings; m++)
    if (mapping[m].memory == memory) {
      munmap(memory, mapping[m].bytes);
      mapping[m] = mapping[--n_mappings];
      return;
    }
}

/* Open, call, lock. */
#define GUARDED(call)                                                                              \
  do {                                                                                             \
    MG_TRY(protect(PROT_READ | PROT_WRITE));                                                       \
    const mg_status_t status_ = (call);                                                            \
    MG_TRY(protect(PROT_NONE));                                                                    \
    return status_;                                                                                \
  } while (0)

static mg_status_t set_problem(const mg_view_t *v, const mg_tables_t *tables) {
  GUARDED(mg_cpu_set_problem(v, tables));
}
static mg_status_t restrict_faces(const mg_view_t *fine, int d, const mg_view_t *coarse, int dst) {
  GUARDED(mg_cpu_restrict_faces(fine, d, coarse, dst));
}
static mg_status_t extend_faces(const mg_view_t *v) {
  GUARDED(mg_cpu_extend_faces(v));
}
static mg_status_t set_diagonal(const mg_view_t *v, bool l1, double *lambda_max) {
  GUARDED(mg_cpu_set_diagonal(v, l1, lambda_max));
}
static mg_status_t boundary(const mg_view_t *v, int vec, int order) {
  GUARDED(mg_cpu_boundary(v, vec, order));
}
static mg_status_t smooth(const mg_view_t *v, int x, int previous, int dst, const mg_step_t *step) {
  GUARDED(mg_cpu_smooth(v, x, previous, dst, step));
}
static mg_status_t smooth_pass(const mg_view_t *v, int x, int previous, int dst, int before,
                               const mg_step_t *steps, int n) {
  GUARDED(mg_cpu_smooth_pass(v, x, previous, dst, before, steps, n));
}
static mg_status_t residual(const mg_view_t *v, int dst, int x, int f) {
  GUARDED(mg_cpu_residual(v, dst, x, f));
}
static mg_status_t restrict_cells(const mg_view_t *fine, int src, const mg_view_t *coarse,
                                  int dst) {
  GUARDED(mg_cpu_restrict_cells(fine, src, coarse, dst));
}
static mg_status_t interpolate(const mg_view_t *coarse, int src, const mg_view_t *fine, int dst,
                               mg_interpolation_t kind, bool add) {
  GUARDED(mg_cpu_interpolate(coarse, src, fine, dst, kind, add));
}
static mg_status_t copy(const mg_copies_t *copies, int src, int dst) {
  GUARDED(mg_cpu_copy(copies, src, dst));
}
static mg_status_t fill(const mg_view_t *v, int dst, double value) {
  GUARDED(mg_cpu_fill(v, dst, value));
}
static mg_status_t shift(const mg_view_t *v, int dst, int x, double value) {
  GUARDED(mg_cpu_shift(v, dst, x, value));
}
static mg_status_t axpby(const mg_view_t *v, int dst, double alpha, int x, double beta, int y) {
  GUARDED(mg_cpu_axpby(v, dst, alpha, x, beta, y));
}
static mg_status_t multiply(const mg_view_t *v, int dst, int x, int y) {
  GUARDED(mg_cpu_multiply(v, dst, x, y));
}
static mg_status_t max_norm(const mg_view_t *v, int x, int y, double *norm) {
  GUARDED(mg_cpu_max_norm(v, x, y, norm));
}
static mg_status_t dot(const mg_view_t *v, int x, int y, mg_sum_t *sum) {
  GUARDED(mg_cpu_dot(v, x, y, sum));
}

/* The optional entries stay NULL, so that a guarded run also exercises their compositions; but for
 * passes, which have no composition, so that what leads to them is exercised without a device. */
const mg_backend_t mg_backend_guard = {
    .name = "guard",
    .alloc = guard_alloc,
    .release = guard_release,
    .set_problem = set_problem,
    .restrict_faces = restrict_faces,
    .extend_faces = extend_faces,
    .set_diagonal = set_diagonal,
    .boundary = boundary,
    .smooth = smooth,
    .residual = residual,
    .restrict_cells = restrict_cells,
    .interpolate = interpolate,
    .prepare_copies = mg_cpu_prepare_copies,
    .release_copies = mg_cpu_release_copies,
    .copy = copy,
    .fill = fill,
    .shift = shift,
    .axpby = axpby,
    .multiply = multiply,
    .max_norm = max_norm,
    .dot = dot,
    .passes = mg_cpu_passes,
    .smooth_pass = smooth_pass,
};
