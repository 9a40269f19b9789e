/* PETSc: conjugate gradients preconditioned by geometric multigrid (DMDA, PCMG). Smoothers: two
 * Chebyshev steps with the diagonal, as usual in parallel, or one symmetric Gauss-Seidel sweep,
 * which couples no ranks. */
#include "solver.h"
#include <petscdmda.h>
#include <petscksp.h>

enum { CHEBYSHEV, SOR };
const char *const solver_methods[] = {"cg-mg-chebyshev", "cg-mg-sor", NULL};

static struct {
  bool fv2;
  DM grid;
  KSP ksp;
  Vec f, u;
} s;

static void check(PetscErrorCode code, const char *call) {
  const char *text = NULL;
  if (!code) return;
  if (PetscErrorMessage(code, &text, NULL) || !text) text = "unknown error";
  fail("%s: %s", call, text);
}
#define CHECK(call) check(call, #call)

/* PETSc reads its options from the environment variable PETSC_OPTIONS, too. */
void solver_start(int *argc, char ***argv) {
  CHECK(PetscInitialize(argc, argv, NULL, NULL));
  /* One line of `fail` instead of a traceback. */
  CHECK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
}

void solver_end(void) {
  CHECK(PetscFinalize());
}

/* Assemble the matrix of a level. Coarse levels evaluate beta on their own faces. */
static PetscErrorCode assemble(KSP ksp, Mat ignored, Mat a, void *context) {
  DM grid;
  PetscInt n, k_low, n_k;
  problem_t p;
  (void)ignored;
  (void)context;
  PetscFunctionBeginUser;
  PetscCall(KSPGetDM(ksp, &grid));
  PetscCall(DMDAGetInfo(grid, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                        NULL));
  PetscCall(DMDAGetCorners(grid, NULL, NULL, &k_low, NULL, NULL, &n_k));
  problem_init(&p, n, s.fv2, k_low, k_low + n_k, false);
  for (int k = k_low; k < k_low + n_k; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++) {
        const MatStencil row = {.k = k, .j = j, .i = i};
        const MatStencil all[N_ENTRIES] = {row,
                                           {.k = k, .j = j, .i = i - 1},
                                           {.k = k, .j = j, .i = i + 1},
                                           {.k = k, .j = j - 1, .i = i},
                                           {.k = k, .j = j + 1, .i = i},
                                           {.k = k - 1, .j = j, .i = i},
                                           {.k = k + 1, .j = j, .i = i}};
        MatStencil column[N_ENTRIES];
        double entry[N_ENTRIES];
        int n_columns = 0;
        problem_row(&p, i, j, k, entry);
        for (int e = 0; e < N_ENTRIES; e++) {
          if (entry[e] == 0.0) continue;
          column[n_columns] = all[e];
          entry[n_columns++] = entry[e];
        }
        PetscCall(MatSetValuesStencil(a, 1, &row, n_columns, column, entry, INSERT_VALUES));
      }
  problem_free(&p);
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static void create_grid(int n) {
  int ranks;
  if (MPI_Comm_size(PETSC_COMM_WORLD, &ranks) != MPI_SUCCESS) fail("MPI_Comm_size failed");
  CHECK(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                     DMDA_STENCIL_STAR, n, n, n, 1, 1, ranks, 1, 1, NULL, NULL, NULL, &s.grid));
  CHECK(DMSetUp(s.grid));
  /* Cell-centered: a coarse cell is the union of 8 fine cells. */
  CHECK(DMDASetInterpolationType(s.grid, DMDA_Q0));
}

/** Copy a slab to or from the local part of a vector, which has the same order. */
static void copy_slab(Vec v, const double *from, double *to) {
  PetscInt n;
  double *x;
  CHECK(VecGetLocalSize(v, &n));
  CHECK(VecGetArray(v, &x));
  for (PetscInt c = 0; c < n; c++) {
    if (from)
      x[c] = from[c];
    else
      to[c] = x[c];
  }
  CHECK(VecRestoreArray(v, &x));
}

static void choose_smoothers(PC multigrid, int n_levels, int method) {
  for (int level = 1; level < n_levels; level++) {
    KSP smoother;
    PC pc;
    CHECK(PCMGGetSmoother(multigrid, level, &smoother));
    CHECK(KSPGetPC(smoother, &pc));
    CHECK(KSPSetType(smoother, method == CHEBYSHEV ? KSPCHEBYSHEV : KSPRICHARDSON));
    CHECK(PCSetType(pc, method == CHEBYSHEV ? PCJACOBI : PCSOR));
    CHECK(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT,
                           method == CHEBYSHEV ? 2 : 1));
  }
}

void solver_setup(const problem_t *p, int method, double rtol) {
  int n_levels = 1;
  PetscInt k_low;
  PC pc;
  (void)rtol;
  s.fv2 = p->fv2;
  create_grid(p->n);
  CHECK(DMDAGetCorners(s.grid, NULL, NULL, &k_low, NULL, NULL, NULL));
  if (k_low != p->k_low) fail("PETSc divides %d planes differently; use a power of two", p->n);
  for (int n = p->n; n % 2 == 0 && n > 4; n /= 2)
    n_levels++;
  CHECK(DMCreateGlobalVector(s.grid, &s.f));
  CHECK(VecDuplicate(s.f, &s.u));
  copy_slab(s.f, p->rhs, NULL);
  CHECK(KSPCreate(PETSC_COMM_WORLD, &s.ksp));
  CHECK(KSPSetDM(s.ksp, s.grid));
  CHECK(KSPSetComputeOperators(s.ksp, assemble, NULL));
  CHECK(KSPSetType(s.ksp, KSPCG));
  CHECK(KSPSetNormType(s.ksp, KSP_NORM_NONE));
  CHECK(KSPSetConvergenceTest(s.ksp, KSPConvergedSkip, NULL, NULL));
  CHECK(KSPGetPC(s.ksp, &pc));
  CHECK(PCSetType(pc, PCMG));
  CHECK(PCMGSetLevels(pc, n_levels, NULL));
  choose_smoothers(pc, n_levels, method);
  CHECK(KSPSetFromOptions(s.ksp));
  CHECK(KSPSetUp(s.ksp));
}

int solver_solve(int iterations) {
  CHECK(KSPSetTolerances(s.ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, iterations));
  CHECK(KSPSolve(s.ksp, s.f, s.u));
  return iterations;
}

void solver_solution(double *u) {
  copy_slab(s.u, NULL, u);
}

void solver_free(void) {
  CHECK(KSPDestroy(&s.ksp));
  CHECK(VecDestroy(&s.u));
  CHECK(VecDestroy(&s.f));
  CHECK(DMDestroy(&s.grid));
}
