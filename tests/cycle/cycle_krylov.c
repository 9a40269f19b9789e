/* cycle_krylov: CG preconditioned by the V-cycle reaches a tolerance for every operator, boundary,
 * equation and kind of smoother, on any starting level. The last norm is that of the true residual,
 * and f is unchanged afterwards.
 *
 * With a symmetric preconditioner, the theory holds. Directions are conjugate to all earlier
 * ones. The error falls in the A-norm and never exceeds that of the same number of V-cycles. An
 * unreachable tolerance is reported as not reached. A step without a usable direction falls back
 * to the V-cycle's step. For a coefficient that jumps by 1e4, CG converges in tens of cycles;
 * V-cycles alone do not converge in hundreds. BiCGStab takes the steps of its textbook. */
#include "level/ops.h"
#include "solver/outer.h"
#include "solver/problem.h"
#include "solver/solve.h"
#include "tests/lib/fixture.h"
#include "wings.h"
#include <float.h>

/* Residual left by rounding of u, which a row of A weighs by at most 24 beta b/h^2 (see
 * op_algebra). */
static double floor_of(mg_level_t *level, double beta) {
  double u;
  MUST(mg_max_norm(level, MG_U, -1, &u));
  MUST(mg_comm_max(mg_comm_world(), &u, 1)); /* includes ranks without cells */
  return DBL_EPSILON * (24.0 * beta * level->store.view.b_h2 + level->store.view.a) * u;
}

static void solve_from(mg_hierarchy_t *h, int top) {
  static mg_history_t history;
  const int64_t cells = mg_volume(h->level[top].store.view.n);
  double f_norm, norm;
  MUST(mg_problem_restrict_rhs(h, top, &f_norm));
  const double *f = field_get(&h->level[top], MG_F);
  MUST(mg_solve(h, top, f_norm, &history));
  const double *after = field_get(&h->level[top], MG_F);
  CHECK_CASE(memcmp(f, after, (size_t)cells * sizeof *f) == 0, 0.0, 0.0);
  const double last = history.norm[history.n_cycles - 1], rel = history.rel[history.n_cycles - 1];
  MUST(mg_residual_norm(&h->level[top], MG_U, MG_F, &norm));
  MUST(mg_comm_max(mg_comm_world(), &norm, 1));
  CHECK_CASE(history.converged && rel < h->params.rtol, rel, h->params.rtol);
  CHECK_CASE(norm == last, norm, last);
  CHECK(history.diverged_level < 0 && history.n_before == 0);
}

static void test_sizes(mg_hierarchy_t *h) {
  for (int top = 0; top < h->n_levels && top <= 2; top++)
    solve_from(h, top);
}

/* One row per observed cycle. */
enum { MOST_SEEN = 7 };
typedef struct {
  mg_hierarchy_t *h;
  int n_seen;
  const double *f, *solution;
  double energy[MOST_SEEN]; /* of the error, squared */
  double norm[MOST_SEEN];
  double *p[MOST_SEEN], *ap[MOST_SEEN];
} seen_t;

/* e.Ae for the error e = solution - u, where A e is the residual. */
static double energy_of(const seen_t *seen) {
  mg_level_t *level = &seen->h->level[0];
  const int n = level->store.view.n[0];
  const int64_t cells = mg_volume(level->store.view.n);
  double *e = field_get(level, MG_U);
  for (int c = 0; c < n * n * n; c++)
    e[c] = seen->solution[c] - e[c];
  MUST(mg_residual(level, MG_TMP, MG_U, MG_F));
  return field_dot(e, field_get(level, MG_TMP), cells);
}

/* During a solve MG_U and MG_F are u and f. The updated residual differs from the true one by
 * the rounding of each step. */
