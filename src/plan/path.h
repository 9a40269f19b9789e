/* Paths: the ways to smooth a level, to solve the coarsest one, and to run all coarse levels.
 *
 * A fast path is one row, in a file next to the code that runs it. The plan passes the facts of a
 * level to the rows of its place, in order of preference, and uses the first one that can; if none
 * can, single operations. Only rows read facts, and each has its own limits. Rows of GPUs are plain
 * C: a machine without one can plan for it. */
#ifndef MG_PATH_H
#define MG_PATH_H

#include "base/operators.h"
#include "base/types.h"
#include "formulas/view.h"
#include "plan/decomp.h"

/** Sizes on a rank for which a path pays; [1]: of colored steps. Cells: on 132 SMs. */
typedef struct {
  double min_cells, one_exchange_max_cells, one_exchange_min_ranks;
  /** Vectors, in L2s, from which the last sweep computes the residual, the first interpolates. */
  double residual_min_l2[2], interpolation_min_l2;
} mg_path_limits_t;

typedef struct mg_level_plan mg_level_plan_t;

/** What rows may know about a level. */
typedef struct {
  const mg_level_plan_t *plan; /**< the level, followed by all coarser ones */
  int n_levels;                /**< of these */
  const mg_layout_t *layout;
  const mg_operator_traits_t *op;
  bool periodic[3]; /**< in each direction */
  bool neumann;     /**< has such a side */
  bool alpha_varies;
  mg_gpu_t gpu;
  int32_t coarse_box_dim; /**< its cells per side of a box; 0: none, or at another place */
  mg_bottom_t bottom;

  int n_steps;                    /**< of a smooth */
  int max_fused;                  /**< maximum number of steps of a fused sweep; 1: fuse nothing */
  bool fuse, look_back;           /**< mg_steps_fuse, mg_steps_look_back */
  bool colored;                   /**< each step updates one color */
  const mg_path_limits_t *limits; /**< of the row that is called */
} mg_level_facts_t;

/** A row of the table. */
typedef struct {
  const char *name; /**< as reports print it */
  const char *why;  /**< its gain, and where it was measured; docs/kernels.md has it */
  mg_path_limits_t limits;
  bool (*can)(const mg_level_facts_t *level);
  /** Plan a level that the path can smooth: ghost layers and what sweeps do. NULL: nothing.
   *  @param[in,out] plan  single steps at entry; the next coarser level, if any, follows */
  void (*needs)(const mg_level_facts_t *level, mg_level_plan_t *plan);
  /** Whether sweeps of n steps suit this rank's patches. All ranks use the path, or none. NULL: all
   * do. */
  bool (*suits)(const mg_view_t *v, int n);
} mg_path_t;

/** Backend of a level. */
typedef enum {
  MG_PLACE_CPU,
  MG_PLACE_CUDA,
  MG_PLACE_CUDA_SIMPLE,
  MG_PLACE_GUARD,
  MG_N_PLACES
} mg_place_t;

static inline bool mg_place_is_cuda(mg_place_t place) {
  return place == MG_PLACE_CUDA || place == MG_PLACE_CUDA_SIMPLE;
}

/** One level of the hierarchy. */
struct mg_level_plan {
  mg_layout_t layout;
  mg_place_t place;
  double h[3];       /**< width of a whole cell in each direction (mg_plan_width) */
  bool linear_walls; /**< wall formulas are linear (mg_plan_has_linear_walls) */
  int value_bytes;   /**< 8: double; 4: float */
  unsigned vectors;  /**< of each patch: bit 1 << mg_vector_t for each */
  bool inner_cg;     /**< --krylov=kcycle takes CG steps here (solver/krylov.c) */
  unsigned u_holds;  /**< of double cells beside a float level: the float vectors, at most two, in
                        the memory of MG_U. Each is in use only while MG_U is not */
  bool nests_coarse; /**< patches of the next coarser level are the halves of these */
  bool halves;       /**< the next coarser level, if any, has half the cells in each direction */
  bool shared;       /**< in memory that the processor of the next finer level can access too */
  int ghost_layers;  /**< ghost layers of each patch: as many as any operation reads */
  int wall_layers;   /**< ghost layers outside walls; on a CPU, as many as the operator reads */
  const mg_path_t *path;   /**< how it is smoothed */
  const mg_path_t *bottom; /**< how the coarsest level is solved; NULL for all others */
  const mg_path_t *guess; /**< of double cells beside a float level: how it is read; NULL: stored */
  const mg_path_t *cycle; /**< how one launch runs this and all coarser levels; NULL: none does */
  int n_steps;         /**< of a smooth, for which its path was chosen; a slow solve takes more */
  int steps_per_pass;  /**< maximum number of fused smoother steps; 1: not fused */
  bool resident;       /**< a smooth is one sweep that keeps the level in the GPU, or passes it
                          through a CPU's caches once; steps_per_pass is the number of its steps */
  bool fused_residual; /**< the last fused steps may compute the residual too */
  bool fused_interpolation; /**< the first fused steps may interpolate their input */
  bool reads_dinv;          /**< reads 1 / diagonal also where single steps compute it */
  bool one_exchange; /**< a smooth may exchange ghosts once; its sweeps then compute the ghosts for
                        later sweeps, a residual and an interpolation */
};

/** The paths of a place: fast ones in order of preference, then NULL. */
typedef struct {
  const mg_path_t *smooth[3]; /**< otherwise mg_path_steps */
  const mg_path_t *bottom[3]; /**< otherwise mg_path_bottom */
  const mg_path_t *cycle[3];  /**< otherwise NULL */
  const mg_path_t *guess[2];  /**< otherwise NULL: stored */
  bool norms;                 /**< computes norms of residuals without storing these */
} mg_place_paths_t;

/** The rows: in plan/plan_level.c, and in *_path.c of the folder of what they describe. */
extern const mg_path_t mg_path_steps, mg_path_bottom, mg_path_cpu_pass, mg_path_cuda_resident,
    mg_path_cuda_fused, mg_path_cuda_bottom, mg_path_cuda_direct, mg_path_cuda_cubes,
    mg_path_cuda_fv4, mg_path_cuda_guess;

/** Cells per rank, on average. */
static inline int64_t mg_cells_per_rank(const mg_level_facts_t *level) {
  return mg_layout_n_cells(level->layout) / level->layout->n_ranks;
}

#endif
