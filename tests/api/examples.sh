# shellcheck shell=bash disable=SC2016,SC2154
# examples: the programs of examples/ compile against the library, run, report errors, and have the right physics. heat
# conserves its energy; porous has the means of its layers; cavity converges with the square of the cells' width. The
# library needs MPI, OpenMP, CUDA and libm only.
# graph.cu and scripts/compare/library_gpu.c need nvcc and a GPU; python.sh, fortran.sh and scripts/examples.sh run the
# others. Runs $CC, $PYTHON.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
examples=$abs_top_srcdir/examples
test -e "$abs_top_builddir/libhpgmg.so" || skip_test 'this build has no shared library'
export LD_LIBRARY_PATH=$abs_top_builddir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export HPGMG_LIBRARY=$abs_top_builddir/libhpgmg.so PYTHONPATH=$abs_top_srcdir/python
nvcc=$(PATH=$PATH:/usr/local/cuda/bin command -v "${NVCC:-nvcc}" || true)
link="-I$abs_top_srcdir/include -L$abs_top_builddir -lhpgmg -lm"

# An application may load other versions of HDF5 or jansson, which only the programs need. Other names are those of MPI,
# OpenMP, NCCL and compilers.
if command -v readelf >/dev/null; then
  readelf -d "$abs_top_builddir/libhpgmg.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$dir/needed"
  test -s "$dir/needed" || complain 'readelf lists no library'
  if grep -vE '^(lib(c|m|mpi[a-z_]*|open-(rte|pal)|[ig]?omp5?|nccl|stdc\+\+|gcc_s|dl|rt|pthread)\.so|ld-)' "$dir/needed"; then
    complain 'libhpgmg.so needs another library'
  fi
else
  echo 'skipped: readelf is missing'
fi
if grep -nE 'hdf5|jansson' "$abs_top_builddir"/hpgmg.pc "$abs_top_builddir"/hpgmg-config.cmake; then
  complain 'a static libhpgmg needs other libraries'
fi

# holds WHAT PROGRAM...: the awk program must find its condition in the output of the last run.
holds() {
  awk "${@:2}" "$dir/out" || complain "$1: $(cat "$dir/out")"
}

if test -n "$nvcc" && have_cuda; then
  # shellcheck disable=SC2086 # words
  "$nvcc" -o "$dir/graph" "$examples/graph.cu" $link || complain 'graph.cu does not compile'
  exits 0 solo "$dir/graph" '--stretch=z:tanh:1.5 --boundary=dirichlet:1'
  exits 0 solo "$dir/graph" '--stretch=z:tanh:1.5 --boundary=neumann --precision=mixed'
  exits 0 solo "$dir/graph"
  grep -q '^sum of u in the middle: ' "$dir/out" || complain "graph: $(cat "$dir/out")"
  # shellcheck disable=SC2086 # words
  "$nvcc" -o "$dir/library_gpu" "$abs_top_srcdir/scripts/compare/library_gpu.c" $link ||
    complain 'library_gpu.c does not compile'
  exits 2 solo "$dir/library_gpu" 7
  exits 0 solo "$dir/library_gpu" 32 --rtol=1e-10
  grep -q '^new coefficients ' "$dir/out" || complain "library_gpu: $(cat "$dir/out")"
else
  echo 'skipped: graph.cu needs nvcc and a GPU'
fi
cpu_only

for name in heat porous; do
  # shellcheck disable=SC2086 # words
  ${CC:-cc} -std=c11 -O2 -Wall -Wextra -pedantic -Werror -o "$dir/$name" "$examples/$name.c" $link ||
    complain "$name.c does not compile"
  exits 1 solo "$dir/$name" 3
  grep -q "^usage: $name " "$dir/err" || complain "$name 3: $(cat "$dir/err")"
done

# A residual of at most 10^-10 times the largest f, which is 4, changes the mean by as much, and the mean is above 0.7.
# Without sources the maximum falls.
exits 0 solo "$dir/heat" 16 4
holds heat '
  $1 == "step" {
    n++
    if ($2 == 0) start = $4
    else if ($6 >= maximum || $4 - start > 4e-10 * $2 || start - $4 > 4e-10 * $2) bad = 1
    maximum = $6
  }
  END { exit n != 5 || start < 0.7 || bad }'
grep -qx 'u is the same to the last bit' "$dir/out" || complain "heat: $(cat "$dir/out")"

exits 0 solo "$dir/porous" 16 "$dir/plane"
holds porous '
  BEGIN {
    n = split("1e-4 1 1e-2 10 1e-3 1 0.1 1e-4", K, " ")
    for (i = 1; i <= n; i++) { sum += K[i]; inverse += 1 / K[i] }
  }
  function differ(x, y) { return x - y > 1e-8 * y || y - x > 1e-8 * y }
  /^along/ { found++; bad += differ($4, sum / n) }
  /^across/ { found++; bad += differ($4, n / inverse) }
  /^through/ { found++; lenses = $4 }
  $1 == "between" { found++; bad += lenses <= $2 || lenses >= $4 }
  END { exit found != 4 || bad }'
test "$(wc -l <"$dir/plane")" -eq 513 || complain "porous: $(wc -l <"$dir/plane") lines in the file"
exits 1 solo "$dir/porous" 8 "$dir/missing/plane"
grep -q '^porous: .*/missing/plane cannot be written$' "$dir/err" || complain "porous: $(cat "$dir/err")"

if "$PYTHON" -c 'import numpy, sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
  # The extrema differ by 0.018 and 0.0050 from the published ones, a quotient of 4 for a method of second order on fine
  # grids. Ghia's own values differ from those by 0.0085.
  for n in 16 32; do
    exits 0 solo "$PYTHON" "$examples/cavity.py" --n=$n
    sed -n 's/.*Ghia et al\. \([0-9.]*\), of an extremum \([0-9.]*\)$/\1 \2/p' "$dir/out" >>"$dir/differences"
    holds "cavity $n" '
      /div u/ { found = 1; after = $4 + 0; before = $NF } END { exit !found || after > 1.01e-8 * before }'
  done
  awk 'NR == 1 { coarse = $2 } NR == 2 { ghia = $1; fine = $2 }
    END { exit NR != 2 || ghia > 0.01 || fine > 0.006 || coarse < 3 * fine || coarse > 5 * fine }' "$dir/differences" ||
    complain "cavity: $(cat "$dir/differences")"
  exits 2 solo "$PYTHON" "$examples/cavity.py" --n=9
  if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
    own_matplotlib
    exits 0 solo "$PYTHON" "$examples/cavity.py" --n=8 --picture="$dir/cavity.png"
    exits 0 solo "$PYTHON" "$examples/porous_picture.py" "$dir/plane" "$dir/porous.png"
    for name in cavity porous; do
      test -s "$dir/$name.png" || complain "$name.png is missing"
    done
  else
    echo 'skipped: pictures need matplotlib'
  fi
else
  echo "skipped: cavity.py needs Python 3.9 and NumPy"
fi
finish
