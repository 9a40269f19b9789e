/* Exercise 4: break a chain of dependent additions.
 *
 * Task: return the sum of the thread's elements. Each addition waits for the one before. Use
 * several sums: element i, i + step, i + 2 step, ... each go to another one. Then add the sums. The
 * number of elements need not be a multiple of their number. (Test data are integers, so the order
 * of the additions does not change the result.)
 *
 * Machine: an addition has a latency of some four cycles, and the compiler may not change the order
 * of additions. One sum thus uses 8 bytes per four cycles, less than a core can read. With
 * independent sums the compiler can use vectors. On a GPU, the loads of several iterations are
 * issued before the first addition waits; this exercise runs there with one block of 256 threads
 * per SM, so each thread needs several loads in flight.
 *
 * Goal: at least 8 independent sums, and 8 bytes per element.
 * Hint: an array of sums, and an inner loop of constant length. */
MG_INLINE double RUNG(exercise_4)(const double *x, int64_t first, int64_t last, int64_t step) {
  double sum = 0.0;
  for (int64_t i = first; i < last; i += step)
    sum += LOAD(x, i);
  return sum;
}
