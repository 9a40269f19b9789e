# shellcheck shell=bash disable=SC2154
# configure: an invalid value of an option gives one line of error with the value and its valid form. Compilers,
# launchers and libraries come from the folders that options name. Skips if the source folder itself is configured,
# because then no other build can be.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
test ! -e "$abs_top_srcdir/config.status" || skip_test 'the source folder itself is configured'

# takes NAME=VALUE CONFIGURE-ARG...: configure must succeed, with the variable in the Makefile. MPIEXEC and CFLAGS of
# the test's environment are unset.
takes() {
  local wanted=$1
  shift
  checks=$((checks + 1))
  if (cd "$dir/build" && unset MPIEXEC CFLAGS && "$abs_top_srcdir/configure" --quiet "$@") >"$dir/out" 2>&1; then
    grep -qxF -- "${wanted%%=*} = ${wanted#*=}" "$dir/build/Makefile" ||
      complain "configure $*: not $wanted but $(grep "^${wanted%%=*} = " "$dir/build/Makefile")"
  else
    complain "configure $*: $(tail -n 3 "$dir/out")"
  fi
}

mkdir "$dir/build"
plain=(--without-cuda --without-hdf5 --without-jansson)
# --disable-FEATURE equals the default. The prefix has a blank: the compiler gets one word.
takes 'CFLAGS=-O3 -g' "${plain[@]}" --without-mpi --disable-sanitizers --disable-fuzzer --prefix="$dir/with blank" \
  --cache-file="$dir/cache"
grep -qxF "prefix = $dir/with blank" "$dir/build/Makefile" || complain "not the prefix '$dir/with blank'"
if command -v pkg-config >/dev/null; then
  flags=$(pkg-config --cflags --libs "$dir/build/hpgmg.pc")
  test "$(eval "printf '<%s>' $flags")" = "<-I$dir/with blank/include><-L$dir/with blank/lib><-lhpgmg>" ||
    complain "hpgmg.pc with a blank in the prefix: $flags"
fi

# Without a GPU, CUDA is compiled only on request.
takes 'CUDA_LIBS=' "${plain[@]:1}" --without-mpi mg_cv_nvidia=no --cache-file="$dir/cache"
grep -qx '  CUDA  *no: .*; --with-cuda compiles for others' "$dir/out" || complain "no reason: $(cat "$dir/out")"

# refuses PATTERN ARG...: configure with ARGs must fail with one line of error that matches PATTERN. Results of other
# checks come from the cache of the first run, except with variables: configure refuses a cache of others.
refuses() {
  local pattern=$1 cache=("--cache-file=$dir/cache")
  shift
  checks=$((checks + 1))
  if [[ $* == *NVCC=* || $* == *CFLAGS=* ]]; then cache=(); fi
  if (cd "$dir/build" && unset MPIEXEC CFLAGS && "$abs_top_srcdir/configure" --without-mpi --quiet "${cache[@]}" "$@") \
    >"$dir/out" 2>&1; then
    complain "configure $* succeeded"
  fi
  grep -c '^configure: error: ' "$dir/out" | grep -qx 1 || complain "configure $*: $(cat "$dir/out")"
  grep -qE -- "^configure: error: $pattern" "$dir/out" || complain "configure $*: no '$pattern' in $(cat "$dir/out")"
}

for arch in 8.0 '80;xyz' 9 ''; do
  refuses "--with-cuda-arch=$arch: not a list of compute capabilities .* such as 80 or \"80 90\"" --with-cuda-arch="$arch"
done

for feature in sanitizers fuzzer shared werror; do
  refuses "--enable-$feature=address: takes no value; use --enable-$feature or --disable-$feature\$" --enable-$feature=address
done

# Flags that change results are found by computing, since each compiler has others.
flag_is_known() {
  echo 'int main(void) { return 0; }' | "$1" "$2" -Werror -x c - -o "$dir/linked" 2>/dev/null
}
for flag in clang:-freciprocal-math cc:-mfpmath=387 cc:-fsingle-precision-constant; do
  flag_is_known "${flag%%:*}" "${flag#*:}" || continue
  refuses 'CFLAGS .*which changes results' "${plain[@]}" CC="${flag%%:*}" CFLAGS="-O3 ${flag#*:}"
done
if flag_is_known cc -m32; then
  refuses 'cc -m32 compiles for a machine of 32 bits; 64 are needed' "${plain[@]}" CFLAGS=-m32 CC=cc
