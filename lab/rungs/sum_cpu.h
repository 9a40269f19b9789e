/* The rungs of the sum on a CPU. No include guard: see lab/access.h. */
#include "lab/rungs/sum_cpu_1.h"
#include "lab/rungs/sum_cpu_2.h"
#include "lab/rungs/sum_cpu_3.h"
#include "lab/rungs/sum_cpu_4.h"
