/* How kernels of lab/rungs access their arrays: LOAD(p, i) reads p[i], STORE(p, i, value) writes
 * it. Such a kernel is compiled twice: with plain accesses, which are timed, and, with LAB_COUNTED
 * defined, with accesses that count their bytes. RUNG(name) is its name. No include guard. */
#undef LOAD
#undef LOAD_ONCE
#undef STORE
#undef RUNG

#ifndef LAB_COUNTED
#define RUNG(name)         name
#define LOAD(p, i)         ((p)[i])
#define STORE(p, i, value) ((void)((p)[i] = (value)))
#else
#define RUNG(name)         name##_counted
#define LOAD(p, i)         (lab_count_load(sizeof *(p)), (p)[i])
#define STORE(p, i, value) (lab_count_store(sizeof *(p)), (void)((p)[i] = (value)))
#endif

/* LOAD_ONCE: of a value that no other thread reads. A GPU then need not cache it. */
#if defined(__CUDACC__) && !defined(LAB_COUNTED)
#define LOAD_ONCE(p, i) __ldcs(&(p)[i])
#else
#define LOAD_ONCE(p, i) LOAD(p, i)
#endif
