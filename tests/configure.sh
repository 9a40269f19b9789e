# shellcheck shell=bash disable=SC2154
# configure: a value that no compiler could make anything of is refused by configure itself, in one line that
# names it and says what it must look like. Skips where the source folder itself is configured, since no
# other one can be then.
. "$abs_top_srcdir/tests/expect.sh"
if test -e "$abs_top_srcdir/config.status"; then
  echo 'skipped: the source folder itself is configured' >&2
  exit 77
fi

# refuses PATTERN ARG...: configure with ARGs must fail with one line of error that has PATTERN.
refuses() {
  local pattern=$1
  shift
  checks=$((checks + 1))
  mkdir -p "$dir/build"
  if (cd "$dir/build" && "$abs_top_srcdir/configure" --without-mpi --quiet "$@") >"$dir/out" 2>&1; then
    complain "configure $* is no error"
  fi
  grep -c '^configure: error: ' "$dir/out" | grep -qx 1 || complain "configure $*: $(cat "$dir/out")"
  grep -qE -- "^configure: error: $pattern" "$dir/out" || complain "configure $*: no '$pattern' in $(cat "$dir/out")"
}

for arch in abc 8.0 '80;xyz' 90ab 9 '' ' '; do
  refuses "--with-cuda-arch=$arch: not a list of compute capabilities .* such as 80 or \"80 90\"" --with-cuda-arch="$arch"
done

# A target that the compiler does not have, of a compiler that knows two.
cat >"$dir/nvcc" <<'END'
#!/bin/sh
case $1 in
  --list-gpu-code) printf '%s\n' sm_90 sm_80 compute_80 compute_90 ;;
  --version) echo 'Cuda compilation tools, release 12.8, V12.8.1' ;;
  *) exit 1 ;;
esac
END
chmod +x "$dir/nvcc"
refuses "--with-cuda-arch=80,35: .*/nvcc does not compile for 35; it knows 80 90\$" --with-cuda-arch=80,35 NVCC="$dir/nvcc"
# Those that it has are tried.
refuses '--with-cuda=yes: no CUDA program can be compiled' --with-cuda --with-cuda-arch='80;sm_90a' NVCC="$dir/nvcc"
# What is asked for by name and cannot be had is no build without it.
for part in cupti nccl nvrtc; do
  refuses "--with-$part=/nowhere: .*it needs CUDA too\$" --without-cuda --with-$part=/nowhere
done

finish
