#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Configures one preset and builds it: scripts/build.sh [--configure] PRESET [-DNAME=VALUE...] [TARGET...]
# With --configure it builds nothing.
# Uses ccache if it is installed. JOBS is the number of parallel compiler processes.
set -euo pipefail
cd "$(dirname "$0")/.."

build=yes
[ "$1" != --configure ] || { build=no; shift; }
preset=$1
shift
options=()
targets=()
# Unity builds make a clean build faster. A configured build folder keeps its setting.
if [ "$preset" = release ] && ! [ -f build/release/build.ninja ]; then options+=(-DHUDDLE_UNITY=ON); fi
for argument in "$@"; do
  case $argument in
    -D*) options+=("$argument") ;;
    *) targets+=(--target "$argument") ;;
  esac
done
if command -v ccache >/dev/null; then
  # ccache compares precompiled headers by content, and takes the list of headers from the compiler instead of running
  # the preprocessor on every source that it has not cached.
  export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
log=build/$preset-configure.log
mkdir -p build
cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
[ "$build" = yes ] || exit 0
# NINJA_FLAGS: further options of ninja, for example NINJA_FLAGS="-k 0" to continue after errors.
read -ra ninja_flags <<<"${NINJA_FLAGS:-}"
cmake --build "build/$preset" --parallel "${JOBS:-$(nproc)}" "${targets[@]}" -- "${ninja_flags[@]}"
