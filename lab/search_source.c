/* A program as CUDA source: the type of its candidate, and the templates. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "lab/search_plan.h"
#include <stdlib.h>

/* The lines of search_candidate.h. */
static const char *const templates[] = {
#include "search_candidate_text.h"
};

static const struct {
  const char *name;
  int n; /* template arguments: none; the distance; the radix and the distance */
} steps[N_STEP_KINDS] = {[STEP_XOR] = {"shuffle_xor", 2},     [STEP_DOWN] = {"shuffle_down", 2},
                         [STEP_STORE] = {"store", 1},         [STEP_WARP] = {"warp_barrier", 0},
                         [STEP_BLOCK] = {"block_barrier", 0}, [STEP_LOAD] = {"load", 2},
                         [STEP_PACKED] = {"load_packed", 2},  [STEP_MAX] = {"warp_max", 0}};

static void write_type(const plan_t *p, FILE *to) {
  static const char *const grids[N_GRIDS] = {[GRID_ATOMICS] = "ATOMICS",
                                             [GRID_LAST_BLOCK] = "LAST_BLOCK",
                                             [GRID_TWO_LAUNCHES] = "TWO_LAUNCHES"};
  fprintf(to, "shape_t<%s, %d, %d, %d, %d, %d, %s", p->goal == PLAN_SUM ? "double" : "bits_t",
          p->threads, p->blocks, p->loads, p->width, p->sums, grids[p->grid]);
  for (const plan_step_t *s = p->step; s < p->step + p->n_steps; s++) {
    fprintf(to, ", %s", steps[s->kind].name);
    if (steps[s->kind].n == 1) fprintf(to, "<%d>", s->by);
    if (steps[s->kind].n == 2) fprintf(to, "<%d, %d>", s->radix, s->by);
  }
  fprintf(to, ">");
}

char *plan_source(const plan_t *plan) {
  char spelt[PLAN_TEXT], *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  if (!to) return NULL;
  plan_spell(plan, spelt);
  fprintf(to, "/* hpgmg-bench search: a %s, as %s */\n#define CANDIDATE ",
          plan->goal == PLAN_SUM ? "sum" : "norm", spelt);
  write_type(plan, to);
  fprintf(to, "\n\n");
  for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++)
    fputs(templates[i], to);
  const bool whole = !ferror(to);
  if (fclose(to) == 0 && whole) return text;
  free(text);
  return NULL;
}
