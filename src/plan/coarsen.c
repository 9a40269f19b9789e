#include "plan/coarsen.h"

int64_t mg_odd_part(int64_t n) {
  while (n % 2 == 0)
    n /= 2;
  return n;
}

static bool all_even(const int32_t n[3]) {
  return n[0] % 2 == 0 && n[1] % 2 == 0 && n[2] % 2 == 0;
}

static int32_t common_divisor(int32_t a, int32_t b) {
  return b == 0 ? a : common_divisor(b, a % b);
}

static int32_t smallest_of(const int32_t n[3]) {
  const int32_t low = n[0] < n[1] ? n[0] : n[1];
  return low < n[2] ? low : n[2];
}

static int32_t largest_of(const int32_t n[3]) {
  const int32_t high = n[0] > n[1] ? n[0] : n[1];
  return high > n[2] ? high : n[2];
}

/* Cells divided by the largest power of two that divides all three counts, which is returned. */
static int32_t common_power(const int32_t n[3], int32_t rest[3]) {
  int32_t power = 1;
  for (int d = 0; d < 3; d++)
    rest[d] = n[d];
  for (; all_even(rest); power *= 2)
    for (int d = 0; d < 3; d++)
      rest[d] /= 2;
  return power;
}

/* Interpolation reads `radius` cells around half a box. If that half is narrower, the second box
 * from a wall would read past a wall that is not its own. On one rank the boxes merge, and there
 * are no such boxes. */
static int64_t cap_for(int32_t power, const int32_t c[3], int32_t new_w, int radius) {
  if (power == 8) return mg_volume(c) / largest_of(c);
  return new_w / 2 < radius ? 1 : smallest_of(c);
}

/* Box width of the coarser grid, 0 if there is none. */
static int32_t coarser_width(const mg_layout_t *fine, int radius, int64_t *rank_cap) {
  const int32_t w = fine->box_dim;
  int32_t c[3];
  const int32_t power = common_power(fine->n, c);
  const int32_t wide = common_divisor(common_divisor(c[0], c[1]), c[2]);
  if (w % 2 == 0 && w > 8 && w / 2 >= radius) return w / 2;
  if (all_even(fine->boxes) && w >= radius) return w;
  if (largest_of(c) > 1 && power == 2 && wide >= radius) {
    *rank_cap = 1;
    return wide;
  }
  if (largest_of(c) > 1 && (power == 4 || power == 8) && w % 2 == 0) {
    *rank_cap = cap_for(power, c, w / 2, radius);
    return w / 2;
  }
  return w % 2 == 0 && w / 2 >= radius ? w / 2 : 0;
}

bool mg_layout_coarsen(const mg_layout_t *fine, int radius, int smallest, mg_layout_t *coarse,
                       int64_t *rank_cap) {
  *rank_cap = INT64_MAX;
  if (!all_even(fine->n) || smallest_of(fine->n) / 2 < smallest) return false;
  const int32_t w = coarser_width(fine, radius, rank_cap);
  if (w == 0) return false;
  *coarse = (mg_layout_t){.box_dim = w, .world_ranks = fine->world_ranks};
  for (int d = 0; d < 3; d++) {
    coarse->n[d] = fine->n[d] / 2;
    coarse->boxes[d] = coarse->n[d] / w;
    coarse->box[d] = w;
  }
  return true;
}
