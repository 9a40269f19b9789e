# shellcheck shell=bash disable=SC2154
# Functions shared by the scripts: find and install packages, configure a build. Source this file
# with `me` set to the script's name and `top` to the top of the source tree.

# In a locale with a decimal comma, mawk and sort misread the program's numbers.
export LC_ALL=C

say() { printf '%s: %s\n' "$me" "$*"; }
die() {
  printf '%s: error: %s\n' "$me" "$*" >&2
  exit 1
}

# Print the comment at the top of the calling script, and exit.
show_help() {
  sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//; p;}' "${BASH_SOURCE[1]}"
  exit 0
}

# --- counting ------------------------------------------------------------------------------------

passed=0 failed=0 skipped=0 finished=no
pass() { passed=$((passed + 1)) && say "pass: $*"; }
fail() { failed=$((failed + 1)) && say "FAIL: $*"; }
skip() { skipped=$((skipped + 1)) && say "skip: $*"; }

# count_at_end COMMAND...: however the script ends, run COMMAND and print the counts as the last line.
# Without finished=yes, the end counts as a failure.
count_at_end() {
  at_end=("$@")
  trap finish EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}
finish() {
  "${at_end[@]}"
  [[ $finished == yes ]] || failed=$((failed + 1))
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0)) || exit 1
}

# --- machine -------------------------------------------------------------------------------------

# Number of cores available to this process, from its affinity and from the CPU quotas of its control group and of
# the groups around it. As in src/base/control_groups.c; the outer part of a container's path may not exist.
cores() {
  local root=${HPGMG_CONTROL_GROUPS-} n controllers group folder quota period
  n=$(nproc)
  while IFS=: read -r _ controllers group; do
    case ,$controllers, in
      ,,) folder=$root/sys/fs/cgroup ;;
      *,cpu,*) folder=$root/sys/fs/cgroup/cpu ;;
      *) continue ;;
    esac
    group=${group%/}
    while
      quota=max period=1
      if [[ $folder == */cpu ]]; then
        read -r quota <"$folder$group/cpu.cfs_quota_us" && read -r period <"$folder$group/cpu.cfs_period_us"
      else
        read -r quota period <"$folder$group/cpu.max"
      fi 2>/dev/null
      if [[ $quota =~ ^[0-9]+$ && $period =~ ^[1-9][0-9]*$ ]] && ((quota / period < n)); then n=$((quota / period)); fi
      [[ -n $group ]]
    do group=${group%/*}; done
  done < <(printf '0::/\n0:cpu:/\n' | cat - "$root/proc/self/cgroup" 2>/dev/null || true)
  echo $((n > 0 ? n : 1))
}

# --- packages ------------------------------------------------------------------------------------

have_command() { command -v "$1" >/dev/null 2>&1; }

# nvcc needs g++ for host code; without nvcc this requirement holds.
nvcc_path() { PATH=$PATH:/usr/local/cuda/bin command -v nvcc; }
can_use_nvcc() { ! nvcc_path >/dev/null || have_command g++; }

have_header() { echo "#include <$1>" | cc -E -x c - >/dev/null 2>&1; }

# Parallel HDF5, serial HDF5, or a header on the compiler's default path.
have_hdf5() {
  local name
  for name in hdf5-openmpi hdf5-mpich hdf5-serial hdf5; do
    if pkg-config --exists "$name" 2>/dev/null; then return 0; fi
  done
  have_header hdf5.h
}

# True if clang has the runtime libraries of libFuzzer and the sanitizers.
have_fuzzer() {
  have_command clang || return 1
  echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' |
    clang -fsanitize=fuzzer,address,undefined -x c - -o /dev/null >/dev/null 2>&1
}

# True if clang has ThreadSanitizer and OpenMP, and libarcher reports how OpenMP orders its threads. GCC's
# OpenMP does not report it.
have_thread_sanitizer() {
  have_command clang || return 1
  local program
  program=$(mktemp) || return 1
  echo '#include <omp.h>
    int main(void) { return omp_get_max_threads() < 1; }' |
    clang -fopenmp -fsanitize=thread -x c - -o "$program" >/dev/null 2>&1 &&
    OMP_TOOL_VERBOSE_INIT=stdout "${no_aslr[@]}" "$program" 2>&1 | grep 'Tool was started' >/dev/null
  local rc=$?
  rm -f "$program"
  return "$rc"
}

# Each line: a check, and the Debian and Ubuntu packages to install if it fails.
requirements='
  have_command cc          | gcc libc6-dev
  have_command make        | make
  have_command autoreconf  | autoconf
  have_command automake    | automake
  have_command pkg-config  | pkg-config
  have_command mpicc       | libopenmpi-dev
  have_command mpirun      | openmpi-bin
  can_use_nvcc             | g++
  have_header jansson.h    | libjansson-dev
  have_hdf5                | libhdf5-openmpi-dev
'

# missing_packages TABLE: print the packages of all requirements in the table that fail.
missing_packages() {
  local check packages
  while IFS='|' read -r check packages; do
    [[ -n ${check// /} ]] || continue
    # Without a compiler, headers cannot be found: their packages count as missing.
    # shellcheck disable=SC2086 # split into words
    $check || echo $packages
  done <<<"$1"
}

# apt_size PACKAGE...: what apt-get would download and use, as " (12 MB to download, 50 MB on disk)"; nothing if
# its lists lack a package.
apt_size() {
  apt-get install --assume-no --no-install-recommends "$@" 2>/dev/null </dev/null |
    awk '/^Need to get/ { sub(/^Need to get (.*\/)?/, ""); sub(/ of archives.*/, ""); get = $0 }
      /^After this operation/ { printf " (%s to download, %s on disk)", get, $4 " " $5 }' || true
}

