/* op_input: fields read by --coefficients and --rhs. Random alpha, beta and f, on cells and
 * faces, in double and float, arrive in every cell and on every face. This includes the closing
 * faces of patches and walls, on every backend and boundary and for every division into boxes.
 * Betas given on cells become harmonic means. Sums of betas over planes are exact. */
#include "backend/domains.h"
#include "io/checksum.h"
#include "io/hdf5/h5.h"
#include "tests/lib/fixture.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 32 };

typedef struct {
  double *alpha, *beta[3], *f; /* beta[0] only, if betas are given on cells */
  bool faces, floats, walls;
  double *wall[3];
} problem_t;

static char path[256];

static double round_to(double x, bool floats) {
  return floats ? (double)(float)x : x;
}

static double *random_field(uint64_t seed, double least, bool floats) {
  double *x = field_random(N * N * N, seed);
  for (int c = 0; c < N * N * N; c++)
    x[c] = round_to(exp(4.6 * x[c]) + least, floats);
  return x;
}

static problem_t problem_new(bool faces, bool floats, bool walls) {
  problem_t p = {.faces = faces, .floats = floats, .walls = walls};
  p.alpha = random_field(1, 0.0, floats);
  p.f = random_field(2, -3.0, floats);
  for (int d = 0; d < (faces ? 3 : 1); d++)
    p.beta[d] = random_field(3 + (uint64_t)d, 0.0, floats);
  for (int d = 0; d < 3 && walls; d++)
    p.wall[d] = random_field(6 + (uint64_t)d, 0.0, false); /* only its first plane is used */
  return p;
}

/* Rank 0 writes the planes. */
static void write_data(mg_h5_t *file, const char *name, const double *x, bool floats) {
  const int n = mg_comm_is_root() ? N : 0;
  mg_h5_data_t data;
  float *single = malloc(N * N * N * sizeof *single);
  MUST(single ? MG_OK : MG_ERR_MEMORY);
  for (int c = 0; c < N * N * N; c++)
    single[c] = (float)x[c];
  MUST(mg_h5_data_create(file, name, floats ? MG_H5_FLOAT : MG_H5_DOUBLE, 3, (int32_t[]){N, N, N},
                         0, &data));
  MUST(mg_h5_write_planes(file, &data, 0, n, floats ? (const void *)single : (const void *)x));
  MUST(mg_h5_data_close(file, &data));
  free(single);
}

/* Write fields with their checksums, as in a dump. */
static void write_checksums(mg_h5_t *file, const char *name, const double *x, bool floats) {
  const int n = mg_comm_is_root() ? N : 0;
  uint64_t sum[N];
  float plane[N * N];
  mg_h5_data_t data;
  for (int k = 0; k < N; k++) {
    for (int c = 0; c < N * N; c++)
      plane[c] = (float)x[k * N * N + c];
    sum[k] = floats ? mg_checksum_floats(plane, N * N, (uint64_t)(k * N * N))
                    : mg_checksum_doubles(x + k * N * N, N * N, (uint64_t)(k * N * N));
  }
  MUST(mg_h5_data_create(file, name, MG_H5_UINT64, 1, (int32_t[]){N}, 0, &data));
  MUST(mg_h5_write_planes(file, &data, 0, n, sum));
  MUST(mg_h5_data_close(file, &data));
}

static void write_file(const problem_t *p) {
  static const char *const faces[3] = {"beta_i", "beta_j", "beta_k"};
  static const char *const groups[] = {"/VTKHDF",          "/VTKHDF/CellData",
                                       "/HPGMG",           "/HPGMG/walls",
                                       "/HPGMG/checksums", "/HPGMG/checksums/level_0"};
  const int n = mg_comm_is_root() ? N : 0;
  mg_h5_t *file;
  MUST(mg_h5_create(path, "", &file));
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
    MUST(mg_h5_group(file, groups[g]));
  write_data(file, "/VTKHDF/CellData/alpha", p->alpha, p->floats);
  write_data(file, "/VTKHDF/CellData/f", p->f, p->floats);
  write_checksums(file, "/HPGMG/checksums/level_0/f", p->f, p->floats);
  if (!p->faces) write_data(file, "/VTKHDF/CellData/beta", p->beta[0], p->floats);
  for (int d = 0; d < 3 && p->faces; d++) {
    write_data(file, textf("/VTKHDF/CellData/%s", faces[d]), p->beta[d], p->floats);
    if (!p->walls) continue;
    mg_h5_data_t data;
    MUST(mg_h5_data_create(file, textf("/HPGMG/walls/%s", faces[d]), MG_H5_DOUBLE, 2,
                           (int32_t[]){N, N}, 0, &data));
    MUST(mg_h5_write_planes(file, &data, 0, n, p->wall[d]));
    MUST(mg_h5_data_close(file, &data));
  }
  MUST(mg_h5_close(file));
  MUST(mg_comm_barrier(mg_comm_world()));
}

static double at(const double *x, const int c[3]) {
  return x[c[0] + N * (c[1] + N * c[2])];
}

/* Expected beta of the face below cell c in direction d; c[d] may be N. */
static double wanted(const problem_t *p, const int c[3], int d, bool periodic) {
  int high[3] = {c[0], c[1], c[2]}, low[3] = {c[0], c[1], c[2]};
  const int t = d == 0 ? c[1] : c[0], u = d == 2 ? c[1] : c[2];
  low[d]--;
  if (periodic) {
    high[d] %= N;
    low[d] = (low[d] + N) % N;
  }
  const bool outside = !periodic && c[d] == N;
  if (p->faces && outside && p->walls) return p->wall[d][t + N * u];
  if (p->faces) return at(p->beta[d], outside ? low : high);
  if (outside) return at(p->beta[0], low);
  if (!periodic && c[d] == 0) return at(p->beta[0], c);
  return 2.0 / (1.0 / at(p->beta[0], low) + 1.0 / at(p->beta[0], high));
}

