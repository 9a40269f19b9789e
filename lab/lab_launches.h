/* Launches of others, as they pass. */
#ifndef LAB_LAUNCHES_H
#define LAB_LAUNCHES_H

/** From here on launches are noted; see lab_cuda_launched. */
void lab_launches_forget();

#endif
