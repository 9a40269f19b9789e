/* Ladder 4: fused smoother steps (temporal blocking).
 *
 * A block owns a tile of columns and marches through its planes once. At plane k it computes step 1
 * in plane k, step 2 in k - 1, step 3 in k - 2 and so on, and writes the last step. Values from the
 * planes above and below a cell stay in the registers of its thread. Neighbours within a plane come
 * from shared memory: two planes of each step's results, and rings of x and of the betas. Each step
 * invalidates one more cell at the tile's edge, so tiles overlap. The overhead is the ratio of
 * computed cells to valid cells.
 *
 *     plane  k+1   x read
 *            k     step 1   from x(k-1 .. k+1)
 *            k-1   step 2   from step 1's k-2 .. k
 *            k-2   step 3   from step 2's k-3 .. k-1, written
 *
 * The rings are filled by asynchronous copies of each thread, or by the tensor copy engine (TMA).
 * For TMA one thread requests five boxes; elements outside the level arrive as zero, which is the
 * value of the ghosts. The blocks of a cluster lie side by side along j and store their edge rows
 * into the shared memory of their neighbours. Only the edge of the cluster is then invalid.
 *
 * A thread has 16 bytes of a row: two doubles or four floats. */
#include "lab/smooth_fused.h"

using namespace fused;

