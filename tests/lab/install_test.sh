#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# Checks that an installation works from any folder: tests/lab/install_test.sh BUILD_FOLDER CC
# Builds a program outside of the source tree against it, by pkg-config and by CMake, and runs it.
set -euo pipefail
build=$1
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
example=$here/../../examples/allreduce.c
wanted="4 ranks: 6 and 2"
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix/first" >/dev/null
mv "$prefix/first" "$prefix/moved"  # the installation must be relocatable
prefix_now=$prefix/moved
pkgconfig=$(dirname "$(find "$prefix_now" -name huddle.pc)")
# Hides the machine file of the user.
export XDG_CONFIG_HOME=$prefix/config
export LD_LIBRARY_PATH=${pkgconfig%/pkgconfig} PKG_CONFIG_PATH=$pkgconfig

"$prefix_now/bin/huddle" --version
machines=("$prefix_now"/share/huddle/machines/*.toml)
"$prefix_now/bin/huddle" topo --machine "${machines[0]}" >/dev/null
echo "${#machines[@]} machine files installed"
for made in man/man1/huddle-run.1 man/man3/huddle_bcast.3 man/man7/huddle-settings.7 \
  bash-completion/completions/huddle zsh/site-functions/_huddle fish/vendor_completions.d/huddle.fish; do
  [ -s "$prefix_now/share/$made" ] || { echo "share/$made is not installed" >&2; exit 1; }
done
"$here/installed_module.sh" "$prefix_now"

expect() { # expect PROGRAM...: fails unless it prints $wanted
  local said
  said=$(timeout 60 "$@")
  [ "$said" = "$wanted" ] || { echo "$1 prints '$said', not '$wanted'" >&2; exit 1; }
  echo "$said"
}

read -ra flags < <(pkg-config --cflags --libs huddle)
"$cc" -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -o "$prefix/by-pkg-config" \
  "$example" "${flags[@]}"
expect "$prefix/by-pkg-config"

mkdir "$prefix/outside"
cp "$example" "$prefix/outside"
cat >"$prefix/outside/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(outside LANGUAGES C)
find_package(huddle 0.1 REQUIRED)
add_executable(outside allreduce.c)
target_link_libraries(outside huddle::huddle)
END
cmake -S "$prefix/outside" -B "$prefix/outside/build" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$prefix_now" >"$prefix/configure.log" || { cat "$prefix/configure.log" >&2; exit 1; }
cmake --build "$prefix/outside/build" >"$prefix/build.log" || { cat "$prefix/build.log" >&2; exit 1; }
unset LD_LIBRARY_PATH  # CMake stores the library's path in the program
expect "$prefix/outside/build/outside"
