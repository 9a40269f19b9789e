/* The option table and the words of the enums. */
#include "params/params_table.h"
#include "wings.h"
#include <string.h>

_Static_assert(sizeof(mg_operator_t) == sizeof(int), "words are stored as int");

static const char *const operator_words[] = {"fv2", "fv4", "7pt", "27pt", NULL};
static const char *const equation_words[] = {"poisson", "helmholtz", NULL};
static const char *const beta_words[] = {"built-in", "1", NULL};
static const char *const boundary_words[] = {"dirichlet", "neumann", "periodic", "robin", NULL};
static const char *const method_words[] = {"options", "auto", NULL};
static const char *const smoother_words[] = {"gsrb",  "chebyshev", "jacobi",     "l1jacobi",
                                             "symgs", "ssor",      "chebyshev4", NULL};
static const char *const bottom_words[] = {"bicgstab", "smoother", MG_IF_CHOICES("direct", ) NULL};
static const char *const cycle_words[] = {"f", "v", NULL};
static const char *const krylov_words[] = {"none", "cg", "kcycle", "bicgstab", NULL};
static const char *const auto_words[] = {"auto", NULL};
static const char *const choice_words[] = {"no", "yes", "auto", NULL};
static const char *const memory_words[] = {"auto", "device", "unified", NULL};
static const char *device_words[] = {"auto", "cuda", "cpu", "cuda-simple", NULL, NULL};
static const char *const transport_words[] = {"auto", "peer", "nccl", "mpi", "host", NULL};

static const char *const field_words[] = {"u",      "f",    "residual", "beta_i", "beta_j",
                                          "beta_k", "dinv", "alpha",    "mask",   NULL};
static const char *const level_words[] = {"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",
                                          "9",  "10", "11", "12", "13", "14", "15", "16", "17",
                                          "18", "19", "20", "21", "22", "23", NULL};
static const char *const class_words[] = {"double", "mixed", NULL};
static const char *const precision_words[] = {"double", "float", NULL};
static const char *const centering_words[] = {"cell", "point", NULL};

/* When an option applies. */
#define WHEN(name, condition)                                                                      \
  static bool name(const mg_params_t *p) {                                                         \
    return condition;                                                                              \
  }
WHEN(with_cells_alone, mg_params_has_cells(p) && p->spacing[0] == 0)
WHEN(is_singular, mg_params_has_cells(p) && mg_params_is_singular(p))
WHEN(with_coefficients, !mg_traits_of(p->op)->constant)
WHEN(with_built_in_beta, with_coefficients(p) && !mg_params_has_files(p))
WHEN(with_chebyshev, mg_is_polynomial(p->smoother))
WHEN(without_chebyshev, !with_chebyshev(p))
WHEN(with_rtol, p->rtol > 0)
WHEN(with_timing, !p->verify_only)
WHEN(may_measure_energy, p->energy != MG_YES || with_timing(p))
WHEN(may_use_cuda, p->device == MG_DEVICE_AUTO || mg_params_uses_gpu(p))
WHEN(without_cpu, p->device != MG_DEVICE_CPU)
WHEN(with_dry_run, p->dry_run)
WHEN(with_dump, p->dump[0] != '\0')
WHEN(without_dry_run, !p->dry_run)

#define FIELD(member) .offset = offsetof(mg_params_t, member)

/* Where an option is set: in a section of a deck and as an option, as an argument, or as an option.
 */
#define IN(section) .group = MG_GROUP_##section, .where = MG_IN_DECK | MG_AS_OPTION
#define SIZE        .where = MG_IN_DECK | MG_AS_ARGUMENT
#define OPTION_ONLY .where = MG_AS_OPTION

