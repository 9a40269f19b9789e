/* Launches of the reductions of search_candidate.h. */
#include "lab/search_cuda.h"
extern "C" {
#include "plan/plan_stats.h"
}
#include <algorithm>
#include <vector>

namespace {
typedef unsigned long long bits_t;
enum { BEFORE = 16 /* numbers before the partial results */ };

struct run_t {
  const search_program_t *program;
  double *memory;
  candidate::input_t in;
  dim3 grid;
};

mg_status_t enqueue(void *arg, cudaStream_t stream) {
  run_t *r = (run_t *)arg;
  const plan_t &plan = r->program->plan;
  double *result = r->memory, *ended = result + 1, *partial = result + BEFORE;
  const dim3 block((unsigned)plan.threads);
  int blocks = (int)(r->grid.x * r->grid.y);
  void *first[] = {&partial, &result, &ended, &r->in}, *last[] = {&partial, &result, &blocks};
  if (plan.grid == GRID_ATOMICS) MG_CUDA_TRY(cudaMemsetAsync(result, 0, sizeof *result, stream));
  MG_CUDA_TRY(cudaLaunchKernel(r->program->first, r->grid, block, first, 0, stream));
  if (plan.grid == GRID_TWO_LAUNCHES)
    MG_CUDA_TRY(cudaLaunchKernel(r->program->last, dim3(1), block, last, 0, stream));
  return MG_OK;
}

int64_t max_blocks() {
  return 64ll * lab_card().processors;
}

mg_status_t prepare(const search_goal_t &goal, const search_program_t &p,
                    const candidate::input_t &in, run_t *r) {
  const lab_launch_t launch = {p.first, 1, p.plan.threads, 0};
  int resident;
  MG_TRY(lab_cuda_resident(launch, &resident));
  if (p.plan.blocks > 0) resident = std::min(resident, p.plan.blocks);
  const int64_t fit = std::min((int64_t)resident * lab_card().processors, max_blocks());
  *r = {&p, goal.memory.at, in, goal.grid(p.plan, in, fit)};
  return MG_OK;
}

/* Return the result of the last run and overwrite it for the next. */
mg_status_t fetch(const run_t &r, bits_t *bits) {
  MG_CUDA_TRY(cudaMemcpy(bits, r.memory, sizeof *bits, cudaMemcpyDeviceToHost));
  MG_CUDA_TRY(cudaMemset(r.memory, 0xa5, sizeof *bits));
  MG_CUDA_TRY(cudaDeviceSynchronize()); /* the next run may be on another stream */
  return MG_OK;
}

/* One block per SM, so that the latency of a reduction is measured. */
mg_status_t measure_joins(const lab_t *lab, search_goal_t *goal, const search_program_t &p,
                          lab_row_t *row) {
  const int threads = p.plan.threads, processors = lab_card().processors;
  const lab_launch_t launch = {p.joins, processors, threads, 0};
  bits_t expected = goal->of_a_block(threads);
  int times = SEARCH_TIMES;
  double *partial = goal->memory.at + BEFORE;
  void *args[] = {&partial, &expected, &times};
  std::vector<bits_t> got((size_t)processors);
  MG_TRY(lab_cuda_measure(lab, launch, args, row));
  MG_CUDA_TRY(cudaMemcpy(got.data(), partial, got.size() * sizeof(bits_t), cudaMemcpyDeviceToHost));
  for (const bits_t all : got)
    row->error += all != expected;
  row->elements = SEARCH_TIMES;
  row->flops = threads;
  return MG_OK;
}

__global__ void fill_cells(mg_patch_t p, int vec) {
  MG_CUDA_CELL(i, j, k, p.n);
  *mg_cell(&p, vec, i, j, k) =
      search_cell_value(vec, i + (int64_t)p.n[0] * (j + (int64_t)p.n[1] * k));
}
} // namespace

mg_status_t search_goal_t::make_space() {
  MG_TRY(memory.make(max_blocks() + BEFORE));
  MG_CUDA_TRY(cudaMemset(memory.at, 0, BEFORE * sizeof(double)));
  return MG_OK;
}

mg_status_t search_goal_t::result(const search_program_t &p, const candidate::input_t &in, bool few,
                                  bits_t *bits) {
  run_t r;
  MG_TRY(prepare(*this, p, in, &r));
  if (few) r.grid.y = 1;
  MG_TRY(enqueue(&r, nullptr));
  return fetch(r, bits);
}

mg_status_t search_goal_t::measure(const lab_t *lab, const search_program_t &p, int what,
                                   lab_row_t *row) {
  *row = {};
  if (what == SEARCH_JOINS) return measure_joins(lab, this, p, row);
  run_t r;
  bits_t expected, got;
  MG_TRY(prepare(*this, p, input(what, &expected), &r));
  MG_TRY(lab_cuda_describe({p.first, (int64_t)r.grid.x * r.grid.y, p.plan.threads, 0}, row));
  MG_TRY(lab_cuda_time(lab, enqueue, &r, &row->seconds));
  MG_TRY(fetch(r, &got));
  row->error = got == expected ? 0.0 : 1.0;
  row->elements = r.in.length;
  row->useful = 8.0;
  row->flops = 1.0;
  return MG_OK;
}

int search_patch_cells(const lab_t *lab) {
  int n = 64;
  while (8ll * (2 * n) * (2 * n) * (2 * n) <= 2 * lab->bytes && n < 512)
    n *= 2;
  return n;
}

mg_status_t search_patch_t::make(int n0, int n1, int n2, int n_vectors) {
  const int32_t n[3] = {n0, n1, n2};
  const mg_patch_strides_t shape = mg_patch_strides(n, 1);
  p = {};
  for (int d = 0; d < 3; d++)
    p.n[d] = n[d];
  p.jstride = shape.jstride;
  p.kstride = shape.kstride;
  MG_TRY(memory.make(n_vectors * shape.size));
  /* All bits set: NaN. */
  MG_CUDA_TRY(cudaMemset(memory.at, 0xff, (size_t)(n_vectors * shape.size) * sizeof(double)));
  const dim3 block(32, 8);
  for (int v = 0; v < n_vectors; v++) {
    p.vec[v] = memory.at + shape.origin + v * shape.size;
    fill_cells<<<mg_cuda_grid(n0, n1, n2, block), block>>>(p, v);
    MG_CUDA_LAUNCHED("fill_cells");
  }
  MG_CUDA_TRY(cudaDeviceSynchronize());
  return MG_OK;
}

mg_status_t search_patch_t::set(int64_t cell, double value) {
  const int i = (int)(cell % p.n[0]), j = (int)(cell / p.n[0] % p.n[1]),
            k = (int)(cell / p.n[0] / p.n[1]);
  MG_CUDA_TRY(cudaMemcpy(mg_cell(&p, 0, i, j, k), &value, sizeof value, cudaMemcpyHostToDevice));
  return MG_OK;
}
