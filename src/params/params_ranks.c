/* Parameters of all ranks: rank 0 parses, and compares its command line with others. */
#include "base/log.h"
#include "comm/comm.h"
#include "params/params_parser.h"
#include "params/params_value.h"
#include <string.h>

enum { MESSAGE_SIZE = 2048, DIFFERENCE_SIZE = 1024 };

/* Result of parsing one command line. */
typedef struct {
  mg_params_t params;
  mg_action_t action;
} parsed_t;

/* FNV-1a hash of the arguments, including the zero byte that ends each. */
static uint64_t hash_arguments(int argc, char *const argv[]) {
  uint64_t hash = 14695981039346656037u;
  for (int i = 1; i < argc; i++)
    for (const char *c = argv[i];; c++) {
      hash = (hash ^ (unsigned char)*c) * 1099511628211u;
      if (*c == '\0') break;
    }
  return hash;
}

static void format_or_unset(const mg_option_t *option, const mg_params_t *params, char *value) {
  if (!mg_option_format(option, params, value, MG_PATH_MAX)) snprintf(value, MG_PATH_MAX, "unset");
}

/* Describe the first option whose value differs: "--degree is 3, not 4"; "" if there is none. */
static void compare_params(const mg_params_t *own, const mg_params_t *first, char *text, int size) {
  static char own_value[MG_PATH_MAX], first_value[MG_PATH_MAX];
  for (int i = 0; i < MG_N_OPTIONS; i++) {
    const mg_option_t *option = &mg_options[i];
    if (option->kind == MG_KIND_ACTION || i == MG_OPT_DEVICE_ID) continue;
    format_or_unset(option, own, own_value);
    format_or_unset(option, first, first_value);
    if (strcmp(own_value, first_value) == 0) continue;
    const bool is_argument = (option->where & MG_AS_ARGUMENT) != 0;
    snprintf(text, (size_t)size, "%s%s is %.150s, not %.150s", is_argument ? "" : "--",
             is_argument ? option->metavar : option->name, own_value, first_value);
    return;
  }
}

static void describe_difference(const parsed_t *own, const parsed_t *first, char *text, int size) {
  static const char *const names[] = {"a run", "--help", "--version"};
  text[0] = '\0';
  if (own->action != first->action)
    snprintf(text, (size_t)size, "it requests %s, not %s", names[own->action],
             names[first->action]);
  else
    compare_params(&own->params, &first->params, text, size);
}

/* Reject a difference other than in --device-id. */
static mg_status_t compare(const parsed_t *own, const parsed_t *first, char message[MESSAGE_SIZE]) {
  char difference[DIFFERENCE_SIZE];
  describe_difference(own, first, difference, DIFFERENCE_SIZE);
  if (difference[0] == '\0') return MG_OK;
  snprintf(message, MESSAGE_SIZE,
           "the options of rank %d differ from those of rank 0: %s; give all ranks the same (only "
           "--device-id may differ)",
           mg_comm_rank(mg_comm_world()), difference);
  return MG_ERR_USAGE;
}

/* If any rank has its own command line, read the lines of all ranks and compare them with rank
 * 0's. The first rank with an error reports it. */
static mg_status_t apply_own_lines(int argc, char *const argv[], uint64_t hash_of_first,
                                   mg_params_t *params) {
  static parsed_t own, first;
  char message[MESSAGE_SIZE];
  double differs = hash_arguments(argc, argv) != hash_of_first;
  int reporter;
  MG_TRY(mg_comm_max(mg_comm_world(), &differs, 1));
  if (differs == 0.0) return MG_OK;
  mg_status_t status = mg_params_read(argc, argv, &own.params, &own.action, message, MESSAGE_SIZE);
  first = own;
  MG_TRY(mg_comm_broadcast(mg_comm_world(), &first, sizeof first));
  if (status == MG_OK) status = compare(&own, &first, message);
  MG_TRY(mg_comm_first(mg_comm_world(), status != MG_OK, &reporter));
  if (reporter == mg_comm_rank(mg_comm_world())) (void)mg_error(MG_ERR_USAGE, "%s", message);
  params->device_id = own.params.device_id;
  return mg_comm_agree(status);
}

mg_status_t mg_params_parse_on_ranks(int argc, char *const argv[],
                                     const struct mg_settings_reader *readers, mg_params_t *params,
                                     mg_action_t *action) {
  static struct {
    parsed_t parsed;
    mg_status_t status;
    uint64_t hash;
  } first;
  if (mg_comm_is_root()) {
    char message[MESSAGE_SIZE];
    first.status = mg_params_parse(argc, argv, readers, &first.parsed.params, &first.parsed.action,
                                   message, MESSAGE_SIZE);
    first.hash = hash_arguments(argc, argv);
    if (first.status != MG_OK && message[0]) (void)mg_error(MG_ERR_USAGE, "%s", message);
  }
  MG_TRY(mg_comm_broadcast(mg_comm_world(), &first, sizeof first));
  *params = first.parsed.params;
  *action = first.parsed.action;
  MG_TRY(first.status);
  return apply_own_lines(argc, argv, first.hash, params);
}
