/* api_memory: levels in memory of the caller's, on each backend: the same u, all memory comes back,
 * and failures of the caller's allocator are errors. A dry run gives an upper bound of the bytes.
 */
#ifdef HAVE_CONFIG_H
#include "backend/arrays.h"
#include "config.h"
#endif
#include "tests/api/parts.h"
#include <stdlib.h>

/* What an allocator has given. */
typedef struct {
  int given, returned, refuse_at; /* refuse_at: number of the allocation that fails; -1: none */
  size_t bytes[2];                /* on the host and on the GPU */
  size_t offset;                  /* of the addresses that it gives */
} pool_t;

enum { ROOM = 256 }; /* before an address, for offsets */

/* Not zeros. */
static void *allocate(void *data, size_t bytes, int gpu) {
  pool_t *p = data;
  char *memory = NULL;
  if (p->given == p->refuse_at) return NULL;
#ifdef HAVE_CUDA
  if (gpu) {
    static double value = -1e300;
    const int32_t n[3] = {(int32_t)(bytes / sizeof value), 1, 1};
    void *device, *shared;
    MUST(mg_backend_cuda.alloc(bytes + ROOM, MG_SPACE_LEVEL, &device));
    MUST(mg_backend_cuda.alloc(sizeof value, MG_SPACE_SHARED, &shared));
    memcpy(shared, &value, sizeof value);
    memory = device;
    const mg_strided_t from = {shared, {0, 0, 0}}, to = {device, {1, 0, 0}};
    MUST(mg_backend_cuda.arrays->copy(n, &from, &to));
    MUST(mg_backend_cuda.queue.wait());
    mg_backend_cuda.release(shared, sizeof value, MG_SPACE_SHARED);
  }
#endif
  if (!gpu) memory = aligned_alloc(ROOM, (bytes + 2 * ROOM) / ROOM * ROOM);
  if (!memory) exit(1);
  if (!gpu) memset(memory, 0xa5, bytes + ROOM);
  p->given++;
  p->bytes[gpu] += bytes;
  return memory + p->offset;
}

static void release(void *data, void *memory, size_t bytes, int gpu) {
  pool_t *p = data;
  char *const start = (char *)memory - p->offset;
  p->returned++;
  p->bytes[gpu] -= bytes;
#ifdef HAVE_CUDA
  if (gpu) mg_backend_cuda.release(start, bytes + ROOM, MG_SPACE_LEVEL);
#endif
  if (!gpu) free(start);
}

static hpgmg_options_t with_pool(const char *words, pool_t *p) {
  hpgmg_options_t o = options_of(words);
  *p = (pool_t){.refuse_at = -1};
  o.allocate = allocate;
  o.release = release;
  o.memory_data = p;
  return o;
}

static void solve(const hpgmg_options_t *o, part_t *u, int64_t bytes[2]) {
  double one = 1.0;
  const hpgmg_array_t f[] = EVERYWHERE(one);
  hpgmg_solver_t *s;
  API(hpgmg_create(o, &s));
  API(hpgmg_solve(s, f, u->array, NULL));
  hpgmg_memory(s, bytes);
  hpgmg_destroy(&s);
}

static void test_same(const char *words) {
  pool_t pool;
  int64_t bytes[2], of_own[2];
  hpgmg_options_t o = with_pool(words, &pool);
  part_t u = part_of(NULL, -1), own = part_of(NULL, -1);
  hpgmg_solver_t *s;
  solve(&o, &u, bytes);
  CHECK(pool.given > 1 && pool.returned == pool.given);
  CHECK(pool.bytes[0] == 0 && pool.bytes[1] == 0);
  o = options_of(words);
  solve(&o, &own, of_own);
  CHECK(bytes[0] == of_own[0] && bytes[1] == of_own[1]);
  if (u.values > 0) CHECK_SAME(u.memory, own.memory, u.values);
  /* Nothing is allocated, and no device is used. */
  o = with_pool(textf("%s --dry-run", words), &pool);
  o.log = count_lines;
  o.log_data = &n_lines;
  n_lines = 0;
  API(hpgmg_create(&o, &s));
  int64_t planned[2];
  hpgmg_memory(s, planned);
  CHECK(pool.given == 0);
  CHECK(planned[0] >= bytes[0] && planned[1] >= bytes[1]);
  CHECK(planned[0] + planned[1] <= 2 * (bytes[0] + bytes[1]) || n_ranks > 1);
  CHECK_INT(n_lines, 0);
  refused(s, hpgmg_solve(s, u.array, u.array, NULL), HPGMG_BAD_ARGUMENT, "the word --dry-run");
  n_lines = 0;
  hpgmg_destroy(&s);
  CHECK_INT(n_lines, 0);
  free_part(&u), free_part(&own);
}

static void test_refusals(const char *words) {
  pool_t pool;
  hpgmg_options_t o = with_pool(words, &pool);
  o.release = NULL;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "options.release is NULL, but options.allocate is not");
  o = with_pool(words, &pool);
  pool.offset = 8;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "it must be a multiple of");
  CHECK(pool.given > 0 || n_ranks > 1);
  CHECK_INT(pool.returned, pool.given);
  for (int n = 0; n < 3; n++) {
    hpgmg_solver_t *s;
    o = with_pool(words, &pool);
    pool.refuse_at = n;
    const hpgmg_status_t status = hpgmg_create(&o, &s);
    refused(s, status, HPGMG_NO_MEMORY, n_ranks == 1 ? "by options.allocate" : "");
    CHECK_INT(pool.returned, pool.given);
    hpgmg_destroy(&s);
  }
  if (n_ranks == 1) return;
  o = with_pool(words, &pool);
  if (my_rank == 0) o.allocate = NULL, o.release = NULL;
  refuse_create(o, HPGMG_BAD_ARGUMENT, "some ranks have options.allocate");
}

/* Without measurements, all levels are as planned. */
static void test_backend(const fixture_backend_t *b) {
  test_same(textf("%s --agglomerate-below=0", b->options));
  test_same(textf("%s --agglomerate-below=0 --precision=mixed --smoother=gsrb "
                  "--boundary=periodic,neumann,dirichlet",
                  b->options));
  test_refusals(b->options);
}

int main(int argc, char **argv) {
  parts_begin(&argc, &argv);
  parts_each(1, test_backend);
  parts_end();
  return FIXTURE_END();
}