fi

refuses '--enable-shared: not with sanitizers$' --enable-shared --enable-sanitizers

# A mock of nvcc that supports two targets refuses another one.
cat >"$dir/nvcc" <<'END'
#!/bin/sh
case $1 in
  --list-gpu-code) printf '%s\n' sm_90 sm_80 compute_80 compute_90 ;;
  --version) echo 'Cuda compilation tools, release 12.8, V12.8.1' ;;
  *) exit 1 ;;
esac
END
chmod +x "$dir/nvcc"
refuses "--with-cuda-arch=80,35: .*/nvcc does not support 35; it supports 80 90\$" --with-cuda-arch=80,35 NVCC="$dir/nvcc"
# Supported targets are tried.
refuses '--with-cuda=yes: cannot compile and link a CUDA program' --with-cuda --with-cuda-arch='80;sm_90a' NVCC="$dir/nvcc"
# A part that is requested explicitly but not available is an error.
for part in cupti nccl nvrtc; do
  refuses "--with-$part=/nowhere: .*CUDA is needed too\$" --without-cuda --with-$part=/nowhere
done

# The launcher comes from the folder of --with-mpi, which may be relative.
if command -v mpicc >/dev/null; then
  mkdir -p "$dir/mpi/bin"
  ln -s "$(command -v mpicc)" "$dir/mpi/bin/mpicc"
  printf '#!/bin/sh\n' >"$dir/mpi/bin/mpirun"
  chmod +x "$dir/mpi/bin/mpirun"
  takes "MPIEXEC=$dir/mpi/bin/mpirun" "${plain[@]}" --with-mpi=../mpi --cache-file="$dir/mpi.cache"
  # The cache would refuse another MPIEXEC.
  sed -i '/MPIEXEC/d' "$dir/mpi.cache"
  takes 'MPIEXEC=mine --and options' "${plain[@]}" --with-mpi="$dir/mpi" MPIEXEC='mine --and options' --cache-file="$dir/mpi.cache"
fi

# A toolkit with one NCCL, and another folder with a second one. Like nvcc, the mock searches the toolkit's folder
# after folders of -I and before folders of -isystem.
toolkit=$dir/toolkit
mkdir -p "$toolkit/bin" "$toolkit/lib64" "$toolkit/include" "$dir/nccl/lib" "$dir/nccl/include"
cat >"$toolkit/bin/nvcc" <<END
#!/bin/sh
source= output= includes= preprocess=
while test \$# -gt 0; do
  case \$1 in
    --list-gpu-code) echo sm_90; exit ;;
    --version) echo 'Cuda compilation tools, release 12.0, V12.0.1'; exit ;;
    -I*) includes="\$includes \$1" ;;
    -isystem) includes="\$includes \$1 \$2"; shift ;;
    -E) preprocess=yes ;;
    -o) output=\$2; shift ;;
    *.cu) source=\$1 ;;
  esac
  shift
done
test -z "\$preprocess" || exec cc -x c -E \$includes -I$toolkit/include "\$source"
echo 'int probe(void) { return 0; }' | cc -x c -c - -o "\$output"
END
chmod +x "$toolkit/bin/nvcc"
for where in "$toolkit:1" "$dir/nccl:2"; do
  printf '#define NCCL_%s\n' "MAJOR ${where##*:}" 'MINOR 0' 'PATCH 0' >"${where%:*}/include/nccl.h"
done
if echo 'int main(void) { return 0; }' | cc -x c - -lstdc++ -o "$dir/linked" 2>/dev/null; then
  echo 'int one;' | cc -x c -shared -fPIC - -o "$dir/nccl/lib/libnccl.so"
  echo 'int one;' | cc -x c -c - -o "$dir/one.o"
  ar cr "$toolkit/lib64/libcudart_static.a" "$dir/one.o"
  takes "NCCL_LIBS=-L$dir/nccl/lib -Wl,-rpath,$dir/nccl/lib -l:libnccl.so" "${plain[@]:1}" --without-mpi \
    --with-cuda=../toolkit --with-nccl=../nccl --cache-file="$dir/cache"
  grep -qF '"yes (2.0.0)"' "$dir/build/config.h" || complain "wrong NCCL: $(grep BUILD_NCCL "$dir/build/config.h")"
fi
finish
