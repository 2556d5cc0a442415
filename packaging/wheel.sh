#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# `make wheel`: makes a Python wheel of the package in python/ that also contains huddle's program, libraries and data.
# Prints its path, build/wheel/NAME.whl. packaging/wheel.sh BUILD_FOLDER uses a finished build instead of build/release.
# The same sources, compiler and path give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022 # the wheel contains the modes of the files

most_megabytes=15
build=${1:-build/release}
place=$PWD/build/wheel

fail() { echo "wheel: $*" >&2; exit 1; }

if [ $# = 0 ]; then
  scripts/install-packages.sh build wheel >&2
  scripts/build-huddle.sh >&2
fi
python=/usr/bin/python3
[ -x "$python" ] || python=python3
rm -rf --one-file-system "$place"
mkdir -p "$place"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

# Makes a pure wheel first, from a copy, because setuptools writes beside the sources.
cp -r python "$place/python"
find "$place/python" -name __pycache__ -exec rm -r {} +
{
  "$python" -m pip wheel --no-deps --no-index --no-build-isolation --disable-pip-version-check --wheel-dir "$place/pure" \
    "$place/python"
  "$python" -m wheel unpack --dest "$place" "$place"/pure/*.whl
  cmake --install "$build" --prefix "$place/installed" --strip
} >"$place/log" 2>&1 || fail "$(tail -n 20 "$place/log")"
content=$(echo "$place"/huddle_hpc-*)
info=$(echo "$content"/*.dist-info)
package=$content/huddle
installed=$place/installed

mkdir -p "$package"/{bin,lib/pkgconfig,share/huddle} "$info/licenses"
cp "$installed/bin/huddle" "$package/bin"
cp -r "$installed"/lib*/huddle "$package/lib"
cp -r "$installed/include" "$package"
cp -r "$installed"/share/huddle/{machines,papers} "$package/share/huddle"
cp "$installed"/lib*/pkgconfig/huddle.pc "$package/lib/pkgconfig"
# A wheel cannot contain symbolic links. The library has the name that programs load. A linker script has the name
# that the linker searches for.
library=$(readelf --dynamic "$installed"/lib*/libhuddle.so | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
cp --dereference "$installed"/lib*/libhuddle.so "$package/lib/$library"
echo "INPUT($library)" >"$package/lib/libhuddle.so"
packaging/licenses.sh "$info/licenses"

# The newest version of the C library that one of the files needs determines the tag.
tag=py3-none-manylinux_$(find "$package/bin" "$package/lib" -type f -exec objdump --dynamic-syms {} + 2>/dev/null |
  grep -o 'GLIBC_[0-9.]*' | sort -uV | sed -n '$s/GLIBC_\([0-9]*\)\.\([0-9]*\).*/\1_\2/p')_$(uname -m)
sed -i "s/^Root-Is-Purelib:.*/Root-Is-Purelib: false/; s/^Tag:.*/Tag: $tag/" "$info/WHEEL"
# Only the wheel has this command: elsewhere it would hide the program from the shell.
sed -i '/^\[console_scripts\]/a huddle = huddle.command:main' "$info/entry_points.txt"
"$python" -m wheel pack --dest-dir "$place" "$content" >>"$place/log" 2>&1 || fail "$(tail -n 20 "$place/log")"
wheel=$(echo "$place"/*.whl)
[ "$(stat --format %s "$wheel")" -lt $((most_megabytes * 1000000)) ] || fail "$wheel is larger than $most_megabytes MB"
echo "$wheel"