/* Kinds of values. */
#define ONE_OF(member, list)       .kind = MG_KIND_WORD, FIELD(member), .words = list
#define SOME_OF(member, list)      .kind = MG_KIND_SET, FIELD(member), .words = list
#define INTEGER(member, low, high) .kind = MG_KIND_INT, FIELD(member), .min = low, .max = high
#define LARGE(member, low, high)   .kind = MG_KIND_INT64, FIELD(member), .min = low, .max = high
#define REAL(member, low, high)    .kind = MG_KIND_DOUBLE, FIELD(member), .min = low, .max = high
#define CELLS(member, low, high)   .kind = MG_KIND_CELLS, FIELD(member), .min = low, .max = high
#define REALS(member, low, high)   .kind = MG_KIND_REALS, FIELD(member), .min = low, .max = high
#define STRETCH(member, low, high) .kind = MG_KIND_STRETCH, FIELD(member), .min = low, .max = high
#define SIDES(member, list)        .kind = MG_KIND_SIDES, FIELD(member), .words = list
#define FLAG(member)               .kind = MG_KIND_FLAG, FIELD(member), .value = "no"
#define LOUDNESS                   .kind = MG_KIND_VERBOSITY, FIELD(verbosity), .value = "no"
#define PATH(member)               .kind = MG_KIND_PATH, .metavar = "FILE", FIELD(member)
#define NEEDS(name, word)          .wing = MG_WING_##name, .wing_word = word

/* Conditions. */
#define DUMPED    .applies = with_dump, .condition = "requires --dump=FILE", .decided_by = MG_OPT_DUMP
#define WITH_RTOL .applies = with_rtol, .condition = "requires --rtol=R", .decided_by = MG_OPT_RTOL
#define REAL_RUN                                                                                   \
  .applies = without_dry_run, .condition = "cannot be combined with --dry-run",                    \
  .decided_by = MG_OPT_DRY_RUN
#define ON_CUDA                                                                                    \
  .applies = may_use_cuda, .condition = "requires --device=auto, cuda or cuda-simple",             \
  .decided_by = MG_OPT_DEVICE
#define TIMED                                                                                      \
  .applies = with_timing, .decided_by = MG_OPT_VERIFY_ONLY,                                        \
  .condition = "cannot be combined with --verify-only or --restart"

#define OPTION(id, ...) [MG_OPT_##id] = {__VA_ARGS__},
const mg_option_t mg_options[MG_N_OPTIONS] = {
#include "params/params_options.h"
};

static bool is_named(const mg_option_t *option, const char *name) {
  return strcmp(option->name, name) == 0 || (option->alias && strcmp(option->alias, name) == 0);
}

const mg_option_t *mg_option_find(const char *name) {
  for (int i = 0; i < MG_N_OPTIONS; i++)
    if (is_named(&mg_options[i], name)) return &mg_options[i];
  return NULL;
}

const mg_option_t *mg_option_find_letter(char letter) {
  for (int i = 0; i < MG_N_OPTIONS; i++)
    if (letter != '\0' && mg_options[i].letter == letter) return &mg_options[i];
  return NULL;
}

bool mg_option_applies(const mg_option_t *option, const mg_params_t *params) {
  return !option->applies || option->applies(params);
}

void mg_params_allow_guard(void) {
  device_words[MG_DEVICE_GUARD] = "guard";
}

/* The word of an enum value. */
#define NAME(function, type, words)                                                                \
  const char *function(type value) {                                                               \
    return words[value];                                                                           \
  }
NAME(mg_operator_name, mg_operator_t, operator_words)
NAME(mg_equation_name, mg_equation_t, equation_words)
NAME(mg_method_name, mg_method_t, method_words)
NAME(mg_smoother_name, mg_smoother_t, smoother_words)
NAME(mg_bottom_name, mg_bottom_t, bottom_words)
NAME(mg_cycle_name, mg_cycle_t, cycle_words)
NAME(mg_krylov_name, mg_krylov_method_t, krylov_words)
NAME(mg_device_name, mg_device_t, device_words)
NAME(mg_precision_name, mg_precision_class_t, class_words)
NAME(mg_field_name, mg_field_t, field_words)
NAME(mg_transport_name, mg_transport_t, transport_words)
