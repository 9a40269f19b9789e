# shellcheck shell=bash disable=SC2034,SC2154
# installcheck: the files of `make install` work. The program solves on one and two ranks and accepts every installed
# deck; plot.py draws a picture; a study can be planned; man pages and completions work; environment modules name the
# folders of the installation.
#
#   installcheck.sh PROGRAM DECKS MANUAL COMPLETION MODULES BINDIR LIBDIR INCLUDEDIR EXAMPLES CC
#
# Paths are those of hpgmg-fv's files; those of the other programs are in the same folders.
HPGMG_FV=$1
decks=$2 manual=$3 completion=$4 modules=$5 bindir=$6 libdir=$7 includedir=$8 examples=$9 compiler=${10}
. "$abs_top_srcdir/tests/lib/cli_lib.sh"

ok 1 --version
cat "$dir/out"
version=$(sed -n '1s/^hpgmg-fv \([^ ,]*\).*/\1/p' "$dir/out")
ok 1 4 1 --verify-only
if have_mpi; then ok 2 4 4 --verify-only; fi
for name in hpgmg-bench hpgmg-health; do
  "$(dirname "$HPGMG_FV")/$name" --version | grep -q "^$name " || complain "no $name"
done
plot=$(dirname "$decks")/scripts/plot.py
test -x "$plot" || complain "$plot is missing"
if have_feature jansson && "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
  solo "$(dirname "$HPGMG_FV")/hpgmg-bench" --device=cpu --quick --mib=1 --json="$dir/a.json" copy wide >/dev/null
  own_matplotlib
  "$PYTHON" "$plot" bench "$dir/a.json" -o "$dir/a.png" >/dev/null || complain "$plot draws no picture"
fi
# A study can be planned with installed files only.
scripts=$(dirname "$plot")
if have_mpi && have_feature OpenMP && have_feature jansson &&
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
  "$PYTHON" "$scripts/scaling" plan "$decks/studies/weak.ini" --system=local --program="$HPGMG_FV" \
    --folder="$dir/study" >/dev/null || complain "$scripts/scaling makes no plan"
  if command -v hwloc-bind >/dev/null; then
    solo "$scripts/bind-report" env >"$dir/bound" 2>&1 || complain "$scripts/bind-report: $(cat "$dir/bound")"
  fi
fi
if "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
  if have_feature jansson; then
    ok 1 4 1 --cycle=v --min-solves=1 --min-time=0 --json="$dir/open.json"
    "$PYTHON" "$scripts/check-result" "$dir/open.json" >"$dir/out" || complain "$scripts/check-result: $(cat "$dir/out")"
  fi
  "$PYTHON" "$scripts/tune" --help >/dev/null || complain "$scripts/tune does not start"
  "$PYTHON" "$decks/rough_field.py" --help >/dev/null || complain "$decks/rough_field.py does not start"
fi
test -x "$scripts/health-check.sh" || complain "$scripts/health-check.sh is missing"
# The installed library: an example with the bare names of its files, then with pkg-config, shared and static. Under
# DESTDIR the .pc file names folders that do not exist.
example() {
  local what=$1
  shift
  "$@" -Wall -Wextra -Werror -o "$dir/poisson" || complain "examples/poisson.c does not compile: $what"
  LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} solves "$what" "$dir/poisson"
}
solves() {
  solo "$2" >"$dir/out" || complain "poisson fails: $1"
  # 0.0562 in the middle of the cube (Fourier series).
  grep -q '^u next to the middle: 0\.0561[0-9]* after [0-9]* cycles' "$dir/out" || complain "poisson: $(cat "$dir/out")"
}
if test -e "$libdir/libhpgmg.so"; then
  # shellcheck disable=SC2086 # a compiler may have options
  example 'bare names' $compiler "$examples/poisson.c" -I"$includedir" -L"$libdir" -lhpgmg
else
  echo 'skipped: this build has no shared library'
fi
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$libdir/pkgconfig
  folders="--define-variable=libdir=$libdir --define-variable=includedir=$includedir"
  # shellcheck disable=SC2046,SC2086 # words
  {
    test ! -e "$libdir/libhpgmg.so" ||
      example pkg-config $compiler "$examples/poisson.c" $(pkg-config $folders --cflags --libs hpgmg)
    example 'pkg-config --static' $compiler "$examples/poisson.c" \
      $(pkg-config $folders --static --cflags --libs hpgmg | sed 's/-lhpgmg/-l:libhpgmg.a/')
  }
else
  echo 'skipped: pkg-config is missing'
