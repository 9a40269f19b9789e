/* Qualifiers of header functions that both C and CUDA compile. */
#ifndef MG_INLINE_H
#define MG_INLINE_H

/** Per-cell formulas: always inlined, since loops around a call do not vectorize. */
#ifdef __CUDACC__
#define MG_INLINE static __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define MG_INLINE static inline __attribute__((always_inline))
#else
#define MG_INLINE static inline
#endif

/** Longer functions, which need not be inlined. */
#ifdef __CUDACC__
#define MG_SHARED static inline __host__ __device__
#else
#define MG_SHARED static inline
#endif

#endif
