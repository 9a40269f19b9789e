# MG_CUDA: call after AC_PROG_CC. --with-cuda[=DIR|no], --with-cuda-arch=LIST. Compiles a kernel with
# nvcc and links it with CC and the static runtime library. Sets mg_cuda to "yes (version, for sm_..)" or
# "no", and mg_cuda_why to the reason. Substitutes NVCC, NVCCFLAGS (the user's), MG_NVCCFLAGS and
# CUDA_LIBS. Defines HAVE_CUDA.
AC_DEFUN([MG_CUDA],
[AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda=DIR|no], [use CUDA in DIR for levels on the GPU, or no CUDA (default: if this machine has an NVIDIA GPU or driver, search nvcc in PATH and /usr/local/cuda)])],
  [], [with_cuda=auto])
AC_ARG_ENABLE([cuda-debug],
  [AS_HELP_STRING([--enable-cuda-debug], [synchronize after every kernel launch, so that an error names its kernel])])
AC_ARG_WITH([cupti],
  [AS_HELP_STRING([--with-cupti=DIR|no], [use CUPTI in DIR for a test that counts page faults, or no CUPTI (default: search the CUDA toolkit)])],
  [], [with_cupti=auto])
AC_ARG_WITH([nvrtc],
  [AS_HELP_STRING([--with-nvrtc=DIR|no], [use NVRTC of CUDA 12.8 or newer in DIR for hpgmg-bench search, or no NVRTC (default: search the CUDA toolkit)])],
  [], [with_nvrtc=auto])
MG_ABSOLUTE([with_cuda])
MG_ABSOLUTE([with_cupti])
MG_ABSOLUTE([with_nvrtc])
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [flags of the CUDA compiler])
: ${NVCCFLAGS=-O3 -lineinfo}
MG_NVCCFLAGS= CUDA_LIBS= CUPTI_CPPFLAGS= CUPTI_LIBS= NVRTC_CPPFLAGS= NVRTC_LIBS=
mg_cuda=no mg_cuda_why= mg_cupti=no mg_nvrtc=no
# The kernels take 10 minutes to compile, so a machine without GPUs must ask for them.
AS_CASE([$with_cuda,$with_cuda_arch,$NVCC], [auto,auto,],
  [AC_CACHE_CHECK([for an NVIDIA GPU or driver], [mg_cv_nvidia],
     [mg_cv_nvidia=no
      AS_IF([test -e /dev/nvidiactl || test -e /proc/driver/nvidia/version ||
             PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep 'libcuda\.so\.1' >/dev/null], [mg_cv_nvidia=yes])])
   AS_IF([test $mg_cv_nvidia = no],
     [with_cuda=no mg_cuda_why=': this machine has no NVIDIA GPU or driver; --with-cuda compiles for others'])])
AS_IF([test "x$with_cuda" != xno],
  [AS_CASE([$with_cuda],
     [auto|yes], [AC_PATH_PROG([NVCC], [nvcc], [], [$PATH:/usr/local/cuda/bin])],
     [AC_PATH_PROG([NVCC], [nvcc], [], [$with_cuda/bin])])
   AS_IF([test -n "$NVCC"], [_MG_CUDA_TRY])
   AS_CASE([$mg_cuda,$NVCC], [yes*], [], [no,], [mg_cuda_why=': there is no nvcc'],
     [mg_cuda_why=": $NVCC, CUDA ${mg_cuda_version:-?}, cannot build a program (see config.log); CUDA 11.8 or newer is needed, and a g++ that its nvcc supports"])
   AS_CASE([$with_cuda,$mg_cuda], [auto,*|*,yes*], [],
     [AC_MSG_ERROR([--with-cuda=$with_cuda: cannot compile and link a CUDA program$mg_cuda_why])])])
AS_IF([test "$mg_cuda" = no], [MG_NVCCFLAGS= CUDA_LIBS=],
  [AC_DEFINE([HAVE_CUDA], [1], [Define if CUDA is available.])])