namespace {
constexpr unsigned ALL = 0xffffffffu;

/* A block's tile and the planes that it writes; the first cell of a thread. */
struct tile_t {
  place_t at;
  int mine, first, last; /* rank in the cluster; plane range, last excluded */
  int i, j;
};
template <typename S> __device__ __forceinline__ tile_t tile_here(const plan_t &plan, int n) {
  tile_t t;
  const int tile = (int)blockIdx.x / S::CLUSTER;
  t.mine = S::CLUSTER > 1 ? block_of_cluster() : 0;
  t.first = tile / plan.tiles_i / plan.tiles_j * plan.planes;
  t.last = t.first + plan.planes < n ? t.first + plan.planes : n;
  t.at.lane = (int)threadIdx.x % S::ROW_LANES;
  t.at.row = (int)threadIdx.x / S::ROW_LANES;
  t.at.i0 = tile % plan.tiles_i * S::OUT_I - S::START;
  t.at.j0 = tile / plan.tiles_i % plan.tiles_j * S::OUT_J - S::MADE + t.mine * S::BLOCK_ROWS;
  t.i = t.at.i0 + t.at.lane * S::V;
  t.j = t.at.j0 + t.at.row;
  return t;
}

/* A thread's columns: their geometry and, for each step, values kept from nearby planes. */
template <typename S, typename T> struct columns_t {
  static constexpr int V = S::V, W = S::WIDTH, STEPS = S::MADE;
  T x[STEPS][3][V]; /* below, here, above */
  T f[STEPS][V], dinv[STEPS][V], bk[STEPS + 1][V];
  bool inside[V];                         /* inside the level in i and j */
  bool writes;                            /* valid cells, starting SHIFT after its own */
  int own, x_own, x_low, x_high, bj_high; /* offsets in a plane: own and adjacent rows */

  __device__ __forceinline__ void begin(const tile_t &t, int n) {
    const bool inside_j = t.j >= 0 && t.j < n;
#pragma unroll
    for (int v = 0; v < V; v++)
      inside[v] = inside_j && t.i + v >= 0 && t.i + v < n;
    const int row = t.mine * S::BLOCK_ROWS + t.at.row;
    writes = t.at.lane >= S::FIRST && t.at.lane < S::FIRST + S::OUT_I / V && t.i + S::SHIFT >= 0 &&
             t.i + S::SHIFT < n && row >= STEPS && row < S::CLUSTER * S::BLOCK_ROWS - STEPS &&
             t.j < n;
    own = t.at.row * W + t.at.lane * V;
    x_own = own + S::RIM * W;
    x_low = S::RIM || t.at.row > 0 ? x_own - W : x_own;
    x_high = S::RIM || t.at.row < S::BLOCK_ROWS - 1 ? x_own + W : x_own;
    bj_high = S::RIM || t.at.row < S::BLOCK_ROWS - 1 ? own + W : own;
  }

  /* Load these columns from a bundle. */
  __device__ __forceinline__ void take(const T *shared, const slots_t &slot) {
    load(shared + S::X + slot.x * S::X_PLANE + x_own, x[0][2]);
    if (!S::KEEPS) return;
    load(shared + S::BK + slot.k * S::PLANE + own, bk[0]);
    load(shared + S::F + slot.f * S::PLANE + own, f[0]);
  }

  /* Step s in plane p. */
  __device__ __forceinline__ void step(const T *shared, const slots_t &slot,
                                       const smooth_level_t<T> &l, int s, int p, T value[V]) {
    const T *const plane = s == 0 ? shared + S::X + behind(slot.x, 1, S::X_SLOTS) * S::X_PLANE
                                  : shared + S::STEP + (2 * (s - 1) + (p & 1)) * S::X_PLANE;
    const int ij = behind(slot.ij, s, S::IJ_SLOTS);
    const T *const bi = shared + S::BI + ij * S::PLANE, *const bj =
                                                            shared + S::BJ + ij * S::J_PLANE;
    T low[V], high[V], bi0[V], bj0[V], bj1[V], bk0[V], bk1[V], rhs[V];
    load(plane + x_low, low);
    load(plane + x_high, high);
    load(bi + own, bi0);
    load(bj + own, bj0);
    load(bj + bj_high, bj1);
    if (!S::KEEPS) {
      load(shared + S::F + behind(slot.f, s, S::F_SLOTS) * S::PLANE + own, rhs);
      load(shared + S::BK + behind(slot.k, s, S::K_SLOTS) * S::PLANE + own, bk1);
      load(shared + S::BK + behind(slot.k, s + 1, S::K_SLOTS) * S::PLANE + own, bk0);
    }
    const T left = __shfl_up_sync(ALL, x[s][1][V - 1], 1, S::ROW_LANES),
            right = __shfl_down_sync(ALL, x[s][1][0], 1, S::ROW_LANES),
            bi_next = __shfl_down_sync(ALL, bi0[0], 1, S::ROW_LANES);
#pragma unroll
    for (int v = 0; v < V; v++) {
      smooth_near_t<T> near;
      near.c = x[s][1][v];
      near.low[0] = v > 0 ? x[s][1][v > 0 ? v - 1 : 0] : left;
      near.high[0] = v < V - 1 ? x[s][1][v < V - 1 ? v + 1 : v] : right;
      near.low[1] = low[v];
      near.high[1] = high[v];
      near.low[2] = x[s][0][v];
      near.high[2] = x[s][2][v];
      near.beta[0][0] = bi0[v];
      near.beta[0][1] = v < V - 1 ? bi0[v < V - 1 ? v + 1 : v] : bi_next;
      near.beta[1][0] = bj0[v];
      near.beta[1][1] = bj1[v];
      near.beta[2][0] = S::KEEPS ? bk[s + 1][v] : bk0[v];
      near.beta[2][1] = S::KEEPS ? bk[s][v] : bk1[v];
      const T ax = smooth_apply(near, l.a, l.b_h2);
      if (s == 0) dinv[0][v] = smooth_dinv(near.beta, l.a, l.b_h2);
      value[v] = smooth_step(near.c, ax, S::KEEPS ? f[s][v] : rhs[v], dinv[s][v], l.weight[s]);
    }
  }

  /* Pass the result of step s to the next step: in registers, in shared memory, and in the shared
   * memory of adjacent blocks of the cluster. Ghosts stay zero. */
  __device__ __forceinline__ void pass_on(T *shared, const tile_t &t, int s, int p, bool inside_k,
                                          T value[V]) {
#pragma unroll
    for (int v = 0; v < V; v++)
      x[s + 1 < STEPS ? s + 1 : s][2][v] = value[v] = inside[v] && inside_k ? value[v] : T(0);
    T *const result = shared + S::STEP + (2 * s + (p & 1)) * S::X_PLANE + x_own;
    store(result, value);
    if (S::CLUSTER > 1 && t.at.row == 0 && t.mine > 0)
      store_beyond(result + S::BLOCK_ROWS * W, value, t.mine - 1);
    if (S::CLUSTER > 1 && t.at.row == S::BLOCK_ROWS - 1 && t.mine < S::CLUSTER - 1)
      store_beyond(result - S::BLOCK_ROWS * W, value, t.mine + 1);
  }

  /* Write the result of the last step; `to` is the thread's aligned 16 bytes. */
  __device__ __forceinline__ void write(T *to, const T value[V]) {
    T out[V];
#pragma unroll
    for (int v = 0; v < V; v++) {
      const int from = (S::SHIFT + v) % V;
      const T beyond =
          S::SHIFT > 0 ? __shfl_down_sync(ALL, value[from], 1, S::ROW_LANES) : value[from];
      out[v] = S::SHIFT + v < V ? value[from] : beyond;
    }
    if (writes) store(to, out);
  }

  /* Advance to the next plane. */
  __device__ __forceinline__ void turn() {
#pragma unroll
    for (int v = 0; v < V; v++) {
#pragma unroll
      for (int s = 0; s < STEPS; s++) {
        x[s][0][v] = x[s][1][v];
        x[s][1][v] = x[s][2][v];
      }
#pragma unroll
      for (int s = STEPS - 1; s > 0; s--) {
        f[s][v] = f[s - 1][v];
        dinv[s][v] = dinv[s - 1][v];
      }
#pragma unroll
      for (int s = STEPS; s > 0; s--)
        bk[s][v] = bk[s - 1][v];
    }
  }
};

template <typename T, int STEPS, int LANES, int ROWS, int AHEAD, int BLOCKS, bool KEEP, int LOADS>
__global__ void __launch_bounds__(LANES *ROWS, LANES *ROWS * 2 <= 512 ? 2 : 1)
    fused(smooth_level_t<T> l, plan_t plan, const MG_GRID_CONSTANT maps_t maps) {
  using S = shape_t<T, STEPS, LANES, ROWS, AHEAD, BLOCKS, KEEP, LOADS>;
  extern __shared__ __align__(128) unsigned char memory[];
  T *const shared = reinterpret_cast<T *>(memory);
  uint64_t *const arrived = reinterpret_cast<uint64_t *>(shared + S::END);
  const tile_t t = tile_here<S>(plan, l.n);
  T *const to = l.to + (t.i + S::SHIFT) + t.j * l.js;
  columns_t<S, T> c = {};
  c.begin(t, l.n);
  if (S::BOXES && threadIdx.x == 0) mg_arrivals_create(arrived, S::ARRIVALS);
  if (BLOCKS > 1) /* rows beyond the edge of the cluster stay zero */
    for (int e = (int)threadIdx.x; e < 2 * (STEPS - 1) * S::X_PLANE; e += S::THREADS)
      shared[S::STEP + e] = T(0);
  wait_for_all<BLOCKS>();

  slots_t slot = {}, asked = {};
  for (int q = t.first - STEPS - AHEAD; q < t.last + STEPS; q++) {
    /* All threads have finished reading the planes that bundle q + AHEAD overwrites. */
    if (S::BOXES)
      ask_boxes<S>(shared, maps, t.at, q + AHEAD, asked, arrived);
    else
      ask_elements<S>(shared, l, t.at, q + AHEAD, asked);
    next<S>(&asked);
    if (q < t.first - STEPS) continue; /* the first bundles are in flight */
    if (S::BOXES) {
      mg_arrivals_wait(arrived + slot.arrival, slot.parity);
    } else {
      copies_wait<AHEAD>();
      __syncthreads();
    }
    c.take(shared, slot);
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      /* Plane of this step. Skip planes that are not needed, and those of the first bundles, whose
       * lower planes are missing. */
      const int p = q - 1 - s, beyond = STEPS - 1 - s;
      if (p < t.first - beyond || p >= t.last + beyond) continue;
      T value[S::V];
      c.step(shared, slot, l, s, p, value);
      if (s < STEPS - 1)
        c.pass_on(shared, t, s, p, p >= 0 && p < l.n, value);
      else
        c.write(to + p * l.ks, value);
    }
    wait_for_all<BLOCKS>();
    c.turn();
    next<S>(&slot);
  }
  /* No thread exits while its copies are in flight. */
  if (!S::BOXES) copies_wait<0>();
  for (int rest = 0; S::BOXES && rest < AHEAD; rest++) {
    mg_arrivals_wait(arrived + slot.arrival, slot.parity);
    next<S>(&slot);
  }
  wait_for_all<BLOCKS>();
}

