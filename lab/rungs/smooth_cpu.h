/* The rungs of the smoother on a CPU. No include guard: see lab/access.h. */
#include "lab/rungs/smooth_cpu_cell.h"

#include "lab/rungs/smooth_cpu_1.h"
#include "lab/rungs/smooth_cpu_2.h"
#include "lab/rungs/smooth_cpu_3.h"
#include "lab/rungs/smooth_cpu_4.h"
#include "lab/rungs/smooth_cpu_5.h"
#include "lab/rungs/smooth_cpu_6.h"
