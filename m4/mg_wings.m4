# MG_WINGS: --disable-wings=LIST leaves parts out of the link (docs/architecture.md, "Wings"). Sets mg_wings and
# mg_absent_wings to the wings of this build and to those left out; defines a conditional of Automake, WING_NAME, for
# each, and substitutes the lines of wings.h.
m4_define([mg_all_wings], [fused resident coarse krylov mixed domains exchange choices solids preflight profile console files health energy library laboratory])

# Autoconf accepts no value of --disable-FEATURE, so write it as one of --enable-FEATURE.
m4_divert_text([DEFAULTS], [for mg_option
do
  shift
  case $mg_option in
  --disable-wings=*) mg_option=`echo "$mg_option" | sed 's/^--disable-wings=/--enable-wings=all-but:/'` ;;
  esac
  set fnord "$[]@" "$mg_option"
  shift
done])

AC_DEFUN([MG_WINGS],
[AC_ARG_ENABLE([wings],
  [AS_HELP_STRING([--disable-wings=LIST], [leave out the parts in LIST, names separated by commas, of: ]mg_all_wings[; all leaves the core alone])])
AS_CASE([$enable_wings],
  [''|yes], [mg_without=],
  [all-but:all], [mg_without='mg_all_wings'],
  [all-but:?*], [mg_without=`echo "$enable_wings" | sed 's/^all-but://; s/,/ /g'`],
  [AC_MSG_ERROR([--disable-wings needs a list of names, separated by commas: mg_all_wings, or all])])
# hpgmg-bench writes JSON and times float kernels; hpgmg-health compares checksums and reads counters. Both show progress.
AS_CASE([" $mg_without "], [*" files "*|*" mixed "*|*" console "*], [mg_without="$mg_without laboratory"])
AS_CASE([" $mg_without "], [*" files "*|*" energy "*|*" preflight "*|*" console "*], [mg_without="$mg_without health"])
# Applications and hpgmg-bench solve problems of their own.
AS_CASE([" $mg_without "], [*" domains "*], [mg_without="$mg_without solids library laboratory"])
# These plan their memory.
AS_CASE([" $mg_without "], [*" preflight "*], [mg_without="$mg_without library laboratory"])
# The choices choose Krylov methods.
AS_CASE([" $mg_without "], [*" krylov "*], [mg_without="$mg_without choices"])
# They look for closed faces.
AS_CASE([" $mg_without "], [*" choices "*], [mg_without="$mg_without solids"])
for mg_wing in $mg_without; do
  AS_CASE([" mg_all_wings "], [*" $mg_wing "*], [],
    [AC_MSG_ERROR([--disable-wings: there is no wing '$mg_wing'; the wings are mg_all_wings, or all])])
done
mg_wings= mg_absent_wings= MG_WINGS_LINES=
for mg_wing in mg_all_wings; do
  mg_name=`echo $mg_wing | tr a-z A-Z`
  AS_CASE([" $mg_without "],
    [*" $mg_wing "*], [mg_absent_wings="$mg_absent_wings, $mg_wing" mg_arguments= mg_value="\"$mg_wing\""],
    [mg_wings="$mg_wings, $mg_wing" mg_arguments=' __VA_ARGS__' mg_value=NULL])
  MG_WINGS_LINES="$MG_WINGS_LINES
@%:@define MG_IF_$mg_name(...)$mg_arguments
@%:@define MG_WING_$mg_name $mg_value"
done
# What several wings share has a macro too: arrays of applications and files, and sweeps of several steps.
AS_CASE(["$mg_wings,"], [*", library,"*|*", mixed,"*|*", files,"*], [mg_arguments=' __VA_ARGS__'], [mg_arguments=])
AM_CONDITIONAL([ARRAYS], [test -n "$mg_arguments"])
MG_WINGS_LINES="$MG_WINGS_LINES
@%:@define MG_IF_ARRAYS(...)$mg_arguments"
AS_CASE(["$mg_wings,"], [*", fused,"*|*", resident,"*], [mg_arguments=' __VA_ARGS__'], [mg_arguments=])
MG_WINGS_LINES="$MG_WINGS_LINES
@%:@define MG_IF_SWEEPS(...)$mg_arguments"
mg_wings=`echo "$mg_wings" | sed 's/^, //'`
mg_absent_wings=`echo "$mg_absent_wings" | sed 's/^, //'`
MG_WINGS_LINES="$MG_WINGS_LINES
@%:@define MG_BUILD_WINGS \"${mg_absent_wings:+without }${mg_absent_wings:-all}\""
AC_SUBST([MG_WINGS_LINES])
AM_SUBST_NOTMAKE([MG_WINGS_LINES])
m4_foreach_w([mg_each], mg_all_wings,
  [AM_CONDITIONAL([WING_]m4_toupper(mg_each), [AS_CASE([", $mg_wings,"], [*", mg_each,"*], [:], [false])])
])AM_CONDITIONAL([ALL_WINGS], [test -z "$mg_absent_wings"])])
