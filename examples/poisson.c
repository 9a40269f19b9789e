/* Solve -div(grad u) = 1 in the unit cube, with u = 0 on its sides, on 64^3 cells:
 *
 *     mpicc -o poisson examples/poisson.c $(pkg-config --cflags --libs hpgmg) && ./poisson */
#include <hpgmg.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

int main(void) {
  hpgmg_options_t options = hpgmg_options();
  hpgmg_solver_t *solver;
  hpgmg_info_t info;
  double one = 1.0, *cells = malloc(sizeof(double) * N * N * N);
  const hpgmg_array_t f = {.data = &one}, u = {cells, {1, N, N * N}, {N, N, N}};
  options.words = "--cells=64x64x64 --rtol=1e-10";
  hpgmg_status_t status = cells ? hpgmg_create(&options, &solver) : HPGMG_NO_MEMORY;
  if (status == HPGMG_OK) status = hpgmg_solve(solver, &f, &u, &info);
  if (status == HPGMG_OK)
    printf("u next to the middle: %.10f after %d cycles, residual %.1e\n",
           cells[N / 2 + N * (N / 2 + N * (N / 2))], info.cycles, info.residual);
  else
    fprintf(stderr, "%s: %s\n", hpgmg_status_text(status), cells ? hpgmg_error(solver) : "u");
  if (cells) hpgmg_destroy(&solver);
  free(cells);
  return status != HPGMG_OK;
}
