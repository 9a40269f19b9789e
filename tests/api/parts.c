#include "tests/api/parts.h"
#include "backend/arrays.h"
#include "tests/lib/fixture.h"
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_MPI
#include <mpi.h>
static MPI_Comm all_ranks;
#endif

const int32_t grid[3] = {20, 17, 14};
int my_rank, n_ranks;

int n_mine = 1;
hpgmg_box_t my_boxes[MAX_BOXES];

hpgmg_options_t options_of(const char *words) {
  hpgmg_options_t o = hpgmg_options();
  const int owners = n_ranks > 1 ? n_ranks - 1 : 1;
  const int32_t first = my_rank < owners ? grid[1] * my_rank / owners : 0;
  const int32_t rows = my_rank < owners ? grid[1] * (my_rank + 1) / owners - first : 0;
  const hpgmg_box_t mine = {{0, first, 0}, {grid[0], rows, grid[2]}};
  for (int d = 0; d < 3; d++)
    o.cells[d] = grid[d];
  for (int box = 0; box < MAX_BOXES; box++)
    my_boxes[box] = mine;
  if (n_mine > 1) {
    my_boxes[0].n[0] = my_boxes[2].lo[0] = 7;
    my_boxes[1].n[0] = 0;
    my_boxes[2].n[0] -= 7;
  }
  o.n_boxes = n_mine;
  o.boxes = my_boxes;
  o.words = words;
#ifdef HAVE_MPI
  o.comm = &all_ranks;
#endif
  return o;
}

bool on_device;

static int64_t values_of(const hpgmg_box_t *box, int faces, int n[3]) {
  const bool empty = box->n[0] == 0 || box->n[1] == 0;
  for (int d = 0; d < 3; d++)
    n[d] = box->n[d] + (d == faces && !empty);
  return empty ? 0 : (int64_t)(n[2] + 2) * n[0] * n[1];
}

#ifdef HAVE_CUDA
/* Copy the values to the device, or back. */
static void move(part_t *p, bool to_device) {
  const int32_t n[3] = {(int32_t)p->values, 1, 1};
  void *memory;
  MUST(mg_backend_cuda.alloc((size_t)p->values * sizeof(double), MG_SPACE_SHARED, &memory));
  const mg_strided_t shared = {memory, {1, 0, 0}}, device = {p->device, {1, 0, 0}};
  if (to_device) memcpy(memory, p->memory, (size_t)p->values * sizeof(double));
  MUST(to_device ? mg_backend_cuda.arrays->copy(n, &shared, &device)
                 : mg_backend_cuda.arrays->copy(n, &device, &shared));
  MUST(mg_backend_cuda.queue.wait());
  if (!to_device) memcpy(p->memory, memory, (size_t)p->values * sizeof(double));
  mg_backend_cuda.release(memory, (size_t)p->values * sizeof(double), MG_SPACE_SHARED);
}

static void put_on_device(part_t *p) {
  void *memory;
  if (p->values == 0) return;
  MUST(mg_backend_cuda.alloc((size_t)p->values * sizeof(double), MG_SPACE_LEVEL, &memory));
  p->device = memory;
  move(p, true);
  for (int box = 0; box < n_mine; box++)
    if (p->array[box].data) p->array[box].data = p->device + (p->array[box].data - p->memory);
}
#endif

part_t part_of(const double *x, int faces) {
  part_t p = {.values = 0};
  int n[3], size[3];
  for (int box = 0; box < n_mine; box++)
    p.values += values_of(&my_boxes[box], faces, n);
  p.memory = calloc((size_t)p.values + 1, sizeof *p.memory);
  for (int d = 0; d < 3; d++)
    size[d] = grid[d] + (d == faces);
  double *next = p.memory;
  for (int box = 0; box < n_mine; box++) {
    const int64_t values = values_of(&my_boxes[box], faces, n);
    const int32_t *lo = my_boxes[box].lo;
    const ptrdiff_t column = n[2] + 2;
    if (values == 0) continue;
    p.array[box] = (hpgmg_array_t){next, {column, column * n[0], 1}, {n[0], n[1], n[2]}};
    if (x) EACH_CELL(at, n) {
        next[column * (at[0] + n[0] * at[1]) + at[2]] =
            x[at[0] + lo[0] + size[0] * (at[1] + lo[1] + size[1] * (at[2] + lo[2]))];
      }
    next += values;
  }
#ifdef HAVE_CUDA
  if (on_device) put_on_device(&p);
#endif
  return p;
}

const double *values_in(part_t *p) {
#ifdef HAVE_CUDA
  if (p->device) move(p, false);
#endif
  return p->memory;
}

void free_part(part_t *p) {
#ifdef HAVE_CUDA
  if (p->device)
    mg_backend_cuda.release(p->device, (size_t)p->values * sizeof(double), MG_SPACE_LEVEL);
#endif
  free(p->memory);
}

int n_lines;

void parts_begin(int *argc, char ***argv) {
  fixture_begin(argc, argv);
  my_rank = mg_comm_rank(mg_comm_world());
  n_ranks = mg_comm_size(mg_comm_world());
#ifdef HAVE_MPI
  if (MPI_Comm_dup(MPI_COMM_WORLD, &all_ranks) != MPI_SUCCESS) exit(1);
#endif
}

void parts_end(void) {
#ifdef HAVE_MPI
  if (MPI_Comm_free(&all_ranks) != MPI_SUCCESS) exit(1);
#endif
}

void parts_each(int ways, void (*test)(const fixture_backend_t *b)) {
  for (const fixture_backend_t *b = fixture_backends; b->name; b++) {
    const bool guard = strcmp(b->name, "guard") == 0, cuda = strcmp(b->name, "cuda") == 0;
    if (!guard && !cuda && strcmp(b->name, "cpu") != 0) continue;
    /* On several ranks, the guard has several boxes per rank only. */
    for (int way = guard && n_ranks > 1 && ways > 1; way < (cuda || ways < 2 ? ways : 2); way++) {
      n_mine = way % 2 == 0 ? 1 : MAX_BOXES;
      on_device = way >= 2;
      test(b);
    }
    n_mine = 1;
    on_device = false;
    fixture_release();
  }
}
