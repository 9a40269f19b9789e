/* Solve on a CUDA stream, as a part of a CUDA graph: each launch of the graph moves a source along
 * a circle, solves -div(grad u) = f with two cycles, and adds u to its sum over time. The host only
 * launches the graph.
 *
 *     nvcc -o graph examples/graph.cu $(pkg-config --cflags --libs hpgmg) && ./graph
 *
 * An argument has other options of hpgmg-fv, such as "--stretch=z:tanh:1.5". */
#include <hpgmg.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, CELLS = N * N * N, STEPS = 100 };

static void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

static void check(hpgmg_status_t status, const hpgmg_solver_t *solver) {
  if (status == HPGMG_OK) return;
  fprintf(stderr, "%s: %s\n", hpgmg_status_text(status), hpgmg_error(solver));
  exit(1);
}

/* A ball of heat at angle 2 pi step / STEPS. */
__global__ void move_source(double *f, const int *step) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const double x = (c % N + 0.5) / N, y = (c / N % N + 0.5) / N, z = (c / N / N + 0.5) / N;
  const double angle = 6.283185307179586 * *step / STEPS;
  const double dx = x - 0.5 - 0.25 * cos(angle), dy = y - 0.5 - 0.25 * sin(angle), dz = z - 0.5;
  if (c < CELLS) f[c] = exp(-200.0 * (dx * dx + dy * dy + dz * dz));
}

__global__ void add(double *sum, const double *u, int *step) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < CELLS) sum[c] += u[c];
  if (c == 0) ++*step;
}

int main(int argc, char **argv) {
  double *f, *u, *sum, middle[2];
  int *step;
  cudaStream_t stream;
  check(cudaMalloc(&f, CELLS * sizeof *f), "f");
  check(cudaMalloc(&u, CELLS * sizeof *u), "u");
  check(cudaMalloc(&sum, CELLS * sizeof *sum), "sum");
  check(cudaMalloc(&step, sizeof *step), "step");
  check(cudaStreamCreate(&stream), "stream");

  hpgmg_options_t options = hpgmg_options();
  hpgmg_solver_t *solver = NULL;
  char words[256];
  snprintf(words, sizeof words, "--cells=64x64x64 --device=cuda --cpu-below=0 %s",
           argc > 1 ? argv[1] : "");
  options.words = words;
  options.cycles = 2;
  options.stream = stream;
  check(hpgmg_create(&options, &solver), solver);
  double one = 1.0;
  const hpgmg_array_t ones = {&one, {0, 0, 0}}, in = {f, {1, N, N * N}}, out = {u, {1, N, N * N}};
  const hpgmg_coefficients_t beta = {{&ones, &ones, &ones}, NULL, NULL, NULL};
  check(hpgmg_set_coefficients(solver, &beta), solver);

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
  move_source<<<CELLS / 256, 256, 0, stream>>>(f, step);
  check(hpgmg_solve(solver, &in, &out, NULL), solver);
  add<<<CELLS / 256, 256, 0, stream>>>(sum, u, step);
  check(cudaStreamEndCapture(stream, &graph), "capture");
  check(cudaGraphInstantiate(&executable, graph, 0), "graph");

  /* The same steps, from the graph and one by one. */
  for (int way = 0; way < 2; way++) {
    check(cudaMemsetAsync(sum, 0, CELLS * sizeof *sum, stream), "sum");
    check(cudaMemsetAsync(step, 0, sizeof *step, stream), "step");
    for (int n = 0; n < STEPS; n++) {
      if (way == 0) {
        check(cudaGraphLaunch(executable, stream), "launch");
        continue;
      }
      move_source<<<CELLS / 256, 256, 0, stream>>>(f, step);
      check(hpgmg_solve(solver, &in, &out, NULL), solver);
      add<<<CELLS / 256, 256, 0, stream>>>(sum, u, step);
    }
    check(cudaMemcpyAsync(&middle[way], sum + CELLS / 2 + N * N / 2 + N / 2, sizeof *middle,
                          cudaMemcpyDeviceToHost, stream),
          "u");
    check(cudaStreamSynchronize(stream), "steps");
  }
  printf("sum of u in the middle: %.10e from the graph, %.10e step by step\n", middle[0],
         middle[1]);
  hpgmg_destroy(&solver);
  return middle[0] != middle[1];
}