AC_SUBST([MG_NVCCFLAGS])
AC_SUBST([CUDA_LIBS])
AC_SUBST([CUPTI_CPPFLAGS])
AC_SUBST([CUPTI_LIBS])
AC_SUBST([NVRTC_CPPFLAGS])
AC_SUBST([NVRTC_LIBS])
AS_CASE([$with_cupti,$mg_cupti], [auto,*|no,*|*,yes], [],
  [AC_MSG_ERROR([--with-cupti=$with_cupti: cannot compile and link with CUPTI; DIR must contain include/cupti.h; CUDA is needed too])])
AS_CASE([$with_nvrtc,$mg_nvrtc], [auto,*|no,*|*,yes*], [],
  [AC_MSG_ERROR([--with-nvrtc=$with_nvrtc: cannot compile and link with nvrtc.h and libnvrtc of CUDA 12.8 or newer (see config.log); CUDA is needed too])])
AM_CONDITIONAL([HAVE_CUDA], [test "$mg_cuda" != no])
AC_DEFINE_UNQUOTED([MG_BUILD_CUDA], ["$mg_cuda"], [CUDA: yes, its version and targets, or no.])])

# Targets: machine code for each compute capability, and PTX of the last one for newer GPUs.
AC_DEFUN([_MG_CUDA_ARCH],
[AS_CASE([$with_cuda_arch],
  [auto|yes],
    [mg_cuda_arch=`nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
       tr -d . | grep -x '@<:@0-9@:>@*' | sort -un | tr '\n' ' '`
     # GPUs newer than the compiler run the PTX of the default list.
     mg_known=`$NVCC --list-gpu-code 2>/dev/null`
     for mg_arch in $mg_cuda_arch; do
       test -z "$mg_known" || echo "$mg_known" | grep -qx "sm_$mg_arch" || mg_cuda_arch=
     done
     test -n "$mg_cuda_arch" || mg_cuda_arch='80 90'],
  [_MG_CUDA_ARCH_GIVEN])
for mg_arch in $mg_cuda_arch; do
  MG_NVCCFLAGS="$MG_NVCCFLAGS -gencode=arch=compute_$mg_arch,code=sm_$mg_arch"
done
MG_NVCCFLAGS="$MG_NVCCFLAGS -gencode=arch=compute_$mg_arch,code=compute_$mg_arch"])

# Check the user's list here: an error of nvcc for an unknown target would be hidden in config.log.
AC_DEFUN([_MG_CUDA_ARCH_GIVEN],
[mg_known=`$NVCC --list-gpu-code 2>/dev/null | sed -n 's/^sm_//p' | sort -n | tr '\n' ' ' | sed 's/ $//'`
for mg_arch in $mg_cuda_arch; do
  mg_base=`echo "$mg_arch" | tr -d af`
  test -z "$mg_known" || echo " $mg_known " | grep -q " $mg_base " ||
    AC_MSG_ERROR([--with-cuda-arch=$with_cuda_arch: $NVCC does not support $mg_arch; it supports $mg_known])
done])

