/* Time of a message from each rank to the next of a ring, in microseconds, for every available
 * transport: mpirun -n 2 links */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/log.h"
#include "device/device_select.h"
#include "transport/transport_impl.h"
#include <stdio.h>

#ifdef HAVE_CUDA
enum { TIMES = 200 };
static const int64_t kib[] = {1, 64, 512, 2048, 16384};
enum { N_SIZES = sizeof kib / sizeof kib[0] };

static mg_status_t time_sizes(mg_transports_t *transports, mg_transport_t transport, bool speaks) {
  if (speaks) printf("%-5s", mg_transport_name(transport));
  for (int s = 0; s < N_SIZES; s++) {
    double seconds;
    MG_TRY(mg_transport_measure(transport, transports, kib[s] * 128, TIMES, &seconds));
    if (speaks) printf(" %11.1f", 1e6 * seconds);
  }
  if (speaks) printf("\n");
  return MG_OK;
}

static mg_status_t measure(mg_params_t *params) {
  const bool speaks = mg_comm_is_root();
  MG_TRY(mg_device_choose(params));
  if (speaks) printf("us   ");
  for (int s = 0; s < N_SIZES && speaks; s++)
    printf(" %7d KiB", (int)kib[s]);
  if (speaks) printf("\n");
  for (int t = MG_TRANSPORT_PEER; t < MG_N_TRANSPORTS; t++) {
    mg_transports_t *transports;
    params->transport = (mg_transport_t)t;
    /* An unavailable transport has logged the reason. */
    const mg_status_t status = mg_transports_create(params, true, &transports);
    if (status >= MG_ERR_DEVICE) return status;
    if (status != MG_OK) continue;
    MG_TRY(time_sizes(transports, params->transport, speaks));
    mg_transports_free(transports);
  }
  return MG_OK;
}

int main(int argc, char **argv) {
  static mg_params_t params;
  mg_status_t status = mg_comm_init(&argc, &argv);
  mg_log_setup(mg_comm_rank(mg_comm_world()), mg_comm_size(mg_comm_world()), MG_LOG_NORMAL);
  mg_params_defaults(&params);
  params.device = MG_DEVICE_CUDA;
  if (status == MG_OK) status = measure(&params);
  if (status >= MG_ERR_DEVICE) mg_comm_abort(mg_status_exit_code(status));
  mg_device_close();
  mg_comm_finalize();
  return mg_status_exit_code(status);
}
#else
int main(void) {
  fprintf(stderr, "links: this build has no CUDA\n");
  return 4;
}
#endif
