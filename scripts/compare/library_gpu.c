/* library_gpu N [WORDS]: milliseconds of calls of libhpgmg on a grid of N^3 cells with arrays in
 * GPU memory: hpgmg_solve with arrays of its own, hpgmg_solve in the solver's memory
 * (hpgmg_storage), and hpgmg_set_coefficients. Medians and minima of 60 rounds. f and beta are
 * smooth, with Dirichlet sides; hpgmg-fv --cells=NxNxN WORDS has a similar problem and as many
 * cycles.
 *
 *     cc -O2 -o library_gpu scripts/compare/library_gpu.c $(pkg-config --cflags --libs hpgmg) \
 *       -I/usr/local/cuda/include -L/usr/local/cuda/lib64 -lcudart -lm
 *     ./library_gpu 256 --rtol=1e-10 */
#include <cuda_runtime_api.h>
#include <hpgmg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 60 };

static int n;

static void check_cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "library_gpu: CUDA: %s\n", cudaGetErrorString(error));
  exit(1);
}

static void check(hpgmg_status_t status, const hpgmg_solver_t *solver) {
  if (status == HPGMG_OK) return;
  fprintf(stderr, "library_gpu: %s: %s\n", hpgmg_status_text(status), hpgmg_error(solver));
  exit(1);
}

static double wave(double i) {
  return sin(6.283185307179586 * i / n);
}

static double beta(double i, double j, double k) {
  return 1.0 + 0.25 * wave(i) * wave(j) * wave(k);
}

static double rhs(double i, double j, double k) {
  const double product = wave(i) * wave(j) * wave(k);
  return pow(product, 5.0) * (wave(k) * wave(k) + wave(j) * wave(j));
}

/* Values at the centers of cells, or of faces normal to d, in GPU memory. */
static hpgmg_array_t make(double (*value)(double, double, double), int d) {
  const int ni = n + (d == 0), nj = n + (d == 1), nk = n + (d == 2);
  const size_t values = (size_t)ni * (size_t)nj * (size_t)nk;
  double *host = malloc(values * sizeof *host);
  hpgmg_array_t a = {NULL, {1, ni, (ptrdiff_t)ni * nj}, {ni, nj, nk}};
  if (!host) exit(1);
  size_t at = 0;
  for (int k = 0; k < nk; k++)
    for (int j = 0; j < nj; j++)
      for (int i = 0; i < ni; i++)
        host[at++] = value(d == 0 ? i : i + 0.5, d == 1 ? j : j + 0.5, d == 2 ? k : k + 0.5);
  check_cuda(cudaMalloc((void **)&a.data, values * sizeof *host));
  check_cuda(cudaMemcpy(a.data, host, values * sizeof *host, cudaMemcpyHostToDevice));
  free(host);
  return a;
}

/* Copy cells between arrays in GPU memory whose rows have no gaps and may be padded. */
static void copy(const hpgmg_array_t *from, const hpgmg_array_t *to) {
  const size_t row = (size_t)n * sizeof(double);
  for (int k = 0; k < n; k++)
    check_cuda(cudaMemcpy2D(to->data + k * to->stride[2], (size_t)to->stride[1] * sizeof(double),
                            from->data + k * from->stride[2],
                            (size_t)from->stride[1] * sizeof(double), row, (size_t)n,
                            cudaMemcpyDeviceToDevice));
  check_cuda(cudaDeviceSynchronize());
}

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print(const char *what, double ms[ROUNDS]) {
  qsort(ms, ROUNDS, sizeof *ms, by_value);
  printf("%-26s %8.3f ms, minimum %8.3f\n", what, ms[ROUNDS / 2], ms[0]);
}

int main(int argc, char **argv) {
  static double own[ROUNDS], storage[ROUNDS], coefficients[ROUNDS];
  hpgmg_options_t options = hpgmg_options();
  hpgmg_solver_t *solver = NULL;
  hpgmg_info_t info;
  hpgmg_array_t faces[3], f_inside, u_inside;
  char words[256];
  n = argc > 1 ? atoi(argv[1]) : 0;
  if (n < 8 || n > 1024) {
    fprintf(stderr, "library_gpu: N is '%s'; it must be from 8 to 1024\n",
            argc > 1 ? argv[1] : "missing");
    return 2;
  }
  snprintf(words, sizeof words, "--device=cuda %s", argc > 2 ? argv[2] : "");
  options.words = words;
  for (int d = 0; d < 3; d++)
    options.cells[d] = n;
  check(hpgmg_create(&options, &solver), solver);
  const hpgmg_array_t f = make(rhs, -1), u = make(rhs, -1);
  for (int d = 0; d < 3; d++)
    faces[d] = make(beta, d);
  const hpgmg_coefficients_t given = {{&faces[0], &faces[1], &faces[2]}, NULL, NULL, NULL};
  check(hpgmg_set_coefficients(solver, &given), solver);
  hpgmg_storage(solver, &f_inside, &u_inside);
  check(hpgmg_solve(solver, &f, &u, &info), solver);
  for (int r = 0; r < ROUNDS; r++) {
    double start = now_ms();
    check(hpgmg_solve(solver, &f, &u, &info), solver);
    own[r] = now_ms() - start;
    copy(&f, &f_inside);
    start = now_ms();
    check(hpgmg_solve(solver, &f_inside, &u_inside, &info), solver);
    storage[r] = now_ms() - start;
    start = now_ms();
    check(hpgmg_set_coefficients(solver, &given), solver);
    coefficients[r] = now_ms() - start;
  }
  printf("%d^3 cells, %d cycles\n", n, info.cycles);
  print("solve, arrays of its own", own);
  print("solve, solver's memory", storage);
  print("new coefficients", coefficients);
  hpgmg_destroy(&solver);
  return 0;
}
