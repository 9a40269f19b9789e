/* The tail where alpha varies. */
#include "tail.h"

template mg_tail_kernel_t mg_tail_kernel<true>(const mg_tail_job_t *job);
