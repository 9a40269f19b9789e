/* Test data of the search for a norm: patches whose ghosts are NaN and must not be read. The norm
 * is an integer (the bits of the largest cell), independent of the order. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#ifdef HAVE_NVRTC
#include "lab/search_cuda.h"
extern "C" {
#include "plan/plan.h"
}
#include <algorithm>
#include <cmath>
#include <vector>

namespace {
typedef unsigned long long bits_t;
const double PEAK = -5000.0; /* cells are smaller in magnitude, 0.3 to 171 */

__host__ __device__ double value_of(int64_t cell) {
  return (lab_value(cell) - 510.1) / 3.0;
}

__global__ void fill_cells(mg_patch_t p) {
  MG_CUDA_CELL(i, j, k, p.n);
  *mg_cell(&p, 0, i, j, k) = value_of(i + (int64_t)p.n[0] * (j + (int64_t)p.n[1] * k));
}

bits_t bits_of(double value) {
  bits_t bits;
  value = fabs(value);
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

struct patch_t {
  mg_patch_t p;
  lab_array_t memory;

  mg_status_t make(int n0, int n1, int n2) {
    p = {};
    p.n[0] = n0;
    p.n[1] = n1;
    p.n[2] = n2;
    const mg_shape_t shape = mg_shape(p.n, 1);
    p.jstride = shape.jstride;
    p.kstride = shape.kstride;
    MG_TRY(memory.make(shape.size));
    p.vec[0] = memory.at + shape.origin;
    /* All bits set: NaN. */
    MG_CUDA_TRY(cudaMemset(memory.at, 0xff, (size_t)shape.size * sizeof(double)));
    const dim3 block(32, 8);
    fill_cells<<<mg_cuda_grid(n0, n1, n2, block), block>>>(p);
    MG_CUDA_LAUNCHED("fill_cells");
    MG_CUDA_TRY(cudaDeviceSynchronize());
    return MG_OK;
  }

  int64_t cells() const { return (int64_t)p.n[0] * p.n[1] * p.n[2]; }

  mg_status_t set(int64_t cell, double value) {
    const int i = (int)(cell % p.n[0]), j = (int)(cell / p.n[0] % p.n[1]),
              k = (int)(cell / p.n[0] / p.n[1]);
    MG_CUDA_TRY(cudaMemcpy(mg_cell(&p, 0, i, j, k), &value, sizeof value, cudaMemcpyHostToDevice));
    return MG_OK;
  }
};

/* The last ones have odd row lengths and allow 8-byte loads only. */
const int shapes[][3] = {{64, 64, 64}, {2, 1, 1},     {2, 3, 5}, {64, 8, 1}, {66, 7, 3},
                         {30, 33, 2},  {128, 16, 16}, {1, 1, 1}, {31, 5, 3}, {33, 9, 4}};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0], SMALL = 0 };

struct norms_t : search_goal_t {
  patch_t large, patch[N_SHAPES];
  bits_t expected[N_SHAPES];

  mg_status_t make(const lab_t *lab) override {
    int n = 64;
    /* As in the roofline ladder: vectors of at most twice an array. */
    while (8ll * (2 * n) * (2 * n) * (2 * n) <= 2 * lab->bytes && n < 512)
      n *= 2;
    MG_TRY(space.make());
    MG_TRY(large.make(n, n, n));
    MG_TRY(large.set(n - 2 + (int64_t)n * (n - 3 + (int64_t)n * (n / 2)), PEAK));
    for (int s = 0; s < N_SHAPES; s++) {
      MG_TRY(patch[s].make(shapes[s][0], shapes[s][1], shapes[s][2]));
      expected[s] = 0;
      for (int64_t cell = 0; cell < patch[s].cells(); cell++)
        expected[s] = std::max(expected[s], bits_of(value_of(cell)));
    }
    return MG_OK;
  }

  mg_status_t load(search_program_t *p) override {
    MG_CUDA_TRY(cudaLibraryGetKernel(&p->first[0], p->library, "norm_double"));
    MG_CUDA_TRY(cudaLibraryGetKernel(&p->joins, p->library, "joins_double"));
    if (p->plan->grid == GRID_TWO_LAUNCHES)
      MG_CUDA_TRY(cudaLibraryGetKernel(&p->last[0], p->library, "last_double"));
    return MG_OK;
  }

  /* The grid of mg_max_norm_grid; or, if `few`, one row of blocks, so that threads loop over the
   * patch. */
  mg_status_t prepare(const search_program_t &p, const patch_t &w, bool few, search_run_t *r) {
    const plan_t *plan = p.plan;
    const int64_t per_row = 32 * (plan->width / 8), height = plan->threads / 32;
    int64_t fit;
    *r = {};
    r->program = &p;
    r->space = &space;
    r->from = w.p.vec[0];
    for (int d = 0; d < 3; d++)
      r->extent[d] = w.p.n[d];
    r->jstride = w.p.jstride;
    r->kstride = w.p.kstride;
    r->launch = {(const void *)p.first[0], 1, plan->threads, 0};
    MG_TRY(search_blocks(plan, r->launch, &fit));
    const int64_t columns = (w.p.n[0] + per_row - 1) / per_row,
                  rows = ((int64_t)w.p.n[1] * w.p.n[2] + height - 1) / height;
    const int64_t height_of_grid = few ? 1 : std::max<int64_t>(1, std::min(rows, fit / columns));
    r->grid = dim3((unsigned)columns, (unsigned)height_of_grid);
    r->launch.blocks = (int64_t)r->grid.x * r->grid.y;
    return MG_OK;
  }

  mg_status_t is_right(const search_program_t &p, const patch_t &w, bool few, bits_t want,
                       bool *right) {
    search_run_t r;
    bits_t got;
    MG_TRY(prepare(p, w, few, &r));
    MG_TRY(r.result(&got));
    *right = *right && got == want;
    return MG_OK;
  }

  /* Test the patch unchanged; with the maximum at corners and other cells; and with NaN there. */
  mg_status_t try_patch(const search_program_t &p, patch_t *w, bool few, bits_t want, bool *right) {
    enum { PLACES = 12 };
    MG_TRY(is_right(p, *w, few, want, right));
    for (int place = 0; place < PLACES && *right; place++) {
      const int64_t cell = place == 0 ? 0 : (w->cells() - 1 + 7919ll * (place - 1)) % w->cells();
      const double value = place % 4 == 3 ? NAN : PEAK;
      MG_TRY(w->set(cell, value));
      MG_TRY(is_right(p, *w, few, bits_of(value), right));
      MG_TRY(w->set(cell, value_of(cell)));
    }
    return MG_OK;
  }

  mg_status_t prove(const search_program_t &p, bool *right) override {
    *right = true;
    for (int s = 0; s < N_SHAPES && *right; s++)
      for (int few = 0; few < 2; few++)
        if (p.plan->width == 8 || shapes[s][0] % 2 == 0)
          MG_TRY(try_patch(p, &patch[s], few == 1, expected[s], right));
    return MG_OK;
  }

  mg_status_t measure(const lab_t *lab, const search_program_t &p, int what,
                      lab_row_t *row) override {
    const patch_t &w = what == SEARCH_LARGE ? large : patch[SMALL];
    search_run_t r;
    bits_t got;
    MG_TRY(prepare(p, w, false, &r));
    MG_TRY(r.time(lab, row));
    MG_TRY(r.fetch(&got));
    row->error = got == (what == SEARCH_LARGE ? bits_of(PEAK) : expected[SMALL]) ? 0.0 : 1.0;
    row->elements = w.cells();
    row->useful = 8.0;
    row->flops = 1.0;
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
#endif
