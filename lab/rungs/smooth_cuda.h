/* The rungs of the smoother on a GPU. No include guard: see lab/access.h. */
#include "lab/rungs/smooth_cuda_1.h"
#include "lab/rungs/smooth_cuda_2.h"
#include "lab/rungs/smooth_cuda_3.h"
#include "lab/rungs/smooth_cuda_4.h"
#include "lab/rungs/smooth_cuda_5.h"
