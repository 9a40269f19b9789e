/* Observes kernel launches made by the solver and by libraries. */
#ifndef LAB_LAUNCHES_H
#define LAB_LAUNCHES_H

/** Forget recorded launches and record from here on; see lab_cuda_launched. */
void lab_launches_forget();

#endif
