#!/usr/bin/env bash
# Check that all C and CUDA sources are formatted by .clang-format; --fix formats them.
# Exit codes: 0 formatted, 1 not formatted, 77 clang-format 14 is not available.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Output differs between versions, so the version is fixed: Debian 12 and Ubuntu 24.04 both have 14.
version=14
pypi_version=14.0.6
is_right() { "$@" --version 2>/dev/null | grep -q "version $version\."; }

venv=build/clang-format-$pypi_version
if is_right clang-format-$version; then
  formatter=("clang-format-$version")
elif is_right clang-format; then
  formatter=(clang-format)
elif is_right "$venv/bin/clang-format" ||
  { mkdir -p build && python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet "clang-format==$pypi_version" &&
    is_right "$venv/bin/clang-format"; } >/dev/null 2>&1; then
  formatter=("$venv/bin/clang-format")
else
  rm -rf "$venv"
  echo "clang-format $version is missing and could not be installed from PyPI" >&2
  exit 77
fi

# Include new files that are not yet tracked.
if [[ -e .git ]] && command -v git >/dev/null && git rev-parse HEAD >/dev/null 2>&1; then
  list=(git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.cu' '*.cuh')
else
  list=(find src health lab tests examples -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')
fi
mapfile -t files < <("${list[@]}" | while IFS= read -r f; do [[ -f $f ]] && echo "$f"; done || true)
((${#files[@]} > 0)) || exit 0

if [[ ${1-} == --fix ]]; then
  exec "${formatter[@]}" -i "${files[@]}"
fi
"${formatter[@]}" --dry-run --Werror "${files[@]}"
