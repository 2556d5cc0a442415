#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the huddle contributors
#
# What `make install` puts somewhere else works from there: tests/lab/install_test.sh BUILD_FOLDER
set -euo pipefail
build=$1
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

cmake --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/huddle" --version
echo '#include <huddle/huddle.h>' | "${CC:-cc}" -std=c99 -Wall -Werror -I"$prefix/include" -fsyntax-only -xc -
machines=("$prefix"/share/huddle/machines/*.toml)
"$prefix/bin/huddle" topo --machine "${machines[0]}" >/dev/null
echo "${#machines[@]} machine files installed"