static mg_status_t look(void *data, const mg_history_t *history) {
  seen_t *seen = data;
  mg_level_t *level = &seen->h->level[0];
  const int s = seen->n_seen++;
  const double last = history->norm[history->n_cycles - 1];
  double norm;
  if (s >= MOST_SEEN) return MG_ERR_INTERNAL;
  CHECK_CASE(field_distance(field_get(level, MG_F), seen->f, mg_volume(level->store.view.n)) == 0.0,
             0.0, 0.0);
  seen->energy[s] = energy_of(seen);
  MUST(mg_residual_norm(level, MG_U, MG_F, &norm));
  MUST(mg_comm_max(mg_comm_world(), &norm, 1));
  CHECK_CASE(fabs(norm - last) <= (s + 1) * floor_of(level, 10.0), norm, last);
  seen->norm[s] = norm;
  if (seen->h->params.krylov == MG_KRYLOV_NONE || s == 0) return MG_OK;
  seen->p[s] = field_get(level, MG_DIRECTION);
  seen->ap[s] = field_get(level, MG_A_DIRECTION);
  return MG_OK;
}

static void watch(mg_hierarchy_t *h, mg_krylov_method_t method, int n_cycles, double f_norm,
                  seen_t *seen) {
  static mg_history_t history;
  const mg_watch_t watch = {look, NULL, seen};
  const int most = h->params.max_cycles;
  h->params.krylov = method;
  h->params.max_cycles = n_cycles;
  MUST(mg_solve_watched(h, 0, f_norm, &watch, &history));
  CHECK_INT(seen->n_seen, n_cycles);
  h->params.krylov = MG_KRYLOV_CG;
  h->params.max_cycles = most;
}

/* If A and the preconditioner are symmetric, p_k.A p_j = 0 for j < k - 1 without explicit
 * orthogonalization. What remains is rounding of A p: eps times the condition number of A. The
 * largest eigenvalue is below twice the largest diagonal, 8 beta b/h^2 at a wall's edge and more
 * in its corner. The smallest is at least 3 pi^2. Conjugacy is lost as the residual falls (Paige
 * 1980), because the rounding of r_0 does not fall with it. With gsrb, which is not symmetric,
 * 3e-3 to 0.1 remain; with these smoothers, 1e-12. */
static void check_conjugate(const seen_t *seen) {
  const mg_view_t *v = &seen->h->level[0].store.view;
  const int64_t cells = mg_volume(v->n);
  const double condition = 2.0 * 10.0 * 9.0 * v->b_h2 / (3.0 * 9.87);
  for (int k = 3; k < seen->n_seen; k++)
    for (int j = 1; j < k - 1; j++) {
      const double scale = sqrt(field_dot(seen->p[k], seen->ap[k], cells)) *
                           sqrt(field_dot(seen->p[j], seen->ap[j], cells));
      const double cosine = field_dot(seen->p[k], seen->ap[j], cells) / scale;
      const double bound = DBL_EPSILON * condition * seen->norm[0] / seen->norm[k - 1];
      CHECK(bound < 1e-4);
      CHECK_CASE(fabs(cosine) <= bound, cosine, bound);
    }
}

static void test_theory(mg_hierarchy_t *h) {
  static mg_history_t history;
  const int cycles = 6;
  const double rtol = h->params.rtol;
  double f_norm;
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  const double *f = field_get(&h->level[0], MG_F);
  /* At most as many cycles as with V-cycles alone. */
  h->params.krylov = MG_KRYLOV_NONE;
  MUST(mg_solve(h, 0, f_norm, &history));
  const int n_plain = history.n_cycles;
  h->params.krylov = MG_KRYLOV_CG;
  MUST(mg_solve(h, 0, f_norm, &history));
  CHECK_CASE(history.n_cycles <= n_plain, history.n_cycles, n_plain);
  h->params.rtol = 1e-13;
  h->params.max_cycles = 40;
  MUST(mg_solve(h, 0, f_norm, &history));
  seen_t cg = {.h = h, .f = f, .solution = field_get(&h->level[0], MG_U)}, plain = cg;
  watch(h, MG_KRYLOV_CG, cycles, f_norm, &cg);
  watch(h, MG_KRYLOV_NONE, cycles, f_norm, &plain);
  CHECK_CASE(cg.norm[0] == plain.norm[0], cg.norm[0], plain.norm[0]);
  for (int c = 1; c < cycles; c++) {
    /* The solution has a residual r of at most 1e-13 max|f|, so its energy r.A^-1 r is below
     * 1e-28 n^3 / (3 pi^2) = 1e-25. It adds the root of its share: 1e-7 where the two energies
     * are close (at 1e-9 and above), and little where they are far apart. */
    CHECK_CASE(cg.energy[c] < cg.energy[c - 1], cg.energy[c], cg.energy[c - 1]);
    CHECK_CASE(cg.energy[c] <= plain.energy[c] * (1.0 + 1e-6), cg.energy[c], plain.energy[c]);
  }
  check_conjugate(&cg);
  h->params.rtol = rtol;
}