static void check_faces(const problem_t *p, const mg_level_t *level, int q, int d) {
  const mg_patch_t *patch = &level->store.view.patch[q];
  const int *n = patch->n;
  const double tolerance = p->faces ? 0.0 : 8.0 * DBL_EPSILON;
  double *x = patch_get(level, q, MG_BETA_I + d, 1), worst = 0.0;
  int end[3] = {n[0], n[1], n[2]};
  end[d]++;
  EACH_CELL(i, end) {
    const int c[3] = {patch->lo[0] + i[0], patch->lo[1] + i[1], patch->lo[2] + i[2]};
    const double want = wanted(p, c, d, level->store.view.periodic);
    const double got = x[i[0] + 1 + (n[0] + 2) * (i[1] + 1 + (n[1] + 2) * (i[2] + 1))];
    worst = fmax(worst, fabs(got - want) / want);
  }
  CHECK(worst <= tolerance);
}

/* Sums and least betas of faces, those on walls left out. */
static void check_planes(const problem_t *p, const mg_level_t *level, bool periodic) {
  enum { SUMS = 3 * 3 * N };
  const double scale = 1024.0;
  int64_t got[SUMS] = {0};
  double all[SUMS], want[SUMS] = {0.0}, least[4] = {1e300, 1e300, 1e-300, 1.0},
                    want_least[4] = {1e300, 1e300, 1e-300, 1.0};
  MUST(level->comm ? level->backend->domains->sum_planes(&level->store.view, scale, got, least)
                   : MG_OK);
  for (int s = 0; s < SUMS; s++)
    all[s] = (double)got[s];
  MUST(mg_comm_sum(mg_comm_world(), all, SUMS));
  MUST(mg_comm_min(mg_comm_world(), least, 4));
  const int end[3] = {N, N, N};
  EACH_CELL(c, end)
  for (int d = 0; d < 3; d++)
    for (int a = 0; a < 3 && (periodic || c[d] > 0); a++) {
      const double beta = wanted(p, c, d, periodic);
      want[3 * (N * a + c[a]) + d] += floor(scale * beta);
      want_least[d] = fmin(want_least[d], beta);
    }
  CHECK(memcmp(all, want, sizeof all) == 0);
  CHECK(memcmp(least, want_least, sizeof least) == 0);
}

static void check_cells(const mg_level_t *level, int vec, const double *want, double tolerance) {
  const double *x = field_get(level, vec);
  double worst = 0.0;
  for (int c = 0; c < N * N * N; c++)
    worst = fmax(worst, fabs(x[c] - want[c]));
  CHECK(worst <= tolerance);
}

static uint64_t betas_hash(const mg_level_t *level) {
  uint64_t hash = 0;
  for (int d = 0; d < 3; d++)
    hash = 3 * hash + field_hash(field_get(level, MG_BETA_I + d), N * N * N);
  return hash;
}

static void test_backend(const fixture_backend_t *backend, const problem_t *p, bool periodic,
                         int log2_box_dim, uint64_t *hash) {
  const char *options =
      textf("--operator=7pt --equation=helmholtz --boundary=%s --coefficients=%s --rhs=%s",
            periodic ? "periodic" : "dirichlet", path, path);
  mg_hierarchy_t *h = fixture_create(backend, log2_box_dim, N >> log2_box_dim, options);
  const mg_level_t *level = &h->level[0];
  CHECK(h->params.alpha_varies);
  for (int q = 0; q < level->store.view.n_patches; q++)
    for (int d = 0; d < 3; d++)
      check_faces(p, level, q, d);
  if (p->faces) check_planes(p, level, periodic);
  check_cells(level, MG_ALPHA, p->alpha, 0.0);
  check_cells(level, MG_F, p->f, 0.0);
  const uint64_t got = betas_hash(level);
  if (*hash == 0) *hash = got;
  CHECK(got == *hash);
  mg_hierarchy_free(h);
}

static void test_problem(bool faces, bool floats, bool walls) {
  const problem_t p = problem_new(faces, floats, walls);
  write_file(&p);
  for (int periodic = 0; periodic < 2; periodic++) {
    uint64_t hash = 0;
    for (const fixture_backend_t *backend = fixture_backends; backend->name; backend++)
      for (int log2_box_dim = 4; log2_box_dim <= 5; log2_box_dim++) {
        if ((1 << 3 * (5 - log2_box_dim)) < mg_comm_size(mg_comm_world())) continue;
        const int before = test_n_failures;
        test_backend(backend, &p, periodic, log2_box_dim, &hash);
        if (test_n_failures > before)
          fprintf(stderr, "%s, boxes of 2^%d, %s, betas of %s%s%s\n", backend->name, log2_box_dim,
                  periodic ? "periodic" : "dirichlet", faces ? "faces" : "cells",
                  floats ? ", floats" : "", walls ? ", walls" : "");
      }
  }
  fixture_release();
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  if (!mg_h5_available()) return FIXTURE_SKIP("build without HDF5");
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%.200s/op_input.%ld.hdf", folder ? folder : "/tmp", (long)getpid());
  MUST(mg_comm_broadcast(mg_comm_world(), path, sizeof path));
  test_problem(false, false, false);
  test_problem(false, true, false);
  test_problem(true, false, false);
  test_problem(true, true, true);
  test_problem(true, false, true);
  if (mg_comm_is_root()) (void)remove(path);
  return FIXTURE_END();
}
