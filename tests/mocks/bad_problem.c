/* The program with a selectable fault: main.c calls this instead of mg_problem_set_from.
 * HPGMG_FAULT selects the corruption of one level:
 *
 *   f LEVEL              a NaN in the right-hand side, on the last rank that holds cells
 *   beta LEVEL           a NaN in a coefficient, on the same rank
 *   smooth LEVEL FACTOR  Chebyshev's largest eigenvalue is too small by this factor */
#include "base/log.h"
#include "level/smooth.h"
#include "solver/problem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef mg_problem_set_from
MG_MUST_CHECK mg_status_t mg_problem_set_from(mg_hierarchy_t *h, const mg_problem_source_t *source);

static mg_status_t shrink_eigenvalue(mg_hierarchy_t *h, mg_level_t *level, double factor) {
  return mg_smoother_set(level, &h->params, level->lambda_max / factor, true);
}

static void put_nan(mg_level_t *level, mg_vector_t vec) {
  const mg_view_t *v = &level->store.view;
  if (!level->comm || mg_comm_rank(level->comm) != mg_comm_size(level->comm) - 1) return;
  const mg_patch_t *p = &v->patch[v->n_patches - 1];
  p->vec[vec][p->n[0] / 2 + p->n[1] / 2 * p->jstride + p->n[2] / 2 * p->kstride] = NAN;
}

mg_status_t bad_problem_set_from(mg_hierarchy_t *h, const mg_problem_source_t *source) {
  char kind[16] = "";
  int l = -1;
  double factor = 1.0;
  const char *fault = getenv("HPGMG_FAULT");
  MG_TRY(mg_problem_set_from(h, source));
  if (!fault || sscanf(fault, "%15s %d %lf", kind, &l, &factor) < 2 || l < 0 || l >= h->n_levels)
    return mg_error(MG_ERR_INTERNAL, "HPGMG_FAULT is '%s'", fault ? fault : "");
  if (strcmp(kind, "smooth") == 0) return shrink_eigenvalue(h, &h->level[l], factor);
  put_nan(&h->level[l], strcmp(kind, "f") == 0 ? MG_F : MG_BETA_I);
  return MG_OK;
}