AC_DEFUN([_MG_CUDA_TRY],
[AC_MSG_CHECKING([for CUDA])
_MG_CUDA_ARCH
mg_cuda_version=`$NVCC --version | sed -n 's/.*release \(@<:@0-9.@:>@*\).*/\1/p'`
# Contraction is off, as in C: formulas call fma() explicitly.
MG_NVCCFLAGS="-std=c++17 -fmad=false -Xcompiler=-fPIC,-fvisibility=hidden$MG_NVCCFLAGS"
AS_IF([test "x$enable_cuda_debug" = xyes], [MG_NVCCFLAGS="$MG_NVCCFLAGS -DMG_CUDA_DEBUG"])
# Unlike gcc, g++ warns of fields that a designated initializer omits.
AS_IF([test "x$enable_werror" = xyes],
  [MG_NVCCFLAGS="$MG_NVCCFLAGS -Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers,-Werror"],
  [MG_NVCCFLAGS="$MG_NVCCFLAGS -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers"])
mg_dir=`AS_DIRNAME(["$NVCC"])`/..
mg_libdir=
for mg_try in "$mg_dir/lib64" "$mg_dir"/targets/*/lib "$mg_dir/lib" /usr/lib/*-linux-gnu*; do
  test -z "$mg_libdir" && test -f "$mg_try/libcudart_static.a" && mg_libdir=$mg_try
done
CUDA_LIBS="$mg_libdir/libcudart_static.a -lstdc++ -ldl -lrt -lpthread"
cat >conftest.cu <<'_ACEOF'
#include <cuda_runtime.h>
#if CUDART_VERSION < 11080
#error "CUDA 11.8 or newer is needed"
#endif
__global__ void kernel(double *x) { x[[threadIdx.x]] += 1.0; }
extern "C" int probe(void) { kernel<<<1, 32>>>(nullptr); return cudaGetLastError() != cudaSuccess; }
_ACEOF
AS_IF([$NVCC $MG_NVCCFLAGS $NVCCFLAGS -c conftest.cu -o conftest_cuda.o >&AS_MESSAGE_LOG_FD 2>&1],
  [mg_save_LIBS=$LIBS
   LIBS="conftest_cuda.o $CUDA_LIBS $LIBS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([int probe(void);], [return probe();])],
     [mg_cuda="yes ($mg_cuda_version, for sm_`echo $mg_cuda_arch | sed 's/ / and sm_/g'`)"])
   LIBS=$mg_save_LIBS])
rm -f conftest.cu conftest_cuda.o
AC_MSG_RESULT([$mg_cuda])
AS_IF([test "$mg_cuda" != no], [_MG_NVTX
_MG_CUPTI
_MG_NVRTC])])

# NVTX, which names operations in profilers; header-only.
AC_DEFUN([_MG_NVTX],
[AC_MSG_CHECKING([for NVTX])
cat >conftest.cu <<'_ACEOF'
#include <nvtx3/nvToolsExt.h>
int probe(void) { return nvtxRangePushA("x") + nvtxRangePop(); }
_ACEOF
mg_nvtx=no
AS_IF([$NVCC $MG_NVCCFLAGS $NVCCFLAGS -c conftest.cu -o conftest_nvtx.o >&AS_MESSAGE_LOG_FD 2>&1],
  [mg_nvtx=yes
   AC_DEFINE([HAVE_NVTX], [1], [Define if NVTX is available.])])
rm -f conftest.cu conftest_nvtx.o
AC_MSG_RESULT([$mg_nvtx])])

# CUPTI, which counts page faults in a test. Sets CUPTI_CPPFLAGS and CUPTI_LIBS, empty without it.
AC_DEFUN([_MG_CUPTI],
[AC_MSG_CHECKING([for CUPTI])
mg_cupti_include= mg_cupti_library=
AS_CASE([$with_cupti],
  [no], [mg_cupti_dirs=],
  [auto|yes], [mg_cupti_dirs="$mg_dir/extras/CUPTI $mg_dir"],
  [mg_cupti_dirs=$with_cupti])
for mg_try in $mg_cupti_dirs; do
  test -z "$mg_cupti_include" && test -f "$mg_try/include/cupti.h" && mg_cupti_include=$mg_try/include
  for mg_library in "$mg_try"/lib64/libcupti.so* "$mg_try"/lib/libcupti.so*; do
    test -z "$mg_cupti_library" && test -f "$mg_library" && mg_cupti_library=$mg_library
  done
done
AS_IF([test -n "$mg_cupti_include" && test -n "$mg_cupti_library"],
  [CUPTI_CPPFLAGS="-isystem $mg_cupti_include -isystem $mg_dir/include"
   CUPTI_LIBS="$mg_cupti_library -Wl,-rpath,`AS_DIRNAME(["$mg_cupti_library"])`"
   mg_save_CPPFLAGS=$CPPFLAGS mg_save_LIBS=$LIBS
   CPPFLAGS="$CPPFLAGS $CUPTI_CPPFLAGS" LIBS="$CUPTI_LIBS $CUDA_LIBS $LIBS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([@%:@include <cupti.h>],
       [return cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);])],
     [mg_cupti=yes
      AC_DEFINE([HAVE_CUPTI], [1], [Define if CUPTI is available, for a test.])],
     [CUPTI_CPPFLAGS= CUPTI_LIBS=])
   CPPFLAGS=$mg_save_CPPFLAGS LIBS=$mg_save_LIBS])
AC_MSG_RESULT([$mg_cupti])])

# NVRTC, and a CUDA runtime library that loads its output. Sets mg_nvrtc to "yes" or "no", and
# NVRTC_CPPFLAGS and NVRTC_LIBS, empty without it.
AC_DEFUN([_MG_NVRTC],
[AC_MSG_CHECKING([for NVRTC])
mg_nvrtc_include= mg_nvrtc_library=
AS_CASE([$with_nvrtc],
  [no], [mg_nvrtc_dirs=],
  [auto|yes], [mg_nvrtc_dirs=$mg_dir],
  [mg_nvrtc_dirs=$with_nvrtc])
for mg_try in $mg_nvrtc_dirs; do
  test -z "$mg_nvrtc_include" && test -f "$mg_try/include/nvrtc.h" && mg_nvrtc_include=$mg_try/include
  for mg_library in "$mg_try/lib64/libnvrtc.so" "$mg_try"/targets/*/lib/libnvrtc.so "$mg_try/lib/libnvrtc.so" \
    /usr/lib/*-linux-gnu*/libnvrtc.so; do
    test -z "$mg_nvrtc_library" && test -f "$mg_library" && mg_nvrtc_library=$mg_library
  done
done
AS_IF([test -n "$mg_nvrtc_include" && test -n "$mg_nvrtc_library"],
  [NVRTC_CPPFLAGS="-isystem $mg_nvrtc_include -isystem $mg_dir/include"
   NVRTC_LIBS="$mg_nvrtc_library -Wl,-rpath,`AS_DIRNAME(["$mg_nvrtc_library"])`"
   mg_save_CPPFLAGS=$CPPFLAGS mg_save_LIBS=$LIBS
   CPPFLAGS="$CPPFLAGS $NVRTC_CPPFLAGS" LIBS="$NVRTC_LIBS $CUDA_LIBS $LIBS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([@%:@include <cuda_runtime_api.h>
@%:@include <nvrtc.h>],
       [int major, minor;
        cudaLibrary_t library = 0;
        cudaKernel_t kernel;
        return nvrtcVersion(&major, &minor) != NVRTC_SUCCESS ||
          cudaLibraryGetKernel(&kernel, library, "x") != cudaSuccess || cudaLibraryUnload(library) != cudaSuccess;])],
     [mg_nvrtc=yes
      AC_DEFINE([HAVE_NVRTC], [1], [Define if CUDA source can be compiled at run time.])],
     [NVRTC_CPPFLAGS= NVRTC_LIBS=])
   CPPFLAGS=$mg_save_CPPFLAGS LIBS=$mg_save_LIBS])
