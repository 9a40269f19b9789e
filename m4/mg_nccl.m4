# MG_NCCL: call after MG_CUDA. --with-nccl[=DIR|no]. Compiles a call with nvcc and links it with CC. DIR
# is a prefix, an unpacked package, or the folder nccl of a Python wheel, which has only libnccl.so.2.
# Sets mg_nccl to "yes (version)" or "no". Substitutes NCCL_CFLAGS (for nvcc) and NCCL_LIBS. Defines
# HAVE_NCCL.
AC_DEFUN([MG_NCCL],
[AC_ARG_WITH([nccl],
  [AS_HELP_STRING([--with-nccl=DIR|no], [use NCCL in DIR for messages between GPUs, or no NCCL (default: search, also in the CUDA toolkit)])],
  [], [with_nccl=auto])
MG_ABSOLUTE([with_nccl])
NCCL_CFLAGS= NCCL_LIBS= mg_nccl=no
AS_IF([test "x$with_nccl" != xno && test "$mg_cuda" != no],
  [AC_MSG_CHECKING([for NCCL])
   AS_CASE([$with_nccl],
     [auto|yes], [mg_nccl_dirs="plain `AS_DIRNAME(["$NVCC"])`/.."], [mg_nccl_dirs=$with_nccl])
   for mg_nccl_dir in $mg_nccl_dirs; do
     test "$mg_nccl" = no || break
     _MG_NCCL_FIND
     AS_IF([test -n "$NCCL_LIBS"], [_MG_NCCL_TRY])
   done
   AC_MSG_RESULT([$mg_nccl])])
AS_CASE([$with_nccl,$mg_nccl], [auto,*|no,*|*,yes*], [],
  [AC_MSG_ERROR([--with-nccl=$with_nccl: cannot compile and link with nccl.h and libnccl (see config.log); CUDA is needed too])])
AS_IF([test "$mg_nccl" = no], [NCCL_CFLAGS= NCCL_LIBS=],
  [AC_DEFINE([HAVE_NCCL], [1], [Define if NCCL is available.])])
AC_SUBST([NCCL_CFLAGS])
AC_SUBST([NCCL_LIBS])
AM_CONDITIONAL([HAVE_NCCL], [test "$mg_nccl" != no])
AC_DEFINE_UNQUOTED([MG_BUILD_NCCL], ["$mg_nccl"], [NCCL: yes and its version, or no.])])

AC_DEFUN([_MG_NCCL_FIND],
[NCCL_CFLAGS= NCCL_LIBS=
AS_IF([test "$mg_nccl_dir" = plain], [NCCL_LIBS=-lnccl],
  [for mg_root in "$mg_nccl_dir" "$mg_nccl_dir/usr"; do
     # Use -I: nvcc searches the toolkit's folder, which may have another nccl.h, before -isystem.
     test -f "$mg_root/include/nccl.h" && NCCL_CFLAGS="-I$mg_root/include"
     for mg_try in "$mg_root"/lib64 "$mg_root"/lib "$mg_root"/lib/*-linux-gnu*; do
       test -z "$NCCL_LIBS" || break
       for mg_file in libnccl.so libnccl.so.2; do
         test -f "$mg_try/$mg_file" &&
           NCCL_LIBS="-L$mg_try -Wl,-rpath,$mg_try -l:$mg_file" && break
       done
     done
   done])])

AC_DEFUN([_MG_NCCL_TRY],
[cat >conftest.cu <<'_ACEOF'
#include <nccl.h>
extern "C" int probe(void) { int v; return ncclGetVersion(&v) != ncclSuccess; }
mg_value_begin NCCL_MAJOR.NCCL_MINOR.NCCL_PATCH mg_value_end
_ACEOF
mg_version=`$NVCC $NCCL_CFLAGS -E conftest.cu 2>/dev/null | sed '/^@%:@/d' | tr -d ' \n' |
  sed -n 's/.*mg_value_begin\(.*\)mg_value_end.*/\1/p'`
sed '/^mg_value/d' conftest.cu >conftest2.cu
AS_IF([$NVCC $MG_NVCCFLAGS $NCCL_CFLAGS $NVCCFLAGS -c conftest2.cu -o conftest_nccl.o >&AS_MESSAGE_LOG_FD 2>&1],
  [mg_save_LIBS=$LIBS
   LIBS="conftest_nccl.o $NCCL_LIBS $CUDA_LIBS $LIBS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([int probe(void);], [return probe();])],
     [mg_nccl="yes ($mg_version)"])
   LIBS=$mg_save_LIBS])
rm -f conftest.cu conftest2.cu conftest_nccl.o])