/* The updated residual falls indefinitely, but the true one does not. The solve reports this,
 * and continues after a restart. */
static void test_out_of_reach(mg_hierarchy_t *h) {
  static mg_history_t history;
  double f_norm, norm;
  h->params.rtol = 1e-30;
  h->params.max_cycles = 50;
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  MUST(mg_solve(h, 0, f_norm, &history));
  CHECK_INT(history.n_cycles, 50);
  CHECK(!history.converged && history.diverged_level < 0);
  MUST(mg_residual_norm(&h->level[0], MG_U, MG_F, &norm));
  MUST(mg_comm_max(mg_comm_world(), &norm, 1));
  CHECK_CASE(norm == history.norm[49], norm, history.norm[49]);
  CHECK_CASE(norm <= 10.0 * floor_of(&h->level[0], 10.0), norm, 0.0);
  /* Continue from there with nothing to gain: still does not end before the cycle limit. */
  h->params.max_cycles = 60;
  MUST(mg_solve_continue(h, 0, f_norm, NULL, &history));
  CHECK_INT(history.n_cycles, 60);
  CHECK_INT(history.n_before, 50);
  /* Run two cycles, then continue to a tolerance. */
  h->params.max_cycles = 2;
  MUST(mg_solve(h, 0, f_norm, &history));
  h->params.rtol = 1e-9;
  h->params.max_cycles = 20;
  MUST(mg_solve_continue(h, 0, f_norm, NULL, &history));
  CHECK(history.converged && history.n_before == 2 && history.n_cycles < 12);
}

/* Steps with corrections that no preconditioner should produce. */
static void test_breakdown(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[0];
  mg_outer_t cg;
  double norm, r_norm, distance;
  MUST(mg_outer_begin(level, MG_KRYLOV_CG, true, &cg));
  MUST(mg_max_norm(level, MG_F, -1, &r_norm));
  /* A zero correction has no effect. */
  MUST(mg_fill(level, MG_U, 0.0));
  MUST(mg_outer_step(level, &cg, &norm));
  if (level->comm) CHECK_CASE(norm == r_norm && !cg.has_direction, norm, r_norm);
  /* The same direction twice: after conjugation to itself, it is zero or rounding noise. */
  field_put(level, MG_U, field_random(mg_volume(level->store.view.n), 1));
  MUST(mg_outer_step(level, &cg, &norm));
  if (level->comm) CHECK(cg.has_direction && isfinite(norm));
  const double before = norm;
  MUST(mg_outer_step(level, &cg, &norm));
  if (level->comm) CHECK_CASE(fabs(norm - before) <= 1e-9 * before, norm, before);
  /* A NaN appears in the norm, and f is unchanged. */
  MUST(mg_fill(level, MG_U, NAN));
  MUST(mg_outer_step(level, &cg, &norm));
  if (level->comm) CHECK(isnan(norm) && !cg.has_direction);
  MUST(mg_outer_end(level));
  MUST(mg_max_norm(level, MG_F, -1, &distance));
  if (level->comm) CHECK_CASE(distance == r_norm, distance, r_norm);
}

/* BiCGStab in exact order, with a preconditioner that multiplies by 1/2: u after an even number of
 * half iterations. */
