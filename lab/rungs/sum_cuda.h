/* The rungs of the sum on a GPU; blocks have 256 threads. No include guard: see lab/access.h. */
#include "lab/rungs/sum_cuda_1.h"
#include "lab/rungs/sum_cuda_2.h"
#include "lab/rungs/sum_cuda_3.h"
#include "lab/rungs/sum_cuda_4.h"
#include "lab/rungs/sum_cuda_5.h"
#include "lab/rungs/sum_cuda_6.h"