/* ---- launches ---- */

/* Tensor map of an array with equal extents in all directions, read in boxes. */
template <typename T>
mg_status_t make_map(CUtensorMap *map, const smooth_level_t<T> &l, const T *from, int extent,
                     int width, int rows) {
  const mg_box_array_t array = {from, (int)sizeof(T), {extent, extent, extent}, l.js, l.ks};
  return mg_cuda_box_map(&array, width, rows, map);
}

template <typename S, typename T> mg_status_t make_maps(maps_t *m, const smooth_level_t<T> &l) {
  MG_TRY(make_map(&m->x, l, l.x, l.n, S::WIDTH, S::X_ROWS));
  MG_TRY(make_map(&m->f, l, l.f, l.n, S::WIDTH, S::X_ROWS - 2 * S::RIM));
  MG_TRY(make_map(&m->beta[0], l, l.beta[0], l.n + 1, S::WIDTH, S::X_ROWS - 2 * S::RIM));
  MG_TRY(make_map(&m->beta[1], l, l.beta[1], l.n + 1, S::WIDTH, S::J_ROWS));
  return make_map(&m->beta[2], l, l.beta[2], l.n + 1, S::WIDTH, S::X_ROWS - 2 * S::RIM);
}

template <typename T, int STEPS, int LANES, int ROWS, int AHEAD, int BLOCKS, bool KEEP, int LOADS>
mg_status_t add(lab_t *lab, smooth_data_t<T> *d, const char *how) {
  using S = shape_t<T, STEPS, LANES, ROWS, AHEAD, BLOCKS, KEEP, LOADS>;
  smooth_level_t<T> &l = d->level;
  lab_launch_t launch = {(const void *)fused<T, STEPS, LANES, ROWS, AHEAD, BLOCKS, KEEP, LOADS>, 0,
                         S::THREADS, S::BYTES};
  bool tensor = false;
  int64_t at_a_time = 0;
  MG_TRY(mg_cuda_has_tma(&tensor));
  if ((S::BOXES || BLOCKS > 1) && !tensor) return MG_OK;
  if (S::BYTES > lab_card().shared_per_block) return MG_OK;
  launch.cluster = BLOCKS;
  MG_TRY(lab_cuda_at_a_time(launch, &at_a_time));
  plan_t plan = {(l.n + S::START - S::LEFT + S::OUT_I - 1) / S::OUT_I,
                 (l.n + S::OUT_J - 1) / S::OUT_J, 0};
  const int64_t tiles = (int64_t)plan.tiles_i * plan.tiles_j;
  at_a_time /= BLOCKS;
  plan.planes = mg_planes_of_blocks(l.n, tiles, at_a_time > 0 ? at_a_time : 1, 0, STEPS, nullptr);
  launch.blocks = tiles * ((l.n + plan.planes - 1) / plan.planes) * BLOCKS;
  maps_t maps = {};
  if (S::BOXES) MG_TRY((make_maps<S>(&maps, l)));
  void *args[] = {&l, &plan, &maps};
  char name[LAB_NAME];
  snprintf(name, sizeof name, "%d step%s, %d x %d, %s", STEPS, STEPS > 1 ? "s" : "", S::WIDTH,
           ROWS * BLOCKS, how);
  /* A x and the update: 24 flops. The diagonal and its inverse: 8, once. */
  return smooth_add(lab, d, launch, args, STEPS, 6.0 * sizeof(T) / STEPS, 24.0 + 8.0 / STEPS, name);
}

