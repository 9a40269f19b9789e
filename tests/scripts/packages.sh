# shellcheck shell=bash disable=SC2016,SC2154,SC2317
# packages: the files of scripts/packages/ work as documented in docs/packages.md.
#   Spack       configure accepts every option that the recipe may pass, and the recipe decides all libraries
#   Apptainer   the definition's scripts are valid, and it installs the packages listed in README.md
#   modules     Lmod ($LMOD_CMD) and Environment Modules ($MODULES_CMD) load the modules of `make install`
#   EasyBuild   $PYTHON's EasyBuild reads the easyconfigs, and their options and files are those of this version
#   ReFrame     $REFRAME (default: from PATH) runs the tests on this machine and detects wrong reports; with
#               PACKAGES_BUILD=no, only with the present build
# A part whose tool is missing is skipped with a message.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
packages=$abs_top_srcdir/scripts/packages
export OMP_NUM_THREADS=1
# Keep user settings of module systems and ReFrame out of the test, and theirs out of the home folder.
export HOME=$dir
unset DISPLAY XDG_CACHE_HOME XDG_CONFIG_HOME
left_out() { echo "not run: $*"; }

# holds COMMAND...: COMMAND must end with 0, otherwise its output is shown.
holds() {
  checks=$((checks + 1))
  if ! "$@" >"$dir/out" 2>&1; then complain "$*: $(tail -n 5 "$dir/out")"; fi
}

# --- Spack -----------------------------------------------------------------------------------------

# Configure with the recipe's flags and one prefix per library, as Spack does.
spack_configures() {
  local hdf5=$1 flags=()
  mapfile -t flags < <("$PYTHON" "$abs_top_srcdir/tests/scripts/packages_spack.py" args "$recipe" \
    +mpi+openmp+hdf5+jansson mpi="$mpi" hdf5="$hdf5" jansson=/usr)
  test "${#flags[@]}" -ge 8 || return 1
  mkdir "$dir/spack"
  (cd "$dir/spack" && CC=cc PKG_CONFIG=false "$abs_top_srcdir/configure" --prefix="$dir/spack/prefix" "${flags[@]}")
}

