#!/bin/sh
# Make ./configure from configure.ac; needs autoconf >= 2.71 and automake >= 1.16.
set -eu
cd "$(dirname "$0")"
for tool in autoreconf automake; do
  command -v "$tool" >/dev/null || {
    echo "autogen.sh: $tool is missing; on Debian and Ubuntu: apt-get install autoconf automake" >&2
    exit 1
  }
done
mkdir -p build-aux
exec autoreconf --install --force --warnings=all
