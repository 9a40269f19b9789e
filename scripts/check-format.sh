#!/usr/bin/env bash
# Is every C and CUDA source as .clang-format wants it? With --fix, make it so.
# Exit codes: 0 yes, 1 no, 77 clang-format 14 cannot be had.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Versions format differently, so one is fixed: 14, which Debian 12 and Ubuntu 24.04 both have.
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
  echo "clang-format $version is missing, and PyPI's could not be installed" >&2
  exit 77
fi

# New files that git does not know yet count too.
if [[ -e .git ]] && command -v git >/dev/null && git rev-parse HEAD >/dev/null 2>&1; then
  list=(git ls-files --cached --others --exclude-standard -- '*.c' '*.h' '*.cu' '*.cuh')
else
  list=(find src lab tests -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh')
fi
mapfile -t files < <("${list[@]}" | while IFS= read -r f; do [[ -f $f ]] && echo "$f"; done || true)
((${#files[@]} > 0)) || exit 0

if [[ ${1-} == --fix ]]; then
  exec "${formatter[@]}" -i "${files[@]}"
fi
"${formatter[@]}" --dry-run --Werror "${files[@]}"
