/* hypre: conjugate gradients preconditioned by PFMG, and PFMG alone, on a structured grid. */
#include "solver.h"
#include <HYPRE_struct_ls.h>
#include <HYPRE_utilities.h>
#include <mpi.h>
#include <stdlib.h>

enum { PCG_PFMG, PFMG };
const char *const solver_methods[] = {"pcg-pfmg", "pfmg", NULL};

static struct {
  int method;
  HYPRE_Int low[3], high[3]; /* the slab, both ends included */
  HYPRE_StructGrid grid;
  HYPRE_StructStencil stencil;
  HYPRE_StructMatrix a;
  HYPRE_StructVector f, u;
  HYPRE_StructSolver pcg, pfmg;
} s;

static void check(HYPRE_Int code, const char *call) {
  char text[256];
  if (!code) return;
  HYPRE_DescribeError(code, text);
  fail("%s: %s", call, text);
}
#define CHECK(call) check(call, #call)

void solver_start(int *argc, char ***argv) {
  if (MPI_Init(argc, argv) != MPI_SUCCESS) fail("MPI_Init failed");
  CHECK(HYPRE_Init());
}

void solver_end(void) {
  CHECK(HYPRE_Finalize());
  if (MPI_Finalize() != MPI_SUCCESS) fail("MPI_Finalize failed");
}

/** A matrix of a symmetric operator stores only the entries toward higher indices. */
static void assemble(const problem_t *p) {
  static const HYPRE_Int all[N_ENTRIES][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0},
                                              {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
  static const int half[] = {CENTER, HIGH_I, HIGH_J, HIGH_K};
  const bool symmetric = !p->fv2;
  const int n_entries = symmetric ? 4 : N_ENTRIES;
  HYPRE_Int entries[N_ENTRIES];
  CHECK(HYPRE_StructStencilCreate(3, n_entries, &s.stencil));
  for (int e = 0; e < n_entries; e++) {
    HYPRE_Int offset[3];
    entries[e] = e;
    for (int d = 0; d < 3; d++)
      offset[d] = all[symmetric ? half[e] : e][d];
    CHECK(HYPRE_StructStencilSetElement(s.stencil, e, offset));
  }
  CHECK(HYPRE_StructMatrixCreate(MPI_COMM_WORLD, s.grid, s.stencil, &s.a));
  CHECK(HYPRE_StructMatrixSetSymmetric(s.a, symmetric));
  CHECK(HYPRE_StructMatrixInitialize(s.a));
  /* One plane at a time. */
  const size_t plane = (size_t)p->n * (size_t)p->n;
  double *values = malloc(plane * (size_t)n_entries * sizeof *values);
  if (!values) fail("out of memory");
  for (int k = p->k_low; k < p->k_high; k++) {
    HYPRE_Int low[3] = {0, 0, k}, high[3] = {p->n - 1, p->n - 1, k};
    double *v = values;
    for (int j = 0; j < p->n; j++)
      for (int i = 0; i < p->n; i++) {
        double row[N_ENTRIES];
        problem_row(p, i, j, k, row);
        for (int e = 0; e < n_entries; e++)
          *v++ = row[symmetric ? half[e] : e];
      }
    CHECK(HYPRE_StructMatrixSetBoxValues(s.a, low, high, n_entries, entries, values));
  }
  free(values);
  CHECK(HYPRE_StructMatrixAssemble(s.a));
}

static void set_up_pfmg(bool preconditioner) {
  CHECK(HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &s.pfmg));
  CHECK(HYPRE_StructPFMGSetTol(s.pfmg, 0.0)); /* no norms */
  /* Red-black Gauss-Seidel; symmetric as a preconditioner, which alone takes more cycles. */
  CHECK(HYPRE_StructPFMGSetRelaxType(s.pfmg, preconditioner ? 2 : 3));
  CHECK(HYPRE_StructPFMGSetRAPType(s.pfmg, 1)); /* 7-point coarse operators */
  CHECK(HYPRE_StructPFMGSetZeroGuess(s.pfmg));
  if (preconditioner)
    CHECK(HYPRE_StructPFMGSetMaxIter(s.pfmg, 1));
  else
    CHECK(HYPRE_StructPFMGSetup(s.pfmg, s.a, s.f, s.u));
}

void solver_setup(const problem_t *p, int method, double rtol) {
  (void)rtol;
  s.method = method;
  s.low[2] = p->k_low;
  s.high[0] = s.high[1] = p->n - 1;
  s.high[2] = p->k_high - 1;
  CHECK(HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &s.grid));
  CHECK(HYPRE_StructGridSetExtents(s.grid, s.low, s.high));
  CHECK(HYPRE_StructGridAssemble(s.grid));
  assemble(p);
  HYPRE_StructVector *const vectors[] = {&s.f, &s.u};
  for (int v = 0; v < 2; v++) {
    CHECK(HYPRE_StructVectorCreate(MPI_COMM_WORLD, s.grid, vectors[v]));
    CHECK(HYPRE_StructVectorInitialize(*vectors[v]));
  }
  CHECK(HYPRE_StructVectorSetBoxValues(s.f, s.low, s.high, p->rhs));
  CHECK(HYPRE_StructVectorAssemble(s.f));
  CHECK(HYPRE_StructVectorAssemble(s.u));
  set_up_pfmg(method == PCG_PFMG);
  if (method != PCG_PFMG) return;
  CHECK(HYPRE_StructPCGCreate(MPI_COMM_WORLD, &s.pcg));
  CHECK(HYPRE_StructPCGSetTol(s.pcg, 0.0));
  CHECK(HYPRE_StructPCGSetTwoNorm(s.pcg, 1));
  CHECK(HYPRE_StructPCGSetPrecond(s.pcg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, s.pfmg));
  CHECK(HYPRE_StructPCGSetup(s.pcg, s.a, s.f, s.u));
}

int solver_solve(int iterations) {
  HYPRE_Int code;
  CHECK(HYPRE_StructVectorSetConstantValues(s.u, 0.0));
  if (s.method == PCG_PFMG) {
    CHECK(HYPRE_StructPCGSetMaxIter(s.pcg, iterations));
    code = HYPRE_StructPCGSolve(s.pcg, s.a, s.f, s.u);
  } else {
    CHECK(HYPRE_StructPFMGSetMaxIter(s.pfmg, iterations));
    code = HYPRE_StructPFMGSolve(s.pfmg, s.a, s.f, s.u);
  }
  /* Without a tolerance, hypre reports that the method has not converged. */
  if (HYPRE_CheckError(code, HYPRE_ERROR_CONV)) {
    CHECK(HYPRE_ClearAllErrors());
    code = 0;
  }
  check(code, "solve");
  return iterations;
}

void solver_solution(double *u) {
  CHECK(HYPRE_StructVectorGetBoxValues(s.u, s.low, s.high, u));
}

void solver_free(void) {
  if (s.pcg) CHECK(HYPRE_StructPCGDestroy(s.pcg));
  CHECK(HYPRE_StructPFMGDestroy(s.pfmg));
  CHECK(HYPRE_StructVectorDestroy(s.u));
  CHECK(HYPRE_StructVectorDestroy(s.f));
  CHECK(HYPRE_StructMatrixDestroy(s.a));
  CHECK(HYPRE_StructStencilDestroy(s.stencil));
  CHECK(HYPRE_StructGridDestroy(s.grid));
}
