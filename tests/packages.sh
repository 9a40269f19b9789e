# shellcheck shell=bash disable=SC2016,SC2154,SC2317
# packages: what scripts/packages/ has for computing sites does what docs/packages.md says.
#   modules     Lmod ($LMOD_CMD) and Environment Modules ($MODULES_CMD) load what `make install` put down
# A part whose program is missing is left out and says so.
. "$abs_top_srcdir/tests/expect.sh"
cpu_only
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
# What modules and ReFrame remember of a user stays here.
export HOME=$dir
unset DISPLAY XDG_CACHE_HOME XDG_CONFIG_HOME
left_out() { echo "not run: $*"; }

# holds COMMAND...: it must end with 0; its output is shown when it does not.
holds() {
  checks=$((checks + 1))
  if ! "$@" >"$dir/out" 2>&1; then complain "$*: $(tail -n 5 "$dir/out")"; fi
}

# says PATTERN: the last command's output has a line with it.
says() { grep -qE -- "$1" "$dir/out" || complain "no '$1' in: $(tail -n 15 "$dir/out")"; }

# make's own variables would make an inner one a part of the outer.
inner_make() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$abs_top_builddir" "$@"; }

# --- modules ---------------------------------------------------------------------------------------

# try_module NAME COMMAND...: load, run and unload with COMMAND behind `module`; in a shell of its own.
try_module() (
  name=$1 wrong=0
  shift
  command=("$@")
  module() { eval "$("${command[@]}" bash "$@" 2>"$dir/said")"; }
  no() {
    echo "failed: $name: $*"
    wrong=$((wrong + 1))
  }
  # Lmod leaves out what is twice in PATH.
  PATH=$(tr ':' '\n' <<<"$PATH" | awk '!seen[$0]++' | paste -sd :)
  before=$PATH
  module use "$modules"
  module avail hpgmg-fv
  grep -q "hpgmg-fv/$version" "$dir/said" || no "avail: $(cat "$dir/said")"
  module load hpgmg-fv
  test "$(command -v hpgmg-fv)" = "$dir/prefix/bin/hpgmg-fv" || no "hpgmg-fv is $(command -v hpgmg-fv)"
  test "${HPGMG_FV_ROOT-}" = "$dir/prefix" || no "HPGMG_FV_ROOT is ${HPGMG_FV_ROOT-}"
  solo hpgmg-fv 4 1 --verify-only | grep -qx 'VERIFICATION: PASSED' || no 'the program does not run'
  if have_feature inih; then
    solo hpgmg-fv --input="$HPGMG_FV_DECKS/quick.ini" --dry-run >/dev/null || no "no deck in $HPGMG_FV_DECKS"
  fi
  if command -v man >/dev/null; then
    page=$(man -w hpgmg-fv 2>&1)
    test "$page" = "$dir/prefix/share/man/man1/hpgmg-fv.1" || no "man finds $page"
  fi
  module whatis hpgmg-fv
  grep -q "Version: $version" "$dir/said" || no "whatis: $(cat "$dir/said")"
  grep -q 'Built with: MPI: .*; OpenMP: .*; jansson: ' "$dir/said" || no "whatis: $(cat "$dir/said")"
  module help hpgmg-fv
  grep -q 'mpirun -n 2 hpgmg-fv 7 8' "$dir/said" || no "help: $(cat "$dir/said")"
  module unload hpgmg-fv
  test "$PATH" = "$before" || no "PATH was $before, is $PATH"
  test -z "${HPGMG_FV_ROOT+set}${HPGMG_FV_DECKS+set}" || no 'variables are left behind'
  test "$wrong" -eq 0
)

version=$(solo "$HPGMG_FV" --version | sed -n '1s/^hpgmg-fv \([0-9.]*\).*/\1/p')
modules=$dir/prefix/share/hpgmg-fv/modulefiles
holds inner_make install prefix="$dir/prefix"
for file in "$version" "$version.lua"; do
  test -s "$modules/hpgmg-fv/$file" || complain "no module $file"
  if grep -q '@' "$modules/hpgmg-fv/$file"; then complain "$file: $(grep '@' "$modules/hpgmg-fv/$file")"; fi
done
# first FILE...: the first of them that is there.
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
finish
