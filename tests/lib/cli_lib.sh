# shellcheck shell=bash disable=SC2154
# Functions for tests that run the program; to be sourced. Creates and removes the folder $dir.
#
#   complain TEXT                    count a failure
#   expect RC PATTERN RANKS ARG...   run the program with ARGs; it must exit with RC and print one line on
#                                    stderr, from one rank, that matches the extended regular expression
#                                    PATTERN and contains no source location
#   one_error NAME RC PATTERN ARG... the last command must have exited with $rc = RC and printed one line, "NAME: error:"
#                                    and PATTERN, to $dir/err
#   exits RC COMMAND...              run COMMAND, which must exit with RC; output in $dir/out and $dir/err
#   fails NAME RC PATTERN COMMAND... exits and one_error
#   says PATTERN                     the last output must match the extended regular expression PATTERN
#   rank_counts N                    print 1, and N if several ranks can run
#   has_keys FILE KEY...             the keys of a JSON file must be these
#   need_feature NAME                skip the test if --version does not list the feature as built in
#   need_modules NAME...             skip the test if $PYTHON lacks one of these modules
#   results_of FILE                  print the results of a CSV report
#   level_figures FILE KEY...        print one line per level of a JSON report with the values of the keys;
#                                    list elements are separated by commas
#   in_bytes TEXT                    convert "1.026 GB" to 1026000000
#   is_json FILE                     check that the installed JSON parsers accept FILE
#   stdout_errors NAME COMMAND...    check that a tool works with a closed or unread stdout, and on a full
#                                    disk exits with 3 and one error line that starts with NAME
#   await PROCESS COMMAND...         wait without a limit until COMMAND succeeds; fail if PROCESS ends first
#   hold RANKS POINT ARG...          start the program in the background as process $job and wait until all
#                                    ranks are held at POINT of tests/mocks/paused.c; $dir/hold has their files
#   ended RC WHAT [FILE]             wait for process $job, which must exit with RC; FILE has its stderr ($dir/err)
#   serve_python MODULE...           from here on, quick_python forks a Python that has imported these modules
#   quick_python ARG...              like "$PYTHON" ARG..., where ARG is a script, - or -c CODE; with served=no, it
#                                    starts a Python (tests/lib/python_server.py)
#   tool_python SCRIPT COMMAND ARG...  quick_python, but the first start of each COMMAND also tests its imports
#   in_python WHAT [ARG...] <<CODE   run CODE in $PYTHON with the modules of scripts/; an exception is a failure of WHAT
#   inner_make ARG...                run make in the build folder, independent of an outer make
#   own_matplotlib                   ignore the user's matplotlib settings and display from here on
#   finish                           exit with 0, or 1 after any failure
set -eu
. "$abs_top_srcdir/tests/lib/run_mpi.sh"
own_folder
export PYTHONDONTWRITEBYTECODE=1
checks=0 failures=0 program_name=hpgmg-fv
: "${PYTHON:=python3}"
served=no started=' '

complain() {
  echo "failed: $*"
  failures=$((failures + 1))
}

# run RANKS ARG...: run $HPGMG_FV, whose name is $program_name; exit code in $rc, output in $dir/out and $dir/err. Lines of the
# launcher and warnings about shared cores and devices are removed from $dir/err.
run() {
  local ranks=$1
  shift
  rc=0
  if test "$ranks" -eq 1; then
    solo "$HPGMG_FV" "$@" >"$dir/out" 2>"$dir/err" || rc=$?
  else
    mpi_run "$ranks" "$HPGMG_FV" "$@" >"$dir/out" 2>"$dir/all" || rc=$?
    grep "^$program_name: " "$dir/all" >"$dir/err" || true
    # A rank must not die from a signal or exit without finalizing MPI.
    if grep -qE 'signal [0-9]|without calling .*finalize' "$dir/all"; then
      complain "$* on $ranks ranks: $(cat "$dir/all")"
    fi
  fi
  sed -i -E "/^$program_name: warning: [0-9]+ (threads on|ranks share) /d" "$dir/err"
}

