/* Functions in headers that C and CUDA compile alike. */
#ifndef MG_INLINE_H
#define MG_INLINE_H

/** Formulas of a cell: always inlined, or loops around them do not vectorize. */
#ifdef __CUDACC__
#define MG_INLINE static __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define MG_INLINE static inline __attribute__((always_inline))
#else
#define MG_INLINE static inline
#endif

/** Longer functions, which may stay calls. */
#ifdef __CUDACC__
#define MG_SHARED static inline __host__ __device__
#else
#define MG_SHARED static inline
#endif

#endif
