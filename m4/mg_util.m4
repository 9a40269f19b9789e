# MG_ADD_FLAGS(VARIABLE, FLAGS, [IF-REFUSED])
# Append to VARIABLE each of the space-separated FLAGS that the compiler accepts without a warning.
AC_DEFUN([MG_ADD_FLAGS],
[m4_foreach_w([mg_flag], [$2],
  [_MG_ADD_FLAG([$1], m4_quote(mg_flag), [$3])])])

AC_DEFUN([_MG_ADD_FLAG],
[AS_VAR_PUSHDEF([mg_cache], [mg_cv_cflag_$2])
AC_CACHE_CHECK([whether $CC accepts $2], [mg_cache],
  [mg_save_CFLAGS=$CFLAGS
   CFLAGS="$CFLAGS $2 -Werror"
   AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
     [AS_VAR_SET([mg_cache], [yes])], [AS_VAR_SET([mg_cache], [no])])
   CFLAGS=$mg_save_CFLAGS])
AS_VAR_IF([mg_cache], [yes], [AS_VAR_APPEND([$1], [" $2"])], [$3])
AS_VAR_POPDEF([mg_cache])])

# MG_ABSOLUTE(VARIABLE)
# Make a folder of --with-NAME absolute, because it may become a run path.
AC_DEFUN([MG_ABSOLUTE],
[AS_CASE([$$1], [''|auto|yes|no|/*], [],
  [mg_absolute=`cd "./$$1" 2>/dev/null && pwd` && $1=$mg_absolute])])

# MG_MACRO_VALUE(VARIABLE, INCLUDES, TOKENS)
# Set VARIABLE to TOKENS after preprocessing, without blanks and quotes. Nothing runs, so this works
# when cross-compiling. An end mark is needed because the preprocessor may split the line at macros of
# system headers.
AC_DEFUN([MG_MACRO_VALUE],
[AC_LANG_CONFTEST([AC_LANG_SOURCE([$2
mg_value_begin $3 mg_value_end])])
$1=`$CC -E $CPPFLAGS $CFLAGS conftest.$ac_ext 2>/dev/null | sed '/^@%:@/d' | tr -d ' "\n' |
    sed -n 's/.*mg_value_begin\(.*\)mg_value_end.*/\1/p'`
rm -f conftest.$ac_ext])