# ok RANKS ARG...: the program must exit with 0 and print nothing on stderr.
ok() {
  checks=$((checks + 1))
  run "$@"
  if test "$rc" -ne 0 || test -s "$dir/err"; then
    complain "$*: exit code $rc, $(cat "$dir/err")"
    tail -n 3 "$dir/out"
  fi
}

exits() {
  local want=$1
  shift
  checks=$((checks + 1)) rc=0
  "$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
  test "$rc" -eq "$want" || complain "$*: exit code $rc, not $want: $(cat "$dir/err")"
}

fails() {
  exits "$2" "${@:4}"
  one_error "$1" "$2" "$3" "${@:4}"
}

says() { grep -qE -- "$1" "$dir/out" || complain "no '$1' in: $(tail -n 15 "$dir/out")"; }

rank_counts() {
  echo 1
  if have_mpi; then echo "$1"; fi
}

expect() {
  local want=$1 pattern=$2
  shift 2
  checks=$((checks + 1))
  run "$@"
  one_error "$program_name" "$want" "$pattern" "$@"
  if grep -qE '[a-z0-9_]+\.(c|cu|h):[0-9]+' "$dir/err"; then
    complain "$*: the message has a source location: $(cat "$dir/err")"
  fi
  if test -s "$dir/out"; then complain "$*: output besides the error: $(head -n 3 "$dir/out")"; fi
}

one_error() {
  local name=$1 want=$2 pattern=$3
  shift 3
  if test "$rc" -ne "$want"; then complain "$name $*: exit code $rc, not $want"; fi
  if test "$(wc -l <"$dir/err")" -ne 1 || ! grep -qE -- "^$name: error: .*$pattern" "$dir/err"; then
    complain "$name $*: stderr is not one line with '$pattern': $(cat "$dir/err")"
  fi
}

# have_feature NAME: does --version list the feature as built in?
have_feature() {
  solo "$HPGMG_FV" --version | grep "^$1 " | grep -qv ' no\>'
}
need_feature() { have_feature "$1" || skip_test "build without $1"; }

need_modules() {
  local module
  for module in "$@"; do
    "$PYTHON" -c "import $module" 2>/dev/null || skip_test "$PYTHON has no $module (python3-$module)"
  done
}

# Columns of a CSV report: cells per side, cycles, norms, error, order and verification.
results_of() { sed 's/"[^"]*"/sides/' "$1" | cut -d, -f6,12-14,18-20; } # the boundary may contain commas

in_bytes() {
  awk -v value="${1% *}" -v unit="${1#* }" 'BEGIN {
    n = split("B kB MB GB TB PB EB", units, " ")
    for (u = 1; u <= n; u++) if (units[u] == unit) { printf "%.0f\n", value * 1000 ^ (u - 1); exit }
    exit 1
  }'
}

level_figures() {
  local file=$1
  shift
  sed -n '/^  "levels": \[/,/^  \]/p' "$file" | tr -d ' "\n' |
    sed 's/^levels:\[{//; s/}\],*$//; s/},{dim/\ndim/g' | awk -v keys="$*" '
      BEGIN { n = split(keys, key, " ") }
      {
        for (i = 1; i <= n; i++) {
          at = match($0, "(^|[{,])" key[i] ":")
          value = at ? substr($0, RSTART + RLENGTH) : "none"
          if (sub("^[[]", "", value)) sub("[]].*", "", value)
          else sub("[],}].*", "", value)
          printf "%s%s", (i > 1 ? " " : ""), value
        }
        print ""
      }'
}

is_json() {
  local parser
  for parser in 'jq -e .' 'python3 -m json.tool'; do
    if $parser <<<'{}' >/dev/null 2>&1; then
      $parser <"$1" >/dev/null || complain "$parser does not read $1"
    fi
  done
}

has_keys() {
  diff <(printf '%s\n' "${@:2}" | sort) <(grep -oE '^ *"[a-z0-9_]+":' "$1" | tr -d ' ":' | sort -u) ||
    complain "$1: keys"
}