static const double *textbook_bicgstab(mg_level_t *level, int halves, const double *f) {
  const int64_t n = mg_volume(level->store.view.n);
  double *u = field_random(n, 0), *r = field_random(n, 0), *p = field_random(n, 0);
  for (int64_t c = 0; c < n; c++)
    u[c] = 0.0, r[c] = p[c] = f[c];
  for (int half = 0; half < halves; half += 2) {
    const double rho = field_dot(r, f, n);
    field_put(level, MG_U, p);
    MUST(mg_residual(level, MG_TMP, MG_U, MG_NO_VECTOR));
    const double *v = field_get(level, MG_TMP);
    const double alpha = rho / (0.5 * field_dot(v, f, n));
    for (int64_t c = 0; c < n; c++)
      u[c] += 0.5 * alpha * p[c], r[c] -= 0.5 * alpha * v[c];
    field_put(level, MG_U, r);
    MUST(mg_residual(level, MG_TMP, MG_U, MG_NO_VECTOR));
    const double *t = field_get(level, MG_TMP);
    const double omega = 0.5 * field_dot(t, r, n) / (0.25 * field_dot(t, t, n));
    for (int64_t c = 0; c < n; c++)
      u[c] += 0.5 * omega * r[c], r[c] -= 0.5 * omega * t[c];
    const double beta = field_dot(r, f, n) / rho * (alpha / omega);
    for (int64_t c = 0; c < n; c++)
      p[c] = r[c] + beta * (p[c] - 0.5 * omega * v[c]);
  }
  return u;
}

static void test_bicgstab(mg_hierarchy_t *h) {
  mg_level_t *level = &h->level[0];
  const int64_t n = mg_volume(level->store.view.n);
  const int halves = 8;
  mg_outer_t outer;
  double f_norm, norm, true_norm;
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  const double *f = field_get(level, MG_F), *wanted = textbook_bicgstab(level, halves, f);
  MUST(mg_outer_begin(level, MG_KRYLOV_BICGSTAB, true, &outer));
  for (int half = 0; half < halves; half++) {
    MUST(mg_axpby(level, MG_U, 0.5, MG_F, 0.0, MG_NO_VECTOR));
    MUST(mg_outer_step(level, &outer, &norm));
    CHECK(outer.has_direction && outer.is_second == (half % 2 == 0));
  }
  MUST(mg_outer_show(level));
  MUST(mg_residual_norm(level, MG_U, MG_F, &true_norm));
  CHECK_CASE(fabs(norm - true_norm) <= 1e-10 * f_norm, norm, true_norm);
  const double *u = field_get(level, MG_U), largest = sqrt(field_dot(wanted, wanted, n));
  CHECK_CASE(field_distance(u, wanted, n) <= 1e-10 * largest, field_distance(u, wanted, n),
             largest);
  /* A restart begins from r, also when MG_F holds the next p. */
  MUST(mg_outer_hide(level));
  MUST(mg_outer_restart(level, &outer));
  MUST(mg_max_norm(level, MG_F, MG_NO_VECTOR, &norm));
  CHECK_CASE(fabs(norm - true_norm) <= 1e-10 * f_norm, norm, true_norm);
  MUST(mg_fill(level, MG_U, 0.0));
  MUST(mg_outer_step(level, &outer, &norm));
  CHECK(!outer.has_direction && !outer.is_second);
  MUST(mg_outer_end(level));
  CHECK(field_distance(field_get(level, MG_F), f, n) == 0.0);
}

/* Blocks of 4^3 cells; one in five has coefficient 1e4 instead of 1. */
static double rough(int n, const int at[3]) {
  uint64_t block = 0;
  for (int d = 0; d < 3; d++)
    block = 64 * block + (uint64_t)((at[d] < 0 ? 0 : at[d] >= n ? n - 1 : at[d]) / 4);
  random_t r = {block};
  return random_int(&r, 1, 5) == 1 ? 1e4 : 1.0;
}

/* The CPU's problem with harmonic means of this coefficient on the faces. */
static mg_status_t set_rough_problem(const mg_view_t *v, const mg_tables_t *tables) {
  MG_TRY(mg_backend_cpu.set_problem(v, tables));
  for (int q = 0; q < v->n_patches; q++) {
    const mg_patch_t *p = &v->patch[q];
    EACH_CELL(at, ((const int32_t[3]){p->n[0] + 1, p->n[1] + 1, p->n[2] + 1})) {
      for (int d = 0; d < 3; d++) {
        int c[3] = {p->lo[0] + at[0], p->lo[1] + at[1], p->lo[2] + at[2]};
        const double above = rough(v->n[0], c);
        c[d]--;
        const double below = rough(v->n[0], c);
        p->vec[MG_BETA_I + d][at[0] + at[1] * p->jstride + at[2] * p->kstride] =
            2.0 * above * below / (above + below);
      }
    }
  }
  return MG_OK;
}