recipe=$packages/spack/packages/hpgmg-fv/package.py
spack=$abs_top_srcdir/tests/scripts/packages_spack.py
if "$PYTHON" -c '' 2>/dev/null; then
  holds "$PYTHON" "$spack" options "$recipe" "$abs_top_srcdir/configure"
  cat "$dir/out"
  mkdir "$dir/source" "$dir/bin"
  ln -s "$HPGMG_FV" "$dir/bin/hpgmg-fv"
  mkdir -p "$dir/share/hpgmg-fv"
  ln -s "$abs_top_srcdir/scripts" "$dir/share/hpgmg-fv/scripts"
  variants=
  if have_feature jansson; then variants=+jansson; fi
  holds "$PYTHON" "$spack" phases "$recipe" "$dir/source" "$dir" "$variants"
  hdf5=$(echo /usr/lib/*-linux-gnu/hdf5/openmpi)
  mpi=$(command -v mpicc || true)
  mpi=${mpi%/bin/mpicc}
  if test -e "$abs_top_srcdir/config.status"; then
    left_out 'configure as Spack runs it: the source folder itself is configured'
  elif test -n "$mpi" && test -e "$hdf5/libhdf5.so" && test -e /usr/include/jansson.h; then
    holds spack_configures "$hdf5"
    for found in 'MPI  .* launcher' 'OpenMP  *yes' 'jansson  *yes' 'HDF5  *parallel' 'CUDA  *no'; do
      says "^  $found"
    done
    says "^  flags .* -O3 -g$"
    if grep '^  flags' "$dir/out" | grep -q -- -march; then complain 'configure adds -march under Spack'; fi
  else
    left_out 'configure as Spack runs it: mpicc, libjansson-dev or libhdf5-openmpi-dev is missing'
  fi
else
  left_out "Spack: no $PYTHON"
fi

# decides WHO: WHO passes the --with options on stdin to configure. It accepts them, and there are no others but
# --with-cuda-arch without a GPU. WHO must decide all libraries, because configure would search for the others.
decides() {
  local options
  grep -oE -- '--with-[a-z0-9-]+(=no)?' | sort -u >options
  if grep -q -- '--with-cuda=no' options; then echo '--with-cuda-arch' >>options; fi
  sed 's/=no//' options | sort -u >decided
  test "$(wc -l <decided)" -ge 8 || complain "$1 configures with $(cat decided)"
  mapfile -t options <decided
  holds "$abs_top_srcdir/configure" --enable-option-checking=fatal "${options[@]/%/=x}" --help
  grep -oE -- '^ +--with-[a-z0-9-]+' "$dir/out" | tr -d ' ' | sort -u >known
  test "$(wc -l <known)" -ge 8 || complain "configure --help has $(cat known)"
  comm -23 known decided >undecided
  if test -s undecided; then complain "$1 does not decide $(tr '\n' ' ' <undecided)"; fi
}

# --- Apptainer -------------------------------------------------------------------------------------

# section NUMBER NAME: the script of section %NAME in stage NUMBER of the definition.
section() {
  awk -v wanted="$1" -v name="%$2" '
    /^Bootstrap:/ { stage++; inside = 0 }
    /^%/ { inside = $0 == name && stage == wanted; next }
    inside { sub(/^    /, ""); print }' "$packages/apptainer/hpgmg-fv.def"
}

cd "$dir"
{ echo '#!/bin/sh' && section 1 post; } >post-1.sh
{ echo '#!/bin/sh' && section 2 post; } >post-2.sh
{ echo '#!/bin/sh' && section 2 test; } >test.sh
{ echo '#!/bin/sh' && section 2 runscript; } >run.sh
for script in post-1 post-2 test run; do
  test "$(wc -l <$script.sh)" -ge 2 || complain "the definition has no $script"
  holds sh -n $script.sh
  if command -v shellcheck >/dev/null; then holds shellcheck $script.sh; fi
done
command -v shellcheck >/dev/null || left_out 'shellcheck of the definition'
# configure could find a library that only the first stage has.
sed -n '/configure/,/[^\\]$/p' post-1.sh | decides 'the definition'
# Its packages are those listed in README.md.
sed -n '/apt-get install gcc make/,/[^\\]$/p' "$abs_top_srcdir/README.md" | grep -oE '[a-z0-9]+(-[a-z0-9]+)*' |
  grep -vxE 'sudo|apt-get|install' >wanted
test "$(wc -l <wanted)" -ge 8 || complain "README.md installs $(cat wanted)"
while read -r package; do
  grep -qE "(^| )$package( |\$)" post-1.sh || complain "the definition does not install $package"
done <wanted
# Every argument that is used has a default, and cuda.args sets only such arguments.
grep -oE '\{\{ [A-Z_]+ \}\}' "$packages/apptainer/hpgmg-fv.def" | tr -d '{} ' | sort -u >used
sed -n '/^%arguments/,/^%files/s/^    \([A-Z_]*\)=.*/\1/p' "$packages/apptainer/hpgmg-fv.def" | sort -u >defaults
cmp -s used defaults || complain "arguments used: $(tr '\n' ' ' <used), with defaults: $(tr '\n' ' ' <defaults)"
sed -n 's/^\([A-Z_]*\)=.*/\1/p' "$packages/apptainer/cuda.args" | sort -u | comm -23 - defaults >unknown
if test -s unknown; then complain "cuda.args sets the unknown $(cat unknown)"; fi
# Run %test with the present build.
sed "s|^program=.*|program='$HPGMG_FV'|; s|/opt/hpgmg-fv/share/hpgmg-fv|$abs_top_srcdir|" test.sh >here.sh
if have_mpi && have_feature HDF5 && have_feature jansson; then
  holds sh here.sh
  says '^hpgmg-fv: solved and verified on 1 and 2 ranks$'
  sed -i "s|^program=.*|program='$dir/liar'|" here.sh
  ln -s "$(dirname "$HPGMG_FV")/hpgmg-bench" hpgmg-bench
  printf '#!/bin/sh\n"%s" "$@"\nsed -i s/passed/failed/ "%s"/*/*.json\n' "$HPGMG_FV" "$dir/tmp" >liar
  chmod +x liar
  mkdir tmp
  if TMPDIR=$dir/tmp sh here.sh >out 2>&1; then complain '%test accepts a failed verification'; fi
else
  left_out "the image's test: build without MPI, HDF5 or jansson"
fi

# --- modules ---------------------------------------------------------------------------------------

# try_module NAME COMMAND...: load, run and unload the module in a subshell, with COMMAND as `module`.
try_module() (
  name=$1 wrong=0
  shift
  command=("$@")
  module() { eval "$("${command[@]}" bash "$@" 2>"$dir/said")"; }
  no() {
    echo "failed: $name: $*"
    wrong=$((wrong + 1))
  }
  # Remove duplicates in PATH, because Lmod does.
  PATH=$(tr ':' '\n' <<<"$PATH" | awk '!seen[$0]++' | paste -sd :)
  before=$PATH
  module use "$modules"
  module avail hpgmg-fv
  grep -q "hpgmg-fv/$version" "$dir/said" || no "avail: $(cat "$dir/said")"
  module load hpgmg-fv
  test "$(command -v hpgmg-fv)" = "$prefix/bin/hpgmg-fv" || no "hpgmg-fv is $(command -v hpgmg-fv)"
  test "${HPGMG_FV_ROOT-}" = "$prefix" || no "HPGMG_FV_ROOT is ${HPGMG_FV_ROOT-}"
  solo hpgmg-fv 4 1 --verify-only | grep -qx 'VERIFICATION: PASSED' || no 'the program does not run'
  solo hpgmg-fv --input="$HPGMG_FV_DECKS/quick.ini" --dry-run >/dev/null || no "no deck in $HPGMG_FV_DECKS"
  if command -v man >/dev/null; then
    page=$(man -w hpgmg-fv 2>&1)
    test "$page" = "$prefix/share/man/man1/hpgmg-fv.1" || no "man finds $page"
  fi
  module whatis hpgmg-fv
  grep -q "Version: $version" "$dir/said" || no "whatis: $(cat "$dir/said")"
  grep -q 'Built with: MPI: .*; OpenMP: .*; jansson: ' "$dir/said" || no "whatis: $(cat "$dir/said")"
  module help hpgmg-fv
  grep -q 'mpirun -n 2 hpgmg-fv 7 8' "$dir/said" || no "help: $(cat "$dir/said")"
  module unload hpgmg-fv
  test "$PATH" = "$before" || no "PATH was $before, is $PATH"
  test -z "${HPGMG_FV_ROOT+set}${HPGMG_FV_DECKS+set}" || no 'variables are still set'
  test "$wrong" -eq 0
)

version=$(solo "$HPGMG_FV" --version | sed -n '1s/^hpgmg-fv \([0-9.]*\).*/\1/p')
# A folder whose name has characters that are special to sed.
prefix=$dir/'R&D | x'
modules=$prefix/share/hpgmg-fv/modulefiles
holds inner_make install prefix="$prefix"
for file in "$version" "$version.lua"; do
  test -s "$modules/hpgmg-fv/$file" || complain "no module $file"
  if grep -q '@' "$modules/hpgmg-fv/$file"; then complain "$file: $(grep '@' "$modules/hpgmg-fv/$file")"; fi
done
# first FILE...: the first FILE that exists.
first() {
  local file
  for file in "$@"; do
    if test -f "$file"; then
      echo "$file"
      return 0
    fi
  done
}
lmod=$(first "${LMOD_CMD-}" /usr/share/lmod/*/libexec/lmod)
if test -n "$lmod"; then
  checks=$((checks + 1))
  try_module Lmod "$lmod" || complain 'the module for Lmod'
else
  left_out 'the module for Lmod: no lmod'
fi
tcl=$(first "${MODULES_CMD-}" /usr/lib/*-linux-gnu/modulecmd.tcl /usr/share/Modules/libexec/modulecmd.tcl)
if test -n "$tcl" && command -v tclsh >/dev/null; then
  checks=$((checks + 1))
  try_module 'Environment Modules' tclsh "$tcl" || complain 'the module for Environment Modules'
else
  left_out 'the module for Environment Modules: no environment-modules'
fi

# --- EasyBuild -------------------------------------------------------------------------------------

# EasyBuild reads the easyconfigs; configure accepts the options, and `make install` above installed the files.
for file in "$packages"/easybuild/*.eb; do
  name=$(basename "$file") rc=0
  if test -z "$lmod" || ! "$PYTHON" -c 'import easybuild.framework, easybuild.easyblocks' 2>/dev/null; then
    left_out "$name: no EasyBuild or no lmod"
    continue
  fi
  checks=$((checks + 1))
  "$PYTHON" "$abs_top_srcdir/tests/scripts/packages_easybuild.py" "$file" "$lmod" >config 2>err || rc=$?
  if test "$rc" -ne 0; then complain "$name: $(tail -n 3 err)"; fi
  sed -n 's/^option //p' config | decides "$name"
  test "$(grep -cE '^(file|dir) ' config)" -ge 6 || complain "$name: checks $(cat config)"
  while read -r kind path; do
    case $kind in
    file) test -f "$prefix/$path" || complain "$name: make install makes no $path" ;;
    dir) test -d "$prefix/$path" || complain "$name: make install makes no $path" ;;
    esac
  done <config
  grep -qx 'command mpirun -n 1 hpgmg-fv 5 1 --verify-only' config || complain "$name: commands $(cat config)"
done
version_of() { sed -n "s/^version = '\(.*\)'/\1/p" "$1"; }
for file in "$packages"/easybuild/*.eb; do
  test "$(version_of "$file")" = "$version" || complain "$file is of another version than $version"
done

# --- ReFrame ---------------------------------------------------------------------------------------

# reframe RC FILE NAME SETTING...: run the tests NAME of FILE with the given variables; ReFrame must end with RC.
reframe() {
  local want=$1 file=$2 name=$3 setting settings=() rc=0
  shift 3
  checks=$((checks + 1))
  for setting in "$@"; do settings+=(-S "$setting"); done
  rm -rf "$dir/reframe"
  TMPDIR=$dir "$REFRAME" --nocolor --prefix="$dir/reframe" -C "$site" -c "$file" -n "$name" -r "${settings[@]}" \
    >"$dir/out" 2>&1 || rc=$?
  if test "$rc" -ne "$want"; then complain "reframe $name $*: exit code $rc, not $want: $(tail -n 40 "$dir/out")"; fi
}

site=$packages/reframe/settings.py

# liar FV2 FV4: make a program that edits its report with a sed expression, one for each operator. Runs
# with the same arguments repeat the report of the first.
liar() {
  printf '%s\n' "$1" >"$dir/fv2.sed"
  printf '%s\n' "$2" >"$dir/fv4.sed"
  cat >"$dir/liar" <<END
#!/bin/sh
saved=$dir/liar.\$(echo "\$*" | cksum | tr ' ' .)
if ! test -e "\$saved.json"; then
  "$HPGMG_FV" "\$@" >"\$saved.out" || exit
  cp report.json "\$saved.json"
fi
cat "\$saved.out"
edits=$dir/fv2.sed
case "\$*" in *fv4*) edits=$dir/fv4.sed ;; esac
sed -f "\$edits" "\$saved.json" >report.json
END
  chmod +x "$dir/liar"
}

# type -P skips the function reframe above.
REFRAME=${REFRAME-$(type -P reframe || true)}
ours=$packages/reframe/hpgmg_fv.py
small=(log2_box_dim=5 min_time=0)
if test -z "$REFRAME"; then
  left_out 'ReFrame: no reframe in PATH or REFRAME'
elif ! have_feature jansson; then
  left_out 'ReFrame: build without jansson'
else
  reframe 0 "$ours" hpgmg_fv_installed "${small[@]}" program="$HPGMG_FV"
  says 'PASSED .* Ran 2/2 test case'
  for size in h 2h 4h fom; do
    test "$(grep -cE "^P: $size: [0-9.e+]+ DOF/s" "$dir/out")" -eq 2 || complain "no speeds at $size: $(cat "$dir/out")"
  done
  if have_mpi; then
    reframe 0 "$ours" hpgmg_fv_installed "${small[@]}" program="$HPGMG_FV" num_tasks=2 num_cpus_per_task=1 \
      options=--smooths=2,--boundary=periodic
    says 'PASSED .* Ran 2/2 test case'
  fi
  # Wrong reports are detected: verification, norms, run properties, incomplete or invalid JSON.
  while IFS='|' read -r fv2 reason fv4 other_reason; do
    liar "$fv2" "$fv4"
    reframe 1 "$ours" hpgmg_fv_installed "${small[@]}" program="$dir/liar"
    says "FAILED .* Ran 2/2 test case.*2 failure"
    says "Reason: sanity error: $reason"
    says "Reason: sanity error: $other_reason"
  done <<'END'
s/passed/failed/|verification failed|s/"ranks": 1/"ranks": 3/|run.ranks is 3, not 1
s/0.002500181/0.002500189/|at h the norm is .*, but .* in the original|s/"solves": \[/"others": [/|report.json is an incomplete report
s/"operator": "fv2"/"operator": "7pt"/|problem.operator is 7pt, not fv2|s/6.93404/6.93407/|at h the norm is .*, but .* in the original
s/"backend": "cpu"/"backend": "cuda"/|run.backend is cuda, not cpu|s/[{]/(/|no report of hpgmg-fv
END
  # Too small a grid for the class.
  reframe 1 "$ours" hpgmg_fv_installed log2_box_dim=4 min_time=0.01 program="$HPGMG_FV"
  says 'Reason: sanity error: figure of merit invalid, class double: class double requires a grid of at least 64\^3'
  reframe 0 "$ours" hpgmg_fv_installed "${small[@]}" program="$dir/nowhere"
  says "$dir/nowhere not found; load its module"
  says ' 2 skipped'
  mkdir empty
  reframe 1 "$ours" hpgmg_fv_built "${small[@]}" hpgmg_fv_build.source="$dir/empty"
  says "neither configure nor autogen.sh is in $dir/empty"

  # The site test of docs/packages.md, with references that every machine reaches, and that none reaches.
  sed -n '/^```python/,/^```/{/^```/d; p;}' "$abs_top_srcdir/docs/packages.md" >site.py
  grep -q 'reference = ' site.py || complain 'no test with references in docs/packages.md'
  sed -i "s|^    modules = .*|    program = '$HPGMG_FV'|; s|^    log2_box_dim = .*|    log2_box_dim = 5|" site.py
  sed -i 's/^    num_tasks = .*/    num_tasks = 1/; s/^    num_cpus_per_task = .*/    num_cpus_per_task = 1/' site.py
  sed 's/"fom": ([0-9.e]*/"fom": (1.0/; s/cluster:cpu/here:local/' site.py >reached.py
  sed 's/"fom": ([0-9.e]*/"fom": (1.0e30/; s/cluster:cpu/here:local/' site.py >missed.py
  export PYTHONPATH=$packages/reframe
  reframe 0 "$dir/reached.py" our_hpgmg_fv min_time=0
  says 'PASSED .* Ran 1/1 test case'
  reframe 1 "$dir/missed.py" our_hpgmg_fv min_time=0
  says 'performance error: failed to meet reference.*: fom='
  unset PYTHONPATH
  # The references of the settings apply to the runs that they describe: one is reached, the other is not.
  sed 's/"slurm"/"local"/; s/"srun"/"local"/; s/"login[^"]*"/".*"/' "$packages/reframe/cluster.py" >cluster.py
  grep -q 'reference(3.1e7, operator="fv2", log2_box_dim=7, num_tasks=2)' cluster.py || complain 'cluster.py changed'
  sed -i 's/reference(3.1e7.*/reference(1.0, operator="fv2", log2_box_dim=5),/; T; p; s/1.0,/1e30,/; s/fv2/fv4/' \
    cluster.py
  site=$dir/cluster.py
  export RFM_SYSTEM=cluster:cpu
  reframe 1 "$ours" hpgmg_fv_installed "${small[@]}" program="$HPGMG_FV"
  says '^P: fom: .* \(r:1.0, l:-0.1, u:None\)'
  says 'FAILED .* Ran 2/2 test case.*1 failure'
  says 'performance error: failed to meet reference.*: fom='
  unset RFM_SYSTEM
  site=$packages/reframe/settings.py

  if test "${PACKAGES_BUILD-yes}" = no; then
    left_out 'hpgmg_fv_built of ReFrame: PACKAGES_BUILD is no'
  elif test -e "$abs_top_srcdir/config.status"; then
    left_out 'hpgmg_fv_built of ReFrame: the source folder itself is configured'
  else
    reframe 0 "$ours" hpgmg_fv_built "${small[@]}" hpgmg_fv_build.jobs=2 \
      hpgmg_fv_build.configure_options=--without-cuda
    says 'PASSED .* Ran 3/3 test case'
  fi
fi
finish
