# shellcheck shell=bash disable=SC2016,SC2086,SC2154
# tutorial: the diffs of docs/tutorial.md apply to the sources without fuzz, in their order. With the first two the test
# fails for the new operator alone, with the third it passes, and with all of them the program verifies a solve.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
command -v patch >/dev/null || skip_test 'there is no patch'
tree=$dir/tree
mkdir "$tree" "$dir/objects"
cp -R "$abs_top_srcdir/src" "$abs_top_srcdir/tests" "$abs_top_srcdir/docs" "$abs_top_srcdir/scripts" \
  "$abs_top_srcdir/inputs" "$tree"
chmod -R u+w "$tree"
awk -v folder="$dir" '/^```diff$/ { file = folder "/" ++n ".diff"; next } /^```/ { file = "" }
  file { print >file }' "$tree/docs/tutorial.md"

# Variables of the build's Makefile, with the copy's headers.
value_of() {
  inner_make --no-print-directory DEFAULT_INCLUDES= \
    AM_CPPFLAGS="-I$tree/src -I$tree -I$abs_top_builddir" --eval "value: ; @echo $1" value
}
compile=$(value_of '$(COMPILE)')
compile_cuda=$(value_of '$(NVCC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(MG_NVCCFLAGS) $(NVCCFLAGS)')
link=$(value_of '$(CCLD) $(AM_CFLAGS) $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS)')
libraries="$abs_top_builddir/tests/lib/libfixture.a $abs_top_builddir/libio.a $abs_top_builddir/libhpgmg.a $(value_of '$(EXTERNAL_LIBS) $(LIBS)')"
have_nvcc=no
if grep -q '^CUDA_LIBS = .' "$abs_top_builddir/Makefile"; then have_nvcc=yes; fi

# object FILE: print the object's path.
object() { echo "$dir/objects/$(tr / _ <<<"$1").o"; }

# compiled FILE...: compile sources of the copy. Headers need nothing.
compiled() {
  local file
  for file; do
    case $file in
    *.c) $compile -c -o "$(object "$file")" "$tree/$file" ;;
    *.cu) if test $have_nvcc = yes; then $compile_cuda -c -o "$(object "$file")" "$tree/$file"; fi ;;
    esac
  done
}

# apply N: patch the copy and compile the files that the diff changes.
changed=
apply() {
  patch -d "$tree" -p1 --fuzz=0 -i "$dir/$1.diff" || {
    echo "docs/tutorial.md: diff $1 no longer applies; make it again with git diff -U1"
    exit 1
  }
  files=$(sed -n 's|^+++ b/||p' "$dir/$1.diff")
  compiled $files
  changed="$changed $files"
}

# linked NAME FILE...: link a program from FILEs, the changed files of src/, and the build's library.
linked() {
  local name=$1 file objects=
  shift
  for file in $(printf "%s\n" "$@" $changed | sort -u); do
    if test -e "$(object "$file")"; then objects="$objects $(object "$file")"; fi
  done
  $link -o "$dir/$name" $objects $libraries
}

# holds: does the test pass for each backend?
holds() {
  linked truncation tests/lib/fixture.c tests/lib/fixture_each.c
  FIXTURE_BACKEND=cpu solo "$dir/truncation" || return 1
  if test $have_nvcc = yes && have_cuda; then FIXTURE_BACKEND=cuda solo "$dir/truncation"; fi
}

compiled tests/lib/fixture.c tests/lib/fixture_each.c src/main.c tests/unit/unit_params_docs.c
apply 1
apply 2
if holds >"$dir/out" 2>&1; then
  echo 'the test passes without the formula'
  exit 1
fi
if ! grep -q -- '--operator=ani' "$dir/out" || grep -- '--operator=' "$dir/out" | grep -v -- '--operator=ani'; then
  cat "$dir/out"
  exit 1
fi
apply 3
holds
apply 4
test ! -e "$dir/5.diff"
changed=$(tr ' ' '\n' <<<"$changed" | grep '^src/')
linked hpgmg-fv src/main.c
solo "$dir/hpgmg-fv" --help | grep -q 'ani: fv2 with'
solo "$dir/hpgmg-fv" --operator=ani --verify-only 6 1 | grep -x 'VERIFICATION: PASSED'
linked unit_params_docs tests/unit/unit_params_docs.c
srcdir=$tree "$dir/unit_params_docs"