static int cycles_of(mg_hierarchy_t *h, mg_krylov_method_t method) {
  static mg_history_t history;
  double f_norm;
  h->params.krylov = method;
  MUST(mg_problem_restrict_rhs(h, 0, &f_norm));
  const mg_status_t status = mg_solve(h, 0, f_norm, &history);
  MUST(status == MG_ERR_DIVERGED ? MG_OK : status);
  return history.converged ? history.n_cycles : MG_MAX_CYCLES;
}

/* Every level adds slow components to CG; CG steps on coarse levels remove them there. */
static void test_rough_kcycle(void) {
  mg_backend_t backend = mg_backend_cpu;
  int cycles[2];
  backend.set_problem = set_rough_problem;
  for (int k = 0; k < 2; k++) {
    mg_hierarchy_t *h = fixture_create(
        &fixture_backends[0], 6, 1,
        textf("--operator=7pt --smoother=chebyshev4 --degree=12 --krylov=%s --rtol=1e-8 "
              "--max-cycles=100",
              k == 0 ? "cg" : "kcycle"));
    h->level[0].backend = &backend;
    MUST(mg_problem_set(h));
    cycles[k] = cycles_of(h, h->params.krylov);
    mg_hierarchy_free(h);
  }
  if (mg_comm_is_root())
    printf("jumps of 1e4: %d cycles with CG, %d K-cycles\n", cycles[0], cycles[1]);
  CHECK(4 * cycles[1] <= 3 * cycles[0]);
}

static void test_rough(const char *smoother) {
  const char *options =
      textf("--operator=7pt --smoother=%s --krylov=cg --rtol=1e-8 --max-cycles=300", smoother);
  mg_backend_t backend = mg_backend_cpu;
  backend.set_problem = set_rough_problem;
  mg_hierarchy_t *h = fixture_create(&fixture_backends[0], 5, 1, options);
  h->level[0].backend = &backend;
  MUST(mg_problem_set(h));
  const int plain = cycles_of(h, MG_KRYLOV_NONE), cg = cycles_of(h, MG_KRYLOV_CG);
  if (mg_comm_is_root())
    printf("jumps of 1e4, %s: %d cycles with CG, %d%s without\n", smoother, cg, plain,
           plain == MG_MAX_CYCLES ? " (or never)" : "");
  CHECK(cg <= 100);
  CHECK(cg < plain / 2);
  mg_hierarchy_free(h);
}

int main(int argc, char **argv) {
  fixture_begin(&argc, &argv);
  fixture_guard = false;
  fixture_each("4x2", "--krylov=cg --rtol=1e-9 --cycle=f,v --smoother=gsrb,symgs,chebyshev",
               test_sizes);
  MG_IF_DOMAINS(fixture_each(
      "4x2",
      "--krylov=kcycle --rtol=1e-9 --smoother=chebyshev4 --operator=fv2,7pt --cells=48x42x36",
      test_sizes));
  fixture_each("4x2", "--krylov=bicgstab --rtol=1e-9 --cycle=f,v --smoother=gsrb,chebyshev",
               test_sizes);
  fixture_each("4x1", "--krylov=bicgstab --rtol=1e-9 --operator=fv2,7pt --boundary=dirichlet",
               test_bicgstab);
  fixture_each("4x2",
               "--krylov=cg --rtol=1e-9 --operator=7pt --boundary=dirichlet "
               "--smoother=symgs,chebyshev,jacobi,l1jacobi",
               test_theory);
  fixture_each("4x1", "--krylov=cg --rtol=1e-9 --smoother=symgs", test_out_of_reach);
  /* With one level, the preconditioner is the bottom solver. */
  fixture_each("4x1", "--krylov=cg --rtol=1e-9 --cycle=v --coarsest=16", test_sizes);
  fixture_guard = true;
  fixture_each("4x1", "--krylov=cg --rtol=1e-9 --smoother=symgs", test_breakdown);
  test_rough("symgs");
  test_rough("chebyshev");
  test_rough("gsrb");
  test_rough_kcycle();
  return FIXTURE_END();
}