/* Several shapes with the same number of steps. */
template <typename T, int STEPS> mg_status_t shapes(lab_t *lab, smooth_data_t<T> *d) {
  MG_TRY(d->expect_steps(STEPS));
  MG_TRY((add<T, STEPS, 16, 32, 1, 1, true, COPIES>(lab, d, "copies")));
  MG_TRY((add<T, STEPS, 16, 16, 1, 1, true, TENSOR>(lab, d, "boxes")));
  MG_TRY((add<T, STEPS, 16, 24, 1, 1, true, TENSOR>(lab, d, "boxes")));
  MG_TRY((add<T, STEPS, 16, 24, 1, 1, false, TENSOR>(lab, d, "reread")));
  MG_TRY((add<T, STEPS, 16, 32, 1, 1, true, TENSOR>(lab, d, "boxes")));
  MG_TRY((add<T, STEPS, 16, 32, 2, 1, true, TENSOR>(lab, d, "2 ahead")));
  MG_TRY((add<T, STEPS, 16, 32, 1, 1, true, ALIGNED>(lab, d, "aligned")));
  MG_TRY((add<T, STEPS, 16, 32, 2, 1, true, ALIGNED>(lab, d, "aligned, 2 ahead")));
  MG_TRY((add<T, STEPS, 16, 32, 1, 2, true, TENSOR>(lab, d, "2 blocks")));
  return add<T, STEPS, 32, 16, 1, 4, true, TENSOR>(lab, d, "4 blocks");
}

template <typename T> mg_status_t rows(lab_t *lab, smooth_data_t<T> *d) {
  lab_table(lab, "smooth", "steps of Jacobi's form in one pass, %s, %d^3 cells, an element a step",
            sizeof(T) == 8 ? "double" : "float", d->level.n);
  MG_TRY((shapes<T, 1>(lab, d)));
  MG_TRY((shapes<T, 2>(lab, d)));
  MG_TRY((shapes<T, 3>(lab, d)));
  return shapes<T, 4>(lab, d);
}
} // namespace

template <typename T> mg_status_t smooth_fused(lab_t *lab, smooth_data_t<T> *d) {
  lab->name_width = 34;
  const mg_status_t status = rows(lab, d);
  lab->name_width = 0;
  return status;
}
template mg_status_t smooth_fused<double>(lab_t *, smooth_data_t<double> *);
template mg_status_t smooth_fused<float>(lab_t *, smooth_data_t<float> *);
