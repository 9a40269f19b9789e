/* Inputs of norms. A norm is an integer (the bits of the largest cell), independent of the order.
 */
#include "lab/search_cuda.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace {
typedef unsigned long long bits_t;

bits_t bits_of(double value) {
  bits_t bits;
  value = fabs(value);
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

candidate::input_t input_of(const search_patch_t &w) {
  return {w.p.vec[0], w.cells(), {w.p.n[0], w.p.n[1], w.p.n[2]}, w.p.jstride, w.p.kstride};
}

/* The last ones have odd row lengths and allow 8-byte loads only. */
const int shapes[][3] = {{64, 64, 64}, {2, 1, 1},     {2, 3, 5}, {64, 8, 1}, {66, 7, 3},
                         {30, 33, 2},  {128, 16, 16}, {1, 1, 1}, {31, 5, 3}, {33, 9, 4}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0], SMALL = 0 };

struct norms_t : search_goal_t {
  search_patch_t large, patch[N_SHAPES];
  bits_t expected[N_SHAPES];

  mg_status_t make(const lab_t *lab) override {
    const int n = search_patch_cells(lab);
    MG_TRY(make_space());
    MG_TRY(large.make(n, n, n));
    MG_TRY(large.set(n - 2 + (int64_t)n * (n - 3 + (int64_t)n * (n / 2)), SEARCH_PEAK));
    for (int s = 0; s < N_SHAPES; s++) {
      MG_TRY(patch[s].make(shapes[s][0], shapes[s][1], shapes[s][2]));
      expected[s] = 0;
      for (int64_t cell = 0; cell < patch[s].cells(); cell++)
        expected[s] = std::max(expected[s], bits_of(search_cell_value(0, cell)));
    }
    return MG_OK;
  }

  candidate::input_t input(int what, bits_t *want) const override {
    *want = what == SEARCH_LARGE ? bits_of(SEARCH_PEAK) : expected[SMALL];
    return input_of(what == SEARCH_LARGE ? large : patch[SMALL]);
  }

  /* As mg_max_norm_grid. */
  dim3 grid(const plan_t &plan, const candidate::input_t &in, int64_t resident) const override {
    const int64_t per_row = 32 * (plan.width / 8), height = plan.threads / 32;
    const int64_t columns = (in.n[0] + per_row - 1) / per_row,
                  rows = ((int64_t)in.n[1] * in.n[2] + height - 1) / height;
    return dim3((unsigned)columns,
                (unsigned)std::max<int64_t>(1, std::min(rows, resident / columns)));
  }

  /* Test the patch unchanged; with the maximum at corners and other cells; and with NaN there. */
  mg_status_t try_patch(const search_program_t &p, search_patch_t *w, bool few, bits_t want,
                        bool *right) {
    enum { PLACES = 12 };
    bits_t got;
    MG_TRY(result(p, input_of(*w), few, &got));
    *right = got == want;
    for (int place = 0; place < PLACES && *right; place++) {
      const int64_t cell = place == 0 ? 0 : (w->cells() - 1 + 7919ll * (place - 1)) % w->cells();
      const double value = place % 4 == 3 ? NAN : SEARCH_PEAK;
      MG_TRY(w->set(cell, value));
      MG_TRY(result(p, input_of(*w), few, &got));
      MG_TRY(w->set(cell, search_cell_value(0, cell)));
      *right = got == bits_of(value);
    }
    return MG_OK;
  }

  mg_status_t prove(const search_program_t &p, bool *right) override {
    *right = true;
    for (int s = 0; s < N_SHAPES; s++)
      for (int few = 0; few < 2 && *right; few++)
        if (p.plan.width == 8 || shapes[s][0] % 2 == 0)
          MG_TRY(try_patch(p, &patch[s], few == 1, expected[s], right));
    return MG_OK;
  }

  bits_t of_a_block(int threads) const override { return (bits_t)(threads - 1); }

  void title(int what, char text[LAB_TITLE]) const override {
    snprintf(text, LAB_TITLE, "maximum norm of %d^3 cells",
             what == SEARCH_LARGE ? large.p.n[0] : patch[SMALL].p.n[0]);
  }
};
} // namespace

std::unique_ptr<search_goal_t> search_for_norms() {
  return std::unique_ptr<search_goal_t>(new norms_t);
}