fi
# With CMake: the shared and the static library, the latter also in C++, and the Fortran module. A later version is refused.
if command -v cmake >/dev/null; then
  fortran=Fortran
  if ! command -v "${FC:=gfortran}" >/dev/null; then
    echo "skipped: $FC is missing"
    fortran=
  fi
  cat >"$dir/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.12)
project(poisson C $fortran)
find_package(hpgmg ${version%.*}.99 QUIET)
if(hpgmg_FOUND)
  message(FATAL_ERROR "version ${version%.*}.99 was found")
endif()
find_package(hpgmg ${version%.*} REQUIRED)
find_package(hpgmg ${version%.*} REQUIRED COMPONENTS static)
add_executable(poisson "$examples/poisson.c")
target_link_libraries(poisson hpgmg::hpgmg)
add_executable(poisson_static "$examples/poisson.c")
target_link_libraries(poisson_static hpgmg::hpgmg_static)
if(CMAKE_Fortran_COMPILER)
  add_executable(poisson_fortran "$examples/poisson.f90")
  target_link_libraries(poisson_fortran hpgmg::hpgmg_fortran)
endif()
END
  if (CC=$compiler cmake -S "$dir" -B "$dir/cmake" -DCMAKE_PREFIX_PATH="$libdir/cmake/hpgmg" &&
    cmake --build "$dir/cmake") >"$dir/said" 2>&1; then
    solves CMake "$dir/cmake/poisson"
    solves 'CMake, static' "$dir/cmake/poisson_static"
    test -z "$fortran" || solves 'CMake, Fortran' "$dir/cmake/poisson_fortran"
  else
    complain "CMake: $(cat "$dir/said")"
  fi
  # The static library in a project of C++ only.
  mkdir "$dir/cxx"
  printf '#include <hpgmg.h>\nint main() { return hpgmg_version()[0] == 0; }\n' >"$dir/cxx/main.cpp"
  cat >"$dir/cxx/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.12)
project(version CXX)
find_package(hpgmg ${version%.*} REQUIRED COMPONENTS static)
add_executable(version main.cpp)
target_link_libraries(version hpgmg::hpgmg_static)
END
  if ! command -v "${CXX:=c++}" >/dev/null; then
    echo "skipped: $CXX is missing"
  elif (cmake -S "$dir/cxx" -B "$dir/cxx/build" -DCMAKE_PREFIX_PATH="$libdir/cmake/hpgmg" &&
    cmake --build "$dir/cxx/build") >"$dir/said" 2>&1; then
    solo "$dir/cxx/build/version" || complain 'a C++ program with the static library fails'
  else
    complain "CMake with C++: $(cat "$dir/said")"
  fi
else
  echo 'skipped: cmake is missing'
fi
n=0
for deck in "$decks"/*.ini; do
  n=$((n + 1))
  case $deck in */rough.ini) continue ;; esac # needs a file of inputs/rough_field.py
  ok 1 --input="$deck" --dry-run
done
test "$n" -ge 6 || complain "$n decks in $decks"
for page in "$manual" "$(dirname "$manual")"/hpgmg-{bench,health}.1; do
  grep -q '^\.TH' "$page" || complain "$page is not a man page"
done

for name in hpgmg-fv hpgmg-bench hpgmg-health; do
  # shellcheck disable=SC1090
  . "$(dirname "$completion")/$name"
  complete -p $name >/dev/null || complain "no completion for $name"
done
# completes WANTED WORD...: the function $complete must complete the last WORD to WANTED. Words are split as by Readline.
complete=_hpgmg_fv
completes() {
  local wanted=$1
  shift
  COMP_WORDS=("$complete" "$@") COMP_CWORD=$#
  "$complete" || true
  test "${COMPREPLY[*]}" = "$wanted" || complain "'$*' completes to '${COMPREPLY[*]}'"
}
completes '--smoother= --smooths=' --smoot
completes l1jacobi --smoother = l1
completes 'dirichlet neumann periodic robin' --boundary =
complete=_hpgmg_bench
completes '--quick --quiet' --qui
completes 'cuda cpu' --device = c
completes 'reduce roofline' copy r
complete=_hpgmg_health
completes '--min-time= --min-solves=' --min
completes 'cuda cuda-simple' --device = cu

for module in "$modules/$version.lua" "$modules/$version"; do
  test -s "$module" || complain "$module is missing"
  grep -qE "^prepend.path.*PATH.*[\"{]${bindir}[\"}]" "$module" || complain "$module does not name $bindir"
  if grep -nE '@[A-Za-z_]+@' "$module"; then complain "$module is not filled in"; fi
done
finish
