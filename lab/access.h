/* How kernels of lab/rungs and lab/exercises access their arrays: LOAD(p, i) reads p[i],
 * STORE(p, i, value) writes it. Such a kernel is compiled twice: with plain accesses, which are
 * timed, and, with LAB_COUNTED defined, with accesses that count their bytes. RUNG(name) is its
 * name. SIMD(clauses) asks for vectors, except where bytes are counted. No include guard. */
#undef LOAD
#undef LOAD_FRESH
#undef LOAD_ONCE
#undef STORE
#undef RUNG
#undef SIMD

#ifndef LAB_COUNTED
#define RUNG(name)         name
#define PRAGMA(text)       _Pragma(#text)
#define SIMD(...)          PRAGMA(omp simd __VA_ARGS__)
#define LOAD(p, i)         ((p)[i])
#define STORE(p, i, value) ((void)((p)[i] = (value)))
#else
#define RUNG(name) name##_counted
#define SIMD(...)
#define LOAD(p, i) (*(__typeof__(&*(p)))lab_count_load(&(p)[i], sizeof *(p)))
#define STORE(p, i, value)                                                                         \
  do {                                                                                             \
    const __typeof__(*(p)) stored_ = (value); /* its loads come first */                           \
    *(__typeof__(&*(p)))lab_count_store(&(p)[i], sizeof *(p)) = stored_;                           \
  } while (0)
#endif

/* On a GPU, LOAD_ONCE is of a value that no other thread reads, which need not be cached, and
 * LOAD_FRESH of a value that another block has written, which comes from L2. */
#if defined(__CUDACC__) && !defined(LAB_COUNTED)
#define LOAD_ONCE(p, i)  __ldcs(&(p)[i])
#define LOAD_FRESH(p, i) __ldcg(&(p)[i])
#else
#define LOAD_ONCE(p, i)  LOAD(p, i)
#define LOAD_FRESH(p, i) LOAD(p, i)
#endif
