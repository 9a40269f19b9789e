# shellcheck shell=bash disable=SC2154
# fortran: the module include/hpgmg.f90 has the values, types and functions of hpgmg.h. examples/poisson.f90 prints the
# line of examples/poisson.c. fortran_ranks.f90 prints the same lines on one and two ranks. Compilers: CC, FC, MPIFC.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
: "${CC:=cc}" "${FC:=gfortran}" "${MPIFC:=mpifort}"
folder=$abs_top_srcdir/include
test -e "$abs_top_builddir/libhpgmg.so" || skip_test 'this build has no shared library'
command -v "${FC%% *}" >/dev/null || skip_test "$FC is missing"
export LD_LIBRARY_PATH=$abs_top_builddir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
cd "$dir"

# compile COMPILER PROGRAM SOURCE...: a Fortran program with the module and the library.
compile() {
  local compiler=$1 program=$2 flags=
  shift 2
  checks=$((checks + 1))
  if "${compiler%% *}" --version | grep -q '^GNU Fortran'; then
    flags='-std=f2008 -pedantic -Wall -Wextra -Werror -fcheck=all,no-array-temps'
  fi
  # shellcheck disable=SC2086 # words
  $compiler $flags -o "$program" "$folder/hpgmg.f90" "$@" -L"$abs_top_builddir" -lhpgmg ||
    complain "$program does not compile"
}

# Two programs print the values of all names in hpgmg.h, and size and place of all members of the module's types.
grep -oE '\bHPGMG_[A-Z_]+\b' "$folder/hpgmg.h" | grep -vxE 'HPGMG_(H|API)' | sort -u >names
sed -nE '/^ *type, bind\(c\)/,/^ *end type/p' "$folder/hpgmg.f90" | awk '
  /^ *type,/ { type = $NF; next }
  sub(/.*:: */, "") {
    gsub(/\([0-9]*\)| = [a-zA-Z_0-9]*|,/, "")
    for (i = 1; i <= NF; i++) print type, $i
  }' >members
if test "$(wc -l <names)" -lt 12 || test "$(wc -l <members)" -lt 20; then complain "$(cat names members)"; fi
{
  printf '#include "hpgmg.h"\n#include <stdio.h>\nint main(void) {\n'
  sed 's/.*/  printf("& %d\\n", (int)&);/' names
  sed -E 's/(.*) (.*)/  printf("& %zu %zu %zu\\n", sizeof(\1), sizeof(((\1 *)0)->\2), offsetof(\1, \2));/' members
  printf '}\n'
} >layout.c
{
  printf 'program layout\n  use, intrinsic :: iso_c_binding\n  use hpgmg\n  implicit none\n'
  printf '  character(*), parameter :: line = "(a, *(1x, i0))"\n'
  cut -d ' ' -f 1 members | sort -u | sed 's/.*/  type(&), target :: a_&/'
  sed 's/.*/  print line, "&", &/' names
  sed -E 's/(.*) (.*)/  print line, "&", c_sizeof(a_\1), \&\
    c_sizeof(a_\1%\2), \&\
    place(c_loc(a_\1%\2)) - place(c_loc(a_\1))/' members
  cat <<'END'
contains
  integer(c_intptr_t) function place(pointer)
    type(c_ptr), intent(in) :: pointer
    place = transfer(pointer, place)
  end function
end program
END
} >layout.f90
# shellcheck disable=SC2086 # a compiler may have options
$CC -I"$folder" -o layout-c layout.c || complain 'layout.c does not compile'
compile "$FC" layout layout.f90
./layout-c >want
./layout >said || complain 'layout fails'
diff want said || complain 'hpgmg.h and hpgmg.f90 differ'
sed -n 's/^HPGMG_API .*\(hpgmg_[a-z_]*\)(.*/\1/p' "$folder/hpgmg.h" | sort >want
sed -n "s/.*bind(c, name='\(hpgmg_[a-z_]*\)').*/\1/p" "$folder/hpgmg.f90" | sort >said
diff want said || complain 'hpgmg.h and hpgmg.f90 have different functions'

# Fortran prints E for e.
# shellcheck disable=SC2086 # a compiler may have options
$CC -I"$folder" -o poisson-c "$abs_top_srcdir/examples/poisson.c" -L"$abs_top_builddir" -lhpgmg ||
  complain 'examples/poisson.c does not compile'
compile "$FC" poisson "$abs_top_srcdir/examples/poisson.f90"
solo ./poisson-c >want || complain 'poisson-c fails'
solo ./poisson >said || complain 'poisson fails'
sed 's/E-/e-/' said | diff want - || complain 'examples/poisson.f90 and poisson.c print different lines'
# An array without target could be a copy.
printf 'use hpgmg\nreal(8), target :: x(2, 2, 2)\ntype(hpgmg_array_t) :: a\na = hpgmg_array(x)\nend\n' >target.f90
$FC -c target.f90 || complain 'target.f90 does not compile'
sed 's/, target//' target.f90 >copy.f90
if $FC -c copy.f90 2>err; then complain 'an array without target is accepted'; fi

if ! have_mpi || ! command -v "${MPIFC%% *}" >/dev/null; then
  echo "skipped: several ranks need MPI and $MPIFC"
  finish
fi
compile "$MPIFC" fortran_ranks "$abs_top_srcdir/tests/api/fortran_ranks.f90"
for ranks in 1 2; do
  mpi_run $ranks ./fortran_ranks >lines$ranks || complain "fortran_ranks on $ranks ranks: $(cat lines$ranks)"
done
cat lines1
test "$(wc -l <lines1)" -eq 5 || complain 'fortran_ranks does not print five lines'
diff lines1 lines2 || complain 'one and two ranks differ'
diff <(sed -n 's/^faces//p' lines1) <(sed -n 's/^mpi_f08//p' lines1) || complain 'the communicators differ'
finish