# Install packages with apt-get, after naming them with their size. On failure, return false and set `why`. No
# package is removed, even if it conflicts. Package lists are updated only if the present ones do not suffice.
why=
apt_install() {
  local sudo=()
  if ! have_command apt-get; then
    why='there is no apt-get'
    return 1
  fi
  if ((EUID != 0)); then
    if have_command sudo && { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
      sudo=(sudo)
    else
      why='not root, and sudo is missing or needs a password'
      return 1
    fi
  fi
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120)
  local log size
  log=$(mktemp)
  size=$(apt_size "$@")
  if [[ -z $size ]]; then
    "${apt[@]}" update >"$log" 2>&1 </dev/null || true
    size=$(apt_size "$@")
  fi
  say "installing $*$size"
  if "${apt[@]}" install -y --no-install-recommends --no-remove "$@" >"$log" 2>&1 </dev/null ||
    { "${apt[@]}" update >"$log" 2>&1 </dev/null &&
      "${apt[@]}" install -y --no-install-recommends --no-remove "$@" >>"$log" 2>&1 </dev/null; }; then
    rm -f "$log"
    hash -r
    return 0
  fi
  why="apt-get failed (no network?): $(grep -m 1 '^E:' "$log" || tail -n 1 "$log")"
  rm -f "$log"
  return 1
}

# Install all missing requirements, or die with one line that names them.
install_requirements() {
  local packages
  packages=$(missing_packages "$requirements" | tr '\n' ' ')
  [[ -n $packages ]] || return 0
  # shellcheck disable=SC2086
  apt_install $packages || die "cannot install the missing packages: $packages($why)"
  packages=$(missing_packages "$requirements" | tr '\n' ' ')
  [[ -z $packages ]] || die "still missing after the installation: $packages"
}

# --- building ------------------------------------------------------------------------------------

# configure_tree FOLDER ARG...: run configure in FOLDER. Does nothing if it ran there before with the
# same arguments, processor, compiler and libraries.
configure_tree() {
  local folder=$1 stamp old library
  shift
  if [[ -e $top/config.status ]]; then
    die "the source folder itself is configured: run 'make distclean' in $top first"
  fi
  if [[ ! -x $top/configure || ! -f $top/Makefile.in || ! -f $top/config.h.in ]]; then
    say 'autogen.sh'
    "$top/autogen.sh" >/dev/null 2>&1 || "$top/autogen.sh"
  fi
  stamp=$(
    printf '%s\n' "$top $*" "${CC-} ${CFLAGS-} ${CPPFLAGS-} ${LDFLAGS-} ${LIBS-} ${MPICC-} ${NVCC-} ${NVCCFLAGS-}"
    cc --version 2>/dev/null | sed 1q
    grep -m 1 '^model name' /proc/cpuinfo || uname -m
    command -v mpicc mpirun valgrind || true
    # CUDA code is compiled for the GPUs of this machine.
    if nvcc_path; then
      "$(nvcc_path)" --version 2>/dev/null | tail -n 1 || true
      nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sort -u || true
    fi
    for library in jansson hdf5-openmpi hdf5-serial hdf5; do
      pkg-config --modversion "$library" 2>/dev/null || true
    done
  )
  old=$(cat "$folder/setup.stamp" 2>/dev/null || true)
  if [[ -f $folder/Makefile && $old == "$stamp" ]]; then
    return 0
  fi
  mkdir -p "$folder"
  say "configure $* (in ${folder#"$top"/})"
  (cd "$folder" && "$top/configure" "$@" >configure.out 2>&1) || {
    grep -m 1 'error:' "$folder/configure.out" >&2 || tail -n 5 "$folder/configure.out" >&2
    return 1
  }
  # Remove objects of another compiler or machine.
  if [[ -n $old ]]; then make -s -C "$folder" clean >/dev/null; fi
  printf '%s\n' "$stamp" >"$folder/setup.stamp"
}
