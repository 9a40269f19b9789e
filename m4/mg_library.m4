# MG_LIBRARY(NAME, HEADER, LIBRARY, BODY, USE, VERSION-MACRO, DEBIAN-PACKAGE)
# --with-NAME[=DIR|no]: find a C library by compiling and linking BODY. DIR is a prefix or an unpacked
# Debian package. Sets mg_NAME to "yes (version)" or "no". Substitutes NAME_CFLAGS and NAME_LIBS (upper
# case). Defines HAVE_NAME and MG_BUILD_NAME.
AC_DEFUN([MG_LIBRARY],
[m4_pushdef([UP], m4_toupper([$1]))dnl
AC_ARG_WITH([$1],
  [AS_HELP_STRING([--with-$1=DIR|no], [use $3 in DIR (a prefix or an unpacked package) for $5, or no $3 (default: search)])],
  [], [with_$1=auto])
UP[]_CFLAGS= UP[]_LIBS= mg_$1=no
AS_IF([test "x$with_$1" != xno],
  [AC_MSG_CHECKING([for $3])
   AS_CASE([$with_$1],
     [auto|yes], [UP[]_LIBS="-l$3"],
     [MG_LIBRARY_DIR([$with_$1], [$2], [$3], [UP[]_CFLAGS], [UP[]_LIBS])])
   mg_save_CFLAGS=$CFLAGS mg_save_LIBS=$LIBS
   CFLAGS="$CFLAGS $UP[]_CFLAGS" LIBS="$UP[]_LIBS $LIBS"
   AS_IF([test -n "$UP[]_LIBS"],
     [AC_LINK_IFELSE([AC_LANG_PROGRAM([@%:@include <$2>], [$4])], [mg_$1=yes])])
   AS_IF([test $mg_$1 = yes],
     [AC_DEFINE([HAVE_]UP, [1], [Define if $3 is available, for $5.])
      MG_MACRO_VALUE([mg_version], [@%:@include <$2>], [$6])
      AS_IF([test -n "$mg_version"], [mg_$1="yes ($mg_version)"])],
     [UP[]_CFLAGS= UP[]_LIBS=])
   CFLAGS=$mg_save_CFLAGS LIBS=$mg_save_LIBS
   AC_MSG_RESULT([$mg_$1])
   AS_CASE([$with_$1,$mg_$1], [auto,*|*,yes*], [],
     [AC_MSG_ERROR([--with-$1=$with_$1: cannot compile and link with $2 and lib$3; on Debian and Ubuntu: apt-get install $7])])])
AC_SUBST(UP[_CFLAGS])
AC_SUBST(UP[_LIBS])
AC_DEFINE_UNQUOTED([MG_BUILD_]UP, ["$mg_$1"], [$3: yes, with its version if known, or no.])
m4_popdef([UP])])

# MG_LIBRARY_DIR(DIR, HEADER, LIBRARY, CFLAGS-VARIABLE, LIBS-VARIABLE)
# Find HEADER and LIBRARY under DIR. Sets mg_libdir; LIBS is empty if either is missing. A dangling
# symbolic link (a -dev package unpacked alone) is skipped; the static library is used then. System
# folders need no -L, but folders below them do, such as Debian's HDF5 for each MPI.
AC_DEFUN([MG_LIBRARY_DIR],
[mg_incdir= mg_libdir=
mg_dir=`cd "$1" 2>/dev/null && pwd`
test -n "$mg_dir" && for mg_root in "$mg_dir" "$mg_dir/usr"; do
  for mg_try in "$mg_root/include" "$mg_root"; do
    test -z "$mg_incdir" && test -f "$mg_try/$2" && mg_incdir=$mg_try
  done
  for mg_try in "$mg_root"/lib "$mg_root"/lib64 "$mg_root"/lib/*-linux-gnu* "$mg_root"; do
    test -z "$mg_libdir" || break
    for mg_suffix in so a; do
      test -f "$mg_try/lib$3.$mg_suffix" && mg_libdir=$mg_try && break
    done
  done
done
AS_IF([test -n "$mg_incdir" && test -n "$mg_libdir"],
  [AS_CASE([$mg_incdir], [/usr/include], [], [$4="-isystem $mg_incdir"])
   AS_CASE([$mg_suffix,$mg_libdir],
     [a,*], [$5="$mg_libdir/lib$3.a"],
     [*,/usr/lib/*/*], [$5="-L$mg_libdir -Wl,-rpath,$mg_libdir -l$3"],
     [*,/usr/lib|*,/usr/lib/*-linux-gnu*], [$5="-l$3"],
     [$5="-L$mg_libdir -Wl,-rpath,$mg_libdir -l$3"])])])