# Unset make's variables.
inner_make() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$abs_top_builddir" "$@"; }

stdout_errors() {
  local name=$1
  shift
  checks=$((checks + 3))
  if ! "$@" >&- 2>"$dir/err" || test -s "$dir/err"; then complain "$*, stdout closed: $(cat "$dir/err")"; fi
  exec 9> >(:)
  wait $! # for the reader's end
  if ! "$@" >&9 2>"$dir/err" || test -s "$dir/err"; then complain "$*, stdout without a reader: $(cat "$dir/err")"; fi
  exec 9>&-
  test -c /dev/full || return 0
  rc=0
  "$@" >/dev/full 2>"$dir/err" || rc=$?
  if test "$rc" -ne 3 || test "$(wc -l <"$dir/err")" -ne 1 ||
    ! grep -qx "$name: error: standard output cannot be written: No space left .*" "$dir/err"; then
    complain "$*, stdout full: exit code $rc, $(cat "$dir/err")"
  fi
}

await() {
  local process=$1
  shift
  until "$@" >/dev/null 2>&1; do
    if ! kill -0 "$process" 2>/dev/null; then
      # COMMAND may have become true just before PROCESS ended.
      if "$@" >/dev/null 2>&1; then return 0; fi
      complain "process $process ended before: $*"
      return 1
    fi
    sleep 0.05
  done
}

hold() {
  local ranks=$1 start=solo rank
  export HOLD_AT=$2 HOLD_FOLDER=$dir/hold
  shift 2
  test "$ranks" -eq 1 || start="mpi_run $ranks"
  rm -rf "$dir/hold"
  mkdir "$dir/hold"
  # Undo signal settings of nohup and of the shell's background jobs.
  $start env --default-signal=HUP,INT,QUIT,PIPE "$abs_top_builddir/tests/mocks/hpgmg-fv-paused" "$@" \
    >"$dir/out" 2>"$dir/err" &
  job=$!
  for ((rank = 0; rank < ranks; rank++)); do
    await "$job" test -e "$dir/hold/held.$rank" || {
      cat "$dir/out" "$dir/err"
      exit 1
    }
  done
}
ended() {
  rc=0
  wait "$job" || rc=$?
  checks=$((checks + 1))
  test "$rc" -eq "$1" || complain "$2: exit code $rc, not $1: $(cat "${3-$dir/err}")"
}
# held_process RANK, held_parent RANK: process ids.
held_process() { cut -d ' ' -f 1 "$dir/hold/held.$1"; }
held_parent() { cut -d ' ' -f 2 "$dir/hold/held.$1"; }

serve_python() {
  env -u PYTHONPATH "$PYTHON" "$abs_top_srcdir/tests/lib/python_server.py" \
    serve "$dir" $$ "$abs_top_srcdir/scripts" "$@" </dev/null
  served=yes
}

quick_python() {
  if test "$served" = no; then
    "$PYTHON" "$@"
  else
    "$PYTHON" -I -S "$abs_top_srcdir/tests/lib/python_server.py" ask "$dir" "$@"
  fi
}

tool_python() {
  local served=$served
  case $started in
  *" ${2-} "*) ;;
  *) started+="${2-} " served=no ;;
  esac
  quick_python "$@"
}

in_python() {
  local what=$1
  shift
  checks=$((checks + 1))
  PYTHONPATH=$abs_top_srcdir/scripts quick_python - "$@" >"$dir/why" 2>&1 || complain "$what: $(tail -n 1 "$dir/why")"
}

own_matplotlib() {
  export MPLCONFIGDIR=$dir/matplotlib
  unset DISPLAY
  # Create the font list now: if that takes 5 seconds, matplotlib reports it on stderr, which tests check.
  "$PYTHON" -c 'import matplotlib.font_manager' 2>/dev/null || true
}

finish() {
  echo "$checks runs, $failures failures"
  test "$failures" -eq 0 || exit 1
  exit 0
}
