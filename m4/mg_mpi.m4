# MG_MPI_CC: call before AC_PROG_CC. Sets mg_cc_list, the compilers to try: mpicc first, unless
# --with-mpi=no. CC of the user overrides the list.
AC_DEFUN([MG_MPI_CC],
[AC_ARG_WITH([mpi],
  [AS_HELP_STRING([--with-mpi=DIR|no], [use MPI in DIR, or no MPI: one process only (default: search)])],
  [], [with_mpi=auto])
MG_ABSOLUTE([with_mpi])
AC_ARG_VAR([MPICC], [MPI compiler wrapper, whose flags are used if CC does not find MPI])
AS_CASE([$with_mpi],
  [no], [mg_cc_list='gcc clang cc'],
  [auto|yes], [mg_cc_list='mpicc gcc clang cc'],
  [mg_cc_list='gcc clang cc'
   AS_IF([test -x "$with_mpi/bin/mpicc"], [],
     [AC_MSG_ERROR([--with-mpi=$with_mpi: there is no $with_mpi/bin/mpicc])])
   : ${MPICC=$with_mpi/bin/mpicc} ${CC=$MPICC}])])

# MG_MPI: call after AC_PROG_CC. Compiles and links an MPI program with CC, then with CC and the flags
# printed by `mpicc -show` (so that CC=clang stays clang). Sets mg_mpi to yes or no, and mg_mpi_what to
# the library and its version. Substitutes MPI_CFLAGS, MPI_LIBS, and MG_MPI_OF_CC: yes if CC has MPI without flags.
# Defines HAVE_MPI.
AC_DEFUN([MG_MPI],
[MPI_CFLAGS= MPI_LIBS= mg_mpi=no mg_mpi_what=no
AS_IF([test "x$with_mpi" != xno],
  [AC_MSG_CHECKING([for MPI])
   _MG_MPI_TRY([mg_mpi=yes mg_mpi_how="through $CC"])
   AS_IF([test $mg_mpi = no],
     [: ${MPICC=mpicc}
      for mg_word in `$MPICC -show 2>/dev/null | sed 's/^@<:@^ @:>@*//'`; do
        AS_CASE([$mg_word],
          [-l*|-L*|-Wl,*], [MPI_LIBS="$MPI_LIBS $mg_word"],
          [-I*|-D*|-pthread], [MPI_CFLAGS="$MPI_CFLAGS $mg_word"])
      done
      AS_IF([test -n "$MPI_LIBS"],
        [_MG_MPI_TRY([mg_mpi=yes mg_mpi_how="$CC with the flags of $MPICC"])])])
   AS_IF([test $mg_mpi = yes], [AC_MSG_RESULT([yes, $mg_mpi_how])],
     [AC_MSG_RESULT([no])
      MPI_CFLAGS= MPI_LIBS=
      AS_IF([test "x$with_mpi" != xauto],
        [AC_MSG_ERROR([--with-mpi=$with_mpi: cannot compile and link an MPI program; on Debian and Ubuntu: apt-get install libopenmpi-dev openmpi-bin])])])])
AS_IF([test $mg_mpi = yes],
  [AC_DEFINE([HAVE_MPI], [1], [Define if MPI is available.])
   mg_save_CFLAGS=$CFLAGS
   CFLAGS="$CFLAGS $MPI_CFLAGS"
   mg_mpi_what=MPI mg_mpi_flavour=
   AC_COMPILE_IFELSE([AC_LANG_PROGRAM([@%:@include <mpi.h>
@%:@ifndef OMPI_MAJOR_VERSION
@%:@error
@%:@endif], [])],
     [MG_MACRO_VALUE([mg_mpi_version], [@%:@include <mpi.h>],
        [OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION])
      mg_mpi_flavour=openmpi mg_mpi_what="Open MPI $mg_mpi_version"],
     [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([@%:@include <mpi.h>
@%:@ifndef MPICH_VERSION
@%:@error
@%:@endif], [])],
       [MG_MACRO_VALUE([mg_mpi_version], [@%:@include <mpi.h>], [MPICH_VERSION])
        mg_mpi_flavour=mpich mg_mpi_what="MPICH $mg_mpi_version"])])
   AC_COMPILE_IFELSE([AC_LANG_PROGRAM([@%:@include <mpi.h>
@%:@include <mpi-ext.h>], [])],
     [AC_DEFINE([HAVE_MPI_EXT_H], [1], [Define if mpi-ext.h is available, which reports CUDA support.])])
   CFLAGS=$mg_save_CFLAGS])
AC_SUBST([MPI_CFLAGS])
AC_SUBST([MPI_LIBS])
AS_CASE([$mg_mpi,$MPI_LIBS], [yes,], [MG_MPI_OF_CC=yes], [MG_MPI_OF_CC=no])
AC_SUBST([MG_MPI_OF_CC])
AM_CONDITIONAL([HAVE_MPI], [test $mg_mpi = yes])
AC_DEFINE_UNQUOTED([MG_BUILD_MPI], ["$mg_mpi_what"], [MPI library and version, or "no".])])

AC_DEFUN([_MG_MPI_TRY],
[mg_save_CFLAGS=$CFLAGS mg_save_LIBS=$LIBS
CFLAGS="$CFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([@%:@include <mpi.h>],
  [int n; MPI_Init(0, 0); MPI_Comm_size(MPI_COMM_WORLD, &n); MPI_Finalize();])], [$1])
CFLAGS=$mg_save_CFLAGS LIBS=$mg_save_LIBS])