AC_MSG_RESULT([$mg_nvrtc])])

# --with-cuda-arch=LIST: sets mg_cuda_arch to the list, separated by blanks; empty: of this machine. Call it before anything
# is compiled.
AC_DEFUN([MG_CUDA_ARCH],
[AC_ARG_WITH([cuda-arch],
  [AS_HELP_STRING([--with-cuda-arch=LIST], [compute capabilities to compile for, such as "80 90" (default: those of this machine's GPUs, else 80 and 90 with PTX for newer ones)])],
  [], [with_cuda_arch=auto])
AS_CASE([$with_cuda_arch], [auto|yes], [mg_cuda_arch=],
  [mg_cuda_arch=`echo "$with_cuda_arch" | tr ',;' '  ' | sed 's/sm_//g'`
   mg_arch= mg_bad=
   for mg_arch in $mg_cuda_arch; do
     echo "$mg_arch" | grep -qx '@<:@1-9@:>@@<:@0-9@:>@\{1,2\}@<:@af@:>@\{0,1\}' || mg_bad=yes
   done
   AS_IF([test -z "$mg_arch" || test -n "$mg_bad"],
     [AC_MSG_ERROR([--with-cuda-arch=$with_cuda_arch: not a list of compute capabilities without point, such as 80 or "80 90", separated by blanks, commas or semicolons])])])])
