# MG_HDF5: call after MG_MPI. --with-hdf5[=DIR|serial|no]. Compiles and links an HDF5 program. With MPI,
# tries the parallel library first. Sets mg_hdf5 to "parallel (version)", "serial (version)" or "no".
# Substitutes HDF5_CFLAGS and HDF5_LIBS. Defines HAVE_HDF5 and HAVE_PARALLEL_HDF5.
AC_DEFUN([MG_HDF5],
[AC_ARG_WITH([hdf5],
  [AS_HELP_STRING([--with-hdf5=DIR|serial|no], [use HDF5 1.10.2 or newer in DIR for --dump, --restart, --coefficients and --rhs, or the serial library, or no HDF5 (default: search)])],
  [], [with_hdf5=auto])
HDF5_CFLAGS= HDF5_LIBS= mg_hdf5=no
AS_IF([test "x$with_hdf5" != xno],
  [AC_MSG_CHECKING([for HDF5])
   AS_CASE([$with_hdf5],
     [auto|yes|serial],
       [# Do not use the HDF5 of another MPI library.
        mg_hdf5_names="${mg_mpi_flavour:+hdf5-$mg_mpi_flavour} hdf5-serial hdf5 plain"
        test "$with_hdf5" != serial || mg_hdf5_names=hdf5-serial
        for mg_name in $mg_hdf5_names; do
          test "$mg_hdf5" = no || break
          AS_IF([test $mg_name = plain], [HDF5_CFLAGS= HDF5_LIBS=-lhdf5],
            [HDF5_CFLAGS=`$PKG_CONFIG --cflags $mg_name 2>/dev/null`
             HDF5_LIBS=`$PKG_CONFIG --libs $mg_name 2>/dev/null`])
          AS_IF([test -n "$HDF5_LIBS"], [_MG_HDF5_TRY])
        done],
     [MG_LIBRARY_DIR([$with_hdf5], [hdf5.h], [hdf5], [HDF5_CFLAGS], [HDF5_LIBS])
      AS_IF([test -n "$HDF5_LIBS"], [_MG_HDF5_TRY])])
   AS_IF([test "$mg_hdf5" = no], [HDF5_CFLAGS= HDF5_LIBS=],
     [AC_DEFINE([HAVE_HDF5], [1], [Define if HDF5 is available.])])
   AS_CASE([$mg_hdf5],
     [parallel*], [AC_DEFINE([HAVE_PARALLEL_HDF5], [1], [Define if HDF5 supports MPI-IO.])])
   AC_MSG_RESULT([$mg_hdf5])
   AS_CASE([$with_hdf5,$mg_hdf5], [auto,*|*,parallel*|*,serial*], [],
     [AC_MSG_ERROR([--with-hdf5=$with_hdf5: cannot compile and link with hdf5.h and libhdf5; on Debian and Ubuntu: apt-get install libhdf5-openmpi-dev (or libhdf5-dev)])])])
AM_CONDITIONAL([HAVE_HDF5], [test "$mg_hdf5" != no])
AC_SUBST([HDF5_CFLAGS])
AC_SUBST([HDF5_LIBS])
AC_DEFINE_UNQUOTED([MG_BUILD_HDF5], ["$mg_hdf5"], [HDF5: parallel, serial or no, and the version.])])

AC_DEFUN([_MG_HDF5_TRY],
[mg_save_CFLAGS=$CFLAGS mg_save_LIBS=$LIBS
CFLAGS="$CFLAGS $HDF5_CFLAGS $MPI_CFLAGS" LIBS="$HDF5_LIBS $MPI_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([@%:@include <hdf5.h>], [return H5open() < H5F_LIBVER_V110 - H5F_LIBVER_V110;])],
  [MG_MACRO_VALUE([mg_version], [@%:@include <hdf5.h>],
     [H5_VERS_MAJOR.H5_VERS_MINOR.H5_VERS_RELEASE])
   mg_hdf5="serial ($mg_version)"
   AS_IF([test $mg_mpi = yes],
     [AC_LINK_IFELSE([AC_LANG_PROGRAM([@%:@include <hdf5.h>],
        [return H5Pset_fapl_mpio(0, MPI_COMM_WORLD, MPI_INFO_NULL) < 0;])],
        [mg_hdf5="parallel ($mg_version)"])])])
CFLAGS=$mg_save_CFLAGS LIBS=$mg_save_LIBS])
