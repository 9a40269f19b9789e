/* Limits of launches of one block over the coarsest levels: the plan's rows (coarse_path.c) and the
 * kernels use the same. */
#ifndef MG_CUDA_COARSE_PATH_H
#define MG_CUDA_COARSE_PATH_H

enum {
  MG_BLOCK_MAX_THREADS = 512,           /**< 1024 are slower */
  MG_BLOCK_MAX_CELLS = 16 * 16 * 16,    /**< of a bottom solve */
  MG_BLOCK_PAIRED_CELLS = 10 * 10 * 10, /**< of a level of a coarse cycle */
  MG_BLOCK_MAX_STEPS = 64,              /**< of a smooth */
  MG_COARSE_LEVELS = 6,                 /**< of a coarse cycle */
  MG_PAIRED_VALUES = 8,                 /**< coefficients of a cell in shared memory */
  MG_FV4_BLOCK_LEVELS = 3,
  MG_FV4_BLOCK_SIDE = 8,       /**< cells per side of the finest level */
  MG_FV4_BLOCK_BOTTOM_SIDE = 3 /**< of the coarsest level */
};

/** Size of mg_block_shared_t for cells of `value_bytes` bytes. */
#define MG_BLOCK_SHARED_BYTES(value_bytes) (29504 + 2 * MG_BLOCK_PAIRED_CELLS * (value_bytes))

#endif
